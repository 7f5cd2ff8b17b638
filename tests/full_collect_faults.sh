#!/bin/bash
# What takes longer to go wrong than check_collect.sh has time for: a store locked by another program, and
# a disk that is full. One sentence each, and everything stored is still there.
# needs: space/toy
set -u
. tests/script.sh
bin=$(realpath "${BIN:-bin}")
collect=$bin/collect store=$bin/store
dir=$(mktemp -d) || exit 1
trap 'umount "$dir/small" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
run() { "$collect" --device none --graph toy:12:3:1 "$@" >out 2>talk; rc=$?; }
wants() {
	[ $rc -eq 1 ] && [ "$(wc -l <talk)" -eq 1 ] && grep -qE "^collect: .*$1" talk ||
		fail "status $rc, no \"$1\" in: $(cat talk)"
}
count() { "$store" query "$1" 'SELECT count(*) FROM sample' --csv | tail -1; }

if command -v sqlite3 >/dev/null; then
	run --db a --samples 30
	mkfifo pipe answer
	sqlite3 a <pipe >answer 2>&1 & pid=$!
	exec 9>pipe 8<answer
	echo 'BEGIN IMMEDIATE; SELECT 1;' >&9
	read -r locked <&8
	[ "$locked" = 1 ] || fail "sqlite3 says $locked"
	run --db a --samples 30
	wants 'a .*(locked|in use|busy)'
	exec 9>&-
	wait $pid
	[ "$(count a)" -eq 30 ] && "$store" verify a >/dev/null || fail "samples lost"
	run --db a --samples 30
	[ $rc -eq 0 ] && [ "$(count a)" -eq 60 ] || fail "does not go on: $(cat talk)"
	done_ locked_by_another_program
else
	echo "skip: locked_by_another_program: no sqlite3"
fi

mkdir small
if mount -t tmpfs -o size=400k none small 2>/dev/null; then
	run --db small/b
	wants 'full|disk'
	n=$(count small/b)
	[ "$n" -gt 0 ] && "$store" verify small/b >/dev/null || fail "samples lost: $n"
	mount -o remount,size=4m small && run --db small/b --samples 30
	[ $rc -eq 0 ] && [ "$(count small/b)" -eq $((n + 30)) ] || fail "does not go on: $(cat talk)"
	done_ disk_full
else
	echo "skip: disk_full: may not mount a small disk"
fi
exit $failed
