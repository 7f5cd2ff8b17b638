#!/usr/bin/env python3
"""Makes steps written after layouts were worked on for bench/shard_unseen.py, to judge again what nobody looked at.

    bench/shard_fresh.py DIR            all of them; with names, only those
    bench/shard_fresh.py --small DIR    the same programs with smaller tensors

A language model with gated layers, turned queries and few keys, in bfloat16, whose layers are rematerialised; one with
experts that get their tokens by sorting them, up to a capacity; a network that is taught an equation (second
derivatives by the input); a solver that runs conjugate gradients over a grid in a loop; a network of convolutions,
attention and the time that removes noise. All but the solver train.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import jax
import jax.numpy as jnp
from shard_steps import adam, apply, cross_entropy, dense, f32, i32, main, normalised

HALF = jnp.bfloat16


def decayed(loss):
    """A step of AdamW whose weights are kept in f32 and used in bfloat16."""
    def step(params, state, batch):
        half = jax.tree.map(lambda p: p.astype(HALF), params)
        value, grads = jax.value_and_grad(loss)(half, batch)
        grads = jax.tree.map(lambda g: g.astype(jnp.float32), grads)
        m = jax.tree.map(lambda m, g: m + 0.1 * (g - m), state["m"], grads)
        v = jax.tree.map(lambda v, g: v + 0.05 * (g * g - v), state["v"], grads)
        params = jax.tree.map(lambda p, m, v: 0.9999 * p - 1e-4 * m * jax.lax.rsqrt(v + 1e-10), params, m, v)
        return params, {"m": m, "v": v}, value

    return lambda params, batch: (step, (params, {"m": params, "v": params}, batch))


def turned(x):
    s, c = x.shape[1], x.shape[-1]
    angle = jnp.arange(s)[:, None, None] / 10000.0 ** (jnp.arange(c // 2) * 2 / c)
    a, b = x[..., ::2], x[..., 1::2]
    sin, cos = jnp.sin(angle).astype(x.dtype), jnp.cos(angle).astype(x.dtype)
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def causal(q, k, v):
    """Attention of h heads to g groups of keys."""
    b, s, h, c = q.shape
    g = k.shape[2]
    q = q.reshape(b, s, g, h // g, c)
    score = jnp.einsum("bqgrc,bkgc->bgrqk", q, k).astype(jnp.float32) / c ** 0.5
    keep = jnp.arange(s)[:, None] >= jnp.arange(s)
    p = jax.nn.softmax(jnp.where(keep, score, -jnp.inf)).astype(q.dtype)
    return jnp.einsum("bgrqk,bkgc->bqgrc", p, v).reshape(b, s, h * c)


def attended(x, w):
    y = normalised(x.astype(jnp.float32), w["scale"]).astype(HALF)
    q, k, v = (jnp.einsum("bsd,dhc->bshc", y, w[n]) for n in "qkv")
    return x + causal(turned(q), turned(k), v) @ w["o"]


def attention_weights(d, h, g):
    return {"scale": f32(d), "q": f32(d, h, d // h), "k": f32(d, g, d // h), "v": f32(d, g, d // h), "o": f32(d, d)}


def llama(small):
    layers, b, s, d, h, g, vocabulary = (2, 16, 32, 64, 8, 4, 512) if small else (8, 16, 1024, 1536, 16, 4, 32000)
    wide = 8 * d // 3 // 64 * 64 or 2 * d

    @jax.checkpoint
    def layer(x, w):
        x = attended(x, w)
        y = normalised(x.astype(jnp.float32), w["scale2"]).astype(HALF)
        return x + (jax.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]

    def loss(p, batch):
        x = p["embedding"][batch["tokens"]]
        for w in p["layers"]:
            x = layer(x, w)
        x = normalised(x.astype(jnp.float32), p["scale"]).astype(HALF)
        return cross_entropy((x @ p["head"]).astype(jnp.float32), batch["labels"])

    each = attention_weights(d, h, g) | {"scale2": f32(d), "gate": f32(d, wide), "up": f32(d, wide),
                                         "down": f32(wide, d)}
    params = {"embedding": f32(vocabulary, d), "layers": [each] * layers, "scale": f32(d), "head": f32(d, vocabulary)}
    return decayed(loss)(params, {"tokens": i32(b, s), "labels": i32(b, s)})


def mixture(small):
    """Each token goes to two of the experts; those are sorted by expert, and what is beyond the capacity is dropped."""
    layers, b, s, d, h, n, vocabulary = (2, 16, 16, 64, 8, 8, 512) if small else (4, 16, 512, 1024, 16, 8, 32000)
    tokens, capacity = b * s, 2 * b * s // n * 5 // 4

    def routed(x, w):
        y = normalised(x.astype(jnp.float32), w["scale2"]).astype(HALF).reshape(tokens, d)
        weight, expert = jax.lax.top_k(jax.nn.softmax((y @ w["router"]).astype(jnp.float32)), 2)
        expert, weight = expert.reshape(-1), weight.reshape(-1)
        order = jnp.argsort(expert, stable=True)
        place = jnp.arange(2 * tokens) - jnp.searchsorted(expert[order], expert[order])
        slot = jnp.where(place < capacity, expert[order] * capacity + place, n * capacity)
        held = jnp.zeros((n * capacity + 1, d), HALF).at[slot].set(y[order // 2])[:-1].reshape(n, capacity, d)
        z = jax.nn.silu(jnp.einsum("ecd,edf->ecf", held, w["gate"])) * jnp.einsum("ecd,edf->ecf", held, w["up"])
        z = jnp.einsum("ecf,efd->ecd", z, w["down"]).reshape(n * capacity, d)
        z = jnp.concatenate([z, jnp.zeros((1, d), HALF)])[slot] * weight[order][:, None].astype(HALF)
        return x + jnp.zeros((tokens, d), HALF).at[order // 2].add(z).reshape(b, s, d)

    def loss(p, batch):
        x = p["embedding"][batch["tokens"]]
        for w in p["layers"]:
            x = routed(attended(x, w), w)
        return cross_entropy((x @ p["embedding"].T).astype(jnp.float32), batch["labels"])

    each = attention_weights(d, h, h // 4) | {"scale2": f32(d), "router": f32(d, n), "gate": f32(n, d, 2 * d),
                                              "up": f32(n, d, 2 * d), "down": f32(n, 2 * d, d)}
    params = {"embedding": f32(vocabulary, d), "layers": [each] * layers}
    return decayed(loss)(params, {"tokens": i32(b, s), "labels": i32(b, s)})


def equation(small):
    """Burgers' equation: the network is u(t, x), and is taught that u_t + u u_x = 0.01 u_xx, and u at the edges."""
    points, wide, deep = (256, 32, 3) if small else (65536, 512, 6)

    def u(p, t, x):
        y = jnp.stack([t, x])
        for w in p["layers"]:
            y = jnp.tanh(apply(w, y))
        return apply(p["out"], y)[0]

    def off(p, t, x):
        by_x = jax.grad(u, 2)
        return jax.grad(u, 1)(p, t, x) + u(p, t, x) * by_x(p, t, x) - 0.01 * jax.grad(by_x, 2)(p, t, x)

    def loss(p, batch):
        inside = jax.vmap(lambda a: off(p, a[0], a[1]))(batch["inside"])
        edge = jax.vmap(lambda a: u(p, a[0], a[1]))(batch["edge"][:, :2])
        return jnp.mean(inside ** 2) + jnp.mean((edge - batch["edge"][:, 2]) ** 2)

    params = {"layers": [dense(2, wide)] + [dense(wide, wide)] * (deep - 1), "out": dense(wide, 1)}
    return adam(loss)(params, {"inside": f32(points, 2), "edge": f32(points // 8, 3)})


def solver(small):
    """Heat in a block of uneven matter, one implicit step: 50 turns of conjugate gradients, scaled by the diagonal."""
    n, turns = (16, 4) if small else (384, 50)

    def shifted(x, axis, by):
        pad = [(0, 0)] * 3
        pad[axis] = (1, 0) if by > 0 else (0, 1)
        return jnp.pad(x, pad)[tuple(slice(None, -1) if a == axis and by > 0 else slice(1, None) if a == axis
                                     else slice(None) for a in range(3))]

    def step(matter, heat):
        def after(x):
            y = (1 + 6 * matter) * x
            for axis in range(3):
                y -= matter * (shifted(x, axis, 1) + shifted(x, axis, -1))
            return y

        def turn(_, state):
            x, r, p, rz = state
            q = after(p)
            a = rz / jnp.vdot(p, q)
            x, r = x + a * p, r - a * q
            z = r / (1 + 6 * matter)
            new = jnp.vdot(r, z)
            return x, r, z + new / rz * p, new

        r = heat - after(heat)
        z = r / (1 + 6 * matter)
        x, r, _, _ = jax.lax.fori_loop(0, turns, turn, (heat, r, z, jnp.vdot(r, z)))
        return x, jnp.sqrt(jnp.vdot(r, r))

    return step, (f32(n, n, n), f32(n, n, n))


def denoiser(small):
    """A U-Net with groups that are normalised, the time added in each block, and attention at the smallest size."""
    b, size, widths, groups = (16, 16, (32, 64), 8) if small else (64, 64, (128, 256, 384), 32)
    wide = 4 * widths[0]

    def conv(x, w, stride=1):
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def grouped(x, p):
        y = x.reshape(*x.shape[:3], groups, -1)
        m = y.mean((1, 2, 4), keepdims=True)
        y = (y - m) * jax.lax.rsqrt(jnp.mean((y - m) ** 2, (1, 2, 4), keepdims=True) + 1e-5)
        return y.reshape(x.shape) * p["scale"] + p["shift"]

    def block(x, t, w):
        y = conv(jax.nn.silu(grouped(x, w["norm1"])), w["a"]) + apply(w["time"], t)[:, None, None]
        y = conv(jax.nn.silu(grouped(y, w["norm2"])), w["b"])
        return y + (conv(x, w["skip"]) if "skip" in w else x)

    def attend(x, w):
        y = grouped(x, w["norm"]).reshape(b, -1, x.shape[-1])
        q, k, v = jnp.split(apply(w["qkv"], y), 3, -1)
        p = jax.nn.softmax(q @ k.transpose(0, 2, 1) / x.shape[-1] ** 0.5)
        return x + apply(w["out"], p @ v).reshape(x.shape)

    def loss(p, batch):
        angle = batch["time"][:, None] * jnp.exp(-jnp.arange(widths[0] // 2) / 8.0)
        t = jax.nn.silu(apply(p["time2"], jax.nn.silu(apply(p["time1"], jnp.concatenate([jnp.sin(angle),
                                                                                        jnp.cos(angle)], -1)))))
        x, kept = conv(batch["noisy"], p["stem"]), []
        for w in p["down"]:
            x = block(x, t, w["block"])
            kept.append(x)
            x = conv(x, w["less"], 2)
        x = block(attend(block(x, t, p["mid1"]), p["attend"]), t, p["mid2"])
        for w in p["up"]:
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
            x = block(jnp.concatenate([x, kept.pop()], -1), t, w)
        return jnp.mean((conv(jax.nn.silu(grouped(x, p["norm"])), p["last"]) - batch["noise"]) ** 2)

    def scales(n):
        return {"scale": f32(n), "shift": f32(n)}

    def blocks(m, n):
        w = {"norm1": scales(m), "a": f32(3, 3, m, n), "time": dense(wide, n), "norm2": scales(n), "b": f32(3, 3, n, n)}
        return w | ({"skip": f32(1, 1, m, n)} if m != n else {})

    down, up, m = [], [], widths[0]
    for n in widths:
        down.append({"block": blocks(m, n), "less": f32(3, 3, n, n)})
        m = n
    mid = m
    for n in widths[::-1]:
        up.append(blocks(m + n, n))
        m = n
    params = {"stem": f32(3, 3, 4, widths[0]), "time1": dense(widths[0], wide), "time2": dense(wide, wide),
              "down": down, "up": up, "mid1": blocks(mid, mid), "mid2": blocks(mid, mid), "norm": scales(m),
              "last": f32(3, 3, m, 4), "attend": {"norm": scales(mid), "qkv": dense(mid, 3 * mid),
                                                  "out": dense(mid, mid)}}
    image = f32(b, size, size, 4)
    return adam(loss)(params, {"noisy": image, "noise": image, "time": f32(b)})


if __name__ == "__main__":
    main((llama, mixture, equation, solver, denoiser), __doc__)
