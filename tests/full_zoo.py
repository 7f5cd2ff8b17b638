#!/usr/bin/env python3
"""The table in examples/graphs/README.md says how many sites each graph has: is it so?

Needs the CPU plugin 0.0.1, because the numbers depend on its passes before fusion. Graphs of more than 1,000 sites take
most of the time (the largest alone a minute and more) and are left out unless ZOO=all.
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


if not PLUGIN.exists():
    print(f"skip: zoo_sites: no plugin at {PLUGIN}")
    sys.exit(0)
failed = False
table = [(name, folder, number(n), number(sites))
         for name, folder, n, sites in ROW.findall((ROOT / "examples/graphs/README.md").read_text())]
for name, folder, instructions, sites in table:
    why = None
    if name in PAPER and abs(sites / PAPER[name] - 1) > 0.2:
        why = f"{sites} sites, wanted {PAPER[name]} within 20%"
    elif folder == "train" and not 500 <= sites <= 5000:
        why = f"{sites} sites, wanted 500 to 5,000"
    elif sites < LIMIT:
        why = differs(name, folder, instructions, sites)
    failed |= bool(why)
    print(f"FAIL: zoo_sites_{name}: {why}" if why else f"pass: zoo_sites_{name}", flush=True)
sys.exit(failed or not table)
