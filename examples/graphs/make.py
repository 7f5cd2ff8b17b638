#!/usr/bin/env python3
"""Makes the zoo: programs to tune, as HloModuleProto, compressed with zstd.

    pip install jax==0.10.2 jaxlib==0.10.2
    examples/graphs/make.py            all that this version of jax makes; with names, only those
    examples/graphs/make.py --check    writes nothing, tells which are not what their source gives
    examples/graphs/make.py --pinned   the folders, and the version of jax that each is made with

Only needed to change the zoo: the files are in the repository. Folders keep apart what must
never meet: what models are trained on (train, loops, steps, strangers, halves), what they are judged by (held-out)
and what tests run on (tiny). The same source and the same jax give the same bytes. Each folder stays with
the jax that it was first made with: another would change every program that has been measured.
"""
import os
import pathlib
import subprocess
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax

import angles
import chance
import chosen
import gatherings
import half_steps
import halves
import hearing
import held_out
import language
import learners
import matters
import mobile
import narrow
import other
import physics
import pictures
import sequence
import small
import solvers
import strange_models
import strange_numbers
import sundry
import tiny
import unlike
import vision
import windows

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from vantage.wire import fields, piece  # noqa: E402

FOLDERS = {
    "train": ("0.8.1", sequence, vision, other),
    "loops": ("0.8.1", physics, chance),
    "steps": ("0.10.2", language, pictures, hearing, unlike, gatherings, learners, solvers, matters, sundry,
              angles, windows, chosen, narrow),
    "strangers": ("0.10.2", strange_models, strange_numbers),
    "halves": ("0.10.2", halves, half_steps, small),
    "held-out": ("0.8.1", held_out, mobile),
    "tiny": ("0.8.1", tiny),
}


# HloModuleProto: where a message lies within one, and which of its fields stay. Of metadata only the
# operation's name; no table of source files, and no number of the module in its process.
INSIDE = {"module": {3: "computation"}, "computation": {2: "instruction"}, "instruction": {7: "metadata"}}
DROPPED = {"module": {5, 17}, "metadata": set(range(3, 64))}


def anonymous(message, kind="module"):
    """Without anything that tells on which machine, from which file and line, it was made."""
    out = b""
    for field, whole, value in fields(message):
        if field in DROPPED.get(kind, ()):
            continue
        inner = INSIDE.get(kind, {}).get(field)
        if inner:
            whole = piece(field, anonymous(value, inner))
        out += whole
    return out


def lowered(name, graph, wide=False, platform="cpu"):
    """The program's bytes. `wide` lets it compute in double precision; `platform` is whom jax writes it for."""
    jax.clear_caches()  # or a function that an earlier program called has names from there
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", wide)
    function, arguments, *donated = graph()
    function.__name__ = name.replace("-", "_")
    traced = jax.jit(function, donate_argnums=donated).trace(*arguments)
    lowered = traced.lower(lowering_platforms=(platform,))
    jax.config.update("jax_enable_x64", before)
    return anonymous(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())


def made(name, module):
    wide, tpu = (name in getattr(module, what, ()) for what in ("WIDE", "FOR_TPU"))
    return lowered(name, module.GRAPHS[name], wide, "tpu" if tpu else "cpu")


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, stdout=subprocess.PIPE, check=True).stdout


def write(path, module):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zstd(module, "-19"))
    print(f"{path.parent.name}/{path.name}: {path.stat().st_size} bytes")
    return True


def same(path, module):
    """The program, not its packing: another zstd may pack it differently."""
    if path.exists() and zstd(path.read_bytes(), "-d") == module:
        return True
    print(f"{path.parent.name}/{path.name} is not what its source gives")
    return False


def main(arguments):
    if "--pinned" in arguments:
        return print("\n".join(f"{folder} {pinned}" for folder, (pinned, *_) in FOLDERS.items()))
    todo = same if "--check" in arguments else write
    wanted = [a for a in arguments if a != "--check"]
    here = pathlib.Path(__file__).parent
    zoo = {name: (folder, pinned, m)
           for folder, (pinned, *modules) in FOLDERS.items() for m in modules for name in m.GRAPHS}
    if unknown := set(wanted) - set(zoo):
        sys.exit(f"make.py: no graph called {', '.join(sorted(unknown))}; there are {', '.join(zoo)}")
    for name in wanted:
        if zoo[name][1] != jax.__version__:
            sys.exit(f"make.py: {name} is made with jax {zoo[name][1]}, and this is {jax.__version__}")
    done = [todo(here / folder / f"{name}.pb.zst", made(name, m)) for name, (folder, pinned, m) in zoo.items()
            if pinned == jax.__version__ and (not wanted or name in wanted)]
    if not done:
        sys.exit(f"make.py: no graph is made with jax {jax.__version__}; make.py --pinned lists the versions")
    sys.exit(0 if all(done) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
