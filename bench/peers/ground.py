"""What general optimisers see of an arena: a vector with a choice for each class of sites, and its cost.

All peers that come from a package decode in the same way. Sites of a class move together, as in our own search. The
vector `start` is the compiler's default, each peer is given it as its first point, and its cost, 0, is free. Optimisers
of real numbers get keys in [0, 1): below KEEP a class stays as it is by default, the rest is shared by its other
choices. Without that, a random vector would change half of all decisions, which never pays in a program, and a peer
would be judged by its first population.
"""
KEEP = 0.8


class Over(Exception):
    """The budget is spent."""


class Ground:
    def __init__(self, arena):
        self.arena, space = arena, arena.space()
        members = {}
        for site, tie in enumerate(space["class"]):
            members.setdefault(tie, []).append(site)
        self.members, self.default = list(members.values()), space["default"]
        self.limits = space["choices"]
        self.choices = [max(self.limits[site] for site in sites) for sites in self.members]
        self.start = [self.default[sites[0]] for sites in self.members]
        self.best = 0.0
        arena.tell("default")

    def left(self):
        return self.arena.budget["left"]

    def flips(self, x):
        """The configuration of a vector."""
        return {site: min(choice, self.limits[site] - 1) for choice, start, sites in zip(x, self.start, self.members)
                if choice != start for site in sites}

    def cost(self, x):
        """Of a vector, as a share of the default's cost, negative is better; a configuration that fails costs 1."""
        if not self.left():
            raise Over
        there = self.flips([int(choice) for choice in x])
        price = self.arena.price(there)
        if price["outcome"] != "ok":
            return 1.0
        if price["value"] < self.best:
            self.best = price["value"]
            self.arena.tell(there)
        return price["value"] / self.arena.about["default"]

    def others(self, i):
        return [choice for choice in range(self.choices[i]) if choice != self.start[i]]

    def of_keys(self, keys):
        """The vector of keys in [0, 1)."""
        x = list(self.start)
        for i, key in enumerate(keys):
            if key >= KEEP and self.choices[i] > 1:
                others = self.others(i)
                x[i] = others[min(int((key - KEEP) / (1 - KEEP) * len(others)), len(others) - 1)]
        return x
