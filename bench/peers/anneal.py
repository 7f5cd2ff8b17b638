"""Simulated annealing over an arena: one site goes to another choice; worse is kept with probability exp(-cost /
temperature).

The temperature falls by a fixed factor with every price, from the median cost of the first moves to a hundredth of it.
"""
import math
import statistics

WARM, COLD = 8, 0.01  # prices that set the first temperature; the last one as a share of it


def play(arena, rng):
    space = arena.space()
    movable = range(arena.sites)
    config, total, best = list(space["default"]), 0.0, 0.0
    sizes = []
    budget = arena.budget["left"]
    arena.tell("default")
    while arena.budget["left"] and movable:
        site = rng.choice(movable)
        choice = rng.choice([c for c in range(space["choices"][site]) if c != config[site]])
        there = config[:site] + [choice] + config[site + 1:]
        price = arena.price(there, base=config)
        if price["outcome"] != "ok":
            continue
        if price["value"]:
            sizes.append(abs(price["value"]))
        hot = statistics.median(sizes[:WARM]) if sizes else 0.0
        temperature = hot * COLD ** (1 - arena.budget["left"] / budget)
        if price["value"] <= 0 or temperature and rng.random() < math.exp(-price["value"] / temperature):
            config, total = there, total + price["value"]
        if total < best:
            best = total
            arena.tell(config)
