#!/usr/bin/env python3
"""Tests whether the gains of searches hold, with a program that shares no code with them.

    bench/again.py [--runs N] [--core N] [--cores N] DIR...

bench/table1.py filled DIR. Each program that a search left is run again by examples/run/run_tuned.c, built as its
opening says, in N processes that compile both programs anew, because processes differ. Their mean is compared with the
interval of the verdict. Results are kept in DIR/again and not measured twice.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / os.environ.get("DEPS", ".deps") / "xla_plugins/xla_cpu_pjrt"


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dirs", nargs="+", type=pathlib.Path, metavar="DIR")
    p.add_argument("--runs", type=int, default=12, help="processes a program; one alone is 0.5%% off as likely as not")
    p.add_argument("--core", type=int, default=0, help="the first core to run on")
    p.add_argument("--cores", type=int, default=1, help="how many; as many as the searches in DIR ran on")
    p.add_argument("--plugin", type=pathlib.Path, help="the one that searched (default: the one that cpu means)")
    o = p.parse_args()
    if o.runs < 2:
        p.error("--runs: at least 2")
    if o.cores < 1:
        p.error("--cores: at least 1")
    if not o.plugin:
        o.plugin = ROOT / subprocess.run([ROOT / "tests/deps", "--where"], capture_output=True,
                                         text=True).stdout.strip()
    return o


def build(where):
    """By the commands in the head of run_tuned.c, in a folder that looks like ours and has nothing else."""
    source = ROOT / "examples/run/run_tuned.c"
    shutil.copytree(ROOT / "schemas", where / "schemas", ignore=shutil.ignore_patterns("*.pb-c.*"))
    shutil.copytree(source.parent, where / "examples/run")
    (where / ".deps/xla_plugins").mkdir(parents=True)
    (where / ".deps/xla_plugins/xla_cpu_pjrt").symlink_to(HEADERS.resolve())
    head = source.read_text().split("*/")[0]
    commands = re.search(r"protoc-c .*?-lm\n", head, re.S).group().replace("\n *", "\n")
    subprocess.run(["bash", "-ec", commands], cwd=where, check=True)
    return where / "run_tuned"


def run(program, plugin, cores, tuned):
    """Share of time saved, in one process, whose threads are as many as the cores it is confined to. The executable
    made by the search is left out, so that it is compiled."""
    with tempfile.TemporaryDirectory() as bare:
        for name in ("default.pb", "tuned.pb", "options.txt"):
            shutil.copy(tuned / name, bare)
        said = subprocess.run(["taskset", "-c", cores, program, plugin, bare],
                              capture_output=True, text=True, timeout=600)
    found = re.search(r"([-0-9.]+)% less", said.stdout)
    if not found:
        sys.exit(f"again: {tuned}: {said.stdout}{said.stderr}")
    return float(found.group(1)) / 100


def claims(dirs):
    for d in dirs:
        for path in sorted((d / "searches").glob("*.json")):
            verdict = json.loads(path.read_text())["verdict"]
            if verdict["tuned"]:
                yield d, path.stem, verdict


def main():
    o = options()
    held = all_claims = 0
    cores = f"{o.core}-{o.core + o.cores - 1}"
    with tempfile.TemporaryDirectory() as where:
        program = build(pathlib.Path(where))
        print("| search | claimed, 95% interval | again: mean, single processes | |\n|---|---|---|---|")
        for d, key, v in claims(o.dirs):
            kept = d / "again" / (key + ".json")
            if not kept.exists():
                kept.parent.mkdir(exist_ok=True)
                kept.write_text(json.dumps([run(program, o.plugin, cores, d / "tuned" / key) for _ in range(o.runs)]))
            gains = json.loads(kept.read_text())
            mean, se = statistics.mean(gains), statistics.stdev(gains) / len(gains) ** 0.5
            inside = v["gain_low"] <= mean <= v["gain_high"]
            held, all_claims = held + inside, all_claims + 1
            print(f"| {key} | {100 * v['gain']:.2f}% [{100 * v['gain_low']:.2f}, {100 * v['gain_high']:.2f}] | "
                  f"{100 * mean:.2f}% +- {100 * se:.2f}: {', '.join(f'{100 * g:.2f}' for g in gains)} | "
                  f"{'inside' if inside else 'outside'} |", flush=True)
    print(f"\n{held} of {all_claims} within the interval claimed")


if __name__ == "__main__":
    main()
