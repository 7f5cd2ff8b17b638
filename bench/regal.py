#!/usr/bin/env python3
"""REGAL's table for placement: strategies on synthetic graphs, with as many schedules looked at by each.

    bench/regal.py [--goal time|memory] [--graphs N] [--nodes N] [--devices N] [--evaluations 5000] [--train SAMPLES]

Graphs are of the five families (place_family.py), on REGAL's number of devices (two, beside a slow one); what counts is
the time by the list scheduler, or the most memory that values take on any device meanwhile. A figure is by how much
what a strategy found is below that of the genetic algorithm (brkga)
with as many evaluations, in percent, geometric mean over the graphs of a family; brkga begins as all others at the
placements that need no search. guided has a model that saw small made-up graphs only; "no model" is the same without.
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
FAMILIES = ("erdos", "watts", "barabasi", "block", "layered")
PLACINGS = ("one", "contiguous", "heft", "random", "local", "anneal")
HUNTS = ("sweep", "no model", "guided")


def run(*words):
    return subprocess.run([os.path.join(BIN, words[0]), "-q", *words[1:]], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def placing(path, strategy, a, scratch):
    said = run("search", path, "--goal", a.goal, "--placing", strategy, "--steps", str(a.evaluations), "--json",
               "--out", os.path.join(scratch, "answer"))
    return json.loads(said)[a.goal]


def hunt(path, strategy, a, scratch, model):
    said = run("search", path, "--goal", "time", "--strategy", "sweep" if strategy == "sweep" else "guided",
               "--budget", str(a.evaluations), "--json", *objective(a), "--out", os.path.join(scratch, "out"),
               *(["--model", model] if strategy == "guided" else []))
    search = json.loads(said)["search"]
    scale = 1000 if a.goal == "time" else 1
    return scale * (search["default_seconds"] + min(point["delta"] for point in search["curve"]))


def objective(a):
    return ["--objective", "bytes"] if a.goal == "memory" else []


def train(a, scratch):
    store, model = os.path.join(scratch, "small.db"), os.path.join(scratch, "small.vm")
    graphs = []
    for family in FAMILIES:
        for seed in (1, 2):
            path = os.path.join(scratch, f"{family}{seed}.json")
            write(family, 40, a.devices, seed, a, path)
            graphs.append(f"--graph=place:time:{path}")
    run("collect", *graphs, *objective(a), "--space", "place", "--device", "none", "--db", store, "--samples",
        str(a.train))
    run("learn", "--db", store, "--out", model)
    return model


def write(family, nodes, devices, seed, a, path):
    with open(path, "w") as f:
        subprocess.run([sys.executable, os.path.join(HERE, "place_family.py"), family, str(nodes), str(devices),
                        str(seed), *(["values"] if a.goal == "memory" else [])], check=True, stdout=f)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--goal", default="time")
    parser.add_argument("--graphs", type=int, default=8, help="of each family")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--evaluations", type=int, default=5000)
    parser.add_argument("--train", type=int, default=4000, help="samples that the model is trained on")
    a = parser.parse_args()
    names = PLACINGS + HUNTS
    logs = {name: {} for name in names}
    with tempfile.TemporaryDirectory() as scratch:
        model = train(a, scratch)
        for family in FAMILIES:
            for seed in range(1000, 1000 + a.graphs):
                path = os.path.join(scratch, "graph.json")
                write(family, a.nodes, a.devices, seed, a, path)
                base = placing(path, "brkga", a, scratch)
                for name in names:
                    cost = placing(path, name, a, scratch) if name in PLACINGS else \
                        hunt(path, name, a, scratch, model)
                    logs[name].setdefault(family, []).append(math.log(cost / base))
    print(f"| {a.goal} below brkga's | " + " | ".join(FAMILIES) + " | all |\n|" + "---|" * (len(FAMILIES) + 2))
    for name in names:
        cells = [logs[name][family] for family in FAMILIES] + [sum(logs[name].values(), [])]
        print(f"| {name} | " + " | ".join(f"{100 * (1 - math.exp(sum(c) / len(c))):+.2f}%" for c in cells) + " |")


if __name__ == "__main__":
    main()
