"""What the tests of the Python package share: how they report, how they compare results, and a tuned function that was
not searched: its program is compiled as it is, because what is on trial is the way in and out."""
import contextlib
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
counts = {"pass": 0, "FAIL": 0, "skip": 0}


def say(word, name, why=""):
    counts[word] += 1
    print(f"{word}: {name}" + (f": {why}" if why else ""))


def check(name, good, why=""):
    """`why`: what is said where it is not good."""
    say("pass" if good else "FAIL", name, "" if good else why)


def end():
    print(f"{counts['pass']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    sys.exit(1 if counts["FAIL"] else 0)


try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    import vantage
    from vantage import grafted
    from vantage import tuned as inside
    from vantage.lower import lower
    from vantage.native import Call, library
except ImportError as e:
    say("skip", "all of it", str(e))
    end()
try:
    library()
except vantage.Refused as e:
    say("skip", "all of it", str(e))
    end()


def f32(*n):
    return jnp.asarray(np.random.default_rng(1).standard_normal(n), jnp.float32)


def same(a, b):
    a, b = jax.tree.flatten(a), jax.tree.flatten(b)
    return a[1] == b[1] and all(
        x.dtype == y.dtype and x.shape == y.shape
        for x, y in zip(map(jnp.asarray, a[0]), map(jnp.asarray, b[0]))) and all(
        np.allclose(np.asarray(x, np.complex128), np.asarray(y, np.complex128),
                    rtol=1e-2 if x.itemsize == 2 else 1e-4, atol=1e-5)
        for x, y in zip(inside._leaves(a[0]), inside._leaves(b[0])))


def own(call, known):
    """jaxlib's executable of a program, where OWN asks for that."""
    return grafted.graft(call.written(), known.outputs) if os.environ.get("OWN") else None


def through(function, args, kwargs):
    """The function with its program compiled as it is, called as a tuned one is."""
    known = lower(function, args, kwargs)
    call = Call(known.module, known.inputs, known.outputs, {})
    return inside.Tuned(function, inside.Report("compiled as it is"), call, known, executable=own(call, known))


@contextlib.contextmanager
def found(searches=None, gain=True, slower=lambda cost: False):
    """Within this tune() does not search: it finds each program as it is, and calls that a gain, or no gain. Its cache
    is new. What each search was asked for is added to `searches`. `slower` says of what calls cost whether they are
    surely slower than jax.jit's, as many of such small functions are."""
    real, cache, last = (inside.lower, inside._search, inside.surely_slower), os.environ.get("XDG_CACHE_HOME"), []

    def seen(*args, **kwargs):
        last[:] = [real[0](*args, **kwargs)]
        return last[0]

    def search(path, out, budget, **how):
        if searches is not None:
            searches.append({"budget": budget, **how})
        known, module = last[0], path.read_bytes()
        out.mkdir()
        (out / "default.pb").write_bytes(module)
        (out / "tuned.exe").write_bytes(Call(module, known.inputs, known.outputs, {}).written())
        return {"verdict": {"tuned": gain, "sentence": "Found as it is.", "quantity": "seconds"}, "asked": budget}

    with tempfile.TemporaryDirectory() as folder:
        inside.lower, inside._search, inside.surely_slower = seen, search, slower
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            yield pathlib.Path(folder)
        finally:
            inside.lower, inside._search, inside.surely_slower = real
            os.environ.pop("XDG_CACHE_HOME")
            if cache is not None:
                os.environ["XDG_CACHE_HOME"] = cache
