"""Training set, steps: what fits no other file: alignments, neighbours, particles, pictures put in order, topics,
tides."""
import jax
import jax.numpy as jnp
from jax import lax

from language import tree
from nn import f32, i32, u32
from solvers import unrolled_solve


def alignments(pairs=24, n=40, m=48, letters=8):
    """Smith and Waterman with affine gaps, softened, along antidiagonals; the scores' slopes are the expected
    matches."""
    def run(cost, gap, a, b):
        table = cost + cost.T
        score = table.at[a[:, :, None], b[:, None]].get(mode="clip")
        i = jnp.arange(n)
        skew = jnp.stack([jnp.where((t - i >= 0) & (t - i < m), score[:, i, jnp.clip(t - i, 0, m - 1)], -1e3)
                          for t in range(0, n + m - 1, 1)][:n + m - 1])
        opened, longer = -1 - jnp.abs(gap[0]), -0.3 - jnp.abs(gap[1])
        soft = lambda *x: jax.nn.logsumexp(jnp.stack(x), 0)

        def total(skew):
            shift = lambda h: jnp.pad(h, ((0, 0), (1, 0)), constant_values=-1e3)[:, :-1]

            def line(state, s):
                h1, h2, e, f, best = state
                e = soft(h1 + opened, e + longer)
                f = soft(shift(h1) + opened, shift(f) + longer)
                h = soft(jnp.zeros_like(s), shift(h2)) + s
                h = soft(h, e, f)
                return (h, h1, e, f, soft(best, jnp.max(h, -1))), None
            low = jnp.full((pairs, n), -1e3)
            state, _ = lax.scan(line, (low, low, low, low, low[:, 0]), skew)
            return jnp.sum(state[4]), state[4]
        (_, each), match = jax.value_and_grad(total, has_aux=True)(skew)
        return each, jnp.sum(match, (0, 2)), match
    return run, (f32(letters, letters), f32(2), i32(pairs, n), i32(pairs, m))


def neighbours(points=160, d=16, steps=4):
    """A map of points: widths by bisection to one perplexity, symmetrised; then repelled and drawn with gains and
    momentum."""
    def run(x, y, v, gain):
        r = jnp.sum(x * x, 1)
        far = r[:, None] + r - 2 * x @ x.T
        off = 1 - jnp.eye(points)

        def halve(_, s):
            low, high = s
            beta = (low + high) / 2
            p = jnp.exp(-beta[:, None] * (far - jnp.min(far + 1e3 * (1 - off), 1, keepdims=True))) * off
            p = p / jnp.sum(p, 1, keepdims=True)
            entropy = -jnp.sum(p * jnp.log(p + 1e-12), 1)
            return jnp.where(entropy > 3.0, beta, low), jnp.where(entropy > 3.0, high, beta)
        low, high = lax.fori_loop(0, 12, halve, (jnp.zeros(points), jnp.full(points, 40.0)))
        p = jnp.exp(-((low + high) / 2)[:, None] * far) * off
        p = p / jnp.sum(p, 1, keepdims=True)
        p = jnp.maximum((p + p.T) / (2 * points), 1e-9)

        def step(state, pull):
            y, v, gain = state
            d = y[:, None] - y[None]
            near = off / (1 + jnp.sum(d * d, -1))
            q = jnp.maximum(near / jnp.sum(near), 1e-9)
            g = 4 * jnp.einsum("ij,ijk->ik", (pull * p - q) * near, d)
            gain = jnp.clip(jnp.where(jnp.sign(g) == jnp.sign(v), gain * 0.8, gain + 0.2), 0.01, 10)
            v = 0.5 * v - 100 * gain * g
            y = y + v
            return (y - jnp.mean(y, 0), v, gain), jnp.sum(p * (jnp.log(p) - jnp.log(q)))
        return lax.scan(step, (y, v, gain), jnp.linspace(4, 1, steps))
    return run, (f32(points, d), f32(points, 2), f32(points, 2), f32(points, 2))


def fluid_particles(n=192, steps=3):
    """A drop of water as particles: kernels of density, pressure and viscosity between all pairs, walls, leaps;
    surface found."""
    h = 0.25

    def forces(x, v, mass):
        d = x[:, None] - x[None]
        r = jnp.sqrt(jnp.sum(d * d, -1) + 1e-8)
        q = jnp.clip(1 - r / h, 0, 1)
        density = 0.2 + jnp.sum(mass * jnp.where(r < h, (1 - (r / h) ** 2) ** 3, 0), 1)
        pressure = 2.0 * jnp.maximum(density / 1.2 - 1, 0) ** 1.5
        share = mass / (density[:, None] * density)
        push = (pressure[:, None] + pressure) / 2 * share * q * q / r
        drag = 0.3 * share * q
        tension = jnp.where((r > 0.5 * h) & (r < h), -0.05 * jnp.sin(3.1416 * r / h), 0) * share
        normal = jnp.sum((share * q)[..., None] * d, 1)
        relative = v[None] - v[:, None]
        f = jnp.sum((push + tension)[..., None] * d, 1) + jnp.sum(drag[..., None] * relative, 1)
        swirl = jnp.sum((share * q)[..., None] * jnp.cross(relative, d), 1)
        return f - jnp.array([0, 0, 1.0]), density, normal, swirl

    def run(x, v, mass):
        mass = 0.05 + 0.05 * mass * mass

        def step(state, _):
            x, v = state
            f, density, normal, swirl = forces(x, v, mass)
            strong = jnp.sqrt(jnp.sum(swirl * swirl, -1) + 1e-6)
            side = normal / jnp.sqrt(jnp.sum(normal * normal, -1, keepdims=True) + 1e-6)
            v = v + 0.01 * (f + 0.02 * strong[:, None] * jnp.cross(side, swirl))
            x = x + 0.01 * v
            out = jnp.abs(x) > 0.6
            v = jnp.where(out, -0.5 * v, v)
            return (jnp.clip(x, -0.6, 0.6), v), (jnp.max(density), jnp.sum(mass * jnp.sum(v * v, -1)))
        (x, v), log = lax.scan(step, (x, v), None, length=steps)
        _, density, normal, _ = forces(x, v, mass)
        return x, v, log, jnp.sum(normal * normal, -1) > 0.1
    return run, (f32(n, 3), f32(n, 3), f32(n))


def moved_pictures(size=64, levels=3, turns=3):
    """Two pictures brought together: pyramids, windowed least squares of motion at each level, warped by four
    neighbours, denoised."""
    ring = (1, 4, 6, 4, 1)

    def blur(x):
        p = jnp.pad(x, 2, mode="edge")
        rows = sum(w * p[i:i + x.shape[0]] for i, w in enumerate(ring)) / 16
        return sum(w * rows[:, i:i + x.shape[1]] for i, w in enumerate(ring)) / 16

    def warp(x, flow):
        h, w = x.shape
        at = [jnp.clip(g + f, 0, n - 1.001) for g, f, n in zip(jnp.mgrid[:h, :w].astype(jnp.float32), flow, (h, w))]
        low = [jnp.floor(a).astype(jnp.int32) for a in at]
        part = [a - l for a, l in zip(at, low)]
        flat = x.reshape(-1)
        get = lambda i, j: flat[jnp.minimum(low[0] + i, h - 1) * w + jnp.minimum(low[1] + j, w - 1)]
        top = get(0, 0) * (1 - part[1]) + get(0, 1) * part[1]
        return top * (1 - part[0]) + (get(1, 0) * (1 - part[1]) + get(1, 1) * part[1]) * part[0]

    def middle(x):
        p = jnp.pad(x, 1, mode="edge")
        nine = jnp.stack([p[i:i + x.shape[0], j:j + x.shape[1]] for i in range(3) for j in range(3)])
        return jnp.sort(nine, 0)[4]

    def run(a, b):
        pyramid = [(a, b)]
        for _ in range(levels - 1):
            pyramid.append(tuple(blur(x)[::2, ::2] for x in pyramid[-1]))
        flow = [jnp.zeros_like(pyramid[-1][0])] * 2
        for level, (a, b) in enumerate(reversed(pyramid)):
            if level:
                flow = [2 * jnp.repeat(jnp.repeat(f, 2, 0), 2, 1) for f in flow]
            gy, gx = ((jnp.roll(a, -1, k) - jnp.roll(a, 1, k)) / 2 for k in (0, 1))
            yy, xx, xy = blur(gy * gy) + 0.01, blur(gx * gx) + 0.01, blur(gx * gy)
            det = yy * xx - xy * xy
            for _ in range(turns):
                rest = a - warp(b, flow)
                trust = 1 / (1 + 4 * rest * rest)
                ry, rx = blur(trust * gy * rest), blur(trust * gx * rest)
                flow = [flow[0] + (xx * ry - xy * rx) / det, flow[1] + (yy * rx - xy * ry) / det]
                flow = [middle(jnp.clip(f, -8, 8)) for f in flow]
        moved = warp(b, flow)
        total, weight = 0.0, 0.0
        for i in range(-2, 3):
            for j in range(-2, 3):
                other = jnp.roll(moved, (i, j), (0, 1))
                w = jnp.exp(-20 * blur(jnp.square(other - a)))
                total, weight = total + w * other, weight + w
        return jnp.stack(flow), total / weight, jnp.mean(jnp.abs(moved - a))
    return run, (f32(size, size), f32(size, size))


def topics(documents=160, words=800, k=20, turns=6):
    """Topics of documents by variational sums: digamma by series, local turns in a loop, then new topics with a
    decaying step."""
    def digamma(x):
        small = 0.0
        for i in range(5):
            small = small + 1 / (x + i)
        y = x + 5
        z = 1 / (y * y)
        return jnp.log(y) - 0.5 / y - z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z / 240))) - small

    def run(lam, count, prior, t):
        lam = 0.1 + jnp.abs(lam)
        count = jnp.abs(count.astype(jnp.float32))
        alpha = 0.05 + jnp.abs(prior)
        say = jnp.exp(digamma(lam) - digamma(jnp.sum(lam, 1, keepdims=True)))

        def turn(_, gamma):
            stay = jnp.exp(digamma(gamma) - digamma(jnp.sum(gamma, 1, keepdims=True)))
            share = count / (stay @ say + 1e-9)
            return alpha + stay * (share @ say.T)
        gamma = lax.fori_loop(0, turns, turn, jnp.ones((documents, k)))
        stay = jnp.exp(digamma(gamma) - digamma(jnp.sum(gamma, 1, keepdims=True)))
        norm = stay @ say + 1e-9
        stats = say * (stay.T @ (count / norm))
        rate = (8 + jnp.abs(t)) ** -0.7
        new = (1 - rate) * lam + rate * (0.1 + stats)
        bound = jnp.sum(count * jnp.log(norm)) + jnp.sum((alpha - gamma) * jnp.log(stay))
        logs = digamma(gamma) - digamma(jnp.sum(gamma, 1, keepdims=True))
        slope = jnp.mean(logs, 0) - digamma(alpha) + digamma(jnp.sum(alpha))
        return new, gamma, bound, alpha * jnp.exp(0.1 * slope), lax.top_k(new, 10)[1]
    return run, (f32(k, words), i32(documents, words), f32(k), f32())


def ensemble(members=96, n=96, seen=24, cycles=4):
    """Weather on a circle by an ensemble: a fourth-order step of each member, then a localised square root update
    from observations."""
    def run(x, y, where, inflate, key):
        def rate(x):
            return (jnp.roll(x, -1, 1) - jnp.roll(x, 2, 1)) * jnp.roll(x, 1, 1) - x + 8

        def ahead(_, x):
            dt = 0.02
            a = rate(x)
            b = rate(x + dt / 2 * a)
            c = rate(x + dt / 2 * b)
            return x + dt / 6 * (a + 2 * b + 2 * c + rate(x + dt * c))
        ring = jnp.arange(n)
        spots = (where * 7 + jnp.arange(seen) * (n // seen)) % n
        gap = jnp.abs(ring[:, None] - ring[None])
        z = jnp.minimum(gap, n - gap) / 6.0
        near = jnp.where(z < 1, ((-z / 4 + 0.5) * z + 0.625) * z * z * z - 5 / 3 * z * z + 1,
                         jnp.where(z < 2, jnp.maximum((4 - z) * (2 - z) ** 3 / 24, 0), 0))

        def cycle(state, now):
            x, inflate = state
            y, k = now
            x = lax.fori_loop(0, 3, ahead, x)
            x = x + 0.05 * jax.random.normal(k, x.shape)
            mean = jnp.mean(x, 0)
            spread = (x - mean) * (1 + 0.1 * jnp.abs(inflate))

            def one(state, obs):
                mean, spread = state
                value, spot = obs
                h = spread[:, spot]
                var = jnp.sum(h * h) / (members - 1) + 0.25
                gain = near[spot] * (h @ spread) / (members - 1) / var
                rest = value - mean[spot]
                half = 1 / (1 + jnp.sqrt(0.25 / var))
                return (mean + gain * rest, spread - half * h[:, None] * gain), rest * rest / var
            (mean, spread), chi = lax.scan(one, (mean, spread), (y, spots))
            inflate = 0.9 * inflate + 0.1 * (jnp.mean(chi) - 1)
            x = jnp.clip(mean + spread, -30, 30)
            return (x, inflate), (mean, jnp.sqrt(jnp.mean(spread * spread)), jnp.mean(chi))
        return lax.scan(cycle, (x, inflate), (y, jax.random.split(key, cycles)))
    return run, (f32(members, n), f32(cycles, seen), i32(seen), f32(), u32(2))


GRAPHS = {
    "alignments": alignments,
    "neighbours": neighbours,
    "fluid-particles": fluid_particles,
    "moved-pictures": moved_pictures,
    "topics": topics,
    "ensemble": ensemble,
}
