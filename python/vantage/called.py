"""What calls cost in the caller's own process: those of a tuned function, beside those of jax.jit.

The verdict of a search is about two programs of one plugin, on so many cores. What a user gains is another figure: the
way in and out costs something for each array, jaxlib holds another version of the compiler, and uses all cores that
the process may. So both are called on the arguments that were given, in turns, and the report says how long that took.

A few calls are no measurement of a small difference. But where the tuned program is surely the slower one, nobody wants
it. That is so if it was slower in so many turns as a coin would show once in a thousand times, and by 2% or more in the
middle one. Ten turns are the fewest that can say so. Where the first few look like it, turns are added for that.
"""
import math
import statistics
import time

ROUNDS, SECONDS = 21, 3.0  # at most; two rounds in any case
FEWEST, LONGEST = 10, 60.0 # rounds that can say what is slower, and seconds that these may take
CHANCE, WORSE = 1e-3, 1.02


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


def in_turns(sides, given, least=2):
    """Seconds of each call of two functions that take turns: two lists. `given[i]` makes the arguments of sides[i]."""
    times, end = ([], []), time.perf_counter() + SECONDS
    while len(times[0]) < least or len(times[0]) < ROUNDS and time.perf_counter() < end:
        for i in (0, 1) if len(times[0]) % 2 else (1, 0):
            times[i].append(_seconds(sides[i], given[i]()))
    return times


def _slower(tuned, jit):
    """In how many turns the first one took longer."""
    return sum(a > b for a, b in zip(tuned, jit))


def holds(cost, by):
    """Need calls not be timed again, by the same way? What they cost hangs on what else the machine does, so it is
    looked at anew where that takes less than a second."""
    return by.items() <= cost.items() and ROUNDS * (cost["tuned"] + cost["jit"]) > 1


def surely_slower(cost):
    """Is the tuned program, as called, not what its caller wants?"""
    turns, lost = cost["calls"], cost.get("slower", 0)  # older results do not say
    chance = sum(math.comb(turns, k) for k in range(lost, turns + 1)) / 2 ** turns
    return chance < CHANCE and cost["ratio"] >= WORSE


def called(fast, args, kwargs):
    """Of calls of each the median seconds, the number, in how many turns the tuned one was slower, and the median of
    its share in jax.jit's: {"tuned": s, "jit": s, "calls": n, "slower": n, "ratio": r}."""
    plain, theirs = fast.jitted.way(args, kwargs)
    fresh = _overwrites(plain, theirs)
    fast(*args, **kwargs)
    given = [lambda g=g: copies(g) if fresh else g for g in ((args, kwargs), theirs)]
    tuned, jit = in_turns((fast, plain), given)
    missing = FEWEST - len(tuned)
    if 0 < missing and _slower(tuned, jit) == len(tuned) and missing * (tuned[-1] + jit[-1]) < LONGEST:
        for had, more in zip((tuned, jit), in_turns((fast, plain), given, missing)):
            had += more
    return {"tuned": statistics.median(tuned), "jit": statistics.median(jit), "calls": len(tuned),
            "slower": _slower(tuned, jit), "ratio": statistics.median(a / b for a, b in zip(tuned, jit))}
