#!/usr/bin/env python3
"""Computes points on the problems of the iopddl contest: the best cost of any team, divided by ours.

    bench/net.py [--data ../shared/data] [--jobs N] [--seed N] [NAME ...]

Runs `search` on each problem for the contest's time, adds the answer up in plain Python (it must be feasible), and
prints a row for each, as in bench/log.md. Without the data it prints "skipped".
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile

# The contest's results: the best cost, the second best divided by it, the seconds allowed.
TEAMS = {"A": (6548641531, 1.003, 60), "B": (532843, 1.000, 60), "D": (313613524736, 1.009, 60),
         "G": (217039, 1.000, 120), "K": (2274276676, 1.416, 180), "M": (49928460991, 1.340, 180),
         "Q": (526776842042, 1.002, 240), "S": (1534613444, 1.275, 240)}
NEVER = 10 ** 18


def added_up(problem, choice):
    """The cost, or None when the answer is not feasible."""
    nodes, edges = problem["nodes"], problem["edges"]
    sizes = [len(c) for c in nodes["costs"]]
    costs = [c[k] for c, k in zip(nodes["costs"], choice)]
    costs += [c[choice[a] * sizes[b] + choice[b]] for (a, b), c in zip(edges["nodes"], edges["costs"])]
    change = {}
    for (begin, end), usage, k in zip(nodes["intervals"], nodes["usages"], choice):
        if begin < end:
            change[begin] = change.get(begin, 0) + usage[k]
            change[end] = change.get(end, 0) - usage[k]
    now = 0
    for time in sorted(change):
        now += change[time]
        if now > problem.get("usage_limit", now):
            return None
    return None if max(costs) >= NEVER else sum(costs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(os.path.dirname(__file__), "../../shared/data"))
    parser.add_argument("--jobs", default="0")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--share", type=float, default=1, help="of the contest's seconds")
    parser.add_argument("names", nargs="*")
    a = parser.parse_args()
    search = os.path.join(os.path.dirname(__file__), "..", os.environ.get("BIN", "bin"), "search")
    points = []
    print("| problem | cost | points | second team's | found after | of |\n|---|---|---|---|---|---|")
    for name in a.names or sorted(TEAMS):
        best, second, seconds = TEAMS[name]
        path = os.path.join(a.data, "iopddl", name + ".json.gz")
        if not os.path.exists(path):
            print(f"skipped: {name}: there is no {path}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            answer = os.path.join(folder, "answer")
            run = subprocess.run([search, "--graph", path, "--seconds", str(seconds * a.share), "--jobs", a.jobs,
                                  "--seed",
                                  a.seed, "--json", "--quiet", "--out", answer], stdout=subprocess.PIPE, text=True)
            cost = None
            if run.returncode == 0:
                with gzip.open(path) as f:
                    problem = json.load(f)["problem"]
                with open(answer) as f:
                    cost = added_up(problem, json.load(f))
        if cost is None:
            points.append(0)
            print(f"| {name} | not feasible | 0 | {1 / second:.4f} | | {seconds} s |", flush=True)
            continue
        told = json.loads(run.stdout)
        assert told["cost"] == cost, (told, cost)
        points.append(best / cost)
        print(f"| {name} | {cost} | {best / cost:.4f} | {1 / second:.4f} | {told['best_seconds']:.0f} s | "
              f"{told['seconds']:.0f} s |", flush=True)
    if points:
        print(f"\nmean {sum(points) / len(points):.4f}, least {min(points):.4f}")


if __name__ == "__main__":
    main()
