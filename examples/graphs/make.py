#!/usr/bin/env python3
"""Makes the zoo: programs to tune, as HloModuleProto, compressed with zstd.

    pip install jax==0.8.1 jaxlib==0.8.1
    examples/graphs/make.py            all of them; with names, only those
    examples/graphs/make.py --check    writes nothing, tells which are not what their source gives
    examples/graphs/make.py --pinned   the version of jax they are made with

Only needed to change the zoo: the files are in the repository. Folders keep apart what must
never meet: what models are trained on (train, loops), what they are judged by (held-out) and what
tests run on (tiny). The same source and the same jax give the same bytes.
"""
import os
import pathlib
import subprocess
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax

import chance
import held_out
import mobile
import other
import physics
import sequence
import tiny
import vision

PINNED = "0.8.1"
FOLDERS = {
    "train": (sequence, vision, other),
    "loops": (physics, chance),
    "held-out": (held_out, mobile),
    "tiny": (tiny,),
}


def fields(message):
    """(number, wire type, value, whole field) of each field of a serialised protobuf message."""
    def read(at):
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if message[at - 1] < 128:
                return value, at

    at = 0
    while at < len(message):
        start = at
        tag, at = read(at)
        value = None
        if tag & 7 == 0:
            value, at = read(at)
        elif tag & 7 == 2:
            n, at = read(at)
            value, at = message[at:at + n], at + n
        else:
            at += {1: 8, 5: 4}[tag & 7]
        yield tag >> 3, tag & 7, value, message[start:at]


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


# HloModuleProto: where a message lies within one, and which of its fields stay. Of metadata only the
# operation's name; no table of source files, and no number of the module in its process.
INSIDE = {"module": {3: "computation"}, "computation": {2: "instruction"}, "instruction": {7: "metadata"}}
DROPPED = {"module": {5, 17}, "metadata": set(range(3, 64))}


def anonymous(message, kind="module"):
    """Without anything that tells on which machine, from which file and line, it was made."""
    out = b""
    for field, _, value, whole in fields(message):
        if field in DROPPED.get(kind, ()):
            continue
        inner = INSIDE.get(kind, {}).get(field)
        if inner:
            value = anonymous(value, inner)
            whole = varint(field << 3 | 2) + varint(len(value)) + value
        out += whole
    return out


def lowered(name, graph):
    function, arguments, *donated = graph()
    function.__name__ = name.replace("-", "_")
    lowered = jax.jit(function, donate_argnums=donated).lower(*arguments)
    return anonymous(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())


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
        return print(PINNED)
    if jax.__version__ != PINNED:
        sys.exit(f"make.py: the zoo is made with jax {PINNED}, and this is {jax.__version__}")
    todo = same if "--check" in arguments else write
    wanted = [a for a in arguments if a != "--check"]
    here = pathlib.Path(__file__).parent
    zoo = {name: (here / folder / f"{name}.pb.zst", graph)
           for folder, modules in FOLDERS.items() for m in modules for name, graph in m.GRAPHS.items()}
    if unknown := set(wanted) - set(zoo):
        sys.exit(f"make.py: no graph called {', '.join(sorted(unknown))}; there are {', '.join(zoo)}")
    done = [todo(path, lowered(name, graph)) for name, (path, graph) in zoo.items() if not wanted or name in wanted]
    sys.exit(0 if all(done) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
