#!/bin/bash
# Searches layouts of the eight steps of bench/shard_steps.py on three meshes.
#	bench/shard.sh DIR [LABELS] [MACHINE]	DIR: where shard_steps.py wrote the steps
# Prints a row for each program and mesh: the best layout made by hand, what a search found, and after how many labels.
# A label is one program that is partitioned and priced; those of the layouts made by hand count. The last column is
# another search, with 100 labels, which knows no layout made by hand: how far its result is above the best by hand.
set -u
dir=${1:?where shard_steps.py wrote the programs} labels=${2:-300} machine=${3:-v5e}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
by_hand=9
run() { # MESH PROGRAM LABELS START
	bin/search --space shard --mesh "$1" --device "pod:$machine" --graph "$2" --budget $(($3 - by_hand)) \
		--start "$4" --wait \
		--quiet --json --out "$out/r" --deadline 600
}
echo "| program | mesh | best by hand | its step | found | less | labels | from nothing, 100 labels |"
echo "|---|---|---|---|---|---|---|---|"
for mesh in 4 2x2 4x4; do
	for program in "$dir"/*.pb; do
		run "$mesh" "$program" "$labels" default >"$out/a" && run "$mesh" "$program" 100 none >"$out/b" ||
			continue
		python3 - "$program" "$mesh" "$out/a" "$out/b" "$by_hand" <<'END'
import json, os, sys
program, mesh, a, b, by_hand = sys.argv[1:]
a, b = json.load(open(a)), json.load(open(b))
rows = {r["name"]: r for r in a["by_hand"]}
best, found = rows[a["best_by_hand"]]["cost"], rows["found"]["cost"]
last = a["search"]["curve"][-1]["evaluation"] if a["search"]["curve"] else 0
nothing = {r["name"]: r for r in b["by_hand"]}["found"]["cost"]
print(f"| {os.path.basename(program)[:-3]} | {mesh} | {a['best_by_hand']} | {1e6 * best:.1f} us | "
      f"{1e6 * found:.1f} us | {100 * (1 - found / best):.1f}% | {last + int(by_hand)} | "
      f"{100 * (nothing / best - 1):+.1f}% |", flush=True)
END
	done
done
