#!/usr/bin/env python3
"""Scores models on measurements of another compiler, or another version of it, than that which they were learnt from.

    bench/moved.py [--seeds N] [--parts N] [--limit N] [--names A,B] [--bin DIR] OLD.sqlite NEW.sqlite

The stores have measurements by two versions of a backend, or by two backends. Each program of NEW is left out in turn,
and models that never saw it are scored on its decisions in NEW: one learnt from OLD, and one learnt from NEW. The table
has the mean of each metric over programs and seeds, with a 95% interval over the programs. A program that is in NEW
alone was never seen by any model of OLD.
"""
import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
AT_10 = 2  # of the shares for which gain and recall are given: 1, 5, 10, 20%


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__.split("\n", 2)[2],
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("old", type=pathlib.Path)
    p.add_argument("new", type=pathlib.Path)
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--parts", type=int, default=0,
                   help="leave out so many parts of the programs in turn instead of single ones; 0: single ones")
    p.add_argument("--limit", type=int, default=0, help="the most samples of a program; 0: all")
    p.add_argument("--names", default="the old version,the new version", help="what the table calls the two")
    p.add_argument("--bin", type=pathlib.Path, default=ROOT / "bin")
    return p.parse_args()


def learn(o, store, *how):
    """Scores by program: gain@10% (None where there is nothing to gain), recall@10%, Spearman."""
    command = (o.bin / "learn", "--quiet", "--json", "--limit", o.limit, "--db", store, *how)
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"moved: learn {' '.join(map(str, how))}: {done.stderr.strip()[-600:]}")
    return {g["graph"]: (g["model"]["gain"][AT_10], g["model"]["recall"][AT_10], g["model"]["spearman"])
            for g in json.loads(done.stdout)["graphs"] if g["graph"] != "mean"}


def moved(o, seed, scratch):
    """For each program of NEW, its scores by a model that is learnt from OLD without it; and the programs of both."""
    model = pathlib.Path(scratch) / "old.vm"
    learn(o, o.old, "--seed", seed, "--out", model)
    found = learn(o, o.new, "--foreign", "--eval", model)
    both = sorted(set(found) & set(learn(o, o.old, "--foreign", "--eval", model)))
    parts = o.parts or len(both)
    for part in filter(None, (both[i::parts] for i in range(parts))):
        learn(o, o.old, "--seed", seed, "--holdout", f"^({'|'.join(map(re.escape, part))})$", "--out", model)
        unseen = learn(o, o.new, "--foreign", "--eval", model)
        found.update((program, unseen[program]) for program in part)
    return found, both


def mean(name, by_seed, programs):
    cells = []
    for metric in range(3):
        seen = [[s[p][metric] for s in by_seed if s[p][metric] is not None] for p in programs]
        means = [statistics.mean(v) for v in seen if v]
        wide = 1.96 * statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else math.nan
        cells.append(f"{100 * statistics.mean(means):.1f}% +- {100 * wide:.1f}")
    print(f"| {name} | {len(programs)} | " + " | ".join(cells) + " |", flush=True)


def main():
    o, old, new, both = options(), [], [], []
    first, second = o.names.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(1, o.seeds + 1):
            found, both = moved(o, seed, scratch)
            old.append(found)
            new.append(learn(o, o.new, "--leave-one-out", "--parts", o.parts, "--seed", seed))
    print("| learnt from | programs | gain@10% | recall@10% | Spearman |\n|---|---|---|---|---|")
    for part, programs in (("", list(new[0])), (", those in both", both),
                           (", those in the second alone", [p for p in new[0] if p not in both])):
        if programs:
            mean(first + part, old, programs)
            mean(second + part, new, programs)


if __name__ == "__main__":
    main()
