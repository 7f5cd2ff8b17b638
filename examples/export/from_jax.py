#!/usr/bin/env python3
"""An HLO file out of JAX: a training step of a small network.

    pip install jax, and `pip install .` in the checkout
    from_jax.py model.pb

Only `save` matters: copy it. It compiles and runs nothing, so shapes are enough: arguments may be
arrays, jax.ShapeDtypeStruct, or trees of either, as what jax.eval_shape returns.
"""
import pathlib
import sys

import jax
import jax.numpy as jnp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))  # if vantage is not installed
from vantage.rows import by_rows  # noqa: E402


def save(path, function, *arguments):
    lowered = jax.jit(function).lower(*arguments)
    pathlib.Path(path).write_bytes(by_rows(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()))


def loss(weights, x, y):
    (w1, b1), (w2, b2) = weights
    guess = jax.nn.gelu(x @ w1 + b1) @ w2 + b2
    return jnp.mean(jnp.square(guess - y))


def step(weights, x, y):
    value, grads = jax.value_and_grad(loss)(weights, x, y)
    return jax.tree.map(lambda w, g: w - 0.01 * g, weights, grads), value


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: from_jax.py FILE")
    shape = lambda *n: jax.ShapeDtypeStruct(n, jnp.float32)
    weights = [(shape(64, 256), shape(256)), (shape(256, 8), shape(8))]
    save(sys.argv[1], step, weights, shape(128, 64), shape(128, 8))
