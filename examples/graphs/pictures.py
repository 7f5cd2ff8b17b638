"""Training set, steps: networks over images, each with the normalisation, the loss and the optimiser of its kind.

Weights are plain trees. Images are batch, height, width, channel; kernels are height, width, input, output.
"""
import jax
import jax.numpy as jnp
from jax import lax

from language import standard, surprise, tree
from nn import f32, i32, u32

NHWC = ("NHWC", "HWIO", "NHWC")


def convolve(x, k, stride=1, groups=1, pad="SAME", dilation=1):
    return lax.conv_general_dilated(x, k, (stride, stride), pad, rhs_dilation=(dilation, dilation),
                                    dimension_numbers=NHWC, feature_group_count=groups)


def in_groups(x, scale, shift, groups=4):
    """Normalised over places and the channels of a group."""
    b, h, w, c = x.shape
    y = x.reshape(b, h * w, groups, c // groups)
    mean, var = jnp.mean(y, (1, 3), keepdims=True), jnp.var(y, (1, 3), keepdims=True)
    return ((y - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape) * scale + shift


def over_batch(x, scale, shift):
    axes = tuple(range(x.ndim - 1))
    mean = jnp.mean(x, axes)
    return (x - mean) / jnp.sqrt(jnp.mean(x * x, axes) - mean * mean + 1e-2) * scale + shift


def adam(w, g, m, v, rate=1e-3):
    m, v = tree(lambda m, g: 0.9 * m + 0.1 * g, m, g), tree(lambda v, g: 0.99 * jnp.abs(v) + 0.01 * g * g, v, g)
    return tree(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-6), w, m, v), m, v


def patches(images, p):
    b, h, w, c = images.shape
    x = images.reshape(b, h // p, p, w // p, p, c)
    return jnp.einsum("bhiwjc->bhwijc", x).reshape(b, h * w // p ** 2, p * p * c)


def convnext(depths=(1, 2, 1), widths=(16, 24, 32)):
    """Depthwise 5x5, normalised channels, wide perceptrons scaled per channel; smoothed labels, Nesterov's momentum."""
    block = lambda c: dict(k=f32(5, 5, 1, c), n=f32(2, c), u=f32(c, 4 * c), ub=f32(4 * c), d=f32(4 * c, c), db=f32(c),
                           s=f32(c))
    stem = dict(k=f32(2, 2, 3, widths[0]), n=f32(2, widths[0]))
    down = [dict(n=f32(2, a), k=f32(2, 2, a, b)) for a, b in zip(widths, widths[1:])]
    weights = dict(stem=stem, down=down, blocks=[[block(c)] * n for n, c in zip(depths, widths)],
                   head=f32(widths[-1], 10), n=f32(2, widths[-1]))

    def loss(w, image, label):
        x = standard(convolve(image, w["stem"]["k"], 2), *w["stem"]["n"])
        for i, stage in enumerate(w["blocks"]):
            if i:
                p = w["down"][i - 1]
                x = convolve(standard(x, *p["n"]), p["k"], 2, pad="VALID")
            for p in stage:
                y = standard(convolve(x, p["k"], groups=x.shape[-1]), *p["n"])
                x = x + p["s"] * (jax.nn.gelu(y @ p["u"] + p["ub"]) @ p["d"] + p["db"])
        out = standard(jnp.mean(x, (1, 2)), *w["n"]) @ w["head"]
        soft = 0.9 * jax.nn.one_hot(label, 10) + 0.01
        return -jnp.mean(jnp.sum(soft * jax.nn.log_softmax(out), -1))

    def step(w, v, image, label):
        ahead = tree(lambda w, v: w + 0.9 * v, w, v)
        value, g = jax.value_and_grad(loss)(ahead, image, label)
        v = tree(lambda v, g: 0.9 * v - 0.01 * g, v, g)
        return tree(jnp.add, w, v), v, value
    return step, (weights, weights, f32(2, 32, 32, 3), i32(2))


def densenet(grow=8, blocks=(3, 4, 3)):
    """Each layer reads all before it, normalised before it convolves; halved between blocks; signs of momentum."""
    c, layout = 16, []
    for n in blocks:
        layers = [dict(n=f32(2, c + i * grow), one=f32(1, 1, c + i * grow, 4 * grow), m=f32(2, 4 * grow),
                       k=f32(3, 3, 4 * grow, grow))
                  for i in range(n)]
        c += n * grow
        layout.append(dict(layers=layers, n=f32(2, c), half=f32(1, 1, c, c // 2)))
        c //= 2
    weights = dict(first=f32(3, 3, 3, 16), blocks=layout, head=f32(c, 10), bias=f32(10))

    def loss(w, image, label):
        x = convolve(image, w["first"])
        for block in w["blocks"]:
            for p in block["layers"]:
                y = convolve(jax.nn.relu(over_batch(x, *p["n"])), p["one"])
                y = convolve(jax.nn.relu(over_batch(y, *p["m"])), p["k"])
                x = jnp.concatenate([x, y], -1)
            x = convolve(jax.nn.relu(over_batch(x, *block["n"])), block["half"])
            x = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        return jnp.mean(surprise(jnp.mean(x, (1, 2)) @ w["head"] + w["bias"], label))

    def step(w, m, image, label):
        value, g = jax.value_and_grad(loss)(w, image, label)
        m = tree(lambda m, g: 0.9 * m + g, m, g)
        return tree(lambda w, m: w * (1 - 1e-4) - 1e-3 * jnp.sign(m) * jnp.sqrt(jnp.mean(jnp.abs(m))), w, m), m, value
    return step, (weights, weights, f32(4, 16, 16, 3), i32(4))


def shufflenet(widths=(24, 48), repeats=2):
    """Inference: channels split, half of them convolved depthwise, then shuffled; statistics of training are given."""
    unit = lambda c: dict(a=f32(c, c), k=f32(3, 3, 1, c), b=f32(c, c), n=[f32(4, c)] * 3)
    down = lambda i, c: dict(k=f32(3, 3, 1, i), n=f32(4, i), a=f32(i, c), m=f32(4, c), right=f32(i, c), q=f32(4, c),
                             k2=f32(3, 3, 1, c), r=f32(4, c), b=f32(c, c), s=f32(4, c))
    stages, c = [], 12
    for width in widths:
        stages.append(dict(down=down(c, width // 2), units=[unit(width // 2)] * repeats))
        c = width
    weights = dict(stem=f32(3, 3, 3, 12), n=f32(4, 12), stages=stages, last=f32(c, 64), m=f32(4, 64), head=f32(64, 10))

    def still(x, s):
        return (x - s[0]) * lax.rsqrt(jnp.abs(s[1]) + 1e-2) * s[2] + s[3]

    def shuffle(x):
        b, h, w, c = x.shape
        return x.reshape(b, h, w, 2, c // 2).swapaxes(3, 4).reshape(x.shape)

    def run(w, image):
        x = jax.nn.relu(still(convolve(image, w["stem"], 2), w["n"]))
        for stage in w["stages"]:
            p = stage["down"]
            left = still(convolve(x, p["k"], 2, x.shape[-1]), p["n"])
            left = jax.nn.relu(still(left @ p["a"], p["m"]))
            right = jax.nn.relu(still(x @ p["right"], p["q"]))
            right = still(convolve(right, p["k2"], 2, right.shape[-1]), p["r"])
            x = shuffle(jnp.concatenate([left, jax.nn.relu(still(right @ p["b"], p["s"]))], -1))
            for p in stage["units"]:
                keep, y = jnp.split(x, 2, -1)
                y = jax.nn.relu(still(y @ p["a"], p["n"][0]))
                y = still(convolve(y, p["k"], groups=y.shape[-1]), p["n"][1])
                x = shuffle(jnp.concatenate([keep, jax.nn.relu(still(y @ p["b"], p["n"][2]))], -1))
        x = jnp.mean(jax.nn.relu(still(x @ w["last"], w["m"])), (1, 2))
        share = jax.nn.softmax(x @ w["head"])
        return lax.top_k(share, 5)
    return run, (weights, f32(4, 48, 48, 3))


def diffusion_transformer(layers=3, d=48, heads=3):
    """Learns to undo noise: scales and shifts come of the time and the class; Adam, and a slow copy of the weights."""
    layer = dict(mod=f32(d, 6 * d), modb=f32(6 * d), qkv=f32(d, 3 * d), o=f32(d, d), u=f32(d, 3 * d), v=f32(3 * d, d))
    weights = dict(patch=f32(12, d), place=f32(64, d), time=[f32(32, d), f32(d, d)], kind=f32(11, d),
                   layers=[layer] * layers,
                   mod=f32(d, 2 * d), out=f32(d, 12))
    still = lambda x: (x - jnp.mean(x, -1, keepdims=True)) * lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-6)

    def net(w, x, t, kind):
        b, n, _ = x.shape
        angle = t[:, None] * 1000 * jnp.exp(-jnp.arange(16) * 0.5)
        wave = jnp.concatenate([jnp.cos(angle), jnp.sin(angle)], -1)
        c = jax.nn.silu(jax.nn.silu(wave @ w["time"][0]) @ w["time"][1] + w["kind"].at[kind].get(mode="clip"))[:, None]
        x = x @ w["patch"] + w["place"]
        for p in w["layers"]:
            s1, a1, g1, s2, a2, g2 = jnp.split(c @ p["mod"] + p["modb"], 6, -1)
            y = still(x) * (1 + s1) + a1
            q, k, v = ((y @ m).reshape(b, n, heads, -1) for m in jnp.split(p["qkv"], 3, -1))
            share = jax.nn.softmax(jnp.einsum("bqhc,bkhc->bhqk", q, k) * (heads / d) ** 0.5)
            x = x + g1 * (jnp.einsum("bhqk,bkhc->bqhc", share, v).reshape(b, n, d) @ p["o"])
            x = x + g2 * (jax.nn.gelu((still(x) * (1 + s2) + a2) @ p["u"]) @ p["v"])
        s, a = jnp.split(c @ w["mod"], 2, -1)
        return (still(x) * (1 + s) + a) @ w["out"]

    def step(w, slow, m, v, image, kind, key):
        one, two, three = jax.random.split(key, 3)
        t = jax.random.uniform(one, kind.shape)
        noise = jax.random.normal(two, image.shape)
        kind = jnp.where(jax.random.bernoulli(three, 0.1, kind.shape), 10, kind)
        keep = jnp.cos(t * 1.57)[:, None, None, None]
        noisy = keep * image + jnp.sqrt(jnp.maximum(1 - keep * keep, 0)) * noise

        def loss(w):
            wrong = jnp.square(net(w, patches(noisy, 2), t, kind) - patches(noise, 2))
            weight = jnp.minimum(5.0, 1 / (jnp.tan(t * 1.55 + 0.01) ** 2 + 1e-3))
            return jnp.mean(jnp.mean(wrong, (1, 2)) * weight)
        value, g = jax.value_and_grad(loss)(w)
        w, m, v = adam(w, g, m, v, 3e-4)
        return w, tree(lambda s, w: 0.999 * s + 0.001 * w, slow, w), m, v, value
    return step, (weights, weights, weights, weights, f32(4, 16, 16, 3), i32(4), u32(2))


def vector_quantiser(codes=64, d=16):
    """Images through a code book, gradients straight past it; the book follows averages of what it was asked for."""
    res = dict(a=f32(3, 3, d, d), b=f32(1, 1, d, d))
    weights = dict(i=[f32(4, 4, 3, d), f32(4, 4, d, d), f32(3, 3, d, d)], er=[res] * 2, dr=[res] * 2,
                   o=[f32(3, 3, d, d), f32(4, 4, d, d), f32(4, 4, d, 3)], b=f32(3))

    def blocks(x, rs):
        for r in rs:
            x = x + convolve(jax.nn.relu(convolve(jax.nn.relu(x), r["a"])), r["b"])
        return jax.nn.relu(x)

    def grow(x, k):
        return lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=NHWC)

    def step(w, book, count, total, m, v, image):
        def loss(w):
            x = jax.nn.relu(convolve(image, w["i"][0], 2))
            x = jax.nn.relu(convolve(x, w["i"][1], 2))
            z = blocks(convolve(x, w["i"][2]), w["er"])
            flat = z.reshape(-1, d)
            far = jnp.sum(flat ** 2, 1)[:, None] - 2 * flat @ book.T + jnp.sum(book ** 2, 1)
            code = jnp.argmin(far, 1)
            hot = jax.nn.one_hot(code, codes)
            near = book[code].reshape(z.shape)
            through = z + lax.stop_gradient(near - z)
            y = blocks(convolve(through, w["o"][0]), w["dr"])
            y = grow(jax.nn.relu(grow(y, w["o"][1])), w["o"][2]) + w["b"]
            used = jnp.mean(hot, 0)
            note = jnp.exp(-jnp.sum(used * jnp.log(used + 1e-9)))
            return jnp.mean(jnp.abs(y - image)) + 0.25 * jnp.mean((z - lax.stop_gradient(near)) ** 2), (hot, flat, note)
        (value, (hot, flat, note)), g = jax.value_and_grad(loss, has_aux=True)(w)
        w, m, v = adam(w, g, m, v)
        count = 0.99 * jnp.abs(count) + 0.01 * jnp.sum(hot, 0)
        total = 0.99 * total + 0.01 * hot.T @ flat
        smooth = (count + 1e-3) / (jnp.sum(count) + codes * 1e-3) * jnp.sum(count)
        return w, total / (smooth[:, None] + 1e-3), count, total, m, v, value, note
    return step, (weights, f32(codes, d), f32(codes), f32(codes, d), weights, weights, f32(4, 16, 16, 3))


GRAPHS = {
    "convnext": convnext,
    "densenet": densenet,
    "shufflenet": shufflenet,
    "diffusion-transformer": diffusion_transformer,
    "vector-quantiser": vector_quantiser,
}
