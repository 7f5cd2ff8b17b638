#!/usr/bin/env python3
"""Measures what a JAX user gains: programs of the zoo by jax.jit from their source, against what a search made of them.

    bench/jit.py [--python PYTHON]... [--plugin FILE] [--cores 0 --cores 0,1] [--rounds N] [NAME.tuned | NAME]...

NAME is a program of examples/graphs, NAME.tuned the folder that `search` made of it. Two things are measured for each,
on each set of cores, and both are ratios of runs that alternate within one process:

  jit      the source by jax.jit, in jaxlib itself and in the plugin, one device each: what the plugin's own
           compiler is worth against that of jaxlib
  tuned    the compiler's own program against the tuned one, both compiled anew by the plugin on these cores
           (examples/run/run_tuned.c, which shares no code with the search)

Their product is how much less time the tuned program takes than jax.jit. A third is what a caller of vantage.tune has:

  called   the tuned program called as vantage.tune's functions are, with its way in and out, against jax.jit

Sides take turns of --row calls, with arrays that are made before a turn, or before each call where some are donated.
The first call of a turn finds the caches and the memory as another program left them, so it does not count; with
`--row 1` it is all that counts. Processes differ, so each figure is the median of --processes. On one core `jit` takes
the processor time, which other work on the machine does not change. On several cores it takes the time by the clock,
and of each side's times the slowest of the fastest quarter. Inputs are those of examples/run: floats within +-0.5,
whole numbers 0 or 1. PYTHON has jax and jaxlib; give several for several versions (default: this one).
"""
import argparse
import importlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARM = 3  # rounds that do not count


def lower_quarter(v):
    return sorted(v)[len(v) // 4]



def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__.split("\n", 2)[2],
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("programs", nargs="+", metavar="PROGRAM")
    p.add_argument("--python", action="append", help="with jax; may be given several times")
    p.add_argument("--plugin", type=pathlib.Path, help="default: the one that the device cpu means")
    p.add_argument("--cores", action="append",
                   help="a set of cores, as taskset takes it (default: 0, and all there are)")
    p.add_argument("--rounds", type=int, default=40, help="of each side in a process")
    p.add_argument("--row", type=int, default=5, help="calls in a row of each side; the first does not count if there "
                   "are several (default: %(default)s)")
    p.add_argument("--processes", type=int, default=3, help="for each figure")
    p.add_argument("--inside", help=argparse.SUPPRESS)
    p.add_argument("--tuned", type=pathlib.Path, help=argparse.SUPPRESS)
    o = p.parse_args()
    o.python = o.python or [sys.executable]
    o.cores = o.cores or ["0", "0-%d" % (os.cpu_count() - 1)]
    if o.row < 1:
        p.error("--row: at least one call")
    if not o.plugin:
        where = subprocess.run([ROOT / "tests/deps", "--where"], cwd=ROOT, capture_output=True,
                               text=True).stdout.strip()
        o.plugin = ROOT / where if where else p.error("there is no plugin; make deps fetches it, or use --plugin")
    return o


# Inside a Python with jax: one program, both compilers.

def source(name):
    """Function, shapes of its arguments, places of those that may be overwritten."""
    sys.path.insert(0, str(ROOT / "examples/graphs"))
    for module in ("sequence", "vision", "other", "held_out", "mobile", "tiny"):
        graphs = importlib.import_module(module).GRAPHS
        if name in graphs:
            return graphs[name]()
    sys.exit(f"jit: examples/graphs makes no program called {name}")


def as_called(function, inputs, folder):
    """The tuned program, as vantage.tune gives it to its caller; None if the version of jax that made the file left out
    arguments that nothing reads, so that the file is another program than vantage.tune would search."""
    sys.path.insert(0, str(ROOT / "python"))
    import vantage
    from vantage import grafted, lower, native, tuned
    known = lower.lower(function, inputs, {})
    if len(known.inputs) != json.loads(said([ROOT / "bin/inspect", "--json", folder / "tuned.pb"]))["parameters"]:
        return None
    options = dict(line.split("=", 1) for line in (folder / "options.txt").read_text().splitlines())
    call = native.Call((folder / "tuned.pb").read_bytes(), known.inputs, known.outputs, options)
    default = native.Call((folder / "default.pb").read_bytes(), known.inputs, known.outputs, {})
    with tempfile.TemporaryDirectory() as here:
        (pathlib.Path(here) / "tuned.exe").write_bytes(call.written())
        made = grafted.chosen(pathlib.Path(here), known, call, default, inputs, {})
        print((pathlib.Path(here) / "grafted.json").read_text(), file=sys.stderr)
    return tuned.Tuned(function, vantage.Report(""), call, known, executable=made)


def measure(name, plugin, rounds, row, folder):
    os.environ["JAX_PLATFORMS"] = "cpu,plugin"
    import jax
    import numpy as np
    from jax._src import xla_bridge
    # A client that is not told otherwise has four devices, and then at least four threads, even on one core.
    xla_bridge.register_plugin("plugin", library_path=str(plugin), options={"cpu_device_count": 1})

    def filled(shape):
        x = random.random(shape.shape, dtype=np.float32) - np.float32(0.5)
        return np.asarray(x > 0 if np.dtype(shape.dtype).kind in "biu" else x).astype(shape.dtype)

    function, arguments, *donated = source(name)
    random = np.random.default_rng(1)
    inputs = jax.tree.map(filled, arguments)
    devices = {"jaxlib": jax.devices("cpu")[0], "plugin": jax.devices("plugin")[0]}
    jitted = {side: jax.jit(function, donate_argnums=donated) for side in devices}
    if folder:
        called = as_called(function, jax.device_put(inputs, devices["jaxlib"]), folder)
        if called:
            devices["called"], jitted["called"] = devices["jaxlib"], called
    times, results = {side: [] for side in devices}, {}
    alone = len(os.sched_getaffinity(0)) == 1
    clock, typical = (time.process_time, statistics.median) if alone else (time.perf_counter, lower_quarter)
    order = list(devices)
    for n in range(WARM + rounds):
        for side in order:
            for call in range(row):
                if not call or donated:
                    arrays = jax.block_until_ready(jax.device_put(inputs, devices[side]))
                start = clock()
                results[side] = jax.block_until_ready(jitted[side](*arrays))
                seconds = clock() - start
                if n >= WARM and (call or row == 1):
                    times[side].append(seconds)
        order.reverse()
    leaves = {side: [np.asarray(x) for x in jax.tree.leaves(results[side])] for side in devices}
    apart = max((float(np.max(np.abs(a - b), initial=0) / (np.mean(np.abs(a)) or 1))
                 for side in devices for a, b in zip(leaves["jaxlib"], leaves[side])
                 if a.dtype.kind == "f" and np.isfinite(a).all()), default=0.0)
    print(json.dumps({"jaxlib": jax.lib.__version__, "seconds": typical(times["jaxlib"]), "apart": apart,
                      **{s: typical(times[s]) / typical(times["jaxlib"]) for s in devices if s != "jaxlib"}}))


# Outside: processes, and their table.

def said(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"jit: {' '.join(map(str, command))}: {done.stderr.strip()[-600:]}")
    return done.stdout


def by_jit(python, name, tuned, cores, o):
    also = ["--tuned", tuned] if tuned else []
    command = ["taskset", "-c", cores, python, __file__, "--inside", name, "--plugin", o.plugin, "--rounds", o.rounds,
               "--row", o.row, *also, name]
    runs = [json.loads(said(command).splitlines()[-1]) for _ in range(o.processes)]
    return {"jaxlib": runs[0]["jaxlib"], "apart": max(r["apart"] for r in runs),
            **{k: statistics.median(r[k] for r in runs) for k in ("seconds", "plugin", "called") if k in runs[0]}}


def by_search(program, tuned, cores, o):
    """Time of the tuned program, of the default's 1."""
    ratios = []
    with tempfile.TemporaryDirectory() as bare:
        for name in ("default.pb", "tuned.pb", "options.txt"):
            shutil.copy(tuned / name, bare)
        for _ in range(o.processes):
            found = re.search(r"([-0-9.]+)% less", said(["taskset", "-c", cores, program, o.plugin, bare]))
            ratios.append(1 - float(found.group(1)) / 100)
    return statistics.median(ratios)


def row(name, tuned, cores, python, program, o):
    jit = by_jit(python, name, tuned, cores, o)
    percent = lambda ratio: f"{100 * (ratio - 1):+.1f}%"  # noqa: E731
    gain = by_search(program, tuned, cores, o) if tuned else None
    cells = [name, cores, f"{jit['jaxlib']}", f"{1e3 * jit['seconds']:.3g} ms", percent(jit["plugin"]),
             *([percent(gain), percent(gain * jit["plugin"]),
               percent(jit["called"]) if "called" in jit else ""] if tuned else [""] * 3),
             f"{jit['apart']:.1g}"]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    o = options()
    if o.inside:
        return measure(o.inside, o.plugin, o.rounds, o.row, o.tuned)
    from again import build
    with tempfile.TemporaryDirectory() as where:
        program = build(pathlib.Path(where))
        print("| program | cores | jaxlib | jax.jit | the plugin's own, against it | tuned, against the plugin's own "
              "| tuned, against jax.jit | called, against jax.jit | outputs apart |\n" + "|---" * 9 + "|")
        for p in map(pathlib.Path, o.programs):
            tuned = p if p.is_dir() else None
            for cores in o.cores:
                for python in o.python:
                    row(p.name.removesuffix(".tuned"), tuned, cores, python, program, o)


if __name__ == "__main__":
    main()
