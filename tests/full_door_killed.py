#!/usr/bin/env python3
"""A Python process that is killed while it tunes leaves nothing behind: its search ends, and the next process removes
what was written for it."""
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

from door import ROOT, check, end
from vantage import kept

TUNES = """
import subprocess, sys
import jax.numpy as jnp
sys.path.insert(0, sys.argv[1])
import vantage
started = subprocess.Popen.__init__

def told(self, *args, **kwargs):
    started(self, *args, **kwargs)
    print(self.pid, flush=True)

subprocess.Popen.__init__ = told
vantage.tune(lambda a: jnp.tanh(a @ a) + jnp.exp(-a), jnp.ones((64, 64)), budget=1000000,
             progress=lambda line: print(line, flush=True))
"""


def killed(lines):
    """Kills a process that tunes, when it has said so many lines. Returns the number of its search, and an event that
    comes when that has ended."""
    tunes = subprocess.Popen([sys.executable, "-c", TUNES, str(ROOT / "python")], stdout=subprocess.PIPE, text=True)
    search = int(tunes.stdout.readline())
    ended = os.pidfd_open(search)
    for _ in range(lines):
        tunes.stdout.readline()
    tunes.kill()
    tunes.wait()
    tunes.stdout.close()
    return search, ended


def check_killed(cache):
    for name, lines in (("at once", 0), ("in the middle", 2)):
        search, ended = killed(lines)
        over = bool(select.select([ended], [], [], 120)[0])
        check(f"killed {name}, its search ends", over)
        if not over:
            os.kill(search, signal.SIGKILL)
    left = list(cache.glob("vantage/*/tmp*"))
    check("what it wrote is there", left)
    with kept.scratch(left[0].parent) as mine:
        check("a new folder is not removed, nor are those of this minute", mine.exists() and
              left == [path for path in left if path.exists()])
        for path in [*left, mine]:
            os.utime(path, (time.time() - 120,) * 2)
        with kept.scratch(left[0].parent):
            check("old ones are, but for those in use", mine.exists() and not any(path.exists() for path in left))
    check("no folder is left", not list(cache.glob("vantage/*/tmp*")))


with tempfile.TemporaryDirectory() as scratch:
    os.environ["XDG_CACHE_HOME"] = scratch
    check_killed(pathlib.Path(scratch))
end()
