#!/usr/bin/env python3
"""Fits a training step into less memory: the same operations, in an order that keeps less alive at once.

    examples/python/memory.py [SECONDS]             # of search; 20 unless said otherwise

First it shows where memory is needed most, then it looks for a better order. The result computes the same bits. Editors
and jupytext open this file as a notebook: a line that begins with "# %%" begins a cell.
"""
# %%
import sys

import jax
import jax.numpy as jnp
import numpy as np
import vantage

seconds = float(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdecimal() else 20  # a notebook has other arguments


# %%
def step(params, x, y):
    """Gradient descent through eight layers, and a second loss that looks at every layer: much is alive at once."""
    def loss(params):
        h, seen = x, 0.0
        for w in params:
            h = jax.nn.gelu(h @ w)
            seen += jnp.abs(jnp.fft.rfft(h, axis=0)).mean()
        return ((h - y) ** 2).mean() + 1e-3 * seen
    return [w - 0.1 * d for w, d in zip(params, jax.grad(loss)(params))]


keys = jax.random.split(jax.random.key(0), 10)
params = [jax.random.normal(k, (128, 128)) * 128 ** -0.5 for k in keys[:8]]
x, y = (jax.random.normal(k, (512, 128)) for k in keys[8:])

# %% [markdown]
# Where its program needs most memory, and what is in it there. In a notebook this draws itself.

# %%
needed = vantage.memory(step, params, x, y)
print(needed)
needed

# %% [markdown]
# The same operations in another order. What shares memory cannot run at once, so on several cores it may take longer:
# the report says how much. With `search_options=["--limit", "seconds:+2%"]` it is the answer only if it hardly does.

# %%
small = vantage.tune(step, params, x, y, space="order", objective="bytes", seconds=seconds)
print(small.report)
small.report

# %% [markdown]
# The same numbers, on the arguments given.

# %%
assert all(np.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(small(params, x, y), jax.jit(step)(params, x, y)))
