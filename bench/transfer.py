#!/usr/bin/env python3
"""Does what was learnt on small problems of placement help on large ones never seen? Against the same search without.

    bench/transfer.py [--data ../shared/data] [--kind net|place] [--samples N] [--budgets 300,1000] [--seconds 3]
        [--keep FOLDER [--stop-after SECONDS]]

Collects advantages on pieces cut out of some public problems and on made-up ones, trains a model, and searches other
problems, of which it saw nothing: guided by the model; guided without it (by what the kind promises, where it promises
anything; else at random); at random; and in the kind's own way. A figure is the cost over the best that any of these
searches found, as a geometric mean over seeds. Below the problems stands the answer: on what share of them the model
is ahead of the same search without (even counts half, seeds of a problem are one), and how many times the cost of the
other its cost is, in the geometric mean over problems; each with its 95% interval over problems. Without the data it
prints "skipped". --keep holds the model and what was found, and the same command goes on from there: so a long bench is
made in pieces.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.join(HERE, "..", os.environ.get("BIN", "bin"))
NET = ["net:cut:150:1:{}/A", "net:cut:150:2:{}/A", "net:cut:150:1:{}/K", "net:cut:150:2:{}/K", "net:cut:150:1:{}/D",
       "net:cut:150:2:{}/D", "net:80:6:1", "net:120:6:2", "net:160:4:3", "net:120:8:4"]
NET_UNSEEN = ["net:{}/B", "net:{}/G", "net:cut:1000:9:{}/M", "net:cut:400:5:{}/M", "net:cut:1000:9:{}/Q",
              "net:cut:400:5:{}/Q", "net:cut:1000:9:{}/S", "net:cut:400:5:{}/S", "net:1000:6:99", "net:600:8:98",
              "net:1500:4:97", "net:400:12:96", "net:cut:400:5:{}/B", "net:cut:400:5:{}/G", "net:cut:400:7:{}/M",
              "net:cut:400:7:{}/Q", "net:cut:400:7:{}/S", "net:300:10:95", "net:800:5:94", "net:2000:4:93"]
# Of the made-up families, two are held out.
PLACE = ["place:{}/LayerGraphs/gnmt_inference", "place:cut:100:1:{}/OperatorGraphs/bert_l-3_inference",
         "place:cut:100:2:{}/OperatorGraphs/bert_l-3_inference", "place:cut:60:3:{}/LayerGraphs/inceptionv3_training",
         "place:erdos:60:4:1", "place:attach:60:4:3", "place:layers:60:6:5"]
PLACE_UNSEEN = ["place:{}/LayerGraphs/bert24_inference", "place:{}/LayerGraphs/bert24_training",
                "place:{}/LayerGraphs/resnet50_inference", "place:{}/LayerGraphs/resnet50_training",
                "place:{}/OperatorGraphs/bert_l-6_inference", "place:{}/OperatorGraphs/resnet50_inference",
                "place:erdos:300:8:99", "place:attach:300:8:99", "place:layers:1000:8:99", "place:small:60:4:2",
                "place:small:300:8:99", "place:blocks:60:6:4", "place:blocks:300:8:99",
                "place:cut:200:4:{}/OperatorGraphs/bert_l-6_inference",
                "place:cut:200:5:{}/OperatorGraphs/resnet50_inference",
                "place:cut:100:6:{}/LayerGraphs/resnet50_training", "place:cut:100:6:{}/LayerGraphs/bert24_training",
                "place:erdos:200:6:98", "place:small:150:6:98", "place:blocks:150:6:98"]


def find(name, folder):
    """The program's name with its file; None where the file is not here."""
    if "{}" not in name:
        return name
    for end in (".json", ".json.gz"):
        path = name.format(folder) + end
        if os.path.exists(path[path.index("/"):]):
            return path
    return None


def run(*words):
    return subprocess.run([os.path.join(BIN, words[0]), "-q", *words[1:]], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def search(program, strategy, scratch, model=None, budget=1 << 30, seconds=0, seed=1):
    """The cost of what was found, that of the default, both None if the kind's own way found nothing allowed."""
    try:
        said = json.loads(run("search", "--graph", program, "--strategy", strategy, "--budget", str(budget),
                              "--seconds", str(seconds), "--seed", str(seed), "--jobs", "1", "--json", "--out",
                              os.path.join(scratch, "out"), *(["--model", model] if model else [])))
    except subprocess.CalledProcessError:
        return math.inf, math.inf
    dflt = said["search"]["default_seconds"]
    return dflt + min(point["delta"] for point in said["search"]["curve"]), dflt


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def interval(values):
    """The mean, and how far it can be off: 1.96 standard errors."""
    n, middle = len(values), sum(values) / len(values)
    return middle, 1.96 * math.sqrt(sum((v - middle) ** 2 for v in values) / max(n - 1, 1) / n)


def answer(ratios, unit):
    """A line on the cost of one way over that of another: a list of problems, each a list of seeds."""
    share, share_off = interval([sum((r < 1 - 1e-9) + 0.5 * (abs(r - 1) <= 1e-9) for r in p) / len(p) for p in ratios])
    log, log_off = interval([math.log(mean(p)) for p in ratios])
    return (f"{unit}: ahead on {100 * share:.0f}% [{100 * (share - share_off):.0f}, {100 * (share + share_off):.0f}] "
            f"of {len(ratios)} problems, {math.exp(log):.3g} times the cost [{math.exp(log - log_off):.3g}, "
            f"{math.exp(log + log_off):.3g}]")


def train(names, samples, scratch):
    store, model = os.path.join(scratch, "small.db"), os.path.join(scratch, "small.vm")
    graphs = [word for name in names for word in ("--graph", name)]
    if os.path.exists(model):
        return model
    run("collect", *graphs, "--space", names[0].split(":")[0], "--device", "none", "--db", store, "--samples",
        str(samples))
    run("learn", "--db", store, "--out", model)
    return model


WAYS = [("model", "guided", True), ("no model", "guided", False), ("random", "random", False)]


def search_all(program, heads, model, seeds, scratch):
    """What all ways found: by way and head, (cost, default) of each seed."""
    found = {}
    for name, strategy, with_model in WAYS:
        for head, limits in heads.items():
            if name == "random" and head != next(iter(heads)):
                continue
            found[f"{name}, {head}"] = [search(program, strategy, scratch, model if with_model else None, seed=s,
                                               **limits) for s in seeds]
    last = list(heads)[-1]
    found[f"own, {last}"] = [search(program, "own", scratch, seed=s, **heads[last]) for s in seeds]
    return found


def rows(name, found, heads):
    """The problem's rows of the table."""
    best = min(cost for costs in found.values() for cost, _ in costs)
    dflt = found[f"random, {next(iter(heads))}"][0][1]
    print(f"| {name} | default | " + " | ".join(f"{dflt / best:.4g}" for _ in heads) + " |")
    for way in [w[0] for w in WAYS] + ["own"]:
        cells = [f"{mean([c / best for c, _ in found[f'{way}, {h}']]):.4g}" if f"{way}, {h}" in found else ""
                 for h in heads]
        print(f"| {name} | {way} | " + " | ".join(cells) + " |", flush=True)


def kept(path):
    try:
        return {line["program"]: line["found"] for line in map(json.loads, open(path))}
    except FileNotFoundError:
        return {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(HERE, "../../shared/data"))
    parser.add_argument("--kind", default="net")
    parser.add_argument("--samples", default=6000, type=int)
    parser.add_argument("--budgets", default="300,1000")
    parser.add_argument("--seconds", default=3, type=float)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--keep", metavar="FOLDER", help="the model and what was found, to go on from")
    parser.add_argument("--stop-after", default=math.inf, type=float, help="begin no problem after so many seconds")
    a = parser.parse_args()
    kind = "iopddl" if a.kind == "net" else "dnn-partitioning/throughput-inputs"
    folder = os.path.abspath(os.path.join(a.data, kind))
    small = [find(n, folder) for n in (NET if a.kind == "net" else PLACE)]
    large = [find(n, folder) for n in (NET_UNSEEN if a.kind == "net" else PLACE_UNSEEN)]
    if None in small + large:
        return print(f"skipped: there are no problems in {folder}")
    budgets, seeds = [int(b) for b in a.budgets.split(",")], [int(s) for s in a.seeds.split(",")]
    heads = {f"{b} prices": {"budget": b} for b in budgets} | {f"{a.seconds:g} s": {"seconds": a.seconds}}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = a.keep or scratch
        os.makedirs(scratch, exist_ok=True)
        model, results = train(small, a.samples, scratch), os.path.join(scratch, "found.jsonl")
        print("| problem | by | " + " | ".join(heads) + " |\n|" + "---|" * (len(heads) + 2), flush=True)
        done, began = kept(results), time.monotonic()
        for program in large:
            if program not in done and time.monotonic() - began > a.stop_after:
                print("transfer: stopped before " + program, file=sys.stderr)
                break
            if program not in done:
                done[program] = search_all(program, heads, model, seeds, scratch)
                with open(results, "a") as f:
                    print(json.dumps({"program": program, "found": done[program]}), file=f)
            rows(program.replace(folder + "/", "").replace(".json.gz", "").replace(".json", ""), done[program], heads)
        print()
        for rival, key in {"without it": "no model", "the kind's own search": "own"}.items():
            for head in heads:
                games = [(found[f"model, {head}"], found.get(f"{key}, {head}")) for found in done.values()]
                ratios = [[min(c / o, 1e6) for (c, _), (o, _) in zip(mine, other)] for mine, other in games if other]
                if ratios:
                    print(answer(ratios, f"the model, {head}, against {rival}"))


if __name__ == "__main__":
    main()
