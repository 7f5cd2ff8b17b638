#!/bin/bash
# The nightly loop on the performance model: three nights as cron runs them, and a search in the morning. Then
# everything that can happen to the place of a model.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh
bin=$(realpath "${BIN:-bin}") root=$PWD
search=$bin/search learn=$bin/learn
[ -x "$search" ] && [ -x "$bin/collect" ] || { echo "skip: night: it is not built"; exit 0; }
tmp=${TMPDIR:-/tmp}; [ -w /dev/shm ] && tmp=${TMPDIR:-/dev/shm}
dir=$(mktemp -d -p "$tmp") || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir XDG_DATA_HOME=$dir/data VANTAGE=$bin
place=$dir/data/vantage/models/sim/modelled/fusion.vm
night=$dir/data/vantage/night
quick="--learner gnn --epochs 0.01 --width 16 --head 16 --top-draws 0"
field() { grep -oE "\"$1\": ?\"?[^,\"]*" "$2" | head -1 | sed 's/.*[:"] *//'; }
sum() { cat "$1" 2>/dev/null | cksum; }
learns() { # STATUS ARGUMENTS...: in out, talk in talk
	local want=$1
	shift
	"$learn" --db "$night/runs.sqlite" $quick "$@" >out 2>talk
	rc=$?
	[ $rc -eq "$want" ] || fail "status $rc, wanted $want: $(cat out talk | tail -3 | tr '\n' ' ')"
}
says() { grep -q "$1" "$2" || fail "no \"$1\" in: $(tail -c 400 "$2" | tr '\n' ' ')"; }
whole() { "$learn" --models >out 2>&1; grep -A1 "^$1\$" out | grep -q decisions ||
	fail "$1 is no whole model: $(cat out)"; }

# Three nights: each goes on with the store of the night before, and says what really happened.
mkdir graphs && cp "$root"/examples/graphs/tiny/{convolution,sort,update}.pb.zst graphs
for n in 1 2 3; do
	before=$(sum "$place")
	LEARN="$quick --least-steps $((30 * n * n)) --json" "$root/examples/cron/vantage-night" graphs --device sim \
		--samples 200 2>talk || fail "night $n: $(cat talk)"
	now=$(sum "$place")
	[ -s "$place" ] || fail "night $n left no model"
	if tail -1 "$night/log" | grep -q 'a new model is in place'; then
		[ "$now" != "$before" ] || fail "night $n says replaced"
		[ $n -eq 1 ] || [ "$(sum "$place.before")" = "$before" ] ||
			fail "night $n: .before is not the one before"
	else
		[ "$now" = "$before" ] || fail "night $n says kept"
		tail -1 "$night/log" | grep -q 'the model before stays' || fail "night $n: $(tail -1 "$night/log")"
	fi
	[ "$(grep -c '"depth_new"' "$night/log")" = $n ] || fail "night $n has no figures in the log"
done
[ "$("$bin/store" query "$night/runs.sqlite" 'SELECT count(*) FROM sample' --csv | tail -1)" = 600 ] ||
	fail "not three nights of samples"
[ "$("$bin/store" query "$night/runs.sqlite" 'SELECT count(*) FROM run' --csv | tail -1)" = 1 ] || fail "not one run"
grep -q '"old_may_have_seen_them": true' "$night/log" && fail "a night was judged on what the one before was trained on"
done_ three_nights

# A second start while one runs: it ends at once, and nothing is said. The lock is ours here.
before=$(cat "$night/log")
( flock -n 9 || exit 1; "$root/examples/cron/vantage-night" graphs --device sim --samples 10 >out 2>&1 ||
	echo status >>out ) 9>"$night/lock"
[ ! -s out ] && [ "$(cat "$night/log")" = "$before" ] || fail "a second night began: $(cat out)"
"$root/examples/cron/vantage-night" nowhere --device sim --samples 10 >out 2>&1 && fail "no graphs, no failure"
[ "$(wc -l <out)" -eq 1 ] && says "collect failed" out
VANTAGE=/nowhere "$root/examples/cron/vantage-night" graphs >out 2>&1 && fail "no programs, no failure"
says "collect failed" out
done_ nights_do_not_overlap_and_tell_failures

# Told to stop while it measures: collect is told, too, and ends with the sample in flight; nothing is learnt.
. "$root/tests/await.sh"
measures() {
	local n
	n=$("$bin/store" query stopped/runs.sqlite 'SELECT count(*) FROM sample' --csv 2>/dev/null | tail -1)
	[ "$n" -gt 0 ] 2>/dev/null
}
NIGHT=$dir/stopped "$root/examples/cron/vantage-night" graphs --device sim --samples 100000000 2>talk & pid=$!
await $pid measures || fail "it ended by itself: $(cat talk)"
kill -TERM $pid
wait $pid; rc=$?
[ $rc -eq 143 ] || fail "told: status $rc: $(cat talk)"
tail -1 stopped/log | grep -q 'told to stop' && ! grep -q learning stopped/log || fail "told: $(tail -3 stopped/log)"
[ ! -s talk ] || fail "told, it says: $(cat talk)"
flock -n stopped/lock true || fail "told, something of it still runs"
[ "$("$bin/store" verify stopped/runs.sqlite >out 2>&1; echo $?)" = 0 ] || fail "told: $(cat out)"
done_ told_to_stop

# The search takes the new model, and says which one it is, when it was trained and on what.
"$search" --device sim --graph graphs/convolution.pb.zst --budget 5 --out s >out 2>talk || fail "$(cat talk)"
says "^search: model $place: .* decisions of 3 programs, modelled 20..-..-.. on .*; this program was one of them" talk
says "fusion.vm: .* decisions of 3 programs" s/report.html
"$search" -q --device sim --graph "$root/examples/graphs/tiny/chain.pb.zst" --budget 5 --out s --json >out 2>talk
[ "$(field model_trained_on_this_program out)" = no ] && [ "$(field model out)" = "$place" ] ||
	fail "$(head -c 600 out)"
done_ search_says_its_model

# A model is better, worse, not clearly better, or forced: the sentence, the files and the exit status agree.
rm -rf data/vantage/models
learns 0 --least-steps 2 --force -q
whole "$place"; weak=$(sum "$place")
learns 0 --least-steps 300 --no-keep -q
[ "$(sum "$place")" = "$weak" ] || fail "--no-keep kept"
learns 0 --least-steps 300 -q
says "is better than the old one" out; says "neither was trained on them" out
good=$(sum "$place")
[ "$good" != "$weak" ] && [ "$(sum "$place.before")" = "$weak" ] || fail "not replaced"
learns 3 --least-steps 2 -q --json
[ "$(field verdict out)" = worse ] && [ "$(field replaced out)" = false ] && [ "$(sum "$place")" = "$good" ] ||
	fail "$(cat out)"
learns 3 --least-steps 300 -q # the very same
says "not clearly better than the old one" out
learns 0 --least-steps 2 --force -q --layers 2 # also with another number of layers
says "is worse than the old one" out; says "by --force" out
learns 0 --least-steps 300 -q
[ "$(sum "$place")" = "$good" ] || fail "the same data and seed, another model"
done_ replaced_only_by_a_better_one

# A model that was trained on everything may have seen the flips that judge; the sentence says that it is flattered.
learns 0 --least-steps 300 -q --out "$place"
learns 3 --least-steps 2 -q
says "the old one may have been" out; says "not clearly better" out
learns 0 --least-steps 2 -q --force
done_ an_old_one_that_knows_the_answers

# A search stopped before the night goes on with the model it began with.
"$search" -q --device sim --graph graphs/sort.pb.zst --seconds 0.05 --budget 100000 --out r >out 2>talk
[ -s r/state ] || fail "nothing to go on from: $(cat talk)"
began=$("$search" -q --device sim --graph graphs/sort.pb.zst --budget 1 --out r0 --json |
	grep -oE '"model_hash":"[^"]*')
learns 0 --least-steps 300 -q
"$search" -q --device sim --graph graphs/sort.pb.zst --budget 100000 --seconds 0.05 --out r --resume --json \
	>out 2>talk || fail "resume: $(cat talk)"
[ "$(grep -oE '"model_hash":"[^"]*' out)" = "$began" ] || fail "it goes on with another model"
[ "$(field model out)" = "$place.before" ] || fail "it goes on with $(field model out)"
cp -r r q # as earlier versions saved it: the model by its path
python3 - q/state "$place" <<'PY'
import json, struct, sys
b = open(sys.argv[1], "rb").read()
n = struct.unpack("<I", b[:4])[0]
m = struct.unpack("<I", b[4 + n:8 + n])[0]
said = json.loads(b[8 + n:8 + n + m], object_pairs_hook=dict)
said["model"] = sys.argv[2]
said = json.dumps(said, separators=(",", ":")).encode()
open(sys.argv[1], "wb").write(b[:4 + n] + struct.pack("<I", len(said)) + said + b[8 + n + m:])
PY
"$search" --device sim --graph graphs/sort.pb.zst --budget 100000 --seconds 0.05 --out q --resume >out 2>talk ||
	fail "path: $(cat talk)"
says "going on after" talk; says "search: model $place:" talk
done_ a_search_goes_on_with_its_model

# A model of another table of features, or nonsense, is passed over with a sentence, and moved aside.
python3 - "$place" <<'PY'
import hashlib, sys
b = bytearray(open(sys.argv[1], "rb").read()[:-32])
b[12] ^= 1
open(sys.argv[1], "wb").write(bytes(b) + hashlib.sha256(b).digest())
PY
strange=$(sum "$place")
"$search" --device sim --graph graphs/convolution.pb.zst --budget 2 --out s >out 2>talk || fail "$(cat talk)"
says "another table of features.*passed over" talk; says "no model" talk
learns 0 --least-steps 30
says "passed over" talk; says "than no model" out
[ "$(sum "$place.before")" = "$strange" ] || fail "what could not be read is gone"
head -c 5000 "$place" >cut && cp cut "$place"
learns 0 --least-steps 30
says "truncated.*passed over" talk
whole "$place"
done_ an_unusable_model_in_the_place

# Two trainings that end at once are judged one after the other, each against the model that is there by then.
rm -rf data/vantage/models
"$learn" --db "$night/runs.sqlite" $quick --least-steps 300 -q --json >out1 2>talk1 & a=$!
"$learn" --db "$night/runs.sqlite" $quick --least-steps 300 -q --json --seed 2 >out2 2>talk2 & b=$!
wait $a; ra=$?
wait $b; rb=$?
[ "$ra$rb" = 03 ] || [ "$ra$rb" = 30 ] || [ "$ra$rb" = 00 ] || fail "status $ra and $rb: $(cat talk1 talk2)"
[ "$(cat out1 out2 | grep -c '"old_path": null')" = 1 ] || fail "both saw an empty place, or none did"
whole "$place"
done_ two_at_once

# The place of a model follows the environment.
HOME=$dir/home XDG_DATA_HOME=relative "$learn" --db "$night/runs.sqlite" $quick --least-steps 2 --force -q \
	>out 2>talk || fail "$(cat talk)"
[ -s home/.local/share/vantage/models/sim/modelled/fusion.vm ] && [ ! -e relative ] || fail "relative: $(cat out)"
(unset XDG_DATA_HOME; HOME=$dir/home2 "$learn" --db "$night/runs.sqlite" $quick --least-steps 2 --force -q) \
	>out 2>talk || fail "$(cat talk)"
[ -s home2/.local/share/vantage/models/sim/modelled/fusion.vm ] || fail "unset: $(cat out)"
touch file
XDG_DATA_HOME=$dir/file "$learn" --db "$night/runs.sqlite" $quick --least-steps 1000000 -q >out 2>talk; rc=$?
[ $rc -eq 1 ] && [ "$(wc -l <talk)" -eq 1 ] || fail "a file for a folder: $rc $(cat talk)"
mkdir closed && chmod 555 closed
run=
if [ "$(id -u)" -eq 0 ]; then run="setpriv --reuid=65534 --clear-groups"; chmod 755 .; chmod -R a+rX data; fi
if $run test -x "$learn" 2>/dev/null; then # it refuses before it trains: this training would not end
	XDG_DATA_HOME=$dir/closed $run "$learn" --db "$night/runs.sqlite" $quick --least-steps 1000000000 -q >out 2>talk
	rc=$?
	[ $rc -eq 1 ] && grep -q 'closed.*denied' talk || fail "a closed folder: $rc $(cat talk)"
fi
learns 1 --force --out x.vm; says "^learn: --force" talk
learns 1 --patience 3; says "^learn: --patience" talk
done_ where_it_is
exit $failed
