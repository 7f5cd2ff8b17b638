#!/usr/bin/env python3
"""Measures what a call of a tuned function costs, beside a call of jax.jit's, on programs that do next to nothing.

    bench/dispatch.py [--rounds N] [--calls N] [--own]

Each program is compiled as it is, without a search, and called as a tuned one is, so only the way in and out differs.
The two sides take turns; in each turn a number of calls are made, each waited for. The figure of a side is the
processor time of a call in this process, the median over the rounds; other work on the machine changes it little. The
brackets hold the quartiles. Ratios hold within one run only.
"""
import argparse
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import vantage  # noqa: E402
from vantage import grafted, tuned  # noqa: E402
from vantage.lower import lower  # noqa: E402
from vantage.native import Call  # noqa: E402

small, wide = jnp.ones(8), jnp.ones((256, 256))
PROGRAMS = {
    "one array of 8 numbers": (lambda a: a + 1, (small,)),
    "one array of 256 KiB": (lambda a: a + 1, (wide,)),
    "a number of Python": (lambda a, x: a * x, (small, 0.5)),
    "a tree of 20 arrays": (lambda t: {k: v + 1 for k, v in t.items()}, ({f"w{i}": small for i in range(20)},)),
    "a random key": (lambda k, a: a + jax.random.uniform(k, a.shape), (jax.random.key(1), small)),
}


def through(function, args, own):
    """The function as tune() would return it, with its program compiled as it is, run by the plugin or by jaxlib."""
    known = lower(function, args, {})
    call = Call(known.module, known.inputs, known.outputs, {})
    return tuned.Tuned(function, vantage.Report("compiled as it is"), call, known,
                       executable=grafted.graft(call.written(), known.outputs) if own else None)


def time_of(f, args, calls):
    start = time.process_time()
    for _ in range(calls):
        jax.block_until_ready(f(*args))
    return (time.process_time() - start) / calls


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=31)
    options.add_argument("--calls", type=int, default=200, help="in each turn")
    options.add_argument("--own", action="store_true", help="the program run by jaxlib, not by the plugin")
    set_ = options.parse_args()
    print("| program | jax.jit | ours | more | ratio |\n|---|---|---|---|---|")
    for name, (function, args) in PROGRAMS.items():
        sides = jax.jit(function), through(function, args, set_.own)
        times = [[], []]
        for _ in range(set_.rounds + 2):  # two to warm up
            for side, f in enumerate(sides):
                times[side].append(time_of(f, args, set_.calls))
        theirs, ours = (sorted(1e6 * t for t in side[2:]) for side in times)
        ratios = sorted(b / a for a, b in zip(times[0][2:], times[1][2:]))
        more = statistics.median(ours) - statistics.median(theirs)
        at = lambda v, q: v[int(q * len(v))]  # noqa: E731
        print(f"| {name} | {statistics.median(theirs):.1f} us | {statistics.median(ours):.1f} us "
              f"[{at(ours, .25):.1f}, {at(ours, .75):.1f}] | {more:+.1f} us | {statistics.median(ratios):.2f} "
              f"[{at(ratios, .25):.2f}, {at(ratios, .75):.2f}] |", flush=True)


if __name__ == "__main__":
    main()
