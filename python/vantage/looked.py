"""What the program `inspect` says of a file, of the program that JAX makes of a function, or of one that it made."""
import json
import pathlib
import tempfile

from .lower import lower
from .programs import Refused, last_words, run, show
from .rows import by_rows


def _module(given, args, kwargs, static):
    """The program of what is no file, as HloModuleProto."""
    import jax
    if hasattr(given, "jaxpr") and hasattr(given, "in_avals") and not callable(given):  # jax.make_jaxpr(f)(...)
        from jax.extend.core import jaxpr_as_fun
        return lower(jaxpr_as_fun(given), [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in given.in_avals], {}).module
    if hasattr(given, "compiler_ir"):  # jax.jit(f).lower(...)
        return by_rows(given.compiler_ir("hlo").as_serialized_hlo_module_proto())
    if not callable(given):
        raise TypeError(f"a program is the path of a file, a function, or what jax.make_jaxpr or lower() made of one, "
                        f"and not of type {type(given).__name__}")
    return lower(given, args, kwargs, *static).module


def look(options, given, args, kwargs, static=((), ())):
    """What `inspect --json` says with further options."""
    if not isinstance(given, (str, pathlib.PurePath)):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.pb"
            path.write_bytes(_module(given, args, kwargs, static))
            return look(options, path, (), {})
    status, out, said, _ = run("inspect", "--json", *options, "--", given, plugin=False, progress=_show_waiting)
    if status:
        raise Refused(last_words(said))
    return json.loads(out)


def _show_waiting(line):
    if line.startswith("waiting for"):
        show(line)
