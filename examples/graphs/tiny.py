"""Graphs of a few sites, for tests: one for each kind of thing that can go wrong.

A row has the function, its arguments, and the numbers of those that are donated.
"""
import jax
import jax.numpy as jnp
from jax import lax

from nn import f32, i32, u32


def chain(x, y):
    """Elementwise only, one value used twice."""
    a = jnp.tanh(x * y)
    return jnp.exp(a - x) + a * y


def reduction(x, scale):
    """Nothing but a reduction and what feeds it."""
    return jnp.sum(jnp.abs(x) * scale, axis=1)


def loop(x, a):
    """A while loop with a known trip count and an array that changes in it."""
    return lax.fori_loop(0, 12, lambda i, y: jnp.tanh(y @ a) * 0.5 + y / (1 + jnp.abs(x)), x)


def branch(n, x):
    """A conditional whose branches both have something to fuse."""
    return lax.cond(n > 1, lambda v: jnp.exp(-v * v) + v, lambda v: jnp.cumsum(v * 2, axis=0) - v.T, x)


def scatter(table, rows, updates):
    """Gather, arithmetic, scatter."""
    old = table.at[rows].get(mode="clip")
    new = jnp.tanh(old + updates)
    return table.at[rows].add(new - old, mode="drop"), jnp.mean(new, -1)


def attention(q, keys, values, k, v, at):
    """A step of generation: a cache that is updated, masked scores, a softmax."""
    keys = lax.dynamic_update_slice(keys, k[:, None], (0, at, 0))
    values = lax.dynamic_update_slice(values, v[:, None], (0, at, 0))
    scores = jnp.einsum("hd,htd->ht", q, keys) * q.shape[-1] ** -0.5
    seen = lax.broadcasted_iota(jnp.int32, scores.shape, 1) <= at
    return keys, values, jnp.einsum("ht,htd->hd", jax.nn.softmax(jnp.where(seen, scores, -1e9)), values)


def convolution(x, w, scale):
    """Convolution, normalisation over the batch, pooling; and the way back through all three."""
    def loss(x, w, scale):
        y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        y = (y - y.mean((0, 1, 2))) * lax.rsqrt(y.var((0, 1, 2)) + 1e-3) * scale
        return jnp.sum(jax.nn.silu(lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")))

    return jax.value_and_grad(loss, (0, 1, 2))(x, w, scale)


def update(weights, momentum, gradients):
    """Weights and their momentum are donated: the results take their place in memory."""
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradients))
    clipped = [g * jnp.minimum(1, 1 / (norm + 1e-6)) for g in gradients]
    momentum = [0.9 * m + g for m, g in zip(momentum, clipped)]
    return [w - 0.01 * (g + 0.9 * m) - 1e-4 * w for w, g, m in zip(weights, clipped, momentum)], momentum


def scan(h, xs, a):
    """A loop within a loop, and results stacked slice by slice."""
    def row(h, x):
        h = lax.fori_loop(0, 3, lambda _, z: jnp.tanh(z @ a + x) * 0.5 + z * 0.5, h)
        return h, (jnp.max(h, -1), h * jax.nn.sigmoid(x))

    return lax.scan(row, h, xs)


def sort(x, key):
    """Random numbers, a sort with what it carries, reductions of two values at once."""
    noisy = x + 0.1 * jax.random.normal(jax.random.wrap_key_data(key), x.shape)
    order, carried = lax.sort((noisy, x * x - 1), num_keys=1)
    best, where = lax.top_k(noisy, 4)
    return order * carried, best, where, jnp.argmax(jnp.abs(noisy), -1), jnp.cumsum(order, -1)


def nothing(x, y):
    """No site at all: a matrix product."""
    return x @ y


GRAPHS = {
    "chain": lambda: (chain, (f32(128, 128), f32(128, 128))),
    "reduction": lambda: (reduction, (f32(256, 512), f32(512))),
    "loop": lambda: (loop, (f32(64, 64), f32(64, 64))),
    "branch": lambda: (branch, (i32(), f32(96, 96))),
    "scatter": lambda: (scatter, (f32(64, 32), i32(40), f32(40, 32))),
    "attention": lambda: (attention, (f32(8, 32), f32(8, 64, 32), f32(8, 64, 32), f32(8, 32), f32(8, 32), i32())),
    "convolution": lambda: (convolution, (f32(2, 8, 8, 4), f32(3, 3, 4, 8), f32(8))),
    "update": lambda: (update, 3 * ([f32(64, 96), f32(96), f32(96, 32)],), 0, 1),
    "scan": lambda: (scan, (f32(32, 48), f32(10, 32, 48), f32(48, 48))),
    "sort": lambda: (sort, (f32(32, 128), u32(2))),
    "nothing": lambda: (nothing, (f32(64, 64), f32(64, 64))),
}
