#!/usr/bin/env python3
"""Lets our search and its rivals rewrite the same programs by the same rules, and says who gains what.

    bench/rivals.py --out DIR [--core N] [--seconds S] [--strategies NAME,...] GRAPH...
    bench/rivals.py --out DIR --report-only

Taso, Tensat and greedy measure each operator once and trust the sums; the search prices places in their surroundings
and checks the whole program. All get the same seconds on the same core, and the verdict is that of every search: whole
programs, after the compiler's own passes, in fresh processes. What a rival believes of its answer stands beside what is
true: by the share of the time, and by rank over the programs.

A result is kept in DIR and not measured twice, so this can be stopped and started again. Two of it may run on two
cores, over different programs, into one DIR.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

from hardware import spearman

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRATEGIES = "guided,taso,tensat,greedy,random"


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("graphs", nargs="*", type=pathlib.Path, metavar="GRAPH")
    p.add_argument("--out", type=pathlib.Path, required=True, help="folder of all results")
    p.add_argument("--bin", type=pathlib.Path, default=ROOT / "bin")
    p.add_argument("--core", type=int, default=0)
    p.add_argument("--seconds", type=float, default=40)
    p.add_argument("--verdict-seconds", type=float, default=10)
    p.add_argument("--strategies", default=STRATEGIES)
    p.add_argument("--report-only", action="store_true", help="the tables of what is in DIR; run nothing")
    return p.parse_args()


def play(o, graph, strategy):
    """One search: what it says, with its seconds by the clock and the memory of its largest process."""
    key = f"{graph.name.split('.')[0]}.{strategy}"
    result = o.out / (key + ".json")
    if result.exists():
        return
    argv = [o.bin / "search", "--space", "rewrite", "--strategy", strategy, "--graph", graph, "--core", o.core,
            "--jobs", 0, "--seconds", o.seconds, "--verdict-seconds", o.verdict_seconds, "--out",
            o.out / (key + ".tuned"), "--json", "--quiet", "--wait"]
    began = time.monotonic()
    child = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, text=True)
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        print(f"rivals: {key} failed", file=sys.stderr)
        return
    told = json.loads(said) | {"clock": time.monotonic() - began, "peak_mib": used.ru_maxrss / 1024}
    half = o.out / (key + ".part")
    half.write_text(json.dumps(told))
    half.rename(result)


def read(o):
    """{strategy: {program: what was said}}"""
    found = {}
    for path in sorted(o.out.glob("*.json")):
        program, strategy, _ = path.name.split(".")
        found.setdefault(strategy, {})[program] = json.loads(path.read_text())
    return found


def cell(told):
    if not told:
        return "not run"
    v = told["verdict"]
    if "gain" not in v:
        return v.get("outcome") or v.get("numbers") or "none, it chose nothing"
    gain = "{:.1f}% [{:.1f}, {:.1f}]".format(*(100 * v[k] for k in ("gain", "gain_low", "gain_high")))
    return gain if v["tuned"] else f"none, {gain}"


def tables(found):
    names = [s for s in STRATEGIES.split(",") if s in found]
    programs = sorted({p for told in found.values() for p in told})
    print("| program |", " | ".join(names), "|")
    print("|---" * (len(names) + 1) + "|")
    for p in programs:
        print(f"| {p} |", " | ".join(cell(found[s].get(p)) for s in names), "|")
    for what, of in (("sure gain", lambda t: 100 * t["verdict"]["gain"] if t["verdict"]["tuned"] else 0),
                     ("seconds of search", lambda t: t["search"]["seconds"]), ("seconds in all", lambda t: t["clock"]),
                     ("largest process, MiB", lambda t: t["peak_mib"])):
        each = [[of(t) for t in found[s].values()] for s in names]
        print(f"| {what}, mean |", " | ".join(f"{sum(v) / len(v):.1f}" for v in each), "|")
    for s in names:
        told = {p: t for p, t in found[s].items() if "rival" in t["search"] and "gain" in t["verdict"]}
        believed = [t["search"]["rival"]["believed"] / t["search"]["rival"]["of"] for t in told.values()]
        true = [t["verdict"]["gain"] for t in told.values()]
        if len(told) > 2:
            pairs = "; ".join(f"{p} {100 * b:.1f}, {100 * g:.1f}" for p, b, g in zip(told, believed, true))
            print(f"{s}: rank correlation of what it believes with what is true, {len(told)} programs: "
                  f"{spearman(believed, true):.2f} (percent believed, true: {pairs})")


def main():
    o = options()
    o.out.mkdir(parents=True, exist_ok=True)
    for graph in [] if o.report_only else o.graphs:
        for strategy in o.strategies.split(","):
            play(o, graph, strategy)
    tables(read(o))


main()
