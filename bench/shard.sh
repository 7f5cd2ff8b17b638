#!/bin/bash
# The eight steps of bench/shard_steps.py on three meshes: the best layout by hand, what a search found, and by how many labels.
#	bench/shard.sh DIR [LABELS] [MACHINE]	DIR: where shard_steps.py wrote them; a row for each program and mesh on standard output
# A label is one program partitioned and priced; those of the layouts by hand count. The second figure of a row is a search
# that begins with nothing laid out, and 100 labels: how far it ends above the best by hand.
set -u
dir=${1:?where shard_steps.py wrote the programs} labels=${2:-300} machine=${3:-v5e}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
by_hand=9
run() { # MESH PROGRAM LABELS START
	bin/search --space shard --mesh "$1" --device "pod:$machine" --graph "$2" --budget $(($3 - by_hand)) --start "$4" --wait \
		--quiet --json --out "$out/r" --deadline 600
}
echo "| program | mesh | best by hand | its step | found | less | labels | from nothing, 100 labels |"
echo "|---|---|---|---|---|---|---|---|"
for mesh in 4 2x2 4x4; do
	for program in "$dir"/*.pb; do
		run "$mesh" "$program" "$labels" default >"$out/a" && run "$mesh" "$program" 100 none >"$out/b" || continue
		python3 - "$program" "$mesh" "$out/a" "$out/b" "$by_hand" <<'END'
import json, os, sys
program, mesh, a, b, by_hand = sys.argv[1:]
a, b = json.load(open(a)), json.load(open(b))
rows = {r["name"]: r for r in a["by_hand"]}
best, found = rows[a["best_by_hand"]]["cost"], rows["found"]["cost"]
last = a["search"]["curve"][-1]["evaluation"] if a["search"]["curve"] else 0
nothing = {r["name"]: r for r in b["by_hand"]}["found"]["cost"]
print(f"| {os.path.basename(program)[:-3]} | {mesh} | {a['best_by_hand']} | {1e6 * best:.1f} us | {1e6 * found:.1f} us | "
      f"{100 * (1 - found / best):.1f}% | {last + int(by_hand)} | {100 * (nothing / best - 1):+.1f}% |", flush=True)
END
	done
done
