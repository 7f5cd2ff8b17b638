#!/bin/bash
# Measures what more programs, and more decisions of each, are worth to the learners: the programs of a store are left
# out in five parts, and models are trained on some of the others.
#
#	bench/learning_curve.sh DB [SEEDS [OPTIONS OF LEARN...]]
#
# Prints a row per number of programs (all decisions of each), then a row per number of decisions of each (all
# programs): means over programs and seeds.
set -u
cd "$(dirname "$0")/.." || exit 1
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//; 2,8p' "$0"; exit 1; }
db=$1 seeds=${2:-3}
shift $(($# > 2 ? 2 : $#))
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

row() { # NAME OPTIONS...
	local name=$1 seed
	shift
	for seed in $(seq "$seeds"); do
		"${BIN:-bin}/learn" --db "$db" -q --leave-one-out --parts 5 --json --seed "$seed" "$@" \
			>"$tmp/$seed" || exit 1
	done
	python3 - "$name" "$tmp"/[0-9]* <<'PY'
import json, statistics, sys
figures = (lambda m: m["gain"][2], lambda m: m["recall"][2], lambda m: m["spearman"])
cells = []
for f in figures:
    values = [f(g["model"]) for path in sys.argv[2:] for g in json.load(open(path))["graphs"] if g["graph"] != "mean"]
    cells.append(f"{100 * statistics.mean(v for v in values if v is not None):.1f}")
print("|", " | ".join([sys.argv[1], *cells]), "|", flush=True)
PY
}

echo "| | gain@10% | recall@10% | Spearman |"
echo "|---|---|---|---|"
for n in 3 6 10 20 30 0; do
	row "$([ "$n" = 0 ] && echo "all the others" || echo "$n programs")" --programs "$n" "$@"
done
for n in 10 20 40; do
	row "$n decisions of each" --limit "$n" "$@"
done
