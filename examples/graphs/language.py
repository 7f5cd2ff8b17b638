"""Training set, steps: language models, each written the way its own field writes it.

Weights are plain trees (dictionaries and lists of arrays), and every program brings its own optimiser, so that no two
of them share a layer. No state under a root may be negative: it is squared, or its size is taken.
"""
import jax
import jax.numpy as jnp
from jax import lax

from nn import f32, i32, u32


def tree(f, *trees):
    return jax.tree.map(f, *trees)


def unit(x, g):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g


def standard(x, scale, shift):
    mean = jnp.mean(x, -1, keepdims=True)
    var = jnp.mean(jnp.square(x), -1, keepdims=True) - mean * mean
    return (x - mean) / jnp.sqrt(jnp.maximum(var, 0) + 1e-5) * scale + shift


def surprise(logits, label):
    """Negative logarithm of the probability of the labels."""
    picked = jnp.take_along_axis(logits, label[..., None], -1, mode="clip")[..., 0]
    return jax.nn.logsumexp(logits, -1) - picked


def turn(x):
    """Rotary positions; pairs are neighbours. x: position, head, channel."""
    t, _, c = x.shape
    angle = jnp.arange(t)[:, None] * 1e4 ** (-jnp.arange(0, c, 2) / c)
    sin, cos = jnp.sin(angle)[:, None], jnp.cos(angle)[:, None]
    even, odd = x[..., ::2], x[..., 1::2]
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)


def grouped_gpt(layers=4, d=64, heads=8, groups=2, vocabulary=320, length=48):
    """Rotary positions, eight heads that share two sets of keys, gated perceptrons, scores softly limited; Lion."""
    c = d // heads
    layer = dict(q=f32(d, heads, c), kv=f32(2, d, groups, c), o=f32(heads, c, d), gate=f32(d, 2 * d), up=f32(d, 2 * d),
                 down=f32(2 * d, d), before=f32(d), middle=f32(d))
    weights = dict(words=f32(vocabulary, d), layers=[layer] * layers, last=f32(d))

    def logits(w, text):
        x = w["words"].at[text].get(mode="clip") * d ** 0.5
        causal = jnp.tril(jnp.ones((length, length), bool))
        for p in w["layers"]:
            y = unit(x, 1 + p["before"])
            q = turn(jnp.einsum("td,dhc->thc", y, p["q"])).reshape(length, groups, heads // groups, c)
            k, v = jnp.einsum("td,sdgc->stgc", y, p["kv"])
            score = jnp.einsum("tgrc,sgc->grts", q, turn(k)) * c ** -0.5
            score = jnp.where(causal, 20 * jnp.tanh(score / 20), -1e4)
            mixed = jnp.einsum("grts,sgc->tgrc", jax.nn.softmax(score), v).reshape(length, heads, c)
            x = x + jnp.einsum("thc,hcd->td", mixed, p["o"])
            y = unit(x, 1 + p["middle"])
            x = x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"]
        return unit(x, 1 + w["last"]) @ w["words"].T

    def step(w, momentum, rate, texts):
        def loss(w):
            out = jax.vmap(lambda t: logits(w, t[:-1]))(texts)
            return jnp.mean(surprise(out, texts[:, 1:])) + 1e-4 * jnp.mean(jax.nn.logsumexp(out, -1) ** 2)
        value, g = jax.value_and_grad(loss)(w)
        way = tree(lambda m, g: jnp.sign(0.9 * m + 0.1 * g), momentum, g)
        w = tree(lambda w, s: w - 1e-2 * rate * (s + 0.1 * w), w, way)
        return w, tree(lambda m, g: 0.99 * m + 0.01 * g, momentum, g), value
    return step, (weights, weights, f32(), i32(2, length + 1))


def relative(n, m, buckets):
    """In which bucket the distance from each of n to each of m falls: near ones alone, far ones by logarithm."""
    far = jnp.arange(m)[None] - jnp.arange(n)[:, None]
    half = buckets // 2
    size = jnp.abs(far)
    log = half // 2 + (jnp.log(jnp.maximum(size, 1) / (half / 2)) / jnp.log(8.0) * half / 2).astype(jnp.int32)
    return jnp.where(far > 0, half, 0) + jnp.where(size < half // 2, size, jnp.minimum(log, half - 1))


def span_translator(layers=2, d=48, heads=4, vocabulary=256, buckets=16):
    """Text to text: an encoder and a decoder whose positions are learned biases of distance; factored moments."""
    attend = dict(q=f32(d, d), k=f32(d, d), v=f32(d, d), o=f32(d, d), g=f32(d))
    feed = dict(i=f32(d, 3 * d), o=f32(3 * d, d), g=f32(d))
    weights = dict(words=f32(vocabulary, d), near=f32(buckets, heads), ahead=f32(buckets, heads), last=f32(2, d),
                   encoder=[dict(a=attend, f=feed)] * layers, decoder=[dict(a=attend, x=attend, f=feed)] * layers)

    def look(p, x, memory, bias):
        b, n, _ = x.shape
        q, k, v = (y.reshape(b, -1, heads, d // heads).transpose(0, 2, 1, 3)
                   for y in (x @ p["q"], memory @ p["k"], memory @ p["v"]))
        score = q @ k.swapaxes(-1, -2) + bias
        score = score - lax.stop_gradient(jnp.max(score, -1, keepdims=True))
        share = jnp.exp(score)
        out = (share / jnp.sum(share, -1, keepdims=True)) @ v
        return out.transpose(0, 2, 1, 3).reshape(b, n, d) @ p["o"]

    def loss(w, source, target):
        x, y = (w["words"].at[t].get(mode="clip") for t in (source, target))
        n, m = source.shape[1], target.shape[1]
        both = w["near"][relative(n, n, buckets)].transpose(2, 0, 1)
        back = w["ahead"][relative(m, m, buckets)].transpose(2, 0, 1)
        back = jnp.where(jnp.arange(m)[:, None] >= jnp.arange(m), back, -1e4)
        feed = lambda p, x: x + jax.nn.relu(unit(x, p["g"]) @ p["i"]) @ p["o"]
        for p in w["encoder"]:
            z = unit(x, p["a"]["g"])
            x = feed(p["f"], x + look(p["a"], z, z, both))
        x = unit(x, w["last"][0])
        for p in w["decoder"]:
            z = unit(y, p["a"]["g"])
            y = y + look(p["a"], z, z, back)
            y = feed(p["f"], y + look(p["x"], unit(y, p["x"]["g"]), x, 0.0))
        out = unit(y, w["last"][1]) @ (w["words"].T * d ** -0.5)
        real = (target > 0).astype(jnp.float32)
        each = surprise(out[:, :-1], target[:, 1:])
        return jnp.sum(each * real[:, 1:]) / (jnp.sum(real[:, 1:]) + 1)

    def settle(w, g, rows, columns, rate):
        if w.ndim != 2:
            return w - rate * g / (jnp.sqrt(jnp.mean(g * g)) + 1e-3), rows, columns
        rows = 0.9 * jnp.abs(rows) + 0.1 * jnp.mean(g * g + 1e-12, 1)
        columns = 0.9 * jnp.abs(columns) + 0.1 * jnp.mean(g * g + 1e-12, 0)
        u = g * jnp.sqrt(jnp.mean(rows)) / (jnp.sqrt(rows)[:, None] * jnp.sqrt(columns) + 1e-8)
        u = u / jnp.maximum(1, jnp.sqrt(jnp.mean(u * u)))
        return w - rate * jnp.maximum(1e-3, jnp.sqrt(jnp.mean(w * w))) * u, rows, columns

    def step(w, rows, columns, rate, source, target):
        value, g = jax.value_and_grad(loss)(w, source, target)
        flat, form = jax.tree.flatten(w)
        new = [settle(*each, 1e-2 * rate) for each in zip(flat, jax.tree.leaves(g), rows, columns)]
        return form.unflatten([a for a, _, _ in new]), [b for _, b, _ in new], [c for _, _, c in new], value
    flat = jax.tree.leaves(weights)
    return step, (weights, [f32(*w.shape[:1]) for w in flat], [f32(*w.shape[-1:]) for w in flat], f32(),
                  i32(2, 24), i32(2, 20))


def dropped(key, x, keep=0.9):
    return jnp.where(jax.random.uniform(key, x.shape) < keep, x / keep, 0)


def dropout_bert(layers=3, d=64, heads=4, vocabulary=256):
    """Post-norm, with segments and positions, dropout drawn by threefry in each place; LAMB with its trust ratios."""
    layer = dict(qkv=f32(d, 3 * d), b=f32(3 * d), o=f32(d, d), ob=f32(d), n=f32(4, d), u=f32(d, 4 * d), ub=f32(4 * d),
                 v=f32(4 * d, d), vb=f32(d))
    weights = dict(words=f32(vocabulary, d), places=f32(32, d), segments=f32(2, d), n=f32(2, d),
                   layers=[layer] * layers,
                   pool=f32(d, d), next=f32(d, 2), guess=f32(d, d), bias=f32(vocabulary))

    def loss(w, key, text, segment, where, label, follows):
        b, n = text.shape
        keys = iter(jax.random.split(key, 1 + 3 * layers))
        x = w["words"].at[text].get(mode="clip") + w["places"][:n] + w["segments"].at[segment].get(mode="clip")
        x = dropped(next(keys), standard(x, *w["n"]))
        for p in w["layers"]:
            q, k, v = jnp.split((x @ p["qkv"] + p["b"]).reshape(b, n, heads, -1), 3, -1)
            share = jax.nn.softmax(jnp.einsum("bqhc,bkhc->bhqk", q, k) / (d // heads) ** 0.5)
            mix = jnp.einsum("bhqk,bkhc->bqhc", dropped(next(keys), share), v).reshape(b, n, d)
            x = standard(x + dropped(next(keys), mix @ p["o"] + p["ob"]), p["n"][0], p["n"][1])
            y = jax.nn.gelu(x @ p["u"] + p["ub"], approximate=False) @ p["v"] + p["vb"]
            x = standard(x + dropped(next(keys), y), p["n"][2], p["n"][3])
        hidden = jnp.take_along_axis(x, where[..., None], 1, mode="clip")
        words = jax.nn.gelu(hidden @ w["guess"]) @ w["words"].T + w["bias"]
        first = jnp.tanh(x[:, 0] @ w["pool"]) @ w["next"]
        return jnp.mean(surprise(words, label)) + jnp.mean(surprise(first, follows))

    def lamb(w, g, m, v):
        m, v = 0.9 * m + 0.1 * g, 0.999 * jnp.abs(v) + 0.001 * g * g
        u = m / (jnp.sqrt(v) + 1e-6) + 0.01 * w
        size, push = jnp.sqrt(jnp.sum(w * w)), jnp.sqrt(jnp.sum(u * u))
        trust = jnp.where((size > 0) & (push > 0), jnp.clip(size, 0.01, 10) / (push + 1e-9), 1)
        return w - 1e-3 * trust * u, m, v

    def step(w, m, v, key, *batch):
        value, g = jax.value_and_grad(loss)(w, key, *batch)
        new = tree(lamb, w, g, m, v)
        pick = lambda i: jax.tree.transpose(jax.tree.structure(w), jax.tree.structure((0, 0, 0)), new)[i]
        return pick(0), pick(1), pick(2), value
    return step, (weights, weights, weights, u32(2), i32(2, 32), i32(2, 32), i32(2, 5), i32(2, 5), i32(2))


def receptance(layers=3, d=48, vocabulary=256, length=32, batch=4):
    """Weighted sums of the past with decay, a scan for each layer, trained like a transformer; clipped descent."""
    layer = dict(mix=f32(5, d), k=f32(d, d), v=f32(d, d), r=f32(d, d), o=f32(d, d), decay=f32(d), bonus=f32(d),
                 key=f32(d, 3 * d), value=f32(3 * d, d), gate=f32(d, d), n=f32(4, d))
    weights = dict(words=f32(vocabulary, d), layers=[layer] * layers, out=f32(d, vocabulary), n=f32(2, d))

    def past(p, k, v):
        """The average of all values so far, weighed by exp(key) and by age; sums are kept relative to their largest."""
        slow = -jnp.exp(p["decay"])

        def one(state, kv):
            top, bottom, most = state
            k, v = kv
            now = jnp.maximum(most, k + p["bonus"])
            a, b = jnp.exp(most - now), jnp.exp(k + p["bonus"] - now)
            out = (a * top + b * v) / (a * bottom + b)
            new = jnp.maximum(most + slow, k)
            a, b = jnp.exp(most + slow - new), jnp.exp(k - new)
            return (a * top + b * v, a * bottom + b, new), out
        zero = jnp.zeros((batch, d))
        return lax.scan(one, (zero, zero, zero - 30), (k, v))[1]

    def loss(w, text):
        x = w["words"].at[text.T[:-1]].get(mode="clip")
        for p in w["layers"]:
            y = standard(x, p["n"][0], p["n"][1])
            shifted = jnp.concatenate([jnp.zeros((1, batch, d)), y[:-1]])
            a = [y + (shifted - y) * jax.nn.sigmoid(m) for m in p["mix"]]
            x = x + (jax.nn.sigmoid(a[2] @ p["r"]) * past(p, a[0] @ p["k"], a[1] @ p["v"])) @ p["o"]
            y = standard(x, p["n"][2], p["n"][3])
            shifted = jnp.pad(y, ((1, 0), (0, 0), (0, 0)))[:-1]
            a = [y + (shifted - y) * jax.nn.sigmoid(m) for m in p["mix"][3:]]
            x = x + jax.nn.sigmoid(a[1] @ p["gate"]) * (jnp.square(jax.nn.relu(a[0] @ p["key"])) @ p["value"])
        return jnp.mean(surprise(standard(x, *w["n"]) @ w["out"], text.T[1:]))

    def step(w, text):
        value, g = jax.value_and_grad(loss)(w, text)
        norm = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)))
        return tree(lambda w, g: w - 0.01 * g * jnp.minimum(1, 1 / (norm + 1e-6)), w, g), value
    return step, (weights, i32(batch, length + 1))


GRAPHS = {
    "grouped-gpt": grouped_gpt,
    "span-translator": span_translator,
    "dropout-bert": dropout_bert,
    "receptance": receptance,
}
