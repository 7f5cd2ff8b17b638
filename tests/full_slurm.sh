#!/bin/bash
# The examples for Slurm on a real one: munged, slurmctld and slurmd run on this machine as one node, in a folder of
# their own. A job array collects over a graph, twice, with a merge after each; then everything is stopped. Installs
# Debian's packages if they are missing, and is skipped if that is not possible.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/await.sh
. tests/script.sh
bin=$(realpath "${BIN:-bin}") examples=$PWD/examples
skip() { echo "skip: slurm: $*"; exit 0; }
export PATH=$PATH:/usr/sbin:/sbin
[ -x "$bin/collect" ] && [ -x "$bin/store" ] || skip "the programs are not built"
[ "$(id -u)" -eq 0 ] || skip "slurmd runs as root only"
installed=
if ! command -v slurmctld slurmd munged sbatch >/dev/null || ! command -v scontrol >/dev/null; then
	command -v apt-get >/dev/null || skip "no Slurm here, and no apt to install it"
	# Debian starts what it installs; this says no to that.
	policy=/usr/sbin/policy-rc.d
	[ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy && made_policy=1; }
	missing=$(for p in slurmctld slurmd slurm-client munge; do dpkg -s $p >/dev/null 2>&1 || echo $p; done)
	installed=$missing
	DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y --no-install-recommends $missing >/dev/null 2>&1
	rc=$?
	[ -n "${made_policy:-}" ] && rm -f $policy
	[ $rc -eq 0 ] || skip "Slurm cannot be installed"
fi
dir=$(mktemp -d /tmp/slurm.XXXXXX) || exit 1
pids=
finish() {
	for p in $pids $(cat "$dir/munged.pid" 2>/dev/null); do
		kill "$p" 2>/dev/null
		for _ in $(seq 50); do kill -0 "$p" 2>/dev/null || break; sleep 0.1; done
		kill -9 "$p" 2>/dev/null
	done
	rm -rf "$dir"
	[ -z "$installed" ] || [ -n "${KEEP_SLURM:-}" ] ||
		DEBIAN_FRONTEND=noninteractive timeout 120 apt-get purge -y --autoremove $installed >/dev/null 2>&1
}
trap finish EXIT
trap 'exit 1' INT TERM
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])' 2>/dev/null ||
	echo $((20000 + RANDOM % 20000)); }

chmod 755 "$dir"
mkdir -m 711 "$dir/munge" "$dir/spool" "$dir/state" "$dir/work"
head -c 128 /dev/urandom >"$dir/key" && chmod 600 "$dir/key"
munged --key-file="$dir/key" --socket="$dir/munge/socket" --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" \
	--seed-file="$dir/munge.seed" --force >/dev/null 2>&1 ||
		skip "munged does not start: $(tail -1 "$dir/munged.log" 2>/dev/null)"
export SLURM_CONF=$dir/slurm.conf
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CryptoType=crypto/munge
SlurmctldPort=$(port)
SlurmdPort=$(port)
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,defer=0
MpiDefault=none
ReturnToService=2
KillWait=10
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
slurmctld -D >/dev/null 2>&1 & controller=$!
slurmd -D >/dev/null 2>&1 & node=$!
pids="$node $controller"
node_is_up() { sinfo -h -o %T 2>/dev/null | grep -qE 'idle|mix'; }
up_or_lost() { node_is_up || ! kill -0 "$node" 2>/dev/null; }
await "$controller" up_or_lost && node_is_up ||
	skip "the node does not come up: $(tail -2 "$dir/slurmctld.log" "$dir/slurmd.log" | tr '\n' ' ')"

has_ended() { local left; left=$(squeue -h -j "$1" 2>&1) && [ -z "$left" ] || [[ $left = *"Invalid job id"* ]]; }
wait_for() { # job: until it and its array are gone from the queue
	await "$controller" has_ended "$1" || fail "the controller ended before job $1"
}
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
	wait_for "$id"
	wait_for "$merge"
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
wait_for "$id"
n=$(query "$dir/results/shards/night-7.sqlite" 'SELECT count(*) FROM sample')
case $n in ''|0|*[!0-9]*) fail "no samples came back: $n; $(logs)" ;; esac
[ "$(query "$dir/results/shards/night-7.sqlite" 'SELECT state FROM stint')" = stopped ] || fail "not ended cleanly"
# (A reader of a shard leaves an empty log beside it.)
[ -z "$(ls "$dir/results/shards" | grep -vE '^night-[0-9].sqlite(-shm|-wal)?$')" ] ||
	fail "leftovers: $(ls "$dir/results/shards")"
done_ told_to_stop
exit $failed
