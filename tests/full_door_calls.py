#!/usr/bin/env python3
"""Calls of tuned functions that take the short way, and calls that must not: other types, shapes, trees and devices,
types that give way to others', arrays that are gone, values that JAX traces, several threads, memory written anew."""
import subprocess
import sys
import threading
import warnings

from door import ROOT, check, end, f32, inside, jax, jnp, np, same, through, vantage
from jax.experimental.layout import Format, Layout
from vantage import quick
from vantage.called import called

LARGE = (quick.MOST_COPIED + quick.EACH_COPIED) // 4 + 16


def quiet(fast, *args, **kwargs):
    """The result, and what was said."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        return fast(*args, **kwargs), [str(w.message) for w in heard]


def short(fast, *args):
    """Does a call take the short way?"""
    return fast._quick and fast._quick(args, {}) is not quick.NO


def check_ways():
    small, large = through(lambda a: a + 1, (f32(8),), {}), through(lambda a: a + 1, (f32(LARGE),), {})
    check("a small result goes the short way", short(small, f32(8)))
    check("so does a large one", short(large, f32(LARGE)))
    for fast, n in ((small, 8), (large, LARGE)):
        bare = through(fast.function, (f32(n),), {})
        bare.function = None  # no way out
        check(f"{n} numbers, three times", all(same(bare(f32(n) * k), f32(n) * k + 1) for k in range(3)))
    many = through(lambda t: [x + 1 for x in t], ([f32(LARGE // 10)] * 20,), {})
    check("many small results are copied, a large one is not",
          quick.copied(many._lowered) and not quick.copied(large._lowered))
    check("... and are right", short(many, [f32(LARGE // 10)] * 20) and same(many([f32(LARGE // 10)] * 20)[7],
                                                                            f32(LARGE // 10) + 1))
    for name, other in (("shape", f32(9)), ("type", f32(8).astype(jnp.bfloat16)), ("tree", [f32(8)])):
        fast = through(lambda a: jax.tree.map(lambda x: x + 1, a), (f32(8),), {})
        fast(f32(8))
        got, heard = quiet(fast, other)
        check(f"another {name} goes to jax.jit", same(got, fast.function(other)) and len(heard) == 1 and
              "jax.jit" in heard[0], str(heard))
        check(f"... and the next call of the first {name} does not", short(fast, f32(8)) and same(fast(f32(8)),
                                                                                                f32(8) + 1))


def check_layouts():
    """Arrays that do not lie row by row are read as they lie."""
    double = lambda m: m * 2 + m.sum(0)  # noqa: E731
    for n in (3, 1 + int(LARGE ** 0.5)):
        m = f32(n, n)
        lying = jax.device_put(m, Format(Layout((1, 0)), m.sharding))
        fast = through(double, (m,), {})
        fast.function = None  # no way out
        for when in ("before", "after"):
            check(f"{n} rows that lie as columns, {when} a usual call",
                  not short(fast, lying) and same(fast(lying), double(m)))
            check("... and a usual call", short(fast, m) and same(fast(m), double(m)))
        fast._quick = None
        check(f"{n} rows that lie as columns, the long way", same(fast(lying), double(m)))


def check_weak():
    """Types that give way: the program for a strong number is not that for a weak one."""
    half = f32(4).astype(jnp.bfloat16)
    times = lambda a, x: a * x  # noqa: E731
    for name, first, second in (("strong", jnp.float32(2), 2.0), ("weak", 2.0, jnp.float32(2)),
                                ("weak array", jnp.asarray(2.0), np.float32(2))):
        fast = through(times, (half, first), {})
        for _ in range(3):
            check(f"tuned for a {name} number", short(fast, half, first) and same(fast(half, first),
                                                                                  times(half, first)))
        for _ in range(3):
            got, _ = quiet(fast, half, second)
            check(f"... called with another, {got.dtype}", not short(fast, half, second) and
                  same(got, times(half, second)))
    fast = through(lambda x: (x * 2, jnp.broadcast_to(x, (3,))), (0.5,), {})
    fast.function = None
    weak = [x.weak_type for x in fast(0.25)]
    check("results that give way do so", weak == [True, True] and (fast(0.25)[1] * half[:3]).dtype == jnp.bfloat16,
          str(weak))


def check_others():
    """Calls of one other form are traced once; that is true of static arguments, too."""
    runs = []

    def f(a, n):
        runs.append(n)
        return a * n

    for static, n in (((), ()), 2.0), (((1,), ("n",)), 2):
        fast = through(f, (f32(8), n), {})
        fast.jitted.static = static
        runs.clear()
        got = [quiet(fast, f32(k), n)[0] for k in (9, 9, 10, 9)]
        check(f"other shapes are jitted, static: {static}", len(runs) == 2 and
              all(same(r, f32(len(r)) * n) for r in got), str(runs))


def check_names():
    """Arguments are passed by place or by name, in any order, whichever way the function was tuned; and no argument
    is taken for another."""
    def f(a, b, n=1.0, m=2.0, **more):
        return a * 2 + b * n + m + sum(more.values(), 0.0)

    a, b = f32(8), f32(8) + 1
    for name, args, kwargs in (("by place", (a, b), {}), ("one by name", (a,), {"b": b}),
                               ("by name", (), {"b": b, "a": a}), ("with another", (a, b, 3.0), {}),
                               ("with what has no place", (a, b), {"z": 4.0})):
        fast = through(f, args, kwargs)
        more = {**dict(zip(("n",), args[2:])), **{k: v for k, v in kwargs.items() if k == "z"}}
        fast.jitted.function, fast.jitted.asis = lambda *args, **kwargs: None, True  # no way out
        for args, kwargs in (((a, b), {}), ((a,), {"b": b}), ((), {"a": a, "b": b})):
            got, heard = quiet(fast, *args, **kwargs, **more)
            check(f"tuned {name}, called with {len(args)} by place", got is not None and not heard and
                  same(got, f(a, b, **more)), str(heard))
        if "n" in more:
            got, heard = quiet(fast, a, b, m=3.0)
            check("... but not for another argument", got is None and len(heard) == 1, str(heard))
    loaded = through(f, (a, b), {})
    loaded.function = None
    try:
        loaded(a=a, b=b)
        check("without its original names are not known", False, "they are")
    except vantage.Refused as why:
        check("without its original names are not known", "another form" in str(why), str(why))


def check_traced():
    fast = through(lambda a: jnp.sin(a) * 3, (f32(8),), {})
    _, heard = quiet(jax.grad(lambda a: fast(a).sum()), f32(8))
    check("a traced call is said", len(heard) == 1 and "traces" in heard[0], str(heard))
    for name, of in (("a gradient", lambda f: jax.grad(lambda a: f(a).sum())(f32(8))),
                     ("jit", lambda f: jax.jit(f)(f32(8))),
                     ("vmap", lambda f: jax.vmap(f)(f32(3, 8))), ("a scan", lambda f: jax.lax.scan(
                         lambda c, _: (f(c), None), f32(8), None, length=3)[0])):
        for when in ("before", "after"):
            got, heard = quiet(of, fast)
            check(f"{name}, {when} a call of its own", same(got, of(fast.function)) and not heard, str(heard))
            fast(f32(8))


GONE = """
import sys
from door import end, f32, inside, through
import jax
lend = jax.jit(lambda a: a + 1, donate_argnums=0)
for n in (8, 600):
    for quick in (True, False):
        for away in (lend, lambda a: a.delete()):
            fast, given = through(lambda a: a * 2, (f32(n, n),), {}), f32(n, n)
            fast._quick = quick and fast._quick
            away(given)
            try:
                fast(given)
            except RuntimeError as e:
                print("deleted" in str(e))
"""


def check_gone():
    """An array that was deleted, or given away, is an error, also where asking how it lies would end the process."""
    fast, given = through(lambda a: a + 1, (f32(8),), {}), f32(8)
    fast(given)
    given.delete()
    try:
        fast(given)
        check("an array that was deleted", False, "no error")
    except RuntimeError as e:
        check("an array that was deleted", "deleted" in str(e), str(e))
    done = subprocess.run([sys.executable, "-c", GONE], text=True, capture_output=True, cwd=ROOT / "tests")
    check("matrices that were given away", done.stdout.split() == ["True"] * 8,
          f"status {done.returncode}: {done.stdout} {done.stderr[-300:]}")


def check_memory():
    """An address that was seen before may hold other numbers."""
    for n in (8, 1000, LARGE):
        fast, given = through(lambda a, b: a + b, (f32(n), f32(n)), {}), np.ones(n, np.float32)
        for k in range(4):
            given[:] = k
            check(f"{n} numbers written anew", same(fast(given, f32(n)), given + f32(n)))
    kept = [fast(f32(LARGE) * k, f32(LARGE)) for k in range(4)]
    check("results stay as they were", all(same(r, f32(LARGE) * k + f32(LARGE)) for k, r in enumerate(kept)))


def check_watched():
    """Where JAX looks for NaN in all results, the function runs, which knows where one came from."""
    lost = jnp.zeros(8).at[3].set(jnp.inf)
    for name, f, wrong in (("NaN", lambda a: jnp.sin(a) * 2, lost), ("infinity", lambda a: 1 / a, f32(8) * 0)):
        for n, before in ((8, True), (8, False), (LARGE, True)):
            fast, given = through(f, (f32(n),), {}), jnp.resize(wrong, n)
            if before:
                fast(f32(n))
            with getattr(jax, "debug_nans" if name == "NaN" else "debug_infs")(True), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    fast(given)
                    check(f"{name} among {n} numbers", False, "no error")
                except FloatingPointError as e:
                    check(f"{name} among {n} numbers", "encountered in" in str(e), str(e))
            check("... and no other time", short(fast, given))


def check_threads():
    for n in (8, 1000, LARGE):
        fast, bad = through(lambda a: a * 2 + 1, (f32(n),), {}), []

        def work(k):
            mine = f32(n) * k
            wanted = np.asarray(mine * 2 + 1)
            bad.extend(k for _ in range(50) if not np.array_equal(np.asarray(fast(mine)), wanted))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        check(f"{n} numbers, four threads", not bad, str(bad))


def check_called():
    """What calls cost is told of both sides, and a function that overwrites its arguments leaves the caller's alone."""
    for name, function in (("plain", lambda a: a + 1), ("jitted", jax.jit(lambda a: a + 1)),
                           ("donated", jax.jit(lambda a: a + 1, donate_argnums=0))):
        fast, given = through(function, (f32(8),), {}), f32(8)
        cost = called(fast, (given,), {})
        check(f"what calls cost, {name}", cost["tuned"] > 0 and cost["jit"] > 0 and cost["calls"] >= 2, str(cost))
        check(f"... and the argument is still there, {name}", not given.is_deleted() and same(given, f32(8)))
        inside._check(fast._call, fast._call, fast.jitted, (given,), {}, fast._lowered)
        check(f"... after numbers were compared, too, {name}", not given.is_deleted())
    report = inside.Report("Less.", {"called": {"tuned": 2e-3, "jit": 1e-3, "calls": 9}})
    check("the report says who is the better one", "jax.jit's is the better one" in repr(report), repr(report))


check_called()
check_ways()
check_layouts()
check_weak()
check_others()
check_names()
check_traced()
check_gone()
check_memory()
check_watched()
check_threads()
end()
