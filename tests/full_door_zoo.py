#!/usr/bin/env python3
"""The Python package on thirty real functions of examples/graphs: each goes through the library that calls compiled
programs, three times, and comes back with jax.jit's results, trees and types.

Results may be as far from jax.jit's as rounding takes them: another version of the compiler made them. The largest,
which are training steps, take most of the time and are left out unless ZOO=all.
"""
import os
import sys

from door import ROOT, end, inside, jax, np, say, through
from vantage.yardstick import distance

sys.path.insert(0, str(ROOT / "examples/graphs"))
import chance  # noqa: E402
import other  # noqa: E402
import physics  # noqa: E402
import sequence  # noqa: E402
import tiny  # noqa: E402
import vision  # noqa: E402

NAMES = """chain reduction loop branch scatter attention convolution update scan sort nothing shallow-water gravity
    heat life gray-scott kalman viterbi hidden-markov american-put garch k-means sinkhorn page-rank decoder""".split()
LARGE = "encoder lstm mixer vae recommender".split()
FAR = 2e-3  # of the largest number of a result
GRAPHS = {name: graph for module in (chance, other, physics, sequence, tiny, vision)
          for name, graph in module.GRAPHS.items()}


def given(like):
    """Arguments of these shapes. Whole numbers are small, so they are good as places, too."""
    draw = np.random.default_rng(7)

    def one(a):
        if a.dtype.kind in "iu":
            return jax.numpy.asarray(draw.integers(0, 2, a.shape), a.dtype)
        return jax.numpy.asarray(draw.uniform(0.1, 1, a.shape), a.dtype)

    return jax.tree.map(one, like)


def far(a, b):
    """How far results are apart, as a share of the largest number; infinite where they are of another kind."""
    if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind in "biu" and (a != b).any():
        return np.inf
    far, rounding = distance(a, b)
    return far if far in (0.0, np.inf) else far / max(rounding, np.abs(b[np.isfinite(b)]).max())


def check(name):
    function, like, *_ = GRAPHS[name]()
    args = given(like)
    wanted = jax.jit(function)(*args)
    fast = through(function, args, {})
    fast.function = None  # no way out
    for _ in range(3):
        got = fast(*args)
    if jax.tree.structure(got) != jax.tree.structure(wanted):
        return f"{jax.tree.structure(got)} for {jax.tree.structure(wanted)}"
    apart = [far(a, b) for a, b in zip(inside._leaves(got), inside._leaves(wanted))]
    return f"result {np.argmax(apart)} is {max(apart):.2g} of its size away" if max(apart, default=0) > FAR else ""


for name in NAMES + (LARGE if os.environ.get("ZOO") == "all" else []):
    try:
        why = check(name)
    except Exception as e:
        why = f"{type(e).__name__}: {e}"
    say("FAIL" if why else "pass", name, why)
end()
