#!/usr/bin/env python3
"""Writes programs as the public libraries of JAX make them, to be searched as a stranger's would be.

    bench/libraries.py [--out DIR] [NAME]...
    for f in DIR/*.pb; do bin/search --graph $f --seconds 60; done

Nothing is learnt from these, and nothing was fitted to them: a few lines each, by flax, haiku, optax, equinox, diffrax,
blackjax, numpyro, jraph and jaxopt (`pip install` those, and jax), with sizes that run for 0.2 to 200 ms. Weights and
data are arguments, so a program is small. `bench/README.md` has what searches found.
"""
import argparse
import pathlib

import jax
import jax.numpy as jnp
from jax import lax, random

PROGRAMS = {}


def program(make):
    """A function that returns what is to be compiled, and its arguments."""
    PROGRAMS[make.__name__] = make
    return make


def zeros(like):
    return jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), like)


def step_of(loss, optimiser):
    """A training step: loss(params, *data) and its gradients, and what the optimiser makes of them."""
    import optax

    def step(params, state, *data):
        value, grads = jax.value_and_grad(loss)(params, *data)
        updates, state = optimiser.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value
    return step


def labels(logits, wanted):
    import optax
    return optax.softmax_cross_entropy_with_integer_labels(logits, wanted).mean()


@program
def flax_gpt_adamw():
    import flax.linen as nn
    import optax

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
            x = x + nn.MultiHeadDotProductAttention(8)(nn.LayerNorm()(x), mask=mask)
            return x + nn.Dense(256)(nn.gelu(nn.Dense(1024)(nn.LayerNorm()(x))))

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(2000, 256)(tokens) + self.param("place", nn.initializers.normal(), (128, 256))
            for _ in range(6):
                x = Block()(x)
            return nn.Dense(2000)(nn.LayerNorm()(x))

    model, tokens = Model(), jnp.zeros((4, 128), jnp.int32)
    params = zeros(jax.eval_shape(model.init, random.PRNGKey(0), tokens))
    rate = optax.warmup_cosine_decay_schedule(0, 1e-3, 10, 100)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate))
    loss = lambda p, t: labels(model.apply(p, t)[:, :-1], t[:, 1:])
    return step_of(loss, optimiser), params, optimiser.init(params), tokens


def gpt(layers):
    """Every layer written out, with dropout, as a loop in Python makes it."""
    import optax
    width, heads, words, length, batch = 128, 4, 512, 64, 2
    shapes = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width), "down": (4 * width, width),
              "norm1": (width,), "norm2": (width,)}
    params = [{k: jnp.zeros(s) for k, s in shapes.items()} for _ in range(layers)], jnp.zeros((words, width))

    def norm(x, gain):
        x = x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * (1 + gain)

    def layer(x, w, key):
        q, k, v = jnp.split((norm(x, w["norm1"]) @ w["qkv"]).reshape(batch, length, heads, -1), 3, -1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(batch, length, width) @ w["out"]
        h = jax.nn.gelu(norm(x, w["norm2"]) @ w["up"])
        return x + jnp.where(random.bernoulli(key, 0.9, h.shape), h / 0.9, 0) @ w["down"]

    def loss(params, tokens, key):
        x = params[1][tokens]
        for i, w in enumerate(params[0]):
            x = layer(x, w, random.fold_in(key, i))
        return labels((x @ params[1].T)[:, :-1], tokens[:, 1:])

    optimiser = optax.adamw(1e-3)
    return (step_of(loss, optimiser), params, optimiser.init(params), jnp.zeros((batch, length), jnp.int32),
            random.PRNGKey(0))


@program
def gpt_24_layers():
    return gpt(24)


@program
def gpt_72_layers():
    return gpt(72)


@program
def haiku_resnet_lion():
    import haiku as hk
    import optax
    net = hk.transform_with_state(lambda x: hk.nets.ResNet18(100)(x, True))
    images, wanted, optimiser = jnp.zeros((8, 64, 64, 3)), jnp.zeros(8, jnp.int32), optax.lion(1e-4)
    params, stats = zeros(jax.eval_shape(net.init, random.PRNGKey(0), images))
    loss = lambda p, s, x, y: labels(net.apply(p, s, None, x)[0], y)
    return step_of(loss, optimiser), params, optimiser.init(params), stats, images, wanted


@program
def diffrax_neural_ode():
    import diffrax
    import equinox as eqx
    import optax
    mlp = eqx.nn.MLP(2, 2, 64, 3, activation=jax.nn.softplus, key=random.PRNGKey(0))
    params, static = eqx.partition(mlp, eqx.is_array)
    times, optimiser = jnp.linspace(0, 10, 50), optax.adabelief(3e-3)

    def loss(params, paths):
        term = diffrax.ODETerm(lambda t, y, args: eqx.combine(params, static)(y))
        solve = lambda y0: diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 10.0, 0.1, y0, throw=False, max_steps=256,
            stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-6), saveat=diffrax.SaveAt(ts=times)).ys
        return jnp.mean((jax.vmap(solve)(paths[:, 0]) - paths) ** 2)
    return step_of(loss, optimiser), params, optimiser.init(params), jnp.zeros((16, 50, 2))


@program
def blackjax_nuts():
    import blackjax

    def run(key, position, x, y):
        density = lambda b: -jnp.sum(jnp.logaddexp(0, -(2 * y - 1) * (x @ b))) - 0.5 * jnp.sum(b ** 2)
        nuts = blackjax.nuts(density, 1e-2, jnp.ones(20))

        def one(state, key):
            state, _ = nuts.step(key, state)
            return state, state.position
        return lax.scan(one, nuts.init(position), random.split(key, 20))[1]
    return run, random.PRNGKey(0), jnp.zeros(20), jnp.zeros((500, 20)), jnp.zeros(500)


@program
def numpyro_svi():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal

    def model(x, y):
        first = numpyro.sample("first", dist.Normal(jnp.zeros((10, 32)), 1).to_event(2))
        second = numpyro.sample("second", dist.Normal(jnp.zeros(32), 1).to_event(1))
        scale = numpyro.sample("scale", dist.HalfCauchy(1.0))
        with numpyro.plate("data", 256):
            numpyro.sample("seen", dist.Normal(jnp.tanh(x @ first) @ second, scale), obs=y)
    svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(1e-2), Trace_ELBO(num_particles=4))
    x, y = jnp.ones((256, 10)), jnp.ones(256)
    return svi.update, svi.init(random.PRNGKey(0), x, y), x, y


@program
def jraph_network():
    import haiku as hk
    import jraph
    import optax
    nodes, edges = 400, 2000
    ends = random.randint(random.PRNGKey(0), (2, edges), 0, nodes)
    graph = jraph.GraphsTuple(nodes=jnp.zeros((nodes, 32)), edges=jnp.zeros((edges, 16)), senders=ends[0],
        receivers=ends[1], n_node=jnp.array([nodes]), n_edge=jnp.array([edges]), globals=jnp.zeros((1, 8)))

    def net(graph):
        update = lambda: lambda *a: hk.nets.MLP([64, 32])(jnp.concatenate(a, -1))
        for _ in range(4):
            graph = jraph.GraphNetwork(update(), update(), update())(graph)
        return hk.Linear(1)(graph.globals)
    f = hk.without_apply_rng(hk.transform(net))
    params, optimiser = f.init(random.PRNGKey(0), graph), optax.rmsprop(1e-3, momentum=0.9)
    loss = lambda p, g: jnp.sum(f.apply(p, g) ** 2)
    return step_of(loss, optimiser), params, optimiser.init(params), graph


@program
def jaxopt_lbfgs():
    import jaxopt

    def run(w, x, y):
        loss = lambda w, x, y: jnp.mean(jnp.logaddexp(0, -(2 * y - 1) * (x @ w))) + 0.01 * w @ w
        return jaxopt.LBFGS(loss, maxiter=30, linesearch="zoom", jit=True, unroll=False).run(w, x, y).params
    return run, jnp.zeros(50), jnp.zeros((400, 50)), jnp.zeros(400)


@program
def flax_mixer_sharpness():
    import flax.linen as nn
    import optax

    class Mixer(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(192, (8, 8), (8, 8))(x).reshape(x.shape[0], -1, 192)
            for _ in range(8):
                y = nn.LayerNorm()(x).swapaxes(1, 2)
                x = x + nn.Dense(y.shape[-1])(nn.gelu(nn.Dense(128)(y))).swapaxes(1, 2)
                x = x + nn.Dense(192)(nn.gelu(nn.Dense(512)(nn.LayerNorm()(x))))
            return nn.Dense(10)(nn.LayerNorm()(x).mean(1))

    model, images, wanted = Mixer(), jnp.zeros((16, 64, 64, 3)), jnp.zeros(16, jnp.int32)
    params = zeros(jax.eval_shape(model.init, random.PRNGKey(0), images))
    optimiser = optax.sgd(0.1, momentum=0.9, nesterov=True)
    loss = lambda p, x, y: labels(model.apply(p, x), y)

    def step(params, state, x, y):
        grads = jax.grad(loss)(params, x, y)
        size = optax.global_norm(grads)
        grads = jax.grad(loss)(jax.tree.map(lambda a, b: a + 0.05 * b / size, params, grads), x, y)
        updates, state = optimiser.update(grads, state, params)
        return optax.apply_updates(params, updates), state
    return step, params, optimiser.init(params), images, wanted


@program
def flax_translator():
    import flax.linen as nn
    import optax

    class Translator(nn.Module):
        @nn.compact
        def __call__(self, source, target):
            embed = nn.Embed(500, 128)
            carry, seen = nn.RNN(nn.OptimizedLSTMCell(256), return_carry=True)(embed(source))
            said = nn.RNN(nn.OptimizedLSTMCell(256))(embed(target), initial_carry=carry)
            weight = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", said, seen))
            return nn.Dense(500)(jnp.concatenate([said, weight @ seen], -1))

    model, tokens, optimiser = Translator(), jnp.zeros((16, 30), jnp.int32), optax.adafactor(1e-3)
    params = zeros(jax.eval_shape(model.init, random.PRNGKey(0), tokens, tokens))
    loss = lambda p, a, b: labels(model.apply(p, a, b), b)
    return step_of(loss, optimiser), params, optimiser.init(params), tokens, tokens


@program
def flax_diffusion():
    import flax.linen as nn
    import optax

    class Part(nn.Module):
        channels: int

        @nn.compact
        def __call__(self, x, time):
            h = nn.Conv(self.channels, (3, 3))(nn.silu(nn.GroupNorm(8)(x)))
            h = nn.GroupNorm(8)(h + nn.Dense(self.channels)(nn.silu(time))[:, None, None])
            h = nn.Conv(self.channels, (3, 3))(nn.silu(h))
            return h + (x if x.shape[-1] == self.channels else nn.Conv(self.channels, (1, 1))(x))

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, time):
            waves = time[:, None] * jnp.exp(-jnp.log(1e4) * jnp.arange(32) / 32)
            time = nn.Dense(128)(nn.silu(nn.Dense(128)(jnp.concatenate([jnp.sin(waves), jnp.cos(waves)], -1))))
            x, kept = nn.Conv(32, (3, 3))(x), []
            for channels in (32, 64, 128):
                x = Part(channels)(x, time)
                kept.append(x)
                x = nn.avg_pool(x, (2, 2), (2, 2))
            x = Part(128)(x, time)
            batch, height, width, channels = x.shape
            x = x + nn.SelfAttention(4)(nn.GroupNorm(8)(x).reshape(batch, -1, channels)).reshape(x.shape)
            for channels in (128, 64, 32):
                x = jax.image.resize(x, (batch, 2 * x.shape[1], 2 * x.shape[2], x.shape[3]), "nearest")
                x = Part(channels)(jnp.concatenate([x, kept.pop()], -1), time)
            return nn.Conv(3, (3, 3))(nn.silu(nn.GroupNorm(8)(x)))

    model, images, optimiser = Net(), jnp.zeros((4, 32, 32, 3)), optax.adam(1e-4)
    params = zeros(jax.eval_shape(model.init, random.PRNGKey(0), images, jnp.zeros(4)))

    def loss(params, images, key):
        first, second = random.split(key)
        time, noise = random.uniform(first, (4,)), random.normal(second, images.shape)
        share = jnp.cos(time * jnp.pi / 2)[:, None, None, None]
        noisy = share * images + jnp.sqrt(1 - share ** 2) * noise
        return jnp.mean((model.apply(params, noisy, 1000 * time) - noise) ** 2)
    return step_of(loss, optimiser), params, optimiser.init(params), images, random.PRNGKey(0)


def llama():
    """One token of a decoder with rotary places, grouped heads and a cache, written out."""
    layers, width, heads, groups, inner, words, length = 8, 512, 8, 2, 1408, 4000, 256
    shapes = {"q": (width, width), "k": (width, width // 4), "v": (width, width // 4), "o": (width, width),
              "gate": (width, inner), "up": (width, inner), "down": (inner, width), "n1": (width,), "n2": (width,)}
    params = {k: jnp.zeros((layers, *s)) for k, s in shapes.items()}
    params |= {"words": jnp.zeros((words, width)), "norm": jnp.zeros(width)}
    cache = jnp.zeros((layers, 2, 2, length, groups, 64))  # keys and values of two texts

    def rms(x, gain):
        return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * gain

    def turn(x, at):
        angle = at * 1e4 ** (-jnp.arange(32) / 32.0)
        a, b = x[..., :32], x[..., 32:]
        return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), b * jnp.cos(angle) + a * jnp.sin(angle)], -1)

    def attend(q, keys, values, at):
        q = q.reshape(2, groups, heads // groups, 64)
        scores = jnp.einsum("bkgd,btkd->bkgt", q, keys) / 8
        scores = jax.nn.softmax(jnp.where(jnp.arange(length) <= at, scores, -1e9))
        return jnp.einsum("bkgt,btkd->bkgd", scores, values).reshape(2, width)

    def token(params, cache, word, at):
        x, new = params["words"][word], []
        for i in range(layers):
            w = {k: params[k][i] for k in shapes}
            h = rms(x, w["n1"])
            fresh = turn((h @ w["k"]).reshape(2, groups, 64), at), (h @ w["v"]).reshape(2, groups, 64)
            new.append([lax.dynamic_update_slice(cache[i, j], fresh[j][:, None], (0, at, 0, 0)) for j in range(2)])
            x = x + attend(turn((h @ w["q"]).reshape(2, heads, 64), at), *new[-1], at) @ w["o"]
            h = rms(x, w["n2"])
            x = x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
        return jnp.argmax(rms(x, params["norm"]) @ params["words"].T, -1), jnp.stack([jnp.stack(n) for n in new])
    return token, params, cache, jnp.zeros(2, jnp.int32)


@program
def llama_token():
    return *llama(), jnp.int32(5)


@program
def llama_eight_tokens():
    token, *args = llama()

    def generate(params, cache, word):
        def one(carry, at):
            word, cache = token(params, carry[1], carry[0], at)
            return (word, cache), word
        return lax.scan(one, (word, cache), jnp.arange(8))[1]
    return generate, *args


@program
def spectral_flow():
    side = 128

    def run(vorticity):
        kx, ky = jnp.meshgrid(jnp.fft.fftfreq(side) * side, jnp.fft.rfftfreq(side) * side, indexing="ij")
        square = kx ** 2 + ky ** 2
        inside = (jnp.abs(kx) < side / 3) * (jnp.abs(ky) < side / 3)

        def rate(w):
            stream = w / jnp.where(square == 0, 1, square)
            u, v, wx, wy = (jnp.fft.irfft2(f) for f in (1j * ky * stream, -1j * kx * stream, 1j * kx * w, 1j * ky * w))
            return inside * jnp.fft.rfft2(-(u * wx + v * wy)) - 1e-3 * square * w

        def one(w, _):
            k1 = rate(w)
            k2 = rate(w + 5e-4 * k1)
            k3 = rate(w + 5e-4 * k2)
            return w + 1e-3 / 6 * (k1 + 2 * k2 + 2 * k3 + rate(w + 1e-3 * k3)), None
        return jnp.fft.irfft2(lax.scan(one, jnp.fft.rfft2(vorticity), None, 20)[0])
    return run, jnp.zeros((side, side))


@program
def bicgstab():
    side = 200

    def run(b, c):
        def operator(x):
            p = jnp.pad(x, 1)
            around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
            return c * (4 * x - around) + 0.1 * (p[2:, 1:-1] - p[:-2, 1:-1]) + x
        return jax.scipy.sparse.linalg.bicgstab(operator, b, maxiter=50)[0]
    return run, jnp.zeros((side, side)), jnp.ones((side, side))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", metavar="NAME", help="programs to write (default: all of them)")
    p.add_argument("--out", default="libraries", help="the folder that they are written to (default %(default)s)")
    a = p.parse_args()
    unknown = [n for n in a.names if n not in PROGRAMS]
    if unknown:
        p.error(f"there is no {unknown[0]}; there are {', '.join(PROGRAMS)}")
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    for name in a.names or PROGRAMS:
        run, *args = PROGRAMS[name]()
        hlo = jax.jit(run, keep_unused=True).lower(*args).compiler_ir("hlo")
        (out / f"{name}.pb").write_bytes(hlo.as_serialized_hlo_module_proto())
        print(name, flush=True)


if __name__ == "__main__":
    main()
