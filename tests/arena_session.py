"""Clients of the arena, for check_arena.sh. The first thing that is wrong is printed, and ends the client.

    session ...                                  makes every request once
    environment                                  plays by the environment of Gymnasium
    fuzz N SEED                                  opens N random sessions of good, bad and damaged requests
    hurt SOCKET N SEED                           lets clients die in the middle of lines
    mute SOCKET PID                              asks, and does not read the answers
    guided GRAPH DEVICE SPACE BUDGET [MODEL]     takes our own proposals

An arena answers every line with one line, whatever the line was; what it refused had no effect; prices are right.
"""
import base64
import json
import os
import pathlib
import random
import select
import signal
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import vantage  # noqa: E402
from vantage.arena import Spent  # noqa: E402

TOY = "toy:12:3:6"


def check(true, *what):
    if not true:
        sys.exit("wrong: " + " ".join(map(str, what)))


def refused(f, *args, word="", kind=vantage.Refused, **named):
    try:
        answer = f(*args, **named)
    except kind as e:
        check(word in str(e), "not", repr(word), "but", e)
        return
    sys.exit(f"wrong: {args} {named} was not refused but answered {answer}")


def descend(arena, space):
    """Coordinate descent with prices of moves; returns the configuration and the sum of its moves."""
    config, total = list(space["default"]), 0.0
    for site, choices in enumerate(space["choices"]):
        for choice in range(choices):
            try:
                price = arena.price(config[:site] + [choice] + config[site + 1:], base=config)
            except Spent:
                return config, total
            if price["outcome"] == "ok" and price["value"] < 0:
                config[site], total = choice, total + price["value"]
    return config, total


def session(device, graph, budget, db, folder):
    with vantage.Arena(graph, device=device, db=db, budget=budget, out=folder) as arena:
        space = arena.space()
        n = arena.sites
        check(n == len(space["choices"]) == len(space["default"]) == len(space["class"]) == len(space["name"]), space)
        seen, flip = arena.features(), arena.features({0: 1 - min(1, space["default"][0])}, base="default")
        check(len(seen["rows"]) == n and all(len(row) == len(seen["names"]) for row in seen["rows"]),
              "features of sites")
        check(all(row[seen["names"].index("default")] == 1 for row in seen["rows"]), "every site is at its default")
        check(flip["sites"] == [0] and len(flip["rows"]) == 1 and len(flip["rows"][0]) == len(flip["names"]), flip)
        check(flip["rows"][0][flip["names"].index("from default")] == 1, flip)
        check(arena.price("default")["value"] == 0, "the default against itself")
        check(arena.ask("random", seed=4) == arena.ask("random", seed=4) != arena.ask("random", seed=5), "seeds")
        check(sum(a != b for a, b in zip(arena.ask("flip"), space["default"])) == 1, "a flip changes one site")
        refused(arena.ask, "guided", word="nothing guides")
        there = arena.price({0: 1 - min(1, space["default"][0])})
        back = arena.price("default", base={0: 1 - min(1, space["default"][0])})
        check(there["value"] == -back["value"] and back["total"] == 0, there, back)
        check(arena.price({0: 1 - min(1, space["default"][0])})["cached"] or device == "none",
              "a price asked for twice")
        refused(arena.price, {n: 0}, word="no site")
        refused(arena.price, {0: 200}, word="no choice")
        refused(arena.price, [0] * (n + 1), word="more than")
        refused(arena.price, [0] * (n - 1), word="there are")
        refused(arena.tell, [c - 1 for c in space["choices"]], word="not known")
        refused(arena.apply, "default", name="../x", word="without a folder")
        config, total = descend(arena, space)
        check(arena.budget["priced"] == int(budget) and arena.budget["left"] == 0, arena.budget)
        refused(arena.price, "default", word="spent", kind=Spent)
        told = arena.tell(config)
        check(abs(told["total"] - total) <= 1e-9 * abs(total), told, total)
        check(told["total"] <= 0, told)
        if device == "none":
            check(told["total"] < 0, "nothing was found on a toy")
        file = arena.apply(config, name="best.pb")
        check(os.path.getsize(file["path"]) == file["bytes"], file)
        whole = base64.b64decode(arena.apply(config)["module"], validate=True)
        check(whole == pathlib.Path(file["path"]).read_bytes(), "the file and the answer differ")
        verdict = arena.verdict()
        check(not verdict["measured"] or abs(verdict["with"] - verdict["default"] - total) <= 1e-9 * verdict["default"]
              or device != "none",
              verdict, total)
        refused(arena.verdict, word="only one")
        refused(arena.price, "default", word="verdict", kind=Spent)


def environment():
    """Episodes of the environment: rewards add up to the gain, and the budget ends the last one."""
    with vantage.Arena(TOY, device="none", budget=50) as arena:
        env = vantage.ArenaEnv(arena, steps=9)
        steps = 0
        env.action_space.seed(3)
        while True:
            start, _ = env.reset()
            check(env.observation_space.contains(start) and list(start) == env.default, start)
            gain, truncated = 0.0, False
            while not truncated:
                observed, reward, terminated, truncated, info = env.step(env.action_space.sample())
                check(not terminated and env.observation_space.contains(observed), observed)
                gain, steps = gain + reward, steps + 1
            check(abs(gain + info["total"] / arena.about["default"]) < 1e-9, gain, info)
            if arena.budget["left"] == 0:
                break
            check(env.done == 9, env.done)
        check(steps == 50, steps)
        _, reward, _, truncated, info = env.step(0)
        check(truncated and reward == 0 and "spent" in info["spent"], info)


def some_config(rng, n):
    return rng.choice([
        lambda: [rng.randrange(3) for _ in range(n)],
        lambda: {"flips": [[rng.randrange(n), rng.randrange(3)] for _ in range(rng.randrange(4))]},
        lambda: rng.choice(["default", "best", "told", "nowhere", ""]),
        lambda: [rng.choice([-1, 3, 1.5, None, "1", 2 ** 70])] * n,
        lambda: {"flips": rng.choice([[[n, 0]], [[0]], [[0, 1, 2]], 5, [5]])},
        lambda: rng.choice([None, 7, True, {}, [[]]])])()


def some_line(rng, n):
    """A request, mostly one that makes sense, and at times damaged bytes."""
    line = {"do": rng.choice(["hello", "space", "features", "ask", "price", "price", "price", "tell", "apply",
                              "nonsense"])}
    if rng.random() < 0.5:
        line["id"] = rng.randrange(1000)
    if line["do"] == "ask":
        line["how"] = rng.choice(["random", "flip", "guided", "default", "what"])
    if line["do"] in ("price", "tell", "apply", "features"):
        line["config"] = some_config(rng, n)
    if rng.random() < 0.2:
        line[rng.choice(["from", "config", "how", "quantity", "seed", "name", "more"])] = rng.choice(
            [some_config(rng, n), "whole", "bytes", -3, "a/b"])
    text = bytearray(json.dumps(line).encode())
    if rng.random() < 0.3:
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text))
            text[at:at + rng.randrange(2)] = bytes([rng.choice([b for b in range(256) if b != 10])])
    if rng.random() < 0.05:
        text = bytearray(rng.choice([b"", b"[" * 5000, b'{"do":' * 80, b"\0\xff",
                                     b'{"do":"price","config":[' + b"0," * 100000]))
    return bytes(text)


def fuzz(times, seed):
    """Every line has its answer, and prices do not depend on what was refused before."""
    rng = random.Random(seed)
    for number in range(times):
        n, budget = rng.choice([1, 5, 12]), rng.randrange(1, 30)
        lines = [some_line(rng, n) for _ in range(rng.randrange(1, 40))]
        child = subprocess.run([vantage.programs.find("arena"), "-q", "--device", "none", "--budget", str(budget),
                                "--graph", f"toy:{n}:3:{number % 7}"],
                               input=b"".join(line + b"\n" for line in lines) + b'{"do":"qui',
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(child.returncode == 0, "seed", seed, "session", number, child.stderr)
        answers = [json.loads(line) for line in child.stdout.decode().splitlines()]
        check(len(answers) == len(lines), len(answers), "answers to", len(lines), "lines, session", number)
        priced, prices = 0, {}
        for line, got in zip(lines, answers):
            check(got["ok"] or got["error"], got)
            priced += "value" in got
            check(priced <= budget and got.get("budget", {}).get("priced", priced) == priced, got, "after", priced)
            if got["ok"] and "total" in got and "value" in got:
                key = str(json.loads(line).get("config"))
                same = abs(prices.setdefault(key, got["total"]) - got["total"]) < 1e-15
                check(same or key in ("best", "told"), key, prices[key], got)


def guided(graph, device, space, budget, model=None):
    """Our own proposals: copies move together, nothing is proposed twice, and a seed decides. Without a model they go
    by promises."""
    with vantage.Arena(graph, device=device, space=space, budget=budget, model=model) as arena:
        told, base, total, tried = arena.space(), arena.space()["default"], 0.0, set()
        first = arena.request("ask", how="guided", seed=3)
        check(first["by"] == (model or "promise"), first["by"])
        check(first["config"] == arena.ask("guided", seed=3) == arena.ask("guided", "default", seed=3),
              "one seed, two proposals")
        while arena.budget["left"]:
            there = arena.ask("guided", base)
            moved = [site for site, (a, b) in enumerate(zip(base, there)) if a != b]
            check(moved and len({(told["class"][site], base[site], there[site]) for site in moved}) == 1, "not copies:",
                  moved)
            check(len(moved) == sum((c, b) == (told["class"][moved[0]], base[moved[0]]) and there[moved[0]] < n
                                    for c, b, n in zip(told["class"], base, told["choices"])), "not all copies", moved)
            check((moved[0], there[moved[0]]) not in tried, "proposed again", moved)
            price = arena.price(there, base=base)
            tried.add((moved[0], there[moved[0]]))
            if price["outcome"] == "ok" and price["value"] < 0:
                base, total, tried = there, total + price["value"], set()
        named = ["--model", model] if model else []
        said = vantage.programs.run("search", "-q", "--json", "--device", device, "--space", space, "--graph", graph,
                                    "--budget", budget, "--out", "searched", *named, plugin=False)[1]
        searched = json.loads(said)["search"]
        check(total <= 0.5 * searched["curve"][-1]["delta"] < 0, "proposals saved", -total, "a search",
              -searched["curve"][-1]["delta"])
        arena.tell(base)
        arena.verdict()
        check(arena.ask("guided", base), "proposals are for ever")


def drain(peer):
    """Everything that is still sent, until the end."""
    text = b""
    try:
        while piece := peer.recv(1 << 16):
            text += piece
    except ConnectionError:
        pass
    return text


def stuff(path):
    """A client that asks for much and reads nothing, until nobody reads its requests any more, or for long."""
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    peer.setblocking(False)
    try:
        for _ in range(100):
            peer.send(b'{"do":"space"}\n' * 4000)
    except BlockingIOError:
        pass
    peer.setblocking(True)
    return peer


def mute(path, pid):
    """A client that reads late has all its answers; one that does not read keeps nobody waiting for ever."""
    with socket.socket(socket.AF_UNIX) as late:
        late.connect(path)
        late.sendall(b'{"do":"space"}\n' * 3000)  # the answers are more than a socket holds
        late.shutdown(socket.SHUT_WR)
        check(drain(late).count(b"\n") == 3000, "a late reader missed some")
    with stuff(path) as deaf:
        with vantage.Arena(connect=path) as arena:
            check(arena.price({0: 1})["outcome"] == "ok", "the next one is served")
        check(not drain(deaf).endswith(b"]}"), "it was served, though it did not read")
    with stuff(path):
        server = os.pidfd_open(pid)
        os.kill(pid, signal.SIGTERM)
        select.select([server], [], [])  # it ends, though somebody does not read


def hurt(path, times, seed):
    """Clients that ask and do not listen, or die within a line; the server serves the next one."""
    rng = random.Random(seed)
    for _ in range(times):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(path)
            text = b"".join(some_line(rng, 12) + b"\n" for _ in range(rng.randrange(5)))
            peer.sendall(text[:rng.randrange(len(text) + 1)])
    with vantage.Arena(connect=path) as arena:
        before = arena.budget["priced"]
        check(arena.price({0: 1})["budget"]["priced"] == before + 1, arena.budget)
        arena.request("quit")


if __name__ == "__main__":
    do, *rest = sys.argv[1:]
    {"session": session, "environment": environment, "fuzz": lambda n, s: fuzz(int(n), int(s)),
      "hurt": lambda p, n, s: hurt(p, int(n), int(s)), "guided": guided,
      "mute": lambda p, pid: mute(p, int(pid))}[do](*rest)
