#!/bin/bash
# slurm.sh [TASKS...]: what the tasks of a job array give that collect side by side on a real Slurm.
# tests/slurm.sh starts one here, as one node with as many processors as the largest array has tasks. The arrays and
# merges are those of examples/slurm. A fake plugin whose compiling only sleeps lets one machine show what as many
# would do. Prints, for each number of tasks (1 2 4 8 16): regions measured by all, seconds from submitting the array
# until its shards are merged, regions a second and task, and this as a share of what one task alone has.
# SLOW: seconds of one compilation (2). SECONDS_EACH: how long each task collects, without opening the program (60).
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/await.sh
. tests/slurm.sh
bin=$(realpath "${BIN:-bin}") examples=$PWD/examples plugin=$(realpath "${B:-build/release}/tests/fake_plugin.so")
slow=${SLOW:-2} each=${SECONDS_EACH:-60} graph=$(realpath examples/graphs/held-out/ranker.pb.zst)
sizes=${*:-1 2 4 8 16}
slurm_begin "$(tr ' ' '\n' <<<"$sizes" | sort -n | tail -1)"
mkdir "$dir/bin" "$dir/graphs" "$dir/tmp" && cp "$graph" "$dir/graphs" && cd "$dir/work" || exit 1
# Each task has cores of its own, as on a machine of its own: locks are in a folder of the task.
for verb in collect store; do
	printf '#!/bin/sh\nexport VANTAGE_LOCK_DIR=%s/tmp/run.$SLURM_JOB_ID\n' "$dir" >"$dir/bin/$verb"
	echo 'mkdir -p $VANTAGE_LOCK_DIR' >>"$dir/bin/$verb"
	printf 'exec %s/%s "$@"\n' "$bin" "$verb" >>"$dir/bin/$verb"
	chmod +x "$dir/bin/$verb"
done
export XDG_CACHE_HOME=$dir/cache TMPDIR=$dir/tmp VANTAGE=$dir/bin
export FAKE_PLUGIN="fake:any=1;spread=40;slow=$(awk "BEGIN { print int(1000 * $slow) }")"
options=(--device "$plugin" --start default --no-anchors --jobs 0 --json --quiet)

# array TASKS NAME: an array and its merge; prints the seconds from the first until the end of the second.
array() {
	local begun=$EPOCHREALTIME id merge
	export NAME=$2
	id=$(sbatch --parsable --array="0-$(($1 - 1))" "$examples/slurm/collect.sbatch" "$dir/$2" "$dir/graphs" \
		"${options[@]}") || exit 1
	merge=$(sbatch --parsable --dependency=afterany:"$id" "$examples/slurm/merge.sbatch" "$dir/$2") || exit 1
	wait_for "$merge" || exit 1
	awk "BEGIN { print $EPOCHREALTIME - $begun }"
}

regions() { # STORE...: of all, each counted as often as it was measured
	local n=0
	for f; do n=$((n + $("$bin/store" query "$f" 'SELECT count(*) FROM region' --csv | tail -1))); done
	echo $n
}

export SECONDS_EACH=1
array 1 open >/dev/null # what the first probes find is then known to all
opening=$(grep -ohE '"opening_seconds":[0-9.]+' "$dir"/work/collect-*.log | head -1 | cut -d: -f2)
export SECONDS_EACH=$(awk "BEGIN { print int($each + ${opening:-0}) + 1 }")
printf '%6s %8s %8s %14s %10s\n' tasks regions seconds 'a second, each' efficiency
for n in $sizes; do
	seconds=$(array "$n" "t$n") || exit 1
	found=$(regions "$dir/t$n/shards/"*.sqlite)
	awk -v n="$n" -v found="$found" -v seconds="$seconds" -v file="$dir/alone" 'BEGIN {
		rate = found / n / seconds
		if ((getline alone <file) <= 0) { alone = rate; print alone >file }
		printf "%6d %8d %8.1f %14.3f %9.0f%%\n", n, found, seconds, rate, 100 * rate / alone }'
done
