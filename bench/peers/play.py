#!/usr/bin/env python3
"""Lets peers, and our own search, decide about programs on the same budget: a table of what each saved by the verdict.

    bench/peers/play.py [--device sim] [--space fusion] [--budgets 60,300] [--seeds 1,2,3] [--peers anneal,bandit] PROGRAM...

Peers play through the arena, ours is bin/search with the same number of evaluations: "guided", as it comes, and "random".
Every row is a line of JSON on standard output; the table of means goes to standard error.
"""
import argparse
import importlib
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "python"), str(HERE)]
import vantage  # noqa: E402

OURS = ("guided", "random")


def ours(strategy, graph, set_, budget, seed):
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run([vantage.programs.find("search"), "-q", "--json", f"--device={set_.device}", f"--space={set_.space}",
                               f"--graph={graph}", f"--budget={budget}", f"--seed={seed}", f"--strategy={strategy}",
                               f"--out={folder}/out"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(said)["verdict"]


def peer(name, graph, set_, budget, seed):
    with vantage.Arena(graph, device=set_.device, space=set_.space, budget=budget, seed=seed) as arena:
        importlib.import_module(name).play(arena, random.Random(seed))
        return arena.verdict()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--device", default="sim")
    options.add_argument("--space", default="fusion")
    options.add_argument("--budgets", default="60,300")
    options.add_argument("--seeds", default="1,2,3")
    options.add_argument("--peers", default="anneal,bandit,random,guided")
    options.add_argument("programs", nargs="+")
    set_ = options.parse_args()
    names, gains = set_.peers.split(","), {}
    for graph in set_.programs:
        for budget in map(int, set_.budgets.split(",")):
            for seed in map(int, set_.seeds.split(",")):
                for name in names:
                    verdict = (ours if name in OURS else peer)(name, graph, set_, budget, seed)
                    gain = verdict.get("gain", 0.0) if verdict["tuned"] else 0.0
                    gains.setdefault((budget, name), []).append(gain)
                    print(json.dumps({"program": graph, "budget": budget, "seed": seed, "by": name, "gain": gain}), flush=True)
    for (budget, name), of in sorted(gains.items()):
        print(f"budget {budget:5d}  {name:10s} mean gain {100 * statistics.mean(of):6.2f}%  over {len(of)}", file=sys.stderr)


if __name__ == "__main__":
    main()
