#!/usr/bin/env python3
"""The Python package: functions of every form go through the library that calls compiled programs and come back with
the right numbers, or are refused with a sentence; one is tuned, saved and loaded. Most are compiled as they are, not
searched: what is on trial is the way in and out."""
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

from door import end, f32, jax, jnp, np, same, say, through, vantage


@jax.custom_vjp
def rough(x):
    return jnp.sin(x)


rough.defvjp(lambda x: (rough(x), x), lambda x, g: (g * (1 + 0 * x),))


def printing(x):
    jax.debug.print("{}", x)
    return x + 1


shared = jnp.arange(8, dtype=jnp.float32)
FORMS = {
    "two matrices": (lambda a, b: a @ b, (f32(5, 7), f32(7, 3)), {}),
    "a tree in, a tree out": (lambda t: {"sum": t["a"] + t["b"][0], "all": (t["a"], [t["b"][1]])},
                              ({"a": f32(4), "b": (f32(4), f32(2, 2))},), {}),
    "arguments by name": (lambda a, *, scale: a * scale, (f32(3),), {"scale": f32(3)}),
    "numbers of Python": (lambda a, n, x: a * n + x, (f32(3), 2, 0.5), {}),
    "None among them": (lambda a, b: a if b is None else a + b, (f32(3), None), {}),
    "a string decides": (lambda a, how: getattr(jnp, how)(a), (f32(3), "sin"), {}),
    "whole numbers": (lambda a: (a + 1, a > 2, a.astype(jnp.uint8)), (jnp.arange(6),), {}),
    "truth values": (lambda a: ~a, (jnp.array([True, False]),), {}),
    "bfloat16": (lambda a: a * a + 1, (f32(9).astype(jnp.bfloat16),), {}),
    "float16": (lambda a: jnp.tanh(a), (f32(9).astype(jnp.float16),), {}),
    "complex numbers": (lambda a: a * a.conj() + 1j, (f32(4) + 1j * f32(4),), {}),
    "a random key": (lambda k, a: a + jax.random.normal(k, a.shape), (jax.random.key(3), f32(4)), {}),
    "a random key comes out": (lambda k: jax.random.split(k, 3), (jax.random.key(3),), {}),
    "an old random key": (lambda k: jax.random.uniform(k, (4,)), (jax.random.PRNGKey(3),), {}),
    "a scan": (lambda a: jax.lax.scan(lambda c, x: (c * 0.5 + x, c), a[0], a), (f32(6, 3),), {}),
    "a while": (lambda a: jax.lax.while_loop(lambda c: c.sum() < 50, lambda c: c * c + 1, a), (f32(3),), {}),
    "a cond": (lambda p, a: jax.lax.cond(p, jnp.sin, jnp.cos, a), (True, f32(3)), {}),
    "vmap": (jax.vmap(lambda a, b: a @ b), (f32(3, 4, 5), f32(3, 5, 2)), {}),
    "a gradient": (jax.grad(lambda w, x: jnp.tanh(x @ w).sum()), (f32(4, 2), f32(3, 4)), {}),
    "a gradient of its own": (jax.grad(lambda x: rough(x).sum()), (f32(3),), {}),
    "an empty array": (lambda a: (a * 2, a.sum()), (jnp.zeros((0, 3)),), {}),
    "a scalar": (lambda a: a + 1, (jnp.float32(2),), {}),
    "no argument": (lambda: jnp.arange(3) * 2, (), {}),
    "values closed over": (lambda a: a * shared, (f32(8),), {}),
    "what is not used": (lambda a, b, c: b + 1, (f32(2), f32(3), f32(4)), {}),
    "an argument comes out again": (lambda a, b: (a, a, b + 1), (f32(3), f32(3)), {}),
    "many results": (lambda a: [a * i for i in range(40)], (f32(3),), {}),
    "jitted before": (jax.jit(lambda a: jnp.exp(a)), (f32(3),), {}),
    "donated": (jax.jit(lambda a: a + 1, donate_argnums=0), (f32(1000),), {}),
    "sorted": (lambda a: (jnp.sort(a), jnp.argsort(a)), (f32(50),), {}),
    "gathered and scattered": (lambda a, i: a.at[i].add(1.0)[i], (f32(9), jnp.array([1, 1, 5])), {}),
    "arrays of numpy": (lambda a, b: a + b, (np.ones(3, np.float32), np.ones((2, 3))), {}),
    "an array of numpy, transposed": (lambda a: a + 1, (np.arange(6, dtype=np.float32).reshape(2, 3).T,), {}),
    "routines of LAPACK": (lambda a: (jnp.linalg.cholesky(a), jnp.linalg.solve(a, a[0]), jnp.linalg.eigh(a)[0]),
                           (jnp.eye(5) + 0.1,), {}),
    "a convolution": (lambda a, w: jax.lax.conv(a, w, (1, 1), "SAME"), (f32(1, 3, 8, 8), f32(4, 3, 3, 3)), {}),
}


def check_form(name, function, args, kwargs):
    fast = through(function, args, kwargs)
    fast.function = None  # no way out
    again = [fast(*args, **kwargs) for _ in range(3)]
    wanted = function(*args, **kwargs)
    bad = [x for x in again if not same(x, wanted)]
    say("FAIL" if bad else "pass", name, f"{bad[0]} for {wanted}" if bad else "")


def check_refused():
    refused = {
        "a branch on a value": (lambda a: a if a > 0 else -a, (jnp.float32(1),), "static"),
        "what prints while it runs": (printing, (f32(3),), "calls back into Python"),
        "a function that fails": (lambda a: a @ jnp.ones(7), (f32(3),), "makes no program"),
    }
    for name, (function, args, words) in refused.items():
        fast = vantage.tune(function, *args, progress=None)
        good = not fast.tuned and words in fast.report.sentence
        say("pass" if good else "FAIL", f"refused: {name}", "" if good else fast.report.sentence)
    try:
        through(lambda a: a, (f32(3).astype(jnp.float8_e5m2),), {})
        say("FAIL", "refused: a small float")
    except vantage.Refused as why:
        say("pass" if "cannot be handed over" in str(why) else "FAIL", "refused: a small float", str(why))


SEVERAL = """
import jax, jax.numpy as jnp, vantage
mesh = jax.make_mesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
spec = jax.sharding.PartitionSpec("d")
lying = jax.device_put(jnp.ones(4), jax.sharding.NamedSharding(mesh, spec))
mapped = jax.shard_map(lambda a: jax.lax.psum(a, "d"), mesh=mesh, in_specs=spec, out_specs=jax.sharding.PartitionSpec())
for function, a in ((mapped, jnp.ones(4)), (lambda a: a + 1, lying)):
    fast = vantage.tune(function, a, progress=None)
    print("for 2 devices" in fast.report.sentence and bool((fast(a) == function(a)).all()))
"""


def check_several():
    """Functions for several devices are refused; it takes a process that has two."""
    flags = "--xla_force_host_platform_device_count=2"
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run([sys.executable, "-c", SEVERAL], text=True, capture_output=True,
                          env=dict(os.environ, XLA_FLAGS=flags, JAX_PLATFORMS="cpu", PYTHONPATH=path))
    say("pass" if done.stdout.split() == ["True", "True"] else "FAIL", "refused: several devices",
        done.stdout + done.stderr[-300:])


def check_other_calls():
    fast = through(lambda a, b: a * b["x"], (f32(4), {"x": f32(4)}), {})
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        other = fast(f32(5), {"x": f32(5)}), fast(f32(5), {"x": f32(5)})
    good = len(heard) == 1 and "float32[5]" in str(heard[0].message) and same(other[0], f32(5) * f32(5))
    say("pass" if good else "FAIL", "other shapes go to the function, said once",
        "" if good else str([str(w.message) for w in heard]))
    gradient = jax.grad(lambda a: fast(a, {"x": f32(4)}).sum())(f32(4))
    say("pass" if same(gradient, f32(4)) else "FAIL", "inside a transformation the function is used")


def check_looks():
    """What is said of a function's program, without a search."""
    w, x = f32(64, 64), f32(8, 64)
    seen = vantage.inspect(step, w, x)
    good = seen["opcodes"]["dot"] == 4 and seen["parameters"] == 2
    good = good and "4  dot" in repr(seen) and "<svg" in seen._repr_html_()
    say("pass" if good else "FAIL", "inspect of a function", "" if good else repr(seen))
    looped = vantage.inspect(lambda a: jax.lax.fori_loop(0, 7, lambda i, c: jnp.sin(c) + i, a), f32(3))
    say("pass" if "7 rounds" in repr(looped) else "FAIL", "a loop is told with its rounds", repr(looped))
    for name, made in (("a jaxpr", jax.make_jaxpr(step)(w, x)), ("what is lowered", jax.jit(step).lower(w, x))):
        seen = vantage.inspect(made)
        good = seen["opcodes"]["dot"] == 4 and vantage.memory(made).bytes > 0
        say("pass" if good else "FAIL", f"inspect and memory of {name}", "" if good else repr(seen))
    powers = vantage.inspect(lambda a, n: [jnp.sin(a + i) for i in range(n)], x, 3, static_argnames="n")
    say("pass" if powers["opcodes"]["sine"] == 3 else "FAIL", "inspect knows static arguments")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "-\u00fc \u2713.mlir"
        path.write_text(jax.jit(step).lower(w, x).as_text())
        at = os.getcwd()
        os.chdir(folder)
        try:
            good = vantage.inspect(path.name)["opcodes"]["dot"] == 4
            say("pass" if good else "FAIL", "inspect of a file with the name of an option")
        finally:
            os.chdir(at)
    try:
        vantage.inspect(3)
        say("FAIL", "inspect of what is no program")
    except TypeError as why:
        say("pass" if "of type int" in str(why) else "FAIL", "inspect of what is no program", str(why))
    memory = vantage.memory(step, w, x)
    good = memory.bytes > 0 and sum(v["bytes"] for v in memory.alive) == memory.bytes and "<svg" in memory._repr_html_()
    say("pass" if good else "FAIL", "memory of a function", "" if good else repr(memory))
    compiled = vantage.memory(step, w, x, device="cpu")
    good = compiled.compiler_bytes and "by the compiler" in repr(compiled)
    say("pass" if good else "FAIL", "memory of a function, by the compiler", "" if good else repr(compiled))
    seen = vantage.inspect(printing, f32(3))
    say("pass" if seen["opcodes"]["custom-call"] == 1 else "FAIL", "inspect of what cannot be tuned", repr(seen))
    try:
        vantage.inspect(lambda a: a @ jnp.ones(7), f32(3))
        say("FAIL", "inspect of a function that fails")
    except vantage.Refused as why:
        say("pass" if "makes no program" in str(why) else "FAIL", "inspect of a function that fails", str(why))


def step(w, x):
    for _ in range(4):
        x = jnp.tanh(x @ w) + jnp.exp(-jnp.abs(x))
    return {"mean": x.mean(), "x": x}


def check_tune(folder):
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    args, lines = (f32(32, 32), f32(8, 32)), []
    how = {"budget": 2, "search_options": ["--verdict-seconds", "1"]}
    fast = vantage.tune(step, *args, progress=lines.append, **how)
    good = lines and fast.report.page and same(fast(*args), step(*args))
    say("pass" if good else "FAIL", "a search and its answer", "" if good else fast.report.sentence)
    again = vantage.tune(step, *args, progress=lambda line: say("FAIL", "searched again", line), **how)
    say("pass" if again.report.sentence == fast.report.sentence else "FAIL", "kept for the next process")
    if not fast.tuned:
        return say("skip", "saved and loaded", "no gain was found to be saved")
    vantage.save(fast, folder / "saved")
    loaded = vantage.load(folder / "saved", step)
    say("pass" if loaded.tuned and same(loaded(*args), step(*args)) else "FAIL", "saved and loaded",
        loaded.report.sentence)


def pictures(x, k):
    return jax.lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def check_called(folder):
    """Where oneDNN computes a part, XLA cannot write the program down, so it is compiled again."""
    args = f32(8, 112, 112, 3), f32(7, 7, 3, 32)
    fast = vantage.tune(pictures, *args, space="rewrite", budget=4, cores=1, cache=False, progress=None,
                        search_options=["--verdict-seconds", "1"])
    if not fast.tuned:
        return say("skip", "calls of oneDNN", f"no gain was found: {fast.report.sentence}")
    vantage.save(fast, folder / "called")
    calls = b"__onednn$" in (folder / "called/tuned.pb").read_bytes()
    written = (folder / "called/tuned.exe").exists()
    loaded = vantage.load(folder / "called", pictures)
    good = calls != written and all(f.tuned and same(f(*args), pictures(*args)) for f in (fast, loaded))
    say("pass" if good else "FAIL", "calls of oneDNN", "" if good else f"called: {calls}, written down: {written}")


def countdown(x, n):
    return jax.lax.while_loop(lambda s: s[1] > 0, lambda s: (jnp.tanh(jnp.exp(s[0])), s[1] - 1), (x, n))[0]


def check_own_arguments():
    """The search runs the program on the caller's own arguments: this loop turns as often as the second one says."""
    fast = vantage.tune(countdown, f32(8, 8), 40, budget=1, cache=False, progress=None,
                        search_options=["--verdict-seconds", "1"])
    result = fast.report.result or {}
    given = result.get("environment", {}).get("inputs") == "given"
    good = given and same(fast(f32(8, 8), 40), countdown(f32(8, 8), 40))
    say("pass" if good else "FAIL", "searched on one's own arguments", "" if good else fast.report.sentence)


for form, (function, args, kwargs) in FORMS.items():
    try:
        check_form(form, function, args, kwargs)
    except Exception as e:
        say("FAIL", form, f"{type(e).__name__}: {e}")
check_refused()
check_several()
check_other_calls()
check_looks()
with tempfile.TemporaryDirectory() as scratch:
    check_tune(pathlib.Path(scratch))
    check_called(pathlib.Path(scratch))
    check_own_arguments()
end()
