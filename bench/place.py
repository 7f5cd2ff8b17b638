#!/usr/bin/env python3
"""Compares placements of the dnn-partitioning problems with those of the paper's own programs.

    bench/place.py [--data ../shared/data] [--seconds 60] [--placing anneal]

Runs `search` on each problem and adds the load or the latency up in plain Python. Without the data it prints "skipped".
"""
import argparse
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

# A file, and what the paper's programs reach on it. For load: dynamic programming over contiguous splits, and local
# search (ten starts). For latency: its greedy split, and the split of its dynamic program. None: no answer in 5
# minutes.
LOAD = [("LayerGraphs/bert24_inference.json", 17.790, 17.778), ("LayerGraphs/bert24_training.json", 41.75, 39.94),
        ("LayerGraphs/gnmt_inference.json", 32.91, 31.78), ("LayerGraphs/inceptionv3_training.json.gz", None, 122.7),
        ("LayerGraphs/resnet50_inference.json.gz", 33.77, 35.89),
        ("LayerGraphs/resnet50_training.json.gz", 78.63, 81.60),
        ("OperatorGraphs/bert_l-3_inference.json.gz", 27.92, 27.57),
        ("OperatorGraphs/bert_l-3_training.json.gz", 65.30, 68.06),
        ("OperatorGraphs/bert_l-6_inference.json.gz", 29.58, 39.99),
        ("OperatorGraphs/resnet50_inference.json.gz", 124.3, None)]
LATENCY = [("LayerGraphs/bert24_inference.json", 100.2, 108.0), ("LayerGraphs/gnmt_inference.json", 268.5, 244.3),
           ("OperatorGraphs/bert_l-3_inference.json.gz", 416, 414),
           ("OperatorGraphs/bert_l-6_inference.json.gz", 494, 444)]


def load(problem, split):
    """The busiest device's load; transfers count once for the maker and once for each other device that reads."""
    device = {v: ("fpga", i) for i, d in enumerate(split["fpgas"]) for v in d["nodes"]}
    device.update({v: ("cpu", i) for i, d in enumerate(split["cpus"]) for v in d["nodes"]})
    busy, size = collections.Counter(), collections.Counter()
    for n in problem["nodes"]:
        d = device[n["id"]]
        busy[d] += n["fpgaLatency"] if d[0] == "fpga" else n["cpuLatency"]
        size[d] += n.get("size", 0)
    cost = {e["sourceId"]: e["cost"] for e in problem["edges"]}
    readers = collections.defaultdict(set)
    for e in problem["edges"]:
        readers[e["sourceId"]].add(device[e["destId"]])
    for v, devices in readers.items():
        if devices - {device[v]}:
            for d in devices | {device[v]}:
                busy[d] += cost[v] if d[0] == "fpga" else 0
    assert all(s <= problem["maxSizePerFPGA"] for d, s in size.items() if d[0] == "fpga"), "memory"
    return max(busy.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(os.path.dirname(__file__), "../../shared/data"))
    parser.add_argument("--seconds", default="60")
    parser.add_argument("--placing", default="anneal")
    a = parser.parse_args()
    search = os.path.join(os.path.dirname(__file__), "..", os.environ.get("BIN", "bin"), "search")
    print("| goal | problem | ours | its DP or greedy | its local search or DP | found after |\n"
          "|---|---|---|---|---|---|")
    for goal, table in (("load", LOAD), ("latency", LATENCY)):
        folder = "throughput-inputs" if goal == "load" else "latency-inputs"
        for name, first, second in table:
            path = os.path.join(a.data, "dnn-partitioning", folder, name)
            if not os.path.exists(path):
                print(f"skipped: there is no {path}", file=sys.stderr)
                continue
            with tempfile.TemporaryDirectory() as scratch:
                answer = os.path.join(scratch, "answer")
                run = subprocess.run([search, "--graph", path, "--goal", goal, "--placing", a.placing,
                                      "--seconds", a.seconds, "--json", "--quiet", "--out", answer],
                                     stdout=subprocess.PIPE, text=True, check=True)
                with open(answer) as f:
                    split = json.load(f)
            told = json.loads(run.stdout)
            if goal == "load":
                with (gzip.open if path.endswith("gz") else open)(path) as f:
                    assert abs(load(json.load(f), split) - told["load"]) < 1e-6 * told["load"]
            rivals = [r for r in (first, second) if r]
            word = "better" if told[goal] < min(rivals) * (1 - 1e-3) else \
                "as good" if told[goal] <= min(rivals) * (1 + 1e-3) else "worse"
            print(f"| {goal} | {name.split('.')[0]} | {told[goal]:.5g}, {word} | {first or '-'} | {second or '-'} | "
                  f"{told['best_seconds']:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
