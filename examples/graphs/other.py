"""Training set: what is neither a model of sequences nor of images."""
import jax
import jax.numpy as jnp
from jax import lax

from nn import Adagrad, cross_entropy, dense, f32, i32, lookup, mlp, train


def recommender(p, numbers, ids, clicked, hashed=512, d=12):
    """Wide and deep: a linear model of crossed features beside a perceptron over embeddings."""
    n = ids.shape[1]
    x = jnp.sign(numbers) * jnp.log1p(jnp.abs(numbers))
    deep = [x] + [lookup(p(hashed // 4, d), ids[:, i]) for i in range(n)]
    wide = p(1)
    for i in range(0, n - 1, 2):
        cross = jnp.bitwise_xor(ids[:, i] * 73856093, ids[:, i + 1] * 19349663) & (hashed - 1)
        wide = wide + lookup(p(hashed), ids[:, i] & (hashed - 1)) + lookup(p(hashed), cross)
    logit = mlp(p, jnp.concatenate(deep, -1), 64, 32, 1)[:, 0] + wide
    loss = jnp.maximum(logit, 0) - logit * clicked + jnp.log1p(jnp.exp(-jnp.abs(logit)))
    return jnp.mean(loss)


def adafactor(t, weights, grads, slots):
    """Adafactor over the weights of a transformer: factored second moments, relative steps, clipped."""
    n = t.astype(jnp.float32) + 1
    keep = 1 - n ** -0.8
    rate = jnp.minimum(1e-2, lax.rsqrt(n))
    rms = lambda x: jnp.sqrt(jnp.mean(jnp.square(x)))
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in grads))
    new, after = [], []
    for w, g, slot in zip(weights, grads, slots):
        g = g * jnp.minimum(1, 1 / (norm + 1e-6))
        square = g * g + 1e-30
        if w.ndim == 2:
            row, column = (keep * s * s + (1 - keep) * jnp.mean(square, a) for s, a in zip(slot, (1, 0)))
            u = g * lax.rsqrt(row / jnp.mean(row))[:, None] * lax.rsqrt(column)[None]
            slot = jnp.sqrt(row), jnp.sqrt(column)
        else:
            whole = keep * slot[0] ** 2 + (1 - keep) * square
            u, slot = g * lax.rsqrt(whole), (jnp.sqrt(whole),)
        u = u / jnp.maximum(1, rms(u))
        new.append(w - rate * (jnp.maximum(1e-3, rms(w)) * u + 1e-2 * w))
        after.append(slot)
    return new, after


def optimiser(layers=6, d=96):
    layer = [(d, 3 * d), (3 * d,), (d, d), (d,), (d, 4 * d), (4 * d,), (4 * d, d), (d,)] + [(d,)] * 4
    all_shapes = [(256, d), (64, d)] + layer * layers + [(d,), (d,), (d, 256)]
    weights = [f32(*s) for s in all_shapes]
    slots = [tuple(f32(n) for n in s) for s in all_shapes]
    return adafactor, (i32(), weights, weights, slots)


def slope(back, ahead):
    """Van Leer's limited slope."""
    product = back * ahead
    return jnp.where(product > 0, 2 * product / jnp.where(product > 0, back + ahead, 1.0), 0.0)


def upwind(q, speed, axis):
    """Flux of q through the lower face of each cell."""
    below, here = jnp.roll(q, 1, axis), q
    rise = slope(here - below, jnp.roll(q, -1, axis) - here)
    return jnp.where(speed > 0, speed * (below + jnp.roll(rise, 1, axis) / 2), speed * (here - rise / 2))


def tendency(state, ground, spin, dx=0.1):
    """Shallow water on a turning, doubly periodic plane, with a tracer, drag and viscosity."""
    h, u, v, c = state
    out = lambda flux, axis: (flux - jnp.roll(flux, -1, axis)) / dx
    grad = lambda q, axis: (jnp.roll(q, -1, axis) - jnp.roll(q, 1, axis)) / (2 * dx)
    face = lambda q, axis: (q + jnp.roll(q, 1, axis)) / 2
    laplace = lambda q: sum(jnp.roll(q, s, a) for s in (1, -1) for a in (0, 1)) - 4 * q
    uf, vf = face(u, 0), face(v, 1)
    level = 9.81 * (h + ground) + (u * u + v * v) / 2
    turn = spin + grad(v, 0) - grad(u, 1)
    drag = 0.01 * jnp.sqrt(u * u + v * v + 1e-6) / (jnp.abs(h) + 1)
    carry = lambda q: out(upwind(q, uf, 0), 0) + out(upwind(q, vf, 1), 1)
    return (carry(h), turn * v - grad(level, 0) + laplace(u) * 0.1 - drag * u,
            -turn * u - grad(level, 1) + laplace(v) * 0.1 - drag * v, carry(c) + 0.05 * laplace(c))


def shallow_water(h, u, v, c, ground, spin, steps=4, dt=1e-3):
    """Runge-Kutta of fourth order, a few steps in a loop; also energy and mass of each."""
    add = lambda state, rate, by: tuple(s + by * r for s, r in zip(state, rate))

    def step(state, _):
        f = lambda s: tendency(s, ground, spin)
        k1 = f(state)
        k2 = f(add(state, k1, dt / 2))
        k3 = f(add(state, k2, dt / 2))
        k4 = f(add(state, k3, dt))
        state = tuple(s + dt / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4))
        h, u, v, _ = state
        return state, (jnp.sum(h * (u * u + v * v) / 2 + 4.9 * h * h), jnp.sum(h))

    return lax.scan(step, (h, u, v, c), None, length=steps)


GRAPHS = {
    "recommender": lambda: train(recommender, Adagrad(), f32(512, 13), i32(512, 20), f32(512)),
    "optimiser": optimiser,
    "shallow-water": lambda: (shallow_water, (f32(48, 48),) * 6),
}
