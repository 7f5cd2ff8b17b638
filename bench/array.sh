#!/bin/bash
# array.sh [TASKS...]: what several collectors give that work side by side, as the tasks of a job array do.
# Each has a store and a seed of its own, and reads one merged store as its cache (--cache), as examples/slurm does it.
# A fake plugin whose compiling only sleeps lets one machine show what as many would do. Prints, for each number of
# tasks (1 2 4 8 16): samples, regions measured a second by one task, and this as a share of what one task alone has
# (samples have very different numbers of regions); then what the merged store is worth, the share of regions that a
# further task finds in it. SLOW: seconds of one compilation (0.5). SECONDS_EACH: how long each run samples (40).
set -u
cd "$(dirname "$0")/.." || exit 1
bin=$(realpath "${BIN:-bin}") plugin=$(realpath "${B:-build/release}/tests/fake_plugin.so")
slow=${SLOW:-0.5} each=${SECONDS_EACH:-40} graph=$(realpath examples/graphs/held-out/ranker.pb.zst)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME=$dir/cache FAKE_PLUGIN="fake:any=1;spread=40;slow=$(awk "BEGIN { print int(1000 * $slow) }")"
number() { grep -oE "\"$1\":[-0-9.e]+" "$2" | head -1 | cut -d: -f2; }

# task NUMBER SECONDS NAME: one collector; its cores are its own, as on a machine of its own.
task() {
	mkdir -p "$dir/$3.run"
	VANTAGE_LOCK_DIR=$dir/$3.run "$bin/collect" --db "$dir/$3.db" ${cache:+--cache "$cache"} --graph "$graph" \
		--device "$plugin" --start default --no-anchors --seed "$1" --seconds "$2" --jobs 0 --json --quiet \
		>"$dir/$3.json" 2>"$dir/$3.err" || { cat "$dir/$3.err" >&2; exit 1; }
}

task 1000 1 open # what the first probes find is then known to all
cache=$dir/open.db
opening=$(number opening_seconds "$dir/open.json")
printf '%6s %8s %14s %10s\n' tasks samples 'a second, each' efficiency
for n in ${@:-1 2 4 8 16}; do
	for ((i = 1; i <= n; i++)); do
		task $((100 * n + i)) "$(awk "BEGIN { print $each + $opening }")" "t$n.$i" &
	done
	wait
	for ((i = 1; i <= n; i++)); do
		f=$dir/t$n.$i.json
		echo "$(number samples "$f") $(number regions "$f") $(number cached_share "$f") $(number seconds "$f")"
	done | awk -v n="$n" -v file="$dir/alone" '
		{ samples += $1; rate += $2 * (1 - $3) / $4 }
		END {
			if ((getline alone <file) <= 0) { alone = rate / n; print alone >file }
			printf "%6d %8d %14.2f %9.0f%%\n", n, samples, rate / n, 100 * rate / n / alone }'
	last=$n
done
for ((i = 1; i <= last; i++)); do "$bin/store" merge "$dir/merged.db" "$dir/t$last.$i.db" >/dev/null || exit 1; done
cache=$dir/merged.db
task 9999 "$(awk "BEGIN { print $each + $opening }")" further
awk -v share="$(number cached_share "$dir/further.json")" -v rate="$(number samples_per_second "$dir/further.json")" \
	'BEGIN { printf "a further task finds %.0f%% of its regions in the merged store: %.2f samples a second\n",
		100 * share, rate }'
