#!/bin/bash
# Searches layouts of the eight steps of bench/shard_steps.py on three meshes.
#	bench/shard.sh DIR [LABELS] [MACHINE]	DIR: where shard_steps.py (or shard_unseen.py) wrote the steps
# MESHES and PROGRAMS in the environment choose among them, MODEL names another model than the one shipped, or none.
# If KEEP names a folder, results are left there, and those that are there already are not made anew.
# Prints a row for each program and mesh: the best layout made by hand, what a search found, and after how many labels.
# A label is one program that is partitioned and priced; those of the layouts made by hand count. The last column is
# another search, with 100 labels, which knows no layout made by hand: how far its result is above the best by hand.
# Nothing is run here; shard_numbers.py compares the numbers of the answers.
set -u
dir=${1:?where shard_steps.py wrote the programs} labels=${2:-300} machine=${3:-v5e}
out=${KEEP:-$(mktemp -d)} || exit 1
mkdir -p "$out"
[ -n "${KEEP:-}" ] || trap 'rm -rf "$out"' EXIT
by_hand=10
run() { # NAME MESH PROGRAM LABELS START
	[ -s "$out/$1.json" ] && return
	bin/search --space shard --mesh "$2" --device "pod:$machine" --graph "$3" --budget $(($4 - by_hand)) \
		--start "$5" ${MODEL:+--model "$MODEL"} --unverified --wait --quiet --json --out "$out/$1" \
		--deadline 600 >"$out/$1.new" &&
		mv "$out/$1.new" "$out/$1.json"
}
echo "| program | mesh | best by hand | its step | found | less | labels | from nothing, 100 labels |"
echo "|---|---|---|---|---|---|---|---|"
for mesh in ${MESHES:-4 2x2 4x4}; do
	for program in ${PROGRAMS:-$(cd "$dir" && ls -- *.pb)}; do
		program=${program%.pb} a=${program%.pb}.$mesh.default b=${program%.pb}.$mesh.none
		run "$a" "$mesh" "$dir/$program.pb" "$labels" default && run "$b" "$mesh" "$dir/$program.pb" 100 none ||
			continue
		python3 - "$program" "$mesh" "$out/$a.json" "$out/$b.json" "$by_hand" <<'END'
import json, sys
program, mesh, a, b, by_hand = sys.argv[1:]
a, b = json.load(open(a)), json.load(open(b))
rows = {r["name"]: r for r in a["by_hand"]}
best = rows[a["best_by_hand"]]["cost"]
def end(told): # of the curve: what is taken back afterwards takes labels that are not counted
    last = told["search"]["curve"][-1] if told["search"]["curve"] else {"evaluation": 0, "delta": 0}
    return last["evaluation"], told["search"]["default_seconds"] + last["delta"]
(last, found), (_, nothing) = end(a), end(b)
print(f"| {program} | {mesh} | {a['best_by_hand']} | {1e6 * best:.1f} us | "
      f"{1e6 * found:.1f} us | {100 * (1 - found / best):.1f}% | {last + int(by_hand)} | "
      f"{100 * (nothing / best - 1):+.1f}% |", flush=True)
END
	done
done
