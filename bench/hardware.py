#!/usr/bin/env python3
"""Compares what a compiler estimates of single decisions with what the hardware takes.

    bench/hardware.py draw FLIPS.json [--target cuda:h100] [--flips 30] [--seed 1] GRAPH...
    bench/hardware.py measure FLIPS.json [--device cuda] [--how usual] [--seconds 300]
    bench/hardware.py table FLIPS.json...

Where there is no hardware, `draw` prices single flips of the default by the compiler's own model: six times as many as
are wanted, at random. It keeps the third that the model likes best, the third that it likes least, and a third of the
others. Where there is hardware, `measure` prices the same flips there. Both sides open the program by themselves, and
the compiler may lower matrix products in another way where it can try kernels. So a flip is found again by the name of
its instruction, among sites with as many choices and the same default; the others are counted as strange. Each price is
written as it comes, and what has one is not measured again.

In the table, `rho` is Spearman's rank correlation over the flips of a program, and `sure` counts those that are further
from nothing than two standard errors: how many have the sign that was estimated, and how many there are.
"""
import argparse
import json
import pathlib
import random
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
import vantage  # noqa: E402

DRAWN = 6  # flips that are estimated for one that is kept


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__.split("\n", 2)[2],
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    do = p.add_subparsers(dest="do", required=True)
    draw, measure, table = (do.add_parser(name) for name in ("draw", "measure", "table"))
    for one in draw, measure:
        one.add_argument("file", type=pathlib.Path)
    draw.add_argument("graphs", type=pathlib.Path, nargs="+", metavar="GRAPH")
    draw.add_argument("--target", default="cuda:h100")
    draw.add_argument("--flips", type=int, default=30)
    draw.add_argument("--seed", type=int, default=1)
    measure.add_argument("--device", default="cuda")
    measure.add_argument("--seconds", type=float, default=300, help="for all programs together, in equal shares")
    measure.add_argument("--how", choices=("usual", "again", "whole"), default="usual",
                         help="by regions, by regions with more precision, or by whole programs")
    table.add_argument("files", type=pathlib.Path, nargs="+", metavar="file")
    return p.parse_args()


def write(path, said):
    path.with_suffix(".new").write_text(json.dumps(said))
    path.with_suffix(".new").rename(path)


def priced(arena, site, choice, how=None):
    """The price of a flip as [value, standard error], or None where there is none."""
    price = arena.price({site: choice}, how=how)
    return [price["value"], price["se"]] if price["outcome"] == "ok" else None


def kept(flips, wanted, rng):
    """Of flips in the order of their estimates: a third from each end, and a third of the others."""
    third = wanted // 3
    if len(flips) <= wanted:
        return flips
    return flips[:third] + flips[-third:] + rng.sample(flips[third:-third], wanted - 2 * third)


def draw_one(o, graph):
    rng = random.Random(o.seed)
    with vantage.Arena(graph, device=o.target) as arena:
        space = arena.space()
        every = [(site, choice) for site, n in enumerate(space["choices"]) for choice in range(n)
                 if choice != space["default"][site]]
        flips = []
        for site, choice in rng.sample(every, min(len(every), DRAWN * o.flips)):
            price = priced(arena, site, choice)
            if price:
                flips.append({"name": space["name"][site], "choices": space["choices"][site],
                              "default": space["default"][site], "choice": choice, "estimate": price[0]})
        flips = kept(sorted(flips, key=lambda flip: flip["estimate"]), o.flips, rng)
        return {"graph": str(graph), "target": o.target, "estimate": arena.about["default"], "flips": flips}


def measure_one(o, program, seconds, keep):
    """Prices a program's flips until its time is over."""
    with vantage.Arena(program["graph"], device=o.device) as arena:
        space, until = arena.space(), time.time() + seconds
        site = {(name, n, default): i
                for i, (name, n, default) in enumerate(zip(space["name"], space["choices"], space["default"]))}
        program["measured"], program["device"] = arena.about["default"], o.device
        flips = program["flips"][:]
        random.Random(1).shuffle(flips)  # so that few are of each sort
        for flip in flips:
            where = site.get((flip["name"], flip["choices"], flip["default"]))
            flip["strange"] = where is None
            if where is None or "measured" in flip:
                continue
            if time.time() > until:
                break
            flip["measured"] = priced(arena, where, flip["choice"], o.how)
            keep()


def ranks(values):
    """Places in order, from 0; equal values share theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    out, i = [0.0] * len(values), 0
    while i < len(order):
        k = i
        while k + 1 < len(order) and values[order[k + 1]] == values[order[i]]:
            k += 1
        for j in order[i:k + 1]:
            out[j] = (i + k) / 2
        i = k + 1
    return out


def spearman(x, y):
    x, y = ranks(x), ranks(y)
    mean = (len(x) - 1) / 2
    across = sum((a - mean) * (b - mean) for a, b in zip(x, y))
    own = [sum((a - mean) ** 2 for a in v) for v in (x, y)]
    return across / (own[0] * own[1]) ** 0.5 if own[0] and own[1] else float("nan")


def row(program):
    flips = [flip for flip in program["flips"] if flip.get("measured")]
    if len(flips) < 3:
        return None
    estimated, measured = [f["estimate"] for f in flips], [f["measured"][0] for f in flips]
    sure = [f for f in flips if abs(f["measured"][0]) > 2 * f["measured"][1] and f["estimate"]]
    liked = sorted(flips, key=lambda f: f["estimate"])[:len(flips) // 3]
    return (pathlib.Path(program["graph"]).name.split(".")[0], len(flips),
            sum(bool(f.get("strange")) for f in program["flips"]), 1e6 * program["estimate"],
            1e6 * program["measured"], spearman(estimated, measured),
            f"{sum((f['estimate'] < 0) == (f['measured'][0] < 0) for f in sure)} of {len(sure)}",
            100 * sum(f["estimate"] for f in liked) / program["estimate"],
            100 * sum(f["measured"][0] for f in liked) / program["measured"])


def table(programs):
    print(f"{'program':22} {'flips':>5} {'strange':>7} {'default: estimated':>18} {'measured':>9} {'rho':>5} "
          f"{'sure':>9} {'best third: estimated':>21} {'measured':>8}")
    rows = [r for r in map(row, programs) if r]
    for r in rows:
        print("{:22} {:5} {:7} {:15.1f} us {:6.1f} us {:5.2f} {:>9} {:20.1f}% {:7.1f}%".format(*r))
    if rows:
        print(f"mean rho of {len(rows)} programs: {sum(r[5] for r in rows) / len(rows):.2f}")


def main():
    o = options()
    if o.do == "draw":
        programs = []
        for graph in o.graphs:
            programs.append(draw_one(o, graph))
            print(f"{graph}: {len(programs[-1]['flips'])} flips", file=sys.stderr)
            write(o.file, programs)
    elif o.do == "measure":
        programs = json.loads(o.file.read_text())
        for program in programs:
            try:
                measure_one(o, program, o.seconds / len(programs), lambda: write(o.file, programs))
            except vantage.Refused as why:
                print(f"{program['graph']}: {why}", file=sys.stderr)
        write(o.file, programs)
        table(programs)
    else:
        table([program for path in o.files for program in json.loads(path.read_text())])


if __name__ == "__main__":
    main()
