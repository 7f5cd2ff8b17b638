"""Training set: models of sequences (transformers, LSTM, WaveNet)."""
import jax
import jax.numpy as jnp
from jax import lax

from nn import (Adam, Momentum, attention, cross_entropy, dense, f32, i32, infer, layer_norm, lookup,
                mlp, rms_norm, train)


def encoder(p, tokens, targets, masked, layers=5, d=64, vocabulary=256):
    """Masked language model, pre-norm, GELU."""
    x = lookup(p(vocabulary, d), tokens) + p(tokens.shape[1], d)
    for _ in range(layers):
        y = layer_norm(p, x)
        x = x + attention(p, y, y, heads=4)
        x = x + mlp(p, layer_norm(p, x), 4 * d, d, act=jax.nn.gelu)
    loss = cross_entropy(dense(p, layer_norm(p, x), vocabulary), targets)
    weight = jax.nn.sigmoid(masked)
    return jnp.sum(loss * weight) / jnp.sum(weight)


GRAPHS = {
    "encoder": lambda: train(encoder, Adam(decay=0.01, clip=1.0), i32(4, 32), i32(4, 32), f32(4, 32)),
}
