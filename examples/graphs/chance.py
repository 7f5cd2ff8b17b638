"""Training set, loops: statistics, finance, graphs, decoding, learning and control."""
import jax
import jax.numpy as jnp
from jax import lax

from nn import f32, i32, u32


def key_of(seed):
    return jax.random.wrap_key_data(seed.astype(jnp.uint32))


def kalman(x, p, seen, a, h):
    """A bank of filters; gains by a solver of our own, so that no library is called."""
    def solve(s, b):
        size = jnp.trace(s, axis1=-2, axis2=-1)[:, None, None]
        inverse = jnp.broadcast_to(jnp.eye(s.shape[-1]), s.shape) / (size + 1e-3)
        for _ in range(5):
            inverse = 2 * inverse - inverse @ s @ inverse
        return b @ inverse

    def step(carry, z):
        x, p = carry
        x = jnp.einsum("ij,bj->bi", a, x)
        p = a @ p @ a.T + 0.01 * jnp.eye(a.shape[0])
        gain = solve(h @ p @ h.T + 0.1 * jnp.eye(h.shape[0]), p @ h.T)
        off = z - x @ h.T
        x = x + jnp.einsum("bij,bj->bi", gain, off)
        return (x, p - gain @ (h @ p)), (x, jnp.sum(off * off, -1))
    return lax.scan(step, (x, p), seen)


def particle_filter(x, seen, seed):
    def step(carry, z):
        x, key = carry
        key, a, b = jax.random.split(key, 3)
        x = 0.9 * x + 0.1 * jnp.sin(3 * x) + 0.1 * jax.random.normal(a, x.shape)
        w = jax.nn.softmax(-4 * jnp.sum(jnp.square(x - z), -1))
        at = (jnp.arange(len(x)) + jax.random.uniform(b)) / len(x)
        return (x[jnp.searchsorted(jnp.cumsum(w), at)], key), w @ x
    return lax.scan(step, (x, key_of(seed)), seen)[1]


def hidden_markov(start, move, emit, words):
    """Forward and backward probabilities, and from them what to expect."""
    move, emit = jax.nn.log_softmax(move), jax.nn.log_softmax(emit)
    like = emit[:, words].T

    def ahead(a, e):
        a = jax.nn.logsumexp(a[:, None] + move, 0) + e
        return a, a

    def behind(b, e):
        b = jax.nn.logsumexp(move + (b + e)[None], 1)
        return b, b
    _, alpha = lax.scan(ahead, jax.nn.log_softmax(start), like)
    _, beta = lax.scan(behind, jnp.zeros_like(start), like, reverse=True)
    share = jax.nn.softmax(alpha + beta)
    return share, jax.ops.segment_sum(share, words, emit.shape[1])


def viterbi(start, move, score):
    def ahead(a, e):
        all_ways = a[:, None] + move
        return jnp.max(all_ways, 0) + e, jnp.argmax(all_ways, 0)

    def behind(at, way):
        return way[at], at
    last, ways = lax.scan(ahead, start, score)
    return lax.scan(behind, jnp.argmax(last), ways, reverse=True)


def asian_option(spot, strike, vol, seed):
    def step(carry, key):
        s, total = carry
        z = jax.random.normal(key, (s.shape[0] // 2,))
        z = jnp.concatenate([z, -z])
        v = jnp.abs(vol) + 0.05
        s = s * jnp.exp((0.01 - v * v / 2) / 24 + v * jnp.sqrt(1 / 24) * z)
        return (s, total + s), jnp.mean(s)
    paths = jnp.full((4096,), 1.0) * (1 + spot)
    (_, total), means = lax.scan(step, (paths, jnp.zeros_like(paths)), jax.random.split(key_of(seed), 24))
    return jnp.mean(jnp.maximum(total / 24 - strike, 0)), means


def heston(spot, seed):
    def payoff(spot):
        def step(carry, key):
            s, v = carry
            a, b = jax.random.normal(key, (2, 2048))
            root = jnp.sqrt(jnp.maximum(v, 1e-6) / 16)
            s = s + 0.01 / 16 - v / 32 + root * (0.7 * b - 0.7 * a)
            return (s, jnp.abs(v + 1.5 / 16 * (0.04 - v) + 0.3 * root * a)), None
        begin = jnp.log1p(spot * spot) * jnp.ones(2048), jnp.full(2048, 0.04)
        (s, _), _ = lax.scan(step, begin, jax.random.split(key_of(seed), 16))
        return jnp.mean(jnp.maximum(jnp.exp(s) - 1, 0))
    return jax.value_and_grad(payoff)(spot)


def american_put(spot, strike, up):
    n = 128
    rise = 1.01 + 0.05 * jax.nn.sigmoid(up)
    p = (1.0001 - 1 / rise) / (rise - 1 / rise)
    at = jnp.arange(n + 1)

    def back(i, v):
        price = spot[:, None] * jnp.exp(jnp.log(rise)[:, None] * (n - 1 - i - 2.0 * at)[None])
        wait = 0.999 * (p[:, None] * v + (1 - p)[:, None] * jnp.roll(v, -1, 1))
        return jnp.maximum(wait, strike[:, None] - price)
    return lax.fori_loop(0, n, back, jnp.maximum(strike[:, None] - spot[:, None] * jnp.ones(n + 1), 0))[:, 0]


def garch(weights, returns):
    def loss(w):
        a, b, c = jax.nn.sigmoid(w)

        def step(v, r):
            v = 0.1 * a + 0.5 * b * r * r + 0.4 * c * v + 1e-3
            return v, jnp.log(v) + r * r / v
        return jnp.mean(lax.scan(step, jnp.ones(returns.shape[1]), returns)[1])
    value, slope = jax.value_and_grad(loss)(weights)
    return value, weights - 0.1 * slope


def metropolis(x, data, seed):
    def energy(x):
        return jnp.sum(jnp.log1p(jnp.square(x[:, None] - data[None])).sum(-1), -1) + 0.1 * jnp.sum(x * x, -1)

    def step(carry, key):
        x, e = carry
        a, b = jax.random.split(key)
        new = x + 0.2 * jax.random.normal(a, x.shape)
        f = energy(new)
        take = jnp.log(jax.random.uniform(b, e.shape) + 1e-9) < e - f
        return (jnp.where(take[:, None], new, x), jnp.where(take, f, e)), jnp.mean(take)
    return lax.scan(step, (x, energy(x)), jax.random.split(key_of(seed), 12))


def hamiltonian(w, x, y, seed):
    def energy(w):
        z = jnp.tanh(x @ w[:-1].reshape(x.shape[1], -1)).mean(-1) + w[-1]
        return jnp.mean(jnp.logaddexp(0, z) - y * z) + 0.01 * jnp.sum(w * w)
    slope = jax.grad(energy)

    def draw(w, key):
        p = jax.random.normal(key, w.shape)
        def leap(s, _):
            w, p = s
            p = p - 0.01 * slope(w)
            w = w + 0.02 * p
            return (w, p - 0.01 * slope(w)), None
        (w, p), _ = lax.scan(leap, (w, p), None, length=5)
        return w, energy(w) + jnp.sum(p * p) / 2
    return lax.scan(draw, w, jax.random.split(key_of(seed), 3))


def page_rank(rank, edge, heat):
    n = len(rank)
    out = jax.ops.segment_sum(jnp.ones(len(edge)), edge[:, 0], n)

    def step(_, r):
        give = jnp.where(out > 0, r / jnp.maximum(out, 1), 0)[edge[:, 0]]
        lost = jnp.sum(jnp.where(out > 0, 0, r))
        return 0.15 * heat + 0.85 * (jax.ops.segment_sum(give, edge[:, 1], n) + lost / n)
    return lax.fori_loop(0, 12, step, rank)


def shortest_ways(far, edge, length):
    def step(s):
        far, _, i = s
        new = jnp.minimum(far, jax.ops.segment_min(far[edge[:, 0]] + jnp.abs(length), edge[:, 1], len(far)))
        return new, jnp.any(new < far), i + 1
    return lax.while_loop(lambda s: s[1] & (s[2] < 20), step, (jnp.abs(far), True, 0))[0]


def k_means(points, centre):
    def step(_, c):
        d = jnp.sum(points ** 2, 1)[:, None] - 2 * points @ c.T + jnp.sum(c ** 2, 1)
        near = jax.nn.one_hot(jnp.argmin(d, 1), len(c))
        return (near.T @ points + 1e-3 * c) / (near.sum(0)[:, None] + 1e-3)
    return lax.fori_loop(0, 8, step, centre)


def sinkhorn(a, b, cost):
    def step(_, uv):
        u, v = uv
        v = jnp.log(jnp.abs(b) + 1e-3) - jax.nn.logsumexp(u[:, None] - cost * 5, 0)
        return jnp.log(jnp.abs(a) + 1e-3) - jax.nn.logsumexp(v[None] - cost * 5, 1), v
    u, v = lax.fori_loop(0, 10, step, (jnp.zeros_like(a), jnp.zeros_like(b)))
    plan = jnp.exp(u[:, None] + v[None] - cost * 5)
    return plan, jnp.sum(plan * cost)


def gru_language(weights, words):
    def loss(ws):
        table, wx, wh, b, out = ws
        d = wh.shape[0]
        def step(h, x):
            g, k = x @ wx + b, h @ wh
            r, z = jnp.split(jax.nn.sigmoid(g[:, :2 * d] + k[:, :2 * d]), 2, -1)
            h = (1 - z) * jnp.tanh(g[:, 2 * d:] + r * k[:, 2 * d:]) + z * h
            return h, h
        _, hs = lax.scan(step, jnp.zeros((words.shape[1], d)), table[words[:-1]])
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(hs @ out), words[1:, :, None], -1))
    value, slope = jax.value_and_grad(loss)(weights)
    return value, [w - 0.1 * jnp.clip(g, -1, 1) for w, g in zip(weights, slope)]


def selective_scan(weights, x):
    """A state-space layer whose steps depend on the input, as a tree of products."""
    def loss(ws):
        wa, wb, wc, out = ws
        decay = jnp.exp(-jax.nn.softplus(x @ wa))
        into = jax.nn.silu(x @ wb) * (1 - decay)
        def join(l, r):
            return l[0] * r[0], l[1] * r[0] + r[1]
        _, h = lax.associative_scan(join, (decay, into), axis=1)
        y = (h * jax.nn.silu(x @ wc)) @ out
        return jnp.mean(jnp.square(y[:, :-1] - x[:, 1:]))
    value, slope = jax.value_and_grad(loss)(weights)
    return value, jax.tree.map(lambda w, g: w - 0.01 * jnp.sign(g), weights, slope)


def denoise(weights, x, seed):
    """Twelve steps of a sampler with a small residual network."""
    def guess(x, t):
        angle = t * jnp.exp(-jnp.arange(16) / 4)
        h = jnp.concatenate([x, jnp.broadcast_to(jnp.concatenate([jnp.sin(angle), jnp.cos(angle)]), (len(x), 32))], -1)
        h = h @ weights[0]
        for w, v in zip(weights[1:-1:2], weights[2:-1:2]):
            n = h * lax.rsqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-5)
            h = h + jax.nn.gelu(n @ w) @ v
        return h @ weights[-1]

    def step(x, args):
        t, key = args
        keep = jnp.cos(t) ** 2
        noise = guess(x, t * 50)
        clean = jnp.clip((x - jnp.sqrt(1 - keep + 1e-4) * noise) * lax.rsqrt(keep + 1e-4), -1, 1)
        later = jnp.cos(t - 0.1) ** 2
        x = jnp.sqrt(later) * clean + jnp.sqrt(1 - later + 1e-4) * (0.9 * noise + 0.1 * jax.random.normal(key, x.shape))
        return x, jnp.mean(clean)
    return lax.scan(step, x, (jnp.linspace(1.4, 0.1, 12), jax.random.split(key_of(seed), 12)))


def beam_search(table, w, bias, start):
    beams, vocabulary = 4, table.shape[0]

    def step(carry, _):
        h, score, last = carry
        h = jnp.tanh(h @ w + table[last])
        all_next = score[..., None] + jax.nn.log_softmax(h @ table.T + bias)
        score, at = lax.top_k(all_next.reshape(len(score), -1), beams)
        back, last = at // vocabulary, at % vocabulary
        return (jnp.take_along_axis(h, back[..., None], 1), score, last), (back, last)
    n = start.shape[0]
    h = jnp.broadcast_to(start[:, None], (n, beams, start.shape[1]))
    return lax.scan(step, (h, jnp.zeros((n, beams)), jnp.zeros((n, beams), jnp.int32)), None, length=16)


def neural_flow(weights, x, y):
    def rate(x, t, ws):
        return jnp.tanh(x @ ws[0] + ws[1] * t) @ ws[2] - 0.1 * x

    def loss(ws):
        def step(x, t):
            a = rate(x, t, ws)
            b = rate(x + 0.05 * a, t + 0.05, ws)
            c = rate(x + 0.05 * b, t + 0.05, ws)
            return x + 0.1 / 6 * (a + 2 * b + 2 * c + rate(x + 0.1 * c, t + 0.1, ws)), None
        return jnp.mean(jnp.square(lax.scan(jax.checkpoint(step), x, jnp.arange(8) * 0.1)[0] - y))
    value, slope = jax.value_and_grad(loss)(weights)
    return value, [w - 0.1 * g for w, g in zip(weights, slope)]


def muon(weights, moments, grads):
    """Each matrix's step made orthogonal by five turns of Newton and Schulz."""
    new = []
    for w, m, g in zip(weights, moments, grads):
        m = 0.95 * m + g
        x = (0.95 * m + g)
        x = x * lax.rsqrt(jnp.sum(x * x) + 1e-6)
        def turn(_, x):
            a = x @ x.T
            return 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
        new.append((w * 0.999 - 0.02 * lax.fori_loop(0, 5, turn, x), m))
    return new


def two_loops(x, s, y, slope):
    """The direction of limited-memory BFGS, and a search along it."""
    rho = 1 / (jnp.sum(s * y, -1) ** 2 + 1e-2)

    def back(q, args):
        s, y, r = args
        a = r * jnp.vdot(s, q)
        return q - a * y, a

    def ahead(q, args):
        s, y, r, a = args
        return q + (a - r * jnp.vdot(y, q)) * s, None
    q, a = lax.scan(back, slope, (s, y, rho), reverse=True)
    q, _ = lax.scan(ahead, q * jnp.vdot(s[-1], y[-1]) / (jnp.vdot(y[-1], y[-1]) + 1e-6), (s, y, rho, a))
    value = lambda t: jnp.sum(jnp.square(x - t * q)) + jnp.sum(jnp.cos(3 * (x - t * q)))
    t = lax.while_loop(lambda t: (value(t) > value(0.0)) & (t > 1e-3), lambda t: t / 2, 1.0)
    return x - t * q


def evolution(mean, deep, seed):
    def turn(carry, key):
        mean, deep = carry
        z = jax.random.normal(key, (64, len(mean)))
        x = mean + jnp.exp(deep) * z
        cost = jnp.sum(x * x - jnp.cos(6 * x), -1)
        w = jax.nn.softmax(-jnp.argsort(jnp.argsort(cost)) / 8.0)
        return (w @ x, deep + 0.1 * (w @ (z * z) - 1)), jnp.min(cost)
    return lax.scan(turn, (mean, deep), jax.random.split(key_of(seed), 8))


def value_iteration(reward, slip):
    def step(_, v):
        edge = jnp.pad(v, 1, mode="edge")
        moves = jnp.stack([edge[2:, 1:-1], edge[:-2, 1:-1], edge[1:-1, 2:], edge[1:-1, :-2]])
        lost = jax.nn.sigmoid(slip)
        return reward + 0.95 * jnp.max((1 - lost) * moves + lost * moves.mean(0), 0)
    return lax.fori_loop(0, 24, step, jnp.zeros_like(reward))


def actor_critic(policy, value, states, actions, rewards, old):
    def loss(ws):
        p, v = ws
        x = jax.nn.silu(states @ p[0])
        logit, worth = jax.nn.log_softmax(x @ p[1]), (jax.nn.silu(states @ v[0]) @ v[1])[..., 0]
        def back(carry, args):
            r, w, after = args
            carry = r + 0.99 * after - w + 0.94 * carry
            return carry, carry
        later = jnp.concatenate([worth[1:], worth[-1:]])
        _, gain = lax.scan(back, jnp.zeros(worth.shape[1]), (rewards, worth, later), reverse=True)
        gain = lax.stop_gradient(gain)
        ratio = jnp.exp(jnp.take_along_axis(logit, actions[..., None], -1)[..., 0] - old)
        entropy = -jnp.sum(jnp.exp(logit) * logit, -1)
        clipped = jnp.minimum(ratio * gain, jnp.clip(ratio, 0.8, 1.2) * gain)
        return jnp.mean(-clipped + 0.5 * jnp.square(worth - lax.stop_gradient(worth) - gain) - 0.01 * entropy)
    number, slope = jax.value_and_grad(loss)((policy, value))
    return number, jax.tree.map(lambda w, g: w - 3e-3 * g, (policy, value), slope)


def spiking(weights, current):
    """Leaky neurons that fire, with a surrogate slope."""
    def fire(v):
        soft = jax.nn.sigmoid(4 * v)
        return soft + lax.stop_gradient((v > 0).astype(v.dtype) - soft)

    def loss(ws):
        def step(carry, x):
            v, s, trace = carry
            v = 0.9 * v * (1 - s) + x @ ws[0] + s @ ws[1]
            s = fire(v - 0.5)
            return (v, s, 0.95 * trace + s @ ws[2]), jnp.mean(s)
        n = current.shape[1]
        zero = jnp.zeros((n, ws[1].shape[0]))
        (_, _, trace), rate = lax.scan(step, (zero, zero, jnp.zeros((n, ws[2].shape[1]))), current)
        return jnp.mean(jax.nn.logsumexp(trace, -1) - trace[:, 0]) + jnp.mean(rate)
    value, slope = jax.value_and_grad(loss)(weights)
    return value, [w - 0.01 * g for w, g in zip(weights, slope)]


D = 64
GRAPHS = {
    "kalman": lambda: (kalman, (f32(32, 6), f32(32, 6, 6), f32(20, 32, 3), f32(6, 6), f32(3, 6))),
    "particle-filter": lambda: (particle_filter, (f32(1024, 4), f32(12, 4), u32(2))),
    "hidden-markov": lambda: (hidden_markov, (f32(48), f32(48, 48), f32(48, 200), i32(32))),
    "viterbi": lambda: (viterbi, (f32(64), f32(64, 64), f32(48, 64))),
    "asian-option": lambda: (asian_option, (f32(), f32(), f32(), u32(2))),
    "heston": lambda: (heston, (f32(), u32(2))),
    "american-put": lambda: (american_put, (f32(32), f32(32), f32(32))),
    "garch": lambda: (garch, (f32(3), f32(100, 16))),
    "metropolis": lambda: (metropolis, (f32(64, 4), f32(100, 4), u32(2))),
    "hamiltonian": lambda: (hamiltonian, (f32(20 * 8 + 1), f32(256, 20), f32(256), u32(2))),
    "page-rank": lambda: (page_rank, (f32(2000), i32(10000, 2), f32(2000))),
    "shortest-ways": lambda: (shortest_ways, (f32(1000), i32(6000, 2), f32(6000))),
    "k-means": lambda: (k_means, (f32(2000, 8), f32(16, 8))),
    "sinkhorn": lambda: (sinkhorn, (f32(128), f32(96), f32(128, 96))),
    "gru-language": lambda: (gru_language, ([f32(200, 48), f32(48, 3 * D), f32(D, 3 * D), f32(3 * D), f32(D, 200)],
                                            i32(17, 16))),
    "selective-scan": lambda: (selective_scan, ([f32(32, D), f32(32, D), f32(32, D), f32(D, 32)], f32(4, 64, 32))),
    "denoise": lambda: (denoise, ([f32(56, D)] + [f32(D, 2 * D), f32(2 * D, D)] * 3 + [f32(D, 24)], f32(64, 24),
                                  u32(2))),
    "beam-search": lambda: (beam_search, (f32(300, D), f32(D, D), f32(300), f32(8, D))),
    "neural-flow": lambda: (neural_flow, ([f32(8, D), f32(D), f32(D, 8)], f32(128, 8), f32(128, 8))),
    "muon": lambda: (muon, tuple([f32(64, 96), f32(96, 64), f32(64, 64), f32(32, 200)] for _ in range(3))),
    "two-loops": lambda: (two_loops, (f32(4000), f32(8, 4000), f32(8, 4000), f32(4000))),
    "evolution": lambda: (evolution, (f32(100), f32(100), u32(2))),
    "value-iteration": lambda: (value_iteration, (f32(96, 96), f32(96, 96))),
    "actor-critic": lambda: (actor_critic, ([f32(12, D), f32(D, 6)], [f32(12, D), f32(D, 1)], f32(32, 16, 12),
                                            i32(32, 16), f32(32, 16), f32(32, 16))),
    "spiking": lambda: (spiking, ([f32(40, D), f32(D, D), f32(D, 10)], f32(20, 16, 40))),
}
