#!/usr/bin/env python3
"""Does what was learnt on small problems of placement help on large ones never seen? Against the same search without.

    bench/transfer.py [--data ../shared/data] [--kind net|place] [--samples N] [--budgets 300,1000] [--seconds 5]

Collects advantages on pieces cut out of some public problems and on made-up ones, trains a model, and searches whole
problems of which it saw nothing: guided by the model, guided without it (by what the kind promises, where it promises
anything; else at random), at random, by single flips, and in the kind's own way. A figure is the cost over the best
that any of these searches found; the rows by evaluations are the geometric means over seeds. Without the data it
prints "skipped".
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.join(HERE, "..", os.environ.get("BIN", "bin"))
NET = ["net:cut:150:1:{}/A", "net:cut:150:2:{}/A", "net:cut:150:1:{}/K", "net:cut:150:2:{}/K", "net:cut:150:1:{}/D",
       "net:cut:150:2:{}/D", "net:80:6:1", "net:120:6:2", "net:160:4:3", "net:120:8:4"]
NET_UNSEEN = ["net:{}/B", "net:{}/G", "net:cut:1000:9:{}/M", "net:cut:1000:9:{}/Q", "net:1000:6:99"]
PLACE = ["place:{}/LayerGraphs/gnmt_inference", "place:cut:100:1:{}/OperatorGraphs/bert_l-3_inference",
         "place:cut:100:2:{}/OperatorGraphs/bert_l-3_inference",
         "place:cut:60:3:{}/LayerGraphs/inceptionv3_training", "place:erdos:60:4:1", "place:small:60:4:2",
         "place:attach:60:4:3", "place:blocks:60:6:4", "place:layers:60:6:5"]
PLACE_UNSEEN = ["place:{}/LayerGraphs/bert24_training", "place:{}/LayerGraphs/resnet50_inference",
                "place:{}/OperatorGraphs/bert_l-6_inference", "place:{}/OperatorGraphs/resnet50_inference",
                "place:layers:1000:8:99"]


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


def train(names, samples, scratch):
    store, model = os.path.join(scratch, "small.db"), os.path.join(scratch, "small.vm")
    graphs = [word for name in names for word in ("--graph", name)]
    run("collect", *graphs, "--space", names[0].split(":")[0], "--device", "none", "--db", store, "--samples",
        str(samples))
    run("learn", "--db", store, "--out", model)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(HERE, "../../shared/data"))
    parser.add_argument("--kind", default="net")
    parser.add_argument("--samples", default=20000, type=int)
    parser.add_argument("--budgets", default="300,1000")
    parser.add_argument("--seconds", default=5, type=float)
    parser.add_argument("--seeds", default="1,2,3")
    a = parser.parse_args()
    kind = "iopddl" if a.kind == "net" else "dnn-partitioning/throughput-inputs"
    folder = os.path.abspath(os.path.join(a.data, kind))
    small = [find(n, folder) for n in (NET if a.kind == "net" else PLACE)]
    large = [find(n, folder) for n in (NET_UNSEEN if a.kind == "net" else PLACE_UNSEEN)]
    if None in small + large:
        return print(f"skipped: there are no problems in {folder}")
    budgets, seeds = [int(b) for b in a.budgets.split(",")], [int(s) for s in a.seeds.split(",")]
    ways = [("model", "guided", True), ("no model", "guided", False), ("random", "random", False),
            ("sweep", "sweep", False)]
    with tempfile.TemporaryDirectory() as scratch:
        model = train(small, a.samples, scratch)
        heads = [f"{b} evaluations" for b in budgets] + [f"{a.seconds:g} s"]
        print("| problem | by | " + " | ".join(heads) + " |\n|" + "---|" * (len(heads) + 2), flush=True)
        for program in large:
            found = {}
            for name, strategy, with_model in ways:
                for head, limits in zip(heads, [{"budget": b} for b in budgets] + [{"seconds": a.seconds}]):
                    found[name, head] = [search(program, strategy, scratch, model if with_model else None,
                                                seed=s, **limits) for s in seeds]
            found["own", heads[-1]] = [search(program, "own", scratch, seconds=a.seconds, seed=seeds[0])]
            best = min(cost for costs in found.values() for cost, _ in costs)
            dflt = found["random", heads[0]][0][1]
            short = program.replace(folder + "/", "").replace(".json.gz", "").replace(".json", "")
            print(f"| {short} | default | " + " | ".join(f"{dflt / best:.4g}" for _ in heads) + " |")
            for name in [w[0] for w in ways] + ["own"]:
                cells = [f"{mean([c / best for c, _ in found[name, h]]):.4g}" if (name, h) in found else ""
                         for h in heads]
                print(f"| {short} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
