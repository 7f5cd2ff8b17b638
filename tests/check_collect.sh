#!/bin/bash
# collect from end to end on toys: what is stored, how it resumes, and how it ends when things go wrong.
# needs: space/toy
set -u
. tests/await.sh
. tests/script.sh
bin=$(realpath "${BIN:-bin}") b=$(realpath "${B:-build/release}")
collect=$bin/collect store=$bin/store
graphs=$(realpath examples/graphs/tiny)
[ -x "$collect" ] && [ -x "$store" ] || { echo "skip: collect: it is not built"; exit 0; }
tmp=${TMPDIR:-/tmp}; [ -w /dev/shm ] && tmp=${TMPDIR:-/dev/shm} # every sample is synced
dir=$(mktemp -d -p "$tmp") || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir
run() { # db, arguments: toys; output in out, talk in talk, status in rc
	local db=$1
	shift
	"$collect" --device none --db "$db" "$@" >out 2>talk
	rc=$?
}
query() { "$store" query "$1" "$2" --csv | tail -n +2; }
steps() { query "$1" "SELECT id, chain, site, chosen, outcome, hex(costs) FROM sample"; }
fixed() { query "$1" "SELECT step, chain, sweep, jump, hash FROM keyframe" &&
	query "$1" "SELECT step, chain, sweep, whole, running, reanchored FROM anchor"; }
wants() { # what is said, in a sentence of its own, with status 1
	[ $rc -eq 1 ] || fail "status $rc"
	[ "$(wc -l <talk)" -eq 1 ] || fail "$(wc -l <talk) lines"
	grep -qE "^collect: .*$1" talk || fail "no \"$1\" in: $(cat talk)"
}

run a --graph toy:12:3:1 --samples 90
[ $rc -eq 0 ] || fail "status $rc: $(cat talk)"
grep -qE '^90 samples \(90 in run [0-9a-f]{8}\), [0-9.]+/s, .*best seen [0-9.]+% below the default \(toy:12:3:1\)$' \
	out || fail "$(cat out)"
[ "$(wc -l <out)" -eq 1 ] || fail "more than a line"
[ -s talk ] && fail "talks under cron: $(cat talk)"
"$store" verify a >/dev/null || fail "unsound"
done_ summary

# A price in another store is not measured again, and that store does not change.
"$collect" --device sim --db made --graph "$graphs/attention.pb.zst" --samples 60 >out 2>talk || fail "$(cat talk)"
before=$(cksum <made)
"$collect" --device sim --db mine --cache made --graph "$graphs/attention.pb.zst" --samples 60 --json >out 2>talk ||
	fail "$(cat talk)"
grep -qE '"cached_share":1[,}]' out || fail "measured what the cache has: $(cat out)"
[ "$(cksum <made)" = "$before" ] || fail "the cache was written"
"$bin/search" -q --device sim --graph "$graphs/attention.pb.zst" --strategy random --budget 60 --out searched \
	--cache made --json >out 2>talk ||
	fail "$(cat talk)"
grep -qE '"cached":[1-9]' out || fail "search does not look into the cache: $(cat out)"
run other --cache made --graph toy:12:3:1 --samples 5
[ $rc -eq 0 ] || fail "a cache of other machines: status $rc: $(cat talk)"
run other --cache nowhere --graph toy:12:3:1 --samples 5; wants 'nowhere'
"$store" verify mine >/dev/null && "$store" verify other >/dev/null || fail "unsound beside a cache"
done_ cache

run b --graph toy:12:3:1 --samples 31
run b --graph toy:12:3:1 --samples 2
grep -q 'resumed' out || fail "not resumed"
run b --graph toy:12:3:1 --samples 57 --resume --json
for key in '"samples":57' '"samples_of_run":90' '"resumed":true' '"failures":\{\}' '"best_gain":0\.[0-9]' \
	'"device_share":0'; do
	grep -qE "$key" out || fail "no $key in $(cat out)"
done
steps a >a.steps; steps b >b.steps; fixed a >a.fixed; fixed b >b.fixed
[ "$(wc -l <a.steps)" -eq 90 ] || fail "$(wc -l <a.steps) steps"
cmp -s a.steps b.steps || fail "other samples than without a break"
cmp -s a.fixed b.fixed || fail "other keyframes or anchors: $(diff a.fixed b.fixed | head -3)"
[ "$(query b 'SELECT count(*) FROM run')" -eq 1 ] || fail "more than a run"
[ "$(query b 'SELECT count(*) FROM stint')" -eq 3 ] || fail "not three stints"
run b --graph toy:12:3:1 --samples 5 --no-resume
[ "$(query b 'SELECT count(*) FROM run')" -eq 2 ] || fail "--no-resume resumed"
run b --graph toy:12:3:1 --samples 5 --tau 0.5
[ "$(query b 'SELECT count(*) FROM run')" -eq 3 ] || fail "another tau resumed"
done_ resume

# The default of this program needs no temporary memory: all that it computes fits into the memory of its results.
cat >free.hlo <<'END'
HloModule free, entry_computation_layout={(f32[1024]{0})->(f32[1024]{0}, f32[1024]{0})}
ENTRY main {
  x = f32[1024]{0} parameter(0)
  a = f32[1024]{0} exponential(x)
  b = f32[1024]{0} negate(a)
  c = f32[1024]{0} cosine(b)
  d = f32[1024]{0} sine(c)
  e = f32[1024]{0} sine(d)
  ROOT t = (f32[1024]{0}, f32[1024]{0}) tuple(d, e)
}
END
for n in 20 40; do
	run z --graph free.hlo --space order --samples 20
	[ $rc -eq 0 ] || fail "status $rc: $(cat talk)"
	grep -qE "^20 samples \\($n in run .*, none seen below the default\$" out || fail "$(cat out)"
done
done_ default_that_costs_nothing

# If the same program has other decisions, as after an upgrade, a new run begins and takes nothing from the old one.
for kinds in "3 2" "2 3"; do
	set -- $kinds
	rm -f o
	run o --graph toy:40:$1:1 --samples 5
	run o --graph toy:40:$2:1 --samples 5
	[ $rc -eq 0 ] || fail "toy:40:$1 then toy:40:$2: status $rc"
	grep -qE '^collect: run [0-9a-f-]{36} made other decisions .*; a new run begins$' talk ||
		fail "said: $(cat talk)"
	[ "$(query o 'SELECT count(*) FROM run')" -eq 2 ] || fail "not two runs"
	run o --graph toy:40:$1:1 --samples 5
	grep -q '10 in run' out && [ ! -s talk ] || fail "the first run was lost: $(cat out talk)"
	"$store" verify o >/dev/null || fail "unsound"
done
done_ other_decisions

# There is a keyframe at each sweep, and an anchor before each, except the first after a default start. Programs take
# turns.
run c --graph toy:5:2:1 --graph toy:9:3:2 --samples 100
query c "SELECT p.sites, count(*) FROM sample s JOIN chain c ON c.number = s.chain
	JOIN space p ON p.id = c.space GROUP BY chain" >got
[ "$(cat got)" = $'5,25\n5,25\n9,25\n9,25' ] || fail "turns: $(cat got)"
[ "$(query c 'SELECT count(*) FROM keyframe')" -eq $((5 + 5 + 3 + 3)) ] || fail "keyframes"
[ "$(query c 'SELECT count(*) FROM anchor')" -eq $((4 + 5 + 2 + 3)) ] ||
	fail "anchors: $(query c 'SELECT chain, sweep FROM anchor')"
[ "$(query c 'SELECT count(*) FROM anchor WHERE abs(whole - running) > 1e-12 AND NOT reanchored')" -eq 0 ] ||
	fail "sums are off"
[ "$(query c 'SELECT min(tau) FROM chain')" = 0.001 ] || fail "tau"
query c "SELECT count(DISTINCT site) FROM sample WHERE id % (1 << 32) < 20 GROUP BY chain" | grep -qvx 5 &&
	fail "a sweep misses sites"
done_ sweeps

run w --graph toy:12:3:1 --graph toy:9:3:2 --samples 83 --workers 4
[ "$(query w 'SELECT count(*) FROM sample')" -eq 83 ] || fail "not 83 samples"
"$store" verify w >/dev/null || fail "unsound"
run w --graph toy:12:3:1 --graph toy:9:3:2 --samples 17 --workers 1
run w1 --graph toy:12:3:1 --graph toy:9:3:2 --samples 120
for c in 0 1 2 3; do # what a chain does is independent of who else works
	for d in w w1; do query $d "SELECT site, chosen, hex(costs) FROM sample WHERE chain = $c" >$d.chain; done
	both=$(($(wc -l <w.chain) < $(wc -l <w1.chain) ? $(wc -l <w.chain) : $(wc -l <w1.chain)))
	[ "$both" -gt 0 ] && cmp -s <(head -n "$both" w.chain) <(head -n "$both" w1.chain) || fail "chain $c differs"
done
done_ workers

run n --graph toy:12:3:1 --nodes '^tanh' --samples 30
[ "$(query n 'SELECT count(DISTINCT site), count(*) FROM sample')" = 4,30 ] ||
	fail "four of twelve are tanh: $(cat out talk)"
run n --graph toy:12:3:1 --nodes 'nowhere' --samples 10
wants 'has no site that --nodes matches'
run n --graph toy:12:3:1 --nodes '(' --samples 10
wants '--nodes: '
done_ nodes

"$collect" --help | grep -q -- '--resume .*' || fail "no help"
run x --graph toy:12:3:1 --sample 10; wants 'did you mean'
run x --graph toy:12:3:1 --samples -1; wants 'samples'
run x --graph toy:12:3:1 extra; wants 'is no option'
run x --samples 10; wants 'no program to measure'
run x --graph missing.pb; wants 'missing.pb.*No such file'
run x --graph toy:12:201:1; wants 'toy:12:201:1'
mkdir empty; run x --graphs empty; wants 'holds no .pb'
run x --graphs nowhere; wants 'cannot read the folder'
run x/y --graph toy:12:3:1; wants 'x/y|No such'
mkdir some; cp "$graphs"/{chain,nothing}.pb.zst some; echo junk >some/bad.pb
"$collect" --device sim --db some.db --graphs some --samples 3 --quiet >out 2>talk ||
	fail "a folder with a broken file: $(cat talk)"
[ "$(query some.db 'SELECT count(*) FROM sample')" = 3 ] || fail "left out too much"
grep -q 'left out: .*bad.pb' talk && grep -q 'left out: .*nothing.*has no site' talk || fail "said $(cat talk)"
mkdir more; cp "$graphs"/loop.pb.zst more
"$collect" --device sim --db both.db --graphs more --graphs some --samples 20 --quiet >out 2>talk ||
	fail "two folders: $(cat talk)"
[ "$(query both.db "SELECT count(*) FROM graph WHERE name IN ('chain', 'loop')")" = 2 ] ||
	fail "a folder was passed over: $(cat talk)"
"$collect" --device sim --db brief.db --graphs some --seconds 0.000001 --quiet >out 2>talk || fail "$(cat talk)"
grep -q "opening and probing took .* of the 1e-06 s" out || fail "it does not say where the time went: $(cat out)"
rm some/chain.pb.zst; "$collect" --device sim --db none.db --graphs some >out 2>talk &&
	fail "nothing to measure, and no error"
tail -1 talk | grep -qE 'has no site|is no whole' || fail "said $(cat talk)"
[ ! -e x ] || ! "$store" verify x 2>&1 | grep -qv 'sound\|empty' || fail "left something behind"
done_ bad_usage

"$collect" --device none --db d --graph toy:12:3:1 -q >first & pid=$!
await $pid test -s d-wal
run d --graph toy:12:3:1 --samples 10
wants 'being written by another program'
"$collect" --device none --db d --graph toy:12:3:1 --samples 7 --wait >second 2>&1 & waiting=$!
"$collect" --device none --db d --graph toy:12:3:1 --samples 7 --wait >third 2>&1 & told=$!
await $told waits_for_a_lock $told
kill -TERM $told; wait $told || fail "told while waiting: status $?"
grep -q 'told to stop before the first sample' third || fail "third: $(cat third)"
n=$(query d 'SELECT count(*) FROM sample')
kill -TERM $pid; wait $pid || fail "SIGTERM: status $?"
wait $waiting || fail "waiting: status $?"
grep -qE '^7 samples .*resumed' second || fail "second: $(cat second)"
said=$(sed 's/ .*//' first)
[ "$said" -ge "$n" ] && [ "$(query d 'SELECT count(*) FROM sample')" -eq $((said + 7)) ] || fail "samples lost"
[ "$(query d "SELECT group_concat(state) FROM stint")" = "\"stopped,stopped\"" ] ||
	fail "states $(query d "SELECT group_concat(state) FROM stint")"
"$store" verify d >/dev/null || fail "unsound"
done_ second_collector_and_sigterm

run s --graph toy:12:3:1 --seconds 0.3 # which may be over before the first sample: that it ends is what counts
[ $rc -eq 0 ] || fail "status $rc"
said=$(sed -n 's/^\([0-9]*\) samples .*/\1/p; s/.*before the first sample.*/0/p' out)
[ "$(grep -c . out)" -eq 1 ] && [ "$(query s 'SELECT count(*) FROM sample')" = "$said" ] ||
	fail "$(query s 'SELECT count(*) FROM sample') samples: $(cat out)"
run s0 --graph toy:12:3:1 --seconds 0.000001 && run s0 --graph toy:12:3:1 --samples 90
steps s0 | cmp -s - a.steps || fail "a budget that ends before the first sample spoils the run"
done_ seconds

# What can go wrong outside: a read-only file, a damaged page, a full disk.
cp a r && chmod 444 r
if [ "$(id -u)" -ne 0 ]; then run r --graph toy:12:3:1 --samples 5; wants 'read-only'
elif setpriv --reuid=65534 --clear-groups test -x "$collect" 2>/dev/null && chmod 755 . && chmod 666 out talk; then
	setpriv --reuid=65534 --clear-groups "$collect" --device none --db r --graph toy:12:3:1 --samples 5 >out 2>talk
	rc=$?
	wants 'read-only'
fi
cmp -s a r || fail "changed"
done_ read_only

cp a broken
page=$(query a "SELECT pageno FROM dbstat WHERE name = 'sample' AND pagetype = 'leaf' LIMIT 1" 2>/dev/null)
page=${page:-$(query a "SELECT rootpage FROM sqlite_schema WHERE name = 'sample'")}
head -c 4096 /dev/urandom | dd of=broken bs=4096 seek=$((page - 1)) conv=notrunc 2>/dev/null
run broken --graph toy:12:3:1 --samples 5
wants 'damaged|malformed|corrupt'
done_ damaged_page

cp a full
(ulimit -f $(($(stat -c %s full) / 1024 + 60)); "$collect" --device none --db full --graph toy:12:3:1 \
	>out 2>talk); rc=$?
wants 'full.* what was stored before is safe'
"$store" verify full >/dev/null || fail "unsound"
n=$(query full 'SELECT count(*) FROM sample')
[ "$n" -ge 90 ] || fail "samples lost"
run full --graph toy:12:3:1 --samples 5
[ "$(query full 'SELECT count(*) FROM sample')" -eq $((n + 5)) ] || fail "does not go on: $(cat talk)"
steps full | head -90 | cmp -s - a.steps || fail "stored samples changed"
done_ file_size_limit

# Two collectors on one device, when there is a plugin to pretend with.
if [ -e "$b/tests/fake_plugin.so" ]; then
	export FAKE_PLUGIN=fake:any=1
	fake=(--device "$b/tests/fake_plugin.so" --core "$(first_core)" --graph "$graphs/chain.pb.zst")
	"$collect" "${fake[@]}" --db p1 >first 2>&1 & pid=$!
	device_is_locked() { is_locked "$(echo vantage-*.lock)"; }
	await $pid device_is_locked
	"$collect" "${fake[@]}" --db p2 >out 2>talk; rc=$?
	wants 'core [0-9]+.*(--wait|wait)'
	kill -TERM $pid; wait $pid || fail "SIGTERM while opening: status $?: $(cat first)"
	done_ second_on_device

	"$collect" "${fake[@]}" --db all --no-anchors >out 2>talk || fail "no limit: $(cat talk)"
	grep -q 'ended since nothing is left to measure' out || fail "it ended, and says: $(cat out)"
	[ "$(query all 'SELECT count(*) FROM sample')" -ge 64 ] || fail "it ended at once"
	done_ nothing_left_to_measure

	# A region that hung is stored with the time that it had, and tried again by a run that has more time. The fake
	# plugin prints when it hangs, and its time is over at that moment (device/child.c). So the deadlines can be
	# hours, and nothing else is ever late.
	night() { # deadline
		"$collect" "${fake[@]}" --db t --samples 12 --seed 3 --deadline "$1" --no-resume --no-anchors \
			--json >out 2>talk || fail "$1 s: $(cat talk)"
	}
	kept() {
		query t "SELECT o.name, r.deadline, r.load, r.memory, r.at FROM region r
			JOIN outcome o ON o.id = r.outcome WHERE o.id <> 0" | tr '\n' ' '
	}
	count() { query t "SELECT count(*) FROM $1"; }
	failures() { query t "SELECT count(*) FROM failure WHERE run = $1"; }
	export FAKE_PLUGIN="fake:any=1;hang=10" VANTAGE_HANGS="the fake hangs"
	night 9000
	[ "$(failures 1)" -gt 0 ] || fail "nothing hung"
	[ "$(count "region WHERE outcome = 3 AND deadline = 9000 AND memory > 0")" -eq "$(failures 1)" ] ||
		fail "no effort is kept"
	# Pretend that it failed on an idle machine. Otherwise it would be tried again if this one is less busy now.
	python3 -c 'import sqlite3
sqlite3.connect("t", isolation_level=None).execute("UPDATE region SET load = 0.1 WHERE outcome = 3")'
	FAKE_PLUGIN="fake:any=1" night 9000
	[ "$(failures 2)" -eq 0 ] && [ "$(count "sample WHERE id >> 32 = 2 AND outcome = 3")" -gt 0 ] ||
		fail "the same effort, and it was tried again"
	FAKE_PLUGIN="fake:any=1" night 1000000 # more for each of a hundred programs that share a core now
	[ "$(count "sample WHERE id >> 32 = 3 AND outcome <> 0")" -eq 0 ] ||
		fail "more time, and it was not tried again: $(kept)"
	FAKE_PLUGIN="fake:any=1" night 9000
	[ "$(count "sample WHERE id >> 32 = 4 AND outcome <> 0")" -eq 0 ] ||
		fail "what was measured does not count: $(kept)"
	"$store" verify t >/dev/null || fail "unsound"
	done_ time_outs_are_tried_again

	# A program of a folder that does not run is left out, by the next night, too. One that was named is an error.
	mkdir runs; cp "$graphs"/chain.pb.zst runs
	cat >runs/aborts.pb <<-'end'
		HloModule aborts
		ENTRY main {
		  x = f32[4] parameter(0)
		  a = f32[4] exponential(x), metadata={op_name="fake:run=abort"}
		  ROOT b = f32[4] tanh(a)
		}
	end
	export FAKE_PLUGIN=fake:any=1
	for samples in 5 10; do
		"$collect" "${fake[@]:0:4}" --graphs runs --db left --samples 5 --start default --quiet >out 2>talk ||
			fail "one of two does not run: $(cat talk)"
		[ "$(query left 'SELECT count(*) FROM sample')" = $samples ] &&
			grep -q 'left out: .*aborts.*does not run' talk ||
			fail "$samples samples: $(cat talk)"
	done
	[ "$(query left 'SELECT count(*) FROM run')" = 1 ] || fail "the second night did not go on"
	"$collect" "${fake[@]:0:4}" --graph runs/aborts.pb --db left --samples 5 --quiet >out 2>talk &&
		fail "it was named, and there is no error"
	grep -q 'does not run in its default' talk || fail "said $(cat talk)"
	done_ what_does_not_run_is_left_out
else
	echo "skip: second_on_device, time_outs_are_tried_again, what_does_not_run_is_left_out: no fake plugin" \
		"without the plugin's header"
fi
exit $failed
