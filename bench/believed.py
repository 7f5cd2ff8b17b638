#!/usr/bin/env python3
"""Compares what searches believe at their end with what the verdict then finds, for several programs.

    bench/believed.py --out DIR [--seeds N] [--budget N] [--lock FILE] GRAPH...
    bench/believed.py --out DIR --report-only

Both are the time saved, compared with the compiler's own program. The search knows it from regions and from its own
checks of the whole program, the verdict from fresh workers. The result of a search is kept in DIR and the search is not
run twice, so this can be stopped and started again. With --lock a search waits until that file is free (flock), so that
only one program measures.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("graphs", nargs="*", type=pathlib.Path, metavar="GRAPH")
    p.add_argument("--out", type=pathlib.Path, required=True, help="folder of all results")
    p.add_argument("--bin", type=pathlib.Path, default=ROOT / "bin")
    p.add_argument("--seeds", type=int, default=4, help="searches a program")
    p.add_argument("--budget", type=int, default=60)
    p.add_argument("--verdict-seconds", type=float, default=12)
    p.add_argument("--lock", type=pathlib.Path, help="file to hold while a search runs")
    p.add_argument("--report-only", action="store_true", help="the table of what is in DIR; run nothing")
    return p.parse_args()


def search(o, graph, seed):
    key = f"{graph.name.split('.')[0]}.{seed}"
    result = o.out / (key + ".json")
    if result.exists():
        return
    argv = [o.bin / "search", "--space", "fusion", "--cores", 1, "--graph", graph, "--seed", seed, "--budget", o.budget,
            "--out", o.out / (key + ".tuned"), "--verdict-seconds", o.verdict_seconds, "--json", "--quiet", "--wait"]
    argv = ["flock", o.lock, *argv] if o.lock else argv
    r = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, text=True)
    if r.returncode:
        sys.exit(f"believed: {key} failed")
    half = o.out / (key + ".part")
    half.write_text(r.stdout)
    half.rename(result)
    print(line(key, json.loads(r.stdout)), flush=True)


def figures(r):
    """Shares of time saved: believed, its error, the verdict's, its error, and what the steps alone had said."""
    s, v = r["search"], r["verdict"]
    decoded, dflt = s["decoded_default_seconds_more"], s["default_seconds"]
    last = s["checks"][-1] if s["checks"] else None
    steps = last["believed"] if last and last["evaluation"] == s["evaluations"] else s["curve"][-1]["delta"]
    return (s["gain_believed"], s["gain_believed_se"], v["gain"], (v["gain_high"] - v["gain_low"]) / 4,
            -(steps + decoded) / (dflt - decoded))


def line(key, r):
    if "gain" not in r["verdict"]:
        return f"| {key} | nothing kept | | |"
    b, b_se, v, v_se, steps = figures(r)
    return (f"| {key} | {100 * b:.2f}% +- {100 * b_se:.2f} | {100 * v:.2f}% +- {100 * v_se:.2f} | "
            f"{100 * (b - v):+.2f}% | {100 * (steps - v):+.2f}% |")


def mean_of(name, off):
    if len(off) > 1:
        print(f"{name}: {100 * statistics.mean(off):+.3f}% +- {100 * statistics.stdev(off) / len(off) ** 0.5:.3f}")


def report(o):
    found = {p.stem: json.loads(p.read_text()) for p in sorted(o.out.glob("*.json"))}
    print("| search | believed | verdict | believed less verdict | without the last check |\n|---|---|---|---|---|")
    for key, r in found.items():
        print(line(key, r))
    all_figures = [figures(r) for r in found.values() if "gain" in r["verdict"]]
    mean_of(f"mean of believed less verdict over {len(all_figures)} searches", [b - v for b, _, v, _, _ in all_figures])
    mean_of("the same without the last check", [s - v for _, _, v, _, s in all_figures])
    squares = [(b - v) ** 2 / (b_se ** 2 + v_se ** 2) for b, b_se, v, v_se, _ in all_figures]
    if squares:
        print(f"mean square of that over the errors stated: {statistics.mean(squares):.2f}")


def main():
    o = options()
    o.out.mkdir(parents=True, exist_ok=True)
    for seed in range(1, o.seeds + 1):
        for graph in o.graphs:
            if not o.report_only:
                search(o, graph, seed)
    report(o)


if __name__ == "__main__":
    main()
