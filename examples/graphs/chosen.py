"""Training set, steps: matrices chosen by what is computed, for each word, edge, sentence or task.

A dense layer has one matrix for everybody. Here each has one of several, picked out of a table by an index: experts
for words, as mixtures of experts pick them where no library sorts the words; kinds of edges; adapters of low rank that
were trained for somebody; heads of many tasks. What differs is how many rows meet each matrix that is picked, how many
matrices there are, and whether the step learns them.
"""
import jax
import jax.numpy as jnp
from jax import lax

from gatherings import step_of
from language import standard, surprise, tree, turn, unit
from learners import layers, perceptron
from nn import f32, i32
from pictures import adam


def attend(p, x, heads):
    """Causal attention of one text with rotary positions. x: word, channel."""
    t, d = x.shape
    q, k, v = jnp.einsum("td,sdhc->sthc", x, p["qkv"].reshape(3, d, heads, d // heads))
    score = jnp.einsum("thc,shc->hts", turn(q), turn(k)) * (d // heads) ** -0.5
    score = jnp.where(jnp.tril(jnp.ones((t, t), bool)), score, -1e9)
    return jnp.einsum("hts,shc->thc", jax.nn.softmax(score), v).reshape(t, d) @ p["o"]


def picked_experts(blocks=3, d=96, wide=96, heads=4, experts=12, best=2, words=256, length=48):
    """A language model whose words each pick the gated perceptrons of two experts, and how evenly they do; Adam."""
    block = dict(qkv=f32(3, d, d), o=f32(d, d), a=f32(d), b=f32(d), way=f32(d, experts), up=f32(experts, 2, d, wide),
                 down=f32(experts, wide, d))
    weights = dict(words=f32(words, d), blocks=[block] * blocks, last=f32(d))

    def mixture(p, x):
        odds = jax.nn.softmax(x @ p["way"])
        share, which = lax.top_k(odds, best)
        share = share / jnp.sum(share, -1, keepdims=True)
        gate, up = jnp.einsum("td,tksdw->stkw", x, p["up"][which])
        y = jnp.einsum("tkw,tkwd->tkd", jax.nn.silu(gate) * up, p["down"][which])
        even = jnp.mean(jax.nn.one_hot(which, experts), (0, 1)) @ jnp.mean(odds, 0) * experts
        return jnp.einsum("tkd,tk->td", y, share), even

    def loss(w, texts):
        def one(text):
            x, even = w["words"].at[text[:-1]].get(mode="clip"), 0.0
            for p in w["blocks"]:
                x = x + attend(p, unit(x, 1 + p["a"]), heads)
                y, e = mixture(p, unit(x, 1 + p["b"]))
                x, even = x + y, even + e
            return jnp.mean(surprise(unit(x, 1 + w["last"]) @ w["words"].T, text[1:])) + 1e-2 * even
        return jnp.mean(jax.vmap(one)(texts))
    return step_of(loss, weights, i32(3, length + 1))


def expert_words(blocks=4, d=128, wide=192, heads=4, experts=8, best=2, words=512, rows=4, room=32, steps=6):
    """Words one after the other for four texts, each word's experts picked in the loop; a cache of keys and values."""
    c = d // heads
    block = dict(qkv=f32(d, 3, heads, c), o=f32(heads * c, d), a=f32(d), b=f32(d), way=f32(d, experts),
                 up=f32(experts, d, wide), down=f32(experts, wide, d))

    def step(w, caches, first, at):
        start = jnp.clip(at, 0, room - steps)

        def word(i, state):
            caches, said, now = state
            x, new = w["words"].at[now].get(mode="clip"), []
            for p, cache in zip(w["blocks"], caches):
                q, k, v = jnp.einsum("bd,dshc->sbhc", unit(x, 1 + p["a"]), p["qkv"])
                cache = lax.dynamic_update_slice(cache, jnp.stack([k, v])[:, :, None], (0, 0, start + i, 0, 0))
                score = jnp.einsum("bhc,bshc->bhs", q, cache[0]) * c ** -0.5
                score = jnp.where(jnp.arange(room) <= start + i, score, -1e9)
                x = x + jnp.einsum("bhs,bshc->bhc", jax.nn.softmax(score), cache[1]).reshape(rows, d) @ p["o"]
                y = unit(x, 1 + p["b"])
                share, which = lax.top_k(y @ p["way"], best)
                y = jax.nn.relu(jnp.einsum("bd,bkdw->bkw", y, p["up"].at[which].get(mode="clip"))) ** 2
                y = jnp.einsum("bkw,bkwd->bkd", y, p["down"].at[which].get(mode="clip"))
                x = x + jnp.einsum("bkd,bk->bd", y, jax.nn.softmax(share))
                new.append(cache)
            now = jnp.argmax(x @ w["words"].T, -1).astype(jnp.int32)
            return new, said.at[:, i].set(now), now
        return lax.fori_loop(0, steps, word, (caches, jnp.zeros((rows, steps), jnp.int32), first))
    return step, (dict(words=f32(words, d), blocks=[block] * blocks), [f32(2, rows, room, heads, c)] * blocks, i32(rows),
                  i32())


def edge_kinds(nodes=160, edges=640, d=48, kinds=6, depth=3, classes=5):
    """Things and how they are related: an edge's kind picks its matrix, a gate weighs it, means over what comes in."""
    weights = dict(i=f32(24, d), kind=[f32(kinds, d, d)] * depth, self=[f32(d, d)] * depth, gate=[f32(kinds, d)] * depth,
                   n=[f32(2, d)] * depth, o=layers(d, d, classes))

    def loss(w, x, source, target, kind, label):
        h = x @ w["i"]
        degree = jax.ops.segment_sum(jnp.ones(edges), target, nodes) + 1
        for m, own, gate, n in zip(w["kind"], w["self"], w["gate"], w["n"]):
            come = h.at[source].get(mode="clip")
            said = jnp.einsum("ec,ecd->ed", come, m.at[kind].get(mode="clip"))
            open_ = jax.nn.sigmoid(jnp.sum(gate.at[kind].get(mode="clip") * come, -1, keepdims=True))
            mean = jax.ops.segment_sum(said * open_, target, nodes) / degree[:, None]
            h = h + jax.nn.gelu(standard(mean + h @ own, *n))
        return jnp.mean(surprise(perceptron(w["o"], h), jnp.clip(label, 0, classes - 1)))
    return step_of(loss, weights, f32(nodes, 24), i32(edges), i32(edges), i32(edges), i32(nodes))


def adapters(sentences=12, length=24, d=96, blocks=3, people=16, rank=6, answers=4):
    """Sentences of several people through one network, each with her own adapters, which alone are learnt."""
    block = dict(qkv=f32(3, d, d), o=f32(d, d), up=f32(d, 2 * d), down=f32(2 * d, d), n=f32(2, d), m=f32(2, d))
    still = dict(words=f32(300, d), blocks=[block] * blocks)
    pair = lambda a, b: dict(a=f32(people, a, rank), b=f32(people, rank, b))
    learnt = dict(blocks=[dict(o=pair(d, d), up=pair(d, 2 * d), down=pair(2 * d, d))] * blocks, head=f32(people, d, answers))

    def step(still, w, m, v, texts, who, answer):
        def adapted(x, matrix, pair):
            low = jnp.einsum("btd,bdr->btr", x, pair["a"].at[who].get(mode="clip"))
            return x @ matrix + jnp.einsum("btr,brd->btd", low, pair["b"].at[who].get(mode="clip"))

        def loss(w):
            x = still["words"].at[texts].get(mode="clip")
            for p, q in zip(still["blocks"], w["blocks"]):
                y = jax.vmap(lambda y: attend(dict(qkv=p["qkv"], o=jnp.eye(d)), y, 4))(standard(x, *p["n"]))
                x = x + adapted(y, p["o"], q["o"])
                y = jax.nn.gelu(adapted(standard(x, *p["m"]), p["up"], q["up"]))
                x = x + adapted(y, p["down"], q["down"])
            said = jnp.einsum("bd,bda->ba", jnp.mean(x, 1), w["head"].at[who].get(mode="clip"))
            return jnp.mean(surprise(said, jnp.clip(answer, 0, answers - 1)))
        value, g = jax.value_and_grad(loss)(w)
        return *adam(w, g, m, v), value
    return step, (still, learnt, learnt, learnt, i32(sentences, length), i32(sentences), i32(sentences))


def many_tasks(batch=64, tasks=96, d=40, seen=20, shots=3):
    """Each example belongs to one of many tasks, which has layers of its own; their priors; a step after inner steps."""
    weights = dict(base=layers(seen, 64, d), own=f32(tasks, d, d), bias=f32(tasks, d), out=f32(tasks, d, 3),
                   prior=f32(d, d))

    def loss(w, x, task, y, hint):
        h = jax.nn.selu(perceptron(w["base"], x))
        own, bias, out = (w[k].at[task].get(mode="clip") for k in ("own", "bias", "out"))

        def said(out):
            z = jnp.tanh(jnp.einsum("bc,bcd->bd", h, own) + h @ w["prior"] + bias)
            return jnp.einsum("bd,bdo->bo", z, out)
        inner = jax.grad(lambda out: jnp.mean((said(out) - hint) ** 2))
        for _ in range(shots):
            out = out - 0.1 * inner(out)
        return jnp.mean((said(out) - y) ** 2) + 1e-3 * jnp.mean(w["own"] ** 2)
    return step_of(loss, weights, f32(batch, seen), i32(batch), f32(batch, 3), f32(batch, 3), update="adagrad")


GRAPHS = {
    "picked-experts": picked_experts,
    "expert-words": expert_words,
    "edge-kinds": edge_kinds,
    "adapters": adapters,
    "many-tasks": many_tasks,
}
