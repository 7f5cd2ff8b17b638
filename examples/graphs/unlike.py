"""Training set, steps: attention by other means, and networks that hold a state."""
import jax
import jax.numpy as jnp
from jax import lax

from gatherings import step_of
from language import standard, surprise, tree, unit
from learners import layers, perceptron
from nn import f32, i32, u32
from pictures import adam, convolve


def performer(layers=3, d=48, heads=4, features=24, vocabulary=200, batch=2, length=64):
    """Attention by positive random features, drawn anew in each step: cumulated sums over the past."""
    c = d // heads
    layer = dict(qkv=f32(d, 3 * d), o=f32(d, d), n=f32(4, d), u=f32(d, 3 * d), v=f32(3 * d, d))
    weights = dict(words=f32(vocabulary, d), places=f32(length, d), layers=[layer] * layers, n=f32(2, d))

    def loss(w, text, key):
        x = w["words"].at[text[:, :-1]].get(mode="clip") + w["places"]
        for p, k in zip(w["layers"], jax.random.split(key, layers)):
            way = jax.random.normal(k, (features, c))
            lift = lambda y: jnp.exp(jnp.minimum(y @ way.T - jnp.sum(y * y, -1, keepdims=True) / 2, 8.0)) + 1e-3
            y = standard(x, p["n"][0], p["n"][1]) @ p["qkv"]
            q, k, v = jnp.split(y.reshape(batch, length, heads, 3 * c), 3, -1)
            q, k = lift(q * c ** -0.25), lift(k * c ** -0.25)
            both = jnp.cumsum(k[..., :, None] * v[..., None, :], 1)
            mass = jnp.einsum("blhf,blhf->blh", q, jnp.cumsum(k, 1))
            mix = jnp.einsum("blhf,blhfc->blhc", q, both) / mass[..., None]
            x = x + mix.reshape(batch, length, d) @ p["o"]
            x = x + jax.nn.gelu(standard(x, p["n"][2], p["n"][3]) @ p["u"]) @ p["v"]
        return jnp.mean(surprise(standard(x, *w["n"]) @ w["words"].T, text[:, 1:]))
    return step_of(loss, weights, i32(batch, length + 1), u32(2), update="momentum")


def retention(layers=4, d=48, heads=3, chunk=16, chunks=4, vocabulary=200):
    """Attention with decay: inside a chunk all at once, between chunks a state; normalised by head, gated."""
    c = d // heads
    layer = dict(q=f32(d, d), k=f32(d, d), v=f32(d, d), g=f32(d, d), o=f32(d, d), a=f32(d), b=f32(d), u=f32(d, 2 * d),
                 t=f32(d, 2 * d), v2=f32(2 * d, d))
    weights = dict(words=f32(vocabulary, d), layers=[layer] * layers, n=f32(d), out=f32(d, vocabulary))

    def mix(q, k, v):
        """q, k, v: time, head, channel."""
        fade = 1 - 2.0 ** (-3 - jnp.arange(heads))
        at = jnp.arange(chunk)
        age = at[:, None] - at
        inside = jnp.where(age >= 0, fade[:, None, None] ** jnp.maximum(age, 0), 0)
        past, rest, whole = fade[:, None] ** (at + 1), fade[:, None] ** (chunk - 1 - at), fade ** chunk
        cut = lambda x: x.reshape(chunks, chunk, heads, c)

        def one(state, qkv):
            q, k, v = qkv
            score = jnp.einsum("qhc,khc->hqk", q, k) * inside
            size = jnp.maximum(jnp.sum(jnp.abs(score), -1, keepdims=True), 1)
            out = jnp.einsum("hqk,khc->qhc", score / size, v)
            out = out + jnp.einsum("qhc,hcd,hq->qhd", q, state, past)
            state = whole[:, None, None] * state + jnp.einsum("khc,khd,hk->hcd", k, v, rest)
            return state, out
        _, out = lax.scan(one, jnp.zeros((heads, c, c)), (cut(q), cut(k), cut(v)))
        return out.reshape(chunks * chunk, heads, c)

    def loss(w, text):
        x = w["words"].at[text[:-1]].get(mode="clip")
        t = len(x)
        angle = jnp.arange(t)[:, None] * 1e-2 ** jnp.linspace(0, 1, c // 2)
        sin, cos = jnp.repeat(jnp.sin(angle), 2, -1)[:, None], jnp.repeat(jnp.cos(angle), 2, -1)[:, None]
        other = lambda z: jnp.stack([-z[..., 1::2], z[..., ::2]], -1).reshape(z.shape)
        for p in w["layers"]:
            y = unit(x, p["a"])
            q, k, v = ((y @ p[n]).reshape(t, heads, c) for n in "qkv")
            q, k = (z * cos + other(z) * sin for z in (q, k * c ** -0.5))
            z = mix(q, k, v)
            z = (z - jnp.mean(z, -1, keepdims=True)) * lax.rsqrt(jnp.var(z, -1, keepdims=True) + 1e-5)
            x = x + (jax.nn.silu(y @ p["g"]) * z.reshape(t, d)) @ p["o"]
            y = unit(x, p["b"])
            x = x + (jax.nn.gelu(y @ p["u"]) * (y @ p["t"])) @ p["v2"]
        return jnp.mean(surprise(unit(x, w["n"]) @ w["out"], text[1:]))
    return step_of(loss, weights, i32(chunk * chunks + 1))


def latents(batch=2, bytes_=192, d=40, few=16, heads=4, depth=3):
    """Many bytes read by few latents, three times with the same weights, and asked by position for hidden bytes."""
    attend = dict(n=f32(2, d), m=f32(2, d), q=f32(d, d), kv=f32(d, 2 * d), o=f32(d, d), r=f32(2, d), u=f32(d, 2 * d),
                  v=f32(2 * d, d))
    weights = dict(bytes=f32(256, d), latent=f32(few, d), read=attend, think=attend, write=attend,
                   ask=f32(24, d), out=f32(d, 256))

    def places(n):
        t = jnp.linspace(-1, 1, n)[:, None] * jnp.exp(jnp.linspace(0, 5, 12)) * jnp.pi
        return jnp.concatenate([jnp.sin(t), jnp.cos(t)], -1)

    def look(p, x, y, residue=True):
        b, n, _ = x.shape
        q = (standard(x, *p["n"]) @ p["q"]).reshape(b, n, heads, -1)
        k, v = jnp.split((standard(y, *p["m"]) @ p["kv"]).reshape(b, y.shape[1], heads, -1), 2, -1)
        share = jax.nn.softmax(jnp.einsum("bqhc,bkhc->bhqk", q, k) * (heads / d) ** 0.5)
        z = jnp.einsum("bhqk,bkhc->bqhc", share, v).reshape(b, n, d) @ p["o"]
        x = x + z if residue else z
        return x + jax.nn.gelu(standard(x, *p["r"]) @ p["u"]) @ p["v"]

    def loss(w, text, key):
        wave = places(bytes_) @ w["ask"]
        hidden = jax.random.bernoulli(key, 0.15, text.shape)
        x = jnp.where(hidden[..., None], 0, w["bytes"].at[text].get(mode="clip")) + wave
        z = jnp.broadcast_to(w["latent"], (batch, few, d))
        for _ in range(depth):
            z = look(w["read"], z, x)
            z = look(w["think"], z, z)
        y = look(w["write"], jnp.broadcast_to(wave, x.shape), z, residue=False)
        each = surprise(y @ w["out"], text)
        return jnp.sum(each * hidden) / (jnp.sum(hidden) + 1)
    return step_of(loss, weights, i32(batch, bytes_), u32(2))


def shifted_windows(batch=2, side=16, window=4, d=24, heads=3):
    """Attention in windows, every other time shifted, with what must not meet masked; patches merged between."""
    def block(d):
        return dict(n=f32(2, d), qkv=f32(d, 3 * d), b=f32(3 * d), bias=f32((2 * window - 1) ** 2, heads), o=f32(d, d),
                    m=f32(2, d),
                    u=f32(d, 3 * d), v=f32(3 * d, d))
    weights = dict(i=f32(2 * 2 * 3, d), a=[block(d)] * 2, n=f32(2, 4 * d), merge=f32(4 * d, 2 * d),
                   b=[block(2 * d)] * 2,
                   last=f32(2, 2 * d), head=f32(2 * d, 12))

    def windows(x):
        b, h, w, c = x.shape
        x = x.reshape(b, h // window, window, w // window, window, c).transpose(0, 1, 3, 2, 4, 5)
        return x.reshape(b, -1, window * window, c)

    def whole(x, h):
        b, n, _, c = x.shape
        return x.reshape(b, h // window, h // window, window, window, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h, h, c)

    def layer(p, x, shift):
        h, c = x.shape[1], x.shape[-1]
        y = jnp.roll(standard(x, *p["n"]), (-shift, -shift), (1, 2))
        y = windows(y) @ p["qkv"] + p["b"]
        q, k, v = jnp.split(y.reshape(x.shape[0], -1, window ** 2, heads, 3 * c // heads), 3, -1)
        at = jnp.arange(window ** 2)
        far = [(a[:, None] - a + window - 1) for a in (at // window, at % window)]
        score = jnp.einsum("bwqhc,bwkhc->bwhqk", q, k) * (heads / c) ** 0.5
        score = score + p["bias"][far[0] * (2 * window - 1) + far[1]].transpose(2, 0, 1)
        if shift:
            line = jnp.where(jnp.arange(h) < h - window, 0, jnp.where(jnp.arange(h) < h - shift, 1, 2))
            zone = windows((3 * line[:, None] + line)[None, ..., None].astype(jnp.float32))[0, ..., 0]
            score = jnp.where((zone[:, None] == zone[:, :, None])[:, None], score, score - 100)
        z = jnp.einsum("bwhqk,bwkhc->bwqhc", jax.nn.softmax(score), v).reshape(x.shape[0], -1, window ** 2, c) @ p["o"]
        x = x + jnp.roll(whole(z, h), (shift, shift), (1, 2))
        return x + jax.nn.gelu(standard(x, *p["m"]) @ p["u"]) @ p["v"]

    def loss(w, image, label):
        x = image.reshape(batch, side, 2, side, 2, 3).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(batch, side, side, 12) @ w["i"]
        for i, p in enumerate(w["a"]):
            x = layer(p, x, i % 2 * window // 2)
        x = jnp.concatenate([x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)], -1)
        x = standard(x, *w["n"]) @ w["merge"]
        for i, p in enumerate(w["b"]):
            x = layer(p, x, i % 2 * window // 2)
        return jnp.mean(surprise(jnp.mean(standard(x, *w["last"]), (1, 2)) @ w["head"], label))
    return step_of(loss, weights, f32(batch, 2 * side, 2 * side, 3), i32(batch))


def adjoint(batch=64, d=12, steps=10):
    """Learned dynamics by the midpoint rule; slopes by solving the adjoint backwards, with nothing kept."""
    w = layers(d + 1, 40, 40, d)

    def rate(w, x, t):
        return jnp.tanh(perceptron(w, jnp.concatenate([x, jnp.full((batch, 1), t)], -1), jax.nn.softplus))

    def leap(f, s, t, dt):
        half = tree(lambda s, r: s + dt / 2 * r, s, f(s, t))
        return tree(lambda s, r: s + dt * r, s, f(half, t + dt / 2))

    @jax.custom_vjp
    def solve(w, x):
        return lax.fori_loop(0, steps, lambda i, x: leap(lambda s, t: rate(w, s, t), x, i / steps, 1 / steps), x)

    def forth(w, x):
        y = solve(w, x)
        return y, (w, y)

    def back(kept, a):
        w, y = kept

        def all_rates(s, t):
            x, a, _ = s
            r, pull = jax.vjp(lambda w, x: rate(w, x, t), w, x)
            gw, gx = pull(a)
            return r, tree(jnp.negative, gx), tree(jnp.negative, gw)
        start = y, a, tree(jnp.zeros_like, w)
        x, a, gw = lax.fori_loop(0, steps, lambda i, s: leap(all_rates, s, 1 - i / steps, -1 / steps), start)
        return gw, a
    solve.defvjp(forth, back)

    def loss(w, x, y):
        out = solve(w, x)
        return jnp.mean((out - y) ** 2) + 1e-2 * jnp.mean(rate(w, x, 0.0) ** 2)
    return step_of(loss, w, f32(batch, d), f32(batch, d))


def world(batch=8, length=8, d=32, kinds=4, classes=6, acts=3):
    """A model of a world: a recurrent state, discrete latents drawn, balanced divergences; dreams to act in."""
    z = kinds * classes
    weights = dict(eye=[f32(4, 4, 1, 8), f32(4, 4, 8, 16)], see=layers(256 + d, 48, z), guess=layers(d, 48, z),
                   mix=layers(z + acts, d),
                   gru=f32(2 * d, 3 * d), n=f32(2, 3 * d), draw=layers(d + z, 96, 256), reward=layers(d + z, 32, 1),
                   act=layers(d + z, 32, acts), value=layers(d + z, 32, 1))

    def pick(logit, key):
        logit = logit.reshape(batch, kinds, classes)
        share = 0.99 * jax.nn.softmax(logit) + 0.01 / classes
        hot = jax.nn.one_hot(jax.random.categorical(key, jnp.log(share)), classes)
        return (hot + share - lax.stop_gradient(share)).reshape(batch, z), share

    def move(w, h, s, a):
        x = jax.nn.silu(perceptron(w["mix"], jnp.concatenate([s, a], -1)))
        r, c, u = jnp.split(standard(jnp.concatenate([x, h], -1) @ w["gru"], *w["n"]), 3, -1)
        u = jax.nn.sigmoid(u - 1)
        return u * jnp.tanh(jax.nn.sigmoid(r) * c) + (1 - u) * h

    def part(p, q):
        return jnp.sum(p * (jnp.log(p) - jnp.log(q)), (-1, -2))

    def loss(w, frames, acted, reward, key):
        x = jax.nn.silu(convolve(frames.reshape(-1, 16, 16, 1), w["eye"][0], 2))
        x = jax.nn.silu(convolve(x, w["eye"][1], 2)).reshape(length, batch, 256)

        def watch(state, now):
            h, s = state
            x, a, k = now
            h = move(w, h, s, a)
            _, before = pick(perceptron(w["guess"], h), k)
            s, after = pick(perceptron(w["see"], jnp.concatenate([x, h], -1)), k)
            stop = lax.stop_gradient
            gap = 0.8 * jnp.maximum(part(stop(after), before), 0.1) + 0.2 * jnp.maximum(part(after, stop(before)), 0.1)
            return (h, s), (h, s, gap)
        keys = jax.random.split(key, length)
        start = jnp.zeros((batch, d)), jnp.zeros((batch, z))
        (h, s), (hs, ss, gap) = lax.scan(watch, start, (x, acted, keys))
        both = jnp.concatenate([hs, ss], -1)
        drawn = perceptron(w["draw"], both).reshape(frames.shape)
        paid = perceptron(w["reward"], both)[..., 0]
        model = jnp.mean((drawn - frames) ** 2) * 16 + jnp.mean((paid - reward) ** 2) + jnp.mean(gap)

        still = lax.stop_gradient(w)

        def dream(state, k):
            h, s = state
            f = jnp.concatenate([h, s], -1)
            a = jnp.tanh(perceptron(w["act"], f))
            h = move(still, h, s, a)
            s, _ = pick(perceptron(still["guess"], h), k)
            f = jnp.concatenate([h, s], -1)
            return (h, s), (perceptron(still["reward"], f)[:, 0], perceptron(still["value"], f)[:, 0],
                            perceptron(w["value"], lax.stop_gradient(f))[:, 0])
        _, (r, v, learned) = lax.scan(dream, lax.stop_gradient((h, s)), jax.random.split(keys[0], 6))
        ahead = lambda g, rv: (rv[0] + 0.97 * (0.05 * rv[1] + 0.95 * g),) * 2
        _, gain = lax.scan(ahead, v[-1], (r, v), reverse=True)
        return model - jnp.mean(gain) + jnp.mean((learned - lax.stop_gradient(gain)) ** 2)
    return step_of(loss, weights, f32(length, batch, 16, 16), f32(length, batch, acts), f32(length, batch), u32(2))


GRAPHS = {
    "performer": performer,
    "retention": retention,
    "latents": latents,
    "shifted-windows": shifted_windows,
    "adjoint": adjoint,
    "world": world,
}
