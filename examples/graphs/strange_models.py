"""Training set, strangers: networks, as people write them who have not read the rest of this folder.

They were written to try the tools on what these had not seen: half precision and whole numbers, buffers given away,
sampling, rematerialisation, scans in scans. What they compute is kept as it was measured, also where it is clumsy.
Each function here returns the program and the shapes of its arguments.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax


def shape(*n, d=jnp.float32):
    return jax.ShapeDtypeStruct(n, d)


def whole(*n):
    return shape(*n, d=jnp.int32)


def key():
    return shape(2, d=jnp.uint32)


def norm(x, g):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g


def kvdecode(L=4, D=128, H=4, V=1000, T=64, B=2):
    """A decoder with a cache that samples in a loop until all have ended."""
    w = dict(emb=shape(V, D), qkv=shape(L, D, 3 * D), o=shape(L, D, D), up=shape(L, D, 4 * D), down=shape(L, 4 * D, D),
             g=shape(L, 2, D))

    def run(w, cache, tok, key):
        def body(c):
            i, cache, tok, key, out = c
            x = w["emb"][tok]

            def layer(x, s):
                qkv, o, up, down, g, kv = s
                q, k, v = jnp.split(norm(x, g[0]) @ qkv, 3, -1)
                kv = lax.dynamic_update_slice(kv, jnp.stack([k, v])[:, :, None], (0, 0, i, 0))
                keys, values = (kv[j].reshape(B, T, H, D // H) for j in (0, 1))
                a = jnp.einsum("bhd,bthd->bht", q.reshape(B, H, D // H), keys) / 5
                a = jnp.where(jnp.arange(T) <= i, a, -1e9)
                x = x + jnp.einsum("bht,bthd->bhd", jax.nn.softmax(a), values).reshape(B, D) @ o
                return x + jax.nn.silu(norm(x, g[1]) @ up) @ down, kv
            x, cache = lax.scan(layer, x, (w["qkv"], w["o"], w["up"], w["down"], w["g"], cache))
            logit = x @ w["emb"].T
            top, idx = lax.top_k(logit, 40)
            key, sub = jax.random.split(key)
            tok = jnp.take_along_axis(idx, jax.random.categorical(sub, top / 0.8)[:, None], 1)[:, 0]
            return i + 1, cache, tok, key, out.at[:, i].set(tok)
        start = 0, cache, tok, key, jnp.zeros((B, T), jnp.int32)
        out = lax.while_loop(lambda c: (c[0] < T) & ~jnp.all(c[2] == 0), body, start)
        return out[4], out[1]
    return run, (w, shape(L, 2, B, T, D), whole(B), key()), 1


def moe_adam(L=3, D=64, E=8, C=40, N=128, V=500):
    """A mixture of experts with room for forty, two experts a word."""
    w = dict(emb=shape(V, D), gate=[shape(D, E)] * L, up=[shape(E, D, 2 * D)] * L, down=[shape(E, 2 * D, D)] * L)

    def loss(w, tok):
        x, aux = w["emb"][tok], 0.
        for l in range(L):
            p = jax.nn.softmax(x @ w["gate"][l])
            top, idx = lax.top_k(p, 2)
            one = jax.nn.one_hot(idx, E).reshape(-1, E)
            pos = jnp.sum((jnp.cumsum(one, 0) - 1) * one, -1).astype(jnp.int32)
            keep = pos < C
            e = idx.reshape(-1)
            buf = jnp.zeros((E, C, D)).at[e, jnp.where(keep, pos, C)].add(jnp.repeat(x, 2, 0), mode="drop")
            y = jnp.einsum("ecf,efd->ecd", jax.nn.gelu(jnp.einsum("ecd,edf->ecf", buf, w["up"][l])), w["down"][l])
            y = y.at[e, pos].get(mode="fill", fill_value=0) * jnp.where(keep, top.reshape(-1), 0)[:, None]
            x = x + y.reshape(-1, 2, D).sum(1)
            aux += jnp.mean(one.mean(0) * p.mean(0)) * E
        lp = jax.nn.log_softmax(x @ w["emb"].T)
        return -jnp.mean(jnp.take_along_axis(lp, jnp.roll(tok, -1)[:, None], 1)) + 0.01 * aux

    def step(w, m, v, t, tok):
        val, g = jax.value_and_grad(loss)(w, tok)
        m = jax.tree.map(lambda m, g: .9 * m + .1 * g, m, g)
        v = jax.tree.map(lambda v, g: .99 * v + .01 * g * g, v, g)
        a = 1e-3 * jnp.sqrt(1 - .99 ** t) / (1 - .9 ** t)
        return jax.tree.map(lambda w, m, v: w - a * m / (jnp.sqrt(v) + 1e-8), w, m, v), m, v, val
    return step, (w, w, w, shape(), whole(N))


def mamba(L=3, D=48, N=8, T=128):
    """A state space with chosen steps, by an associative scan; a training step."""
    w = [dict(i=shape(D, 2 * D), c=shape(4, D), dt=shape(D, D), bc=shape(D, 2 * N), a=shape(D, N), o=shape(D, D))] * L

    def loss(w, x):
        y = x
        for p in w:
            u, z = jnp.split(y @ p["i"], 2, -1)
            u = jax.nn.silu(sum(jnp.pad(u, ((k, 0), (0, 0)))[:T] * p["c"][k] for k in range(4)))
            dt = jax.nn.softplus(u @ p["dt"])
            b, c = jnp.split(u @ p["bc"], 2, -1)
            decay = jnp.exp(-dt[..., None] * jnp.exp(p["a"]))
            new = dt[..., None] * b[:, None] * u[..., None]
            _, h = lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (decay, new))
            y = y + (jnp.einsum("tdn,tn->td", h, c) * jax.nn.silu(z)) @ p["o"]
        return jnp.mean((y - jnp.roll(x, 1, 0)) ** 2)

    def step(w, x):
        v, g = jax.value_and_grad(loss)(w, x)
        n = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)))
        return jax.tree.map(lambda w, g: w - .01 * g / jnp.maximum(n, 1), w, g), v
    return step, (w, shape(T, D))


def vit_rbg(L=2, D=64, P=8, B=4):
    """A vision transformer whose dropout comes of the compiler's own random bits."""
    layer = dict(qkv=shape(D, 3 * D), o=shape(D, D), u=shape(D, 2 * D), d=shape(2 * D, D))
    w = dict(p=shape(P * P * 3, D), pos=shape(17, D), cls=shape(D), l=[layer] * L, h=shape(D, 10))

    def loss(w, img, lab, key):
        x = img.reshape(B, 4, P, 4, P, 3).transpose(0, 1, 3, 2, 4, 5).reshape(B, 16, -1) @ w["p"]
        x = jnp.concatenate([jnp.broadcast_to(w["cls"], (B, 1, D)), x], 1) + w["pos"]

        def drop(x, i):
            return jnp.where(jax.random.bernoulli(jax.random.fold_in(key, i), .9, x.shape), x / .9, 0)
        for i, p in enumerate(w["l"]):
            h = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
            q, k, v = jnp.split((h @ p["qkv"]).reshape(B, 17, 4, -1), 3, -1)
            a = drop(jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4), 2 * i)
            x = x + jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(B, 17, D) @ p["o"]
            x = x + drop(jax.nn.gelu(x @ p["u"]) @ p["d"], 2 * i + 1)
        whole = jax.nn.logsumexp(x[:, 0] @ w["h"], -1)
        return jnp.mean(whole - jnp.take_along_axis(x[:, 0] @ w["h"], lab[:, None], 1)[:, 0])

    def step(w, img, lab, key):
        v, g = jax.value_and_grad(loss)(w, img, lab, jax.random.wrap_key_data(key, impl="rbg"))
        return jax.tree.map(lambda w, g: w - .1 * g, w, g), v
    return step, (w, shape(B, 32, 32, 3), whole(B), shape(4, d=jnp.uint32))


def ddim(C=8):
    """Twenty steps of a diffusion sampler over a network with one scale down and up."""
    w = dict(a=shape(3, 3, 3, C), b=shape(3, 3, C, 2 * C), m=shape(3, 3, 2 * C, 2 * C), c=shape(3, 3, 2 * C, C),
             d=shape(3, 3, 2 * C, 3), t=shape(16, 2 * C), gn=shape(2, 2 * C))
    order = ("NHWC", "HWIO", "NHWC")
    conv = lambda x, k, s=1: lax.conv_general_dilated(x, k, (s, s), "SAME", dimension_numbers=order)

    def gn(x, g):
        h = x.reshape(*x.shape[:3], 4, -1)
        m = h.mean((1, 2, 4), keepdims=True)
        v = h.var((1, 2, 4), keepdims=True)
        return ((h - m) * lax.rsqrt(v + 1e-5)).reshape(x.shape) * g[0] + g[1]

    def net(w, x, t):
        e = jnp.concatenate([jnp.sin(t * 2. ** jnp.arange(8)), jnp.cos(t * 2. ** jnp.arange(8))]) @ w["t"]
        h1 = jax.nn.silu(conv(x, w["a"]))
        h2 = jax.nn.silu(gn(conv(h1, w["b"], 2) + e, w["gn"]))
        h2 = h2 + conv(h2, w["m"])
        up = lax.conv_transpose(h2, w["c"], (2, 2), "SAME", dimension_numbers=order)
        return conv(jnp.concatenate([up, h1], -1), w["d"])

    def sample(w, x, key):
        def step(c, t):
            x, key = c
            a, b = jnp.cos(t * 1.5) ** 2, jnp.cos(jnp.maximum(t - .05, 0) * 1.5) ** 2
            e = net(w, x, t)
            x0 = jnp.clip((x - jnp.sqrt(1 - a) * e) / jnp.sqrt(a), -1, 1)
            key, k = jax.random.split(key)
            return (jnp.sqrt(b) * x0 + jnp.sqrt(1 - b) * (e + .1 * jax.random.normal(k, x.shape)), key), x.mean()
        (x, _), log = lax.scan(step, (x, key), jnp.linspace(1, .05, 20))
        return x, log
    return sample, (w, shape(1, 16, 16, 3), key())


def gat(N=300, E=2000, D=32, H=4):
    """Graph attention by segments, updated by signs."""
    w = [dict(w=shape(D, D), s=shape(H, D // H), t=shape(H, D // H), b=shape(D))] * 3 + [dict(o=shape(D, 7))]

    def loss(w, x, src, dst, lab):
        for p in w[:-1]:
            h = (x @ p["w"]).reshape(N, H, -1)
            a = jax.nn.leaky_relu((h * p["s"]).sum(-1)[src] + (h * p["t"]).sum(-1)[dst])
            m = jax.ops.segment_max(a, dst, N)
            a = jnp.exp(a - m[dst])
            z = jax.ops.segment_sum(a, dst, N)
            x = jax.nn.elu(jax.ops.segment_sum((a / (z[dst] + 1e-9))[..., None] * h[src], dst, N).reshape(N, D)
                           + p["b"]) + x
        l = x @ w[-1]["o"]
        return jnp.mean(jax.nn.logsumexp(l, -1) - jnp.take_along_axis(l, lab[:, None], 1)[:, 0])

    def step(w, x, src, dst, lab):
        v, g = jax.value_and_grad(loss)(w, x, src, dst, lab)
        return jax.tree.map(lambda w, g: w - .1 * jnp.sign(g), w, g), v
    return step, (w, shape(N, D), whole(E), whole(E), whole(N))


def beams(B=4, V=300, T=12, D=32):
    """Beams drawn from a nucleus, by sorting; how many words differ."""
    def search(w, emb, key):
        def step(c, k):
            h, score, seq, i = c
            h = jnp.tanh(h @ w + emb[seq[:, i]])
            lp = jax.nn.log_softmax(h @ emb.T)
            order = jnp.argsort(-lp, axis=-1, stable=True)
            cum = jnp.cumsum(jnp.exp(jnp.take_along_axis(lp, order, 1)), -1)
            inside = cum - jnp.exp(jnp.take_along_axis(lp, order, 1)) < .9
            kept = jnp.where(inside, jnp.take_along_axis(lp, order, 1), -jnp.inf)
            lp = jnp.take_along_axis(kept, jnp.argsort(order, -1), 1)
            tot = (score[:, None] + lp + 1e-3 * jax.random.gumbel(k, lp.shape)).reshape(-1)
            s, idx = lax.top_k(tot, B)
            src, tok = idx // V, idx % V
            seq = lax.dynamic_update_slice(seq[src], tok[:, None].astype(jnp.int32), (0, i + 1))
            return (h[src], s, seq, i + 1), jnp.unique(tok, size=B, fill_value=-1)
        start = jnp.zeros((B, D)), jnp.zeros(B), jnp.zeros((B, T + 1), jnp.int32), 0
        return lax.scan(step, start, jax.random.split(key, T))
    return search, (shape(D, D), shape(V, D), key())


def int8net():
    """Inference in bytes: quantised on the way, products in whole numbers."""
    widths = [(64, 256), (256, 256), (256, 64)]
    w = [dict(w=shape(a, b, d=jnp.int8), s=shape(b), z=whole(b)) for a, b in widths]

    def run(w, x):
        for p in w:
            s = jnp.max(jnp.abs(x), -1, keepdims=True) / 127
            q = jnp.clip(jnp.round(x / s), -128, 127).astype(jnp.int8)
            a = lax.dot_general(q, p["w"], (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32) + p["z"]
            x = jax.nn.relu(a.astype(jnp.float32) * s * p["s"])
        return x, jnp.argmax(x, -1), (x > 0).astype(jnp.uint8).sum(-1, dtype=jnp.int32)
    return run, (w, shape(32, 64))


def remat(L=4, D=64, T=32, B=2, V=256):
    """Bfloat16, layers in a scan, all but products computed again on the way back."""
    half = jnp.bfloat16
    w = dict(e=shape(V, D), qkv=shape(L, D, 3 * D), o=shape(L, D, D), u=shape(L, D, 4 * D), d=shape(L, 4 * D, D),
             g=shape(L, 2, D))

    def loss(w, tok):
        x = w["e"].astype(half)[tok]

        @functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)
        def layer(x, p):
            qkv, o, u, d, g = (a.astype(half) for a in p)
            q, k, v = jnp.split((norm(x, g[0]) @ qkv).reshape(B, T, 4, -1), 3, -1)
            a = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) / 4
            a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((T, T), bool)), a, -1e9)).astype(half)
            x = x + jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(B, T, D) @ o
            return x + jax.nn.gelu(norm(x, g[1]) @ u) @ d, None
        x, _ = lax.scan(layer, x, (w["qkv"], w["o"], w["u"], w["d"], w["g"]))
        l = (x @ w["e"].astype(half).T).astype(jnp.float32)
        return jnp.mean(jax.nn.logsumexp(l, -1) - jnp.take_along_axis(l, jnp.roll(tok, -1, 1)[..., None], -1)[..., 0])

    def step(w, tok):
        v, g = jax.value_and_grad(loss)(w, tok)
        return jax.tree.map(lambda w, g: w - .1 * g, w, g), v
    return step, (w, whole(B, T))


def ctc(B=4, T=40, U=8, V=30, D=32):
    """Two recurrent networks, one backwards, and the sum over alignments."""
    def loss(w, x, lab):
        def cell(h, x):
            z, r, n = jnp.split(jnp.concatenate([x, h], -1) @ w["g"], 3, -1)
            h = (1 - jax.nn.sigmoid(z)) * h + jax.nn.sigmoid(z) * jnp.tanh(n * jax.nn.sigmoid(r))
            return h, h
        _, hs = lax.scan(cell, jnp.zeros((B, D)), x)
        _, hb = lax.scan(cell, jnp.zeros((B, D)), x, reverse=True)
        lp = jax.nn.log_softmax(jnp.concatenate([hs, hb], -1) @ w["o"])
        ext = jnp.zeros((B, 2 * U + 1), jnp.int32).at[:, 1::2].set(lab)
        skip = jnp.where((ext != 0) & (ext != jnp.roll(ext, 2, 1)), 0., -1e5)

        def fwd(a, l):
            p = jnp.take_along_axis(l, ext, 1)
            q = lambda k: jnp.pad(a, ((0, 0), (k, 0)), constant_values=-1e5)[:, :-k]
            a = jnp.logaddexp(jnp.logaddexp(a, q(1)), q(2) + skip) + p
            return a, None
        a, _ = lax.scan(fwd, jnp.full((B, 2 * U + 1), -1e5).at[:, 0].set(0.), lp)
        return -jnp.logaddexp(a[:, -1], a[:, -2]).mean()

    def step(w, x, lab):
        v, g = jax.value_and_grad(lambda w: loss(w, x, lab))(w)
        return jax.tree.map(lambda w, g: w - .1 * g, w, g), v
    return step, (dict(g=shape(16 + D, 3 * D), o=shape(2 * D, V)), shape(T, B, 16), whole(B, U))


def video():
    """Convolutions over time and place, pooled, normalised by neighbours; and the slope of all that."""
    def step(w, x, y):
        def loss(w):
            h = x
            for k in w[:-1]:
                h = lax.conv_general_dilated(h, k, (1, 1, 1), "SAME", rhs_dilation=(1, 2, 2),
                                             dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
                h = lax.reduce_window(jax.nn.relu(h), -jnp.inf, lax.max, (1, 1, 2, 2, 1), (1, 1, 2, 2, 1), "SAME")
                h = h / (1e-3 + lax.reduce_window(h * h, 0., lax.add, (1, 3, 1, 1, 1), (1, 1, 1, 1, 1), "SAME")) ** .5
            return jnp.mean((h.mean((1, 2, 3)) @ w[-1] - y) ** 2)
        v, g = jax.value_and_grad(loss)(w)
        return [a - .1 * b for a, b in zip(w, g)], v
    return step, ([shape(3, 3, 3, 3, 8), shape(3, 3, 3, 8, 8), shape(8, 5)], shape(2, 6, 24, 24, 3), shape(2, 5))


def spline(N=256, K=8, D=4):
    """A flow by rational splines."""
    def nll(w, x):
        y, ld = x, 0.
        for p in w:
            a, b = jnp.split(y, 2, -1)
            th = (jnp.tanh(a @ p["u"]) @ p["v"]).reshape(N, D // 2, 3 * K)
            wide, high, d = jnp.split(th, 3, -1)
            wide = jnp.cumsum(jax.nn.softmax(wide), -1)
            high = jnp.cumsum(jax.nn.softmax(high), -1)
            d = jax.nn.softplus(d)
            u = jax.nn.sigmoid(b)
            i = jnp.clip(jax.vmap(jax.vmap(jnp.searchsorted))(wide, u), 0, K - 2)[..., None]
            tk = lambda m, i: jnp.take_along_axis(m, i, -1)[..., 0]
            x0, x1, y0, y1, d0, d1 = tk(wide, i), tk(wide, i + 1), tk(high, i), tk(high, i + 1), tk(d, i), tk(d, i + 1)
            s = (y1 - y0) / (x1 - x0)
            t = (u - x0) / (x1 - x0)
            o = y0 + (y1 - y0) * (s * t * t + d0 * t * (1 - t)) / (s + (d1 + d0 - 2 * s) * t * (1 - t))
            ld += jnp.log(jnp.abs(s) + 1e-6).sum(-1)
            y = jnp.concatenate([o, a], -1)
        return jnp.mean(.5 * (y ** 2).sum(-1) - ld)

    def step(w, x):
        v, g = jax.value_and_grad(lambda w: nll(w, x))(w)
        return jax.tree.map(lambda w, g: w - .01 * g, w, g), v
    return step, ([dict(u=shape(D // 2, 32), v=shape(32, D // 2 * 3 * K))] * 4, shape(N, D))


def ppo(T=32, B=8, A=3, O=4):
    """Worlds played in a scan, advantages in another, then epochs of shuffled parts: scans in scans."""
    w = dict(a=shape(O, 32), p=shape(32, A), v=shape(32, 1))

    def net(w, o):
        h = jnp.tanh(o @ w["a"])
        return jax.nn.log_softmax(h @ w["p"]), (h @ w["v"])[..., 0]

    def learn(w, s, key):
        def env(c, k):
            s, = c
            lp, v = net(w, s)
            a = jax.random.categorical(k, lp)
            n = s + .05 * jnp.stack([s[:, 1], a - 1. - jnp.sin(s[:, 0]), s[:, 3], jnp.cos(s[:, 0])], -1)
            done = jnp.abs(n[:, 0]) > 2
            n = jnp.where(done[:, None], jnp.zeros_like(n), n)
            return (n,), (s, a, jnp.take_along_axis(lp, a[:, None], 1)[:, 0], v, jnp.where(done, -1., .1), done)
        (s, ), tr = lax.scan(env, (s,), jax.random.split(key, T))
        o, a, l0, v, r, done = tr

        def gae(c, x):
            d, g = c
            r, v, done = x
            g = r + .99 * d * ~done - v + .94 * g * ~done
            return (v, g), g
        _, adv = lax.scan(gae, (net(w, s)[1], jnp.zeros(B)), (r, v, done), reverse=True)

        def mini(w, m):
            def loss(w):
                o, a, l0, ad, ret = m
                lp, v = net(w, o)
                r = jnp.exp(jnp.take_along_axis(lp, a[:, None], 1)[:, 0] - l0)
                gain = -jnp.minimum(r * ad, jnp.clip(r, .8, 1.2) * ad).mean()
                return gain + .5 * ((v - ret) ** 2).mean() + .01 * (jnp.exp(lp) * lp).sum(-1).mean()
            v, g = jax.value_and_grad(loss)(w)
            return jax.tree.map(lambda w, g: w - .01 * g, w, g), v

        def epoch(w, k):
            perm = jax.random.permutation(k, T * B)
            part = lambda x: x.reshape(T * B, *x.shape[2:])[perm].reshape(4, -1, *x.shape[2:])
            return lax.scan(mini, w, jax.tree.map(part, (o, a, l0, adv, adv + v)))
        w, loss = lax.scan(epoch, w, jax.random.split(key, 3))
        return w, s, loss
    return learn, (w, shape(B, O), key())


def half():
    """Float16 with barriers that nothing may cross."""
    def run(x, w):
        def blk(x):
            y = lax.optimization_barrier(jnp.tanh(x @ w))
            return y * jax.nn.sigmoid(x) + y.mean().astype(jnp.float16)
        for _ in range(6):
            x = blk(x)
        return x, jnp.isnan(x).any(), lax.cumlogsumexp(x.astype(jnp.float32), 1), lax.cummax(x, 0), jnp.median(x)
    return run, (shape(32, 48, d=jnp.float16), shape(48, 48, d=jnp.float16))


GRAPHS = {f.__name__: f for f in (kvdecode, moe_adam, mamba, vit_rbg, ddim, gat, beams, int8net, remat, ctc, video,
                                  spline, ppo, half)}
