"""Held out: a graph network in the style of encode, process, decode."""
import jax
import jax.numpy as jnp

from nn import Adam, f32, i32, layer_norm, lookup, mlp, train


def graph_network(p, nodes, edges, senders, receivers, targets, rounds=3, d=32):
    """Predicts a vector per node; every round updates edges, nodes and a global vector."""
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


GRAPHS = {
    "graph-network": lambda: train(graph_network, Adam(), f32(128, 8), f32(512, 4), i32(512),
                                   i32(512), f32(128, 3)),
}
