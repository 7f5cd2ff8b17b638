#!/usr/bin/env python3
"""Writes a synthetic placement problem in the form of dnn-partitioning, from one of the families that learned placers
are trained on: erdos (any earlier node, with equal chance), watts (a ring with some edges moved), barabasi (nodes with
many edges get more), block (communities), layered (a layer reads from the one before).

    bench/place_family.py FAMILY NODES DEVICES SEED [values] > problem.json

With "values", memory is that of the nodes' values while they are needed, as in a run of a program, and not of the nodes
all the time; no device has a limit that matters.
"""
import json
import random
import sys

DEGREE = 3


def sources(family, v, n, rng, ends):
    """Whom node v reads from: earlier nodes, so there are no circles."""
    if v == 0:
        return set()
    if family == "erdos":
        return {rng.randrange(v) for _ in range(rng.randrange(1, 2 * DEGREE))}
    if family == "watts":
        near = {u for u in range(max(0, v - DEGREE), v)}
        return {u if rng.random() > 0.1 else rng.randrange(v) for u in near}
    if family == "barabasi":
        return {rng.choice(ends) for _ in range(DEGREE)} if ends else {0}
    if family == "block":
        block = max(1, n // 16)
        low = v - v % block
        return {rng.randrange(low, v) if v > low and rng.random() < 0.95 else rng.randrange(v) for _ in range(DEGREE)}
    if family == "layered":
        width = max(1, int(n ** 0.5))
        low = max(0, v - v % width - width)
        high = max(1, v - v % width)
        return {rng.randrange(low, high) for _ in range(DEGREE)} if high > low else {0}
    raise SystemExit(f"there is no family {family}")


def main():
    family, n, devices, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    rng = random.Random(seed)
    nodes, edges, ends = [], [], []
    for v in range(n):
        time = rng.lognormvariate(0, 1)
        nodes.append({"id": v, "supportedOnFpga": 1, "cpuLatency": 10 * time, "fpgaLatency": time, "isBackwardNode": 0,
                      "size": rng.lognormvariate(10, 1)})
    cost = [rng.lognormvariate(-2, 1) for _ in range(n)]
    for v in range(n):
        for u in sources(family, v, n, rng, ends):
            if u < v:
                edges.append({"sourceId": u, "destId": v, "cost": cost[u]})
                ends += [u, v]
    total = sum(x["size"] for x in nodes)
    if sys.argv[5:] == ["values"]:
        for x in nodes:
            x["valueSize"], x["size"] = x["size"], 0
    memory = 2 * total / devices
    json.dump({"maxSizePerFPGA": memory, "maxFPGAs": devices, "maxCPUs": 1, "nodes": nodes, "edges": edges}, sys.stdout)


if __name__ == "__main__":
    main()
