# await.sh - waits for events; test scripts source it. Nothing here gives up by the clock, because no time is long
# enough on every machine. tests/run ends a test that hangs.

# await PID COMMAND...: waits until the command succeeds, or until the process has ended. 0 when it succeeded.
await() {
	local pid=$1
	shift
	until "$@"; do
		kill -0 "$pid" 2>/dev/null || { "$@"; return; }
		sleep 0.02
	done
}

# Sleeps for a random time, up to so many milliseconds. A test must hold whatever happened meanwhile.
random_moment() {
	local d=$((RANDOM % $1))
	sleep $((d / 1000)).$(printf %03d $((d % 1000)))
}

waits_for_a_lock() { grep -qE -- "-> FLOCK +[A-Z]+ +[A-Z]+ +$1 " /proc/locks; } # PID
is_locked() { [ -e "$1" ] && grep -qE "FLOCK .*:$(stat -c %i "$1") " /proc/locks; } # FILE
