#!/usr/bin/env python3
"""What tune() does once a search has found something. Nothing is searched here: each program is found as it is."""
import copy
import fractions
import gc
import os
import pathlib
import pickle
import subprocess
import sys
import types
import warnings
import weakref
from unittest import mock

from door import ROOT, check, end, f32, found, inside, jax, jnp, lower, np, same, vantage
from vantage import kept, native, night, programs, quick
from vantage.called import holds, surely_slower
from vantage.lower import alike, has_changed, statics


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
    with warnings.catch_warnings(record=True) as heard, mock.patch.object(inside, "called",
                                                                          side_effect=OSError("not again")):
        warnings.simplefilter("always")
        fast = vantage.tune(lambda a: a + 1, f32(3), progress=None)
    check("a function that fails when it is timed", fast.tuned and same(fast(f32(3)), f32(3) + 1))
    check("... and that is said", ["not again" in str(w.message) for w in heard] == [True], str(heard))


def check_lent():
    """A function that calls what overwrites its arguments leaves the caller's alone while it is tuned."""
    step = jax.jit(lambda s, b: (s * 0.9 + b, s.sum()), donate_argnums=0)
    s, b = f32(64), f32(64)
    fast = vantage.tune(lambda s, b: step(s, b), s, b, progress=None)
    check("an argument that is overwritten inside is still there", fast.tuned and not s.is_deleted(),
          fast.report.sentence)


def check_asked():
    """A kept result answers who asks for no more than it was made with, and nobody after a model was learnt."""
    searches, step = [], lambda a: jnp.tanh(a) * 2
    with found(searches) as cache:
        home, os.environ["XDG_DATA_HOME"] = os.environ.get("XDG_DATA_HOME"), str(cache / "data")

        def searched(name, wanted, **how):
            before = len(searches)
            fast = vantage.tune(step, f32(3), progress=None, **how)
            check(name, fast.tuned and (len(searches) > before) == wanted, str(searches))

        searched("a first search", True, budget=9, seconds=5)
        searched("as many seconds are no new search", False, budget=9, seconds=5)
        searched("... nor are fewer", False, budget=5, seconds=2)
        searched("more seconds are one", True, budget=9, seconds=3600)
        searched("... and so is no limit", True, budget=9)
        searched("a limit after none is no new search", False, budget=9, seconds=7200)
        searched("no seconds are no limit, so they are none, either", False, budget=9, seconds=0)
        searched("more changes are one", True, budget=10, seconds=5)
        model = cache / "data/vantage/models/cpu/measured/fusion.vm"
        model.parent.mkdir(parents=True)
        model.write_bytes(b"learnt")
        searched("a model that was learnt is a new search", True, budget=10, seconds=5)
        searched("... once", False, budget=10, seconds=5)
        here = len(os.sched_getaffinity(0))
        searched("all cores by name are the usual ones", False, budget=10, seconds=5, cores="all")
        check("it is for all cores that this process may use", {s["cores"] for s in searches} == {here}, str(searches))
        searched("another number of cores is a new search", True, budget=10, seconds=5, cores=here + 1)
        os.environ.pop("XDG_DATA_HOME")
        os.environ.update({"XDG_DATA_HOME": home} if home else {})
    whole = {"asked": 9, "asked_seconds": 5, "search": {"evaluations": 9}, "first": {"evaluations": 9}}
    half = {**whole, "first": {"evaluations": 8}}
    check("time did not end a search that tried all", kept._long_enough(whole, None) and not
          kept._long_enough(half, None))


def check_untried():
    """A search that came to try nothing says so, and is not kept."""
    part, none = {"evaluations": 3, "seconds": 2.5}, {"evaluations": 0, "seconds": 2.5}
    for name, result, wanted in (("of two parts", {"first": none, "search": none}, True),
                                 ("of one", {"search": none, "sites": 4}, True),
                                 ("but the first part", {"first": part, "search": none}, False),
                                 ("where there is nothing to try", {"search": none, "sites": 0}, False),
                                 ("in less time than there was", {"search": none, "asked_seconds": 9}, False),
                                 ("without a limit", {"search": none, "asked_seconds": None}, False),
                                 ("before it was stopped", {"search": none, "asked": 0}, True),
                                 ("of orders, which say nothing of this", {"sentence": "Less."}, False)):
        result = {"asked": 9, "asked_seconds": 2.5, **result}
        check(f"nothing was tried {name}: {wanted}", kept.untried(result) == wanted)
    searches, step = [], lambda a: jnp.tanh(a) * 3
    with found(searches, gain=False):
        search = inside._search

        def stopped(asked):
            return lambda *args, **how: dict(search(*args, **how), search=none, first=none, sites=9, asked=asked)

        for asked, budget, words in ((9, 9, "Nothing was tried in 2.5 s: give more seconds."),
                                     (0, 9, "before the search was stop"), (0, 0, "the budget is none")):
            inside._search = stopped(asked)
            fast = vantage.tune(step, f32(3), budget=budget, seconds=2.5, progress=None)
            check("what tried nothing says so", words in fast.report.sentence, fast.report.sentence)
        check("... and is not kept", len(searches) == 3)


def check_fixed():
    """A value that is part of the program is another one if its type is, and may not change."""
    times = lambda a, n: a * n  # noqa: E731
    whole = jnp.arange(8)
    for name, first, second in (("2 and 2.0", 2, 2.0), ("True and 1", True, 1), ("0.0 and -0.0", 0.0, -0.0)):
        fast = vantage.tune(times, whole, first, static_argnums=1, progress=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = fast(whole, second)
        good = fast.tuned and same(fast(whole, first), times(whole, first)) and same(got, times(whole, second))
        check(f"static {name}", good and str(got) == str(times(whole, second)), f"{got}")
    check("tuples are told apart by what is in them", not alike((1, (2, "x")), (1, (2.0, "x"))) and
          alike((1, (float("nan"), "x")), (1, (float("nan"), "x"))))
    for name, value, static in (("a static dict", {"n": 3.0}, {"static_argnums": 1}),
                                ("an object without a hash", types.SimpleNamespace(n=3.0), {})):
        fast = vantage.tune(lambda a, c: a * (c["n"] if isinstance(c, dict) else c.n), whole, value, progress=None,
                            **static)
        check(f"{name} is refused", not fast.tuned and "no hash" in fast.report.sentence, fast.report.sentence)


def check_unfound():
    """Where nothing faster was found, or nothing could be tuned, every form of a call is traced once by jax.jit."""
    runs = []

    def new():
        def f(a, how="sin", scale=2.0):
            runs.append(how)
            return {"r": getattr(jnp, how)(a) * scale}
        return f

    def traced(fast, *args, **kwargs):
        """How often two calls run Python's code, if their results are right."""
        before = len(runs)
        good = all([same(fast(*args, **kwargs), fast.function(*args, **kwargs)) for _ in range(2)])
        return len(runs) - before - 2 if good else None

    forms = {"arrays": ((f32(3),), {}), "a string": ((f32(3), "cos"), {}),
             "a name and a number": ((f32(3),), {"scale": 3.0})}
    for name, (args, kwargs) in forms.items():
        with found(gain=False):
            fast = vantage.tune(new(), *args, progress=None, **kwargs)
        seen = [traced(fast, *args, **kwargs), traced(fast, *args, **kwargs), traced(fast, f32(5), "tan"),
                traced(fast, f32(5), "tan"), traced(fast, f32(6))]
        check(f"nothing found for {name}: jitted, as are other forms", not fast.tuned and seen == [1, 0, 1, 0, 1],
              str(seen))
    with found(), mock.patch.object(inside, "_check", side_effect=vantage.Refused("it is wrong")):
        fast = vantage.tune(new(), f32(3), progress=None)
    seen = [traced(fast, f32(3)), traced(fast, f32(3)), traced(fast, f32(4))]
    check("refused after a search: jitted", "it is wrong" in fast.report.sentence and seen == [1, 0, 1], str(seen))
    fast = vantage.tune(new(), f32(3).astype(jnp.float8_e5m2), "abs", progress=None)
    check("refused before it: jitted", not fast.tuned and [traced(fast, f32(3)), traced(fast, f32(3))] == [1, 0])
    with found(gain=False):
        step = jax.jit(new())
        check("what is jitted stays so", vantage.tune(step, f32(3), progress=None).function is step)


def check_mistakes():
    """What is misspelt is an error, and no report on a function that stays as it was."""
    def f(a, scale=2.0):
        return jnp.sin(a) * scale

    here = len(os.sched_getaffinity(0))
    for name, function, how, error, words in (
            ("a space", f, {"space": "fuson"}, ValueError, "no decision space called fuson"),
            ("the form of one", f, {"space": "rewrite:x"}, ValueError, "not of the form"),
            ("an objective", f, {"objective": "speed"}, ValueError, "no quantity called speed"),
            ("too many cores", f, {"cores": here + 60}, ValueError, f"{here + 60} cores were asked for"),
            ("no cores", f, {"cores": 0}, ValueError, "--cores"),
            ("an option", f, {"search_options": ["--foo"]}, ValueError, "unknown option --foo"),
            ("options in one word", f, {"search_options": "--seed"}, TypeError, "list of words"),
            ("a word", f, {"secnds": 5}, TypeError, "'secnds'; did you mean seconds?"),
            ("a word of the function's", f, {"skale": 5}, TypeError, "did you mean scale?"),
            ("one that is like none", f, {"q": 5}, TypeError, "goes to the function"),
            ("no function", 3, {}, TypeError, "3 is no function"),
            ("a limit", f, {"search_options": ["--limit", "bytes"]}, ValueError, "a limit is QUANTITY:BOUND"),
            ("tune's own option", f, {"search_options": ["--out", "x"]}, ValueError, "cannot have --out"),
            ("... in one word", f, {"search_options": ["--out=x"]}, ValueError, "cannot have --out=x"),
            ("an option that searches nothing", f, {"search_options": ["--help"]}, ValueError, "gives no result")):
        try:
            fast = vantage.tune(function, f32(3), progress=None, **how)
            check(f"a mistake: {name}", False, fast.report.sentence)
        except error as e:
            check(f"a mistake: {name}", words in str(e), str(e))


def check_slower():
    """A program that is surely slower for its caller is not used, and the report says how sure that is."""
    for calls, lost, ratio, wanted in ((21, 21, 1.3, True), (10, 10, 1.3, True), (9, 9, 1.3, False),
                                       (21, 18, 1.1, True), (21, 17, 1.1, False), (21, 21, 1.01, False)):
        cost = {"calls": calls, "slower": lost, "ratio": ratio}
        check(f"slower in {lost} of {calls} turns, {ratio} times", surely_slower(cost) == wanted)
    way = lambda a, how: getattr(jnp, how)(a)  # noqa: E731
    with found(slower=surely_slower):
        fast = vantage.tune(way, f32(3), "sin", progress=None)  # by the long way, in ten times the time
        again = vantage.tune(way, f32(3), "sin", progress=None)
        with mock.patch.object(os, "sched_getaffinity", lambda process: {0, 1}):
            one = vantage.tune(way, f32(3), "sin", cores=1, progress=None)
    for each in fast, again:
        check("what is slower is not used", not each.tuned and not each.report.tuned and
              same(each(f32(3), "sin"), jnp.sin(f32(3))), repr(each.report))
        check("... and that is said", "turns, so a call is one of jax.jit's" in repr(each.report), repr(each.report))
    check("... found out anew where that takes no time", fast.report.called != again.report.called)
    dear = {"by": "plugin", "tuned": 1.0, "jit": 2.0}
    check("what takes long to find out is kept", holds(dear, {"by": "plugin"}) and not holds(dear, {"by": "jaxlib"}) and
          not holds({**dear, "tuned": 1e-3, "jit": 1e-3}, {"by": "plugin"}) and not holds({}, {"by": "plugin"}))
    check("for fewer cores than jax.jit uses it is", one.tuned, repr(one.report))


def check_asis():
    """What jax.jit makes no program of runs as it is, and says so once; errors are the function's own."""
    for name, function, args in (("a branch", lambda a: a if a.sum() > 0 else -a, (f32(3),)),
                                 ("what has no hash", lambda a, c: a * c.n, (f32(3), types.SimpleNamespace(n=3.0)))):
        fast = vantage.tune(function, *args, progress=None)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            good = all(same(fast(*args), function(*args)) for _ in range(2))
        check(f"{name} runs as it is, said once", good and ["as it was" in str(w.message) for w in heard] == [True],
              str(heard))
    fast = vantage.tune(lambda a: {}["absent"], f32(3), progress=None)
    try:
        fast(f32(3))
        check("an error is the function's own", False, "there is none")
    except KeyError as e:
        check("an error is the function's own", e.args == ("absent",))


def check_statics():
    """A static argument is one however it is named and passed, and makes no other one static."""
    def f(a, b, n):
        return (a + b) * (n if isinstance(n, int) else 1 / 0)  # a traced n is none

    a, b = f32(3), f32(3) + 1
    for name, args, kwargs, static in (
            ("by number, passed by name", (a, b), {"n": 3}, {"static_argnums": 2}),
            ("by number from behind, passed by name", (a, b), {"n": 3}, {"static_argnums": (-1,)}),
            ("by name, passed by number", (a, b, 3), {}, {"static_argnames": "n"}),
            ("by number, with one of no argument", (a, b, 3), {}, {"static_argnums": (2, 7)})):
        fast = vantage.tune(f, *args, progress=None, **kwargs, **static)
        other = tuple(x + 1 if x is a else x for x in args)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            good = fast.tuned and same(fast(*other, **kwargs), f(*other, **kwargs))
        check(f"static {name}", good, fast.report.sentence)
    for name, static in (("by name", {"static_argnames": "n"}), ("by number", {"static_argnums": 2})):
        step = jax.jit(f, **static)
        fast = vantage.tune(step, a, b, n=3, progress=None)
        check(f"what is static to jax.jit, {name}, is so here", fast.tuned and same(fast(a, b, n=3), f(a, b, 3)) and
              same(fast(a, b, 3), f(a, b, 3)), fast.report.sentence)
    inner = jax.jit(lambda a, n: a * n, static_argnums=1)
    for name, function in (("to a function inside", lambda a, n: inner(a, n)), ("as a shape", lambda a, n:
                                                                              a.sum() + jnp.zeros(n))):
        why = vantage.tune(function, a, 3, progress=None).report.sentence
        check(f"static {name}: said how", "name it in static_argnames" in why.replace("static_argnums or ", ""), why)
    check("a function that does not tell its arguments", statics(max, -1, "x") == ((-1,), ("x",)))
    for static in ({"static_argnums": 2}, {"static_argnames": "n"}):
        try:
            vantage.collect(f, a, b, 3, progress=None, collect_options=["--nonsense"], **static)
        except vantage.Refused as why:  # after the program was made
            check("collect knows static arguments", "nonsense" in str(why), str(why))
    lowered = lower(lambda mode, e: mode + e, (a, a), {}, static_argnames="mode").layout
    check("a name that is part of another is none", len(lowered.fixed) == 1, str(lowered))


def check_lowers():
    """A tuned function is lowered as a jitted one, and another search takes it for the function that it was."""
    def f(a, n):
        return jnp.sin(a) * n

    for name, function, args, static in (("as a jitted one", f, (f32(3), 2.0), {}),
                                         ("with what is static", f, (f32(3), 2), {"static_argnums": (1, 7)}),
                                         ("as what is jitted", jax.jit(f, static_argnums=1), (f32(3), 2), {})):
        fast = vantage.tune(function, *args, progress=None, **static)
        want = function if hasattr(function, "lower") else jax.jit(f, static_argnums=1 if static else ())
        check(f"a tuned function lowers {name}", fast.tuned and fast.lower(*args).as_text() ==
              want.lower(*args).as_text(), fast.report.sentence)
    check("no tuned function is taken for a jitted one", not vantage.tuned.Jitted(fast).jits)


def check_freed():
    """Programs are freed with their last user, but for those that jaxlib may be running. Results outlive them."""
    living = weakref.WeakSet()
    made, freed = native.Call.__init__, []

    def counted(self, *args):
        made(self, *args)
        living.add(self)

    def free(library, handle, lasting, real=native._free):
        freed.append(not lasting)
        real(library, handle, lasting)

    native.Call.__init__, real, native._free = counted, native._free, free
    searched = [True]  # found() compiles the program once
    for name, n in (("a result that is lent", quick.MOST_COPIED), ("one that is copied", 8)):
        freed.clear()
        fast = vantage.tune(lambda a: [a * 2 + 1, jnp.ones((2, 3))], f32(n), progress=None)
        check(f"{name}: the compiler's own program is freed", fast.tuned and freed == searched + [True],
              str(freed))
        results = [fast(f32(n) * k) for k in range(3)]
        by = fast.report.called["by"]
        fast = None
        gc.collect()
        lent = by == "jaxlib" or n == quick.MOST_COPIED
        check("... and the tuned one, with its last user", not living and freed == searched + [True, lent],
              f"{freed}, {by}")
        check("... but not its results", all(same(r, [f32(n) * k * 2 + 1, jnp.ones((2, 3))])
                                             for k, r in enumerate(results)))
    native.Call.__init__, native._free = made, real


def check_stores():
    """learn() reads what collect() measured and what a night did, as far as they are there."""
    with found() as folder:
        home, os.environ["XDG_DATA_HOME"] = os.environ.get("XDG_DATA_HOME"), str(folder)
        night_, day = folder / "vantage/night/runs.sqlite", folder / "vantage/runs.sqlite"
        check("without a store, the usual one is asked for", night.stores() == [day])
        night_.parent.mkdir(parents=True)
        night_.touch()
        check("the store of a night is read", night.stores() == [night_])
        day.touch()
        check("... with that of collect()", night.stores() == [day, night_])
        why = refusal(lambda: vantage.collect(jnp.sin, f32(3), samples=1, db=day / "in a file.sqlite", progress=None))
        check("a folder for the store that cannot be made", "cannot be made for the store" in why, why)
        check("any name is that of a file", night._file_name("a/b <lambda>" * 9) == ("a_b__lambda_" * 9)[:60])
        os.environ.pop("XDG_DATA_HOME")
        os.environ.update({"XDG_DATA_HOME": home} if home else {})


def check_uncalled():
    """What could not be called is refused before a search, and a damaged file with a sentence."""
    searches = []
    with found(searches) as folder:
        for name, given, words in (("a small float", f32(4).astype(jnp.float8_e5m2), "cannot be handed over"),
                                   ("a shape", jax.ShapeDtypeStruct((3,), jnp.float32), "without numbers")):
            fast = vantage.tune(lambda a: a.astype(jnp.float32) * 2, given, progress=None)
            check(f"{name} is refused before the search", words in fast.report.sentence and not searches,
                  fast.report.sentence)
        vantage.save(vantage.tune(jnp.sin, f32(3), progress=None), folder / "saved")
        (folder / "saved/signature.pickle").write_bytes(b"")
        try:
            vantage.load(folder / "saved")
            check("an empty signature", False, "it was read")
        except vantage.Refused as why:
            check("an empty signature", "no saved function" in str(why), str(why))


SAVES = """
import sys, warnings
from door import f32, found, jax, vantage
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b
jax.tree_util.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, ab: Pair(*ab))
with found(), warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    fast = vantage.tune(lambda p: p.a + p.b, Pair(f32(3), f32(3)), progress=None)
    vantage.save(fast, sys.argv[1])
    print([str(w.message) for w in heard])
    vantage.load(sys.argv[1])(Pair(f32(3), f32(3)))
"""


def check_classes():
    """A function of another script's classes is not loaded, in a sentence, and save() has said so."""
    with found() as folder:
        done = subprocess.run([sys.executable, "-c", SAVES, folder / "saved"], text=True, capture_output=True,
                              cwd=ROOT / "tests")
        check("save() tells of classes of a script", "into a module" in done.stdout and not done.returncode,
              done.stdout + done.stderr[-300:])
        try:
            vantage.load(folder / "saved")
            check("a class that is not here", False, "it was found")
        except vantage.Refused as why:
            check("a class that is not here", "Pair" in str(why), str(why))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            fast = vantage.load(folder / "saved", jnp.sin)
        check("... leaves the function", not fast.tuned and same(fast(f32(3)), jnp.sin(f32(3))) and
              ["Pair" in str(w.message) for w in heard] == [True], str(heard))


def refusal(call):
    """What an error says, if there is one."""
    try:
        return f"no error, but {call()}"
    except (TypeError, ValueError, vantage.Refused) as why:
        return str(why)


def check_moved():
    """What can be done with a tuned function besides calling it, and what is said where it cannot."""
    def f(u, v):
        return {"u": u + v, "k": jax.random.key(0)}

    u, v = f32(3), f32(3)
    with found() as folder:
        fast, path = vantage.tune(f, u, v, progress=None), folder / "saved"
        vantage.save(fast, path)
        loaded = vantage.load(path)
        vantage.save(loaded, path)
        check("a function is saved where it was loaded from", same(vantage.load(path, f)(u, v), f(u, v)))
        for each in copy.copy(fast), copy.deepcopy(fast), loaded:
            check("a copy is called", each.tuned and same(each(u, v), f(u, v)))
        for name, call, words in (
                ("what was not tuned is saved", lambda: vantage.save(f, path), "what tune() or load() gave"),
                ("pickled", lambda: pickle.dumps(fast), "vantage.save()"),
                ("traced without its original", lambda: jax.jit(loaded)(u, v), "give load() the function"),
                ("loaded for other results", lambda: vantage.load(path, lambda u, v: u), "not the function"),
                ("loaded for other shapes", lambda: vantage.load(path, lambda u, v: {**f(u, v), "u": u[1:]}),
                 "not the function"),
                ("loaded for other arguments", lambda: vantage.load(path, lambda u: f(u, u)), "not the function")):
            check(f"refused: {name}", words in refusal(call), refusal(call))


def check_changed():
    """A function that was changed after it was saved, or that closes over other values, is not what was tuned."""
    def make(scale, weights):
        def f(a, n, how):
            return getattr(jnp, how)(a @ weights) * scale * n
        return f

    def loaded(f, *args):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            fast = vantage.load(folder / "saved", f)
        good = all(same(fast(a, *args[1:]), f(a, *args[1:])) for a in (args[0], args[0] * 3))
        return good, fast.tuned, ["another program" in str(w.message) for w in heard]

    with found() as folder:
        args = f32(2, 9), 2.0, "sin"
        vantage.save(vantage.tune(make(2.0, f32(9, 9)), *args, progress=None), folder / "saved")
        check("the same function is loaded", loaded(make(2.0, f32(9, 9)), *args) == (True, True, []))
        for name, f in (("changed", make(3.0, f32(9, 9))), ("with other values", make(2.0, f32(9, 9) + 1))):
            check(f"one {name} is not", loaded(f, *args) == (True, False, [True]), str(loaded(f, *args)))
    key = jax.random.key(3)
    for name, f, args, static in (("a bound array", lambda a: a + 1, (jax.device_put(f32(3), jax.devices()[0]),), {}),
                                  ("an unbound one", lambda a: a + 1, (f32(3),), {}),
                                  ("numbers of Python", lambda a, n, x: a * n + x, (f32(3), 2, 0.5), {}),
                                  ("numbers of numpy", lambda a, n: a * n, (f32(3), np.float64(2)), {}),
                                  ("keys", lambda k: jax.random.split(k), (key,), {}),
                                  ("what is static", lambda a, n: a * n, (f32(3), 2), {"static_argnums": 1}),
                                  ("what is jitted", jax.jit(lambda a, n: a * n, static_argnums=1), (f32(3), 2), {})):
        check(f"nothing has changed: {name}", not has_changed(f, lower(f, args, {}, **static)))
    of = [lower(lambda a: a + 1, (a,), {}).content for a in (f32(3), jax.device_put(f32(3), jax.devices()[0]))]
    check("an array that is bound to its device makes no other program", of[0] == of[1])


def check_places():
    """A folder that held another function holds nothing of it. Whoever goes to another folder still finds all; and
    whose results cannot be kept is told so."""
    two, three = (lambda a: a * 2), (lambda a: a * 3)
    at = os.getcwd()
    with found() as folder:
        vantage.save(vantage.tune(two, f32(3), progress=None), folder / "saved")
        fast = vantage.tune(three, f32(3), progress=None)
        (fast.folder / "tuned.pb").write_bytes((fast.folder / "default.pb").read_bytes())
        (fast.folder / "tuned.exe").unlink()  # as where oneDNN computes a part
        vantage.save(fast, folder / "saved")
        check("of what was saved there before, nothing runs", same(vantage.load(folder / "saved")(f32(3)), f32(3) * 3))
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = "near"
        both = vantage.load("saved"), vantage.tune(two, f32(3), progress=None)
        os.chdir(at)
        for i, fast in enumerate(both):
            vantage.save(fast, folder / f"again {i}")
        check("what has a relative path is found from elsewhere", [vantage.load(folder / f"again {i}").tuned for i in
                                                                  (0, 1)] == [True, True])
        (folder / "file").touch()
        os.environ["XDG_CACHE_HOME"] = str(folder / "file")
        fast = vantage.tune(two, f32(3), progress=None)
        check("a cache that cannot be written", not fast.tuned and "nothing can be kept in" in fast.report.sentence and
              same(fast(f32(3)), f32(3) * 2), fast.report.sentence)
        os.environ["XDG_CACHE_HOME"] = str(folder)
        with mock.patch.object(pathlib.Path, "write_text", side_effect=OSError("full")):
            fast = vantage.tune(lambda a: a * 4, f32(3), progress=None)
        check("a result that cannot be written down is used", fast.tuned and same(fast(f32(3)), f32(3) * 4),
              fast.report.sentence)
    with found(searches := []):
        fast = vantage.tune(two, f32(3), progress=None)
        (fast.folder / "default.pb").unlink()
        fast = vantage.tune(two, f32(3), progress=None)
        check("a result without its programs is none", fast.tuned and len(searches) == 2)


def check_damaged():
    """What is no saved function is refused with a sentence, and what lacks its program runs as the function."""
    with found() as folder:
        fast = vantage.tune(jnp.sin, f32(3), progress=None)
        for name, content in (("python.json", b"[1]"), ("python.json", b"{}"), ("signature.pickle", pickle.dumps(3))):
            vantage.save(fast, folder / "saved")
            (folder / "saved" / name).write_bytes(content)
            why = refusal(lambda: vantage.load(folder / "saved", jnp.sin))
            check(f"{name} of {content[:9]}", "no saved function" in why, why)
        vantage.save(fast, folder / "saved")
        (folder / "saved/tuned.exe").unlink()
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            fast = vantage.load(folder / "saved", jnp.sin)
        check("a program that is not there", not fast.tuned and len(heard) == 1 and same(fast(f32(3)), jnp.sin(f32(3))))


class Above:
    """What is called, and has an attribute of the name of a jitted function's method."""
    runs = 0

    def __init__(self, lower):
        self.lower = lower

    def __call__(self, a):
        self.runs += 1
        return jnp.maximum(a, self.lower)


def check_values():
    """What has a shape and a type is not always a value: types of numpy and modules are part of the program."""
    for name, f, args in (("a type of numpy's", lambda a, t: a.astype(t), (f32(3), np.float16)),
                          ("a string of numpy's", lambda a, how: getattr(jnp, how)(a), (f32(3), np.str_("sin"))),
                          ("a module", lambda xp, a: xp.sin(a), (jnp, f32(3))),
                          ("a fraction", lambda a, n: a * float(n), (f32(3), fractions.Fraction(1, 3)))):
        fast = vantage.tune(f, *args, progress=None)
        check(f"tuned for {name}", fast.tuned and same(fast(*args), f(*args)), fast.report.sentence)
    above = Above(0.5)
    fast = vantage.tune(above, f32(3), progress=None)
    above.runs = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            fast(f32(4))
    check("an attribute `lower` makes no jitted function", above.runs == 1 and fast.tuned, str(above.runs))


def check_rows():
    """Results lie row by row in the program that is searched, also where JAX's export has them otherwise."""
    made = lower(lambda a: (a.T, a.reshape(2, 3, 4).transpose(2, 0, 1), a[0, 0], a), (f32(6, 4),), {})
    folder = pathlib.Path(os.environ["XDG_CACHE_HOME"])
    (folder / "rows.pb").write_bytes(made.module)
    _, said, _, _ = programs.run("inspect", folder / "rows.pb", "--hlo", plugin=False)
    layouts = "->(f32[4,6]{1,0}, f32[4,2,3]{2,1,0}, f32[], f32[6,4]{1,0})"
    check("results lie row by row", layouts in said.splitlines()[0], said.splitlines()[0])


class Tree(dict):
    """A dict that may be static: it has a hash."""

    def __hash__(self):
        return hash(tuple(self.items()))


for look in (check_timed, check_lent, check_asked, check_fixed, check_statics, check_lowers, check_freed, check_stores,
             check_uncalled, check_rows, check_asis, check_values):
    with found():
        look()
check_unfound()
check_untried()
check_moved()
check_changed()
check_places()
check_damaged()
check_classes()
check_mistakes()
check_slower()
end()
