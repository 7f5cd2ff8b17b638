#!/usr/bin/env python3
"""What tune() does once a search has found something. Nothing is searched here: each program is found as it is."""
import warnings

from door import end, f32, found, jax, jnp, np, same, say, vantage


def check(name, good, why=""):
    say("pass" if good else "FAIL", name, "" if good else why)


def check_timed():
    """What calls cost is told whatever the arguments are, and a result is never lost because that fails."""
    forms = {
        "a string": (lambda a, how: getattr(jnp, how)(a), (f32(3), "sin"), {}),
        "a function": (lambda f, a: f(a), (jnp.cos, f32(3)), {}),
        "a static tree": (lambda a, n: a * n["k"][0], (f32(3), Tree({"k": (3,)})), {"static_argnums": 1}),
        "a random key and a string": (lambda k, how: getattr(jax.random, how)(k, (4,)), (jax.random.key(1), "normal"),
                                      {}),
    }
    for name, (function, args, static) in forms.items():
        fast = vantage.tune(function, *args, progress=None, **static)
        check(f"tuned for {name}", fast.tuned and same(fast(*args), function(*args)), fast.report.sentence)
        check("... with what calls cost", fast.report.called and fast.report.called["jit"] > 0, repr(fast.report))
    calls = []

    def moody(a):
        calls.append(a)
        if len(calls) > 2:
            raise OSError("not again")
        return a + 1

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fast = vantage.tune(moody, f32(3), progress=None)
    check("a function that fails when it is timed", fast.tuned and same(fast(f32(3)), f32(3) + 1))
    check("... and that is said", ["not again" in str(w.message) for w in heard] == [True], str(heard))


def check_lent():
    """A function that calls what overwrites its arguments leaves the caller's alone while it is tuned."""
    step = jax.jit(lambda s, b: (s * 0.9 + b, s.sum()), donate_argnums=0)
    s, b = f32(64), f32(64)
    fast = vantage.tune(lambda s, b: step(s, b), s, b, progress=None)
    check("an argument that is overwritten inside is still there", fast.tuned and not s.is_deleted(),
          fast.report.sentence)


class Tree(dict):
    """A dict that may be static: it has a hash."""

    def __hash__(self):
        return hash(tuple(self.items()))


for look in (check_timed, check_lent):
    with found():
        look()
end()
