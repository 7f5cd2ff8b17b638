"""Training set: models of sequences (transformers, LSTM, WaveNet)."""
import jax
import jax.numpy as jnp
from jax import lax

from nn import (Adam, Params, RMSProp, attention, cross_entropy, dense, f32, i32, infer, layer_norm,
                lookup, mlp, rms_norm, train)


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


def rotate(x, at):
    """Rotary position embedding; x: batch, position, head, channel; at: position."""
    half = x.shape[-1] // 2
    angle = at[:, None, None] / 1e4 ** (jnp.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


def decode(p, tokens, cache, first, d=64, heads=4, vocabulary=256):
    """Logits after `tokens`, which stand at `first` and after; the cache holds keys and values of all layers."""
    b, n = tokens.shape
    at = first + jnp.arange(n)
    embedding = p(vocabulary, d)
    x = lookup(embedding, tokens)
    after = []
    for keys, values in cache:
        y = rms_norm(p, x)
        q, k, v = (z.reshape(b, n, heads, -1) for z in jnp.split(y @ p(d, 3 * d), 3, -1))
        keys = lax.dynamic_update_slice(keys, rotate(k, at), (0, first, 0, 0))
        values = lax.dynamic_update_slice(values, v, (0, first, 0, 0))
        score = jnp.einsum("bqhc,bkhc->bhqk", rotate(q, at), keys) / jnp.sqrt(float(d // heads))
        seen = jnp.arange(keys.shape[1]) <= at[:, None]
        mix = jnp.einsum("bhqk,bkhc->bqhc", jax.nn.softmax(jnp.where(seen, score, -1e9)), values)
        x = x + mix.reshape(b, n, d) @ p(d, d)
        y = rms_norm(p, x)
        x = x + (jax.nn.silu(y @ p(d, 3 * d)) * (y @ p(d, 3 * d))) @ p(3 * d, d)
        after.append((keys, values))
    return rms_norm(p, x[:, -1]) @ embedding.T, after


def decoder(p, prompt, layers=6, steps=24, d=64, heads=4):
    """Greedy generation: the prompt at once, then a token at a time in a loop, with a cache."""
    b, n = prompt.shape
    empty = jnp.zeros((b, n + steps, heads, d // heads))
    logits, cache = decode(p, prompt, [(empty, empty)] * layers, 0)

    def step(i, state):
        token, cache, out = state
        out = lax.dynamic_update_slice(out, token[:, None], (0, i))
        logits, cache = decode(Params(*p.given), token[:, None], cache, n + i)
        return jnp.argmax(logits, -1).astype(jnp.int32), cache, out

    first = jnp.argmax(logits, -1).astype(jnp.int32)
    return lax.fori_loop(0, steps, step, (first, cache, jnp.zeros((b, steps), jnp.int32)))[2]


def cell(weights, state, x):
    """One step of an LSTM with normalised gates."""
    h, c = state
    w, scale, bias = weights
    gates = jnp.concatenate([x, h], -1) @ w
    gates = gates - jnp.mean(gates, -1, keepdims=True)
    gates = gates * lax.rsqrt(jnp.mean(gates * gates, -1, keepdims=True) + 1e-5) * scale + bias
    i, f, g, o = jnp.split(gates, 4, -1)
    c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def cell_weights(p, n, d):
    return p(n + d, 4 * d), p(4 * d), p(4 * d)


def lstm(p, source, target, d=48, vocabulary=128, layers=2):
    """Translation: bidirectional encoder, decoder with attention; each a scan over time (time, batch)."""
    b = source.shape[1]
    x = lookup(p(vocabulary, d), source)
    zero = jnp.zeros((b, d)), jnp.zeros((b, d))
    for _ in range(layers):
        both = []
        for backwards in (False, True):
            w = cell_weights(p, x.shape[-1], d)

            def step(state, x, w=w):
                state = cell(w, state, x)
                return state, state[0]

            both.append(lax.scan(step, zero, x, reverse=backwards)[1])
        x = jnp.concatenate(both, -1)
    memory = dense(p, x, d)

    w, query, merge = cell_weights(p, 2 * d, d), p(d, d), p(2 * d, d)

    def emit(state, y):
        (h, c), context = state
        h, c = cell(w, (h, c), jnp.concatenate([y, context], -1))
        score = jnp.einsum("bd,tbd->tb", h @ query, memory)
        context = jnp.einsum("tb,tbd->bd", jax.nn.softmax(score, 0), memory)
        return ((h, c), context), jnp.tanh(jnp.concatenate([h, context], -1) @ merge)

    y = lookup(p(vocabulary, d), target)
    out = lax.scan(emit, (zero, zero[0]), y[:-1])[1]
    return jnp.mean(cross_entropy(dense(p, out, vocabulary), target[1:]))


def causal(p, x, n, dilation):
    """Convolution of width two over time: now and `dilation` steps ago."""
    past = jnp.pad(x, ((0, 0), (dilation, 0), (0, 0)))[:, :x.shape[1]]
    return x @ p(x.shape[-1], n) + past @ p(x.shape[-1], n)


def wavenet(p, wave, speaker, d=32, levels=64, dilations=(1, 2, 4, 8, 16, 32) * 2):
    """Gated, dilated, causal convolutions over mu-law samples, conditioned on a speaker."""
    who = lookup(p(16, d), speaker)[:, None]
    loud = jnp.sign(wave) * jnp.log1p(255 * jnp.abs(wave)) / jnp.log(256.0)
    classes = jnp.clip((loud + 1) / 2 * levels, 0, levels - 1).astype(jnp.int32)
    x = dense(p, loud[:, :-1, None], d)
    skips = 0
    for dilation in dilations:
        gate = causal(p, x, d, dilation) + dense(p, who, d)
        value = causal(p, x, d, dilation) + dense(p, who, d)
        y = jnp.tanh(value) * jax.nn.sigmoid(gate)
        skips = skips + dense(p, y, d)
        x = (x + dense(p, y, d)) * 0.7
    logits = mlp(p, jax.nn.relu(skips), d, levels)
    return jnp.mean(cross_entropy(logits, classes[:, 1:]))


GRAPHS = {
    "encoder": lambda: train(encoder, Adam(decay=0.01, clip=1.0), i32(4, 32), i32(4, 32), f32(4, 32)),
    "decoder": lambda: infer(decoder, i32(2, 24)),
    "lstm": lambda: train(lstm, Adam(clip=1.0), i32(20, 8), i32(16, 8)),
    "wavenet": lambda: train(wavenet, RMSProp(), f32(2, 256), i32(2)),
}
