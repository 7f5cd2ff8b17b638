#!/usr/bin/env python3
"""Runs the paper's experiment: collects on the training programs, learns, and searches the held-out ones.

    bench/table1.py --out DIR [--collect-seconds N] [--learn-seconds N] [--budget N] [--seeds N] ...
    bench/table1.py --out DIR --quick          everything small: under ten minutes

Uses only the programs in bin/. Each stage leaves its result in DIR and is skipped if it is there, so this can be
stopped and started again. Searches visit every program once before the second seed. Writes DIR/table.md and, for each
program, DIR/NAME.svg.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The rows of the table: a search's arguments, whether it gets the model, and its colour. Two are baselines from the
# default: hill climbing by class of isomorphic sites in random order, and no search at all but "fuse every elementwise
# operation that has one reader". Those below the line are the guided search with one part changed.
RIVALS = {
    "guided": (["--strategy", "guided"], True, "#1a7f4b"),
    "random": (["--strategy", "random"], False, "#b4481e"),
    "sweep": (["--strategy", "sweep"], True, "#2b5fb4"),
    "classes": (["--strategy", "sweep", "--tied", "--alpha", "0"], False, "#8a5fb4"),
    "greedy": (["--strategy", "random", "--start", "greedy", "--budget", "0"], False, "#777777"),
    # ---
    "paper": (["--no-tied", "--alpha", "10", "--hops", "1", "--propose", "magnitude", "--by", "magnitude",
               "--explore", "0", "--no-adapt"], True, "#a08000"),
    "paper-random": (["--strategy", "random", "--no-tied", "--hops", "1", "--no-adapt"], False, "#ef9a9a"),
    "by-magnitude": (["--by", "magnitude"], True, "#c06a00"),
    "around": (["--propose", "magnitude"], True, "#8a6d3b"),
    "no-adapt": (["--no-adapt"], True, "#4a8fa8"),
    "no-explore": (["--explore", "0"], True, "#6b8e23"),
    "wide": (["--alpha", "10", "--hops", "1"], True, "#c2185b"),
    "single": (["--no-tied"], True, "#00838f"),
    "no-bundles": (["--no-bundles"], True, "#5d4037"),
}


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", type=pathlib.Path, required=True, help="folder of all results")
    p.add_argument("--bin", type=pathlib.Path, default=ROOT / "bin")
    p.add_argument("--device", default="cpu")
    p.add_argument("--core", type=int, default=-1)
    p.add_argument("--train", type=pathlib.Path, default=ROOT / "examples/graphs/train")
    p.add_argument("--held-out", type=pathlib.Path, default=ROOT / "examples/graphs/held-out")
    p.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared/hlo",
                   help="more held-out programs, if there")
    p.add_argument("--db", type=pathlib.Path,
                   help="measurements that exist already; default: collect into DIR/runs.sqlite")
    p.add_argument("--model", type=pathlib.Path, help="a model that exists already; default: learn DIR/model.vm")
    p.add_argument("--prices", type=pathlib.Path,
                   help="a store of prices that all searches share, where they are estimates and so always the same: "
                        "what one game has priced takes no time in the next. Seconds then say nothing")
    p.add_argument("--collect-seconds", type=float, default=4 * 3600)
    p.add_argument("--learn-seconds", type=float, default=900)
    p.add_argument("--budget", type=int, default=2000)
    p.add_argument("--seconds", type=float, default=0, help="bound on one search; 0: none")
    p.add_argument("--verdict-seconds", type=float, default=20)
    p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--first-seed", type=int, default=1, help="two runs with other seeds and cores may share DIR")
    p.add_argument("--starts", default="default,random")
    p.add_argument("--strategies", default="guided,random,sweep,classes,greedy", help="some of: " + ", ".join(RIVALS))
    p.add_argument("--only", default="", help="only programs whose name contains one of these words (a,b,...)")
    p.add_argument("--report-only", action="store_true",
                   help="tables and curves of the searches that are in DIR; run none")
    p.add_argument("--quick", action="store_true", help="small stages, one seed, default start: under ten minutes")
    o = p.parse_args()
    if o.quick:
        o.collect_seconds, o.learn_seconds, o.budget, o.seeds = 120, 45, 60, 1
        o.seconds, o.verdict_seconds, o.starts = 20, 4, "default"
        o.only = o.only or "ranker"
    return o


def run(argv, log):
    with open(log, "a") as f:
        f.write("$ " + " ".join(map(str, argv)) + "\n")
        f.flush()
        return subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=f, text=True)


def collect(o, log):
    db = o.out / "runs.sqlite"
    done = o.out / "collected"
    if o.db:
        return o.db
    if not done.exists():
        r = run([o.bin / "collect", "--db", db, "--graphs", o.train, "--device", o.device, "--core", o.core,
                 "--seconds", o.collect_seconds, "--wait", "--quiet"], log)
        if r.returncode:
            sys.exit("table1: collect failed, see " + str(log))
        done.write_text(r.stdout)
    return db


def learn(o, db, log):
    model = o.model or o.out / "model.vm"
    if not model.exists():
        r = run([o.bin / "learn", "--db", db, "--out", model, "--seconds", o.learn_seconds, "--quiet"], log)
        if r.returncode:
            sys.exit("table1: learn failed, see " + str(log))
    return model


def programs(o):
    found = sorted(o.held_out.glob("*.pb.zst"))
    if o.shared.is_dir():
        found += sorted(o.shared.glob("*.pb"))
    return [p for p in found if any(word in p.name for word in o.only.split(","))]


def name_of(path):
    return path.name.split(".")[0]


def search(o, model, path, strategy, start, seed, log):
    key = f"{name_of(path)}.{strategy}.{start}.{seed}"
    result = o.out / "searches" / (key + ".json")
    if not result.exists():
        if o.report_only:
            return None
        own, guided, _ = RIVALS[strategy]
        argv = [o.bin / "search", "--graph", path, "--space", "fusion", "--device", o.device, "--core", o.core,
                "--start", start, "--seed", seed, "--budget", o.budget, "--out", o.out / "tuned" / key, "--json",
                "--quiet", "--wait", "--verdict-seconds", o.verdict_seconds]
        argv += ["--model", model] if guided else []
        argv += ["--seconds", o.seconds] if o.seconds else []
        argv += ["--db", o.prices] if o.prices else []
        argv += own
        r = run(argv, log)
        if r.returncode:
            print(f"table1: {key} failed, see {log}", file=sys.stderr)
            return None
        result.write_text(r.stdout)
    return json.loads(result.read_text())


def wanted(o, start):
    """Strategies to try from a start; the baselines only make sense from the default."""
    return [s for s in o.strategies.split(",") if start == "default" or RIVALS[s][1] or s == "random"]


def believed(curve, base, at):
    """Gain of the best so far after `at` evaluations."""
    gain = 0.0
    for p in curve:
        if p["evaluation"] <= at:
            gain = -p["delta"] / base
    return gain


def reached(result, gain):
    """(evaluations, seconds) to reach a gain; infinite if never."""
    s = result["search"]
    for p in s["curve"]:
        if -p["delta"] / s["default_seconds"] >= gain:
            return p["evaluation"], p["seconds"]
    return math.inf, math.inf


def percent(x):
    return f"{100 * x:+.2f}%"


def best(result):
    """Gain of the best at the end, by regions."""
    s = result["search"]
    return -s["curve"][-1]["delta"] / s["default_seconds"]


def to_its_best(result, rival):
    """Evaluations and seconds to what the rival ended with, each over the rival's own; None if that found nothing."""
    if len(rival["search"]["curve"]) < 2:
        return None
    ours, its = reached(result, best(rival)), reached(rival, best(rival))
    return ours[0] / max(1, its[0]), ours[1] / max(1e-3, its[1])


def row(path, start, strategy, found, rivals):
    """What one strategy made of a program, over its seeds: `found` and `rivals` by seed."""
    rs = list(found.values())
    verdicts = sorted((r["verdict"] for r in rs), key=lambda v: v.get("gain") or 0)
    gains = [v.get("gain") or 0 for v in verdicts]
    mid = verdicts[len(verdicts) // 2]
    pairs = [p for seed in found if seed in rivals and strategy != "random"
             and (p := to_its_best(found[seed], rivals[seed]))]
    return [name_of(path), start, strategy, len(rs), percent(statistics.median(gains)),
            f"{percent(mid.get('gain_low') or 0)} .. {percent(mid.get('gain_high') or 0)}",
            f"{percent(gains[0])} .. {percent(gains[-1])}", f"{sum(v['tuned'] for v in verdicts)} of {len(rs)}",
            percent(statistics.median(map(best, rs))), int(statistics.median(r["search"]["evaluations"] for r in rs)),
            f"{statistics.median(r['search']['seconds'] for r in rs):.0f}",
            ", ".join(f"{statistics.median(p):.2f}" for p in zip(*pairs))]


def by_strategy(o, path, start, results):
    """The results of a program from a start: by strategy, then by seed."""
    return {s: {k[3]: r for k, r in results.items() if k[:3] == (path, s, start)} for s in wanted(o, start)}


def rows(o, results):
    out = []
    for path in programs(o):
        for start in o.starts.split(","):
            cell = by_strategy(o, path, start, results)
            out += [row(path, start, s, found, cell.get("random") or {}) for s, found in cell.items() if found]
    return out


HEAD = ["program", "start", "strategy", "seeds", "time saved, whole program (median)", "95% interval of that search",
        "over seeds", "sure", "by regions", "evaluations", "seconds",
        "to random's best: evaluations, seconds, over random's"]


def table(o, results):
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(map(str, r)) + " |" for r in rows(o, results)]
    (o.out / "table.md").write_text("\n".join(lines) + "\n")
    return "\n".join(lines)


def curve_svg(o, path, start, results):
    """Best so far against evaluations: a thin line a seed, a thick one for their median."""
    wide, high, left, bottom, head = 560, 320, 60, 40, 28
    found = by_strategy(o, path, start, results)
    longest = max((r["search"]["evaluations"] for rs in found.values() for r in rs.values()), default=0)
    grid = [longest * i / 60 for i in range(61)]
    lines = {}
    for s, rs in found.items():
        lines[s] = [[believed(r["search"]["curve"], r["search"]["default_seconds"], x) for x in grid]
                    for r in rs.values()]
    every = [g for ls in lines.values() for l in ls for g in l]
    if not every:
        return
    low, top = min(0, min(every)), max(0.001, max(every)) * 1.1

    def points(ys):
        tall = high - bottom - head
        return " ".join(f"{left + (wide - left - 20) * i / 60:.1f},"
                        f"{high - bottom - tall * (y - low) / (top - low):.1f}" for i, y in enumerate(ys))
    svg = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {wide} {high}' "
           f"font-family='sans-serif' font-size='12'>",
           f"<text x='{left}' y='14'>{name_of(path)}, from a {start} start: time saved against evaluations</text>"]
    for i in range(5):
        y = low + (top - low) * i / 4
        at = points([y]).split(",")[1]
        svg.append(f"<line x1='{left}' x2='{wide - 20}' y1='{at}' y2='{at}' stroke='#ddd'/>"
                   f"<text x='{left - 6}' y='{float(at) + 4}' text-anchor='end'>{100 * y:.1f}%</text>")
    for i in range(5):
        svg.append(f"<text x='{left + (wide - left - 20) * i / 4}' y='{high - bottom + 16}' "
                   f"text-anchor='middle'>{longest * i // 4}</text>")
    for n, (s, ls) in enumerate(lines.items()):
        for l in ls:
            svg.append(f"<polyline fill='none' stroke='{RIVALS[s][2]}' stroke-opacity='.3' points='{points(l)}'/>")
        if ls:
            middle = [statistics.median(c) for c in zip(*ls)]
            svg.append(f"<polyline fill='none' stroke='{RIVALS[s][2]}' stroke-width='2.5' points='{points(middle)}'/>")
        svg.append(f"<text x='{left + 90 * n}' y='{high - 6}' fill='{RIVALS[s][2]}'>{s}</text>")
    (o.out / f"{name_of(path)}.{start}.svg").write_text("\n".join(svg) + "</svg>\n")


def main():
    o = options()
    (o.out / "searches").mkdir(parents=True, exist_ok=True)
    (o.out / "tuned").mkdir(exist_ok=True)
    log = o.out / "log"
    model = None if o.report_only else learn(o, collect(o, log) if not o.model else None, log)
    results = {}
    for seed in range(o.first_seed, o.first_seed + o.seeds):
        for path in programs(o):
            for start in o.starts.split(","):
                for strategy in wanted(o, start):
                    r = search(o, model, path, strategy, start, seed, log)
                    if r:
                        results[path, strategy, start, seed] = r
                        print(f"{name_of(path)} {strategy} {start} {seed}: {r['verdict']['sentence']}", flush=True)
                        table(o, results)
    for path in programs(o):
        for start in o.starts.split(","):
            curve_svg(o, path, start, results)
    print(table(o, results))


if __name__ == "__main__":
    main()
