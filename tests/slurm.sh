# slurm.sh - starts a real Slurm on this machine: munged, slurmctld and slurmd as one node, in a folder of their own.
# Scripts source it from the root of the tree, after await.sh. It installs Debian's packages if they are missing.
# slurm_begin CPUS gives the node so many processors, whatever the machine has; it sets dir and controller. When the
# script ends, everything is stopped and removed again.

skip() { echo "skip: slurm: $*"; exit 0; }
slurm_end() {
	for p in $pids $(cat "$dir/munged.pid" 2>/dev/null); do
		kill "$p" 2>/dev/null
		for _ in $(seq 50); do kill -0 "$p" 2>/dev/null || break; sleep 0.1; done
		kill -9 "$p" 2>/dev/null
	done
	rm -rf "$dir"
	[ -z "$installed" ] || [ -n "${KEEP_SLURM:-}" ] ||
		DEBIAN_FRONTEND=noninteractive timeout 120 apt-get purge -y --autoremove $installed >/dev/null 2>&1
}
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])' 2>/dev/null ||
	echo $((20000 + RANDOM % 20000)); }
node_is_up() { sinfo -h -o %T 2>/dev/null | grep -qE 'idle|mix'; }
up_or_lost() { node_is_up || ! kill -0 "$node" 2>/dev/null; }

slurm_begin() {
	export PATH=$PATH:/usr/sbin:/sbin
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
	trap slurm_end EXIT
	trap 'exit 1' INT TERM
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
SlurmdParameters=config_overrides
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
	slurmctld -D >/dev/null 2>&1 & controller=$!
	slurmd -D >/dev/null 2>&1 & node=$!
	pids="$node $controller"
	await "$controller" up_or_lost && node_is_up ||
		skip "the node does not come up: $(tail -2 "$dir/slurmctld.log" "$dir/slurmd.log" | tr '\n' ' ')"
}

# wait_for JOB: until it and its array are gone from the queue.
has_ended() { local left; left=$(squeue -h -j "$1" 2>&1) && [ -z "$left" ] || [[ $left = *"Invalid job id"* ]]; }
wait_for() {
	await "$controller" has_ended "$1" || return 1
}
