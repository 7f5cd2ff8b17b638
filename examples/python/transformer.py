#!/usr/bin/env python3
"""Tunes a transformer block's training step, proves it on the caller's own numbers, and keeps it for other processes.

    examples/python/transformer.py [BUDGET]         # changes that are tried; 100 unless said otherwise

Needs JAX and vantage (pip install .). If nothing better is found, the result is the compiler's own program. Editors and
jupytext open this file as a notebook: a line that begins with "# %%" begins a cell.
"""
# %%
import pathlib
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import vantage

WIDTH, HEADS, LENGTH, BATCH = 64, 4, 64, 4
budget = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdecimal() else 100  # a notebook has other arguments

# %% [markdown]
# A block of a transformer, and a step of its training. Nothing in it is written for vantage.


# %%
def norm(x, scale):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale


def block(p, x):
    q, k, v = jnp.split(norm(x, p["before"]) @ p["qkv"], 3, -1)
    q, k, v = (a.reshape(BATCH, LENGTH, HEADS, -1).swapaxes(1, 2) for a in (q, k, v))
    scores = jnp.where(jnp.tri(LENGTH, dtype=bool), q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5, -1e9)
    x = x + (jax.nn.softmax(scores) @ v).swapaxes(1, 2).reshape(x.shape) @ p["out"]
    return x + jax.nn.gelu(norm(x, p["after"]) @ p["up"]) @ p["down"]


def step(p, x, y):
    """One step of gradient descent; the loss, too."""
    loss, slope = jax.value_and_grad(lambda p: ((block(p, x) - y) ** 2).mean())(p)
    return jax.tree.map(lambda w, d: w - 0.1 * d, p, slope), loss


keys = iter(jax.random.split(jax.random.key(0), 9))
shapes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
params = {name: jax.random.normal(next(keys), shape) * shape[0] ** -0.5 for name, shape in shapes.items()}
params |= {"before": jnp.ones(WIDTH), "after": jnp.ones(WIDTH)}
x, y = (jax.random.normal(next(keys), (BATCH, LENGTH, WIDTH)) for _ in range(2))

# %% [markdown]
# What is in its program. In a notebook this draws itself.

# %%
program = vantage.inspect(step, params, x, y)
print(program.sentence())
program

# %% [markdown]
# The search. Ctrl-C, or the notebook's stop button, ends it with the best so far. The report is the verdict: both
# programs were run in turns, as wholes, in fresh processes.

# %%
fast = vantage.tune(step, params, x, y, budget=budget)
print(fast.report)
fast.report

# %% [markdown]
# The same numbers over a few steps, each on what the one before gave.

# %%
ours, theirs, plain = params, params, jax.jit(step)
for i in range(5):
    ours, loss = fast(ours, x, y)
    theirs, wanted = plain(theirs, x, y)
    assert jnp.allclose(loss, wanted, rtol=1e-4), (i, loss, wanted)
print(f"loss after 5 steps: {loss:.6f}, by jax.jit {wanted:.6f}")

# %% [markdown]
# For the next process: a folder, and the function beside it for calls of another form.

# %%
if fast.tuned:
    with tempfile.TemporaryDirectory() as folder:
        vantage.save(fast, pathlib.Path(folder) / "step.tuned")
        again = vantage.load(pathlib.Path(folder) / "step.tuned", step)
        start = time.perf_counter()
        jax.block_until_ready(again(params, x, y))
        print(f"loaded again, it ran in {1e3 * (time.perf_counter() - start):.2f} ms")
