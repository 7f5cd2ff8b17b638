"""Held out: graph network, U-Net, and a ranker of documents. Nothing here is ever learned on."""
import jax
import jax.numpy as jnp
from jax import lax

from nn import Adam, batch_norm, conv, cross_entropy, dense, f32, grow, i32, layer_norm, lookup, mlp, pool, train


def graph_network(p, nodes, edges, senders, receivers, targets, rounds=3, d=32):
    """Encode, process, decode; every round updates edges, nodes and a global vector."""
    n = nodes.shape[0]
    gather = lambda to: jnp.zeros((n, d)).at[receivers].add(to, mode="drop")
    block = lambda *parts: layer_norm(p, mlp(p, jnp.concatenate(parts, -1), d, d))
    like = lambda whole, x: jnp.broadcast_to(whole, x.shape)
    v, e, whole = block(nodes), block(edges), jnp.zeros((1, d))
    for _ in range(rounds):
        e = e + block(e, lookup(v, senders), lookup(v, receivers), like(whole, e))
        v = v + block(v, gather(e), like(whole, v))
        whole = whole + block(whole, jnp.mean(v, 0, keepdims=True), jnp.mean(e, 0, keepdims=True))
    guess = mlp(p, v, d, targets.shape[-1])
    return jnp.mean(jnp.square(guess - targets))


def unet(p, image, label, widths=(6, 8, 12, 16, 24), classes=3):
    """Segmentation: down and up again with skipped connections; cross entropy and Dice loss."""
    def twice(x, n):
        for _ in range(2):
            x = jax.nn.relu(batch_norm(p, conv(p, x, n)))
        return x

    skipped = []
    x = image
    for n in widths[:-1]:
        x = twice(x, n)
        skipped.append(x)
        x = pool(x)
    x = twice(x, widths[-1])
    for y in reversed(skipped):
        x = jax.nn.relu(batch_norm(p, conv(p, grow(x), y.shape[-1], k=2)))
        x = twice(jnp.concatenate([y, x], -1), y.shape[-1])
    logits = conv(p, x, classes, k=1) + p(classes)
    guess, truth = jax.nn.softmax(logits), (label[..., None] == jnp.arange(classes)).astype(jnp.float32)
    over = (1, 2)
    dice = (2 * jnp.sum(guess * truth, over) + 1) / (jnp.sum(guess + truth, over) + 1)
    return jnp.mean(cross_entropy(logits, label)) + 1 - jnp.mean(dice)


def ranker(p, query, better, worse, d=24, vocabulary=512, filters=12):
    """DeepRank: for each place where a document mentions the query, how query and surroundings
    match (convolution over a table of pairs), then the places in order (GRU), then all terms.
    Two documents for each query, of which the first should get the higher score."""
    query, places = jnp.concatenate([query, query]), jnp.concatenate([better, worse])
    (b, n, m), t = places.shape, query.shape[1]
    words = p(vocabulary, d)
    q, x = lookup(words, query), lookup(words, places)
    unit = lambda y: y * lax.rsqrt(jnp.sum(y * y, -1, keepdims=True) + 1e-6)
    match = jnp.einsum("btd,bnmd->bntm", unit(q), unit(x))[..., None]
    narrow = p(d, 3)
    table = jnp.concatenate([match, jnp.broadcast_to((q @ narrow)[:, None, :, None], (b, n, t, m, 3)),
                             jnp.broadcast_to((x @ narrow)[:, :, None], (b, n, t, m, 3))], -1)
    y = jax.nn.relu(conv(p, table.reshape(b * n, t, m, 7), filters) + p(filters))
    y = jnp.concatenate([jnp.max(y, (1, 2)), jnp.mean(y, (1, 2))], -1).reshape(b, n, -1)

    update, reset, fresh = (p(3 * filters, filters) for _ in range(3))
    h = jnp.zeros((b, filters))
    for i in range(n):
        both = jnp.concatenate([y[:, i], h], -1)
        z, r = jax.nn.sigmoid(both @ update), jax.nn.sigmoid(both @ reset)
        h = z * h + (1 - z) * jnp.tanh(jnp.concatenate([y[:, i], r * h], -1) @ fresh)
    weight = jax.nn.softmax(q @ p(d))
    score = dense(p, h, 1)[:, 0] + jnp.sum(weight * jnp.max(match[..., 0], (1, 3)), -1)
    return jnp.mean(jax.nn.relu(1 - score[:b // 2] + score[b // 2:]))


GRAPHS = {
    "graph-network": lambda: train(graph_network, Adam(), f32(128, 8), f32(512, 4), i32(512),
                                   i32(512), f32(128, 3)),
    "unet": lambda: train(unet, Adam(), f32(2, 32, 32, 1), i32(2, 32, 32)),
    "ranker": lambda: train(ranker, Adam(), i32(8, 5), i32(8, 4, 15), i32(8, 4, 15)),
}
