"""Training set, strangers: solvers, circuits and oddities, by the same hands as strange_models.py.

Some compute in double precision (WIDE), and some are written for a TPU (FOR_TPU), because JAX calls LAPACK for a
processor, which no plugin has; what it does for a TPU instead is plain operations that XLA compiles for any machine.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax

from strange_models import key, shape, whole

WIDE = {"implicit_pde", "quantum", "chemistry"}
FOR_TPU = {"gp_lapack_tpu", "sparse_tpu", "x_eigh", "x_qr", "x_svd"}


def implicit_pde(n=32):
    """Implicit steps of diffusion by BiCGSTAB; how it depends on the coefficients, by the adjoint of the solver."""
    d = jnp.float64

    def lap(u):
        return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u

    def sim(k, u0):
        def step(u, _):
            product = lambda v: v - .1 * k * lap(v)
            return jax.scipy.sparse.linalg.bicgstab(product, u, tol=1e-8, maxiter=30)[0], u.sum()
        return lax.scan(step, u0, None, length=5)

    def fit(k, u0, target):
        def loss(k):
            u, log = sim(k, u0)
            return jnp.mean((u - target) ** 2), log
        (v, log), g = jax.value_and_grad(loss, has_aux=True)(k)
        return k - g, v, log
    return fit, (shape(n, n, d=d), shape(n, n, d=d), shape(n, n, d=d))


def marquardt(P=6, M=50):
    """A curve fitted by Levenberg and Marquardt: forward slopes, an elimination of its own, a step taken or not."""
    def model(p, x):
        return p[0] * jnp.exp(-p[1] * x) * jnp.sin(p[2] * x + p[3]) + p[4] + p[5] * x

    def solve(a, b):
        def elim(i, ab):
            r = ab[i] / ab[i, i]
            ab = ab - jnp.where(jnp.arange(P)[:, None] == i, 0, lax.dynamic_slice_in_dim(ab, i, 1, 1)) * r
            return ab.at[i].set(r)
        return lax.fori_loop(0, P, elim, jnp.concatenate([a, b[:, None]], 1))[:, -1]

    def fit(p, x, y):
        res = lambda p: model(p, x) - y

        def body(c):
            p, lam, i, e = c
            jac = jax.jacfwd(res)(p)
            r = res(p)
            hess = jac.T @ jac
            q = p - solve(hess + lam * jnp.diag(jnp.diag(hess) + 1e-6), jac.T @ r)
            e2 = jnp.sum(res(q) ** 2)
            return lax.cond(e2 < e, lambda: (q, lam / 3, i + 1, e2), lambda: (p, lam * 2, i + 1, e))
        start = p, jnp.float32(.01), 0, jnp.float32(jnp.inf)
        return lax.while_loop(lambda c: (c[2] < 40) & (c[3] > 1e-6), body, start)
    return fit, (shape(P), shape(M), shape(M))


def spectral(n=64):
    """Flow in a periodic box by Fourier transforms, ten steps of fourth order."""
    def run(w):
        k = jnp.fft.fftfreq(n, 1 / n)
        kx, ky = jnp.meshgrid(k, k[: n // 2 + 1], indexing="ij")
        k2 = kx ** 2 + ky ** 2
        mask = (jnp.abs(kx) < n / 3) & (jnp.abs(ky) < n / 3)

        def rhs(wh):
            psi = wh / jnp.where(k2 == 0, 1, k2)
            u, v = jnp.fft.irfft2(1j * ky * psi), jnp.fft.irfft2(-1j * kx * psi)
            wx, wy = jnp.fft.irfft2(1j * kx * wh), jnp.fft.irfft2(1j * ky * wh)
            return jnp.where(mask, -jnp.fft.rfft2(u * wx + v * wy), 0) - 1e-3 * k2 * wh

        def step(wh, _):
            dt = 1e-3
            a = rhs(wh)
            b = rhs(wh + dt / 2 * a)
            c = rhs(wh + dt / 2 * b)
            d = rhs(wh + dt * c)
            wh = wh + dt / 6 * (a + 2 * b + 2 * c + d)
            return wh, jnp.sum(jnp.abs(wh) ** 2)
        wh, e = lax.scan(step, jnp.fft.rfft2(w), None, length=10)
        return jnp.fft.irfft2(wh), e
    return run, (shape(n, n),)


def branches():
    """Twelve branches, and branches within them; slices at places known only when it runs; empty results."""
    def run(x, i, j):
        def br(k):
            def g(x):
                y = x
                for t in range(k + 1):
                    y = jnp.sin(y) + t
                return lax.cond(y.sum() > 0, lambda y: lax.sort(y, dimension=0), lambda y: jnp.flip(y, 1), y)
            return g
        y = lax.switch(i, [br(k) for k in range(12)], x)
        z = lax.dynamic_slice(y, (j, 0), (4, 8))
        y = lax.dynamic_update_slice(y, z * 2, (j + 1, i))
        some = lax.cond(j > 3, lambda: (jnp.zeros(0), y[:2]), lambda: (jnp.ones(0), y[2:4]))
        return y, some, lax.platform_dependent(y, cpu=lambda y: y + 1, default=lambda y: y - 1)
    return run, (shape(16, 16), whole(), whole())


def gp_lapack_tpu(n=48, m=10):
    """A Gaussian process: its factor, its likelihood, and the slope through both."""
    def fit(x, y, z, th):
        def nll(th):
            k = lambda a, b: jnp.exp(th[0] - .5 * ((a[:, None] - b[None]) ** 2).sum(-1) * jnp.exp(th[1]))
            low = jnp.linalg.cholesky(k(x, x) + jnp.eye(n) * jnp.exp(th[2]))
            a = jax.scipy.linalg.cho_solve((low, True), y)
            return .5 * y @ a + jnp.log(jnp.diagonal(low)).sum(), k(z, x) @ a
        (v, mean), g = jax.value_and_grad(nll, has_aux=True)(th)
        return th - .01 * g, v, mean
    return fit, (shape(n, 3), shape(n), shape(m, 3), shape(3))


def quantum(n=10):
    """A circuit of ten qubits in complex numbers, its energy and the slope of that."""
    def step(theta, psi):
        def energy(theta):
            s = psi.reshape((2,) * n)
            for l in range(3):
                for q in range(n):
                    c, t = jnp.cos(theta[l, q]), jnp.sin(theta[l, q])
                    g = jnp.array([[c, -1j * t], [-1j * t, c]])
                    s = jnp.moveaxis(jnp.tensordot(g, s, ((1,), (q,))), 0, q)
                for q in range(n - 1):
                    s = jnp.moveaxis(s, (q, q + 1), (0, 1))
                    s = s.at[1].set(s[1, ::-1])
                    s = jnp.moveaxis(s, (0, 1), (q, q + 1))
            p = jnp.abs(s.reshape(-1)) ** 2
            return p @ jnp.linspace(-1, 1, 2 ** n), jnp.angle(s.reshape(-1)[:8])
        (v, ph), g = jax.value_and_grad(energy, has_aux=True)(theta)
        return theta - .1 * g, v, ph
    return step, (shape(3, n, d=jnp.float64), shape(2 ** n, d=jnp.complex128))


def chemistry():
    """Stiff reactions by Rosenbrock's way, each with steps of its own size."""
    d = jnp.float64

    def rhs(y):
        return jnp.stack([-.04 * y[0] + 1e2 * y[1] * y[2], .04 * y[0] - 1e2 * y[1] * y[2] - 3e3 * y[1] ** 2,
                          3e3 * y[1] ** 2])

    def inv3(a):
        c = jnp.stack([jnp.cross(a[1], a[2]), jnp.cross(a[2], a[0]), jnp.cross(a[0], a[1])], 1)
        return c / (a[0] @ c[:, 0])

    def one(y0):
        def body(c):
            t, h, y, k = c
            w = inv3(jnp.eye(3, dtype=d) - h * .29 * jax.jacfwd(rhs)(y))
            k1 = w @ rhs(y)
            k2 = w @ (rhs(y + h * k1) - 2 * k1)
            n = y + 1.5 * h * k1 + .5 * h * k2
            e = jnp.max(jnp.abs(h * (k1 + k2) / 2) / (1e-6 + 1e-4 * jnp.abs(n)))
            ok = e < 1
            grown = jnp.minimum(h * jnp.clip(.9 / jnp.sqrt(e + 1e-12), .2, 5), 10.)
            return jnp.where(ok, t + h, t), grown, jnp.where(ok, n, y), k + 1
        start = jnp.zeros((), d), jnp.asarray(1e-4, d), y0, 0
        return lax.while_loop(lambda c: (c[0] < 40) & (c[3] < 500), body, start)
    return lambda y0: jax.vmap(one)(y0), (shape(16, 3, d=d),)


def closed():
    """No argument at all: a circle's area by throwing darts, and a histogram."""
    def run():
        k = jax.random.key(3)
        x = jax.random.normal(k, (2, 50_000))
        return 4 * jnp.mean((x ** 2).sum(0) < 1), jnp.histogram(x[0], 20)[0]
    return run, ()


def scalars():
    """Single numbers around and around, as many times as it is told."""
    def run(a, b, n):
        def body(i, c):
            x, y = c
            for _ in range(20):
                x, y = x * x - y * y + a, 2 * x * y + b
            return jnp.clip(x, -2, 2), jnp.clip(y, -2, 2)
        x, y = lax.fori_loop(0, n, body, (a, b))
        return jnp.hypot(x, y), jnp.float32(jnp.int32(x * 7) % 3), jnp.isfinite(x)
    return run, (shape(), shape(), whole())


def calls():
    """One function called sixty times."""
    @jax.jit
    def g(x, w):
        return jax.nn.gelu(x @ w) + x

    @functools.partial(jax.jit, inline=False)
    def h(x, w):
        return g(g(x, w), w.T)

    def run(x, w):
        for i in range(60):
            x = h(x, w * (1 / 10))
        return x
    return run, (shape(16, 32), shape(32, 32))


def sparse_tpu():
    """A sparse system by GMRES."""
    from jax.experimental import sparse

    def solve(v, idx, b):
        a = sparse.BCOO((v, idx), shape=(200, 200))
        return jax.scipy.sparse.linalg.gmres(lambda x: a @ x + 5 * x, b, restart=5, maxiter=3,
                                             solve_method="incremental")[0]
    return solve, (shape(900), whole(900, 2), shape(200))


def of_matrix(function):
    return lambda: (lambda a: function(a), (shape(12, 12),))


GRAPHS = {f.__name__: f for f in (implicit_pde, marquardt, spectral, branches, gp_lapack_tpu, quantum, chemistry,
                                  closed, scalars, calls, sparse_tpu)}
GRAPHS |= {
    "x_eigh": of_matrix(lambda a: jnp.linalg.eigh(a + a.T)),
    "x_qr": of_matrix(lambda a: jnp.linalg.qr(a)),
    "x_svd": of_matrix(lambda a: jnp.linalg.svd(a)),
}
