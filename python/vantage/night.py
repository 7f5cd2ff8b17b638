"""Measures single decisions of your own programs, and learns from them which ones matter. The model guides `tune` from
then on.

    vantage.collect(f, *args, seconds=3600)     # again and again, for any number of functions: all goes into one store
    print(vantage.learn())                      # a model takes its place if it is better than the one before

The store is $XDG_DATA_HOME/vantage/runs.sqlite, unless `db` names another. examples/cron/vantage-night does the same
without Python, and has a store of its own, in a folder `night` beside that one; learn() reads both.
"""
import json
import os
import pathlib
import re
import tempfile

from . import programs
from .programs import Refused


def store():
    home = os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share"
    return pathlib.Path(home) / "vantage" / "runs.sqlite"


def stores():
    """All that learn() reads: what collect() measured, and examples/cron/vantage-night."""
    both = store(), store().parent / "night" / "runs.sqlite"
    return [path for path in both if path.exists()] or [store()]


class Learnt:
    """`sentence` says how good the new model is and whether it took its place (`replaced`); `result` is what `learn
    --json` printed."""

    def __init__(self, result):
        self.result, self.replaced = result, bool(result["model"]["replaced"])
        self.sentence = result["model"]["sentence"].strip()

    def __repr__(self):
        return self.sentence


def _file_name(name):
    """A function may have any name."""
    return re.sub(r"[^\w.-]", "_", name.strip("<>"))[:60]


def collect(function, *args, seconds=None, samples=None, db=None, static_argnums=(), static_argnames=(),
            progress=programs.show, collect_options=(), **kwargs):
    """Measures decisions of the function's program, for `seconds` or until there are `samples` (if neither is given,
    for a minute). Returns how many samples were measured. Ctrl-C ends it early."""
    from .lower import lower
    until = ["--seconds", 60 if seconds is None and samples is None else seconds or 0, "--samples", samples or 0]
    db = pathlib.Path(db or store())
    try:
        db.parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise Refused(f"{db.parent} cannot be made for the store: {e.strerror}") from e
    lowered = lower(function, args, kwargs, static_argnums, static_argnames)
    if lowered.foreign:
        raise Refused(lowered.foreign)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{_file_name(getattr(function, '__name__', 'function'))}.pb"
        path.write_bytes(lowered.module)
        status, printed, said, _ = programs.run("collect", "--db", db, "--graph", path, *until, "--json", "--wait",
                                                "--no-resume", *collect_options, progress=progress)
    if status or not printed.strip():
        raise Refused(programs.last_words(said))
    return json.loads(printed)["samples"]


def learn(db=None, seconds=600, progress=programs.show, learn_options=()):
    """Fits a model to all that is in the store `db`, or in stores(). If it is better than the model that guides `tune`
    now, it takes its place."""
    read = [option for path in ([db] if db else stores()) for option in ("--db", path)]
    status, printed, said, _ = programs.run("learn", *read, "--json", "--seconds", seconds, *learn_options,
                                            progress=progress, plugin=False)
    if status not in (0, 3) or not printed.strip():  # 3: the one before stays
        raise Refused(programs.last_words(said))
    return Learnt(json.loads(printed))
