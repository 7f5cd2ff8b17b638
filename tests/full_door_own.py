#!/usr/bin/env python3
"""Tuned programs that the caller's own jaxlib runs: all that is tried of calls through the plugin is tried of them,
too; and what decides between the two ways, and what is refused."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from door import Call, ROOT, check, end, f32, grafted, jax, jnp, lower, np, same, through, vantage


def check_others():
    """The other tests' calls, by jaxlib's executables."""
    for name in ("full_door_calls.py", "full_door_jax.py", "full_door_zoo.py"):
        said = subprocess.run([sys.executable, ROOT / "tests" / name], env={**os.environ, "OWN": "1"},
                              stdout=subprocess.PIPE, text=True)
        wrong = [line for line in said.stdout.splitlines() if line.startswith("FAIL")]
        passed = said.stdout.count("\npass: ")
        check(f"{name} by jaxlib's executables", said.returncode == 0 and passed > 20, f"{passed} passed, {wrong}")


def check_is_used():
    os.environ["OWN"] = "1"
    fast = through(lambda t, k: {n: v * k for n, v in t.items()}, ({"a": f32(4), "b": f32(3, 2)}, 2.0), {})
    fast._call.run = None  # the plugin cannot be called any more
    check("calls do without the plugin", same(fast({"a": f32(4), "b": f32(3, 2)}, 3.0),
                                              {"a": f32(4) * 3, "b": f32(3, 2) * 3}))
    del os.environ["OWN"]


def tuned_folder(where, function, args):
    """A folder as a search leaves it, of the program as it is; and what goes with it."""
    known = lower(function, args, {})
    where.mkdir()
    call = Call(known.module, known.inputs, known.outputs, {})
    (where / "tuned.exe").write_bytes(call.written())
    return known, call


def said(folder):
    return json.loads((folder / "grafted.json").read_text())[grafted.version()]


def check_chosen(scratch):
    """The faster way is kept for the next process, and the reason where there is none."""
    function, args, here = lambda t: [x + 1 for x in t], ([f32(8)] * 40,), scratch / "many"
    known, call = tuned_folder(here, function, args)
    made = grafted.chosen(here, known, call, call, args, {})
    check("either way is chosen, and written down",
          said(here) in ("", "it is not faster") and (made is not None) == (said(here) == ""), said(here))
    (here / "grafted.json").write_text(json.dumps({grafted.version(): ""}))
    executable = grafted.chosen(here, known, None, None, args, {})
    fast = vantage.tuned.Tuned(function, vantage.Report(""), call, known, executable=executable)
    check("the next process loads it", executable is not None and same(fast(*args), function(*args)))
    (here / "tuned.exe").write_bytes(b"garbage")
    check("a damaged one is left alone", grafted.kept(here, known) is None)
    (here / "grafted.json").write_text(json.dumps({"0.0": ""}))
    check("so is another version's", grafted.kept(here, known) is None)


def check_columns(scratch):
    """Arrays that lie column by column inside, as a compiler's products and convolutions make them."""
    function = lambda a, b: jnp.sin(jnp.einsum("bij,bkj->kbi", a, b)).transpose(1, 2, 0)  # noqa: E731
    args = (f32(3, 8, 5), f32(3, 7, 5))
    known, call = tuned_folder(scratch / "columns", function, args)
    made = grafted.graft(call.written(), known.outputs)
    check("columns stay columns", same(grafted.results_of(made, list(args))[0], function(*args)))


def check_refused(scratch):
    other, args = lambda a: a * 2, (f32(64),)
    known, call = tuned_folder(scratch / "wrong", lambda a: a * 3, args)
    _, right = tuned_folder(scratch / "right", other, args)
    try:
        grafted._agree(grafted.graft(call.written(), known.outputs), right, right, [np.asarray(args[0])])
        check("other numbers are refused", False, "they are not")
    except vantage.Refused as why:
        check("other numbers are refused", "result 0 of jaxlib's" in str(why), str(why))
    python, sys.executable = sys.executable, shutil.which("echo")
    made = grafted.chosen(scratch / "wrong", known, call, call, args, {})
    sys.executable = python
    check("so is whatever the process of its own has a word against", made is None and "-c" in said(scratch / "wrong"),
          said(scratch / "wrong"))
    known, call = tuned_folder(scratch / "long", lambda a: jax.lax.fori_loop(0, 3000, lambda i, x: jnp.sin(x @ a), a),
                               (f32(64, 64),))
    made = grafted.chosen(scratch / "long", known, call, call, (f32(64, 64),), {})
    check("a program that runs long is not tried", made is None and "runs for so long" in said(scratch / "long"),
          said(scratch / "long"))


def check_survives(scratch):
    """Whatever harm a program does in jaxlib, it does in another process."""
    known, call = tuned_folder(scratch / "harm", lambda a: a + 1, (f32(8),))
    (scratch / "harm" / "tuned.exe").write_bytes(call.written()[:-100])
    made = grafted.chosen(scratch / "harm", known, call, call, (f32(8),), {})
    check("what cannot be loaded is refused", made is None and "cannot run it" in said(scratch / "harm"),
          said(scratch / "harm"))
    python, sys.executable = sys.executable, shutil.which("false")
    (scratch / "harm" / "grafted.json").unlink()
    grafted.chosen(scratch / "harm", known, call, call, (f32(8),), {})
    sys.executable = python
    check("so is what ends its process without a word", "cannot run it: status 1" in said(scratch / "harm"),
          said(scratch / "harm"))


def check_ends(scratch):
    """A loop that waits for numbers to be small gets no others that are never so; one that never ends is given up."""
    def halved(x, least):
        return jax.lax.while_loop(lambda s: jnp.abs(s).max() > least, lambda s: s * 0.5, x)

    args = (f32(64), jnp.float32(1e-3))
    known, call = tuned_folder(scratch / "halved", halved, args)
    grafted.chosen(scratch / "halved", known, call, call, args, {})
    check("a loop with a bound is tried to its end", said(scratch / "halved") in ("", "it is not faster"),
          said(scratch / "halved"))
    waits = lambda x: jax.lax.while_loop(lambda s: s.sum() != 64, lambda s: -s, x)  # noqa: E731
    known, call = tuned_folder(scratch / "waits", waits, (jnp.ones(64),))
    start, grafted.START = grafted.START, 10.0
    grafted.chosen(scratch / "waits", known, call, call, (jnp.ones(64),), {})
    grafted.START = start
    check("one that ends for these very numbers only is given up", "did not come back" in said(scratch / "waits"),
          said(scratch / "waits"))


check_is_used()
with tempfile.TemporaryDirectory() as scratch:
    for look in (check_chosen, check_columns, check_refused, check_survives, check_ends):
        look(pathlib.Path(scratch))
check_others()
end()
