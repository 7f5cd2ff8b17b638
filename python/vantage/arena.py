"""The arena: another optimiser decides, vantage measures (schemas/arena.md).

    with vantage.Arena("step.pb", device="cpu", budget=300, db="arena.db") as arena:
        site, choice = 3, 1
        price = arena.price({site: choice})       # against the compiler's own decisions
        if price["outcome"] == "ok" and price["value"] < 0:
            arena.tell({site: choice})            # the answer so far
        print(arena.verdict()["sentence"])

A configuration is a list with a choice for every site, a dict {site: choice} of what differs from the default, or a
name: "default", "best" (the lowest that was priced), "told", or a start of the kind of decision. No package but this
one is needed.

ArenaEnv is the same as an environment of Gymnasium, for reinforcement learning.
"""
import collections
import json
import os
import random
import socket
import subprocess
import sys
import threading

from .programs import Refused, environment, find

VERSION = 1


class Spent(Refused):
    """The budget is spent, or there was a verdict."""


def written(config):
    """A configuration as the arena reads it."""
    if isinstance(config, dict):
        return {"flips": [[int(site), int(choice)] for site, choice in config.items()]}
    return config if isinstance(config, str) else [int(choice) for choice in config]


def options(named):
    """Keyword arguments as options of the program: verdict_seconds=5, raw=True, limit=["bytes:+0%"]."""
    for name, value in named.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            yield option
        else:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                yield f"{option}={one}"


class Arena:
    """A client of `arena`: of one that it starts for `graph`, or of one that listens at the socket `connect`.

    Several threads may ask at once; they wait for each other. A request that was interrupted may have been sent, so its
    answer may come later. It is passed over then.
    """

    def __init__(self, graph=None, *, connect=None, **named):
        self.child = self.peer = None
        self.lock = threading.Lock()
        self.unanswered = collections.deque()  # the numbers of requests, oldest first; answers come in their order
        self.sent, self.torn = 0, False        # torn: a line may have been written in part
        if connect:
            self.peer = socket.socket(socket.AF_UNIX)
            self.peer.connect(os.fspath(connect))
            self.out = self.peer.makefile("wb")
            self.answers = self.peer.makefile("rb")
        else:
            self.child = subprocess.Popen([find("arena"), "--quiet", f"--graph={graph}", *options(named)],
                                          stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(plugin=False))
            self.out, self.answers = self.child.stdin, self.child.stdout
        self.about = self.request("hello")
        if self.about["version"] != VERSION:
            raise Refused(f"the arena speaks version {self.about['version']}, and this package {VERSION}")
        self.sites = self.about["sites"]
        self.budget = self.about["budget"]

    def request(self, do, **members):
        """One request and its answer, as dicts; what is refused is raised with its sentence."""
        with self.lock:
            answer = self._answer({"do": do, **{k: v for k, v in members.items() if v is not None}})
        self.budget = answer.get("budget", getattr(self, "budget", None))
        if not answer["ok"]:
            raise (Spent if answer.get("spent") else Refused)(answer["error"])
        return answer

    def _send(self, members):
        """Returns the number of the request. A line that was interrupted is ended first, and counts as a request."""
        if self.torn:
            self.out.write(b"\n")
            self._count()
        line = json.dumps({"id": self._count(), **members}) + "\n"
        number, self.torn = self.sent, True
        self.out.write(line.encode())
        self.out.flush()
        self.torn = False
        return number

    def _count(self):
        self.sent += 1
        self.unanswered.append(self.sent)
        return self.sent

    def _answer(self, members):
        try:
            mine, number = self._send(members), None
            while number != mine:
                text = self.answers.readline()
                if not text.endswith(b"\n"):
                    raise Refused(self.last_words())
                number, answer = self._read(text)
            return answer
        except (BrokenPipeError, ConnectionError):
            raise Refused(self.last_words()) from None

    def _read(self, text):
        """The number of the request that this line answers, and the answer. A line that lost its beginning when it was
        read before answers nothing. A refusal has no number if the server could not read the request's."""
        try:
            answer = json.loads(text)
        except ValueError:
            return None, None
        if not isinstance(answer, dict) or "ok" not in answer:
            return None, None
        number = answer.get("id") or (self.unanswered[0] if self.unanswered else None)
        if number is None:
            return None, None
        while self.unanswered and self.unanswered[0] <= number:
            self.unanswered.popleft()
        return number, answer

    def last_words(self):
        if not self.child:
            return "the arena is gone"
        said = self.child.stderr.read().decode(errors="replace").strip()
        self.child.wait()
        return said.splitlines()[-1].removeprefix("arena: ") if said else "the arena is gone"

    def space(self):
        """The sites: lists of their choices, defaults, classes and names."""
        return self.request("space")

    def features(self, config="default", base=None):
        """What our models see: the names of columns, and a row for every site (of every flip, from `base` to
        `config`)."""
        return self.request("features", config=written(config), **{"from": None if base is None else written(base)})

    def ask(self, how, config=None, seed=None):
        """A configuration to try. `how`: random, flip (one site of `config` changes), guided (what our own search
        would try from `config`), default, or a start that hello names."""
        return self.request("ask", how=how, seed=seed,
                            **{"from": None if config is None else written(config)})["config"]

    def price(self, config, base=None, how=None, quantity=None):
        """What going from `base` (None: the default) to `config` costs: value, se, outcome, seconds, cached, total,
        budget."""
        return self.request("price", config=written(config), how=how, quantity=quantity,
                            **{"from": None if base is None else written(base)})

    def tell(self, config):
        """`config` is the answer so far."""
        return self.request("tell", config=written(config))

    def apply(self, config, name=None):
        """The program under `config`: its path if it gets a name, else its bytes in base64."""
        return self.request("apply", config=written(config), name=name)

    def verdict(self, config=None):
        """Is it really better? Of what was told last, or else of the best; nothing is priced afterwards."""
        return self.request("verdict", config=None if config is None else written(config))

    def close(self):
        for end in (self.out, self.answers, self.peer):
            try:
                if end:
                    end.close()
            except (BrokenPipeError, ConnectionError):
                pass
        if self.child:
            self.child.stderr.close()
            self.child.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Discrete:
    """Whole numbers below n: what of gymnasium.spaces.Discrete is needed where Gymnasium is not installed."""

    def __init__(self, n):
        self.n = n
        self.rng = random.Random()

    def seed(self, seed=None):
        self.rng.seed(seed)

    def sample(self):
        return self.rng.randrange(self.n)

    def contains(self, x):
        return 0 <= int(x) < self.n


class MultiDiscrete:
    """Lists of whole numbers, the i-th below nvec[i]."""

    def __init__(self, nvec):
        self.nvec = list(nvec)
        self.parts = [Discrete(n) for n in self.nvec]

    def seed(self, seed=None):
        for i, part in enumerate(self.parts):
            part.seed(None if seed is None else seed + i)

    def sample(self):
        return [part.sample() for part in self.parts]

    def contains(self, x):
        return len(x) == len(self.parts) and all(part.contains(v) for part, v in zip(self.parts, x))


def gymnasium():
    """Gymnasium if it is installed, else None."""
    try:
        import gymnasium as found
    except ImportError:
        return None
    return found


GYM = gymnasium()


class ArenaEnv(GYM.Env if GYM else object):
    """An arena as an environment: reset() and step(action) as in Gymnasium, which need not be installed.

    The observation is the configuration, a choice for every site. An action is a number below the sum of all choices:
    that of site 0's first choice is 0. A step goes there, and its reward is what that saves, as a share of the
    default's cost: rewards of an episode add up to the gain. A step that fails is not taken, and its reward is
    -`failure`. An episode is truncated after `steps`, and when the arena's budget is spent, which holds for all
    episodes together.
    """
    metadata = {"render_modes": []}
    render_mode = None

    def __init__(self, arena, steps=None, failure=0.0):
        self.arena, self.failure = arena, failure
        space = arena.space()
        self.choices, self.default = space["choices"], space["default"]
        self.steps = steps or arena.sites
        self.actions = [(site, choice) for site, n in enumerate(self.choices) for choice in range(n)]
        if not self.actions:
            raise Refused("the program has nothing to decide")
        self.action_space = (GYM.spaces if GYM else sys.modules[__name__]).Discrete(len(self.actions))
        self.observation_space = (GYM.spaces if GYM else sys.modules[__name__]).MultiDiscrete(self.choices)
        self.config, self.done = list(self.default), 0

    def observation(self):
        if not GYM:
            return list(self.config)
        import numpy
        return numpy.array(self.config, dtype=numpy.int64)

    def reset(self, *, seed=None, options=None):
        """Begins at the default, or at options["config"]. The seed decides nothing: prices are measured, not drawn."""
        if GYM:
            super().reset(seed=seed)
        self.config = [int(choice) for choice in (options or {}).get("config", self.default)]
        self.done = 0
        return self.observation(), {"budget": self.arena.budget}

    def step(self, action):
        site, choice = self.actions[int(action)]
        there = self.config[:site] + [choice] + self.config[site + 1:]
        self.done += 1
        try:
            price = self.arena.price(there, base=self.config)
        except Spent as why:
            return self.observation(), 0.0, False, True, {"spent": str(why)}
        reward = -self.failure
        if price["outcome"] == "ok":
            self.config = there
            reward = -price["value"] / self.arena.about["default"]
        return self.observation(), reward, False, self.done >= self.steps or self.arena.budget.get("left") == 0, price

    def render(self):
        return None

    def close(self):
        self.arena.close()
