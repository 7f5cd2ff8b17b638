#!/usr/bin/env python3
"""Holds bin/inspect against jaxlib's own reading of the same file, where jaxlib is installed.

Counted by both: instructions, computations, each opcode, entry parameters and their bytes.
"""
import collections
import glob
import json
import os
import shutil
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.chdir(root)
inspect = os.path.join(os.environ.get("BIN", "bin"), "inspect")

try:
    from jaxlib import _hlo, _jax
except ImportError:
    print("skip: inspect_jax: no jaxlib of a version that shows HLO")
    sys.exit(0)
if not os.access(inspect, os.X_OK):
    print("skip: inspect_jax: %s is not built" % inspect)
    sys.exit(0)


def theirs(path):
    data = open(path, "rb").read()
    if path.endswith(".zst"):
        data = subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout
    module = _hlo.HloModule.from_serialized_hlo_module_proto(data)
    opcodes = collections.Counter()
    computations = 0
    for c in module.computations():
        computations += 1
        for i in c.instructions():
            opcodes[i.opcode.name if hasattr(i.opcode, "name") else str(i.opcode)] += 1
    shape = _hlo.XlaComputation(data).program_shape()
    sizes = [s.numpy_dtype().itemsize * prod(s.dimensions()) for s in shape.parameter_shapes()]
    return {"instructions": sum(opcodes.values()), "computations": computations, "name": module.name,
            "parameters": len(sizes), "bytes": sum(sizes), "opcodes": dict(opcodes)}


def prod(v):
    p = 1
    for x in v:
        p *= x
    return p


ABBREVIATED = {"sin": "sine", "cos": "cosine", "exp": "exponential", "expm1": "exponentialminusone",
               "log1p": "logplusone"}


def plain(opcodes):
    """jaxlib names kGetTupleElement what HLO calls get-tuple-element."""
    names = {k: "".join(ch for ch in k.lower().removeprefix("k") if ch.isalnum()) for k in opcodes}
    return {ABBREVIATED.get(n, n): opcodes[k] for k, n in names.items()}


failed = 0
files = sorted(glob.glob("../shared/hlo/*.pb")) + sorted(glob.glob("examples/graphs/tiny/*.zst"))
for path in files:
    name = "inspect_jax_" + os.path.basename(path).split(".")[0]
    if path.endswith(".zst") and not shutil.which("zstd"):
        print("skip: %s: no zstd command" % name)
        continue
    ours = json.loads(subprocess.run([inspect, "--json", path], check=True, stdout=subprocess.PIPE).stdout)
    want = theirs(path)
    ours["opcodes"], want["opcodes"] = plain(ours["opcodes"]), plain(want["opcodes"])
    wrong = ["%s is %s, jaxlib says %s" % (k, ours[k], want[k]) for k in want if ours[k] != want[k]]
    if wrong:
        failed = 1
        print("FAIL: %s: %s" % (name, "; ".join(wrong)))
    else:
        print("pass: %s" % name)
sys.exit(failed)
