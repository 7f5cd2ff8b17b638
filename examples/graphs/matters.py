"""Training set, steps: optimisers that look at curvature, models of finance, of choices and of chance.

Functions of whole batches; what is fitted is a few arrays, or a small network whose layers are written out.
"""
import jax
import jax.numpy as jnp
from jax import lax

from language import surprise, tree
from learners import layers, perceptron
from nn import f32, i32, u32
from solvers import unrolled_solve


def inverse_fourth_root(a, turns=6):
    """a ** (-1/4) by coupled Newton steps; a is symmetric, made positive by what its caller adds."""
    n = a.shape[-1]
    eye = jnp.eye(n)
    size = jnp.sqrt(jnp.sum(a * a)) + 1e-6
    z = 5 / (2 * size)

    def turn(_, state):
        m, h = state
        t = (5 * eye - m) / 4
        t2 = t @ t
        return t2 @ t2 @ m, h @ t
    return lax.fori_loop(0, turns, turn, (a * z, eye * z ** 0.25))[1]


def shampoo(widths=(48, 64, 64, 24), batch=96):
    """Preconditioners on both sides of each matrix, their fourth roots by Newton; grafted to Adagrad's size."""
    net = layers(*widths)

    def one(w, g, left, right, graft, m):
        if w.ndim == 1:
            graft = jnp.abs(graft) + g * g
            u = g * lax.rsqrt(graft + 1e-6)
            m = 0.9 * m + u
            return w - 0.01 * m, left, right, graft, m
        left = 0.95 * left + 0.05 * g @ g.T
        right = 0.95 * right + 0.05 * g.T @ g
        whole = lambda a: a @ a.T + 1e-2 * jnp.eye(len(a))
        u = inverse_fourth_root(whole(left)) @ g @ inverse_fourth_root(whole(right))
        graft = jnp.abs(graft) + g * g
        size = jnp.sqrt(jnp.sum(jnp.square(g * lax.rsqrt(graft + 1e-6))))
        u = u * size / (jnp.sqrt(jnp.sum(u * u)) + 1e-6)
        m = 0.9 * m + u
        return w - 0.01 * (m + 1e-3 * w), left, right, graft, m

    def step(w, left, right, graft, m, x, y):
        def loss(w):
            out = perceptron(w, x, jnp.tanh)
            return jnp.mean(jnp.where(jnp.abs(out - y) < 1, 0.5 * (out - y) ** 2, jnp.abs(out - y) - 0.5))
        value, g = jax.value_and_grad(loss)(w)
        flat, form = jax.tree.flatten(w)
        g, graft, m = (jax.tree.leaves(a) for a in (g, graft, m))
        new = [one(*each) for each in zip(flat, g, left, right, graft, m)]
        w, left, right, graft, m = zip(*new)
        return form.unflatten(w), left, right, form.unflatten(graft), form.unflatten(m), value
    flat = jax.tree.leaves(net)
    side = lambda i: tuple(f32(w.shape[i], w.shape[i]) if len(w.shape) == 2 else f32() for w in flat)
    return step, (net, side(0), side(1), net, net, f32(batch, widths[0]), f32(batch, widths[-1]))


def natural(widths=(32, 48, 48, 10), batch=128):
    """K-FAC: curvature as products of inputs' and slopes' moments, inverted by Newton and Schulz; a bounded step."""
    net = layers(*widths)

    def invert(a, turns=8):
        a = a @ a.T + 0.05 * jnp.eye(len(a))
        x = a.T / (jnp.max(jnp.sum(jnp.abs(a), 0)) * jnp.max(jnp.sum(jnp.abs(a), 1)))
        return lax.fori_loop(0, turns, lambda _, x: 2 * x - x @ a @ x, x)

    def forward(w, extra, x):
        seen = []
        for i, ((m, b), e) in enumerate(zip(w, extra)):
            seen.append(jnp.concatenate([x, jnp.ones((batch, 1))], 1))
            x = x @ m + b + e
            x = x if i == len(w) - 1 else jax.nn.silu(x)
        return x, seen

    def step(w, ins, outs, x, label, key):
        zero = [jnp.zeros((batch, n)) for n in widths[1:]]

        def loss(w, extra, label):
            out, seen = forward(w, extra, x)
            return jnp.mean(surprise(out, label)), (out, seen)
        (value, (out, seen)), g = jax.value_and_grad(loss, has_aux=True)(w, zero, label)
        drawn = jax.random.categorical(key, out)
        slopes = jax.grad(lambda e: loss(w, e, drawn)[0])(zero)
        ins = [0.95 * a + 0.05 * s.T @ s / batch for a, s in zip(ins, seen)]
        outs = [0.95 * a + 0.05 * s.T @ s * batch for a, s in zip(outs, slopes)]
        ways = []
        for (gm, gb), a, s in zip(g, ins, outs):
            way = invert(a) @ jnp.concatenate([gm, gb[None]]) @ invert(s)
            ways.append((way[:-1], way[-1]))
        along = sum(jnp.vdot(a, b) for a, b in zip(jax.tree.leaves(ways), jax.tree.leaves(g)))
        rate = jnp.minimum(0.1, jnp.sqrt(1e-3 / (jnp.abs(along) + 1e-9)))
        return tree(lambda w, u: w - rate * u, w, ways), ins, outs, value
    ins, outs = [f32(n + 1, n + 1) for n in widths[:-1]], [f32(n, n) for n in widths[1:]]
    return step, (net, ins, outs, f32(batch, widths[0]), i32(batch), u32(2))


def greeks(options=4096):
    """Calls, puts, barriers and digitals on a smile: prices, their slopes to second order, implied volatilities."""
    def normal(x):
        t = 1 / (1 + 0.2316419 * jnp.abs(x))
        tail = jnp.exp(-x * x / 2) * 0.3989423 * t
        tail = tail * (0.3193815 + t * (-0.3565638 + t * (1.781478 + t * (-1.821256 + t * 1.330274))))
        return jnp.where(x > 0, 1 - tail, tail)

    def smile(q, logk, t):
        level, skew, curve = q
        k = logk - 0.1 * skew
        variance = 0.04 + level ** 2 + 0.3 * (skew * k + jnp.sqrt(k * k + 0.1 + curve ** 2))
        return jnp.sqrt(variance + 0.2) * (1 + 0.1 * jnp.exp(-t))

    def price(s, strike, t, rate, q):
        v = smile(q, jnp.log(strike / s), t)
        root = v * jnp.sqrt(t)
        d1 = (jnp.log(s / strike) + (rate + v * v / 2) * t) / root
        paid = strike * jnp.exp(-rate * t)
        call = s * normal(d1) - paid * normal(d1 - root)
        wall = 0.8 * strike
        lam = (rate + v * v / 2) / (v * v)
        y = jnp.log(wall * wall / (s * strike)) / root + lam * root
        inside = s * (wall / s) ** (2 * lam) * normal(y) - paid * (wall / s) ** (2 * lam - 2) * normal(y - root)
        digital = jnp.exp(-rate * t) * normal(d1 - root)
        return jnp.stack([call, call - s + paid, call - inside, digital])

    def implied(s, strike, t, rate, goal):
        def turn(_, v):
            root = v * jnp.sqrt(t)
            d1 = (jnp.log(s / strike) + (rate + v * v / 2) * t) / root
            worth = s * normal(d1) - strike * jnp.exp(-rate * t) * normal(d1 - root)
            vega = s * jnp.exp(-d1 * d1 / 2) * 0.3989423 * jnp.sqrt(t)
            return jnp.clip(v - (worth - goal) / jnp.maximum(vega, 1e-3), 0.02, 3.0)
        return lax.fori_loop(0, 5, turn, jnp.full_like(s, 0.5))

    def book(s, strike, t, rate, q, held):
        s, strike, t = 1 + 0.5 * s, 1 + 0.5 * strike, 0.6 + t

        def one(s, strike, t, rate):
            f = lambda *a: price(*a, q)
            first = jax.jacfwd(f, (0, 2, 3))(s, strike, t, rate)
            gamma = jax.jvp(lambda s: jax.jvp(lambda s: f(s, strike, t, rate), (s,), (1.0,))[1], (s,), (1.0,))[1]
            return f(s, strike, t, rate), first, gamma
        worth, first, gamma = jax.vmap(one)(s, strike, t, rate)
        total = lambda q: jnp.sum(held * jax.vmap(price, (0, 0, 0, 0, None))(s, strike, t, rate, q))
        vega = jax.grad(total)(q)
        again = implied(s, strike, t, rate, worth[:, 0])
        loss = jnp.sum(jnp.sort(jnp.sum(worth * held, 1))[:options // 20])
        return worth, first, gamma, vega, again, loss
    n = options
    return book, (f32(n), f32(n), f32(n), f32(n), (f32(), f32(), f32()), f32(n, 4))


def early_exercise(paths=1024, dates=8, basis=6):
    """Longstaff and Schwartz on three assets: paths drawn, then a regression for each date; price and deltas."""
    def run(start, vol, mix, rate, key):
        lower = jnp.tril(mix) + jnp.eye(3)
        dt = 1.0 / dates
        z = jax.random.normal(key, (dates, paths // 2, 3))
        z = jnp.concatenate([z, -z], 1) @ lower.T
        v = 0.1 + jnp.abs(vol) * 0.5

        def worth(start):
            grow = jnp.cumsum((0.05 * rate - v * v / 2) * dt + v * jnp.sqrt(dt) * z, 0)
            s = jnp.exp(0.2 * start + grow)
            pay = jnp.maximum(jnp.max(s, -1) - 1.05, 0)
            best = jnp.sort(s, -1)
            few = jnp.stack([jnp.ones_like(pay), best[..., 2], best[..., 2] ** 2, best[..., 1],
                             best[..., 2] * best[..., 1], pay], -1)

            def back(later, now):
                pay, few = now
                later = later * jnp.exp(-0.05 * rate * dt)
                w = jnp.where(pay > 0, 1.0, 0.0)[:, None] * few
                gram = w.T @ few / paths + 1e-3 * jnp.eye(basis)
                beta = unrolled_solve(gram, (w.T @ later / paths)[:, None])[:, 0]
                stop = (pay > 0) & (pay > lax.stop_gradient(few @ beta))
                return jnp.where(stop, pay, later), (jnp.mean(stop), beta)
            value, log = lax.scan(back, pay[-1], (pay[:-1], few[:-1]), reverse=True)
            return jnp.mean(value) * jnp.exp(-0.05 * rate * dt), (log, jnp.std(value))
        (price, log), delta = jax.value_and_grad(worth, has_aux=True)(start)
        return price, delta, log
    return run, (f32(3), f32(3), f32(3, 3), f32(), u32(2))


def alternating(users=96, items=128, k=8):
    """Matrix factorisation: users, then items, by least squares of eight unknowns eliminated in line."""
    def half(other, rated, trust, bias):
        rest = (rated - bias) * trust
        gram = jnp.einsum("ui,ia,ib->uab", trust, other, other) + 0.5 * jnp.eye(k)
        return unrolled_solve(gram, (rest @ other)[..., None])[..., 0]

    def run(u, v, bu, bv, rated, seen):
        trust = jnp.where(seen > 3, 1 + jnp.log1p(jnp.abs(rated)), 0.02)

        def turn(state, _):
            u, v, bu, bv = state
            bu = jnp.sum(trust * (rated - u @ v.T - bv), 1) / (jnp.sum(trust, 1) + 1)
            u = half(v, rated, trust, bu[:, None] + bv)
            bv = jnp.sum(trust * (rated - u @ v.T - bu[:, None]), 0) / (jnp.sum(trust, 0) + 1)
            v = half(u, rated.T, trust.T, bv[:, None] + bu)
            wrong = jnp.sum(trust * (rated - u @ v.T - bu[:, None] - bv) ** 2)
            return (u, v, bu, bv), wrong + 0.5 * (jnp.sum(u * u) + jnp.sum(v * v))
        (u, v, bu, bv), cost = lax.scan(turn, (u, v, bu, bv), None, length=2)
        return (u, v, bu, bv), cost, lax.top_k(jnp.where(seen > 3, -1e9, u @ v.T + bv), 10)
    return run, (f32(users, k), f32(items, k), f32(users), f32(items), f32(users, items), i32(users, items))


GRAPHS = {
    "shampoo": shampoo,
    "natural": natural,
    "greeks": greeks,
    "early-exercise": early_exercise,
    "alternating": alternating,
}
