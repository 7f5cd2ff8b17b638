"""Training set, steps: narrow rows, of 3 to 100 numbers, in loops over time and in populations side by side.

Small networks steer, predict, filter and fit. Hardly any row is a power of two long, and the batch lies first, in the
middle or last, so that a bias spreads over another dimension each time.
"""
import functools
import itertools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.jet import jet
from jax.flatten_util import ravel_pytree

from gatherings import step_of
from language import standard, surprise, tree
from learners import layers, perceptron
from nn import f32, i32, u32
from pictures import adam


def cross(a, b):
    return jnp.roll(jnp.roll(a, -1) * b - a * jnp.roll(b, -1), -1)


def pole_swingers(people=44, starts=3, steps=40, d=24):
    """An evolution strategy: pairs of opposite policies swing up a pole on a cart; ranks move the mean and widths."""
    flat, unfold = ravel_pytree(tree(lambda s: jnp.zeros(s.shape), layers(5, d, d, 1)))

    def ride(genes, s):
        w = unfold(genes)

        def move(s, _):
            x, v, a, r = s
            push = jnp.tanh(perceptron(w, jnp.stack([x, v, jnp.sin(a), jnp.cos(a), r]), jnp.tanh)[0])
            swing = (push + 0.05 * r * r * jnp.sin(a)) / 1.1
            turn = (9.8 * jnp.sin(a) - jnp.cos(a) * swing) / (0.67 - 0.045 * jnp.cos(a) ** 2)
            v, r = v + 0.05 * (swing - 0.045 * turn * jnp.cos(a)), 0.99 * (r + 0.05 * turn)
            s = jnp.stack([x + 0.05 * v, v, a + 0.05 * r, r])
            return s, jnp.cos(s[2]) - 0.1 * s[0] ** 2 - 1e-3 * push ** 2
        return jnp.mean(lax.scan(move, s, None, length=steps)[1])

    def step(mean, deep, s, key):
        z = jax.random.normal(key, (people // 2, flat.size))
        z = jnp.concatenate([z, -z])
        width = 0.1 * jax.nn.softplus(deep)
        score = jnp.mean(jax.vmap(jax.vmap(ride, (None, 0)), (0, None))(mean + width * z, s), 1)
        rank = jnp.argsort(jnp.argsort(score)) / (people - 1) - 0.5
        return 0.999 * mean + 0.2 * width * (rank @ z) / people, deep + 0.02 * (rank @ (z * z - 1)), jnp.max(score)
    return step, (f32(flat.size), f32(flat.size), f32(starts, 4), u32(2))


def pendulum_learners(worlds=18, steps=30, d=20, parts=5, turns=2):
    """Pendulums acted in, advantages summed backwards, clipped ratios in shuffled parts; all in loops."""
    weights = dict(pi=layers(3, d, d, 1), log=f32(1), v=layers(3, d, d, 1))

    see = lambda s: jnp.stack([jnp.cos(s[0]), jnp.sin(s[0]), s[1] / 8], -1)
    worth = lambda w, x: perceptron(w["v"], x, jnp.tanh)[..., 0]

    def chance(w, x, a):
        off = (a - perceptron(w["pi"], x, jnp.tanh)) * jnp.exp(-w["log"])
        return -jnp.sum(0.5 * off ** 2 + w["log"] + 0.919, -1)

    def loss(w, data):
        x, a, old, gain, goal = data
        gain = (gain - jnp.mean(gain)) / (jnp.std(gain) + 1e-3)
        ratio = jnp.exp(chance(w, x, a) - old)
        won = jnp.minimum(ratio * gain, jnp.clip(ratio, 0.8, 1.2) * gain)
        return -jnp.mean(won) + 0.5 * jnp.mean((worth(w, x) - goal) ** 2) - 1e-3 * jnp.sum(w["log"])

    def step(w, m, v, s, key):
        def act(s, key):
            x = see(s)
            a = perceptron(w["pi"], x, jnp.tanh) + jnp.exp(w["log"]) * jax.random.normal(key, (worlds, 1))
            push = 2 * jnp.tanh(a[:, 0])
            angle = jnp.mod(s[0] + jnp.pi, 2 * jnp.pi) - jnp.pi
            cost = angle ** 2 + 0.1 * s[1] ** 2 + 1e-3 * push ** 2
            speed = jnp.clip(s[1] + 0.05 * (15 * jnp.sin(s[0]) + 3 * push), -8, 8)
            return jnp.stack([s[0] + 0.05 * speed, speed]), (x, a, chance(w, x, a), worth(w, x), -cost)
        one, two = jax.random.split(key)
        s, (x, a, old, value, paid) = lax.scan(act, s, jax.random.split(one, steps))
        after = jnp.concatenate([value[1:], worth(w, see(s))[None]])

        def back(gain, now):
            gain = now + 0.97 * 0.95 * gain
            return gain, gain
        _, gain = lax.scan(back, jnp.zeros(worlds), 0.1 * paid + 0.97 * after - value, reverse=True)
        data = tree(lambda y: y.reshape(worlds * steps, *y.shape[2:]), (x, a, old, gain, gain + value))

        def turn(state, key):
            order = jax.random.permutation(key, worlds * steps).reshape(parts, -1)

            def part(state, at):
                w, m, v = state
                cost, g = jax.value_and_grad(loss)(w, tree(lambda y: y[at], data))
                return adam(w, g, m, v, 3e-3), cost
            return lax.scan(part, state, order)
        (w, m, v), cost = lax.scan(turn, (w, m, v), jax.random.split(two, turns))
        return w, m, v, s, cost, jnp.mean(paid)
    return step, (weights, weights, weights, f32(2, worlds), u32(2))


def prey_hunters(series=36, kinds=5, d=50, steps=18):
    """Five kinds of animals whose growth a network learns from counts; Runge and Kutta, the batch last; Adam step."""
    weights = dict(net=layers(kinds, d, d, kinds), grow=f32(kinds), meet=f32(kinds, kinds))

    def rate(w, x):
        known = w["grow"][:, None] - jax.nn.softplus(w["meet"]) @ jnp.exp(jnp.minimum(x, 4))
        for m, b in w["net"][:-1]:
            x = jax.nn.softplus(m.T @ x + b[:, None])
        return 0.1 * known + w["net"][-1][0].T @ x + w["net"][-1][1][:, None]

    def loss(w, x, seen, gap):
        def leap(x, now):
            y, dt = now
            dt = 0.1 * jax.nn.sigmoid(dt)
            a = rate(w, x)
            b = rate(w, x + dt / 2 * a)
            c = rate(w, x + dt / 2 * b)
            x = x + dt / 6 * (a + 2 * b + 2 * c + rate(w, x + dt * c))
            return x, jnp.mean(jnp.log1p((x - y) ** 2))
        return jnp.mean(lax.scan(leap, x, (seen, gap))[1])
    return step_of(loss, weights, f32(kinds, series), f32(steps, kinds, series), f32(steps, series))


def sine_tasks(tasks=25, shots=10, d=40, inner=4):
    """Waves drawn in the program, each learnt in four steps from ten points; where to start is learnt; Adam."""
    weights = layers(1, d, d, 1)

    def far(w, x, y):
        return jnp.mean((perceptron(w, x[:, None], jnp.tanh)[:, 0] - y) ** 2)

    def loss(w, key):
        high, at, where = jax.random.split(key, 3)
        high, at = 0.1 + 5 * jax.random.uniform(high, (tasks, 1)), jnp.pi * jax.random.uniform(at, (tasks, 1))
        x = jax.random.uniform(where, (tasks, 2 * shots), minval=-5, maxval=5)

        def one(x, y):
            def learn(own, _):
                value, g = jax.value_and_grad(far)(own, x[:shots], y[:shots])
                return tree(lambda w, g: w - 0.01 * g, own, g), value
            own, _ = lax.scan(learn, w, None, length=inner)
            return far(own, x[shots:], y[shots:])
        return jnp.mean(jax.vmap(one)(x, high * jnp.sin(x + at)))
    return step_of(loss, weights, u32(2))


def planned_ahead(nets=5, plans=11, guesses=4, horizon=12, seen=6, acts=2, d=24, best=3):
    """Plans tried in five networks that guess what comes and how surely; the best ones are kept, till they agree."""
    weights = tree(lambda s: f32(nets, *s.shape), layers(seen + acts, d, d, 2 * seen))

    def ahead(w, low, high, x, a, key):
        y = jnp.concatenate([x, jnp.broadcast_to(a, (nets, *a.shape))], -1)
        for m, b in w[:-1]:
            y = jax.nn.silu(jnp.einsum("kpi,kio->kpo", y, m) + b[:, None])
        move, log = jnp.split(jnp.einsum("kpi,kio->kpo", y, w[-1][0]) + w[-1][1][:, None], 2, -1)
        log = low + jax.nn.softplus(high - jax.nn.softplus(high - log) - low)
        one, two = jax.random.uniform(key, (2, *x.shape))
        noise = jnp.sqrt(-2 * jnp.log(0.9999 * one + 1e-5)) * jnp.cos(2 * jnp.pi * two)
        return x + move + jnp.exp(0.5 * log) * noise

    def step(w, low, high, state, goal, mean, key):
        def worth(plan, key):
            """plan: time, plan, action."""
            def go(x, now):
                a, key = now
                x = ahead(w, low, high, x, a, key)
                gone = jnp.sum((x - goal) ** 2, -1) + 0.01 * jnp.sum(a ** 2, -1)
                return x, jnp.mean(1 - jnp.exp(-gone), 0)
            x = jnp.broadcast_to(state, (nets, plans * guesses, seen))
            _, cost = lax.scan(go, x, (jnp.repeat(plan, guesses, 1), jax.random.split(key, horizon)))
            return jnp.sum(cost, 0).reshape(plans, guesses).mean(1)

        def better(s):
            mean, wide, turn, key = s
            key, one, two = jax.random.split(key, 3)
            plan = jnp.tanh(mean[:, None] + wide[:, None] * jax.random.normal(one, (horizon, plans, acts)))
            _, at = lax.top_k(-worth(plan, two), best)
            kept = jnp.arctanh(0.999 * plan[:, at])
            return 0.1 * mean + 0.9 * kept.mean(1), 0.1 * wide + 0.9 * kept.std(1), turn + 1, key
        mean, wide, turn, _ = lax.while_loop(lambda s: (s[2] < 3) & (jnp.max(s[1]) > 0.05), better,
                                             (mean, jnp.ones((horizon, acts)), 0, key))
        return jnp.tanh(mean[0]), jnp.concatenate([mean[1:], mean[-1:]]), wide, turn
    return step, (weights, f32(seen), f32(seen), f32(seen), f32(seen), f32(horizon, acts), u32(2))


def spelled_names(names=20, length=30, letters=33, c=11, d=28):
    """Names letter by letter: gates that peep at the cell, normalised over 28, two layers; momentum step."""
    cell = lambda n: dict(x=f32(4, n, d), h=f32(4, d, d), b=f32(4, d), peep=f32(3, d), n=f32(2, d))
    weights = dict(letters=f32(letters, c), cells=[cell(c), cell(d)], out=layers(d, 17, letters))

    def tick(p, x, state):
        h, s = state
        i, f, o, new = jnp.einsum("bi,gio->gbo", x, p["x"]) + jnp.einsum("bi,gio->gbo", h, p["h"]) + p["b"][:, None]
        i, f = jax.nn.sigmoid(i + p["peep"][0] * s), jax.nn.sigmoid(f + 1 + p["peep"][1] * s)
        s = f * s + i * jnp.tanh(new)
        return jax.nn.sigmoid(o + p["peep"][2] * s) * jnp.tanh(standard(s, *p["n"])), s

    def loss(w, text):
        def letter(states, now):
            x, new = w["letters"].at[now].get(mode="clip"), []
            for p, state in zip(w["cells"], states):
                new.append(tick(p, x, state))
                x = new[-1][0]
            return new, x
        zero = jnp.zeros((names, d))
        _, x = lax.scan(letter, [(zero, zero)] * 2, text[:-1])
        return jnp.mean(surprise(perceptron(w["out"], x, jax.nn.gelu), text[1:]))
    return step_of(loss, weights, i32(length + 1, names), update="momentum")


def double_pendulum(batch=50, d=36, swings=6, steps=12):
    """A network is the Lagrangian of two joints; accelerations by its second derivatives; Adam step, then a swing."""
    weights = layers(6, d, d, 1)

    def lagrangian(w, q, v):
        return perceptron(w, jnp.concatenate([jnp.sin(q), jnp.cos(q), v]), jax.nn.softplus)[0] + 0.5 * jnp.sum(v * v)

    def rate(w, qv):
        q, v = qv[:2], qv[2:]
        (a, b), (c, d) = jax.hessian(lagrangian, 2)(w, q, v)
        mixed = jax.jacfwd(jax.grad(lagrangian, 2), 1)(w, q, v)
        x, y = jax.grad(lagrangian, 1)(w, q, v) - mixed @ v
        det = a * d - b * c
        return jnp.concatenate([v, jnp.stack([d * x - b * y, a * y - c * x]) * det / (det * det + 1e-2)])

    def loss(w, now, later):
        return jnp.mean(jax.vmap(lambda s, t: jnp.abs(s + 0.05 * rate(w, s + 0.025 * rate(w, s)) - t))(now, later))
    learn, given = step_of(loss, weights, f32(batch, 4), f32(batch, 4))

    def step(w, m, v, now, later, start):
        w, m, v, value = learn(w, m, v, now, later)

        def leap(s, _):
            s = s + 0.05 * jax.vmap(functools.partial(rate, w))(s)
            return s, jax.vmap(lambda s: s[2:] @ jax.grad(lagrangian, 2)(w, s[:2], s[2:]))(s)
        return w, m, v, value, lax.scan(leap, start, None, length=steps)
    return step, (*given, f32(swings, 4))


def dispersive_waves(points=100, edge=36, d=20, turns=3):
    """A network that obeys Korteweg and de Vries: third derivatives by Taylor's series; three Adam steps in a loop."""
    weights = dict(net=layers(2, d, d, d, 1), size=f32(2))
    height = lambda w, x, t: perceptron(w["net"], jnp.stack([x, t]), jnp.tanh)[0]

    def wrong(w, x, t):
        u, (ux, _, uxxx) = jet(lambda x: height(w, x, t), (x,), ((1.0, 0.0, 0.0),))
        ut = jax.grad(height, 2)(w, x, t)
        a, b = jax.nn.softplus(w["size"])
        return (ut + a * u * ux + 0.05 * b * uxxx) ** 2

    def loss(w, x, t, place, found):
        inside = jax.vmap(wrong, (None, 0, 0))(w, x, t)
        known = jax.vmap(height, (None, 0, None))(w, place, 0.0) - found
        ends = jax.vmap(height, (None, None, 0))(w, -1.0, t) - jax.vmap(height, (None, None, 0))(w, 1.0, t)
        return jnp.mean(inside) + 10 * jnp.mean(known ** 2) + jnp.mean(ends ** 2)

    def step(w, m, v, place, found, key):
        def turn(state, key):
            w, m, v = state
            x, t = jax.random.uniform(key, (2, points), minval=-1)
            value, g = jax.value_and_grad(loss)(w, x, (t + 1) / 2, place, found)
            return adam(w, g, m, v, 2e-3), value
        return lax.scan(turn, (w, m, v), jax.random.split(key, turns))
    return step, (weights, weights, weights, f32(edge), f32(edge), u32(2))


def crossing_crowd(scenes=6, people=12, d=17, score=9, steps=16):
    """Twelve who walk to their goals and mind each other by attention; steered past one another; Adam step."""
    weights = dict(i=layers(4, 11, d), pair=layers(5, score, 3), q=f32(3, d, 6), k=f32(3, d, 6), v=f32(3, d, 6),
                   mix=f32(18, d), gate=layers(2 * d, d), n=f32(2, d), out=layers(d, 11, 2))

    def walk(w, x, u, h, goal):
        h = h + perceptron(w["i"], jnp.concatenate([goal - x, u], -1), jnp.tanh)
        self = jnp.eye(people, dtype=bool)
        gap = x[:, None] - x
        near = jnp.exp(-jnp.sum(gap * gap, -1, keepdims=True))
        bias = perceptron(w["pair"], jnp.concatenate([gap, u[:, None] - u, near], -1), jax.nn.silu)
        q, k, v = (jnp.einsum("pc,hcd->hpd", h, w[n]) for n in "qkv")
        share = jax.nn.softmax(jnp.where(self, -1e9, jnp.einsum("hpd,hqd->hpq", q, k) + bias.transpose(2, 0, 1)))
        said = jnp.einsum("hpq,hqd->phd", share, v).reshape(people, 18) @ w["mix"]
        gate = jax.nn.sigmoid(perceptron(w["gate"], jnp.concatenate([h, said], -1)))
        h = standard(gate * h + (1 - gate) * jnp.tanh(said), *w["n"])
        u = 0.9 * u + 0.1 * jnp.tanh(perceptron(w["out"], h, jnp.tanh))
        cost = jnp.mean(jnp.sum((x - goal) ** 2, -1)) + jnp.sum(jnp.where(self, 0, near[..., 0] ** 20)) / people
        return x + 0.2 * u, u, h, cost

    def loss(w, x, u, goal):
        def tick(state, _):
            *state, cost = jax.vmap(walk, (None, 0, 0, 0, 0))(w, *state, goal)
            return tuple(state), jnp.mean(cost)
        return jnp.mean(lax.scan(tick, (x, u, jnp.zeros((scenes, people, d))), None, length=steps)[1])
    return step_of(loss, weights, *[f32(scenes, people, 2)] * 3)


def radar_tracks(tracks=24, times=14, n=6, seen=3, d=9):
    """Unscented filters of flights, their noises and a network of what pulls learnt by likelihood; Adam step."""
    weights = dict(pull=layers(n, d, 3), drift=f32(n), noise=f32(seen))

    def root(a):
        """The lower factor of a small matrix, a column at a time; roots are kept away from zero."""
        at = jnp.arange(n)

        def column(l, now):
            j, c = now
            c = c - l @ l[j]
            c = jnp.where(at >= j, c, 0) * lax.rsqrt(jnp.abs(c[j]) + 1e-3)
            return jnp.where(at == j, c[:, None], l), None
        return lax.scan(column, jnp.zeros_like(a), (at, a))[0]

    def spread(x, p):
        l = (n + 1) ** 0.5 * root(p).T
        return jnp.concatenate([x[None], x + l, x - l])

    def track(w, x, p, z):
        def move(s):
            pull = perceptron(w["pull"], s, jnp.tanh)
            return jnp.concatenate([s[:, :3] + 0.1 * s[:, 3:] + 5e-3 * pull, s[:, 3:] + 0.1 * pull], -1)

        def look(s):
            far = jnp.sqrt(jnp.sum(s[:, :3] ** 2, -1) + 0.1)
            return jnp.stack([far, jnp.sum(s[:, :3] * s[:, 3:], -1) / far, s[:, 2] / far], -1)

        share = jnp.where(jnp.arange(2 * n + 1) == 0, 1 / (n + 1), 0.5 / (n + 1))

        weighed = lambda a, b: jnp.einsum("s,si,sj->ij", share, a, b)

        def tick(state, z):
            s = move(spread(*state))
            x = share @ s
            p = weighed(s - x, s - x) + 0.05 * jnp.diag(jax.nn.softplus(w["drift"]))
            s = spread(x, p)
            y = look(s)
            mean = share @ y
            c = weighed(y - mean, y - mean) + 0.1 * jnp.diag(jax.nn.softplus(w["noise"]))
            whole = jnp.stack([cross(c[1], c[2]), cross(c[2], c[0]), cross(c[0], c[1])])
            det = c[0] @ whole[0] + 1e-6
            gain, off = weighed(s - x, y - mean) @ whole / det, z - mean
            return (x + gain @ off, p - gain @ c @ gain.T), off @ whole @ off / det + jnp.log(jnp.abs(det) + 1e-6)
        return jnp.mean(lax.scan(tick, (x, p @ p.T + jnp.eye(n)), z)[1])

    loss = lambda w, x, p, z: jnp.mean(jax.vmap(track, (None, 0, None, 0))(w, x, p, z))
    return step_of(loss, weights, f32(tracks, n), f32(n, n), f32(tracks, times, seen))


def firing_cells(trials=9, cells=40, steps=100, dt=0.02):
    """Cells after Hodgkin and Huxley with gates of exponentials; connections grow by who fires before whom."""
    def linear(x):
        """x / (1 - exp(-x)), also near zero."""
        small = jnp.abs(x) < 1e-3
        return jnp.where(small, 1 + x / 2, x / -jnp.expm1(-jnp.where(small, 1.0, x)))

    gate = lambda y, up, down: y + (up / (up + down) - y) * (1 - jnp.exp(-dt * (up + down)))

    def step(v, m, h, n, w, sign, current):
        squash = jax.nn.sigmoid
        v, m, h, n = -65 + 5 * jnp.tanh(v), squash(m - 3), squash(h), squash(n - 1)

        def tick(state, given):
            v, m, h, n, s, trace, w = state
            m = gate(m, linear((v + 40) / 10), 4 * jnp.exp(-(v + 65) / 18))
            h = gate(h, 0.07 * jnp.exp(-(v + 65) / 20), squash((v + 35) / 10))
            n = gate(n, 0.1 * linear((v + 55) / 10), 0.125 * jnp.exp(-(v + 65) / 80))
            g, reverse = s @ jnp.abs(w), s @ (jnp.abs(w) * jnp.tanh(sign)[:, None])
            into = 120 * m ** 3 * h * (50 - v) + 36 * n ** 4 * (-77 - v) + 0.3 * (-54.4 - v)
            into = into + g * (-40 - v) + 40 * reverse + 10 + 8 * given
            new = v + dt * jnp.clip(into, -2000, 2000)
            fired = squash((new + 20) / 2)
            s = s + dt * (2 * fired * (1 - s) - 0.2 * s)
            fires = ((new > 0) & (v <= 0)).astype(v.dtype)
            trace = 0.98 * trace + fires
            w = w + 1e-3 * (trace.T @ fires - 1.05 * fires.T @ trace) / trials
            return (new, m, h, n, s, trace, w), (jnp.mean(new, 0), jnp.sum(fires, 1))
        zero = jnp.zeros_like(v)
        state, (seen, fires) = lax.scan(tick, (v, m, h, n, zero, zero, w), current)
        return state, seen, fires
    return step, (*[f32(trials, cells)] * 4, f32(cells, cells), f32(cells), f32(steps, trials, cells))


def woven_weights(tasks=25, given=10, asked=36, z=9, d=24, small=20):
    """From ten points a code, from the code all weights of a small network, which answers for others; Adam step."""
    shapes = [(2, small), (1, small), (small, small), (1, small), (small, 2), (1, 2)]
    *ends, count = itertools.accumulate(a * b for a, b in shapes)
    weights = dict(each=layers(3, d, d), set=layers(d, d, 2 * z), weave=layers(z, 28, count), base=f32(count))

    def code(w, x, y):
        h = jnp.mean(perceptron(w["each"], jnp.concatenate([x, y], -1), jax.nn.gelu), 0)
        mean, log = jnp.split(perceptron(w["set"], h, jax.nn.gelu), 2)
        return mean, 0.1 + 0.9 * jax.nn.sigmoid(log)

    def one(w, x, y, noise):
        mean, wide = code(w, x[:given], y[:given])
        fuller, closer = code(w, x, y)
        woven = w["base"] + perceptron(w["weave"], fuller + closer * noise, jnp.sin)
        a, b, c, d, e, f = (m.reshape(s) * s[0] ** -0.5 for m, s in zip(jnp.split(woven, ends), shapes))
        h = jnp.tanh(x @ a + b)
        h = h + jax.nn.silu(h @ c + d)
        guess, log = jnp.split(h @ e + f, 2, -1)
        width = 0.1 + 0.9 * jax.nn.softplus(log)
        miss = jnp.mean(0.5 * ((y - guess) / width) ** 2 + jnp.log(width))
        gap = jnp.log(wide / closer) + 0.5 * (closer ** 2 + (fuller - mean) ** 2) / wide ** 2 - 0.5
        return miss + jnp.sum(gap) / (given + asked)

    def loss(w, x, y, key):
        return jnp.mean(jax.vmap(one, (None, 0, 0, 0))(w, x, y, jax.random.normal(key, (tasks, z))))
    return step_of(loss, weights, f32(tasks, given + asked, 2), f32(tasks, given + asked, 1), u32(2))


def bent_densities(batch=100, n=5, bins=11, d=20, depth=4, drawn=20):
    """Couplings that bend three of five numbers by mixtures of 11 steps, in a loop; Adagrad step; draws by halving."""
    own, rest = 2, n - 2
    block = tree(lambda s: f32(depth, *s.shape), layers(own, d, d, rest * (3 * bins + 2)))

    def knots(p, x):
        y = perceptron(p, x, jnp.tanh).reshape(*x.shape[:-1], rest, 3 * bins + 2)
        share, at, steep = jnp.split(y[..., :3 * bins], 3, -1)
        return jax.nn.log_softmax(share), 3 * at, jnp.tanh(steep), y[..., -2], jnp.tanh(y[..., -1])

    def bend(k, x):
        """The mixture's logit, moved and scaled, and the logarithm of its slope."""
        share, at, steep, shift, scale = k
        u = (x[..., None] - at) * jnp.exp(steep)
        below, above = jax.nn.log_sigmoid(u), jax.nn.log_sigmoid(-u)
        low, high = jax.nn.logsumexp(share + below, -1), jax.nn.logsumexp(share + above, -1)
        slope = jax.nn.logsumexp(share + steep + below + above, -1) - low - high
        return (low - high) * jnp.exp(scale) + shift, slope + scale

    def likely(w, x):
        def couple(state, p):
            x, total = state
            y, slope = bend(knots(p, x[:, :own]), x[:, own:])
            return (jnp.concatenate([y, x[:, :own]], -1), total + jnp.sum(slope, -1)), None
        (z, total), _ = lax.scan(couple, (x, jnp.zeros(len(x))), w)
        return jnp.mean(jnp.sum(jnp.log(jnp.cosh(jnp.clip(z, -20, 20) / 2)) * 2 + 1.386, -1) - total)
    learn, given = step_of(likely, block, f32(batch, n), update="adagrad")

    def step(w, s, x, key):
        w, s, value = learn(w, s, x)

        def uncouple(z, p):
            y, x = z[:, :rest], z[:, rest:]
            k = knots(p, x)

            def halve(ends):
                low, high = ends
                middle = (low + high) / 2
                right = bend(k, middle)[0] < y
                return jnp.where(right, middle, low), jnp.where(right, high, middle)
            low, high = lax.while_loop(lambda e: jnp.max(e[1] - e[0]) > 1e-3, halve,
                                       (jnp.full_like(y, -30.0), jnp.full_like(y, 30.0)))
            return jnp.concatenate([x, (low + high) / 2], -1), None
        z = jax.random.logistic(key, (drawn, n))
        return w, s, value, lax.scan(uncouple, z, w, reverse=True)[0]
    return step, (*given, u32(2))


def rotor_craft(craft=20, d=24, steps=50):
    """Craft of four rotors, each of its own weight, turned by quaternions; what steers them learns through 50 steps."""
    weights = dict(net=layers(16, d, d, 4), n=f32(2, d), a=f32(4, 3))

    def turned(q, v):
        t = 2 * cross(q[1:], v)
        return v + q[0] * t + cross(q[1:], t)

    def times(p, q):
        return jnp.concatenate([(p[0] * q[0] - p[1:] @ q[1:])[None], p[0] * q[1:] + q[0] * p[1:] + cross(p[1:], q[1:])])

    def fly(w, mass, bulk, goal, s):
        @jax.checkpoint
        def tick(s, _):
            x, v, q, o = s
            home = turned(q * jnp.array([1, -1, -1, -1.0]), goal - x)
            h = jnp.concatenate([home, v, q, o, jnp.tanh(home)])
            h = jnp.tanh(standard(h @ w["net"][0][0] + w["net"][0][1], *w["n"]))
            thrust = jax.nn.sigmoid(perceptron(w["net"][1:], h, jnp.tanh))
            lift = jnp.sum(thrust) * jnp.array([0, 0, 5.0]) / (0.5 + jax.nn.softplus(mass))
            twist = thrust @ jnp.tanh(w["a"]) + jnp.array([1, -1, 1, -1.0]) @ thrust * jnp.array([0, 0, 0.1])
            size = 0.2 + jax.nn.softplus(bulk)
            v = v + 0.02 * (turned(q, lift) - jnp.array([0, 0, 9.8]) - 0.1 * v * jnp.abs(v))
            o = o + 0.02 * (twist - cross(o, size * o)) / size
            q = q + 0.01 * times(q, jnp.concatenate([jnp.zeros(1), o]))
            q = q * lax.rsqrt(jnp.sum(q * q) + 1e-6)
            x = x + 0.02 * v
            cost = jnp.sum(jnp.sqrt((x - goal) ** 2 + 0.01)) + 0.01 * jnp.sum(o * o) + 0.01 * jnp.sum(thrust ** 2)
            return (x, v, q, o), cost
        x, v, q, o = s
        return jnp.mean(lax.scan(tick, (x, v, q + jnp.array([1, 0, 0, 0.0]), o), None, length=steps)[1])

    def step(w, m, mass, bulk, goal, s):
        value, g = jax.value_and_grad(lambda w: jnp.mean(jax.vmap(fly, (None, 0, 0, 0, 0))(w, mass, bulk, goal, s)))(w)
        m = tree(lambda m, g: 0.9 * m + jnp.clip(g, -1, 1), m, g)
        return tree(lambda w, m: 0.9999 * w - 1e-3 * m, w, m), m, value
    start = (f32(craft, 3), f32(craft, 3), f32(craft, 4), f32(craft, 3))
    return step, (weights, weights, f32(craft), f32(craft, 3), f32(craft, 3), start)


GRAPHS = {f.__name__.replace("_", "-"): f for f in (
    pole_swingers, pendulum_learners, prey_hunters, sine_tasks, planned_ahead, spelled_names, double_pendulum,
    dispersive_waves, crossing_crowd, radar_tracks, firing_cells, woven_weights, bent_densities, rotor_craft)}
