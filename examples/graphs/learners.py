"""Training set, steps: learning by acting, by comparing, by gradients of gradients, often of several networks.

Written in the functional manner of research code: weights are lists of (matrix, bias), updates are `tree` over them.
"""
import jax
import jax.numpy as jnp
from jax import lax

from language import standard, surprise, tree
from nn import f32, i32, u32
from pictures import NHWC, adam, convolve, over_batch


def layers(*widths):
    return [(f32(a, b), f32(b)) for a, b in zip(widths, widths[1:])]


def perceptron(w, x, act=jax.nn.relu):
    for m, b in w[:-1]:
        x = act(x @ m + b)
    return x @ w[-1][0] + w[-1][1]


def follow(slow, w, by=0.005):
    return tree(lambda s, w: s + by * (w - s), slow, w)


def soft_actor_critic(seen=17, acts=6, batch=128):
    """Two critics, their slow copies, an actor that draws tanh of normals, a temperature: three Adam steps."""
    actor, critic = layers(seen, 96, 96, 2 * acts), layers(seen + acts, 96, 96, 1)

    def draw(w, s, key):
        mean, log = jnp.split(perceptron(w, s), 2, -1)
        log = -2.5 + 2.5 * jnp.tanh(log)
        noise = jax.random.normal(key, mean.shape)
        raw = mean + jnp.exp(log) * noise
        a = jnp.tanh(raw)
        likely = -0.5 * noise ** 2 - log - 0.919 - 2 * (0.6931 - raw - jax.nn.softplus(-2 * raw))
        return a, jnp.sum(likely, -1)

    def value(w, s, a):
        return perceptron(w, jnp.concatenate([s, a], -1))[:, 0]

    def step(state, data, key):
        pi, qs, slow, heat, (pm, pv), (qm, qv), (hm, hv) = state
        s, a, r, s2, done = data
        one, two = jax.random.split(key)
        warm = jnp.exp(heat)
        a2, l2 = draw(pi, s2, one)
        ahead = jnp.minimum(*(value(q, s2, a2) for q in slow)) - warm * l2
        goal = r + 0.99 * (1 - jax.nn.sigmoid(done)) * ahead

        def critics(qs):
            return sum(jnp.mean((value(q, s, jnp.tanh(a)) - goal) ** 2) for q in qs) / 2
        cost, g = jax.value_and_grad(critics)(qs)
        qs, qm, qv = adam(qs, g, qm, qv)

        def acting(pi):
            a, l = draw(pi, s, two)
            return jnp.mean(warm * l - jnp.minimum(*(value(q, s, a) for q in qs))), l
        (gain, l), g = jax.value_and_grad(acting, has_aux=True)(pi)
        pi, pm, pv = adam(pi, g, pm, pv)
        heat, hm, hv = adam(heat, -warm * jnp.mean(l - acts), hm, hv)
        return (pi, qs, follow(slow, qs), heat, (pm, pv), (qm, qv), (hm, hv)), cost, gain
    qs = [critic, critic]
    state = (actor, qs, qs, f32(), (actor, actor), (qs, qs), (f32(), f32()))
    return step, (state, (f32(batch, seen), f32(batch, acts), f32(batch), f32(batch, seen), f32(batch)), u32(2))


def rainbow(batch=16, acts=6, atoms=31):
    """Frames to a distribution of returns: dueling heads, noisy layers, weighed replay; centred RMSProp."""
    noisy = lambda a, b: dict(w=f32(a, b), b=f32(b), sw=f32(a, b), sb=f32(b))
    weights = dict(a=f32(8, 8, 4, 16), b=f32(4, 4, 16, 24), c=f32(3, 3, 24, 24),
                   adv=[noisy(384, 64), noisy(64, acts * atoms)],
                   val=[noisy(384, 64), noisy(64, atoms)])
    level = jnp.linspace(-5, 5, atoms)

    def fuzzy(p, x, key):
        f = lambda k, n: (lambda e: jnp.sign(e) * jnp.sqrt(jnp.abs(e)))(jax.random.normal(k, (n,)))
        one, two = jax.random.split(key)
        left, right = f(one, p["w"].shape[0]), f(two, p["w"].shape[1])
        return x @ (p["w"] + p["sw"] * left[:, None] * right) + p["b"] + p["sb"] * right

    def net(w, x, key):
        keys = jax.random.split(key, 4)
        x = jax.nn.relu(convolve(x, w["a"], 4))
        x = jax.nn.relu(convolve(x, w["b"], 2))
        x = jax.nn.relu(convolve(x, w["c"])).reshape(batch, -1)
        adv = fuzzy(w["adv"][1], jax.nn.relu(fuzzy(w["adv"][0], x, keys[0])), keys[1]).reshape(batch, acts, atoms)
        val = fuzzy(w["val"][1], jax.nn.relu(fuzzy(w["val"][0], x, keys[2])), keys[3])[:, None]
        return jax.nn.log_softmax(val + adv - jnp.mean(adv, 1, keepdims=True))

    def step(w, slow, mean, square, frames, act, reward, done, weight, key):
        before, after = frames[..., :4], frames[..., 4:]
        k1, k2, k3 = jax.random.split(key, 3)
        best = jnp.argmax(jnp.sum(jnp.exp(net(w, after, k1)) * level, -1), 1)
        far = jnp.take_along_axis(jnp.exp(net(slow, after, k2)), best[:, None, None], 1)[:, 0]
        power = 0.99 ** jnp.arange(3)
        goal = jnp.clip((reward @ power)[:, None] + 0.97 * (1 - jax.nn.sigmoid(done))[:, None] * level, -5, 5)
        place = (goal + 5) / (10 / (atoms - 1))
        near = jnp.clip(1 - jnp.abs(place[:, None] - jnp.arange(atoms)[:, None]), 0, 1)
        aim = jnp.einsum("bij,bj->bi", near, far)

        def loss(w):
            log = jnp.take_along_axis(net(w, before, k3), act[:, None, None], 1, mode="clip")[:, 0]
            each = -jnp.sum(aim * log, -1)
            return jnp.mean(jax.nn.sigmoid(weight) * each), each
        (value, each), g = jax.value_and_grad(loss, has_aux=True)(w)
        mean = tree(lambda m, g: 0.95 * m + 0.05 * g, mean, g)
        square = tree(lambda s, g: 0.95 * jnp.abs(s) + 0.05 * g * g, square, g)
        w = tree(lambda w, g, m, s: w - 2.5e-4 * g * lax.rsqrt(jnp.maximum(s - m * m, 0) + 1e-2), w, g, mean, square)
        return w, follow(slow, w), mean, square, value, jnp.sqrt(jnp.abs(each) + 1e-6)
    return step, (weights, weights, weights, weights, f32(batch, 32, 32, 8), i32(batch), f32(batch, 3), f32(batch),
                  f32(batch), u32(2))


def learn_to_learn(tasks=2, shots=6, inner=3):
    """Gradients through three inner steps with a learned rate for each weight, over a few small tasks; Adam."""
    net = dict(k=[f32(3, 3, 1, 8), f32(3, 3, 8, 8)], n=[f32(2, 8)] * 2, w=f32(128, 5), b=f32(5))

    def loss(w, x, y):
        for k, n in zip(w["k"], w["n"]):
            x = jax.nn.relu(over_batch(convolve(x, k, 2), *n))
        return jnp.mean(surprise(x.reshape(x.shape[0], -1) @ w["w"] + w["b"], jnp.minimum(y, 4)))

    def outer(wr, x, y, x2, y2):
        w, rate = wr
        for _ in range(inner):
            w = tree(lambda w, r, g: w - 0.1 * jax.nn.softplus(r) * g, w, rate, jax.grad(loss)(w, x, y))
        return loss(w, x2, y2)

    def step(wr, m, v, *data):
        value, g = jax.value_and_grad(lambda wr: jnp.mean(jax.vmap(outer, (None, 0, 0, 0, 0))(wr, *data)))(wr)
        return *adam(wr, g, m, v), value
    both = (net, net)
    return step, (both, both, both, f32(tasks, shots, 16, 16, 1), i32(tasks, shots), f32(tasks, shots, 16, 16, 1),
                  i32(tasks, shots))


def informed(points=384, border=96, d=40):
    """A network that solves Navier and Stokes: third derivatives inside the loss, its terms weighed by their slopes."""
    w = layers(3, d, d, d, 2)

    def stream(w, q):
        h = jnp.concatenate([jnp.sin(q), q])[:3]
        for m, b in w[:-1]:
            h = jnp.tanh(h @ m + b)
        return h @ w[-1][0] + w[-1][1]

    def flow(w, q):
        """Velocity of the stream function, and pressure."""
        psi = jax.grad(lambda q: stream(w, q)[0])(q)
        return jnp.stack([psi[1], -psi[0], stream(w, q)[1]])

    def wrong(w, q, thin):
        f = lambda q: flow(w, q)
        u = f(q)
        slope = jax.jacfwd(f)(q)
        second = [jax.jvp(lambda q: jax.jvp(f, (q,), (e,))[1], (q,), (e,))[1] for e in jnp.eye(3)[:2]]
        bend = second[0][:2] + second[1][:2]
        return slope[:2, 2] + slope[:2, :2] @ u[:2] + slope[2, :2] - 0.01 * jnp.exp(thin) * bend

    def step(w, thin, m, v, inside, edge, given):
        def terms(wt):
            w, thin = wt
            a = jnp.mean(jax.vmap(lambda q: jnp.sum(wrong(w, q, thin) ** 2))(inside))
            b = jnp.mean((jax.vmap(lambda q: flow(w, q))(edge) - given) ** 2)
            return jnp.stack([a, b])
        value, back = jax.vjp(terms, (w, thin))
        slopes = [back(e)[0] for e in jnp.eye(2)]
        size = [jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)) + 1e-9) for g in slopes]
        g = tree(lambda a, b: a + b * jnp.minimum(size[0] / size[1], 10), *slopes)
        (w, thin), m, v = adam((w, thin), g, m, v)
        return w, thin, m, v, value
    both = (w, f32())
    return step, (w, f32(), both, both, f32(points, 3), f32(border, 3), f32(border, 3))


def contrast(batch=12):
    """Two views of each photo cut, mirrored, recoloured and blurred in the program; a contrast of all; LARS."""
    weights = dict(k=[f32(3, 3, 3, 12), f32(3, 3, 12, 20), f32(3, 3, 20, 32)], n=[f32(2, 12), f32(2, 20), f32(2, 32)],
                   skip=f32(1, 1, 12, 32), head=layers(32, 48, 24))

    def view(photo, key):
        k = jax.random.split(key, 6)
        y, x = (jax.random.randint(a, (), 0, 8) for a in k[:2])
        cut = lax.dynamic_slice(photo, (y, x, 0), (24, 24, 3))
        cut = jnp.where(jax.random.bernoulli(k[2]), cut[:, ::-1], cut)
        light = 1 + 0.4 * (jax.random.uniform(k[3], (3,)) - 0.5)
        grey = jnp.mean(cut, -1, keepdims=True)
        far = jax.random.uniform(k[4])
        cut = light * (far * cut + (1 - far) * grey)
        size = 0.3 + jax.random.uniform(k[5])
        ring = jnp.exp(-jnp.arange(-2, 3) ** 2 / (2 * size * size))
        ring = ring / jnp.sum(ring)
        pad = jnp.pad(cut, ((2, 2), (2, 2), (0, 0)), mode="edge")
        rows = sum(ring[i] * pad[i:i + 24] for i in range(5))
        return sum(ring[i] * rows[:, i:i + 24] for i in range(5))

    def net(w, x):
        first = x = jax.nn.relu(over_batch(convolve(x, w["k"][0], 2), *w["n"][0]))
        x = jax.nn.relu(over_batch(convolve(x, w["k"][1], 2), *w["n"][1]))
        x = over_batch(convolve(x, w["k"][2]), *w["n"][2]) + convolve(first, w["skip"], 2)
        z = perceptron(w["head"], jnp.mean(jax.nn.relu(x), (1, 2)))
        return z * lax.rsqrt(jnp.sum(z * z, -1, keepdims=True) + 1e-6)

    def step(w, m, photos, key):
        keys = jax.random.split(key, 2 * batch).reshape(2, batch, 2)
        both = jnp.concatenate([jax.vmap(view)(photos, keys[i]) for i in (0, 1)])

        def loss(w):
            z = net(w, both)
            like = z @ z.T / 0.2 - 1e4 * jnp.eye(2 * batch)
            other = jnp.roll(jnp.arange(2 * batch), batch)
            return jnp.mean(surprise(like, other)), jnp.mean(jnp.argmax(like, -1) == other)

        def lars(w, g, m):
            size, slope = jnp.sqrt(jnp.sum(w * w)), jnp.sqrt(jnp.sum(g * g))
            m = 0.9 * m + (g + 1e-4 * w) * jnp.where(size > 0, 0.01 * size / (slope + 1e-4 * size + 1e-6), 1)
            return m
        (value, right), g = jax.value_and_grad(loss, has_aux=True)(w)
        m = tree(lars, w, g, m)
        return tree(lambda w, m: w - 0.3 * m, w, m), m, value, right
    return step, (weights, weights, f32(batch, 32, 32, 3), u32(2))


def game(batch=12, games=3):
    """Two networks against each other: pictures from noise, and a judge with a penalty on its slopes."""
    maker = dict(i=f32(24, 512), n=f32(2, 32), a=f32(4, 4, 32, 20), m=f32(2, 20), b=f32(4, 4, 20, 12),
                 o=f32(3, 3, 12, 3))
    judge = dict(a=f32(3, 3, 3, 12), b=f32(3, 3, 12, 20), c=f32(3, 3, 20, 32), o=f32(512, 1))

    def make(w, z):
        x = jax.nn.relu(over_batch((z @ w["i"]).reshape(batch, 4, 4, 32), *w["n"]))
        up = lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=NHWC)
        x = jax.nn.relu(over_batch(up(x, w["a"]), *w["m"]))
        return jnp.tanh(convolve(jax.nn.relu(up(x, w["b"])), w["o"]))

    def rate(w, x):
        x = jax.nn.leaky_relu(convolve(x, w["a"]), 0.2)
        x = jax.nn.leaky_relu(convolve(x, w["b"], 2), 0.2)
        x = jax.nn.leaky_relu(convolve(x, w["c"], 2), 0.2)
        return (x.reshape(x.shape[0], -1) @ w["o"])[:, 0]

    def step(g, d, gm, gv, dm, dv, real, key):
        def judged(d, z, mix):
            fake = make(g, z)
            between = real + mix * (fake - real)
            slope = jax.grad(lambda x: jnp.sum(rate(d, x)))(between)
            size = jnp.sqrt(jnp.sum(slope ** 2, (1, 2, 3)) + 1e-6)
            return jnp.mean(rate(d, fake)) - jnp.mean(rate(d, real)) + 10 * jnp.mean((size - 1) ** 2)
        one, two, three = jax.random.split(key, 3)
        z = jax.random.normal(one, (batch, 24))
        lost, slope = jax.value_and_grad(judged)(d, z, jax.random.uniform(two, (batch, 1, 1, 1)))
        d, dm, dv = adam(d, slope, dm, dv, 2e-4)
        won, slope = jax.value_and_grad(lambda g: -jnp.mean(rate(d, make(g, jax.random.normal(three, (batch, 24))))))(g)
        g, gm, gv = adam(g, slope, gm, gv, 2e-4)
        return g, d, gm, gv, dm, dv, lost, won
    return step, (maker, judge, maker, maker, judge, judge, f32(batch, 16, 16, 3), u32(2))


GRAPHS = {
    "soft-actor-critic": soft_actor_critic,
    "rainbow": rainbow,
    "learn-to-learn": learn_to_learn,
    "informed": informed,
    "contrast": contrast,
    "game": game,
}
