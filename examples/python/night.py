#!/usr/bin/env python3
"""Measures decisions of your own programs for a while, learns from them, and tunes another program with the model.

    examples/python/night.py [SAMPLES]              # measured decisions of each program; 300 unless said otherwise

A night is the same with `seconds` of some hours in place of `samples`; a model takes the place of the one before only
if it is better, so this never makes searches worse. Everything goes into a folder of its own here; without
XDG_DATA_HOME it is ~/.local/share/vantage. Editors and jupytext open this file as a notebook: a line that begins with
"# %%" begins a cell.
"""
# %%
import os
import sys
import tempfile

import jax
import jax.numpy as jnp

samples = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdecimal() else 300  # a notebook has other arguments
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="vantage-night.")
import vantage  # noqa: E402

# %% [markdown]
# Two programs of yours, and a third one that nothing is measured of.


# %%
def smooth(u):
    for _ in range(4):
        u = u + 0.1 * jnp.tanh(jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u)
    return u


def normal(x):
    for _ in range(3):
        x = jnp.exp(-((x - x.mean(0)) / (x.std(0) + 1)) ** 2) + 0.5 * jnp.sin(x)
    return x


def other(u, v):
    for _ in range(3):
        u, v = u + 0.1 * jnp.sin(v - jnp.roll(v, 1, 1)), v * jnp.exp(-0.1 * jnp.abs(u))
    return u, v


# %% [markdown]
# The night: single decisions of the two are measured and kept, as many as there is time for.

# %%
u, v = jax.random.normal(jax.random.key(0), (2, 128, 128))
for function in (smooth, normal):
    print(f"{function.__name__}: {vantage.collect(function, u, samples=samples)} measured decisions")

# %% [markdown]
# The morning: a model is learnt from all that was measured, and judged on decisions that it has not seen.

# %%
print(vantage.learn())

# %% [markdown]
# From now on it guides every search, if it was found better than the one before.

# %%
fast = vantage.tune(other, u, v, budget=samples // 5)
print(fast.report)
fast.report

# %%
assert all(map(lambda a, b: bool(jnp.allclose(a, b, rtol=1e-4, atol=1e-5)), fast(u, v), other(u, v)))
