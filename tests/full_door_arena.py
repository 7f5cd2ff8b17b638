#!/usr/bin/env python3
"""Requests to an arena that are interrupted, in the middle of a line or while the answer is awaited, and those of
several threads: every question gets its own answer."""
import threading

from door import check, end, vantage


class Interrupted(Exception):
    pass


class Broken:
    """An end of the arena's that is interrupted once: after `part` bytes of what is written or read."""

    def __init__(self, inner, part):
        self.inner, self.part, self.whole = inner, part, False

    def write(self, line):
        if not self.whole and len(line) > 1:
            self.whole = True
            self.inner.write(line[:self.part])
            raise Interrupted
        return self.inner.write(line)

    def readline(self):
        if not self.whole:
            self.whole = True
            self.inner.read(self.part)
            raise Interrupted
        return self.inner.readline()

    def __getattr__(self, name):
        return getattr(self.inner, name)


def check_interrupted():
    for name, end_, part in (("before it is written", "out", 0), ("in the middle of its line", "out", 9),
                             ("when its line is written", "out", 1 << 20), ("before its answer", "answers", 0),
                             ("in the middle of its answer", "answers", 9)):
        with vantage.Arena("toy:12:3:6") as arena:
            default = arena.space()["default"]
            setattr(arena, end_, Broken(getattr(arena, end_), part))
            try:
                arena.ask("random", seed=1)
                check(f"interrupted {name}", False, "it was not")
            except Interrupted:
                pass
            asked = arena.ask("default"), arena.price({0: default[0]})["value"], arena.ask("default")
            check(f"interrupted {name}", asked == (default, 0, default), str(asked))
            try:
                arena.ask("nonsense")
                check("... and what is refused then is", False, "it was not")
            except vantage.Refused as why:
                check("... and what is refused then is", "nonsense" in str(why) or "how" in str(why), str(why))


def check_threads():
    with vantage.Arena("toy:12:3:6") as arena:
        wanted = {seed: arena.ask("random", seed=seed) for seed in range(4)}
        bad = []

        def work(seed):
            bad.extend(seed for _ in range(200) if arena.ask("random", seed=seed) != wanted[seed])

        threads = [threading.Thread(target=work, args=(seed,)) for seed in wanted]
        [t.start() for t in threads]
        [t.join() for t in threads]
        check("four threads", not bad, str(bad))


check_interrupted()
check_threads()
end()
