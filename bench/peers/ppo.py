"""PPO as GO uses it: a network sees the features of every class, and gives each of its choices a probability; a batch
of whole configurations is drawn and priced, and the clipped objective moves the network towards the better ones.

The network has one hidden layer and begins at keeping the default with probability 1 - FLIPS / classes. Advantages are
costs within their batch, in units of their spread. Nothing is learnt from other programs: as for all peers, the program
is new.

needs: numpy
"""
import numpy

from ground import Ground, Over

BATCH, ROUNDS, CLIP, HIDDEN, RATE, FLIPS = 10, 4, 0.2, 32, 3e-3, 4


class Policy:
    """Logits for each class and choice from features, and Adam on its weights."""

    def __init__(self, features, start, choices, rng):
        self.x, most = features, max(choices)
        self.allowed = numpy.arange(most) < numpy.array(choices)[:, None]
        stay = numpy.log(max(len(start) / FLIPS - 1, 1) * numpy.maximum(numpy.array(choices) - 1, 1))
        self.bias = numpy.zeros((len(start), most))
        self.bias[numpy.arange(len(start)), start] = stay
        self.weights = [rng.normal(0, features.shape[1] ** -0.5, (features.shape[1], HIDDEN)),
                        numpy.zeros((HIDDEN, most))]
        self.first, self.second, self.steps = [[numpy.zeros_like(w) for w in self.weights] for _ in range(2)] + [0]

    def run(self):
        self.hidden = numpy.tanh(self.x @ self.weights[0])
        logits = numpy.where(self.allowed, self.hidden @ self.weights[1] + self.bias, -numpy.inf)
        p = numpy.exp(logits - logits.max(1, keepdims=True))
        self.p = p / p.sum(1, keepdims=True)
        return self.p

    def descend(self, dlogits):
        dhidden = dlogits @ self.weights[1].T * (1 - self.hidden ** 2)
        self.steps += 1
        for i, d in enumerate((self.x.T @ dhidden, self.hidden.T @ dlogits)):
            self.first[i] = 0.9 * self.first[i] + 0.1 * d
            self.second[i] = 0.999 * self.second[i] + 0.001 * d * d
            mean, square = self.first[i] / (1 - 0.9 ** self.steps), self.second[i] / (1 - 0.999 ** self.steps)
            self.weights[i] -= RATE * mean / (numpy.sqrt(square) + 1e-8)


def logp(p, taken):
    """Of each configuration, for each class; [configuration, class]."""
    return numpy.log(numpy.maximum(p[numpy.arange(p.shape[0]), taken], 1e-30))


def learn(policy, taken, old, advantage):
    """One round of PPO. Ratios are for each class, as in GO, whose actions are the decisions of nodes."""
    p = policy.run()
    ratio = numpy.exp(logp(p, taken) - old)
    clipped = ((ratio > 1 + CLIP) & (advantage[:, None] > 0)) | ((ratio < 1 - CLIP) & (advantage[:, None] < 0))
    weight = numpy.where(clipped, 0.0, ratio * advantage[:, None]) / len(taken)
    dlogits = p * weight.sum(0)[:, None]  # of minus the objective
    for i, choices in enumerate(taken):
        dlogits[numpy.arange(len(choices)), choices] -= weight[i]
    policy.descend(dlogits)


def standing(features):
    """Columns of mean 0 and spread 1."""
    x = numpy.array(features, dtype=float)
    x = x[:, x.std(0) > 0]
    return numpy.hstack([(x - x.mean(0)) / x.std(0), numpy.ones((len(x), 1))])


def play(arena, rng):
    ground, rng = Ground(arena), numpy.random.default_rng(rng.randrange(2 ** 31))
    if not ground.choices:
        return
    rows = arena.features()["rows"]
    policy = Policy(standing([rows[sites[0]] for sites in ground.members]), ground.start, ground.choices, rng)
    try:
        while True:
            p = policy.run()
            draws = rng.random((BATCH, p.shape[0], 1))
            taken = numpy.minimum((draws > p.cumsum(1)).sum(2), numpy.array(ground.choices) - 1)
            old = logp(p, taken)
            cost = numpy.array([ground.cost(x) for x in taken])
            advantage = (cost.mean() - cost) / (cost.std() + 1e-12)
            for _ in range(ROUNDS):
                learn(policy, taken, old, advantage)
    except Over:
        pass
