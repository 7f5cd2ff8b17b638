#!/usr/bin/env python3
"""Makes steps that nobody looked at while layouts were worked on, to judge what was made for bench/shard_steps.py.

    bench/shard_unseen.py DIR            all of them; with names, only those
    bench/shard_unseen.py --small DIR    the same programs with smaller tensors

A transformer on images whose layers are a loop, a language model with a recurrent loop, two towers that are compared
with all of a batch, a network of convolutions that goes down and up again; language models in bfloat16 with clipped
gradients, of 4 and of 24 layers, and one with experts; a transformer that removes noise. All these train. The last one
serves: it reads a prompt and fills the cache.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import jax
import jax.numpy as jnp
from shard_steps import adam, apply, attention, cross_entropy, dense, f32, i32, main, normalised, sgd


def vit(small):
    layers, b, size, d, h = (2, 16, 32, 64, 16) if small else (8, 128, 224, 768, 16)
    patches = (size // 16) ** 2

    def layer(x, w):
        y = normalised(x, w["scale1"])
        q, k, v = (jnp.einsum("bsd,dhc->bshc", y, w[n]) for n in "qkv")
        x = x + jnp.einsum("bshc,hcd->bsd", attention(q, k, v), w["o"])
        return x + jax.nn.gelu(normalised(x, w["scale2"]) @ w["up"]) @ w["down"], None

    def loss(p, batch):
        n = size // 16
        x = batch["images"].reshape(b, n, 16, n, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(b, patches, 768)
        x, _ = jax.lax.scan(layer, apply(p["in"], x) + p["places"], p["layers"])
        return cross_entropy(apply(p["out"], x.mean(1)), batch["labels"])

    w = {"q": (d, h, d // h), "k": (d, h, d // h), "v": (d, h, d // h), "o": (h, d // h, d), "up": (d, 4 * d),
         "down": (4 * d, d), "scale1": (d,), "scale2": (d,)}
    params = {"in": dense(768, d), "places": f32(patches, d), "layers": {n: f32(layers, *s) for n, s in w.items()},
              "out": dense(d, 1024)}
    return adam(loss)(params, {"images": f32(b, size, size, 3), "labels": i32(b)})


def lstm(small):
    b, s, d, vocabulary = (16, 8, 64, 512) if small else (64, 64, 1024, 32768)

    def loss(p, batch):
        def cell(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ p["x"] + h @ p["h"] + p["b"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        x = p["embedding"][batch["tokens"]].transpose(1, 0, 2)
        zero = jnp.zeros((b, d))
        _, y = jax.lax.scan(cell, (zero, zero), x)
        return cross_entropy(y.transpose(1, 0, 2) @ p["out"], batch["labels"])

    params = {"embedding": f32(vocabulary, d), "x": f32(d, 4 * d), "h": f32(d, 4 * d), "b": f32(4 * d),
              "out": f32(d, vocabulary)}
    return adam(loss)(params, {"tokens": i32(b, s), "labels": i32(b, s)})


def towers(small):
    b, users, items, d, h = (64, 256, 128, 16, 64) if small else (8192, 262144, 65536, 64, 512)

    def tower(p, table, ids, features):
        x = jnp.concatenate([table[ids].mean(1), apply(p["in"], features)], -1)
        x = apply(p["out"], jax.nn.relu(apply(p["mid"], x)))
        return normalised(x, 1.0)

    def loss(p, batch):
        u = tower(p["user"], p["users"], batch["user_ids"], batch["user_features"])
        v = tower(p["item"], p["items"], batch["item_ids"], batch["item_features"])
        return cross_entropy(u @ v.T, jnp.arange(b))

    side = {"in": dense(32, d), "mid": dense(2 * d, h), "out": dense(h, d)}
    return sgd(loss)({"users": f32(users, d), "items": f32(items, d), "user": side, "item": side},
                     {"user_ids": i32(b, 8), "item_ids": i32(b, 4), "user_features": f32(b, 32),
                      "item_features": f32(b, 32)})


def unet(small):
    b, size, widths = (16, 16, (16, 32)) if small else (32, 64, (64, 128, 256))

    def conv(x, w, stride=1):
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss(p, batch):
        x, kept = conv(batch["noisy"], p["stem"]), []
        for w in p["down"]:
            x = jax.nn.silu(conv(jax.nn.silu(conv(x, w["a"])), w["b"]))
            kept.append(x)
            x = conv(x, w["out"], 2)
        for w in p["up"]:
            x = jax.image.resize(x, (b, 2 * x.shape[1], 2 * x.shape[2], x.shape[3]), "nearest")
            x = jnp.concatenate([conv(x, w["in"]), kept.pop()], -1)
            x = jax.nn.silu(conv(jax.nn.silu(conv(x, w["a"])), w["b"]))
        return jnp.mean((conv(x, p["last"]) - batch["noise"]) ** 2)

    down, up, before = [], [], widths[0]
    for n in widths:
        down.append({"a": f32(3, 3, before, n), "b": f32(3, 3, n, n), "out": f32(3, 3, n, n)})
        before = n
    for n in widths[::-1]:
        up.append({"in": f32(3, 3, before, n), "a": f32(3, 3, 2 * n, n), "b": f32(3, 3, n, n)})
        before = n
    params = {"stem": f32(3, 3, 4, widths[0]), "down": down, "up": up, "last": f32(3, 3, widths[0], 4)}
    image = f32(b, size, size, 4)
    return adam(loss)(params, {"noisy": image, "noise": image})


def norm(x, p):
    x = x.astype(jnp.float32)
    m = x.mean(-1, keepdims=True)
    return ((x - m) * jax.lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * p["scale"] + p["shift"])


def clipped_adamw(loss):
    """AdamW with clipped gradients, as language models are trained: one weight's step depends on all gradients."""
    def step(params, moments, count, batch):
        value, grads = jax.value_and_grad(loss)(params, batch)
        size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g / jnp.maximum(1.0, size), grads)
        count += 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments["m"], grads)
        v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, moments["v"], grads)
        a, b = 1 - 0.9 ** count.astype(jnp.float32), 1 - 0.95 ** count.astype(jnp.float32)
        after = jax.tree.map(lambda p, m, v: p - 3e-4 * (m / a / (jnp.sqrt(v / b) + 1e-8) + 0.1 * p), params, m, v)
        return after, {"m": m, "v": v}, count, value

    return lambda params, batch: (step, (params, {"m": params, "v": params}, i32(), batch))


def language_model(layers, b, s, d, h, vocabulary, experts=0):
    """GPT in bfloat16: tied embeddings, biases, one matrix for queries, keys, values; experts in every other layer."""
    half = jnp.bfloat16

    def linear(x, p):
        return x.astype(half) @ p["w"].astype(half) + p["b"].astype(half)

    def attend(x, p):
        q, k, v = jnp.split(linear(x, p["qkv"]), 3, -1)
        q, k, v = (y.reshape(b, s, h, d // h) for y in (q, k, v))
        y = attention(q, k, v, jnp.tril(jnp.ones((s, s), bool)))
        return linear(y.reshape(b, s, d), p["out"])

    def top2(x, p):
        gates = jax.nn.softmax(x @ p["gate"])
        value, chosen = jax.lax.top_k(gates, 2)
        weight = (jax.nn.one_hot(chosen, experts) * (value / value.sum(-1, keepdims=True))[..., None]).sum(-2)
        y = jax.nn.silu(jnp.einsum("bsd,edf->ebsf", x.astype(half), p["up"].astype(half)))
        return jnp.einsum("ebsf,efd,bse->bsd", y, p["down"].astype(half), weight.astype(half))

    def loss(p, batch):
        x = p["tokens"][batch["tokens"]] + p["places"]
        for w in p["layers"]:
            x = x + attend(norm(x, w["norm1"]), w).astype(jnp.float32)
            y = norm(x, w["norm2"])
            y = top2(y, w) if "gate" in w else linear(jax.nn.gelu(linear(y, w["up"])), w["down"])
            x = x + y.astype(jnp.float32)
        logits = norm(x, p["norm"]).astype(half) @ p["tokens"].T.astype(half)
        return cross_entropy(logits.astype(jnp.float32), batch["labels"])

    scales = {"scale": f32(d), "shift": f32(d)}
    plain = {"norm1": scales, "norm2": scales, "qkv": dense(d, 3 * d), "out": dense(d, d)}
    fed = plain | {"up": dense(d, 4 * d), "down": dense(4 * d, d)}
    split = plain | {"gate": f32(d, experts), "up": f32(experts, d, 2 * d), "down": f32(experts, 2 * d, d)}
    params = {"tokens": f32(vocabulary, d), "places": f32(s, d), "norm": scales,
              "layers": [split if experts and i % 2 else fed for i in range(layers)]}
    return clipped_adamw(loss)(params, {"tokens": i32(b, s), "labels": i32(b, s)})


def gpt(small):
    return language_model(2, 16, 32, 64, 16, 512) if small else language_model(4, 32, 512, 1024, 16, 32768)


def gpt24(small):
    return language_model(24, 16, 32, 64, 16, 512) if small else language_model(24, 16, 512, 1024, 16, 32768)


def experts(small):
    return language_model(2, 16, 32, 64, 16, 512, 16) if small else language_model(4, 16, 512, 1024, 16, 32768, 16)


def diffusion(small):
    """A step of a transformer that removes noise; each layer is scaled and shifted by what the time says."""
    layers, b, size, d, h = (2, 16, 16, 64, 16) if small else (6, 64, 32, 768, 16)
    n = size // 2

    def loss(p, batch):
        t = batch["time"][:, None] * jnp.exp(-jnp.arange(128) / 14.0)
        t = apply(p["time2"], jax.nn.silu(apply(p["time1"], jnp.concatenate([jnp.sin(t), jnp.cos(t)], -1))))
        x = batch["noisy"].reshape(b, n, 2, n, 2, 4).transpose(0, 1, 3, 2, 4, 5).reshape(b, n * n, 16)
        x = apply(p["in"], x) + p["places"]
        for w in p["layers"]:
            a, c, e, f = jnp.split(apply(w["by_time"], jax.nn.silu(t))[:, None], 4, -1)
            y = normalised(x, 1.0) * (1 + a) + c
            q, k, v = jnp.moveaxis(apply(w["qkv"], y).reshape(b, n * n, 3, h, d // h), 2, 0)
            x = x + apply(w["out"], attention(q, k, v).reshape(b, n * n, d))
            y = normalised(x, 1.0) * (1 + e) + f
            x = x + apply(w["down"], jax.nn.gelu(apply(w["up"], y)))
        x = apply(p["last"], normalised(x, 1.0)).reshape(b, n, n, 2, 2, 4).transpose(0, 1, 3, 2, 4, 5)
        return jnp.mean((x.reshape(b, size, size, 4) - batch["noise"]) ** 2)

    layer = {"by_time": dense(d, 4 * d), "qkv": dense(d, 3 * d), "out": dense(d, d), "up": dense(d, 4 * d),
             "down": dense(4 * d, d)}
    params = {"time1": dense(256, d), "time2": dense(d, d), "in": dense(16, d), "places": f32(n * n, d),
              "layers": [layer] * layers, "last": dense(d, 16)}
    image = f32(b, size, size, 4)
    return adam(loss)(params, {"noisy": image, "noise": image, "time": f32(b)})


def prefill(small):
    """Serving: a prompt goes through a model with turned queries and keys, four queries to a key, and gated layers."""
    layers, b, s, d, h, vocabulary = (2, 16, 32, 64, 16, 512) if small else (6, 8, 1024, 2048, 32, 32768)
    c, shared = d // h, h // 4
    half = jnp.bfloat16

    def weight(*shape):
        return jax.ShapeDtypeStruct(shape, half)

    def turned(x):
        angle = jnp.arange(s)[:, None] * 10000.0 ** (-jnp.arange(c // 2) * 2 / c)
        sin, cos = jnp.sin(angle)[:, None].astype(half), jnp.cos(angle)[:, None].astype(half)
        a, z = jnp.split(x, 2, -1)
        return jnp.concatenate([a * cos - z * sin, z * cos + a * sin], -1)

    def step(params, tokens):
        x, cache = params["embedding"][tokens], []
        for w in params["layers"]:
            y = normalised(x, w["scale1"])
            q, k, v = turned((y @ w["q"]).reshape(b, s, h, c)), (y @ w["k"]), (y @ w["v"]).reshape(b, s, shared, c)
            k = turned(k.reshape(b, s, shared, c))
            cache.append((k, v))
            score = jnp.einsum("bqgrc,bkgc->bgrqk", q.reshape(b, s, shared, 4, c), k) * c ** -0.5
            score = jnp.where(jnp.tril(jnp.ones((s, s), bool)), score.astype(jnp.float32), -1e9)
            y = jnp.einsum("bgrqk,bkgc->bqgrc", jax.nn.softmax(score).astype(half), v)
            x = x + y.reshape(b, s, d) @ w["o"]
            y = normalised(x, w["scale2"])
            x = x + (jax.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]
        return normalised(x[:, -1], params["scale"]) @ params["head"], cache

    layer = {"q": weight(d, d), "k": weight(d, d // 4), "v": weight(d, d // 4), "o": weight(d, d),
             "gate": weight(d, 11 * d // 4), "up": weight(d, 11 * d // 4), "down": weight(11 * d // 4, d),
             "scale1": weight(d), "scale2": weight(d)}
    params = {"embedding": weight(vocabulary, d), "layers": [layer] * layers, "scale": weight(d),
              "head": weight(d, vocabulary)}
    return step, (params, i32(b, s))


if __name__ == "__main__":
    main((vit, lstm, towers, unet, gpt, gpt24, experts, diffusion, prefill), __doc__)
