"""Layers, optimisers and the training step: what every model of the zoo is made of.

A model is a plain function `model(p, *batch)` that returns its loss. It asks `p` for each weight by
shape at the place of use, so that a layer is one line and no weight is declared twice. `p` is first
run with nothing inside, under jax.eval_shape, which only notes the shapes asked for; then with the
tracers of a training step, handed out in the same order. The one rule: ask outside of loops (a scan
may trace its body more than once).

No weight is ever drawn: all enter the program as parameters. So that any input is a valid state
(measuring uses arbitrary small numbers), second moments are held as their roots: a negative one
does no harm, and no step takes the root of a negative number.
"""
import functools
import math

import jax
import jax.numpy as jnp
from jax import lax


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def u32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.uint32)


class Params:
    """Hands out weights, and moving averages (state that is not trained), in the order of asking."""

    def __init__(self, weights=None, averages=None):
        self.given = weights, averages
        self.asked = [], []
        self.moved = []

    def _next(self, kind, shape):
        i, given = len(self.asked[kind]), self.given[kind]
        self.asked[kind].append(f32(*shape))
        return jnp.zeros(shape) if given is None else given[i]

    def __call__(self, *shape):
        return self._next(0, shape)

    def average(self, value, keep=0.99):
        """Notes `value` in a moving average, whose old value is returned."""
        old = self._next(1, value.shape)
        self.moved.append(keep * old + (1 - keep) * lax.stop_gradient(value))
        return old


def shapes(model, *batch):
    p = Params()
    jax.eval_shape(functools.partial(model, p), *batch)
    return p.asked


def train(model, optimiser, *batch):
    """One training step: forward, backward, update. Returns the function and its arguments' shapes."""
    weights, averages = shapes(model, *batch)
    slots = [optimiser.slots(w.shape) for w in weights]

    def step(t, weights, averages, slots, *batch):
        def loss(weights):
            p = Params(weights, averages)
            return model(p, *batch), p.moved

        (value, moved), grads = jax.value_and_grad(loss, has_aux=True)(weights)
        weights, slots = optimiser.update(t, weights, grads, slots)
        return weights, moved, slots, value

    return step, (i32(), weights, averages, slots, *batch)


def infer(model, *batch):
    weights, averages = shapes(model, *batch)

    def run(weights, averages, *batch):
        return model(Params(weights, averages), *batch)

    return run, (weights, averages, *batch)


# Optimisers: slots(shape) are the shapes of one weight's state, one(t, w, g, slots) its update.

class Momentum:
    """Stochastic gradient descent with momentum, and with `decay` of the weights."""

    def __init__(self, rate=0.01, decay=0.0):
        self.rate, self.decay = rate, decay

    def slots(self, shape):
        return (f32(*shape),)

    def one(self, t, w, g, slots):
        v = 0.9 * slots[0] + (g + self.decay * w if self.decay and w.ndim > 1 else g)
        return w - self.rate * v, (v,)

    def update(self, t, weights, grads, slots):
        new = [self.one(t, *wgs) for wgs in zip(weights, grads, slots)]
        return [w for w, _ in new], [s for _, s in new]


class Adam(Momentum):
    """Adam with bias correction; `decay` makes it AdamW, `clip` bounds the norm of all gradients."""

    def __init__(self, decay=0.0, clip=0.0):
        self.decay, self.clip = decay, clip

    def slots(self, shape):
        return f32(*shape), f32(*shape)

    def one(self, t, w, g, slots):
        m = 0.9 * slots[0] + 0.1 * g
        r = jnp.sqrt(0.999 * slots[1] ** 2 + 0.001 * g * g)
        n = t.astype(jnp.float32) + 1
        step = (m / (1 - 0.9 ** n)) / (r / jnp.sqrt(1 - 0.999 ** n) + 1e-8)
        return w - 1e-3 * (step + self.decay * w if self.decay and w.ndim > 1 else step), (m, r)

    def update(self, t, weights, grads, slots):
        if self.clip:
            norm = jnp.sqrt(sum(jnp.sum(g * g) for g in grads))
            scale = jnp.minimum(1, self.clip / (norm + 1e-6))
            grads = [g * scale for g in grads]
        return super().update(t, weights, grads, slots)


class RMSProp(Momentum):
    """With momentum, and a learning rate that decays exponentially: how mobile networks are trained."""

    def slots(self, shape):
        return f32(*shape), f32(*shape)

    def one(self, t, w, g, slots):
        rate = 0.016 * 0.97 ** jnp.floor(t.astype(jnp.float32) / 2.4)
        r = jnp.sqrt(0.9 * slots[0] ** 2 + 0.1 * g * g + 1e-3)
        v = 0.9 * slots[1] + rate * g / r
        return w - v, (r, v)


class Adagrad(Momentum):
    def slots(self, shape):
        return (f32(*shape),)

    def one(self, t, w, g, slots):
        r = jnp.sqrt(slots[0] ** 2 + g * g)
        return w - 0.05 * g / (r + 1e-6), (r,)


# Layers.

def dense(p, x, n):
    return x @ p(x.shape[-1], n) + p(n)


def mlp(p, x, *widths, act=jax.nn.relu):
    for n in widths[:-1]:
        x = act(dense(p, x, n))
    return dense(p, x, widths[-1])


def lookup(table, ids):
    return table.at[ids].get(mode="clip")


def layer_norm(p, x):
    d = x - jnp.mean(x, -1, keepdims=True)
    return d * lax.rsqrt(jnp.mean(d * d, -1, keepdims=True) + 1e-5) * p(x.shape[-1]) + p(x.shape[-1])


def rms_norm(p, x):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * p(x.shape[-1])


def batch_norm(p, x):
    """Over all but the last axis, with the batch's own statistics, which it notes."""
    axes = tuple(range(x.ndim - 1))
    mean = jnp.mean(x, axes)
    var = jnp.mean(jnp.square(x - mean), axes)
    p.average(mean)
    p.average(var)
    return (x - mean) * (lax.rsqrt(var + 1e-3) * p(x.shape[-1])) + p(x.shape[-1])


def conv(p, x, n, k=3, stride=1, groups=1, pad="SAME"):
    """NHWC, without bias (a normalisation follows)."""
    w = p(k, k, x.shape[-1] // groups, n)
    return lax.conv_general_dilated(x, w, (stride, stride), pad, feature_group_count=groups,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x, k=2, how=lax.max, start=-jnp.inf):
    return lax.reduce_window(x, start, how, (1, k, k, 1), (1, k, k, 1), "SAME")


def grow(x, k=2):
    """Nearest neighbour, k times as high and wide."""
    b, h, w, c = x.shape
    return jnp.broadcast_to(x[:, :, None, :, None], (b, h, k, w, k, c)).reshape(b, h * k, w * k, c)


def attention(p, x, memory, heads, mask=None):
    b, n, d = x.shape
    split = lambda y: y.reshape(b, -1, heads, d // heads)
    q, k, v = (split(dense(p, y, d)) for y in (x, memory, memory))
    score = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(d // heads)
    if mask is not None:
        score = jnp.where(mask, score, -1e9)
    mix = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(score), v)
    return dense(p, mix.reshape(b, n, d), d)


def cross_entropy(logits, labels):
    """Per example; labels are numbers of classes."""
    hot = labels[..., None] == jnp.arange(logits.shape[-1])
    return -jnp.sum(jnp.where(hot, jax.nn.log_softmax(logits), 0), -1)
