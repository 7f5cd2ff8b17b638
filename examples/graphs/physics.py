"""Training set, loops: physics, numerics and images, each as a loop of steps over a state."""
import jax
import jax.numpy as jnp
from jax import lax

from nn import f32, i32


def repeat(step, n):
    """The program that takes n steps from a state."""
    def run(*state):
        return lax.fori_loop(0, n, lambda _, s: step(*s), state)
    return run


def gravity(x, v, m, dt=1e-3):
    d = x[None] - x[:, None]
    near = lax.rsqrt(jnp.sum(d * d, -1) + 1e-2) ** 3
    v = v + dt * jnp.einsum("ijk,ij,j->ik", d, near, m)
    return x + dt * v, v, m


def heat(u, k):
    edge = jnp.pad(u, 1, mode="edge")
    mean = (edge[2:, 1:-1] + edge[:-2, 1:-1] + edge[1:-1, 2:] + edge[1:-1, :-2]) / 4
    return u + jax.nn.sigmoid(k) * (mean - u), k


def laplace(u):
    return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u


def seismic(now, before, speed, source):
    """Waves with a sponge around them; a receiver on each side."""
    n = now.shape[0]
    ramp = jnp.minimum(jnp.arange(n), jnp.arange(n)[::-1])
    sponge = jnp.exp(-jnp.square(jnp.maximum(0, 8 - jnp.minimum(ramp[:, None], ramp[None])) * 0.05))

    def step(carry, pulse):
        a, b = carry
        new = (2 * a - b + 0.1 * speed * speed * laplace(a)) * sponge
        new = new.at[n // 2, n // 3].add(pulse)
        return (new, a * sponge), (new[4], new[:, -5])
    return lax.scan(step, (now, before), source)


def gray_scott(u, v):
    react = u * v * v
    return (u + 0.16 * laplace(u) - react + 0.04 * (1 - u), v + 0.08 * laplace(v) + react - 0.1 * v)


def minmod(a, b):
    return 0.5 * (jnp.sign(a) + jnp.sign(b)) * jnp.minimum(jnp.abs(a), jnp.abs(b))


def burgers(u):
    def rate(u):
        slope = minmod(u - jnp.roll(u, 1, -1), jnp.roll(u, -1, -1) - u)
        left, right = u + slope / 2, jnp.roll(u - slope / 2, -1, -1)
        fast = jnp.maximum(jnp.abs(left), jnp.abs(right))
        flux = (left * left + right * right) / 4 - fast * (right - left) / 2
        return jnp.roll(flux, 1, -1) - flux
    a = u + 0.1 * rate(u)
    b = 0.75 * u + 0.25 * (a + 0.1 * rate(a))
    return (u / 3 + 2 / 3 * (b + 0.1 * rate(b)),)


WAYS = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]


def lattice_boltzmann(f, wall):
    way = jnp.array(WAYS, jnp.float32)
    share = jnp.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)[:, None, None]
    mass = jnp.sum(jnp.abs(f), 0) + 0.1
    speed = jnp.einsum("qd,qxy->dxy", way, f) / mass
    along = jnp.einsum("qd,dxy->qxy", way, speed)
    rest = share * mass * (1 + 3 * along + 4.5 * along ** 2 - 1.5 * jnp.sum(speed ** 2, 0))
    f = f - (f - rest) / 0.8
    moved = jnp.stack([jnp.roll(f[q], way_q, (0, 1)) for q, way_q in enumerate(WAYS)])
    back = moved[jnp.array([0, 3, 4, 1, 2, 7, 8, 5, 6])]
    return jnp.where(wall > 0, back, moved), wall


def lennard_jones(x, v, side=6.0, dt=2e-3):
    def force(x):
        d = x[:, None] - x[None]
        d = d - side * jnp.round(d / side)
        r2 = jnp.sum(d * d, -1) + 0.5
        inside = (r2 < 6.25) & ~jnp.eye(len(x), dtype=bool)
        s6 = 1 / r2 ** 3
        return jnp.sum(jnp.where(inside[..., None], (48 * s6 * s6 - 24 * s6)[..., None] / r2[..., None] * d, 0), 1)
    v = v + dt / 2 * force(x)
    x = x + dt * v
    x = x - side * jnp.floor(x / side)
    return x, v + dt / 2 * force(x)


def smooth(u, f, n):
    return lax.fori_loop(0, n, lambda _, u: u + 0.2 * (laplace(u) - f), u)


def multigrid(u, f, levels=4):
    """V-cycles of a Poisson problem."""
    def cycle(u, f, level):
        u = smooth(u, f, 2)
        if level:
            rest = f - laplace(u)
            coarse = rest.reshape(rest.shape[0] // 2, 2, -1, 2).mean((1, 3)) * 4
            fix = cycle(jnp.zeros_like(coarse), coarse, level - 1)
            u = u + jnp.repeat(jnp.repeat(fix, 2, 0), 2, 1)
        return smooth(u, f, 2)
    return lax.fori_loop(0, 3, lambda _, u: cycle(u, f, levels), u)


def conjugate_gradients(b, weight):
    """Until it is solved, or thirty steps: how many is known to nobody before."""
    def product(x):
        w = 1 + weight * weight
        return x * w + 0.1 * (4 * x - laplace(x) - 4 * x)

    def step(s):
        x, r, p, rr, i = s
        q = product(p)
        a = rr / (jnp.vdot(p, q) + 1e-12)
        x, r = x + a * p, r - a * q
        new = jnp.vdot(r, r)
        return x, r, r + new / (rr + 1e-12) * p, new, i + 1
    start = jnp.zeros_like(b), b, b, jnp.vdot(b, b), 0
    return lax.while_loop(lambda s: (s[3] > 1e-8) & (s[4] < 30), step, start)[0]


def cloth(x, v, pair, length):
    d = x[pair[:, 1]] - x[pair[:, 0]]
    r = jnp.sqrt(jnp.sum(d * d, -1) + 1e-6)
    pull = (20 * (r - length) / r)[:, None] * d
    f = jnp.zeros_like(x).at[pair[:, 0]].add(pull).at[pair[:, 1]].add(-pull)
    v = 0.99 * (v + 0.01 * (f + jnp.array([0, 0, -1.0])))
    return x + 0.01 * v, v, pair, length


def life(cells):
    alive = (cells & 1).astype(jnp.int8)
    around = sum(jnp.roll(alive, (i, k), (0, 1)) for i in (-1, 0, 1) for k in (-1, 0, 1)) - alive
    return (((around == 3) | ((alive == 1) & (around == 2))).astype(cells.dtype),)


def windows(image, k):
    padded = jnp.pad(image, k, mode="reflect")
    h, w = image.shape
    return ((padded[i:i + h, j:j + w], (i - k) ** 2 + (j - k) ** 2) for i in range(2 * k + 1) for j in range(2 * k + 1))


def darkroom(photos):
    """Each photo of a batch: bilateral filter, edges, equalised histogram, unsharp mask."""
    def one(x):
        total, weight = 0, 0
        for shifted, far in windows(x, 2):
            w = jnp.exp(-far / 8 - jnp.square(shifted - x) * 4)
            total, weight = total + w * shifted, weight + w
        y = total / weight
        gx, gy = (jnp.roll(y, -1, a) - jnp.roll(y, 1, a) for a in (0, 1))
        edge = jnp.sqrt(gx * gx + gy * gy + 1e-6)
        level = jnp.clip((y + 1) * 32, 0, 63).astype(jnp.int32)
        count = jnp.zeros(64).at[level.ravel()].add(1.0)
        even = (jnp.cumsum(count) / y.size)[level]
        return jnp.where(edge > 0.2, even + 0.5 * (x - y), y)
    return lax.map(one, photos)


def optical_flow(a, b):
    gx, gy, gt = jnp.gradient(a, axis=1), jnp.gradient(a, axis=0), b - a

    def step(_, uv):
        u, v = (s + laplace(s) / 4 for s in uv)
        part = (gx * u + gy * v + gt) / (0.1 + gx * gx + gy * gy)
        return u - gx * part, v - gy * part
    return lax.fori_loop(0, 20, step, (jnp.zeros_like(a), jnp.zeros_like(a)))


def deblur(photo, kernel):
    k = jnp.abs(kernel) / (jnp.sum(jnp.abs(kernel)) + 1e-6)

    def blur(x, k):
        return lax.conv_general_dilated(x[None, None], k[None, None], (1, 1), "SAME")[0, 0]

    def step(x, _):
        x = x * blur(jnp.abs(photo) / (blur(x, k) + 1e-3), k[::-1, ::-1])
        return x, jnp.mean(x)
    return lax.scan(step, jnp.ones_like(photo), None, length=8)


def ray_march(origin, way):
    """Signed distances: a sphere, a torus and a floor, shaded by their slopes."""
    def far(p):
        ring = jnp.sqrt(p[..., 0] ** 2 + p[..., 2] ** 2 + 1e-6) - 1
        torus = jnp.sqrt(ring ** 2 + p[..., 1] ** 2 + 1e-6) - 0.25
        ball = jnp.sqrt(jnp.sum((p - 0.5) ** 2, -1) + 1e-6) - 0.6
        return jnp.minimum(jnp.minimum(torus, ball), p[..., 1] + 1)

    def step(t, _):
        return t + far(origin + t[..., None] * way), None
    t, _ = lax.scan(step, jnp.zeros(way.shape[:-1]), None, length=24)
    p = origin + t[..., None] * way
    normal = jax.grad(lambda q: jnp.sum(far(q)))(p)
    return jnp.clip(normal @ jnp.array([0.5, 0.7, 0.5]), 0, 1) * jnp.exp(-0.1 * jnp.abs(t))


GRAPHS = {
    "gravity": lambda: (repeat(gravity, 8), (f32(96, 3), f32(96, 3), f32(96))),
    "heat": lambda: (repeat(heat, 16), (f32(128, 128), f32(128, 128))),
    "seismic": lambda: (seismic, (f32(96, 96), f32(96, 96), f32(96, 96), f32(24))),
    "gray-scott": lambda: (repeat(gray_scott, 20), (f32(96, 96), f32(96, 96))),
    "burgers": lambda: (repeat(burgers, 12), (f32(8, 1024),)),
    "lattice-boltzmann": lambda: (repeat(lattice_boltzmann, 8), (f32(9, 64, 64), i32(64, 64))),
    "lennard-jones": lambda: (repeat(lennard_jones, 6), (f32(128, 3), f32(128, 3))),
    "multigrid": lambda: (multigrid, (f32(64, 64), f32(64, 64))),
    "conjugate-gradients": lambda: (conjugate_gradients, (f32(96, 96), f32(96, 96))),
    "cloth": lambda: (repeat(cloth, 10), (f32(400, 3), f32(400, 3), i32(1200, 2), f32(1200))),
    "life": lambda: (repeat(life, 16), (i32(128, 128),)),
    "darkroom": lambda: (darkroom, (f32(6, 64, 64),)),
    "optical-flow": lambda: (optical_flow, (f32(96, 96), f32(96, 96))),
    "deblur": lambda: (deblur, (f32(64, 64), f32(7, 7))),
    "ray-march": lambda: (ray_march, (f32(3), f32(64, 64, 3))),
}
