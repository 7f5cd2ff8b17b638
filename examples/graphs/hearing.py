"""Training set, steps: sound, scenes, codes and tables: signal processing beside the networks that read it.

No Fourier transform of the compiler is asked for: waves are matrices, so that a program is products and what lies
between them.
"""
import jax
import jax.numpy as jnp
from jax import lax

from language import standard, surprise, tree
from learners import layers, perceptron
from nn import f32, i32, u32
from pictures import adam


def spectrum(wave, size=128, hop=64):
    """Power of each frame at each pitch, by a windowed cosine and sine matrix. wave: batch, time."""
    b, n = wave.shape
    frames = (n - size) // hop + 1
    at = jnp.arange(frames)[:, None] * hop + jnp.arange(size)
    t = jnp.arange(size)
    window = 0.5 - 0.5 * jnp.cos(2 * jnp.pi * t / size)
    angle = 2 * jnp.pi * t[:, None] * jnp.arange(size // 2 + 1) / size
    x = wave[:, at] * window
    return jnp.square(x @ jnp.cos(angle)) + jnp.square(x @ jnp.sin(angle))


def mel(size, bands):
    """Triangles that widen with pitch: (size / 2 + 1, bands)."""
    f = jnp.linspace(0, 8000, size // 2 + 1)
    pitch = 2595 * jnp.log10(1 + f / 700)
    edge = jnp.linspace(0, 2840, bands + 2)
    up = (pitch[:, None] - edge[:-2]) / (edge[1:-1] - edge[:-2])
    down = (edge[2:] - pitch[:, None]) / (edge[2:] - edge[1:-1])
    return jnp.maximum(0, jnp.minimum(up, down))


def conformer(batch=2, samples=1664, d=40, heads=4, blocks=2, marks=8, letters=20):
    """Speech: bands, some masked out; half perceptrons, attention, gated convolutions; the sum over alignments."""
    half = dict(n=f32(2, d), u=f32(d, 4 * d), v=f32(4 * d, d))
    block = dict(f=half, g=half, n=f32(2, d), qkv=f32(d, 3 * d), o=f32(d, d), far=f32(heads, 64), m=f32(2, d),
                 p=f32(d, 2 * d),
                 k=f32(7, d), bn=f32(2, d), q=f32(d, d), last=f32(2, d))
    weights = dict(i=f32(48, d), blocks=[block] * blocks, out=f32(d, letters))

    def feed(p, x):
        return x + 0.5 * (jax.nn.silu(standard(x, *p["n"]) @ p["u"]) @ p["v"])

    def net(w, x):
        b, t, _ = x.shape
        x = x @ w["i"]
        far = jnp.clip(jnp.arange(t)[:, None] - jnp.arange(t) + 32, 0, 63)
        for p in w["blocks"]:
            x = feed(p["f"], x)
            y = standard(x, *p["n"]) @ p["qkv"]
            q, k, v = y.reshape(b, t, 3, heads, -1).transpose(2, 0, 3, 1, 4)
            score = q @ k.swapaxes(2, 3) * (heads / d) ** 0.5 + p["far"][:, far]
            x = x + (jax.nn.softmax(score) @ v).swapaxes(1, 2).reshape(b, t, d) @ p["o"]
            a, gate = jnp.split(standard(x, *p["m"]) @ p["p"], 2, -1)
            y = a * jax.nn.sigmoid(gate)
            wide = jnp.pad(y, ((0, 0), (3, 3), (0, 0)))
            y = sum(wide[:, i:i + t] * p["k"][i] for i in range(7))
            y = (y - jnp.mean(y, (0, 1))) * lax.rsqrt(jnp.var(y, (0, 1)) + 1e-3) * p["bn"][0] + p["bn"][1]
            x = x + jax.nn.silu(y) @ p["q"]
            x = standard(feed(p["g"], x), *p["last"])
        return jax.nn.log_softmax(x @ w["out"])

    def alignments(log, text):
        """-log of the sum over all ways to say `text` in time; log: batch, time, letter."""
        b, t, _ = log.shape
        spread = jnp.zeros((b, 2 * marks + 1), jnp.int32).at[:, 1::2].set(1 + text)
        each = jnp.take_along_axis(log, jnp.broadcast_to(spread[:, None], (b, t, 2 * marks + 1)), 2)
        jump = (spread[:, 2:] != spread[:, :-2]) & (spread[:, 2:] > 0)
        low = -1e4

        def tick(a, now):
            one = jnp.pad(a, ((0, 0), (1, 0)), constant_values=low)[:, :-1]
            two = jnp.where(jump, a[:, :-2], low)
            two = jnp.pad(two, ((0, 0), (2, 0)), constant_values=low)
            return jax.nn.logsumexp(jnp.stack([a, one, two]), 0) + now, None
        start = jnp.full((b, 2 * marks + 1), low).at[:, :2].set(each[:, 0, :2])
        a, _ = lax.scan(tick, start, each[:, 1:].swapaxes(0, 1))
        return -jnp.mean(jnp.logaddexp(a[:, -1], a[:, -2]))

    def step(w, m, v, wave, text, key):
        bands = jnp.log(spectrum(wave) @ mel(128, 24) + 1e-3)
        bands = (bands - jnp.mean(bands, 1, keepdims=True)) / (jnp.std(bands, 1, keepdims=True) + 1e-2)
        keys = jax.random.split(key, 2)
        t0 = jax.random.randint(keys[0], (batch, 1, 1), 0, 16)
        f0 = jax.random.randint(keys[1], (batch, 1, 1), 0, 18)
        t, f = jnp.arange(bands.shape[1])[:, None], jnp.arange(24)
        bands = jnp.where(((t >= t0) & (t < t0 + 4)) | ((f >= f0) & (f < f0 + 4)), 0, bands)
        bands = jnp.concatenate([bands, bands - jnp.roll(bands, 1, 1)], -1)
        value, g = jax.value_and_grad(lambda w: alignments(net(w, bands), text))(w)
        norm = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
        g = tree(lambda a: a / jnp.maximum(1, norm / 5), g)
        return *adam(w, g, m, v), value
    return step, (weights, weights, weights, f32(batch, samples), i32(batch, marks), u32(2))


def radiance(rays=64, near=12, far=12, d=48):
    """A scene as a network: waves of places, coarse samples, then more where those saw something; both are trained."""
    field = dict(a=layers(27, d, d, d), b=layers(27 + d, d, d), s=f32(d, 1), c=layers(d + 15, d // 2, 3))
    weights = dict(coarse=field, fine=field)

    def waves(x, n):
        a = x[..., None, :] * (2.0 ** jnp.arange(n))[:, None]
        return jnp.concatenate([x, jnp.sin(a).reshape(*x.shape[:-1], -1), jnp.cos(a).reshape(*x.shape[:-1], -1)], -1)

    def see(w, p, way):
        x = waves(p, 4)
        h = jax.nn.relu(perceptron(w["a"], x))
        h = jax.nn.relu(perceptron(w["b"], jnp.concatenate([x, h], -1)))
        way = jnp.broadcast_to(waves(way, 2)[:, None], (*h.shape[:2], 15))
        return jax.nn.softplus(h @ w["s"])[..., 0], jax.nn.sigmoid(perceptron(w["c"], jnp.concatenate([h, way], -1)))

    def shine(w, o, way, t):
        thick, colour = see(w, o[:, None] + t[..., None] * way[:, None], way)
        gap = jnp.diff(t, axis=1, append=t[:, -1:] + 1.0)
        alpha = 1 - jnp.exp(-thick * gap)
        clear = jnp.cumprod(jnp.concatenate([jnp.ones((rays, 1)), 1 - alpha[:, :-1] + 1e-6], 1), 1)
        share = alpha * clear
        return jnp.sum(share[..., None] * colour, 1) + 1 - jnp.sum(share, 1, keepdims=True), share

    def step(w, m, v, o, way, seen, key):
        one, two = jax.random.split(key)
        way = way * lax.rsqrt(jnp.sum(way * way, -1, keepdims=True) + 1e-6)
        t = 0.5 + (jnp.arange(near) + jax.random.uniform(one, (rays, near))) * (3.0 / near)

        def loss(w):
            first, share = shine(w["coarse"], o, way, t)
            share = lax.stop_gradient(share[:, 1:-1]) + 1e-3
            sums = jnp.cumsum(share / jnp.sum(share, 1, keepdims=True), 1)
            u = (jnp.arange(far) + jax.random.uniform(two, (rays, far))) / far
            at = jnp.sum(u[..., None] > sums[:, None], -1)
            left = jnp.take_along_axis(t, jnp.clip(at, 0, near - 1), 1)
            right = jnp.take_along_axis(t, jnp.clip(at + 1, 0, near - 1), 1)
            extra = left + (right - left) * (u * far % 1)
            second, _ = shine(w["fine"], o, way, jnp.sort(jnp.concatenate([t, extra], 1), 1))
            a, b = jnp.mean((first - seen) ** 2), jnp.mean((second - seen) ** 2)
            return a + b, -10 * jnp.log10(b + 1e-9)
        (value, loud), g = jax.value_and_grad(loss, has_aux=True)(w)
        return *adam(w, g, m, v, 5e-4), value, loud
    return step, (weights, weights, weights, f32(rays, 3), f32(rays, 3), f32(rays, 3), u32(2))


def photo_codec(h=128, w=128):
    """Colours split, cosines of blocks of 8, quantised, counted along zigzags, undone: five qualities."""
    k = jnp.arange(8)

    def cosines():
        c = jnp.cos((2 * k[None] + 1) * k[:, None] * jnp.pi / 16) * 0.5
        return c.at[0].multiply(0.7071068)
    order = sorted(((i, j) for i in range(8) for j in range(8)),
                   key=lambda p: (p[0] + p[1], p[0] if (p[0] + p[1]) % 2 else p[1]))
    zigzag = [8 * i + j for i, j in order]

    def blocks(x):
        a, b = x.shape
        return x.reshape(a // 8, 8, b // 8, 8).swapaxes(1, 2)

    def plain(x):
        a, b = x.shape[:2]
        return x.swapaxes(1, 2).reshape(a * 8, b * 8)

    def one(x, table, quality):
        c = cosines()
        f = jnp.einsum("ui,abij,vj->abuv", c, blocks(x * 255), c)
        q = jnp.clip(jnp.round((16 + 8 * jnp.abs(table) + 3 * (k[:, None] + k)) * quality), 1, 255)
        level = jnp.round(f / q)
        line = level.reshape(-1, 64)[:, jnp.array(zigzag)]
        first = jnp.diff(line[:, 0], prepend=0.0)
        bits = jnp.ceil(jnp.log2(jnp.abs(line[:, 1:]) + 1))
        zero = line[:, 1:] == 0
        run = lax.associative_scan(lambda a, b: (a[0] + b[0] * a[1], a[1] * b[1]),
                                   (zero[:, ::-1] * 1.0, zero[:, ::-1] * 1.0), axis=1)[1]
        size = jnp.sum(jnp.where(zero, 0.3, bits + 3))
        size = size + jnp.sum(jnp.ceil(jnp.log2(jnp.abs(first) + 1)) + 2) - 0.2 * jnp.sum(run)
        return plain(jnp.einsum("ui,abuv,vj->abij", c, level * q, c)) / 255, size

    def run(photo, light, colour):
        r, g, b = photo[0], photo[1], photo[2]
        y = 0.299 * r + 0.587 * g + 0.114 * b
        u, v = 0.564 * (b - y), 0.713 * (r - y)
        half = lambda x: x.reshape(h // 2, 2, w // 2, 2).mean((1, 3))
        wide = lambda x: jnp.repeat(jnp.repeat(x, 2, 0), 2, 1)

        def try_one(quality):
            (y2, n1), (u2, n2) = one(y, light, quality), one(half(u), colour, quality)
            v2, n3 = one(half(v), colour, quality)
            u3, v3 = wide(u2), wide(v2)
            back = jnp.stack([y2 + 1.403 * v3, y2 - 0.344 * u3 - 0.714 * v3, y2 + 1.773 * u3])
            error = jnp.mean((back - photo) ** 2)
            return jnp.clip(back, -1, 1), error, n1 + n2 + n3
        return lax.map(try_one, 2.0 ** jnp.arange(-2, 3))
    return run, (f32(3, h, w), f32(8, 8), f32(8, 8))


def expectation(states=12, symbols=16, length=40, batch=24):
    """Hidden Markov models by Baum and Welch: scaled sums forward and back, expected counts, new tables; two turns."""
    def run(start, move, say, text):
        soft = lambda x: jax.nn.softmax(4 * x, -1)
        seen = jax.nn.one_hot(text, symbols)

        def turn(tables, _):
            start, move, say = tables
            like = seen @ say.T

            def ahead(a, b):
                a = (a @ move) * b
                scale = jnp.sum(a, -1, keepdims=True) + 1e-9
                return a / scale, (a / scale, scale)
            first = start * like[:, 0]
            size = jnp.sum(first, -1, keepdims=True) + 1e-9
            _, (alpha, scale) = lax.scan(ahead, first / size, like[:, 1:].swapaxes(0, 1))
            alpha = jnp.concatenate([(first / size)[None], alpha])

            def back(b, now):
                l, s = now
                b = (b * l / s) @ move.T
                return b, b
            one = jnp.ones((batch, states))
            _, beta = lax.scan(back, one, (like[:, 1:].swapaxes(0, 1), scale), reverse=True)
            beta = jnp.concatenate([beta, one[None]])
            stay = alpha * beta
            stay = stay / (jnp.sum(stay, -1, keepdims=True) + 1e-9)
            pair = jnp.einsum("tbi,tbj->ij", alpha[:-1], beta[1:] * like[:, 1:].swapaxes(0, 1) / scale) * move
            count = jnp.einsum("tbi,btv->iv", stay, seen)
            norm = lambda x: (x + 1e-3) / jnp.sum(x + 1e-3, -1, keepdims=True)
            log = jnp.sum(jnp.log(scale)) + jnp.sum(jnp.log(size))
            return (norm(jnp.sum(stay[0], 0)), norm(pair), norm(count)), log
        return lax.scan(turn, (soft(start), soft(move), soft(say)), None, length=2)
    return run, (f32(states), f32(states, states), f32(states, symbols), i32(batch, length))


GRAPHS = {
    "conformer": conformer,
    "radiance": radiance,
    "photo-codec": photo_codec,
    "expectation": expectation,
}
