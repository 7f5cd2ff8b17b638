"""vantage: JAX in, a faster function out.

    import vantage
    fast = vantage.tune(f, *args, budget=300)   # a callable with f's signature and pytrees
    fast.report                                 # what was measured, with its interval, and the page about it
    vantage.save(fast, "f.tuned"); fast = vantage.load("f.tuned", f)

`tune` measures f's program on this machine, tries other decisions than the compiler's own, and keeps those that make it
measurably faster with the same numbers. Where that is not possible, or does not help, calls are those of jax.jit(f),
and the report says why. Importing this module needs neither JAX nor a compiler.
"""
from .arena import Arena, ArenaEnv
from .memory import Memory, memory
from .night import Learnt, collect, learn
from .program import Program, inspect
from .programs import Refused
from .report import Report
from .tuned import Tuned, load, save, tune

__all__ = ["Arena", "ArenaEnv", "Learnt", "Memory", "Program", "Refused", "Report", "Tuned", "collect", "inspect",
           "learn", "load", "memory", "save", "tune"]
