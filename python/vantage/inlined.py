"""The tuned program, compiled by the caller's own jaxlib: then a call of it is a call of one of jax.jit's programs.

A call through the plugin passes through a second interface, which costs something for each array. jaxlib can compile
the tuned program itself. It is told to run only the passes that follow fusion, as the plugin is (options.txt), and two
things are made up for that are lost on the way through MLIR:

- Kernels that a library computes are known by a note that MLIR does not carry. They are taken apart, and jaxlib's own
  pass for that library (LIBRARY) makes them again.
- Layouts are lost. So a program in which an array lies otherwise than row by row is refused.

jaxlib has another version of the compiler than the plugin. So every kernel of the tuned program must be found again in
what it made, its results are compared with the plugin's, and the two are timed in turns. The faster one is kept for
calls. Nothing here is public in JAX; where a name is missing, calls go as before.
"""
import io
import json
import re
import statistics
import time

from .called import in_turns
from .lower import split
from .programs import Refused
from .quick import NO, quick
from .yardstick import apart

LIBRARY = "dot-library-rewriter"
PASSES = "xla_enable_hlo_passes_only"
CALL, EACH = 30e-6, 3e-6  # seconds that a call through the plugin costs at least, and more for each array
WORTH = 0.01              # of the time of a call; less cannot be seen


def version():
    import jaxlib
    return jaxlib.__version__


def options(folder):
    lines = (line.strip().split("=", 1) for line in (folder / "options.txt").read_text().splitlines() if "=" in line)
    return dict(lines)


def lies_otherwise(text):
    """The first array of a program that does not lie row by row."""
    for dims, order in re.findall(r"\w+\[([\d,]*)\]\{([\d,]+)[}:]", text):
        sizes = dims.split(",")
        numbers = [int(n) for n in order.split(",") if sizes[int(n)] != "1"]
        if numbers != sorted(numbers, reverse=True):
            return f"[{dims}]{{{order}}}"
    return None


def kernels(text):
    """What a program's kernels compute: the operations of each fused computation, the parameters left out."""
    bodies, found = dict(re.findall(r"^%?([\w.\-]+) .*?\{\n(.*?)^\}", text, re.M | re.S)), set()
    for name in re.findall(r"kind=k(?!Custom)\w+, calls=%?([\w.\-]+)", text):
        kinds = re.findall(r" = .*?\]?(?:\{[\d,]*\})? ([\w\-]+)\(", bodies.get(name, ""))
        found.add(tuple(sorted(k for k in kinds if k != "parameter")))
    return found


def _take_apart(operation):
    """Replaces kernels of libraries by what they compute."""
    for block in (b for region in operation.regions for b in region):
        for o in [o.operation for o in block.operations]:
            if o.name != "mhlo.fusion" or "kCustom" not in str(o.attributes["fusion_kind"]):
                _take_apart(o)
                continue
            inner = o.regions[0].blocks[0]
            for argument, value in zip(list(inner.arguments), list(o.operands)):
                argument.replace_all_uses_with(value)
            *body, end = [x.operation for x in inner.operations]
            for x in body:
                x.move_before(o)
            for result, value in zip(list(o.results), list(end.operands)):
                result.replace_all_uses_with(value)
            o.erase()


def _module(code):
    """The program as MLIR, in bytes; and as text of HLO."""
    from jax._src.interpreters import mlir
    from jax._src.lib import _jax, xla_client
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import mhlo
    computation, out = xla_client.XlaComputation(code), io.BytesIO()
    with mlir.make_ir_context() as context:
        mhlo.register_mhlo_dialect(context)
        module = ir.Module.parse(_jax.mlir.xla_computation_to_mlir_module(computation))
        _take_apart(module.operation)
        module.operation.write_bytecode(out)
    return out.getvalue(), computation.as_hlo_module().to_string()


def compiled(code, told):
    """jaxlib's executable of a program (HloModuleProto) with these options."""
    import jax
    from jax._src import compiler
    from jax._src.lib import _jax
    module, text = _module(code)
    other = lies_otherwise(text)
    if other:
        raise Refused(f"an array {other} does not lie row by row")
    if set(told) - {PASSES}:
        raise Refused(f"jaxlib does not take {', '.join(sorted(set(told) - {PASSES}))}")
    told = {name: f"{passes},{LIBRARY}" for name, passes in told.items()}
    device = jax.local_devices(backend="cpu")[0]
    how = compiler.get_compile_options(num_replicas=1, num_partitions=1, env_options_overrides=told)
    made = device.client.compile_and_load(module, _jax.DeviceList((device,)), how)
    if kernels(text) - kernels(made.hlo_modules()[0].to_string()):  # of two that are equal, it may leave out one
        raise Refused(f"jaxlib {version()} makes other kernels of it")
    return made


def saved(folder):
    return folder / f"jaxlib-{version()}.exe"


def keep(made, folder):
    saved(folder).write_bytes(made.client.serialize_executable(made))


def _load(folder):
    import jax
    from jax._src.lib import _jax
    device = jax.local_devices(backend="cpu")[0]
    return device.client.deserialize_executable(saved(folder).read_bytes(), _jax.DeviceList((device,)), None)


def _agree(made, call, default, values, known):
    """Refuses an executable whose results are not the plugin's, on these arguments and on others of their form."""
    import jax
    import numpy
    draw = numpy.random.default_rng(1)
    for given in (values, [_drawn(x, draw) for x in values]):
        arrays = [jax.device_put(numpy.asarray(x).astype(jax.numpy.dtype(dtype)), jax.local_devices(backend="cpu")[0])
                  for x, (_, dtype) in zip(given, known.inputs)]
        addresses = [x.block_until_ready().unsafe_buffer_pointer() for x in arrays]
        want, own = ([numpy.array(r) for r in c(addresses)] for c in (call, default))
        ours = [numpy.array(a[0]) for a in made.execute_sharded(arrays).disassemble_into_single_device_arrays()]
        for i, far, yard in apart(want, ours, own):
            raise Refused(f"result {i} of jaxlib's is {far:.3g} from the plugin's, the compiler's own {yard:.3g}")


def _drawn(x, draw):
    """Other numbers of this form. Whole numbers stay: they may be places in another array."""
    import numpy
    x = numpy.asarray(x)
    return draw.standard_normal(x.shape) if x.dtype.kind == "f" or x.dtype.name == "bfloat16" else x


def _worthwhile(call, values, known):
    """Can the way through the plugin be a part of a call's time that is seen?"""
    import jax
    arrays = [jax.numpy.asarray(x) for x in values]
    times = []
    for _ in range(3):
        start = time.perf_counter()
        call([x.block_until_ready().unsafe_buffer_pointer() for x in arrays])
        times.append(time.perf_counter() - start)
    return CALL + EACH * (len(known.inputs) + len(known.outputs)) > WORTH * statistics.median(times)


def _faster(made, call, known, args, kwargs):
    """Refuses what is not faster for its caller."""
    sides = [quick(call, known), quick(call, known, made)]
    if not all(side and side(args, kwargs) is not NO for side in sides):
        raise Refused("calls of this form have no short way")
    plugin, own = in_turns([lambda *a, _side=side, **k: _side(a, k) for side in sides], lambda: (args, kwargs))
    if statistics.median(own) >= statistics.median(plugin):
        raise Refused("it is not faster")


def _said(folder):
    """What was found out about each version of jaxlib: "" if its executable is there, or why it is not."""
    try:
        return json.loads((folder / "jaxlib.json").read_text())
    except (OSError, ValueError):
        return {}


def kept(folder):
    """The executable that was found the faster one with this version of jaxlib; None: calls go through the plugin."""
    if _said(folder).get(version()) != "":
        return None
    try:
        return _load(folder)
    except Exception:  # the interface is not public
        return None


def chosen(folder, known, call, default, args, kwargs, progress=None):
    """What `kept` gives, found out now if it was not before."""
    if version() not in _said(folder):
        try:
            values = split(args, kwargs)[0]
            if known.layout.fixed:
                raise Refused("some arguments are part of the program")
            if not _worthwhile(call, values, known):
                raise Refused("it runs for so long that the way to it is nothing")
            if progress:
                progress(f"vantage: jaxlib {version()} compiles the program, too, for faster calls")
            made = compiled((folder / "tuned.pb").read_bytes(), options(folder))
            _agree(made, call, default, values, known)
            _faster(made, call, known, args, kwargs)
            keep(made, folder)
            why = ""
        except Exception as e:  # the interface is not public, and its errors are many
            why = str(e).splitlines()[0] if str(e) else type(e).__name__
        (folder / "jaxlib.json").write_text(json.dumps({**_said(folder), version(): why}))
    return kept(folder)
