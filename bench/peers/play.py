#!/usr/bin/env python3
"""Lets peers, and our own search, decide about programs on the same budget: a table of what each saved by the verdict.

    bench/peers/play.py [--device sim] [--space fusion] [--budgets 60,300] [--seeds 1,2,3] [--peers NAMES] PROGRAM...

A peer is a file of this folder; it plays through the arena. Ours are bin/search with the same number of evaluations:
`guided`, as it comes, and `random`. Every game is a line of JSON on standard output, or in --results FILE, where games
that stand there already are not played again: so a long table is made in pieces (--stop-after SECONDS). The tables, by
evaluations and by seconds, go to standard error; --table only prints those of FILE.

What a peer's file says it needs ("needs: PACKAGE==VERSION ...") is installed with --environments DIR into an
environment of its own, in DIR. Without that it is taken from this Python; a peer whose packages are missing is left out
with a sentence.
"""
import argparse
import importlib
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "python"), str(HERE)]
import vantage  # noqa: E402

OURS = ("guided", "random")
GROUND = ("--no-codegen", "--no-weld")  # the arena decides neither, so ours may not
MOMENTS = (1, 3, 10, 30)  # seconds, of the table by seconds


def searched(strategy, game, set_, *bound):
    """What bin/search says, within the bound that its option sets."""
    more = [f"--model={set_.model}"] if set_.model and strategy == "guided" else []
    more += [f"--db={set_.prices}"] if set_.prices else []
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run([vantage.programs.find("search"), "-q", "--json", "--wait", f"--device={set_.device}",
                               f"--space={set_.space}", f"--graph={game['program']}", f"--seed={game['seed']}",
                               f"--strategy={strategy}", *GROUND, *more, f"--out={folder}/out", *bound],
                              check=True, stdout=subprocess.PIPE).stdout
    return json.loads(said)


def arranged(said):
    """By how much the order found is below the better of the program's own."""
    least = min(way["bytes"] for name, way in said["ways"].items() if name != "tuned")
    return max(0.0, 1 - said["ways"]["tuned"]["bytes"] / least)


def ours(strategy, game, set_):
    """A game of bin/search. A kind that looks by a model of its own counts what it looks at as steps, and tells no
    curve: with --clock it searches again for each of the seconds of the table, in the games of the largest budget."""
    if set_.space == "order":
        said = searched(strategy, game, set_, f"--steps={game['budget']}")
        moments = MOMENTS if set_.clock and game["budget"] == max(map(int, set_.budgets.split(","))) else ()
        curve = [(0, at, arranged(searched(strategy, game, set_, f"--seconds={at}"))) for at in moments]
        return {"gain": arranged(said), "tuned": True}, said["search_seconds"], curve
    said = searched(strategy, game, set_, f"--budget={game['budget']}")
    own, search = said["search"]["default_seconds"], said["search"]
    curve = [(p["evaluation"], p["seconds"], -p["delta"] / own) for p in search["curve"]]
    return said["verdict"], search["seconds"], curve


class Watched:
    """An arena that notes when the best of its prices fell. Where prices are a formula, the best start of the kind
    takes the place of the default for whoever plays, because our own search begins there, too."""

    def __init__(self, arena):
        self.arena, self.began, self.curve, self.best, self.start = arena, time.monotonic(), [], 0.0, None
        self.about = dict(arena.about)
        for name in arena.about["starts"] if arena.about["kind"] == "modelled" else []:
            value = arena.price(name)["value"]
            if value < self.about["default"] - arena.about["default"]:
                self.start, self.about["default"] = arena.ask(name), arena.about["default"] + value

    def __getattr__(self, name):
        return getattr(self.arena, name)

    def whole(self, config):
        """A configuration as the arena is to see it."""
        config = {} if config == "default" else config
        if self.start is None or not isinstance(config, dict):
            return config
        return [config.get(site, choice) for site, choice in enumerate(self.start)]

    def space(self):
        space = self.arena.space()
        return space if self.start is None else {**space, "default": self.start}

    def ask(self, how, config=None, seed=None):
        return self.arena.ask(how, self.whole(config), seed)

    def tell(self, config):
        return self.arena.tell(self.whole(config))

    def price(self, config, base=None, **named):
        got = self.arena.price(self.whole(config), base=self.whole("default" if base is None else base), **named)
        if "total" in got:
            gain = 1 - (self.arena.about["default"] + got["total"]) / self.about["default"]
            if gain > self.best:
                self.best = gain
                self.curve.append((self.budget["priced"], time.monotonic() - self.began, gain))
        return got

    def verdict(self):
        """Against where it began."""
        got = self.arena.verdict()
        if self.start is not None:
            got["gain"] = 1 - got["with"] / self.about["default"]
            got["tuned"] = got["gain"] > 0
        return got


def peer(name, game, set_):
    with vantage.Arena(game["program"], device=set_.device, space=set_.space, budget=game["budget"], seed=game["seed"],
                       wait=True, db=set_.prices,
                       model=set_.model) as arena:
        watched = Watched(arena)
        importlib.import_module(name).play(watched, random.Random(game["seed"]))
        seconds = time.monotonic() - watched.began
        return watched.verdict(), seconds, watched.curve


def play_one(game, set_):
    name = game["by"]
    verdict, seconds, curve = (ours if name in OURS else peer)(name, game, set_)
    gain = verdict.get("gain", 0.0) if verdict["tuned"] else 0.0
    return {**game, "gain": gain, "seconds": round(seconds, 4),
            "curve": [(n, round(s, 4), round(g, 6)) for n, s, g in curve]}


def needs(name):
    """The packages that a peer's file names."""
    found = re.search(r"^needs: (.+)$", (HERE / f"{name}.py").read_text(), re.M) if name not in OURS else None
    return found.group(1).split() if found else []


def python_for(name, set_):
    """The Python that a peer plays in; None: this one."""
    if not set_.environments or not needs(name):
        return None
    python = pathlib.Path(set_.environments) / name / "bin" / "python"
    if not python.exists():
        print(f"play: installing {' '.join(needs(name))} for {name}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *needs(name)], check=True)
    return python


def missing(name):
    """Why a peer cannot play in this Python."""
    try:
        if name not in OURS:
            importlib.import_module(name)
    except ImportError as why:
        return f"{name} is left out: {why}; --environments DIR installs what it needs ({' '.join(needs(name))})"
    return None


def play_apart(python, game, set_):
    more = [f"--{name}={value}" for name, value in (("model", set_.model), ("prices", set_.prices)) if value]
    said = subprocess.run([python, __file__, "--one", json.dumps(game), f"--device={set_.device}",
                           f"--space={set_.space}", *more], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(said)


def games(set_):
    for seed in map(int, set_.seeds.split(",")):
        for budget in map(int, set_.budgets.split(",")):
            for program in set_.programs:
                for name in set_.peers.split(","):
                    yield {"program": program, "device": set_.device, "space": set_.space, "budget": budget,
                           "seed": seed, "by": name}


def is_of(row, game):
    return all(row[k] == v for k, v in game.items())


def play_all(set_, rows):
    began, out = time.monotonic(), open(set_.results, "a") if set_.results else sys.stdout
    apart = {name: python_for(name, set_) for name in set_.peers.split(",")}
    without = {name: missing(name) for name, python in apart.items() if not python}
    for sentence in filter(None, without.values()):
        print(f"play: {sentence}", file=sys.stderr)
    for game in games(set_):
        if without.get(game["by"]) or any(is_of(row, game) for row in rows):
            continue
        if set_.stop_after and time.monotonic() - began > set_.stop_after:
            print("play: stopped; the same command goes on", file=sys.stderr)
            break
        python = apart[game["by"]]
        rows.append(play_apart(python, game, set_) if python else play_one(game, set_))
        print(json.dumps(rows[-1]), file=out, flush=True)


def reached(row, seconds):
    """The gain that a game had reached by then, by its own prices."""
    return max([0.0] + [gain for _, at, gain in row["curve"] if at <= seconds])


def table(rows):
    """By evaluations: means of the verdicts. By seconds: of the games with the largest budget, by their prices."""
    budgets, names = sorted({row["budget"] for row in rows}), sorted({row["by"] for row in rows})
    lines = ["| by | " + " | ".join([f"{b} evaluations" for b in budgets] + [f"{m} s" for m in MOMENTS]) +
             " | seconds an evaluation | games |", "|---" * (len(budgets) + len(MOMENTS) + 3) + "|"]
    for name in names:
        of = [row for row in rows if row["by"] == name]
        cells = []
        for budget in budgets:
            gains = [row["gain"] for row in of if row["budget"] == budget]
            cells.append(f"{100 * statistics.mean(gains):.2f}%" if gains else "")
        last = [row for row in of if row["budget"] == budgets[-1]]
        cells += [f"{100 * statistics.mean(reached(row, moment) for row in last):.2f}%" if last else ""
                  for moment in MOMENTS]
        cells += [f"{statistics.mean(row['seconds'] / row['budget'] for row in of):.3g}", str(len(of))]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def read(path):
    try:
        return [json.loads(line) for line in open(path) if line.endswith("\n")]
    except FileNotFoundError:
        return []


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n", 2)[2],
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--device", default="sim")
    options.add_argument("--space", default="fusion")
    options.add_argument("--budgets", default="60,300", help="how many prices each has (%(default)s)")
    options.add_argument("--seeds", default="1,2,3")
    options.add_argument("--peers", default="anneal,bandit,asked,random,guided")
    options.add_argument("--model", help="the model that guides ours; default: the one that search takes")
    options.add_argument("--prices", metavar="FILE", help="a store of prices that all games share, where prices are "
                         "estimates and so always the same: what was priced takes no time again. Seconds then say "
                         "nothing")
    options.add_argument("--environments", metavar="DIR",
                         help="an environment for each peer that needs packages is made here")
    options.add_argument("--clock", action="store_true",
                         help="play ours again within the seconds of the table, where a search tells no curve")
    options.add_argument("--results", metavar="FILE", help="games are kept here, and go on from there")
    options.add_argument("--stop-after", type=float, metavar="SECONDS", help="begin no game after that")
    options.add_argument("--table", action="store_true", help="only print the tables of --results")
    options.add_argument("--one", help=argparse.SUPPRESS)
    options.add_argument("programs", nargs="*")
    set_ = options.parse_args()
    if set_.one:
        return print(json.dumps(play_one(json.loads(set_.one), set_)))
    rows = read(set_.results) if set_.results else []
    if not set_.table:
        play_all(set_, rows)
    print(table(rows), file=sys.stderr)


if __name__ == "__main__":
    main()
