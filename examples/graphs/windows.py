"""Training set, steps: what slides along and what is put in order, as in pictures, series and samples.

Windows are short and long, of one dimension and two; rows that are sorted have 3 to 500 elements, alone or with others.
"""
import jax
import jax.numpy as jnp
from jax import lax

from halves import f32, i32, u32


def window(x, sizes, what="max", pad="SAME", steps=None):
    first, f = {"max": (-jnp.inf, lax.max), "min": (jnp.inf, lax.min), "sum": (0.0, lax.add)}[what]
    return lax.reduce_window(x, first, f, sizes, steps or (1,) * x.ndim, pad)


def around(x, r):
    """The neighbours of each pixel, put last."""
    h, w = x.shape[-2:]
    p = jnp.pad(x, ((0, 0),) * (x.ndim - 2) + ((r, r), (r, r)), mode="edge")
    return jnp.stack([p[..., i:i + h, j:j + w] for i in range(2 * r + 1) for j in range(2 * r + 1)], -1)


def medians(h=120, w=150):
    """A raw picture: hot pixels by the median of 9, noise by the middle of 25, a row's own offset by its median."""
    def run(raw, dark):
        x = raw - dark
        m = jnp.median(around(x, 1), -1)
        x = jnp.where(jnp.abs(x - m) > 4 * jnp.std(x - m), m, x)
        x = x - jnp.median(x, -1, keepdims=True)
        near = jnp.sort(around(x, 2), -1)
        quiet = jnp.mean(near[..., 8:17], -1)
        edge = near[..., 20] - near[..., 4]
        return jnp.where(edge > jnp.mean(edge), x, quiet), edge
    return run, (f32(h, w), f32(h, w))


def openings(n=2, h=128, w=144):
    """Cells under a microscope: background by a wide opening, filled holes, and how far each pixel is from the edge."""
    def run(x):
        small = (1, 3, 3)
        wide = window(window(x, (1, 21, 21), "min"), (1, 21, 21))
        x = x - wide
        smooth = window(window(x, (1, 5, 5), "min"), (1, 5, 5))
        seen = lax.fori_loop(0, 12, lambda _, s: jnp.minimum(window(s, small), smooth), smooth - 0.1)
        domes = (smooth - seen > 0.05).astype(jnp.float32)
        near = window(1 - domes, (1, 9, 9))
        far = lax.fori_loop(0, 10, lambda i, d: d + window(jnp.where(d >= i, domes, 0), small, "min"), domes)
        return seen, far * (1 - near), jnp.sum(domes, (1, 2))
    return run, (f32(n, h, w),)


def guides(h=150, w=190):
    """A guided filter at three widths, contrast evened out by the neighbourhood, and how alike two pictures are."""
    def mean(x, r):
        return window(x, (2 * r + 1, 2 * r + 1), "sum") / (2 * r + 1) ** 2

    def run(p, guide):
        out = []
        for r in (2, 8, 20):
            m, q = mean(guide, r), mean(p, r)
            a = (mean(guide * p, r) - m * q) / (mean(guide * guide, r) - m * m + 1e-2)
            out.append(mean(a, r) * guide + mean(q - a * m, r))
        even = (p - mean(p, 12)) / jnp.sqrt(jnp.abs(mean(p * p, 12) - mean(p, 12) ** 2) + 1e-2)
        x, y = out[0], out[2]
        mx, my = mean(x, 3), mean(y, 3)
        vx, vy, c = mean(x * x, 3) - mx * mx, mean(y * y, 3) - my * my, mean(x * y, 3) - mx * my
        alike = (2 * mx * my + 1e-4) * (2 * c + 9e-4) / ((mx * mx + my * my + 1e-4) * (vx + vy + 9e-4))
        return out[1], even, jnp.mean(alike)
    return run, (f32(h, w), f32(h, w))


def spanned(n=2, size=40, c=32):
    """A detector's neck: convolutions, maxima over 5, 9 and 13 pixels side by side, responses evened out."""
    def conv(x, k):
        return jax.nn.silu(lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))

    def run(x, narrow, middle, wide):
        x = conv(x, narrow)
        x = jnp.concatenate([x] + [window(x, (1, r, r, 1)) for r in (5, 9, 13)], -1)
        x = conv(conv(x, wide), middle)
        x = x / (1 + 1e-4 * window(x * x, (1, 1, 1, 5), "sum")) ** 0.75
        return window(x, (1, 3, 3, 1), "max", "SAME", (1, 2, 2, 1)), window(x, (1, 8, 8, 1), "sum", "VALID",
                                                                           (1, 8, 8, 1)) / 64
    return run, (f32(n, size, size, 2 * c), f32(1, 1, 2 * c, c), f32(3, 3, c, c), f32(1, 1, 4 * c, c))


def members(m=14, h=90, w=110):
    """Forecasts by 14 models: the trimmed mean, chances, how good they were, and the rank of what came."""
    def run(x, seen, names):
        y, which = lax.sort((x, jnp.broadcast_to(names[:, None, None], x.shape)), dimension=0, num_keys=1)
        k = jnp.arange(m, dtype=jnp.float32)[:, None, None]
        score = jnp.mean(jnp.abs(x - seen), 0) - jnp.sum((2 * k - m + 1) * y, 0) / (m * m)
        rank = jnp.sum(x < seen, 0)
        return (jnp.mean(y[3:-3], 0), y[1], y[-2], which[0], which[-1], jnp.mean(score),
                jnp.sum(jax.nn.one_hot(rank, m + 1), (0, 1)), jnp.mean(x > 0.2, 0))
    return run, (f32(m, h, w), f32(h, w), i32(m))


def ranked(days=250, n=24):
    """A portfolio: averages and extremes of the last days, names ranked each day, what was lost from the top."""
    def run(prices, volumes):
        logs = jnp.log(jnp.abs(prices) + 1)
        gain = jnp.diff(logs, axis=0)
        last = [((k - 1, 0), (0, 0)) for k in (5, 20, 55)]
        mean = [window(gain, (k, 1), "sum", p) / k for k, p in zip((5, 20, 55), last)]
        high, low = window(logs, (55, 1), "max", last[2])[1:], window(logs, (55, 1), "min", last[2])[1:]
        noise = jnp.sqrt(jnp.abs(window(gain * gain, (20, 1), "sum", last[1]) / 20 - mean[1] ** 2) + 1e-8)
        place = jnp.argsort(jnp.argsort(mean[0] / noise, axis=1), axis=1)
        weight = (place - (n - 1) / 2) / n * (logs[1:] > (high + low) / 2)
        middle = jnp.median(gain, 1, keepdims=True)
        worth = jnp.cumsum(jnp.sum(weight * (gain - middle), 1))
        flow = jnp.cumsum(jnp.sign(gain) * volumes[1:], 0)
        return worth, jnp.max(lax.cummax(worth) - worth), flow, jnp.sort(gain, 1)[:, ::6]
    return run, (f32(days, n), f32(days, n))


def nucleus(rows=6, words=3000, beams=8):
    """Words are drawn from the likeliest that make up nine tenths, with a penalty; beams are put in order."""
    def run(logits, said, beam, extra, key):
        logits = jnp.where(jax.nn.one_hot(said, words).sum(1) > 0, logits / 1.3, logits)
        order = jnp.argsort(-logits, axis=-1)
        p = jax.nn.softmax(jnp.take_along_axis(logits, order, -1))
        kept = jnp.where(jnp.cumsum(p, -1) - p < 0.9, jnp.log(p), -jnp.inf)
        word = jnp.take_along_axis(order, jax.random.categorical(key, kept)[:, None], -1)
        score = (beam[..., None] + jax.nn.log_softmax(extra)).reshape(rows, -1)
        best, at = lax.top_k(score, beams)
        alone, names = lax.sort((-best, at % extra.shape[-1]), dimension=1, num_keys=1)
        return word, jnp.sum(kept > -jnp.inf, -1), alone, names
    return run, (f32(rows, words), i32(rows, 12), f32(rows, beams), f32(rows, beams, 16), u32(2))


def hashes(n=3000, k=16):
    """Short signatures: the smallest of 16 hashes in order, the middle of three, and who shares most with whom."""
    def run(x, salt, points):
        h = jnp.bitwise_xor(x[:, None] * jnp.uint32(2654435761), salt) >> 7
        h = jnp.sort(h.astype(jnp.int32), -1)
        near = jnp.sort((h[:, :4] & 255).astype(jnp.uint8), -1)
        middle = jnp.sort(points.reshape(-1, 3), -1)[:, 1].reshape(points.shape[0], -1)
        shared = jnp.sum(h[:200, None, :6] == h[None, :200, :6], -1)
        return near, middle, shared, jnp.argsort(middle, -1)[:, :2], h[:, ::5]
    return run, (u32(n), u32(k), f32(n, 18))


def films(n=2, frames=6, size=24, c=8):
    """Gestures: pictures and time apart, then cubes, then cubes of one feature each; momentum step."""
    w = dict(stem=f32(1, 5, 5, 3, c), stem_t=f32(3, 1, 1, c, c), space=f32(2, 1, 3, 3, c, c),
             time=f32(2, 3, 1, 1, c, c), cube=f32(3, 3, 3, c, 2 * c), each=f32(3, 3, 3, 1, 2 * c), out=f32(2 * c, 12))

    def conv(x, k, steps=(1, 1, 1), groups=1):
        return lax.conv_general_dilated(x, k, steps, "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"),
                                        feature_group_count=groups)

    def loss(w, x, gesture):
        x = jax.nn.relu(conv(conv(x, w["stem"], (1, 2, 2)), w["stem_t"]))
        for k, t in zip(w["space"], w["time"]):
            y = conv(jax.nn.relu(conv(x, k)), t)
            x = jax.nn.relu(x + y - jnp.mean(y, (0, 1, 2, 3)))
        x = jax.nn.relu(conv(x, w["cube"], (2, 2, 2)))
        x = window(conv(x, w["each"], groups=2 * c), (1, 2, 2, 2, 1), "sum", "SAME", (1, 1, 2, 2, 1))
        scores = jnp.mean(x, (1, 2, 3)) @ w["out"]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(scores) * jax.nn.one_hot(gesture, 12), -1))

    def step(w, m, x, gesture):
        value, g = jax.value_and_grad(loss)(w, x, gesture)
        m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g)
        return jax.tree.map(lambda a, b: a - 0.05 * b, w, m), m, value
    return step, (w, w, f32(n, frames, 2 * size, 2 * size, 3), i32(n))


GRAPHS = {f.__name__: f for f in (medians, openings, guides, spanned, members, ranked, nucleus, hashes,
                                 films)}
