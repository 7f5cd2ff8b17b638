"""Training set, steps: solvers and simulations, most of them a few turns of a loop whose body is long.

Matrices are small, and what factors or solves them is written out here: no library of linear algebra is called.
"""
import jax
import jax.numpy as jnp
from jax import lax

from nn import f32, i32


def cholesky(a):
    """Lower factor of a batch of matrices, column by column in a loop; pivots are kept above zero."""
    n = a.shape[-1]
    at = jnp.arange(n)

    def column(j, low):
        here = lax.dynamic_index_in_dim(low, j, -2, keepdims=False)
        c = lax.dynamic_index_in_dim(a, j, -1, keepdims=False) - jnp.einsum("...ik,...k->...i", low, here)
        pivot = jnp.sqrt(jnp.maximum(jnp.take(c, j, -1), 1e-6))
        c = jnp.where(at >= j, c / pivot[..., None], 0)
        return lax.dynamic_update_index_in_dim(low, c, j, -1)
    return lax.fori_loop(0, n, column, jnp.zeros_like(a))


def forward_substitute(low, b):
    def row(i, x):
        line = lax.dynamic_index_in_dim(low, i, 0, keepdims=False)
        return x.at[i].set((b[i] - line @ x) / line[i])
    return lax.fori_loop(0, low.shape[0], row, jnp.zeros_like(b))


def back_substitute(low, b):
    n = low.shape[0]

    def row(k, x):
        i = n - 1 - k
        column = lax.dynamic_index_in_dim(low, i, 1, keepdims=False)
        return x.at[i].set((b[i] - column @ x) / column[i])
    return lax.fori_loop(0, n, row, jnp.zeros_like(b))


def unrolled_solve(a, b):
    """Gauss and Jordan without exchange, each step written out: for few unknowns, many systems at once."""
    n = a.shape[-1]
    m = jnp.concatenate([a, b], -1)
    for i in range(n):
        row = m[..., i, :] / m[..., i, i][..., None]
        m = m - m[..., :, i][..., None] * row[..., None, :]
        m = m.at[..., i, :].set(row)
    return m[..., n:]


def gaussian_process(n=64, m=32, d=4):
    """Three kernels' hyperparameters: likelihood by our own factor, its slope by hand, three steps, and predictions."""
    def kernel(h, x, y):
        diff = (x[:, None] - y[None]) * jnp.exp(h["scale"])
        r2 = jnp.sum(diff * diff, -1)
        r = jnp.sqrt(r2 + 1e-6)
        smooth = jnp.exp(h["a"] - r2 / 2)
        rough = jnp.exp(h["b"]) * (1 + 1.732 * r) * jnp.exp(-1.732 * r)
        wave = jnp.exp(h["c"] - 2 * jnp.sum(jnp.sin(3.1416 * diff) ** 2, -1))
        return smooth + rough + wave + (h["slope"] * x) @ (h["slope"] * y).T

    def step(h, x, y, at):
        def turn(h, _):
            k, slope = jax.vjp(lambda h: kernel(h, x, x) + jnp.eye(n) * (0.3 + jnp.exp(h["noise"])), h)
            low = cholesky(k)
            alpha = back_substitute(low, forward_substitute(low, y))
            inverse = back_substitute(low, forward_substitute(low, jnp.eye(n)))
            value = y @ alpha / 2 + jnp.sum(jnp.log(jnp.diagonal(low)))
            g, = slope((inverse - alpha[:, None] * alpha[None]) / 2)
            size = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)) + 1e-9)
            return jax.tree.map(lambda h, g: h - 0.05 * g / size, h, g), (value, size)
        h, log = lax.scan(turn, h, None, length=3)
        low = cholesky(kernel(h, x, x) + jnp.eye(n) * (0.3 + jnp.exp(h["noise"])))
        half = forward_substitute(low, kernel(h, x, at))
        mean = half.T @ forward_substitute(low, y)
        return h, log, mean, jnp.diagonal(kernel(h, at, at)) - jnp.sum(half * half, 0)
    h = dict(scale=f32(d), slope=f32(d), a=f32(), b=f32(), c=f32(), noise=f32())
    return step, (h, f32(n, d), f32(n), f32(m, d))


def elements(nodes=900, triangles=1600, turns=10):
    """A sheet of triangles: stiffness by gathers, assembled by scatters, solved by preconditioned gradients."""
    def run(x, u0, load, corner, stiff, fixed):
        p = x[corner] + jnp.array([[0, 0], [3, 0], [0, 3]], jnp.float32)
        edge = jnp.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]], 1)
        det = edge[:, 0, 0] * edge[:, 1, 1] - edge[:, 0, 1] * edge[:, 1, 0]
        inverse = jnp.stack([jnp.stack([edge[:, 1, 1], -edge[:, 0, 1]], -1),
                             jnp.stack([-edge[:, 1, 0], edge[:, 0, 0]], -1)], 1) / det[:, None, None]
        slope = jnp.einsum("eij,jk->eik", inverse, jnp.array([[-1, 1, 0], [-1, 0, 1]], jnp.float32))
        lame, shear = 1 + stiff[:, 0] ** 2, 0.5 + stiff[:, 1] ** 2
        free = jnp.where(fixed > 5, 0.0, 1.0)[:, None]

        def product(u):
            strain = jnp.einsum("eik,ekj->eij", slope, (u * free)[corner])
            even = (strain + strain.swapaxes(1, 2)) / 2
            trace = even[:, 0, 0] + even[:, 1, 1]
            stress = 2 * shear[:, None, None] * even + (lame * trace)[:, None, None] * jnp.eye(2)
            force = jnp.einsum("eik,eij,e->ekj", slope, stress, jnp.abs(det) / 2)
            return jnp.zeros((nodes, 2)).at[corner].add(force) * free + 0.01 * u

        share = jnp.einsum("eik,eik,e->ek", slope, slope, jnp.abs(det) / 2 * (lame + 2 * shear))
        weight = jnp.zeros(nodes).at[corner].add(share)[:, None] + 0.01

        def turn(s, _):
            u, r, p, rz = s
            q = product(p)
            a = rz / (jnp.vdot(p, q) + 1e-9)
            u, r = u + a * p, r - a * q
            z = r / weight
            new = jnp.vdot(r, z)
            return (u, r, z + new / (rz + 1e-9) * p, new), jnp.sqrt(jnp.vdot(r, r))
        r = load * free - product(u0)
        z = r / weight
        (u, *_), rest = lax.scan(turn, (u0, r, z, jnp.vdot(r, z)), None, length=turns)
        bent = jnp.einsum("eik,ekj->eij", slope, u[corner])
        mises = jnp.sqrt(jnp.sum(jnp.square(bent - jnp.trace(bent, axis1=1, axis2=2)[:, None, None] / 2 * jnp.eye(2)),
                                 (1, 2)) + 1e-9)
        return u, rest, mises
    return run, (f32(nodes, 2), f32(nodes, 2), f32(nodes, 2), i32(triangles, 3), f32(triangles, 2), i32(nodes))


def smoother(steps=24, n=4, m=2, series=32):
    """Kalman filters forward, Rauch-Tung-Striebel smoothers back, then new dynamics from both; many series at once."""
    def run(a, c, q, r, y):
        eye = jnp.eye(n)
        process, seen = q @ q.T + 0.1 * eye, r @ r.T + 0.1 * jnp.eye(m)

        def ahead(state, y):
            x, p = state
            x1 = x @ a.T
            p1 = a @ p @ a.T + process
            rest = y - x1 @ c.T
            s = c @ p1 @ c.T + seen
            gain = unrolled_solve(s, c @ p1).swapaxes(-1, -2)
            x = x1 + jnp.einsum("snm,sm->sn", gain, rest)
            p = p1 - gain @ c @ p1
            quad = jnp.sum(rest * unrolled_solve(s, rest[..., None])[..., 0], -1)
            log = jnp.log(jnp.abs(s[..., 0, 0] * s[..., 1, 1] - s[..., 0, 1] * s[..., 1, 0]) + 1e-6)
            return (x, (p + p.swapaxes(-1, -2)) / 2), (x, p, x1, p1, quad + log)
        start = jnp.zeros((series, n)), jnp.broadcast_to(eye, (series, n, n))
        _, (x, p, x1, p1, cost) = lax.scan(ahead, start, y)

        def back(state, now):
            xs, ps = state
            x, p, x1, p1 = now
            j = unrolled_solve(p1, a @ p).swapaxes(-1, -2)
            new = x + jnp.einsum("snk,sk->sn", j, xs - x1)
            cover = p + j @ (ps - p1) @ j.swapaxes(-1, -2)
            return (new, cover), (new, cover, ps @ j.swapaxes(-1, -2) + xs[..., None] * new[:, None])
        last = x[-1], p[-1]
        _, (xs, ps, cross) = lax.scan(back, last, (x[:-1], p[:-1], x1[1:], p1[1:]), reverse=True)
        second = jnp.sum(ps + xs[..., None] * xs[..., None, :], (0, 1)) + eye
        third = jnp.sum(cross, (0, 1))
        return unrolled_solve(second.T, third.T).T, jnp.sum(cost), xs
    return run, (f32(n, n), f32(m, n), f32(n, n), f32(m, m), f32(steps, series, m))


def vorticity(n=48, modes=16, steps=3):
    """Flow in a periodic box by sines and cosines as matrices; fourth order in time; a forcing at one scale."""
    def run(w, visc, force):
        x = jnp.arange(n) * (2 * jnp.pi / n)
        k = jnp.arange(-modes, modes + 1)
        c, s = jnp.cos(x[:, None] * k), jnp.sin(x[:, None] * k)
        k2 = (k[:, None] ** 2 + k[None] ** 2).astype(jnp.float32)
        kx, ky = k[:, None] * jnp.ones_like(k2), k[None] * jnp.ones_like(k2)
        inverse = jnp.where(k2 > 0, 1 / jnp.maximum(k2, 1), 0)

        def to(u):
            cu, su = c.T @ u, s.T @ u
            return (cu @ c - su @ s) / n ** 2, -(cu @ s + su @ c) / n ** 2

        def back(re, im):
            return c @ re @ c.T - s @ re @ s.T - c @ im @ s.T - s @ im @ c.T

        def along(q, k):
            return -k * q[1], k * q[0]

        def rate(w):
            re, im = w
            psi = re * inverse, im * inverse
            u, v = back(*along(psi, ky)), -back(*along(psi, kx))
            wx, wy = back(*along(w, kx)), back(*along(w, ky))
            ar, ai = to(u * wx + v * wy)
            damp = (1e-3 + visc * visc) * k2 + 0.1
            band = jnp.where((k2 > 9) & (k2 < 25), 1.0, 0.0)
            fr, fi = to(force)
            return -ar - damp * re + band * fr, -ai - damp * im + band * fi

        def step(w, _):
            add = lambda a, r, h: (a[0] + h * r[0], a[1] + h * r[1])
            dt = 1e-2
            a = rate(w)
            b = rate(add(w, a, dt / 2))
            d = rate(add(w, b, dt / 2))
            e = rate(add(w, d, dt))
            w = add(add(add(add(w, a, dt / 6), b, dt / 3), d, dt / 3), e, dt / 6)
            power = w[0] ** 2 + w[1] ** 2
            shell = jnp.sqrt(k2).astype(jnp.int32)
            return w, (jnp.zeros(24).at[shell].add(power * inverse), jnp.sum(power))
        w, log = lax.scan(step, to(w), None, length=steps)
        return back(*w), log
    return run, (f32(n, n), f32(), f32(n, n))


def material_points(points=1500, grid=24, steps=4):
    """Snow and jelly as particles over a grid: quadratic weights, scatters, gathers, 2x2 polar parts by hand."""
    def polar(f):
        a, b = f[:, 0, 0] + f[:, 1, 1], f[:, 1, 0] - f[:, 0, 1]
        r = lax.rsqrt(a * a + b * b + 1e-9)
        c, s = a * r, b * r
        return jnp.stack([jnp.stack([c, -s], -1), jnp.stack([s, c], -1)], 1)

    def step(x, v, near, f, j, kind):
        dx, dt = 1.0 / grid, 2e-3
        place = jnp.clip((x + 0.6) * 0.8, 0.1, 0.9) * grid
        base = jnp.floor(place - 0.5)
        off = place - base
        w = jnp.stack([0.5 * (1.5 - off) ** 2, 0.75 - (off - 1) ** 2, 0.5 * (off - 0.5) ** 2])
        f = f + dt * near @ f
        hard = jnp.where(kind == 0, 0.3, jnp.exp(jnp.clip(5 * (1 - j), -2, 2)))
        turn = polar(f)
        det = f[:, 0, 0] * f[:, 1, 1] - f[:, 0, 1] * f[:, 1, 0]
        stress = 2 * hard[:, None, None] * (f - turn) @ f.swapaxes(1, 2)
        stress = stress + (hard * det * (det - 1))[:, None, None] * jnp.eye(2)
        stress = -dt * 4 * grid * dx * stress + near
        mass = jnp.zeros((grid, grid))
        push = jnp.zeros((grid, grid, 2))
        index = base.astype(jnp.int32)
        ways = [(a, b) for a in range(3) for b in range(3)]
        for a, b in ways:
            far = (jnp.array([a, b]) - off) * dx
            share = w[a, :, 0] * w[b, :, 1]
            at = index[:, 0] + a, index[:, 1] + b
            mass = mass.at[at].add(share, mode="drop")
            push = push.at[at].add(share[:, None] * (v + jnp.einsum("pij,pj->pi", stress, far)), mode="drop")
        speed = jnp.where(mass[..., None] > 0, push / jnp.maximum(mass, 1e-6)[..., None], 0) - dt * jnp.array([0, 9.8])
        low, high = jnp.arange(grid) < 3, jnp.arange(grid) > grid - 3
        along = lambda u, low, high: jnp.where(low, jnp.maximum(u, 0), jnp.where(high, jnp.minimum(u, 0), u))
        speed = jnp.stack([along(speed[..., 0], low[:, None], high[:, None]), along(speed[..., 1], low, high)], -1)
        v, near = 0.0, 0.0
        for a, b in ways:
            far = jnp.array([a, b]) - off
            share = w[a, :, 0] * w[b, :, 1]
            here = speed.at[index[:, 0] + a, index[:, 1] + b].get(mode="clip")
            v = v + share[:, None] * here
            near = near + 4 * grid * share[:, None, None] * here[:, :, None] * far[:, None]
        return x + dt * v, v, near, jnp.clip(f, -2, 2), j * (1 + dt * jnp.trace(near, axis1=1, axis2=2)), kind

    def run(*state):
        return lax.fori_loop(0, steps, lambda _, s: step(*s), state)
    n = points
    return run, (f32(n, 2), f32(n, 2), f32(n, 2, 2), f32(n, 2, 2), f32(n), i32(n))


GRAPHS = {
    "gaussian-process": gaussian_process,
    "elements": elements,
    "smoother": smoother,
    "vorticity": vorticity,
    "material-points": material_points,
}
