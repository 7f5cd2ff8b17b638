"""Graphs of a few sites, for tests: one for each kind of thing that can go wrong."""
import jax
import jax.numpy as jnp
from jax import lax

from nn import f32, i32


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


def nothing(x, y):
    """No site at all: a matrix product."""
    return x @ y


GRAPHS = {
    "chain": lambda: (chain, (f32(128, 128), f32(128, 128))),
    "reduction": lambda: (reduction, (f32(256, 512), f32(512))),
    "loop": lambda: (loop, (f32(64, 64), f32(64, 64))),
    "branch": lambda: (branch, (i32(), f32(96, 96))),
    "scatter": lambda: (scatter, (f32(64, 32), i32(40), f32(40, 32))),
    "nothing": lambda: (nothing, (f32(64, 64), f32(64, 64))),
}
