#!/usr/bin/env python3
"""Makes steps that nobody looked at while layouts were worked on, to judge what was made for bench/shard_steps.py.

    bench/shard_unseen.py DIR            all of them; with names, only those
    bench/shard_unseen.py --small DIR    the same programs with smaller tensors

A transformer on images whose layers are a loop, a language model with a recurrent loop, two towers that are compared
with all of a batch, and a network of convolutions that goes down and up again. All train.
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


if __name__ == "__main__":
    main((vit, lstm, towers, unet), __doc__)
