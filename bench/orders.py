#!/usr/bin/env python3
"""Runs build/release/bench/order on many programs, and says what orders are worth over all of them.

    bench/orders.py --out DIR [--seconds N] [--stop-after N] GRAPH...
    bench/orders.py --out DIR --configs 500 [--chunk N] [--stop-after N] GRAPH...
    bench/orders.py --out DIR --report-only

The first form tunes each program for so many seconds on one core. The second tries so many random configurations of
each, in chunks with seeds of their own: did the compiler run the order as asked, and are all outputs the same bit by
bit? What the bench says of a program, or of a chunk, is kept in DIR and never measured twice, so this can be stopped
and started again. It begins nothing new after --stop-after seconds.

A search answers with the better of the compiler's own ways if it finds nothing better. So a program whose tuned order
needs more counts as 0 in the mean; the table shows what was found. A program without temporary memory counts as 0.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("graphs", nargs="*", type=pathlib.Path, metavar="GRAPH")
    p.add_argument("--out", type=pathlib.Path, required=True, help="folder of all results")
    p.add_argument("--bench", type=pathlib.Path, default=ROOT / "build/release/bench/order")
    p.add_argument("--seconds", type=float, default=60, help="of tuning each program")
    p.add_argument("--strategy", default="guided")
    p.add_argument("--configs", type=int, default=0, help="random configurations of each program; 0: tune instead")
    p.add_argument("--chunk", type=int, default=50, help="of these in one run")
    p.add_argument("--stop-after", type=float, default=1e9, help="seconds")
    p.add_argument("--report-only", action="store_true", help="the tables of what is in DIR; run nothing")
    return p.parse_args()


def name_of(graph):
    return graph.name.split(".")[0]


def keep(o, key, arguments, graph):
    """Runs the bench, unless its output is there already. A program that fails is kept as well, with what it said."""
    result = o.out / (key + ".txt")
    if result.exists() or time.monotonic() > o.end:
        return
    cores = os.sched_getaffinity(0)
    core = ["--core", min(cores)] if len(cores) == 1 else []
    argv = [str(a) for a in [o.bench, *core, *arguments, graph]]
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if r.returncode < 0:
        sys.exit(f"orders: {key}: the bench was stopped by a signal")
    half = o.out / (key + ".part")
    half.write_text(r.stdout + (f"failed: {r.returncode}\n" if r.returncode else ""))
    half.rename(result)
    print(r.stdout, end="", flush=True)


def run(o):
    for graph in o.graphs:
        if not o.configs:
            arguments = ["--strategy", o.strategy, "--seconds", o.seconds, "--configs", 0]
            keep(o, f"tuned.{name_of(graph)}", arguments, graph)
        for first in range(0, o.configs, o.chunk):
            n = min(o.chunk, o.configs - first)
            arguments = ["--seconds", 0, "--configs", n, "--bits", n, "--seed", first + 1]
            keep(o, f"random.{name_of(graph)}.{first:05}", arguments, graph)


def report_tuned(o):
    shares, both = [], []
    for path in sorted(o.out.glob("tuned.*.txt")):
        text = path.read_text()
        found = re.search(r"tuned: (\d+) by the compiler, (\d+) by the model; (\S+)% below", text)
        own = re.search(r"depth-first by us \d+, (\d+)", text)
        if not shares:
            print("| program | by the compiler | by the model | below its better way | below our depth-first |\n"
                  "|---|---|---|---|---|")
        name = path.name.split(".")[1]
        if not found:
            print(f"| {name} | failed: {text.strip().splitlines()[-1][:100]} | | | |")
            continue
        nothing = found[1] == "0" and found[3] in ("nan", "-nan")
        share = 0.0 if nothing else float(found[3])
        shares.append(max(share, 0.0))
        first = 100 * (1 - int(found[1]) / int(own[1])) if own and int(own[1]) else None
        if own:
            both.append(max(min(share, first or 0.0), 0.0))
        print(f"| {name} | {int(found[1]):,} | {int(found[2]):,} | {'no memory' if nothing else f'{share:.2f}%'} | "
              f"{'' if first is None else f'{first:.2f}%'} |")
    if both:
        print(f"mean of {len(both)} against the best of the compiler's ways and our depth-first order: "
              f"{statistics.mean(both):.2f}%")
        print(f"mean of {len(shares)} programs: {statistics.mean(shares):.2f}%; median "
              f"{statistics.median(shares):.2f}%; {sum(s >= 3 for s in shares)} with at least 3%")


def report_random(o):
    programs = {}
    for path in sorted(o.out.glob("random.*.txt")):
        programs.setdefault(path.name.split(".")[1], []).append(path.read_text())
    for name, texts in programs.items():
        count = dict(asked=0, tried=0, alike=0, pairs=0, bits=0, compared=0)
        off = 0.0
        for text in texts:
            r = re.search(r"random: (\d+) of (\d+) exactly.* off by (\S+)% at most; (\d+) of (\d+) pairs", text)
            b = re.search(r"bits: (\d+) of (\d+)", text)
            if r and b:
                found = (*r.group(1, 2, 4, 5), *b.groups())
                for key, x in zip(("asked", "tried", "alike", "pairs", "bits", "compared"), found):
                    count[key] += int(x)
                off = max(off, float(r[3]))
            else:
                print(f"{name}: a chunk failed: {text.strip()[-200:]}")
        print(f"{name}: {count['asked']} of {count['tried']} exactly as asked; {count['bits']} of {count['compared']} "
              f"with the same bits; {count['alike']} of {count['pairs']} pairs ranked alike; the model off by "
              f"{off:.2f}% at most")


def main():
    o = options()
    o.out.mkdir(parents=True, exist_ok=True)
    o.end = time.monotonic() + o.stop_after
    if not o.report_only:
        run(o)
    report_tuned(o)
    report_random(o)


if __name__ == "__main__":
    main()
