"""A bandit over classes: an arm takes all sites of a class to one choice, and is worth what that saves.

UCB1: the arm with the highest mean saving plus a bonus that shrinks as it is played. What saves is taken, and the arms
of its class are as new afterwards, since what they would save now is not known.
"""
import math


def play(arena, rng):
    space = arena.space()
    members = {}
    for site, tie in enumerate(space["class"]):
        members.setdefault(tie, []).append(site)
    arms = [(tie, choice) for tie, sites in members.items()
            for choice in range(max(space["choices"][s] for s in sites))]

    def reach(arm, site):
        return min(arm[1], space["choices"][site] - 1)

    def changes(arm):
        """Without that, it would save nothing: its class is there already."""
        return any(config[site] != reach(arm, site) for site in members[arm[0]])

    rng.shuffle(arms)
    plays, mean = dict.fromkeys(arms, 0), dict.fromkeys(arms, 0.0)
    config, scale, turn = list(space["default"]), 0.0, 0
    arena.tell("default")
    while arena.budget["left"] and arms:
        turn += 1
        # One that was not played yet comes first.
        arm = next((a for a in arms if not plays[a] and changes(a)), None) or max(
            (a for a in arms if plays[a] and changes(a)),
            key=lambda a: mean[a] + scale * math.sqrt(2 * math.log(turn) / plays[a]))
        tie, choice = arm
        there = list(config)
        for site in members[tie]:
            there[site] = reach(arm, site)
        plays[arm] += 1
        price = arena.price(there, base=config)
        saved = -price["value"] if price["outcome"] == "ok" else -scale
        scale = max(scale, abs(saved))
        mean[arm] += (saved - mean[arm]) / plays[arm]
        if saved > 0:
            config = there
            arena.tell(config)
            for a in arms:
                if a[0] == tie:
                    plays[a], mean[a] = 0, 0.0
