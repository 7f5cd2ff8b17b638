#!/usr/bin/env python3
"""The tables in examples/graphs/README.md say how many instructions and sites each graph has: is it so?

Sites need the CPU plugin 0.0.1, because their numbers depend on its passes before fusion. Graphs of more than 1,000
sites take most of the time (the largest alone a minute and more) and are left out unless ZOO=all. Instructions as made
need no plugin.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / os.environ.get("BIN", "bin")
PLUGIN = ROOT / os.environ.get("DEPS", ".deps") / "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"
LIMIT = float("inf") if os.environ.get("ZOO") == "all" else 1000
ROW = re.compile(r"^\| ([\w-]+) \| (train|held-out|tiny) \|[^|]*\| ([\d,]+) \| ([\d,]+) \|", re.M)
AS_MADE = re.compile(r"^\| ([\w-]+) \| [^|\d]+ \| ([\d,]+) \| [^|]+ \|$", re.M)
PAPER = {"graph-network": 1532, "unet": 2626, "ranker": 532, "mnasnet": 5713, "ssd-mobilenet": 22176}


def number(text):
    return int(text.replace(",", ""))


def differs(name, folder, instructions, sites):
    seen = subprocess.run([BIN / "inspect", "--space", "--json", "--device", "cpu@0.0.1",
                           f"examples/graphs/{folder}/{name}.pb.zst"], cwd=ROOT, capture_output=True, text=True)
    if seen.returncode:
        return seen.stderr.strip()
    facts = json.loads(seen.stdout)
    if (facts["instructions"], facts["sites"]) != (instructions, sites):
        return f"{facts['instructions']} instructions, {facts['sites']} sites; README says {instructions}, {sites}"


def made(name, instructions):
    """Why the file of that name, in whichever folder, hasn't got that many."""
    found = list(ROOT.glob(f"examples/graphs/*/{name}.pb.zst"))
    if len(found) != 1:
        return f"{len(found)} files of that name"
    seen = subprocess.run([BIN / "inspect", "--json", found[0]], capture_output=True, text=True)
    if seen.returncode:
        return seen.stderr.strip()
    if (counted := json.loads(seen.stdout)["instructions"]) != instructions:
        return f"{counted} instructions; README says {instructions}"


failed = False


def report(name, why):
    global failed
    failed |= bool(why)
    print(f"FAIL: zoo_sites_{name}: {why}" if why else f"pass: zoo_sites_{name}", flush=True)


text = (ROOT / "examples/graphs/README.md").read_text()
as_made = [(name, number(n)) for name, n in AS_MADE.findall(text)]
table = [(name, folder, number(n), number(sites)) for name, folder, n, sites in ROW.findall(text)]
listed = {name for name, *_ in as_made + table}
files = {path.name.removesuffix(".pb.zst") for path in ROOT.glob("examples/graphs/*/*.pb.zst")}
report("rows", f"not in one table with its numbers: {', '.join(sorted(listed ^ files))}" if listed != files else None)
for name, instructions in as_made:
    report(name, made(name, instructions))
if not PLUGIN.exists():
    print(f"skip: zoo_sites: no plugin at {PLUGIN}")
    sys.exit(failed)
for name, folder, instructions, sites in table:
    why = None
    if name in PAPER and abs(sites / PAPER[name] - 1) > 0.2:
        why = f"{sites} sites, wanted {PAPER[name]} within 20%"
    elif folder == "train" and not 500 <= sites <= 5000:
        why = f"{sites} sites, wanted 500 to 5,000"
    elif sites < LIMIT:
        why = differs(name, folder, instructions, sites)
    report(name, why)
sys.exit(failed or not table)
