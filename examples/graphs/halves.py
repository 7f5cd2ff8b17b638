"""Training set, halves: networks in bfloat16, as most are that anybody runs.

Weights are bfloat16, or float32 of which a bfloat16 copy is multiplied; sums, softmax and normalisation are float32.
"""
import jax
import jax.numpy as jnp
from jax import lax

B, F = jnp.bfloat16, jnp.float32


def b16(*n):
    return jax.ShapeDtypeStruct(n, B)


def f32(*n):
    return jax.ShapeDtypeStruct(n, F)


def i32(*n):
    return jax.ShapeDtypeStruct(n, jnp.int32)


def u32(*n):
    return jax.ShapeDtypeStruct(n, jnp.uint32)


def norm(x, g):
    y = x.astype(F)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(x.dtype) * g


def softmax(x):
    return jax.nn.softmax(x.astype(F), -1).astype(x.dtype)


def cross(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits.astype(F)), labels[..., None], -1))


def each(f, *trees):
    return jax.tree.map(f, *trees)


def conv(x, w, stride=1, groups=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    feature_group_count=groups)


def residual(widths=(16, 32, 64), n=8, size=32, classes=10):
    """A residual network with batch normalisation and ReLU; momentum step on weights of 16 bits."""
    ins = (widths[0],) + widths[:-1]
    w = dict(first=b16(3, 3, 3, widths[0]), last=b16(widths[-1], classes),
             block=[dict(a=b16(3, 3, i, o), b=b16(3, 3, o, o), skip=b16(1, 1, i, o), g=b16(4, o))
                    for i, o in zip(ins, widths)])

    def batch(x, g, b):
        y = x.astype(F)
        m, v = jnp.mean(y, (0, 1, 2)), jnp.var(y, (0, 1, 2))
        return ((y - m) * lax.rsqrt(v + 1e-5)).astype(B) * g + b

    def loss(w, x, y):
        x = jax.nn.relu(conv(x, w["first"]))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        for k, p in enumerate(w["block"]):
            h = jax.nn.relu(batch(conv(x, p["a"], 1 + (k > 0)), p["g"][0], p["g"][1]))
            x = jax.nn.relu(batch(conv(h, p["b"]), p["g"][2], p["g"][3]) + conv(x, p["skip"], 1 + (k > 0)))
        x = lax.reduce_window(x, 0.0, lax.add, (1, 4, 4, 1), (1, 4, 4, 1), "VALID") / 16
        return cross(x.reshape(n, -1, x.shape[-1]).mean(1) @ w["last"], y)

    def step(w, m, x, y):
        g = jax.grad(loss)(w, x, y)
        m = each(lambda a, b: a * B(0.9) + jnp.clip(b, -1, 1), m, g)
        return each(lambda p, a: p - B(0.01) * a, w, m), m
    return step, (w, w, b16(n, size, size, 3), i32(n)), 0, 1


def translator(L=3, D=96, H=6, V=600, T=40, n=4):
    """Encoder and decoder, master weights in 32 bits, GELU, dropout, clipped by the norm; AdamW step."""
    def block(crossed):
        w = dict(qkv=f32(D, 3 * D), o=f32(D, D), up=f32(D, 4 * D), down=f32(4 * D, D), g=f32(3, D))
        return w | dict(q=f32(D, D), kv=f32(D, 2 * D), p=f32(D, D)) if crossed else w
    w = dict(emb=f32(V, D), pos=f32(T, D), enc=[block(False) for _ in range(L)], dec=[block(True) for _ in range(L)])

    def heads(x):
        return x.reshape(n, T, H, D // H)

    def attend(q, k, v, mask):
        a = jnp.einsum("bqhd,bkhd->bhqk", heads(q), heads(k)) * B((D // H) ** -0.5)
        return jnp.einsum("bhqk,bkhd->bqhd", softmax(jnp.where(mask, a, B(-1e9))), heads(v)).reshape(n, T, D)

    def loss(w, a, b, key):
        w = each(lambda p: p.astype(B), w)
        keys = iter(jax.random.split(key, 4 * L))
        drop = lambda x: jnp.where(jax.random.bernoulli(next(keys), 0.9, x.shape), x / B(0.9), B(0))
        causal = jnp.tril(jnp.ones((T, T), bool))
        x = w["emb"][a] + w["pos"]
        for p in w["enc"]:
            x = x + drop(attend(*jnp.split(norm(x, p["g"][0]) @ p["qkv"], 3, -1), (a > 0)[:, None, None]) @ p["o"])
            x = x + drop(jax.nn.gelu(norm(x, p["g"][1]) @ p["up"]) @ p["down"])
        y = w["emb"][b] + w["pos"]
        for p in w["dec"]:
            y = y + drop(attend(*jnp.split(norm(y, p["g"][0]) @ p["qkv"], 3, -1), causal) @ p["o"])
            k, v = jnp.split(x @ p["kv"], 2, -1)
            y = y + attend(norm(y, p["g"][2]) @ p["q"], k, v, (a > 0)[:, None, None]) @ p["p"]
            y = y + drop(jax.nn.gelu(norm(y, p["g"][1]) @ p["up"]) @ p["down"])
        return cross((y @ w["emb"].T)[:, :-1], b[:, 1:])

    def step(w, m, v, a, b, key):
        g = jax.grad(loss)(w, a, b, key)
        size = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
        g = each(lambda x: x * jnp.minimum(1.0, 1 / (size + 1e-6)), g)
        m = each(lambda s, x: 0.9 * s + 0.1 * x, m, g)
        v = each(lambda s, x: 0.98 * s + 0.02 * x * x, v, g)
        return each(lambda p, s, q: p - 1e-3 * (s / (jnp.sqrt(q) + 1e-8) + 0.01 * p), w, m, v), m, v
    return step, (w, w, w, i32(n, T), i32(n, T), u32(2)), 0, 1, 2


def chat(L=4, D=192, H=6, G=2, V=8000, T=128, words=6):
    """Grouped heads with a cache; draws words from the 50 likeliest, one after the other."""
    d = D // H
    w = dict(emb=b16(V, D), layer=dict(q=b16(L, D, H, d), k=b16(L, D, G, d), v=b16(L, D, G, d), o=b16(L, H, d, D),
                                       gate=b16(L, D, 3 * D), up=b16(L, D, 3 * D), down=b16(L, 3 * D, D),
                                       g=b16(L, 2, D)))

    def turned(x, at):
        angle = at * 1e4 ** (-jnp.arange(0, d, 2) / d)
        a, b = jnp.split(x.astype(F), 2, -1)
        c, s = jnp.cos(angle), jnp.sin(angle)
        return jnp.concatenate([a * c - b * s, a * s + b * c], -1).astype(B)

    def run(w, keys, values, word, at, key):
        def layer(x, s):
            p, k, v = s
            h = norm(x, p["g"][0])
            q = turned(jnp.einsum("e,ehd->hd", h, p["q"]), at_now[0]).reshape(G, H // G, d)
            k = k.at[at_now[0]].set(turned(jnp.einsum("e,ehd->hd", h, p["k"]), at_now[0]))
            v = v.at[at_now[0]].set(jnp.einsum("e,ehd->hd", h, p["v"]))
            a = jnp.einsum("grd,tgd->grt", q, k) * B(d ** -0.5)
            a = softmax(jnp.where(jnp.arange(T) <= at_now[0], a, B(-1e9)))
            x = x + jnp.einsum("hd,hde->e", jnp.einsum("grt,tgd->grd", a, v).reshape(H, d), p["o"])
            h = norm(x, p["g"][1])
            return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"], (k, v)
        at_now = [at]

        def word_of(c, key):
            word, keys, values, at = c
            at_now[0] = at
            x, (keys, values) = lax.scan(layer, w["emb"][word], (w["layer"], keys, values))
            top, which = lax.top_k(w["emb"] @ x, 50)
            word = which[jax.random.categorical(key, top.astype(F) / 0.7)]
            return (word, keys, values, at + 1), word
        c, text = lax.scan(word_of, (word, keys, values, at), jax.random.split(key, words))
        return text, c[1], c[2]
    return run, (w, b16(L, T, G, d), b16(L, T, G, d), i32(), i32(), u32(2)), 1, 2


def painter(n=2, size=24, C=32):
    """One step of a sampler: a small U-Net with group normalisation, attention, and pictures made larger."""
    w = dict(first=b16(3, 3, 4, C), a=b16(3, 3, C, C), down=b16(3, 3, C, 2 * C), mid=b16(3, 3, 2 * C, 2 * C),
             qkv=b16(2 * C, 6 * C), o=b16(2 * C, 2 * C), up=b16(3, 3, 2 * C, C), join=b16(3, 3, 2 * C, C),
             last=b16(3, 3, C, 4), time=b16(64, 2 * C))

    def group(x):
        y = x.astype(F).reshape(n, -1, 8, x.shape[-1] // 8)
        m, v = jnp.mean(y, (1, 3), keepdims=True), jnp.var(y, (1, 3), keepdims=True)
        return jax.nn.silu(((y - m) * lax.rsqrt(v + 1e-5)).astype(B).reshape(x.shape))

    def run(w, x, t, noise):
        angle = t[:, None] * jnp.exp(-jnp.arange(32) / 4)
        when = jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1).astype(B) @ w["time"]
        a = conv(group(conv(x, w["first"])), w["a"])
        h = conv(group(conv(group(a), w["down"], 2) + when[:, None, None]), w["mid"])
        q, k, v = jnp.split(h.reshape(n, -1, 2 * C) @ w["qkv"], 3, -1)
        h = h + (softmax(q @ k.swapaxes(1, 2) * B((2 * C) ** -0.5)) @ v @ w["o"]).reshape(h.shape)
        h = conv(jax.image.resize(group(h), (n, size, size, 2 * C), "bilinear"), w["up"])
        e = conv(group(conv(jnp.concatenate([h, a], -1), w["join"])), w["last"])
        s = jax.nn.sigmoid(t - 3)[:, None, None, None].astype(B)
        clean = jnp.clip((x - jnp.sqrt(s) * e) / jnp.sqrt(1 - s + B(0.01)), -1, 1)
        return clean * B(0.9) + e * B(0.3) + noise * B(0.1)
    return run, (w, b16(n, size, size, 4), f32(n), b16(n, size, size, 4))


def experts(n=256, D=96, E=8, H=192, room=80):
    """Words go to two of eight experts, each with room for some; a step by signs."""
    w = dict(router=b16(D, E), up=b16(E, D, H), down=b16(E, H, D), out=b16(D, 64))

    def loss(w, x, y):
        p = softmax(x @ w["router"])
        top, which = lax.top_k(p, 2)
        chosen = jax.nn.one_hot(which, E, dtype=B)
        place = jnp.cumsum(chosen.reshape(2 * n, E), 0).reshape(n, 2, E) - B(1)
        kept = chosen * (place < room)
        seat = jax.nn.one_hot(place.astype(jnp.int32), room, dtype=B) * kept[..., None]
        h = jnp.einsum("nkec,nd->ecd", seat, x)
        h = jnp.einsum("ech,ehd->ecd", jax.nn.relu(jnp.einsum("ecd,edh->ech", h, w["up"])) ** 2, w["down"])
        h = x + jnp.einsum("nkec,nk,ecd->nd", seat, top, h)
        return cross(h @ w["out"], y) + 0.01 * E * jnp.sum(jnp.mean(p.astype(F), 0) * jnp.mean(kept.astype(F), (0, 1)))

    def step(w, m, x, y):
        g = jax.grad(loss)(w, x, y)
        new = each(lambda p, a, b: p - B(1e-3) * jnp.sign(a * B(0.9) + b * B(0.1)), w, m, g)
        return new, each(lambda a, b: a * B(0.99) + b * B(0.01), m, g)
    return step, (w, w, b16(n, D), i32(n)), 0, 1


def listener(n=4, T=200, bands=40, D=96, V=64):
    """Sound: convolutions that halve time, a gated recurrence both ways, labels; Adam step in 16 bits."""
    w = dict(c1=b16(5, bands, D), c2=b16(5, D, D), gate=[dict(x=b16(D, 3 * D), h=b16(D, 3 * D)) for _ in range(2)],
             out=b16(2 * D, V), b=b16(V))

    def halve(x, c):
        y = lax.conv_general_dilated(x, c, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        return jnp.minimum(jax.nn.relu(y), 20)

    def recur(x, p):
        def cell(h, z):
            a, b = z, h @ p["h"]
            r, u = jnp.split(jax.nn.sigmoid(a[:, :2 * D] + b[:, :2 * D]), 2, -1)
            h = u * h + (1 - u) * jnp.tanh(a[:, 2 * D:] + r * b[:, 2 * D:])
            return h, h
        return lax.scan(cell, jnp.zeros((n, D), B), (x @ p["x"]).swapaxes(0, 1))[1].swapaxes(0, 1)

    def loss(w, x, y):
        x = halve(halve(x, w["c1"]), w["c2"])
        x = jnp.concatenate([recur(x, w["gate"][0]), recur(x[:, ::-1], w["gate"][1])[:, ::-1]], -1)
        return cross(x @ w["out"] + w["b"], y)

    def step(w, m, v, x, y):
        g = jax.grad(loss)(w, x, y)
        m = each(lambda s, a: s * B(0.9) + a * B(0.1), m, g)
        v = each(lambda s, a: jnp.maximum(s * B(0.99), jnp.abs(a)), v, g)
        return each(lambda p, a, s: p - B(1e-3) * a / (s + B(1e-6)), w, m, v), m, v
    return step, (w, w, w, b16(n, T, bands), i32(n, T // 4)), 0, 1, 2


def mixer(n=8, P=64, D=96, L=4, classes=20):
    """Patches and channels mixed in turn, labels smoothed; momentum step."""
    w = dict(emb=b16(48, D), out=b16(D, classes),
             layer=[dict(p1=b16(P, 2 * P), p2=b16(2 * P, P), c1=b16(D, 3 * D), c2=b16(3 * D, D), g=b16(2, D))
                    for _ in range(L)])

    def loss(w, x, y):
        x = x @ w["emb"]
        for p in w["layer"]:
            h = jax.nn.gelu(jnp.einsum("npd,pq->nqd", norm(x, p["g"][0]), p["p1"]))
            x = x + jnp.einsum("nqd,qp->npd", h, p["p2"])
            x = x + jax.nn.leaky_relu(norm(x, p["g"][1]) @ p["c1"], 0.1) @ p["c2"]
        q = jax.nn.log_softmax((jnp.max(x, 1) @ w["out"]).astype(F))
        return -jnp.mean(0.9 * jnp.take_along_axis(q, y[:, None], 1)) - 0.1 * jnp.mean(q)

    def step(w, m, x, y):
        m = each(lambda a, g: a * B(0.9) + g, m, jax.grad(loss)(w, x, y))
        return each(lambda p, a: p - B(0.05) * a, w, m), m
    return step, (w, w, b16(n, P, 48), i32(n)), 0, 1


def critic(n=256, S=24, A=6, D=128):
    """A policy with clipped ratios and a clipped value, entropy, 16 bits throughout; a step by signs."""
    w = dict(a=[b16(S, D), b16(D, D), b16(D, A)], v=[b16(S, D), b16(D, D), b16(D, 1)], std=b16(A))

    def net(ws, x):
        for p in ws[:-1]:
            x = jax.nn.relu(x @ p)
        return x @ ws[-1]

    def loss(w, s, a, old, adv, ret, val):
        mean, std = jnp.tanh(net(w["a"], s)), jnp.exp(jnp.clip(w["std"], -5, 2))
        logp = -jnp.sum(((a - mean) / std) ** 2 / 2 + jnp.log(std), -1)
        ratio = jnp.exp(jnp.clip(logp - old, -10, 10))
        v = net(w["v"], s)[:, 0]
        near = val + jnp.clip(v - val, B(-0.2), B(0.2))
        gain = jnp.minimum(ratio * adv, jnp.clip(ratio, B(0.8), B(1.2)) * adv)
        off = jnp.maximum((v - ret) ** 2, (near - ret) ** 2)
        return jnp.mean((off / 2 - gain).astype(F)) - 0.01 * jnp.sum(jnp.log(std).astype(F))

    def step(w, m, *data):
        m = each(lambda a, g: a * B(0.9) + jnp.clip(g, -1, 1), m, jax.grad(loss)(w, *data))
        return each(lambda p, a: p - B(1e-3) * jnp.sign(a), w, m), m
    return step, (w, w, b16(n, S), b16(n, A), b16(n), b16(n), b16(n), b16(n)), 0, 1


def finder(n=96, D=64, words=24, V=2000):
    """Questions and passages as means of words, scored against each other, the hardest kept; Adagrad step."""
    w = dict(emb=b16(V, D), q=b16(D, D), p=b16(D, D))

    def loss(w, a, b):
        pool = lambda t: jnp.max(jnp.where((t > 0)[..., None], w["emb"][t], B(-1e4)), 1)
        q, p = jnp.tanh(pool(a) @ w["q"]), jnp.tanh(pool(b) @ w["p"])
        score = q @ p.T * B(0.5)
        own = jnp.diagonal(score)
        hard = lax.top_k(jnp.where(jnp.eye(n, dtype=bool), B(-1e4), score), 8)[0]
        return jnp.mean(jnp.maximum(hard - own[:, None] + B(1), B(0)).astype(F)), own

    def step(w, s, a, b):
        g, own = jax.grad(loss, has_aux=True)(w, a, b)
        s = each(lambda x, d: x + jnp.square(d.astype(F)), s, g)
        return each(lambda p, d, x: p - (0.1 * d / (jnp.sqrt(x) + 1e-6)).astype(B), w, g, s), s, own
    return step, (w, each(lambda p: f32(*p.shape), w), i32(n, words), i32(n, words)), 0, 1


def teller(L=3, D=256, H=4, V=6000, T=96, words=10):
    """Weights kept as PyTorch keeps them, results first; the likeliest word, one after the other, till one ends it."""
    d = D // H
    w = dict(emb=b16(V, D), pos=b16(T, D), g=b16(D), layers=[
        dict(qkv=b16(3 * D, D), o=b16(D, D), up=b16(4 * D, D), down=b16(D, 4 * D), bias=b16(4 * D), g=b16(2, D))
        for _ in range(L)])
    linear = lambda x, m: jnp.einsum("i,oi->o", x, m)

    def run(w, keys, values, word, at):
        def more(c):
            return (c[-1] < words) & (c[0] != 1)

        def next_word(c):
            word, keys, values, text, n = c
            x = w["emb"][word] + w["pos"][at + n]
            for i, p in enumerate(w["layers"]):
                q, k, v = jnp.split(linear(norm(x, p["g"][0]), p["qkv"]), 3)
                keys = lax.dynamic_update_slice(keys, k.reshape(1, 1, H, d), (i, at + n, 0, 0))
                values = lax.dynamic_update_slice(values, v.reshape(1, 1, H, d), (i, at + n, 0, 0))
                a = jnp.einsum("hd,thd->ht", q.reshape(H, d), keys[i]) * B(d ** -0.5)
                a = softmax(jnp.where(jnp.arange(T) <= at + n, a, B(-1e9)))
                x = x + linear(jnp.einsum("ht,thd->hd", a, values[i]).reshape(D), p["o"])
                x = x + linear(jax.nn.gelu(linear(norm(x, p["g"][1]), p["up"]) + p["bias"]), p["down"])
            word = jnp.argmax(linear(norm(x, w["g"]), w["emb"])).astype(jnp.int32)
            return word, keys, values, text.at[n].set(word), n + 1
        return lax.while_loop(more, next_word, (word, keys, values, jnp.zeros(words, jnp.int32), 0))[:4]
    return run, (w, b16(L, T, H, d), b16(L, T, H, d), i32(), i32()), 1, 2


def drummer(D=384, V=128, steps=24):
    """A recurrent network of two layers with gates that plays on by itself, from a seed of its own; scores summed."""
    w = dict(emb=b16(V, D), cells=[dict(x=b16(D, 3 * D), h=b16(D, 3 * D), b=b16(3 * D)) for _ in range(2)],
             out=b16(D, V))

    def run(w, states, note, key):
        def play(c, key):
            states, note, score = c
            x, kept = w["emb"][note], []
            for p, h in zip(w["cells"], states):
                r, z, n = jnp.split(x @ p["x"] + p["b"], 3)
                a, b, m = jnp.split(h @ p["h"], 3)
                z = jax.nn.sigmoid(z + b)
                x = (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + a) * m) + z * h
                kept.append(x)
            chances = jax.nn.log_softmax((x @ w["out"]).astype(F))
            note = jax.random.categorical(key, chances)
            return (kept, note, score + chances[note]), note
        return lax.scan(play, (states, note, jnp.float32(0)), jax.random.split(key, steps))
    return run, (w, [b16(D), b16(D)], i32(), u32(2))


GRAPHS = {f"half-{f.__name__}": f for f in (residual, translator, chat, painter, experts, listener, mixer, critic,
                                            finder, teller, drummer)}
