#!/bin/bash
# Measures what compiling ahead is worth: evaluations of a search that has one core, and of one that has two.
#	bench/beside.sh [GRAPH...]
# SECONDS_EACH says how long each search looks (60), CORES which two cores there are (0,1), ROUNDS how often (2). The
# two take turns, one core first and then last, so that other work on the machine disturbs both alike. What opening and
# the verdict take does not count. The error is the median one of all prices, in seconds: more evaluations are worth
# nothing if each knows less.
set -u
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-bin} each=${SECONDS_EACH:-60} both=${CORES:-0,1} rounds=${ROUNDS:-2}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
[ $# -gt 0 ] || set -- examples/graphs/held-out/ranker.pb.zst examples/graphs/held-out/unet.pb.zst

# one CORES GRAPH SEED: prints "EVALUATIONS SECONDS ERROR" of a search on these cores.
one() {
	rm -rf "$dir/o" "$dir/db"*
	taskset -c "$1" "$bin/search" --space fusion --cores 1 --graph "$2" --seed "$3" --budget 100000 \
		--seconds "$each" --verdict-seconds 0.1 --drift-checks 0 --db "$dir/db" --out "$dir/o" --json \
		--quiet --wait >"$dir/json" || exit 1
	python3 - "$dir/json" <<-'EOF'
		import json, sys
		s = json.load(open(sys.argv[1]))["search"]
		print(s["evaluations"] - s["cached"], s["seconds"])
	EOF
	"$bin/store" query "$dir/db" --csv "SELECT se FROM trial WHERE se > 0 ORDER BY se LIMIT 1 OFFSET
		(SELECT count(*) / 2 FROM trial WHERE se > 0)" | tail -1
}

printf '%-20s %5s %12s %8s %12s %10s\n' program cores evaluations seconds a_second error
for graph; do
	name=$(basename "$graph" | sed 's/\..*//')
	for ((i = 1; i <= rounds; i++)); do
		order="${both%%,*} $both"
		[ $((i % 2)) = 1 ] || order="$both ${both%%,*}"
		for cores in $order; do
			one "$cores" "$graph" "$i" | tr '\n' ' ' | awk -v n="$name" -v c="$cores" '
				{ printf "%-20s %5s %12d %8.1f %12.2f %10.2e\n", n, c, $1, $2, $1 / $2, $3 }'
		done
	done
done
