#!/usr/bin/env python3
"""Does what was learnt of layouts on small steps help on steps never seen? Against the same search without.

    bench/shard_learn.py KEEP SMALL UNSEEN [--meshes 4,2x2] [--samples 120] [--budget 80] [--machine v5e]

SMALL has steps of few layers by shard_steps.py (with `--small` tensors nothing beats one device, so there is nothing to
learn), UNSEEN others, by shard_unseen.py or shard_fresh.py. On each small step, over 2, 4 and 2x2 devices, searches by
our rules and at random leave their prices in KEEP/small.db, from which a model is learnt. Then each unseen step is
searched from nothing (every device does everything), with the model and without. A figure is what the best of so many
labels costs over the best that either search found. KEEP holds all of it, so the same command goes on where it was
stopped.
"""
import argparse
import json
import math
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SMALL_MESHES = ["2", "4", "2x2"]


def run(*words):
    return subprocess.run([str(HERE.parent / "bin" / words[0]), "-q", *map(str, words[1:])], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def search(graph, mesh, out, machine, budget, *more):
    """The curve: costs by evaluation."""
    kept = out.with_name(out.name + ".json")
    if not kept.exists():
        said = run("search", "--space", "shard", "--mesh", mesh, "--device", f"pod:{machine}", "--graph", graph,
                   "--start", "none", "--budget", budget, "--wait", "--unverified", "--json", "--out", out, *more)
        kept.write_text(said)
    said = json.loads(kept.read_text())["search"]
    return [(p["evaluation"], said["default_seconds"] + p["delta"]) for p in said["curve"]]


def best(curve, labels):
    return min(cost for evaluation, cost in curve if evaluation <= labels)


def learn(o):
    store, model = o.keep / "small.db", o.keep / "small.vm"
    if model.exists():
        return model
    for graph in sorted(o.small.glob("*.pb")):
        for mesh in SMALL_MESHES:
            for strategy in ("guided", "random"):
                name = f"{graph.stem}.{mesh}.{strategy}"
                search(graph, mesh, o.keep / name, o.machine, o.samples, "--strategy", strategy, "--model", "none",
                       "--db", store)
    print(run("learn", "--db", store, "--out", model))
    return model


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    for name in ("keep", "small", "unseen"):
        p.add_argument(name, type=pathlib.Path)
    p.add_argument("--meshes", default="4,2x2")
    p.add_argument("--samples", type=int, default=120)
    p.add_argument("--budget", type=int, default=80)
    p.add_argument("--machine", default="v5e")
    o = p.parse_args()
    o.keep.mkdir(parents=True, exist_ok=True)
    model = learn(o)
    heads = [k for k in (10, 20, 40, 80, 160) if k <= o.budget]
    print("| step | mesh | " + " | ".join(f"{k}, without | {k}, with" for k in heads) + " |")
    print("|---" * (2 + 2 * len(heads)) + "|")
    ratios = {k: [] for k in heads}
    for graph in sorted(o.unseen.glob("*.pb")):
        for mesh in o.meshes.split(","):
            try:
                curves = [search(graph, mesh, o.keep / f"unseen.{graph.stem}.{mesh}.{way}", o.machine, o.budget, *more)
                          for way, more in (("without", ("--model", "none")), ("with", ("--model", model)))]
            except subprocess.CalledProcessError:
                print(f"| {graph.stem} | {mesh} | no answer |")
                continue
            least = min(best(c, o.budget) for c in curves)
            row = [[best(c, k) / least for c in curves] for k in heads]
            for k, (without, with_model) in zip(heads, row):
                ratios[k].append(with_model / without)
            print(f"| {graph.stem} | {mesh} | " + " | ".join(f"{a:.3f} | {b:.3f}" for a, b in row) + " |", flush=True)
    for k, r in ratios.items():
        if r:
            off = 1.96 * math.sqrt(sum((math.log(x) - math.log(mean(r))) ** 2 for x in r) / max(len(r) - 1, 1) / len(r))
            print(f"{k} labels: with the model {mean(r):.3f} times the cost "
                  f"[{mean(r) * math.exp(-off):.3f}, {mean(r) * math.exp(off):.3f}], better on "
                  f"{sum(x < 1 - 1e-9 for x in r)}, worse on {sum(x > 1 + 1e-9 for x in r)} of {len(r)}")


if __name__ == "__main__":
    main()
