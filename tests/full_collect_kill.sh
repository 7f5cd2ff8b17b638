#!/bin/bash
# collect is killed with -9 at random moments, again and again, and resumed: nothing committed is ever
# lost, the store stays sound, and in the end it holds exactly the samples of an uninterrupted run.
#
# On a device with noise no two runs measure the same costs; there the temperature is set so high that
# the draws do not depend on them, and all but the costs is compared. For the same reason programs take turns by their
# samples, not by the time that their steps take.
set -u
. tests/await.sh
bin=$(realpath "${BIN:-bin}") b=$(realpath "${B:-build/release}")
collect=$bin/collect store=$bin/store
graphs=$(realpath examples/graphs/tiny)
kills=${KILLS:-$([ -n "${LONG_TESTS:-}" ] && echo 100 || echo 16)} core=${CORE:-0}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir
failed=0 bad=
RANDOM=7
query() { "$store" query "$1" "$2" --csv 2>&1 | tail -n +2; }
facts() { # db, with costs or without
	query "$1" "SELECT id, chain, site, chosen, outcome $2 FROM sample ORDER BY id"
	query "$1" "SELECT step, chain, sweep, jump, hash FROM keyframe"
	query "$1" "SELECT step, chain, sweep, outcome FROM anchor"
}
count() { query "$1" 'SELECT count(*) FROM sample'; }
more_than() { # db, samples
	local n
	[ -s "$1" ] && n=$(count "$1") && [[ $n =~ ^[0-9]+$ ]] && [ "$n" -gt "$2" ]
}
# Of four kills three come a random moment after a new sample, one at any moment, opening included.
kill_rounds() { # name, kills, samples in peace before, longest moment in ms, column of costs or nothing, arguments
	local name=$1 rounds=$2 before=$3 longest=$4 costs=$5 i n now pid total
	shift 5
	[ "$before" -eq 0 ] || "$collect" --core "$core" --db "$name" --samples "$before" "$@" >out 2>&1 ||
		bad="$bad; $(cat out)"
	for i in $(seq "$rounds"); do
		"$collect" --core "$core" --db "$name" "$@" >out 2>&1 & pid=$!
		[ $((i % 4)) -eq 0 ] || await $pid more_than "$name" "$before" ||
			bad="$bad; round $i ended without a sample: $(cat out)"
		random_moment "$longest"
		n=$([ -s "$name" ] && count "$name")
		kill -9 $pid 2>/dev/null
		wait $pid 2>/dev/null
		[ -s "$name" ] || continue
		case $n in *[!0-9]*|"") n=$before ;; esac
		now=$(count "$name")
		case $now in *[!0-9]*|"") now=0; [ "$before" -eq 0 ] || bad="$bad; kill $i: $(count "$name")" ;; esac
		[ "$now" -ge "$n" ] && [ "$n" -ge "$before" ] ||
			bad="$bad; kill $i: $before, then $n, then $now samples"
		before=$now
		if [ $((i % 10)) -eq 0 ] && [ "$now" -gt 0 ]; then
			"$store" verify "$name" >out 2>&1 || bad="$bad; kill $i: $(cat out)"
		fi
	done
	"$collect" --core "$core" --db "$name" --samples 20 "$@" >out 2>&1 || bad="$bad; does not go on: $(cat out)"
	total=$(count "$name")
	[ "$total" -eq $((before + 20)) ] || bad="$bad; $before and 20 samples are $total"
	"$store" verify "$name" >out 2>&1 || bad="$bad; $(cat out)"
	[ "$(query "$name" 'SELECT count(*) FROM run')" -eq 1 ] || bad="$bad; more than one run"
	"$collect" --core "$core" --db "$name.whole" --samples "$total" "$@" >out 2>&1 || bad="$bad; $(cat out)"
	facts "$name" "$costs" >a; facts "$name.whole" "$costs" >b
	[ "$(grep -c . a)" -ge "$total" ] || bad="$bad; no facts"
	cmp -s a b || bad="$bad; differs from an uninterrupted run: $(diff a b | head -3 | tr '\n' ' ')"
	if [ -z "$bad" ]; then
		echo "pass: $name ($rounds kills, $total samples)"
	else
		echo "FAIL: $name: ${bad#; }"
		failed=1
	fi
	bad=
}
kill_rounds modelled "$kills" 0 100 ", hex(costs)" --device sim --graph "$graphs/loop.pb.zst" \
	--graph "$graphs/chain.pb.zst"
if [ -e "$b/tests/fake_plugin.so" ]; then
	FAKE_PLUGIN="fake:any=1;crash=20" kill_rounds fake "$kills" 0 200 "" --device "$b/tests/fake_plugin.so" \
		--tau 1000000 --share 0 \
		--graph "$graphs/loop.pb.zst" --graph "$graphs/chain.pb.zst"
	[ "$(query fake 'SELECT count(*) FROM failure')" -gt 0 ] ||
		{ echo "FAIL: fake: nothing crashed, so nothing of that was tried"; failed=1; }
else
	echo "skip: fake: no fake plugin without the plugin's header"
fi
if "$bin/inspect" --device cpu "$graphs/chain.pb.zst" >/dev/null 2>&1; then
	kill_rounds real $((kills < 40 ? 6 : 10)) 5 1000 "" --device cpu --tau 1000000 --share 0 \
		--graph "$graphs/chain.pb.zst" --graph "$graphs/loop.pb.zst"
else
	echo "skip: real: no plugin"
fi
exit $failed
