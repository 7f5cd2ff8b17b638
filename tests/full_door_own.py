#!/usr/bin/env python3
"""Tuned programs that the caller's own jaxlib compiles: all that is tried of calls through the plugin is tried of them,
too; and what decides between the two ways, and what is refused."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from door import Call, ROOT, end, f32, inlined, jax, jnp, lower, np, same, say, through, vantage


def check(name, good, why=""):
    say("pass" if good else "FAIL", name, "" if good else why)


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


def tuned_folder(where, function, args, told=""):
    """A folder as a search leaves it, of the program as it is; and what goes with it."""
    known = lower(function, args, {})
    where.mkdir()
    (where / "tuned.pb").write_bytes(known.module)
    (where / "options.txt").write_text(told)
    return known, Call(known.module, known.inputs, known.outputs, {})


def check_chosen(scratch):
    """The faster way is kept for the next process, and the reason where there is none."""
    function, args = lambda t: [x + 1 for x in t], ([f32(8)] * 40,)
    known, call = tuned_folder(scratch / "many", function, args)
    made = inlined.chosen(scratch / "many", known, call, call, args, {})
    said = json.loads((scratch / "many" / "jaxlib.json").read_text())
    check("either way is chosen, and written down", list(said) == [inlined.version()] and
          said[inlined.version()] in ("", "it is not faster") and (made is not None) == (said[inlined.version()] == ""),
          str(said))
    (scratch / "many" / "jaxlib.json").write_text(json.dumps({inlined.version(): ""}))
    inlined.keep(inlined.compiled(known.module, {}), scratch / "many")
    executable = inlined.kept(scratch / "many")
    fast = vantage.tuned.Tuned(function, vantage.Report(""), call, known, executable=executable)
    check("the next process loads it", executable is not None and same(fast(*args), function(*args)))
    inlined.saved(scratch / "many").write_bytes(b"garbage")
    check("a damaged one is left alone", inlined.kept(scratch / "many") is None)
    (scratch / "many" / "jaxlib.json").write_text(json.dumps({"0.0": ""}))
    check("so is another version's", inlined.kept(scratch / "many") is None)


def check_refused(scratch):
    other, args = lambda a: a * 2, (f32(64),)
    known, call = tuned_folder(scratch / "wrong", lambda a: a * 3, args)
    _, right = tuned_folder(scratch / "right", other, args)
    made = inlined.chosen(scratch / "wrong", known, right, right, args, {})
    said = json.loads((scratch / "wrong" / "jaxlib.json").read_text())[inlined.version()]
    check("other numbers are refused", made is None and "result 0 of jaxlib's" in said, said)
    known, call = tuned_folder(scratch / "long", lambda a: jax.lax.fori_loop(0, 3000, lambda i, x: jnp.sin(x @ a), a),
                               (f32(64, 64),))
    made = inlined.chosen(scratch / "long", known, call, call, (f32(64, 64),), {})
    said = json.loads((scratch / "long" / "jaxlib.json").read_text())[inlined.version()]
    check("a program that runs long is not compiled again", made is None and "runs for so long" in said, said)
    check("rows are told from columns", inlined.lies_otherwise("f32[2,3]{0,1} add(") == "[2,3]{0,1}" and
          not inlined.lies_otherwise("f32[2,1,3]{2,0,1} add(f32[4]{0} %x, f32[2,3]{1,0:T(8)} %y)"))
    text = ("%f (p: f32[2]) -> f32[2] {\n  %p = f32[2]{0} parameter(0)\n  ROOT %s = f32[2]{0} sine(%p)\n}\n"
            "ENTRY %e (a: f32[2]) -> f32[2] {\n  ROOT %c = f32[2]{0} fusion(%a), kind=kLoop, calls=%f\n}\n")
    check("kernels are told apart", inlined.kernels(text) - inlined.kernels(text.replace("sine", "cosine")) ==
          {("sine",)}, str(inlined.kernels(text)))


check_is_used()
with tempfile.TemporaryDirectory() as scratch:
    check_chosen(pathlib.Path(scratch))
    check_refused(pathlib.Path(scratch))
check_others()
end()
