"""Training set, steps: sets, points, graphs by their edges, tables of users and things; flows and capsules.

Each is a loss of a tree of weights, and `step_of` makes it a training step with an optimiser that it names.
"""
import jax
import jax.numpy as jnp
from jax import lax

from language import standard, surprise, tree
from learners import layers, perceptron
from nn import f32, i32, u32
from pictures import adam, convolve


def step_of(loss, weights, *batch, update="adam"):
    """A training step of a loss, and the shapes of its arguments."""
    def with_adam(w, m, v, *batch):
        value, g = jax.value_and_grad(loss)(w, *batch)
        return *adam(w, g, m, v), value

    def with_adagrad(w, s, *batch):
        value, g = jax.value_and_grad(loss)(w, *batch)
        s = tree(lambda s, g: jnp.abs(s) + g * g, s, g)
        return tree(lambda w, g, s: w - 0.02 * g * lax.rsqrt(s + 1e-4), w, g, s), s, value

    def with_momentum(w, m, *batch):
        value, g = jax.value_and_grad(loss)(w, *batch)
        norm = lax.rsqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)) + 1.0)
        m = tree(lambda m, g: 0.95 * m + g * norm, m, g)
        return tree(lambda w, m: (1 - 1e-5) * w - 0.01 * m, w, m), m, value
    if update == "adam":
        return with_adam, (weights, weights, weights, *batch)
    return dict(adagrad=with_adagrad, momentum=with_momentum)[update], (weights, weights, *batch)


def point_cloud(batch=6, points=128):
    """Points turned by a small network and lifted one by one; neighbours gathered by distance; the largest of all."""
    turn = dict(up=layers(3, 24, 48), down=layers(48, 24, 9))
    weights = dict(turn=turn, one=layers(3, 24, 32), two=layers(70, 48, 64), three=layers(67, 80),
                   head=layers(80, 48, 8))

    def loss(w, cloud, label):
        def one(x):
            t = perceptron(w["turn"]["down"], jnp.max(perceptron(w["turn"]["up"], x), 0)).reshape(3, 3) + jnp.eye(3)
            x = x @ t
            h = jax.nn.relu(perceptron(w["one"], x))
            centre = x[::4]
            far = jnp.sum((centre[:, None] - x[None]) ** 2, -1)
            _, near = lax.top_k(-far, 8)
            rest = x[near] - centre[:, None]
            feature = jnp.concatenate([rest, jnp.broadcast_to(centre[:, None], rest.shape), h[near],
                                       h[near] - h[::4][:, None]], -1)
            g = jnp.max(jax.nn.relu(perceptron(w["two"], feature)), 1)
            g = jax.nn.relu(perceptron(w["three"], jnp.concatenate([centre, g], -1)))
            return jnp.max(g, 0), jnp.sum((t @ t.T - jnp.eye(3)) ** 2)
        pooled, skew = jax.vmap(one)(cloud)
        return jnp.mean(surprise(perceptron(w["head"], pooled), label)) + 1e-2 * jnp.mean(skew)
    return step_of(loss, weights, f32(batch, points, 3), i32(batch))


def set_attention(batch=4, members=64, d=48, heads=4, seeds=4, induced=12):
    """Sets to mixtures: attention through a few learned points, pooled by seeds, mixtures of Gaussians read out."""
    block = dict(q=f32(d, d), k=f32(d, d), v=f32(d, d), o=f32(d, d), n=f32(2, d), m=f32(2, d))
    weights = dict(i=f32(2, d), a=[dict(points=f32(induced, d), up=block, down=block)] * 2, seeds=f32(seeds, d),
                   pool=block, last=block, out=f32(d, 5))

    def meet(p, x, y):
        q, k, v = (z.reshape(*z.shape[:-1], heads, -1) for z in (x @ p["q"], y @ p["k"], y @ p["v"]))
        share = jax.nn.softmax(jnp.einsum("qhc,khc->hqk", q, k) / d ** 0.5)
        h = standard(x + jnp.einsum("hqk,khc->qhc", share, v).reshape(x.shape), *p["n"])
        return standard(h + jax.nn.relu(h @ p["o"]), *p["m"])

    def loss(w, sets):
        def one(points):
            x = points @ w["i"]
            for p in w["a"]:
                x = meet(p["up"], x, meet(p["down"], p["points"], x))
            s = meet(p["up"], w["seeds"], x)
            s = meet(w["pool"], s, x)
            s = meet(w["last"], s, s) @ w["out"]
            share, mean, log = jax.nn.log_softmax(s[:, 0]), s[:, 1:3], jnp.tanh(s[:, 3:]) * 2
            z = (points[:, None] - mean) * jnp.exp(-log)
            return -jnp.mean(jax.nn.logsumexp(share - jnp.sum(0.5 * z * z + log, -1) - 1.838, -1))
        return jnp.mean(jax.vmap(one)(sets))
    return step_of(loss, weights, f32(batch, members, 2))


def capsules(batch=4, primary=8, classes=5, turns=3):
    """Votes of small capsules for large ones, routed three times; a margin, and the picture drawn again."""
    weights = dict(a=f32(5, 5, 1, 24), b=f32(5, 5, 24, 8 * primary), votes=f32(16 * 8, classes, primary, 12),
                   draw=layers(classes * 12, 64, 256))

    def squash(s):
        size = jnp.sum(s * s, -1, keepdims=True)
        return s * size / ((1 + size) * jnp.sqrt(size + 1e-6))

    def loss(w, image, label):
        x = jax.nn.relu(convolve(image, w["a"], 2))
        u = squash(convolve(x, w["b"], 2).reshape(batch, 16 * 8, primary))
        votes = jnp.einsum("bip,icpo->bico", u, w["votes"])
        still = lax.stop_gradient(votes)
        b = jnp.zeros(votes.shape[:3])
        for t in range(turns):
            share = jax.nn.softmax(b, 2)
            v = squash(jnp.einsum("bic,bico->bco", share, votes if t == turns - 1 else still))
            if t < turns - 1:
                b = b + jnp.einsum("bico,bco->bic", still, v)
        long = jnp.sqrt(jnp.sum(v * v, -1) + 1e-6)
        hot = (label[:, None] == jnp.arange(classes)).astype(jnp.float32)
        margin = hot * jax.nn.relu(0.9 - long) ** 2 + 0.5 * (1 - hot) * jax.nn.relu(long - 0.1) ** 2
        drawn = jax.nn.sigmoid(perceptron(w["draw"], (v * hot[..., None]).reshape(batch, -1)))
        return jnp.mean(jnp.sum(margin, -1)) + 5e-4 * jnp.sum((drawn - image.reshape(batch, -1)) ** 2)
    return step_of(loss, weights, f32(batch, 16, 16, 1), i32(batch))


def real_flow(batch=128, d=12, depth=6):
    """Density of points: couplings, mixings by triangular matrices, a tail that is heavy."""
    part = dict(net=layers(d // 2, 40, 40, d), low=f32(d, d), up=f32(d, d), s=f32(d), n=f32(2, d))
    weights = [part] * depth

    def forth(w, x):
        log = 0.0
        for i, p in enumerate(w):
            x = x * jnp.exp(p["n"][0]) + p["n"][1]
            low, up = jnp.tril(p["low"], -1) + jnp.eye(d), jnp.triu(p["up"], 1) + jnp.diag(jnp.exp(p["s"]))
            x = x @ low @ up
            a, b = (x[:, ::2], x[:, 1::2]) if i % 2 else (x[:, :d // 2], x[:, d // 2:])
            s, t = jnp.split(perceptron(p["net"], a, jnp.tanh), 2, -1)
            s = 1.5 * jnp.tanh(s / 1.5)
            x = jnp.concatenate([b * jnp.exp(s) + t, a], -1)
            log = log + jnp.sum(s, -1) + jnp.sum(p["s"] + p["n"][0])
        return x, log

    def loss(w, x, key):
        x = x + 0.05 * jax.random.normal(key, x.shape)
        z, log = forth(w, x)
        size = jnp.sum(z * z, -1)
        return jnp.mean(0.5 * jnp.log1p(jnp.minimum(size, 1e6)) * 8 - log)
    return step_of(loss, weights, f32(batch, d), u32(2), update="momentum")


def convolved_graph(nodes=800, edges=4000, d=32, classes=7, depth=4):
    """Papers that cite each other: normalised sums over edges, some dropped; residues; labels spread as well."""
    weights = dict(i=f32(64, d), w=[f32(d, d)] * depth, n=[f32(2, d)] * depth, o=f32(d, classes))

    def loss(w, x, source, target, label, known, key):
        keep = jnp.where(jax.random.uniform(key, (edges,)) < 0.8, 1.0, 0.0)
        degree = jax.ops.segment_sum(keep, target, nodes) + 1
        root = lax.rsqrt(degree)
        weight = keep * root.at[source].get(mode="clip") * root.at[target].get(mode="clip")

        def spread(h):
            moved = h.at[source].get(mode="clip") * weight[:, None]
            return jax.ops.segment_sum(moved, target, nodes) + h / degree[:, None]
        first = h = jax.nn.relu(x @ w["i"])
        for k, (m, n) in enumerate(zip(w["w"], w["n"])):
            a = 0.8 * spread(h) + 0.2 * first
            beta = jnp.log(0.5 / (k + 1) + 1)
            h = jax.nn.relu(standard((1 - beta) * a + beta * a @ m, *n))
        logits = h @ w["o"]
        hot = jax.nn.one_hot(label, classes)
        soft = hot
        for _ in range(3):
            soft = 0.9 * spread(soft) + 0.1 * hot
        weigh = jnp.where(known > 3, 1.0, 0.0)
        each = surprise(logits, jnp.minimum(label, classes - 1))
        agree = jnp.sum(jax.nn.softmax(soft) * jax.nn.log_softmax(logits), -1)
        return jnp.sum(each * weigh) / (jnp.sum(weigh) + 1) - 0.1 * jnp.mean(agree)
    return step_of(loss, weights, f32(nodes, 64), i32(edges), i32(edges), i32(nodes), i32(nodes), u32(2))


def two_towers(batch=96, bag=12, d=24, words=2000):
    """Retrieval: bags of words averaged by learned weights, two towers, negatives corrected for how often they come."""
    tower = dict(words=f32(words, d), weigh=f32(words), net=layers(d + 8, 64, 32), n=f32(2, d + 8))
    weights = dict(user=tower, item=tower, heat=f32())

    def embed(w, bag, dense):
        share = jax.nn.softmax(jnp.where(bag > 0, w["weigh"].at[bag].get(mode="clip"), -1e3))
        x = jnp.sum(share[..., None] * w["words"].at[bag].get(mode="clip"), 1)
        y = perceptron(w["net"], standard(jnp.concatenate([x, jnp.log1p(jnp.abs(dense))], -1), *w["n"]), jax.nn.selu)
        return y * lax.rsqrt(jnp.sum(y * y, -1, keepdims=True) + 1e-6)

    def loss(w, bag_u, dense_u, bag_i, dense_i, often, gain):
        u, i = embed(w["user"], bag_u, dense_u), embed(w["item"], bag_i, dense_i)
        score = u @ i.T * jnp.exp(w["heat"] + 2) - jnp.log(jnp.abs(often) + 0.01)
        same = jnp.all(bag_i[:, None] == bag_i[None], -1) & ~jnp.eye(batch, dtype=bool)
        score = jnp.where(same, -1e3, score)
        at = jnp.arange(batch)
        return jnp.mean(jax.nn.sigmoid(gain) * (surprise(score, at) + 0.5 * surprise(score.T, at)))
    return step_of(loss, weights, i32(batch, bag), f32(batch, 8), i32(batch, bag), f32(batch, 8), f32(batch),
                   f32(batch), update="adagrad")


def crossed(batch=256, fields=12, d=8, rank=12, experts=3, hashed=1000):
    """Click and purchase together: low-rank crosses mixed by experts beside a factorisation machine, a gate a task."""
    wide = fields * d + 6
    cross = dict(u=f32(experts, wide, rank), c=f32(experts, rank, rank), v=f32(experts, wide, rank), b=f32(wide),
                 gate=f32(wide, experts))
    weights = dict(table=f32(fields, hashed, d), line=f32(fields, hashed), cross=[cross] * 2,
                   deep=[layers(wide, 48, 24)] * 3, gate=f32(2, wide, 3), head=f32(2, wide + 24))

    def loss(w, ids, dense, click, buy):
        column = jnp.arange(fields)
        e = w["table"].at[column, (ids.astype(jnp.uint32) * jnp.uint32(2654435761) >> 3) % hashed].get(mode="clip")
        line = jnp.sum(w["line"].at[column, ids % hashed].get(mode="clip"), 1)
        pair = 0.5 * jnp.sum(jnp.sum(e, 1) ** 2 - jnp.sum(e * e, 1), -1)
        x = first = jnp.concatenate([e.reshape(batch, -1), jnp.sign(dense) * jnp.sqrt(jnp.abs(dense) + 1e-3)], -1)
        for p in w["cross"]:
            low = jnp.tanh(jnp.einsum("bw,ewr->ber", x, p["v"]))
            low = jnp.tanh(jnp.einsum("ber,ers->bes", low, p["c"]))
            each = first[:, None] * (jnp.einsum("ber,ewr->bew", low, p["u"]) + p["b"])
            x = x + jnp.einsum("be,bew->bw", jax.nn.softmax(x @ p["gate"]), each)
        deep = jnp.stack([jax.nn.relu(perceptron(p, first)) for p in w["deep"]], 1)
        share = jax.nn.softmax(jnp.einsum("bw,twe->tbe", first, w["gate"]))
        mixed = jnp.einsum("tbe,bed->tbd", share, deep)
        out = jnp.einsum("tbd,td->tb", jnp.concatenate([jnp.broadcast_to(x, (2, *x.shape)), mixed], -1),
                         w["head"]) + line + pair
        wrong = lambda z, y: jax.nn.softplus(z) - z * jax.nn.sigmoid(y)
        both = jax.nn.log_sigmoid(out[0]) + jax.nn.log_sigmoid(out[1])
        return jnp.mean(wrong(out[0], click)) - jnp.mean(jnp.where(buy > 0, both, jnp.log1p(-jnp.exp(both) * 0.999)))
    return step_of(loss, weights, i32(batch, fields), f32(batch, 6), f32(batch), f32(batch), update="adagrad")


GRAPHS = {
    "point-cloud": point_cloud,
    "set-attention": set_attention,
    "capsules": capsules,
    "real-flow": real_flow,
    "convolved-graph": convolved_graph,
    "two-towers": two_towers,
    "crossed": crossed,
}
