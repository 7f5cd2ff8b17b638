"""Training set, halves: more networks in bfloat16, most of them whole training steps, for their many kinds of product.

Which dimensions are summed, how many are shared, how odd the sizes are, and what the result becomes: all of it differs.
"""
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from halves import B, F, b16, cross, each, f32, i32, norm, softmax, u32

wide = partial(jnp.einsum, preferred_element_type=F)
cast = partial(each, lambda p: p.astype(B))


def turned(x, at):
    """Rotary positions of [..., time, heads, size]."""
    angle = jnp.asarray(at)[..., None, None] * 1e4 ** (-jnp.arange(0, x.shape[-1], 2) / x.shape[-1])
    (a, b), c, s = jnp.split(x.astype(F), 2, -1), jnp.cos(angle), jnp.sin(angle)
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1).astype(x.dtype)


def plain(x):
    """Normalised by mean and variance, without weights."""
    y = x.astype(F)
    return norm(y - jnp.mean(y, -1, keepdims=True), 1).astype(x.dtype)


def adam(w, m, v, g, rate=1e-3, fade=0.0):
    m = each(lambda s, x: (s.astype(F) * 0.9 + x.astype(F) * 0.1).astype(s.dtype), m, g)
    v = each(lambda s, x: s * 0.99 + jnp.square(x.astype(F)) * 0.01, v, g)
    return each(lambda p, s, q: ((1 - rate * fade) * p - rate * s.astype(F) / (jnp.sqrt(jnp.abs(q)) + 1e-6)
                                 ).astype(p.dtype), w, m, v), m, v


def trainer(L=3, D=96, H=6, G=2, V=500, T=50, n=3, W=250):
    """Language model: grouped heads, rotary positions, SwiGLU, tied words; clipped AdamW on weights of 32 bits."""
    d, r = D // H, H // G
    w = dict(emb=f32(V, D), g=f32(D), layers=[dict(
        q=f32(D, G, r, d), kv=f32(2, D, G, d), o=f32(G, r, d, D), gate=f32(D, W), up=f32(D, W), down=f32(W, D),
        g=f32(2, D)) for _ in range(L)])

    def loss(w, text):
        w, at = cast(w), jnp.arange(T)
        x = w["emb"][text[:, :-1]]
        for p in w["layers"]:
            h = norm(x, p["g"][0])
            q = jnp.einsum("btm,mgrd->btgrd", h, p["q"])
            q = turned(q.reshape(n, T, H, d), at).reshape(q.shape)
            k, v = jnp.einsum("btm,cmgd->cbtgd", h, p["kv"])
            a = wide("bqgrd,bkgd->bgrqk", q, turned(k, at)) * d ** -0.5
            a = softmax(jnp.where(at[:, None] >= at, a, -1e9)).astype(B)
            x = x + jnp.einsum("bqgrd,grdm->bqm", jnp.einsum("bgrqk,bkgd->bqgrd", a, v), p["o"])
            h = norm(x, p["g"][1])
            x = x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
        logits = wide("btm,vm->btv", norm(x, w["g"]), w["emb"])
        return cross(logits, text[:, 1:]) + 1e-4 * jnp.mean(jax.nn.logsumexp(logits, -1) ** 2)

    def step(w, m, v, count, text):
        l, g = jax.value_and_grad(loss)(w, text)
        size = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(g)))
        g = each(lambda x: x / jnp.maximum(size, 1.0), g)
        m = each(lambda s, x: s + 0.1 * (x - s), m, g)
        v = each(lambda s, x: s + 0.05 * (x * x - s), v, g)
        rate = 3e-4 * jnp.minimum((count.astype(F) + 1) / 100, 0.5 + 0.5 * jnp.cos(count.astype(F) / 1e4))
        new = lambda p, s, q: p - rate * (s / (jnp.sqrt(jnp.abs(q)) + 1e-8) + (0.1 * p if p.ndim > 1 else 0))
        return each(new, w, m, v), m, v, count + 1, l
    return step, (w, w, w, i32(), i32(n, T + 1)), 0, 1, 2


def latent(L=4, D=112, H=4, V=384, T=48, n=2, R=40, S=56, d=24, e=8, W=160, words=8):
    """Keys and values from few numbers a word, computed again on the way back; step by signs, then 8 words written."""
    w = dict(emb=b16(V, D), out=b16(D, V), layers=dict(
        low=b16(L, D, R + e), key=b16(L, R, H, d), value=b16(L, R, H, d), qa=b16(L, D, S), qb=b16(L, S, H, d + e),
        o=b16(L, H, d, D), up=b16(L, D, 2 * W), down=b16(L, W, D), g=b16(L, 2, D), c=b16(L, R)))
    scale = B((d + e) ** -0.5)
    query = lambda h, p: jnp.split(jnp.einsum("...s,shd->...hd", h @ p["qa"], p["qb"]), [d], -1)

    def feed(x, p):
        a, b = jnp.split(norm(x, p["g"][1]) @ p["up"], 2, -1)
        return x + (jax.nn.gelu(a) * b) @ p["down"]

    def loss(w, text):
        at = jnp.arange(T)

        @jax.checkpoint
        def layer(x, p):
            h = norm(x, p["g"][0])
            c, r = jnp.split(h @ p["low"], [R], -1)
            c, r, (q, s) = norm(c, p["c"]), turned(r[:, :, None], at)[:, :, 0], query(h, p)
            k, v = (jnp.einsum("btr,rhd->bhtd", c, p[name]) for name in ("key", "value"))
            a = jnp.einsum("bqhd,bhkd->bhqk", q, k) + jnp.einsum("bqhe,bke->bhqk", turned(s, at), r)
            a = softmax(jnp.where(at[:, None] >= at, a * scale, B(-1e9)))
            return feed(x + jnp.einsum("bhqd,hdm->bqm", a @ v, p["o"]), p), None
        return cross(lax.scan(layer, w["emb"][text[:, :-1]], w["layers"])[0] @ w["out"], text[:, 1:])

    def write(w, word):
        def layer(c, s):
            (x, at), (p, cache), h = c, s, norm(c[0], s[0]["g"][0])
            c, r = jnp.split(h @ p["low"], [R])
            new = jnp.concatenate([norm(c, p["c"]), turned(r[None], at)[0]])
            cache, (q, s) = lax.dynamic_update_slice(cache, new[None], (at, 0)), query(h, p)
            q = jnp.concatenate([jnp.einsum("hd,rhd->hr", q, p["key"]), turned(s, at)], -1)
            a = softmax(jnp.where(jnp.arange(words) <= at, jnp.einsum("he,te->ht", q, cache) * scale, B(-1e9)))
            x = x + jnp.einsum("hd,hdm->m", jnp.einsum("hr,rhd->hd", a @ cache[:, :R], p["value"]), p["o"])
            return (feed(x, p), at), cache

        def more(c, at):
            (x, _), caches = lax.scan(layer, (w["emb"][c[0]], at), (w["layers"], c[1]))
            word = jnp.argmax(x @ w["out"]).astype(jnp.int32)
            return (word, caches), word
        return lax.scan(more, (word, jnp.zeros((L, words, R + e), B)), jnp.arange(words))[1]

    def step(w, m, text):
        g = jax.grad(loss)(w, text)
        w = each(lambda p, s, x: p - B(1e-3) * jnp.sign(s * B(0.9) + x * B(0.1)), w, m, g)
        return w, each(lambda s, x: s * B(0.98) + x * B(0.02), m, g), write(w, text[0, 0])
    return step, (w, w, i32(n, T + 1)), 0, 1


def router(L=2, G=3, S=50, M=80, H=4, E=6, W=136, room=17, V=100):
    """Words in groups, each sent to two of six gated experts with little room, one expert for all; Adam step."""
    d = M // H
    w = dict(emb=f32(V, M), out=f32(M, V), layers=[
        dict(qkv=f32(3, H, M, d), o=f32(H, d, M), to=f32(M, E), up=f32(2, E, M, W), down=f32(E, W, M),
             all=f32(M, 100), back=f32(100, M), g=f32(2, M)) for _ in range(L)])

    def mixed(x, p):
        chance = jax.nn.softmax(wide("gsm,me->gse", x, p["to"]), -1)
        top, which = lax.top_k(chance, 2)
        chosen = jax.nn.one_hot(which, E)
        place = jnp.cumsum(chosen.swapaxes(1, 2).reshape(G, 2 * S, E), 1).reshape(G, 2, S, E).swapaxes(1, 2) - 1
        seat = jax.nn.one_hot(place.astype(jnp.int32), room) * chosen[..., None]
        share = jnp.einsum("gsk,gskec->gsec", top / jnp.sum(top, -1, keepdims=True), seat).astype(B)
        h = jnp.einsum("gsec,gsm->egcm", (share > 0).astype(B), x)
        a, b = (jnp.einsum("egcm,emf->egcf", h, u) for u in p["up"])
        y = jnp.einsum("egcf,efm->egcm", jax.nn.silu(a) * b, p["down"])
        even = E * jnp.sum(jnp.mean(chance, (0, 1)) * jnp.mean(chosen[:, :, 0], (0, 1)))
        return jnp.einsum("gsec,egcm->gsm", share, y), even

    def loss(w, text, after):
        w, even = cast(w), 0.0
        x = w["emb"][text]
        for p in w["layers"]:
            q, k, v = jnp.einsum("gsm,chmd->chgsd", norm(x, p["g"][0]), p["qkv"])
            a = softmax(jnp.einsum("hgqd,hgkd->hgqk", q, k) * B(d ** -0.5))
            x = x + jnp.einsum("hgqk,hgkd,hdm->gqm", a, v, p["o"])
            h = norm(x, p["g"][1])
            y, e = mixed(h, p)
            x, even = x + y + jax.nn.relu(h @ p["all"]) @ p["back"], even + e
        return cross(x @ w["out"], after) + 0.01 * even
    step = lambda w, m, v, text, after: adam(w, m, v, jax.grad(loss)(w, text, after))
    return step, (w, each(lambda p: b16(*p.shape), w), w, i32(G, S), i32(G, S)), 0, 1, 2


def adapter(L=3, D=120, H=5, n=4, size=35, patch=5, rank=4, classes=17):
    """Pictures by a transformer that stays as it is; thin additions learn: beside it, within it, of its directions."""
    d, T = D // H, (size // patch) ** 2 + 1
    w = dict(emb=b16(D, 3, patch, patch), pos=b16(T, D), layers=[
        dict(qkv=b16(3 * D, D), o=b16(D, D), up=b16(3 * D, D), bias=b16(3 * D), down=b16(D, 3 * D), g=b16(2, D))
        for _ in range(L)])
    a = dict(first=f32(D), head=f32(classes, D), layers=[
        dict(qa=f32(rank, D), qb=f32(D, rank), va=f32(rank, D), vb=f32(D, rank), ua=f32(8, D), ub=f32(3 * D, 8),
             da=f32(3, 3 * D), db=f32(D, 3), size=f32(D)) for _ in range(L)])
    linear = lambda x, m: jnp.einsum("nti,oi->nto", x, m)

    def loss(a, w, photos, labels, key):
        a = cast(a)
        x = photos.reshape(n, 3, size // patch, patch, size // patch, patch)
        x = jnp.einsum("nchiwj,dcij->nhwd", x, w["emb"]).reshape(n, T - 1, D)
        x = jnp.concatenate([jnp.broadcast_to(a["first"], (n, 1, D)), x], 1) + w["pos"]
        for p, b, key in zip(w["layers"], a["layers"], jax.random.split(key, L)):
            h = plain(x) * p["g"][0]
            thin = jnp.where(jax.random.bernoulli(key, 0.9, h.shape), h / B(0.9), B(0))
            q, k, v = jnp.split(linear(h, p["qkv"]), 3, -1)
            q, v = (y + B(2) * linear(linear(thin, b[i + "a"]), b[i + "b"]) for y, i in ((q, "q"), (v, "v")))
            q, k, v = (y.reshape(n, T, H, d).transpose(0, 2, 1, 3) for y in (q, k, v))
            y = (softmax(q @ k.swapaxes(-1, -2) * B(d ** -0.5)) @ v).transpose(0, 2, 1, 3)
            x = x + linear(y.reshape(n, T, D), p["o"])
            h = jax.nn.gelu(linear(plain(x) * p["g"][1], p["up"] + b["ub"] @ b["ua"]) + p["bias"])
            m = (p["down"] + b["db"] @ b["da"]).astype(F)
            m = m * lax.rsqrt(jnp.sum(m * m, 1, keepdims=True) + 1e-6) * b["size"][:, None].astype(F)
            x = x + linear(h, m.astype(B))
        return cross(wide("nd,cd->nc", plain(x)[:, 0], a["head"]), labels)

    def step(a, m, v, w, *data):
        return adam(a, m, v, jax.grad(loss)(a, w, *data), fade=0.1)
    return step, (a, a, a, w, b16(n, 3, size, size), i32(n), u32(2)), 0, 1, 2


def matcher(n=250, D=100, C=48, words=12, V=1000, kept=384, r=17):
    """Photos and captions, each against all others and those of the past, a slow copy of the weights; momentum step."""
    w = dict(photo=dict(a=b16(C, 64), b=b16(64, C), left=b16(C, r), right=b16(C, r), out=b16(r, r, D)),
             text=dict(emb=b16(V, D), look=b16(3, D), mix=b16(3, D, D), up=b16(D, 250), down=b16(250, D)), heat=b16())
    unit = lambda x: norm(x, B(D ** -0.5))

    def photo(p, x):
        x = x + jnp.einsum("nhwd,dc->nhwc", jax.nn.relu(jnp.einsum("nhwc,cd->nhwd", x, p["a"])), p["b"])
        both = jnp.einsum("nhwi,nhwj->nij", x @ p["left"], x @ p["right"]) / B(9)
        return unit(jnp.einsum("nij,ijd->nd", jnp.tanh(both), p["out"]))

    def text(p, t):
        x = p["emb"][t]
        a = softmax(jnp.where((t > 0)[:, None], jnp.einsum("ntd,kd->nkt", x, p["look"]), B(-1e4)))
        x = jnp.einsum("nkd,kde->ne", a @ x, p["mix"])
        return unit(x + jax.nn.gelu(plain(x) @ p["up"]) @ p["down"])

    def loss(w, slow, past, photos, captions):
        a, b, old = photo(w["photo"], photos), text(w["text"], captions), text(slow["text"], captions)
        heat, own = jnp.exp(jnp.clip(w["heat"].astype(F) + 2.5, 0, 4.6)), jnp.arange(n)
        both = wide("nd,md->nm", a, b) * heat
        far = jnp.concatenate([wide("nd,md->nm", a, old), wide("nd,dk->nk", a, past)], 1) * heat
        return cross(both, own) + cross(both.T, own) + cross(far, own), old

    def step(w, m, slow, past, photos, captions):
        g, old = jax.grad(loss, has_aux=True)(w, slow, past, photos, captions)
        m = each(lambda s, x: s * B(0.9) + x, m, g)
        w = each(lambda p, s, x: p - B(0.03) * (x + s * B(0.9)), w, m, g)
        slow = each(lambda s, p: (0.99 * s.astype(F) + 0.01 * p.astype(F)).astype(B), slow, w)
        return w, m, slow, jnp.concatenate([past[:, n:], old.T], 1)
    return step, (w, w, w, b16(D, kept), b16(n, 3, 3, C), i32(n, words)), 0, 1, 2, 3


def recurrent(T=24, n=16, D=100, H=4, V=250):
    """Words read by gates, then by weights that change and fade in reading; RMSProp step, states kept for the next."""
    d = D // H
    w = dict(emb=b16(V, D), out=b16(D, V), g=b16(2, D), lstm=dict(x=b16(D, 4, D), h=b16(D, 4, D), b=b16(4, 1, D)),
             fast=dict(q=b16(D, H, 17), k=b16(D, H, 17), v=b16(D, H, d), a=b16(H, d, d), b=b16(D, H), o=b16(H, d, D)))

    def gates(p, x, state):
        def cell(s, z):
            i, f, o, u = z + jnp.einsum("nd,dgk->gnk", s[0], p["h"])
            c = jax.nn.sigmoid(f + 1) * s[1] + jax.nn.sigmoid(i) * jnp.tanh(u)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        return lax.scan(cell, state, jnp.einsum("tnd,dgk->tgnk", x, p["x"]) + p["b"])

    def fast(p, x, state):
        q, k, v = (jnp.einsum("tnd,dhk->tnhk", x, p[name]) for name in "qkv")
        a = jax.nn.sigmoid(jnp.einsum("tnhi,hij->tnhj", x.reshape(T, n, H, d), p["a"]) + 3)[..., None, :]
        b = jax.nn.sigmoid(jnp.einsum("tnd,dh->tnh", x, p["b"]))[..., None]

        def read(s, z):
            q, k, v, a, b = z
            s = s * a + jnp.einsum("nhk,nhv->nhkv", k, (v - jnp.einsum("nhkv,nhk->nhv", s, k)) * b)
            return s, jnp.einsum("nhkv,nhk->nhv", s, q)
        state, y = lax.scan(read, state, (q, softmax(k), v, a, b))
        return state, jnp.einsum("tnhv,hvd->tnd", y, p["o"])

    def loss(w, states, text):
        x = w["emb"][text[:-1]]
        one, y = gates(w["lstm"], norm(x, w["g"][0]), states[0])
        two, z = fast(w["fast"], norm(x + y, w["g"][1]), states[1])
        return cross((x + y + z).swapaxes(0, 1) @ w["out"], text[1:].T), (one, two)

    def step(w, v, m, states, text):
        (l, states), g = jax.value_and_grad(loss, has_aux=True)(w, states, text)
        v = each(lambda s, x: 0.95 * s + 0.05 * jnp.square(x.astype(F)), v, g)
        m = each(lambda s, x, q: s * B(0.9) + (x * lax.rsqrt(jnp.abs(q) + 1e-6)).astype(B), m, g, v)
        return each(lambda p, s: p - B(1e-3) * s, w, m), v, m, states, l
    states = (b16(n, D), b16(n, D)), b16(n, H, 17, d)
    return step, (w, each(lambda p: f32(*p.shape), w), w, states, i32(T + 1, n)), 0, 1, 2


def denoiser(L=4, D=96, H=4, n=3, size=14, C=4, classes=10):
    """Noise to pictures along straight ways: transformer steered by time and kind, in a scan; AdamW, a slow copy."""
    d, P = D // H, size // 2
    w = dict(emb=f32(2, 2, C, D), pos=f32(P, P, D), time=f32(64, D), kind=f32(classes, D), end=f32(D, 2, D),
             out=f32(D, 2, 2, C), layers=dict(turn=f32(L, D, 6, D), qkv=f32(L, D, 3, H, d), qk=f32(L, 2, d),
                                              o=f32(L, H, d, D), up=f32(L, D, 4 * D), down=f32(L, 4 * D, D)))

    def speed(w, x, t, kind):
        x = (jnp.einsum("nhiwjc,ijcd->nhwd", x.reshape(n, P, 2, P, 2, C), w["emb"]) + w["pos"]).reshape(n, P * P, D)
        angle = 1e3 * t[:, None] * jnp.exp(-jnp.arange(32) / 4)
        about = jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1).astype(B)
        about = jax.nn.silu(about @ w["time"] + w["kind"][kind])

        def layer(x, p):
            a = jnp.einsum("nd,dsk->snk", about, p["turn"])[:, :, None]
            q, k, v = jnp.einsum("ntd,dshk->snthk", plain(x) * (1 + a[0]) + a[1], p["qkv"])
            y = softmax(wide("nqhk,nthk->nhqt", norm(q, p["qk"][0]), norm(k, p["qk"][1])) * d ** -0.5)
            y = jnp.einsum("nhqt,nthk->nqhk", y.astype(B), v)
            x = x + a[2] * jnp.einsum("nqhk,hkd->nqd", y, p["o"])
            h = jax.nn.gelu((plain(x) * (1 + a[3]) + a[4]) @ p["up"])
            return x + a[5] * (h @ p["down"]), None
        keep = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
        x = lax.scan(jax.checkpoint(layer, policy=keep), x, w["layers"])[0]
        a, b = jnp.einsum("nd,dsk->snk", about, w["end"])
        x = (plain(x) * (1 + a[:, None]) + b[:, None]).reshape(n, P, P, D)
        return wide("nhwd,dijc->nhiwjc", x, w["out"]).reshape(n, size, size, C)

    def loss(w, clean, kind, key):
        one, two = jax.random.split(key)
        noise, t = jax.random.normal(one, clean.shape) - clean, jax.nn.sigmoid(jax.random.normal(two, (n, 1, 1, 1)))
        return jnp.mean((speed(cast(w), (clean + t * noise).astype(B), t.ravel(), kind) - noise) ** 2)

    def step(w, m, v, slow, clean, kind, key):
        w, m, v = adam(w, m, v, jax.grad(loss)(w, clean, kind, key), 2e-4, 0.01)
        return w, m, v, each(lambda s, p: s + 0.001 * (p - s), slow, w)
    return step, (w, each(lambda p: b16(*p.shape), w), w, w, f32(n, size, size, C), i32(n), u32(2)), 0, 1, 2, 3


def graph(N=100, E=600, D=64, L=2, R=17, low=8, kinds=10, groups=5):
    """Atoms that tell their neighbours, energies and their slopes, so slopes of slopes; Adam on weights of 32 bits."""
    w = dict(emb=f32(kinds, D), up=f32(D, 33), last=f32(33), layers=[
        dict(r1=f32(R, D), r2=f32(D, 3 * D), h=f32(D, 3 * D), low=f32(D, low), bond=f32(low, R, D), vec=f32(2, D, D),
             join=f32(2 * D, D), out=f32(D, 2 * D)) for _ in range(L)])

    def energy(x, w, kind, group, a, b):
        way = x[a] - x[b]
        far = jnp.sqrt(jnp.sum(way * way, -1, keepdims=True) + 0.01)
        near = jnp.exp(-4 * (far - jnp.arange(R) / 4) ** 2).astype(B)
        way = (way / far).astype(B)
        total = lambda m: jax.ops.segment_sum(m.astype(F), b, N).astype(B)
        h, v = w["emb"][kind], jnp.zeros((N, 3, D), B)
        for p in w["layers"]:
            h = plain(h)
            m, s, t = jnp.split((h @ p["h"])[a] * (jax.nn.silu(near @ p["r1"]) @ p["r2"]) / B(8), 3, -1)
            m = m + jnp.einsum("ei,ej,ijk->ek", (h @ p["low"])[b], near, p["bond"])
            v = v + total(jnp.einsum("ex,ed->exd", way, s) + t[:, None] * v[a])
            h = h + total(m) / B(6)
            one, two = jnp.einsum("nxd,sde->snxe", v, p["vec"])
            both = plain(jnp.concatenate([h, jnp.einsum("nxd,nxd->nd", one, two)], -1))
            s, t = jnp.split(jax.nn.silu(both @ p["join"]) @ p["out"], 2, -1)
            h, v = h + s, v + t[:, None] * two
        energies = jax.ops.segment_sum(wide("nd,d->n", jax.nn.silu(plain(h) @ w["up"]), w["last"]), group, groups)
        return jnp.sum(energies), energies

    def loss(w, x, kind, group, a, b, energies, forces):
        w = each(lambda p: (p * p.size ** -0.25).astype(B), w)
        slope, got = jax.grad(energy, has_aux=True)(x, w, kind, group, a, b)
        return jnp.mean(jnp.abs(got - energies)) / 20 + jnp.mean((slope + forces) ** 2)
    step = lambda w, m, v, *data: adam(w, m, v, jax.grad(loss)(w, *data))
    return step, (w, w, w, f32(N, 3), i32(N), i32(N), i32(E), i32(E), f32(groups), f32(N, 3)), 0, 1, 2


def actor(n=128, S=17, A=3, D=100, K=5, Q=25, drop=10):
    """Five critics at once tell how returns are spread, the highest left out, an actor, a temperature; Adam steps."""
    pi = [dict(m=b16(i, o), b=b16(o)) for i, o in ((S, D), (D, D), (D, 2 * A))]
    q = [dict(m=b16(K, i, o), b=b16(K, o)) for i, o in ((S + A, D), (D, D), (D, Q))]
    critics = lambda w, s, a: jax.vmap(net, (0, None), 1)(w, jnp.concatenate([s, a], -1))

    def net(w, x):
        for p in w[:-1]:
            x = jax.nn.relu(plain(x @ p["m"] + p["b"]))
        return wide("...i,io->...o", x, w[-1]["m"]) + w[-1]["b"]

    def act(w, s, key):
        mean, width = jnp.split(jnp.clip(net(w, s), -5, 2), 2, -1)
        e = jax.random.normal(key, mean.shape)
        u = mean + jnp.exp(width) * e
        return jnp.tanh(u).astype(B), jnp.sum(2 * (u + jax.nn.softplus(-2 * u) - 0.693) - e * e / 2 - width, -1)

    def step(pi, q, slow, heat, mp, vp, mq, vq, s, a, reward, end, after, key):
        one, two = jax.random.split(key)
        a2, sure = act(pi, after, one)
        z = jnp.sort(critics(slow, after, a2).reshape(n, K * Q), -1)[:, :K * Q - drop]
        goal = reward[:, None] + 0.99 * (1 - end[:, None]) * (z - jnp.exp(heat) * sure[:, None])

        def critic_loss(q):
            off = goal[:, None, None] - critics(q, s, a)[..., None]
            bent = jnp.where(jnp.abs(off) > 1, jnp.abs(off) - 0.5, off * off / 2)
            return jnp.mean(jnp.abs((jnp.arange(Q)[:, None] + 0.5) / Q - (off < 0)) * bent)

        def actor_loss(pi, q):
            new, sure = act(pi, s, two)
            return jnp.mean(jnp.exp(heat) * sure - jnp.mean(critics(q, s, new), (1, 2))), jnp.mean(sure)
        q, mq, vq = adam(q, mq, vq, jax.grad(critic_loss)(q))
        g, sure = jax.grad(actor_loss, has_aux=True)(pi, q)
        pi, mp, vp = adam(pi, mp, vp, g)
        slow = each(lambda x, y: x * B(0.99) + y * B(0.01), slow, q)
        return pi, q, slow, heat + 3e-4 * (sure - A), mp, vp, mq, vq
    mp, mq = (each(lambda p: f32(*p.shape), x) for x in (pi, q))
    return step, (pi, q, q, f32(), mp, mp, mq, mq, b16(n, S), b16(n, A), f32(n), f32(n), b16(n, S), u32(2)), *range(8)


def speaker(L=3, D=192, H=6, V=384, books=3, T=17, S=100, first=12, then=4):
    """Three codes of sound at a time, 12 drawn in four ways after what all share, the likeliest goes on alone."""
    d, N = D // H, first + then
    w = dict(emb=b16(books, V, D), heads=b16(books, D, V), layers=[
        dict(qkv=b16(D, 3, H, d), o=b16(H, d, D), q=b16(D, H, d), kv=b16(2, H, d, D), p=b16(H, d, D),
             up=b16(D, 2 * 250), down=b16(250, D), g=b16(3, D)) for _ in range(L)])
    dot = lambda q, k: jnp.einsum("hd,thd->ht", q, k) * B(d ** -0.5)

    def say(w, kept, caches, x, at):
        new = []
        for p, k0, v0, (k1, v1), (k, v) in zip(w["layers"], *kept, caches):
            q, a, b = jnp.einsum("m,mchd->chd", norm(x, p["g"][0]), p["qkv"])
            q, a = turned(q, T + at), turned(a, T + at)
            k, v = (lax.dynamic_update_slice(c, y[None], (at, 0, 0)) for c, y in ((k, a), (v, b)))
            a = softmax(jnp.concatenate([dot(q, k0), jnp.where(jnp.arange(N) <= at, dot(q, k), B(-1e9))], -1))
            y = jnp.einsum("ht,thd->hd", a[:, :T], v0) + jnp.einsum("ht,thd->hd", a[:, T:], v)
            x = x + jnp.einsum("hd,hdm->m", y, p["o"])
            a = softmax(dot(jnp.einsum("m,mhd->hd", norm(x, p["g"][1]), p["q"]), k1))
            x = x + jnp.einsum("hs,shd,hdm->m", a, v1, p["p"])
            a, b = jnp.split(norm(x, p["g"][2]) @ p["up"], 2, -1)
            x, new = x + (jax.nn.silu(a) * b) @ p["down"], new + [(k, v)]
        return x, new

    def run(w, keys, values, heard, x, key):
        kept = keys, values, [jnp.einsum("sm,chdm->cshd", heard, p["kv"]) for p in w["layers"]]

        def one(c, keyed):
            (x, caches, score), (key, at) = c, keyed
            chances = jax.nn.log_softmax(wide("m,cmv->cv", x, w["heads"]) / 0.8)
            codes = jax.random.categorical(key, chances)
            x, caches = say(w, kept, caches, sum(w["emb"][i][codes[i]] for i in range(books)), at)
            return (x, caches, score + jnp.sum(jnp.take_along_axis(chances, codes[:, None], 1))), codes
        start = jnp.broadcast_to(x, (4, D)), [(jnp.zeros((4, N, H, d), B),) * 2] * L, jnp.zeros(4)
        key, at = jax.random.split(key, (N, 4)), jnp.arange(N)
        c, codes = lax.scan(jax.vmap(one, (0, (0, None))), start, (key[:first], at[:first]))
        best = jnp.argmax(c[2])
        c, rest = lax.scan(one, each(lambda y: y[best], c), (key[first:, 0], at[first:]))
        return jnp.concatenate([codes[:, best], rest]), c[2]
    return run, (w, b16(L, T, H, d), b16(L, T, H, d), b16(S, D), b16(D), u32(2))


GRAPHS = {f"half-{f.__name__}": f for f in (trainer, latent, router, adapter, matcher, recurrent, denoiser, graph,
                                            actor, speaker)}
