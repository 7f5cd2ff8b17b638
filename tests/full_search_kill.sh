#!/bin/bash
# search with the real plugin is killed with -9 at random moments, again and again, and resumed. Every evaluation stays
# in the store and counts, no kept step is lost, and the folder holds no broken file. In the end there is one sound run,
# and an answer. The kind is named: without it, a program in which rewriting promises something has two searches.
#
# On a device with noise no two searches are the same; check_search.sh compares them where there is none.
set -u
. tests/await.sh
bin=$(realpath "${BIN:-bin}")
search=$bin/search store=$bin/store
graphs=$(realpath examples/graphs/tiny)
kills=${KILLS:-$([ -n "${LONG_TESTS:-}" ] && echo 8 || echo 5)} core=${CORE:-0}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir
"$bin/inspect" --device cpu "$graphs/chain.pb.zst" >/dev/null 2>&1 || { echo "skip: search_kill: no plugin"; exit 0; }
cd "$dir" || exit 1
failed=0 bad=
RANDOM=11
fail() { bad="$bad; $*"; }
query() { "$store" query "$1" "$2" --csv 2>/dev/null | tail -n +2; }
count() {
	local n
	[ -s "$1" ] && n=$(query "$1" 'SELECT count(*) FROM trial WHERE id >> 32 = 1')
	echo "${n:-0}"
}
kept() { query "$1" 'SELECT count(*) FROM trial WHERE taken AND id >> 32 = 1'; }
at_work() { # FOLDER, DB or nothing, trials so far, FIRST: something new is saved, and an earlier search was found
	if [ "$4" = first ]; then
		[ -n "$2" ] || [ -s "$1/state" ]
	else
		grep -q 'going on' talk
	fi && { [ -z "$2" ] || [ "$(count "$2")" -gt "$3" ]; }
}
one() { # graph, with a store or not
	local name=$1$2 db=() i pid at before=0 now taken=0 turn=first
	[ "$2" ] && db=(--db "$name.db")
	local all=(--core "$core" --device cpu --graph "$graphs/$1.pb.zst" --space fusion --out "$name" --budget 100000
		--no-adapt --verdict-seconds 1 "${db[@]}" --resume)
	for i in $(seq "$kills"); do
		rm -f talk # what the round before said is no sign of this one
		"$search" "${all[@]}" >out 2>talk & pid=$!
		await $pid at_work "$name" "${2:+$name.db}" "$before" $turn ||
			fail "round $i ended by itself: $(cat talk)"
		turn=later
		random_moment 1000
		kill -9 $pid; wait $pid 2>/dev/null
		at=$(sed -n 's/.*going on after \([0-9]*\) .*/\1/p' talk)
		[ -z "$at" ] || taken=$((taken + 1))
		if [ "$2" ]; then
			[ -z "$at" ] || [ "$at" -eq "$before" ] || fail "kill $i: $before trials, going on after $at"
			now=$(count "$name.db")
		else
			now=${at:-$before}
		fi
		[ "$now" -ge "$before" ] || fail "kill $i: $before became $now"
		before=$now
	done
	[ "$taken" -eq $((kills - 1)) ] || fail "only $taken of $kills went on"
	rm -f talk
	"$search" "${all[@]}" >out 2>talk & pid=$!
	await $pid at_work "$name" "${2:+$name.db}" "$before" later
	kill -INT $pid; wait $pid || fail "SIGINT: status $?: $(cat talk)"
	grep -qE 'less time|the default is the answer' out || fail "no answer: $(cat out)"
	[ -s "$name/state" ] && [ -s "$name/tuned.pb" ] && grep -q '^</html>' "$name/report.html" ||
		fail "$(ls -A "$name")"
	[ -z "$(find "$name" -name '.*' -type f)" ] || fail "leftovers: $(ls -A "$name")"
	if [ "$2" ]; then
		[ "$(query "$name.db" 'SELECT count(*) FROM run')" -eq 1 ] || fail "more than one run"
		[ "$(query "$name.db" 'SELECT count(*) FROM stint')" -eq $((kills + 1)) ] ||
			fail "stints: $(query "$name.db" 'SELECT count(*) FROM stint')"
		[ "$(kept "$name.db")" -eq "$(sed -n 's/.* \([0-9]*\) kept.*/\1/p' out)" ] ||
			fail "$(kept "$name.db") kept in the store: $(cat out)"
		"$store" verify "$name.db" >out || fail "$(cat out)"
	fi
	if [ -z "$bad" ]; then
		echo "pass: $name ($taken of $kills went on, $before evaluations)"
	else
		echo "FAIL: $name: ${bad#; }"
		failed=1
	fi
	bad=
}
one attention -stored
one scan ""
[ -z "${LONG_TESTS:-}" ] || one scatter -stored
exit $failed
