"""Training set, halves: networks in float16 and in floats and whole numbers of 8 bits, and vectors of length one.

A compiler has fast code for few types, and each of these networks leaves them somewhere: for an exponential, for a
product that lies another way, for a sum that is rounded after each term, for one divided by a root.
"""
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from halves import B, F, each, f32, i32

H = jnp.float16
E4, E5 = jnp.float8_e4m3fn, jnp.float8_e5m2


def f16(*n):
    return jax.ShapeDtypeStruct(n, H)


def s8(*n):
    return jax.ShapeDtypeStruct(n, jnp.int8)


def eight(x, kind, scale):
    most = jnp.finfo(kind).max.astype(x.dtype)
    return jnp.clip(x / scale.astype(x.dtype), -most, most).astype(kind)


@jax.custom_vjp
def product(x, w, s):
    """x w in 8 bits, scaled by what was largest before; gradients in 8 bits of a wider range."""
    return lax.dot_general(eight(x, E4, s[0]), eight(w, E4, s[1]), (((x.ndim - 1,), (0,)), ((), ())),
                           preferred_element_type=B) * (s[0] * s[1]).astype(B)


def forward(x, w, s):
    return product(x, w, s), (eight(x, E4, s[0]), eight(w, E4, s[1]), s)


def backward(kept, g):
    x, w, s = kept
    most = tuple(range(g.ndim - 1))
    h = eight(g, E5, s[2])
    back = lax.dot_general(h, w, (((g.ndim - 1,), (1,)), ((), ())), preferred_element_type=B)
    turned = lax.dot_general(h, x, ((most, most), ((), ())), preferred_element_type=B).T
    now = jnp.stack([jnp.max(jnp.abs(x.astype(F))) * s[0], jnp.max(jnp.abs(w.astype(F))) * s[1],
                     jnp.max(jnp.abs(g)).astype(F)])
    return back * (s[2] * s[1]).astype(B), turned * (s[2] * s[0]).astype(B), now


product.defvjp(forward, backward)


def eight_trainer(L=2, D=72, W=150, T=40, n=3, V=300):
    """Language model in floats of 8 bits: scales follow what was largest; momentum on weights of 32 bits."""
    w = dict(emb=f32(V, D), layers=[dict(
        q=f32(D, D), k=f32(D, D), v=f32(D, D), o=f32(D, D), up=f32(D, W), down=f32(W, D), g=f32(2, D), b=f32(W))
        for _ in range(L)])
    scales = [{k: f32(3) for k in ("q", "k", "v", "o", "up", "down")} for _ in range(L)]

    def norm(x, g):
        y = x.astype(F)
        return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(B) * g.astype(B)

    def loss(w, scales, text):
        x = w["emb"].astype(B)[text[:, :-1]]
        for p, s in zip(w["layers"], scales):
            h = norm(x, p["g"][0])
            q, k, v = (product(h, p[i].astype(B), s[i]) for i in "qkv")
            a = jnp.einsum("btd,bsd->bts", q, k) * D ** -0.5
            a = jax.nn.softmax(jnp.where(jnp.tri(T, dtype=bool), a, -1e4))
            x = x + product(jnp.einsum("bts,bsd->btd", a, v), p["o"].astype(B), s["o"])
            h = jax.nn.gelu(product(norm(x, p["g"][1]), p["up"].astype(B), s["up"]) + p["b"].astype(B))
            x = x + product(h, p["down"].astype(B), s["down"])
        log = jax.nn.log_softmax((x @ w["emb"].T.astype(B)).astype(F))
        return -jnp.mean(jnp.take_along_axis(log, text[:, 1:, None], -1))

    def step(w, m, scales, text):
        lost, (g, now) = jax.value_and_grad(loss, (0, 1))(w, scales, text)
        m = each(lambda a, b: 0.9 * a + b, m, g)
        scales = each(lambda a, b: jnp.maximum(0.9 * a, b / 200 + 1e-6), scales, now)
        return each(lambda a, b: a - 1e-2 * b, w, m), m, scales, lost
    return step, (w, w, scales, i32(n, T + 1)), 0, 1


def half_captions(L=3, D=96, heads=4, P=50, T=20, V=800, n=2):
    """Pictures described, all in float16: attention within and across, experts mixed by softplus, the odds of words."""
    d = D // heads
    w = dict(see=f16(108, D), emb=f16(V, D), at=f16(T, D), layers=[dict(
        q=f16(D, heads, d), kv=f16(2, D, heads, d), o=f16(heads, d, D), gate=f16(D, 4), up=f16(4, D, D),
        down=f16(4, D, D), mix=f16(D)) for _ in range(L)])

    def centred(x):
        y = x - jnp.mean(x, -1, keepdims=True)
        return y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + H(1e-3))

    def attend(p, x, y, seen):
        q, (k, v) = jnp.einsum("btm,mhd->bhtd", x, p["q"]), jnp.einsum("bsm,zmhd->zbhsd", y, p["kv"])
        a = jnp.einsum("bhtd,bhsd->bhts", q, k) * H(d ** -0.5)
        a = jax.nn.softmax(jnp.where(seen, a, H(-6e4)) if seen is not None else a)
        return jnp.einsum("bhts,bhsd,hdm->btm", a, v, p["o"])

    def run(w, picture, text, cold):
        x, y = picture @ w["see"], w["emb"][text] + w["at"]
        for p in w["layers"]:
            y = y + attend(p, centred(y), centred(y), jnp.tri(T, dtype=bool))
            y = y + jnp.log1p(jnp.exp(p["mix"])) * attend(p, centred(y), x, None)
            h = centred(y)
            odds = jax.nn.softplus(h @ p["gate"])
            odds = odds / jnp.sum(odds, -1, keepdims=True)
            up = jnp.einsum("btm,emk->btek", h, p["up"])
            y = y + jnp.einsum("bte,btek,ekm->btm", odds, jnp.expm1(-up * up), p["down"])
        log = jax.nn.log_softmax(centred(y) @ w["emb"].T / cold)
        sure = -jnp.sum(jnp.exp(log) * log, -1)
        told = jnp.take_along_axis(log[:, :-1], text[:, 1:, None], -1)
        return lax.top_k(log[:, -1], 5), told, sure, jnp.argmax(log, -1)
    return run, (w, f16(n, P, 108), i32(n, T), f16())


def eight_matcher(n=6, D=64, A=90, C=70):
    """Descriptors of two pictures in whole numbers of 8 bits: matched, mixed along places, projected, matched again."""
    dot = partial(jnp.einsum, preferred_element_type=jnp.int32)

    def whole(x, scale):
        return jnp.clip(jnp.round(x.astype(F) * scale), -127, 127).astype(jnp.int8)

    def run(a, b, w, mix, s):
        for i in range(3):
            near = dot("nad,ncd->nac", a, b)
            odds = whole(jax.nn.softmax(near.astype(F) * s[0]), 127.0)
            seen = whole(dot("nac,ncd->nad", odds, b), s[1])
            back = whole(dot("nac,nad->ncd", odds, a), s[1])
            a = whole(dot("nad,dk->nak", seen, w[i]) + dot("nbd,ba->nad", a, mix[i]), s[2])
            b = whole(dot("ncd,kd->nck", back, w[i]), s[2])
        near = dot("nda,ndc->nca", jnp.swapaxes(a, 1, 2), jnp.swapaxes(b, 1, 2))
        return jnp.argmax(near, 1), jnp.max(near, 2), dot("nad,nbd->ab", a, a)
    return run, (s8(n, A, D), s8(n, C, D), s8(3, D, D), s8(3, A, A), f32(3))


def lengths(n=220, steps=6):
    """Springs, rays and torsions: what is divided by its own length, and nothing added below the root; in a loop."""
    def unit(v):
        return v / jnp.sqrt(jnp.sum(v * v, -1, keepdims=True))

    def run(x, v, to, light, mass):
        def step(c, _):
            x, v = c
            d = x[:, None] - x[None] + to
            r = jnp.sqrt(d[..., 0] ** 2 + d[..., 1] ** 2 + d[..., 2] ** 2)
            pull = jnp.sum(d / r[..., None] * ((1 / r ** 2 - mass * lax.rsqrt(r)))[..., None], 1)
            bent = unit(jnp.cross(d[:, 1:] + light, d[:, :-1]))
            shade = jnp.einsum("ijk,k->ij", bent, unit(light))
            v = 0.99 * v + 1e-3 * (pull + unit(v) * jnp.mean(shade, 1, keepdims=True))
            return (x + 1e-2 * v, v), jnp.mean(lax.rsqrt(r * mass))
        return lax.scan(step, (x, v), None, length=steps)
    return run, (f32(n, 3), f32(n, 3), f32(n, n, 3), f32(3), f32(n, n))


GRAPHS = {"eight-trainer": eight_trainer, "half-captions": half_captions, "eight-matcher": eight_matcher,
          "lengths": lengths}
