"""GO's way: one network decides everything at once, looks at what it decided, and decides again, a few rounds; policy
gradient (PPO) trains it on what the last round costs.

In each round a class of sites is seen as its features under the present configuration, which tell what its neighbours
do, the mean of all classes' features, and its present choice; the answer is a probability for each choice. The first
round begins at the default, with probability 1 - FLIPS / classes of staying. Features cost nothing of the budget, only
the last round's configuration is priced, and all rounds share its advantage, as in GO. GO's placement network has
attention where this one has the mean; both see the whole graph. Nothing is learnt from other programs.

needs: numpy
"""
import numpy

from ground import Ground, Over
from ppo import logp

BATCH, EPOCHS, CLIP, HIDDEN, RATE, FLIPS, ROUNDS = 10, 4, 0.2, 32, 3e-3, 4, 3


class Sight:
    """Rows of features of all classes under a configuration, in columns of mean 0 and spread 1 by default."""

    def __init__(self, arena, ground):
        self.arena, self.ground, self.most = arena, ground, max(ground.choices)
        raw = self.raw(ground.start)
        self.use = raw.std(0) > 0
        self.mean, self.spread = raw[:, self.use].mean(0), raw[:, self.use].std(0)

    def raw(self, x):
        flips = self.ground.flips([int(choice) for choice in x])
        rows = self.arena.features(flips)["rows"]
        return numpy.array([rows[sites[0]] for sites in self.ground.members], dtype=float)

    def of(self, x):
        own = numpy.clip((self.raw(x)[:, self.use] - self.mean) / self.spread, -5, 5)
        present = numpy.eye(self.most)[numpy.asarray(x)]
        return numpy.hstack([own, numpy.repeat(own.mean(0, keepdims=True), len(own), 0), present,
                             numpy.ones((len(own), 1))])


class Network:
    """Probabilities of choices from rows, and Adam on its weights."""

    def __init__(self, width, choices, rng):
        most = max(choices)
        self.allowed = numpy.arange(most) < numpy.array(choices)[:, None]
        self.stay = numpy.log(max(len(choices) / FLIPS - 1, 1) * numpy.maximum(numpy.array(choices) - 1, 1))
        self.weights = [rng.normal(0, width ** -0.5, (width, HIDDEN)), numpy.zeros((HIDDEN, most))]
        self.first, self.second, self.steps = [[numpy.zeros_like(w) for w in self.weights] for _ in range(2)] + [0]

    def run(self, x, present):
        hidden = numpy.tanh(x @ self.weights[0])
        logits = hidden @ self.weights[1]
        logits[numpy.arange(len(x)), present] += self.stay
        logits = numpy.where(self.allowed, logits, -numpy.inf)
        p = numpy.exp(logits - logits.max(1, keepdims=True))
        return hidden, p / p.sum(1, keepdims=True)

    def descend(self, gradients):
        self.steps += 1
        for i, d in enumerate(gradients):
            self.first[i] = 0.9 * self.first[i] + 0.1 * d
            self.second[i] = 0.999 * self.second[i] + 0.001 * d * d
            mean, square = self.first[i] / (1 - 0.9 ** self.steps), self.second[i] / (1 - 0.999 ** self.steps)
            self.weights[i] -= RATE * mean / (numpy.sqrt(square) + 1e-8)


def draw(network, sight, start, rng):
    """Decides everything, ROUNDS times; returns the last configuration, and what each round saw and did."""
    steps, present = [], numpy.array(start)
    for _ in range(ROUNDS):
        x = sight.of(present)
        _, p = network.run(x, present)
        taken = numpy.minimum((rng.random((len(p), 1)) > p.cumsum(1)).sum(1), network.allowed.sum(1) - 1)
        steps.append((x, present, taken, logp(p, taken)))
        present = taken
    return present, steps


def learn(network, games, advantage):
    gradients = [numpy.zeros_like(w) for w in network.weights]
    for steps, gain in zip(games, advantage):
        for x, present, taken, old in steps:
            hidden, p = network.run(x, present)
            ratio = numpy.exp(logp(p, taken) - old)
            clipped = (ratio > 1 + CLIP) if gain > 0 else (ratio < 1 - CLIP)
            weight = numpy.where(clipped, 0.0, ratio * gain) / (len(games) * ROUNDS)
            dlogits = p * weight[:, None]
            dlogits[numpy.arange(len(p)), taken] -= weight
            dhidden = dlogits @ network.weights[1].T * (1 - hidden ** 2)
            gradients[0] += x.T @ dhidden
            gradients[1] += hidden.T @ dlogits
    network.descend(gradients)


def play(arena, rng):
    ground, rng = Ground(arena), numpy.random.default_rng(rng.randrange(2 ** 31))
    if not ground.choices:
        return
    sight = Sight(arena, ground)
    network = Network(sight.of(ground.start).shape[1], ground.choices, rng)
    try:
        while True:
            games, cost = [], []
            for _ in range(BATCH):
                last, steps = draw(network, sight, ground.start, rng)
                games.append(steps)
                cost.append(ground.cost(last))
            advantage = (numpy.mean(cost) - numpy.array(cost)) / (numpy.std(cost) + 1e-12)
            for _ in range(EPOCHS):
                learn(network, games, advantage)
    except Over:
        pass
