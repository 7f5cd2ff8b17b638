"""What calls cost in the caller's own process: those of a tuned function, beside those of jax.jit.

The verdict of a search is about two programs of one plugin, on so many cores. What a user gains is another figure: the
way in and out costs something for each array, jaxlib holds another version of the compiler, and uses all cores that
the process may. So both are called on the arguments that were given, in turns, and the report says how long that took.
It is said, and decides nothing: a few calls are no measurement that would.
"""
import statistics
import time

from .jitted import Jitted

ROUNDS, SECONDS = 21, 3.0  # at most; two rounds in any case


def copies(tree):
    """The same values in arrays of their own, which a function that overwrites its arguments may have."""
    import jax
    return jax.tree.map(lambda x: x.copy() if isinstance(x, jax.Array) else x, tree)


def _overwrites(function, given):
    import jax
    mine = copies(given)
    jax.block_until_ready(function(*mine[0], **mine[1]))
    return any(isinstance(x, jax.Array) and x.is_deleted() for x in jax.tree.leaves(mine))


def _seconds(function, given):
    """How long a call takes, with its results waited for."""
    import jax
    jax.block_until_ready(given)
    start = time.perf_counter()
    jax.block_until_ready(function(*given[0], **given[1]))
    return time.perf_counter() - start


def in_turns(sides, given):
    """Seconds of each call of two functions that take turns: two lists. `given[i]` makes the arguments of sides[i]."""
    times, end = ([], []), time.perf_counter() + SECONDS
    while len(times[0]) < 2 or len(times[0]) < ROUNDS and time.perf_counter() < end:
        for i in (0, 1) if len(times[0]) % 2 else (1, 0):
            times[i].append(_seconds(sides[i], given[i]()))
    return times


def called(fast, args, kwargs, static):
    """Seconds of a call of each, medians: {"tuned": s, "jit": s, "calls": n}."""
    plain, theirs = Jitted(fast.function, static).way(args, kwargs)
    fresh = _overwrites(plain, theirs)
    fast(*args, **kwargs)
    given = [lambda g=g: copies(g) if fresh else g for g in ((args, kwargs), theirs)]
    times = in_turns((fast, plain), given)
    return {"tuned": statistics.median(times[0]), "jit": statistics.median(times[1]), "calls": len(times[0])}
