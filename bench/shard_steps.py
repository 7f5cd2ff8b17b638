#!/usr/bin/env python3
"""Makes the steps that sharding is judged by: eight programs as people write them in JAX, as HloModuleProto.

    bench/shard_steps.py DIR            all of them; with names, only those
    bench/shard_steps.py --small DIR    the same programs with smaller tensors, to be run on a machine's own cores

Seven train (forward, backward, an optimiser's step), one decodes a token with a cache. Nothing in them says how to
shard. Arguments keep their names in the program, so that what is found can be told by them.
"""
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp

F32, I32 = jnp.float32, jnp.int32


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, F32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, I32)


def dense(d, n):
    return {"w": f32(d, n), "b": f32(n)}


def apply(p, x):
    return x @ p["w"] + p["b"]


def normalised(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def cross_entropy(logits, labels):
    return jnp.mean(jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[..., None], -1)[..., 0])


def adam(loss):
    """A step of Adam: (params, moments, batch) -> the same after it, and the loss."""
    def step(params, moments, batch):
        value, grads = jax.value_and_grad(loss)(params, batch)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments["m"], grads)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, moments["v"], grads)
        after = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-6), params, m, v)
        return after, {"m": m, "v": v}, value

    return lambda params, batch: (step, (params, {"m": params, "v": params}, batch))


def sgd(loss):
    def step(params, batch):
        value, grads = jax.value_and_grad(loss)(params, batch)
        return jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads), value

    return lambda params, batch: (step, (params, batch))


def mlp(small):
    b, d, h = (64, 128, 256) if small else (2048, 1024, 4096)

    def loss(p, batch):
        x = batch["x"]
        for layer in ("in", "mid", "out"):
            x = apply(p[layer], jax.nn.relu(x) if layer != "in" else x)
        return jnp.mean((x - batch["y"]) ** 2)

    return adam(loss)({"in": dense(d, h), "mid": dense(h, h), "out": dense(h, d)}, {"x": f32(b, d), "y": f32(b, d)})


def attention(q, k, v, mask=None):
    score = jnp.einsum("bqhc,bkhc->bhqk", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        score = jnp.where(mask, score, -1e9)
    return jnp.einsum("bhqk,bkhc->bqhc", jax.nn.softmax(score), v)


def block(d, h, ff):
    return {"q": f32(d, h, d // h), "k": f32(d, h, d // h), "v": f32(d, h, d // h), "o": f32(h, d // h, d),
            "up": f32(d, ff), "down": f32(ff, d), "scale1": f32(d), "scale2": f32(d)}


def transformer(layers, small):
    b, s, d, h, vocabulary = (16, 32, 64, 16, 512) if small else (16, 256, 512, 16, 16384)

    def loss(p, batch):
        x = p["embedding"][batch["tokens"]]
        mask = jnp.tril(jnp.ones((s, s), bool))
        for w in p["layers"]:
            y = normalised(x, w["scale1"])
            q, k, v = (jnp.einsum("bsd,dhc->bshc", y, w[n]) for n in "qkv")
            x = x + jnp.einsum("bshc,hcd->bsd", attention(q, k, v, mask), w["o"])
            x = x + jax.nn.gelu(normalised(x, w["scale2"]) @ w["up"]) @ w["down"]
        return cross_entropy(x @ p["head"], batch["labels"])

    params = {"embedding": f32(vocabulary, d), "layers": [block(d, h, 4 * d) for _ in range(layers)],
              "head": f32(d, vocabulary)}
    return adam(loss)(params, {"tokens": i32(b, s), "labels": i32(b, s)})


def transformer2(small):
    return transformer(2, small)


def transformer12(small):
    return transformer(12, small)


def moe(small):
    b, s, d, experts, ff = (16, 16, 64, 16, 128) if small else (16, 256, 512, 16, 2048)
    capacity = 2 * s // experts

    def expert_layer(p, x):
        gates = jax.nn.softmax(x @ p["gate"])
        chosen = jax.nn.one_hot(jnp.argmax(gates, -1), experts)
        place = jnp.cumsum(chosen, 1) * chosen - 1
        send = jax.nn.one_hot(place.astype(I32), capacity) * chosen[..., None]
        y = jnp.einsum("bsec,bsd->ebcd", send, x)
        y = jax.nn.relu(jnp.einsum("ebcd,edf->ebcf", y, p["up"]))
        y = jnp.einsum("ebcf,efd->ebcd", y, p["down"])
        return jnp.einsum("ebcd,bsec->bsd", y, send * gates[..., None])

    def loss(p, batch):
        x = apply(p["in"], batch["x"])
        for layer in p["layers"]:
            x = x + expert_layer(layer, x)
        return jnp.mean((apply(p["out"], x) - batch["y"]) ** 2)

    layer = {"gate": f32(d, experts), "up": f32(experts, d, ff), "down": f32(experts, ff, d)}
    return adam(loss)({"in": dense(d, d), "layers": [layer, layer], "out": dense(d, d)},
                      {"x": f32(b, s, d), "y": f32(b, s, d)})


def recommender(small):
    b, rows, d, tables, h = (128, 256, 16, 4, 64) if small else (4096, 65536, 64, 8, 1024)

    def loss(p, batch):
        x = jax.nn.relu(apply(p["bottom"], batch["dense"]))
        looked = [t[batch["ids"][:, i]] for i, t in enumerate(p["tables"])]
        all = jnp.stack([x] + looked, 1)
        pairs = jnp.einsum("bid,bjd->bij", all, all).reshape(b, -1)
        x = jnp.concatenate([x, pairs], -1)
        x = jax.nn.relu(apply(p["top1"], x))
        x = jax.nn.relu(apply(p["top2"], x))
        x = apply(p["top3"], x)[:, 0]
        return jnp.mean(jnp.logaddexp(0.0, x) - x * batch["clicked"])

    n = (tables + 1) ** 2 + d
    params = {"tables": [f32(rows, d) for _ in range(tables)], "bottom": dense(16, d), "top1": dense(n, h),
              "top2": dense(h, h), "top3": dense(h, 1)}
    return sgd(loss)(params, {"dense": f32(b, 16), "ids": i32(b, tables), "clicked": f32(b)})


def convnet(small):
    b, size, widths = (16, 16, (16, 32, 32)) if small else (64, 32, (64, 128, 256))

    def conv(x, w, stride=1):
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss(p, batch):
        x = jax.nn.relu(conv(batch["images"], p["stem"]))
        for i, w in enumerate(p["stages"]):
            x = jax.nn.relu(conv(x, w["enter"], 1 if i == 0 else 2))
            x = x + conv(jax.nn.relu(conv(x, w["a"])), w["b"])
            x = x * w["scale"] + w["shift"]
        return cross_entropy(apply(p["head"], jnp.mean(x, (1, 2))), batch["labels"])

    stages, before = [], widths[0]
    for n in widths:
        stages.append({"enter": f32(3, 3, before, n), "a": f32(3, 3, n, n), "b": f32(3, 3, n, n), "scale": f32(n),
                       "shift": f32(n)})
        before = n
    params = {"stem": f32(3, 3, 3, widths[0]), "stages": stages, "head": dense(before, 1024)}
    return sgd(loss)(params, {"images": f32(b, size, size, 3), "labels": i32(b)})


def graphnet(small):
    nodes, edges, d = (128, 512, 32) if small else (16384, 65536, 256)

    def loss(p, batch):
        x = apply(p["in"], batch["nodes"])
        for w in p["layers"]:
            message = jax.nn.relu(apply(w["edge"], jnp.concatenate([x[batch["from"]], x[batch["to"]]], -1)))
            sums = jax.ops.segment_sum(message, batch["to"], nodes)
            x = x + jax.nn.relu(apply(w["node"], jnp.concatenate([x, sums], -1)))
        return cross_entropy(apply(p["out"], x), batch["labels"])

    layer = {"edge": dense(2 * d, d), "node": dense(2 * d, d)}
    return adam(loss)({"in": dense(64, d), "layers": [layer] * 3, "out": dense(d, 64)},
                      {"nodes": f32(nodes, 64), "from": i32(edges), "to": i32(edges), "labels": i32(nodes)})


def decode(small):
    layers, b, s, d, h, vocabulary = (2, 16, 32, 64, 16, 512) if small else (8, 16, 1024, 1024, 16, 32768)

    def step(params, cache, tokens, at):
        x = params["embedding"][tokens]
        after = []
        for w, (keys, values) in zip(params["layers"], cache):
            y = normalised(x, w["scale1"])
            q, k, v = (jnp.einsum("bsd,dhc->bshc", y, w[n]) for n in "qkv")
            keys = jax.lax.dynamic_update_slice(keys, k, (0, at, 0, 0))
            values = jax.lax.dynamic_update_slice(values, v, (0, at, 0, 0))
            x = x + jnp.einsum("bshc,hcd->bsd", attention(q, keys, values, jnp.arange(s) <= at), w["o"])
            x = x + jax.nn.gelu(normalised(x, w["scale2"]) @ w["up"]) @ w["down"]
            after.append((keys, values))
        return jnp.argmax(x[:, -1] @ params["head"], -1).astype(I32), after

    params = {"embedding": f32(vocabulary, d), "layers": [block(d, h, 4 * d) for _ in range(layers)],
              "head": f32(d, vocabulary)}
    cache = [(f32(b, s, h, d // h), f32(b, s, h, d // h)) for _ in range(layers)]
    return step, (params, cache, i32(b, 1), i32())


STEPS = (mlp, transformer2, transformer12, moe, recommender, convnet, graphnet, decode)


def main(steps=STEPS, usage=__doc__):
    words = [w for w in sys.argv[1:] if w != "--small"]
    small = "--small" in sys.argv
    if not words or words[0].startswith("-"):
        sys.exit(usage)
    folder, names = pathlib.Path(words[0]), words[1:]
    folder.mkdir(parents=True, exist_ok=True)
    for make in steps:
        if names and make.__name__ not in names:
            continue
        step, args = make(small)
        module = jax.jit(step, keep_unused=True).lower(*args).compiler_ir("hlo")
        (folder / f"{make.__name__}.pb").write_bytes(module.as_serialized_hlo_module_proto())


if __name__ == "__main__":
    main()
