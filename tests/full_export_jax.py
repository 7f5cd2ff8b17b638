#!/usr/bin/env python3
"""JAX: the export in examples/export gives what inspect reads, and the zoo's source gives the zoo's bytes."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / os.environ.get("BIN", "bin")
failed = False


def call(*command):
    return subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True)


def report(name, why=None):
    global failed
    failed |= bool(why)
    print(f"FAIL: {name}: {why}" if why else f"pass: {name}", flush=True)


def export(folder):
    """Two layers' weights, a batch and its targets go in; the weights and the loss come out."""
    path = folder / "step.pb"
    made = call(sys.executable, "examples/export/from_jax.py", path)
    if made.returncode:
        return made.stderr.strip().splitlines()[-1]
    seen = call(BIN / "inspect", "--json", path)
    if seen.returncode:
        return seen.stderr.strip()
    facts = json.loads(seen.stdout)
    if facts["parameters"] != 6:
        return f"{facts['parameters']} parameters, wanted 6"
    if not 20 < facts["instructions"] < 1000:
        return f"{facts['instructions']} instructions, wanted some hundred"
    code = "import from_jax, jax, sys; from_jax.save(sys.argv[1], lambda x: x.T, jax.numpy.ones((3, 4)))"
    subprocess.run([sys.executable, "-c", code, path], cwd=ROOT / "examples/export", check=True)
    head = call(BIN / "inspect", "--hlo", path).stdout.splitlines()[0]
    if "->f32[4,3]{1,0}" not in head:
        return f"a result does not lie row by row: {head}"


# Of each folder a few that use most of what make.py and the layers have; all would take minutes.
SAMPLE = {"train": ["decoder"], "held-out": ["graph-network"], "tiny": ["scatter"], "loops": ["gravity", "heston"],
          "steps": ["grouped-gpt", "smoother", "game"], "strangers": ["ppo", "chemistry", "x_svd"],
          "halves": ["half-critic", "half-mixer"]}


def zoo(folders):
    names = [name for folder in folders for name in SAMPLE[folder]]
    made = call(sys.executable, "examples/graphs/make.py", "--check", *names)
    return (made.stdout + made.stderr).strip() if made.returncode else None


version = call(sys.executable, "-c", "import jax; print(jax.__version__)")
if version.returncode:
    print("skip: export_jax: jax is not installed")
    print("skip: zoo_same_bytes: jax is not installed")
    sys.exit(0)
with tempfile.TemporaryDirectory() as folder:
    report("export_jax", export(pathlib.Path(folder)))
pinned = dict(line.split() for line in call(sys.executable, "examples/graphs/make.py", "--pinned").stdout.splitlines())
report("zoo_pinned", f"{', '.join(pinned)}; sampled {', '.join(SAMPLE)}" if pinned.keys() != SAMPLE.keys() else None)
here = [folder for folder, jax in pinned.items() if jax == version.stdout.strip()]
if not here:
    print(f"skip: zoo_same_bytes: no folder of the zoo is made with jax {version.stdout.strip()}")
else:
    report("zoo_same_bytes", zoo(here))
sys.exit(failed)
