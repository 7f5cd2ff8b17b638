"""Training set, steps: angles, periods and roots."""
import jax
import jax.numpy as jnp
from jax import lax

from nn import f32


def orbits(bodies=4096, steps=4):
    """Where planets and comets are: Kepler's equation by Newton, its angles, parabolas by cube roots, and which are
    near in a box that repeats."""
    def run(a, e, start, t, box):
        a = jnp.abs(a) + 0.3

        def place(t):
            mean = jnp.mod(start + t * a ** -1.5 + jnp.pi, 2 * jnp.pi) - jnp.pi
            x = mean + e * jnp.sin(mean)
            for _ in range(5):
                x = x - (x - e * jnp.sin(x) - mean) / (1 - e * jnp.cos(x))
            angle = 2 * jnp.arctan2(jnp.sqrt(1 + e) * jnp.sin(x / 2), jnp.sqrt(1 - e) * jnp.cos(x / 2))
            w = jnp.cbrt(mean + jnp.sqrt(mean * mean + 1))
            angle = jnp.where(e > 0.95, 2 * jnp.arctan(w - 1 / w), angle)
            r = a * (1 - e * jnp.cos(x))
            return jnp.stack([r * jnp.cos(angle), r * jnp.sin(angle)], -1)
        at = jax.vmap(place)(t)
        far = jnp.mod(at - at[:, :1] + box / 2, box) - box / 2
        return at, jnp.sum(far * far, -1), jnp.degrees(jnp.arctan2(at[..., 1], at[..., 0]))
    return run, (f32(bodies), f32(bodies), f32(bodies), f32(steps), f32())


def colours(n=2, size=96):
    """Pictures to hue, to perceived lightness by cube roots, turned in hue, and how far they are apart; with its
    slope."""
    matrix = jnp.array([[0.41, 0.36, 0.18], [0.21, 0.72, 0.07], [0.02, 0.12, 0.95]])

    def lab(rgb):
        linear = jnp.where(rgb > 0.04, (jnp.abs(rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
        x = jnp.abs(linear @ matrix.T) + 1e-3
        f = jnp.where(x > 0.009, jnp.cbrt(x), 7.8 * x + 0.14)
        return 116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])

    def turned(rgb, by):
        high, low = jnp.max(rgb, -1), jnp.min(rgb, -1)
        alpha, beta = rgb[..., 0] - (rgb[..., 1] + rgb[..., 2]) / 2, (rgb[..., 1] - rgb[..., 2]) * 0.866
        hue = jnp.mod(jnp.arctan2(beta, alpha + 1e-6) + by, 2 * jnp.pi)
        part = jnp.mod(jnp.array([5.0, 3.0, 1.0]) + hue[..., None] * 3 / jnp.pi, 6.0)
        return high[..., None] - (high - low)[..., None] * jnp.clip(jnp.minimum(part, 4 - part), 0, 1)

    def apart(by, a, b):
        (l1, a1, b1), (l2, a2, b2) = lab(turned(a, by)), lab(b)
        c1, c2 = jnp.hypot(a1, b1), jnp.hypot(a2, b2)
        dh = jnp.mod(jnp.arctan2(b1, a1 + 1e-6) - jnp.arctan2(b2, a2 + 1e-6) + jnp.pi, 2 * jnp.pi) - jnp.pi
        return jnp.mean(jnp.sqrt((l1 - l2) ** 2 + (c1 - c2) ** 2 + c1 * c2 * dh * dh + 1e-3))
    return jax.value_and_grad(apart), (f32(), f32(n, size, size, 3), f32(n, size, size, 3))


def arm(targets=8192):
    """A robot's arm of three joints: angles in closed form, then two corrections; what it misses by."""
    def run(x, y, lean, size):
        def forward(q):
            s = jnp.cumsum(jnp.stack(q), 0)
            return jnp.sum(size[:, None] * jnp.cos(s), 0), jnp.sum(size[:, None] * jnp.sin(s), 0)
        wx, wy = x - size[2] * jnp.cos(lean), y - size[2] * jnp.sin(lean)
        r = jnp.clip((wx * wx + wy * wy - size[0] ** 2 - size[1] ** 2) / (2 * size[0] * size[1] + 1e-6), -0.99, 0.99)
        elbow = jnp.arccos(r)
        first = jnp.arctan2(wy, wx) - jnp.arctan2(size[1] * jnp.sin(elbow), size[0] + size[1] * r)
        q = (first, elbow, lean - first - elbow)

        def correct(q, _):
            px, py = forward(q)
            turn = jnp.arctan2(y, x) - jnp.arctan2(py, px)
            turn = lax.rem(turn + 3 * jnp.pi, jnp.float32(2 * jnp.pi)) - jnp.pi
            return (q[0] + 0.5 * turn, q[1], jnp.arcsin(jnp.clip(jnp.sin(q[2]), -1, 1))), None
        q, _ = lax.scan(correct, q, None, length=2)
        px, py = forward(q)
        return q, jnp.hypot(px - x, py - y)
    return run, (f32(targets), f32(targets), f32(targets), f32(3))


GRAPHS = {f.__name__: f for f in (orbits, colours, arm)}
