#!/bin/bash
# The examples for Slurm on a real one: munged, slurmctld and slurmd run on this machine as one node, in a folder of
# their own. A job array collects over a graph, twice, with a merge after each; then everything is stopped. Installs
# Debian's packages if they are missing, and is skipped if that is not possible.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/await.sh
. tests/script.sh
. tests/slurm.sh
bin=$(realpath "${BIN:-bin}") examples=$PWD/examples
[ -x "$bin/collect" ] && [ -x "$bin/store" ] || skip "the programs are not built"
slurm_begin "$(nproc)"

logs() { tail -n 3 "$dir"/work/*.log | tr '\n' ' '; }
query() { "$bin/store" query "$1" "$2" --csv 2>&1 | tail -n +2; }
mkdir "$dir/graphs" && cp examples/graphs/tiny/{loop,chain}.pb.zst "$dir/graphs"
cd "$dir/work" || exit 1
mkdir "$dir/tmp"
export TMPDIR=$dir/tmp # of the jobs, too: sbatch passes the environment on
export VANTAGE=$bin SECONDS_EACH=36000 NAME=night
night() { # samples of each task
	id=$(sbatch --parsable --array=0-2 "$examples/slurm/collect.sbatch" "$dir/results" "$dir/graphs" --device sim \
		--samples "$1") || fail "sbatch"
	merge=$(sbatch --parsable --dependency=afterany:"$id" "$examples/slurm/merge.sbatch" "$dir/results") ||
		fail "sbatch of the merge"
	wait_for "$id" && wait_for "$merge" || fail "the controller ended before the jobs"
}
merged=$dir/results/night.sqlite
night 40
[ "$(ls "$dir/results/shards")" = "$(printf 'night-%d.sqlite\n' 0 1 2)" ] ||
	fail "shards: $(ls "$dir/results/shards"); $(logs)"
[ "$(query "$merged" 'SELECT count(*) FROM sample')" = 120 ] ||
	fail "merged $(query "$merged" 'SELECT count(*) FROM sample'); $(logs)"
[ "$(query "$merged" 'SELECT count(DISTINCT seed) FROM run')" = 3 ] || fail "seeds"
"$bin/store" verify "$merged" >/dev/null || fail "unsound"
done_ array_and_merge
[ $failed -eq 0 ] || exit 1

facts() { # CONDITION
	query "$merged" "SELECT r.seed, s.id % (1 << 32), s.chain, s.site, s.chosen FROM sample s
		JOIN run r ON r.id = s.id >> 32 WHERE $1 ORDER BY 1, 2"
}
facts true >first
night 20
[ "$(query "$merged" 'SELECT count(*) FROM sample')" = 180 ] ||
	fail "merged $(query "$merged" 'SELECT count(*) FROM sample'); $(logs)"
[ "$(query "$merged" 'SELECT count(*) FROM run')" = 3 ] || fail "$(query "$merged" 'SELECT count(*) FROM run') runs"
facts "s.id % (1 << 32) < 40" | cmp -s - first || fail "the first night changed"
"$bin/store" verify "$merged" >/dev/null || fail "unsound"
done_ second_night

# A job that is told to stop early still copies its shard back.
id=$(sbatch --parsable --array=7 "$examples/slurm/collect.sbatch" "$dir/results" "$dir/graphs" --device sim)
samples_are_made() { # the shard is in a folder of the job's own until it ends
	local db
	for db in "$TMPDIR"/*/shard.sqlite; do
		[ -e "$db" ] && [ "$(query "$db" 'SELECT count(*) FROM sample')" -gt 0 ] 2>/dev/null && return
	done
	return 1
}
await "$controller" samples_are_made || fail "no sample of the third night"
scancel --batch --signal=TERM "$id"
wait_for "$id" || fail "the controller ended before the job"
n=$(query "$dir/results/shards/night-7.sqlite" 'SELECT count(*) FROM sample')
case $n in ''|0|*[!0-9]*) fail "no samples came back: $n; $(logs)" ;; esac
[ "$(query "$dir/results/shards/night-7.sqlite" 'SELECT state FROM stint')" = stopped ] || fail "not ended cleanly"
# (A reader of a shard leaves an empty log beside it.)
[ -z "$(ls "$dir/results/shards" | grep -vE '^night-[0-9].sqlite(-shm|-wal)?$')" ] ||
	fail "leftovers: $(ls "$dir/results/shards")"
done_ told_to_stop
exit $failed
