#!/bin/bash
# search from end to end on toys, the performance model and the fake plugin: what it leaves behind, how it goes on after
# a kill, and what it says when things go wrong.
# needs: space/toy
set -u
. tests/search.sh
RANDOM=5
toy() { local o=$1; shift; run --device none --graph toy:40:2:6 --out "$o" "$@"; }
trials() { query "$1" "SELECT id, chain, hex(flips), delta, se, taken, outcome FROM trial"; }

toy a --budget 300 --json
answers '"tuned":true' a
[ ! -e a/state ] || fail "the state of an ended search"
[ "$(field evaluations out)" = 300 ] || fail "$(field evaluations out) evaluations"
toy a2 --budget 300 --seed 2
answers '^300 evaluations' a2
toy a3 --budget 300 --alpha 10 --hops 1 --no-tied
answers '^300 evaluations' a3
run --device sim --graph "$graphs/tiny/loop.pb.zst" --out few --budget 1000000
answers 'nothing was left to try' few
[ ! -e few/state ] || fail "the state of a search with nothing left"
for seed in 1 2; do toy "seed$seed" --budget 15 --seed $seed; done
cmp -s <(field config_hash seed1/config.json) <(field config_hash seed2/config.json) && fail "two seeds, one answer"
done_ summary

# What a program could not read is no success.
if [ -e /dev/full ]; then
	for json in "" --json; do
		# shellcheck disable=SC2086
		"$search" -q --device none --graph toy:40:2:6 --out lost --budget 20 $json >/dev/full 2>talk; rc=$?
		wants 'standard output cannot be written: .*No space left'
	done
fi
done_ a_lost_summary_is_no_success

# Two searches into one folder would mix their answers: the second is refused. One that was killed is in nobody's way.
"$search" -q --device none --graph toy:40:2:6 --out taken --budget 1000000000 >out 2>talk & pid=$!
await $pid test -s taken/state
toy taken --budget 20
wants 'another search is writing into taken: wait until it ends, or choose another --out'
toy taken/inner --budget 20
answers 'less time' taken/inner
kill -9 $pid; wait $pid 2>/dev/null
toy taken --budget 20
answers 'less time' taken
run --device none --graph toy:40:2:6 --from nothing --out new
wants 'no search left its result in nothing'
[ ! -e new ] || fail "an empty folder is left"
done_ one_search_in_a_folder

# A disk that is full at the end: the verdict is said, and the folder holds no answer, rather than parts of two. The
# search can go on. What an earlier search of another kind left goes away with its answer.
toy full --budget 20
answers 'less time' full
for f in shardings.json prepare.pb decisions.json tuned.exe; do echo old >full/$f; done
(trap '' XFSZ; ulimit -f 4; exec "$search" -q --device none --graph toy:40:2:6 --out full --budget 300) >out 2>talk
rc=$?
wants 'full/report.html: .*File too large'
grep -q '^The tuned program takes' out || fail "the verdict is lost: $(cat out)"
[ ! -e full/config.json ] && [ -s full/state ] || fail "left: $(ls full | tr '\n' ' ')"
toy full --budget 300 --resume
answers 'less time' full
[ "$(cd full && echo *)" = "config.json default.pb options.txt report.html tuned.pb" ] || fail "left: $(ls full)"
done_ full_at_the_end

# An objective, and limits: what is said and stored, and that the limits are kept.
for k in seconds bytes; do
	other=$([ $k = seconds ] && echo bytes || echo seconds)
	toy "o-$k" --objective $k --limit $other:+1% --budget 300 --db o.db --json
	answers "\"tuned\":true.*\"quantity\":\"$k\".*\"limits\":.*\"quantity\":\"$other\".*\"state\":\"kept\"" "o-$k"
	grep -q '<h2>Limits</h2>' "o-$k/report.html" || fail "no limits on the page"
	[ "$(query o.db "SELECT count(*) FROM environment WHERE quantity = '$k'")" -eq 1 ] ||
		fail "$k have no environment of their own"
done
"$store" verify o.db >/dev/null || fail "o.db is unsound"
toy o --objective bytes --budget 100; answers 'needs [0-9.]+% less temporary memory than' o
toy o --limit bytes:1 --budget 100; answers 'but is beyond the limit bytes:1 bytes \(.*; the default is the answer' o
cmp -s o/tuned.pb o/default.pb || fail "a limit was broken, and it is not the default that came out"
toy o --limit bytes:1 --objective seconds --budget 0; answers 'the default is the answer' o
toy o --objective bytes --limit seconds:+1% --budget 60 --db o2.db
"$search" -q --device none --graph toy:40:2:6 --out o3 --objective bytes --limit seconds:+1% --budget 10000000 \
	>out 2>&1 & pid=$!
await $pid test -s o3/state
kill -9 $pid; wait $pid 2>/dev/null
toy o3 --resume --objective bytes --limit seconds:+2%; wants 'other settings'
toy o3 --resume --objective bytes --limit seconds:+1% --budget 1; answers 'evaluations? in' o3
run --device sim --graph "$graphs/tiny/chain.pb.zst" --out o --objective bytes --limit seconds:+5% --budget 100 --json
answers '"quantity":"bytes".*"limits":' o
done_ objective_and_limits

# Bad usage: one sentence, and nothing left behind.
toy x --strategy guide; wants 'did you mean guided'
toy x --placing heft; wants '--placing is about a public problem \(.*which toy:40:2:6 is not'
toy x --goal time; wants '--goal is about a public problem'
run --graph x.json --placing heft --strategy random; wants '--placing and --strategy both say'
toy x --budget -1; wants 'budget'
toy x --alpha 101; wants 'alpha'
toy x --hops automatic; wants 'whole number'
toy x --objective joules; wants 'no quantity called joules'
toy x --objective cycles; wants 'cannot be priced in cycles'
toy x --limit seconds:+2%; wants 'need no limit'
toy x --limit bytes:2%; wants 'is no change of a cost'
toy x --limit bytes:+1% --limit bytes:+2%; wants 'two limits on bytes'
toy x extra; wants 'is no option'
toy x --raw; wants '--raw keeps timings in the store: name one with --db'
for more in "--core 0" "--cores 1" "--inputs in.npz"; do # with no device, and with one that is a model
	# shellcheck disable=SC2086
	toy x $more; wants "${more%% *} has no effect on --device none"
	# shellcheck disable=SC2086
	run --device sim --graph "$graphs/tiny/chain.pb.zst" --out x $more
	wants "${more%% *} has no effect on --device sim"
done
toy x --hoist-params 1; wants '--hoist-params is an option of the kind rewrite: add --space rewrite$'
toy x --space fusion --mesh 4; wants 'the kind fusion take no --mesh; it is an option of the kind shard'
run; wants 'no program to tune'
toy x --from a --start random; wants 'both say'
run --device none --graph missing.pb; wants 'missing.pb.*No such file'
head -c 3000 /dev/urandom >noise.pb
run --device none --graph noise.pb; wants 'noise'
run --device none --graph toy:12:201:1 --out x; wants 'toy:12:201:1'
run --device nowhere.so --graph toy:40:2:6 --out x; wants 'nowhere.so'
VANTAGE_PLUGIN_DIR=/nowhere run --device cuda --graph toy:40:2:6 --out x; wants 'plugin'
run --device sim --graph "$graphs/tiny/chain.pb.zst" --out x --model noise.pb; wants 'noise.pb is not a model'
run --device sim --graph "$graphs/tiny/chain.pb.zst" --out x --model nowhere.vm; wants 'nowhere.vm'
run --device sim --graph "$graphs/tiny/chain.pb.zst" --out x --model "$models/cpu.vm"; wants 'trained for cpu'
[ -z "$(ls -d x* *.tuned 2>/dev/null)" ] || fail "left something behind: $(ls)"
done_ bad_usage

# A folder that cannot be made or written; root may write everywhere, so it tries as nobody.
touch file
toy file; wants 'file is a file, but a folder is wanted'
toy file/below; wants 'file is a file, but a folder is wanted'
toy /proc/x; wants '/proc/x'
toy a --db nowhere/db; wants 'nowhere'
mkdir closed && chmod 555 closed
if [ "$(id -u)" -ne 0 ]; then toy closed; wants 'closed.*(denied|written)'
elif setpriv --reuid=65534 --clear-groups test -x "$search" 2>/dev/null && chmod 755 .; then
	(cd / && setpriv --reuid=65534 --clear-groups "$search" -q --device none --graph toy:40:2:6 \
		--out "$dir/closed") >out 2>talk; rc=$?
	wants 'closed.*(denied|written)'
fi
done_ unwritable_folder

# Nothing to find is an answer too.
run --device sim --graph "$graphs/tiny/nothing.pb.zst" --out n --db n.db
answers 'the default is the answer' n
"$store" verify n.db >/dev/null || fail "n.db is unsound"
for budget in 0 1 2; do
	toy "b$budget" --budget $budget --db b.db
	answers "^$budget evaluations? in" "b$budget"
done
"$store" verify b.db >/dev/null || fail "b.db is unsound"
for strategy in guided random sweep; do
	run --device sim --graph "$graphs/tiny/loop.pb.zst" --out s --budget 1 --strategy $strategy --start random
	answers '^1 evaluation ' s
done
done_ nothing_to_find

# The result of an earlier search is measured once more, and searched on from; it is refused for another program.
toy e1 --from a --budget 0 --db e.db
answers '^0 evaluations' e1
for key in config_hash gain; do
	[ "$(field $key e1/config.json)" = "$(field $key a/config.json)" ] || fail "another $key"
done
cmp -s e1/tuned.pb a/tuned.pb || fail "another program"
toy e2 --from a --budget 30 --seed 9 --db e.db
answers '^30 evaluations' e2
awk "BEGIN {exit !($(field gain e2/config.json) >= $(field gain a/config.json) - 1e-9)}" ||
	fail "worse than what it started from"
"$store" verify e.db >/dev/null || fail "e.db is unsound"
toy x --from nowhere; wants 'no search left its result in nowhere'
run --device none --graph toy:40:2:7 --out x --from a; wants 'a/config.json is of another'
mkdir hurt && sed '/"chosen"/s/[0-9]\+/0/' a/config.json >hurt/config.json
toy x --from hurt; wants 'hurt/config.json is damaged'
head -c 2000 a/config.json >hurt/config.json
toy x --from hurt; wants 'hurt/config.json is damaged'
done_ from_an_earlier_search

# In a store a search is one run, and every evaluation a trial. Stopped and resumed, it has the same run and trials.
toy w --budget 260 --db whole --drift-checks 3
toy p --budget 90 --db parts --drift-checks 3 # its budget is its end ...
toy p --budget 260 --db parts --drift-checks 3 --resume # ... so this is another
toy p --budget 10 --db parts --seed 2 --resume
[ "$(query parts 'SELECT count(*) FROM run')" -eq 3 ] || fail "an ended run was resumed, or that of another seed"
[ "$(query parts "SELECT count(*) FROM run WHERE kind = 'search'")" -eq 3 ] || fail "not of kind search"
[ "$(query whole 'SELECT count(*) FROM finding')" -eq 1 ] || fail "no finding"
# A formula cannot drift from itself: none of the three is made.
[ "$(query whole 'SELECT count(*) FROM anchor')" -eq 0 ] ||
	fail "$(query whole 'SELECT count(*) FROM anchor') whole-program checks"
trials whole | sed 's/^[^,]*//' >whole.t; query parts 'SELECT hex(flips), delta FROM trial WHERE id >> 32 = 2' >parts.t
[ "$(wc -l <whole.t)" -eq 260 ] && [ "$(wc -l <parts.t)" -eq 260 ] || fail "trials"
for db in whole parts; do "$store" verify $db >/dev/null || fail "$db is unsound"; done
done_ runs_in_the_store

# A search that is killed at random moments and resumed finds in the end what an undisturbed one finds. Its budget is so
# large that it never ends by itself; a signal ends it, and the undisturbed search then gets the same number of
# evaluations. (With alpha and hops given, the budget does not change what a search does.)
# Arguments: the store; 1: only a trial that was kept counts.
has_trials() { [ -s "$1" ] && [[ $(query "$1" "SELECT count(*) FROM trial WHERE taken >= $2" 2>&1) =~ ^[1-9] ]]; }
at_work() { # ROUND, NAME: what there is can be gone on from, or was
	if [ "$1" = 1 ]; then [ -s "$2/state" ] || has_trials "$2.db" 0; else grep -q 'going on' talk; fi
}
again() { # name, store or nothing, longest delay in ms, arguments
	local name=$1 db=() longest=$3 fixed=(--drift-checks 0 --alpha 10 --hops 1) i pid taken=0 at last=0 n
	[ -z "$2" ] || db=(--db "$name.db")
	shift 3
	for i in 1 2 3 4 end; do
		rm -f talk # what the round before said is no sign of this one
		"$search" "${fixed[@]}" "$@" --budget 1000000000 --out "$name" "${db[@]}" --resume --json \
			>out 2>talk & pid=$!
		await $pid at_work $i "$name" || fail "$name: round $i ended by itself: $(cat talk)"
		random_moment "$longest"
		if [ $i = end ]; then kill -INT $pid; else kill -9 $pid; fi
		wait $pid 2>/dev/null; rc=$?
		at=$(sed -n 's/.*going on after \([0-9]*\) .*/\1/p' talk)
		[ -z "$at" ] || taken=$((taken + 1))
		[ "${at:-$last}" -ge "$last" ] || fail "kill $i: $last evaluations became $at"
		last=${at:-$last}
	done
	answers '"verdict"' "$name"
	[ "$taken" -eq 4 ] || fail "$name: only $taken of 4 went on"
	n=$(field evaluations out)
	mv out "$name.json"
	[ -z "$2" ] || db=(--db "$name.whole.db")
	run "${fixed[@]}" "$@" --budget "$n" --out "$name.whole" "${db[@]}" --json
	for key in evaluations kept refuted gain gain_believed config_hash; do
		[ "$(cat "$name.json" "$name/config.json" | field $key /dev/stdin)" = \
			"$(cat out "$name.whole/config.json" | field $key /dev/stdin)" ] ||
			fail "$name: another $key"
	done
}
again k1 "" 80 --device none --graph toy:200:3:4
again k2 "" 120 --device sim --graph "$graphs/train/vae.pb.zst" --hops 2 --strategy sweep
done_ killed_and_resumed

again k3 store 60 --device none --graph toy:200:3:4
[ "$(query k3.db 'SELECT count(*) FROM run')" -eq 1 ] || fail "$(query k3.db 'SELECT count(*) FROM run') runs"
[ "$(query k3.db 'SELECT count(*) FROM stint')" -eq 5 ] || fail "not five stints"
cmp -s <(trials k3.db) <(trials k3.whole.db) ||
	fail "other trials: $(diff <(trials k3.db) <(trials k3.whole.db) | head -3 | tr '\n' ' ')"
"$store" verify k3.db >/dev/null || fail "k3.db is unsound"
done_ killed_in_a_store

# Searches that cannot be resumed.
"$search" -q --device none --graph toy:40:2:6 --out r --budget 10000000 >out 2>&1 & pid=$!
await $pid test -s r/state
kill -9 $pid; wait $pid 2>/dev/null
cp r/state good
toy r --resume --seed 7; wants 'other settings'
head -c 100 good >r/state; toy r --resume; wants 'state.*(damaged|no saved search|settings|fit)'
head -c $(($(stat -c %s good) - 3)) good >r/state; toy r --resume; wants 'state.*damaged'
echo noise >r/state; toy r --resume; wants 'no saved search'
for back in 9 100 400; do # a bit that turned: in what the guide learnt, in what was kept, in a figure
	cp good r/state
	at=$(($(stat -c %s good) - back)) byte=$(tail -c $back good | od -An -tu1 -N1)
	# shellcheck disable=SC2059
	printf "\\x$(printf %x $((byte ^ 1)))" | dd of=r/state bs=1 seek=$at conv=notrunc status=none
	toy r --resume --budget 1; wants 'state is damaged'
done
done_ damaged_state

# If the same program has other decisions, as after an upgrade, a new search begins, and says so.
"$search" -q --device none --graph toy:40:3:6 --out q --budget 10000000 --db q.db >out 2>&1 & pid=$!
await $pid has_trials q.db 0
kill -INT $pid; wait $pid
[ -s q/state ] || fail "nothing to go on from"
run --device none --graph toy:40:2:6 --out q --budget 20 --resume
answers '^20 evaluations' q
grep -qE '^search: nothing to resume: q/state made other decisions' talk || fail "said: $(cat talk)"
run --device none --graph toy:40:2:6 --out q2 --budget 10000000 --db q.db --resume --seconds 0.1
answers 'evaluations in' q2
grep -qE '^search: nothing to resume: run [0-9a-f-]{36} made other decisions' talk || fail "said: $(cat talk)"
[ "$(query q.db 'SELECT count(*) FROM run')" -eq 2 ] || fail "not two runs"
run --device none --graph toy:40:3:6 --out q3 --from q
wants 'q/config.json is of another program, or of other decisions'
"$store" verify q.db >/dev/null || fail "q.db is unsound"
done_ other_decisions

# The first signal ends the search with its answer, the second at once; afterwards it can go on.
for sig in INT TERM; do
	rm -rf i
	"$search" --device none --graph toy:40:2:6 --out i --db i.$sig --budget 10000000 >out 2>talk & pid=$!
	await $pid has_trials i.$sig 1
	kill -$sig $pid; wait $pid; rc=$?
	answers 'takes .* less time' i
	[ -s i/state ] || fail "nothing to go on from"
	[ "$(query i.$sig 'SELECT state FROM stint')" = stopped ] || fail "$(query i.$sig 'SELECT state FROM stint')"
	n=$(sed -n 's/^\([0-9]*\) evaluations.*/\1/p' out)
	toy i --db i.$sig --resume --budget $((n + 5))
	answers "^$((n + 5)) evaluations" i
	"$store" verify i.$sig >/dev/null || fail "i.$sig is unsound"
done
toy t --seconds 0.05 --budget 100000000 --strategy random --no-adapt
answers 'evaluations in' t
[ -s t/state ] || fail "stopped by time, nothing to go on from"
done_ signals

if [ ! -e "$b/tests/fake_plugin.so" ]; then
	echo "skip: crashes: no fake plugin without the plugin's header"
	exit $failed
fi
fake=(--device "$b/tests/fake_plugin.so" --core "$(first_core)" --budget 20 --verdict-seconds 0.1
	--graph "$graphs/tiny/chain.pb.zst")
for nth in 1 2 3 5 8 12 17; do # whatever a worker compiles as its n-th program kills it
	FAKE_PLUGIN="fake:any=1;spread=40;nth=$nth" run "${fake[@]}" --out "f$nth" --db f.db --drift-checks 2 \
		--seed $nth
	if [ $rc -eq 0 ]; then answers '^20 evaluations' "f$nth"; else wants 'signal 6'; fi
done
FAKE_PLUGIN="fake:any=1;spread=40;crash=50" run "${fake[@]}" --out f
answers '[1-9][0-9]* crashed' f
FAKE_PLUGIN="fake:any=1;crash=101" run "${fake[@]}" --out f --db g.db
answers '20 crashed' f
[ "$(query g.db 'SELECT count(*) FROM failure')" -gt 0 ] || fail "failures are not in the store"
for db in f g; do "$store" verify $db.db >/dev/null || fail "$db.db is unsound"; done
done_ crashes

# A pipe is read more than once: for what its program promises, and to open it.
FAKE_PLUGIN="fake:any=1;spread=40" run "${fake[@]}" --out piped --graph <(cat "$graphs/tiny/chain.pb.zst")
answers '^[0-9]+ evaluations' piped
done_ a_pipe_is_a_program

# Programs run on all cores that this process may use, as the user's own would, unless a core or a number is named.
runs_on() { # NAME ARGUMENTS...: on how many cores, by the store
	FAKE_PLUGIN="fake:any=1;spread=40" run "${@:2}" --jobs 0 --out "$1" --db "$1.db"
	answers '^20 evaluations' "$1"
	query "$1.db" "SELECT description FROM machine" |
		sed -E 's/.*, run on ([0-9]+) of them.*/\1/; t; s/.*/1/' | sort -u
}
anywhere=("${fake[@]:0:2}" "${fake[@]:4}")
[ "$(runs_on mine "${anywhere[@]}")" = "$(nproc)" ] || fail "not on all of $(nproc) cores: $(cat talk)"
[ "$(runs_on named "${fake[@]}")" = 1 ] || fail "a core was named, and others ran programs"
[ "$(runs_on one "${anywhere[@]}" --cores 1)" = 1 ] || fail "one core was asked for"
done_ cores

# Figures of other cores or another compiler are not mixed with one's own: a search goes on where it was begun. What an
# older version left does not say where that was.
cp "$b/tests/fake_plugin.so" moving.so
long=(--device "$PWD/moving.so" "${fake[@]:2:2}" --budget 1000000 --verdict-seconds 0.1 --jobs 0 --space fusion
	--graph "$graphs/tiny/convolution.pb.zst")
export FAKE_PLUGIN="fake:any=1;spread=40"
run "${long[@]}" --seconds 0.2 --out moved
answers 'evaluations? in' moved
[ -s moved/state ] || fail "nothing to go on from"
cp moved/state begun
echo >>moving.so
run "${long[@]}" --seconds 0.2 --out moved --resume
wants 'moved/state was saved by a search on another machine or other cores, or with another compiler \(.*, build '
cmp -s moved/state begun || fail "another compiler's search was overwritten"
cp "$b/tests/fake_plugin.so" moving.so
run "${long[@]}" --seconds 0.2 --out moved --resume
grep -q 'nothing to resume' talk && fail "the same compiler: $(cat talk)"
LC_ALL=C sed 's/vantage search 3/vantage search 2/' begun >moved/state
run "${long[@]}" --seconds 0.2 --out moved --resume
answers 'evaluations? in' moved
grep -q 'nothing to resume: moved/state is of another version, and does not say where' talk || fail "$(cat talk)"
unset FAKE_PLUGIN
done_ goes_on_where_it_was_begun

# A search with a limit of time ends, whatever its compiler is doing. A candidate that is cut then has not failed. A
# limit that a slow machine has used up before the first candidate cuts none: a longer one will.
for more in "--jobs 0" "--jobs 2" "--jobs 0 --strategy sweep"; do
	for seconds in 0.5 5 50; do
		# shellcheck disable=SC2086
		FAKE_PLUGIN="fake:any=1;hang=100" run "${fake[@]}" --seconds $seconds --deadline 36000 $more \
			--out late --db late.db
		if grep -q 'given up for want of time$' out; then break; fi
	done
	answers '^0 evaluations in .*, [1-9][0-9]* given up for want of time$' late
done
[ "$(query late.db 'SELECT count(*) FROM failure')" -eq 0 ] || fail "what was given up is a failure in the store"
[ "$(query late.db 'SELECT count(*) FROM region')" -eq 0 ] || fail "what was given up has a price in the store"
FAKE_PLUGIN="fake:any=1;spread=40" run "${fake[@]}" --seconds 600 --jobs 0 --out late --db late.db --resume
answers '^20 evaluations' late
"$store" verify late.db >/dev/null || fail "late.db is unsound"
done_ time_is_kept

# Workers that compile ahead do not change the result: on a device with exact answers the steps are the same.
for jobs in 0 3; do
	run --device sim --graph "$graphs/tiny/attention.pb.zst" --budget 80 --jobs $jobs --out j$jobs
	answers '^80 evaluations' j$jobs
	run --device sim --graph "$graphs/tiny/attention.pb.zst" --budget 400 --strategy sweep --alpha 0 --jobs $jobs \
		--out s$jobs
	FAKE_PLUGIN="fake:any=1;spread=40;crash=20" run "${fake[@]}" --jobs $jobs --quiet-pairs --out k$jobs
	answers '^20 evaluations.*crashed' k$jobs
done
cmp -s j0/config.json j3/config.json && cmp -s s0/config.json s3/config.json ||
	fail "with workers that compile ahead the search went another way"
run "${fake[@]}" --jobs 1000 --out k
wants 'jobs'
done_ jobs

# Both of our modules compute the same, but not what the user's program computes: neither is taken. Nothing hangs here,
# so the deadline is long enough for any machine.
whole=("${fake[@]}" --start random --seed 3 --budget 0 --out w --deadline 36000)
FAKE_PLUGIN="fake:any=1;applied=1.5" run "${whole[@]}" --json
answers '"tuned":false.*"numbers":"wrong_numbers"' w
grep -q 'other numbers than the compiler.s own (on normal inputs' out || fail "$(cat out)"
cmp -s w/tuned.pb w/default.pb || fail "something else than the default came out"
FAKE_PLUGIN="fake:any=1" run "${whole[@]}" --json
answers '"numbers":"ok".*"inputs":"normal".*"inputs":"large".*"inputs":"zero"' w
grep -q '<td>large</td>' w/report.html || fail "the page does not say on which inputs"
FAKE_PLUGIN="fake:any=1" run "${whole[@]}"
answers 'Its numbers are those of the compiler.s own program on normal, positive, large, small, zero inputs' w
done_ other_numbers

# What is exact is asked once: bytes are never confirmed, checked, or weighed by six workers.
FAKE_PLUGIN="fake:any=1;spread=40" run "${fake[@]}" --objective bytes --start random --seed 1 --budget 12 \
	--drift-checks 2 --out e --deadline 36000 --json
answers '"compiled":1,.*"kept":[1-9].*"refuted":0,.*"checks":\[\]' e
grep -q '"instances":0,"pairs":0,' out || fail "bytes were timed: $(cat out)"
done_ exact_figures

# A text that says over how many devices it is spread, opened for one.
printf 'HloModule m, replica_count=4, num_partitions=2\n\nENTRY e {\n' >spread.hlo
printf '  x = f32[8] parameter(0)\n  ROOT y = f32[8] negate(x)\n}\n' >>spread.hlo
"$search" --device sim --graph spread.hlo --budget 1 --out s >out 2>talk
grep -q 'written for 2 partitions, and opened for 1; --partitions 2' talk || fail "nothing of partitions: $(cat talk)"
grep -q 'written for 4 replicas, and opened for 1; --replicas 4' talk || fail "nothing of replicas: $(cat talk)"
sed -i 's/, replica_count=4, num_partitions=2//' spread.hlo
"$search" --device sim --graph spread.hlo --budget 1 --out s >out 2>talk
grep -q 'written for' talk && fail "words about devices of a program for one: $(cat talk)"
done_ spread_is_told

# No whole program is run, so its time is not known.
FAKE_PLUGIN="fake:any=1;spread=40" run "${fake[@]}" --unverified --json --out u
answers '"evaluations":20.*"default_seconds":0,' u
FAKE_PLUGIN="fake:any=1" run "${fake[@]}" --unverified --start random --out u
wants 'starts from the default'
FAKE_PLUGIN="fake:any=1" run "${fake[@]}" --unverified --strategy greedy --out u
wants 'starts from the default'
done_ unverified

export FAKE_PLUGIN="fake:any=1;spread=40"
fake=("${fake[@]/chain/convolution}") # which does not run out of things to try
# A second signal, before the first one's verdict: two kinds, so that the system does not make them one.
rm -f talk
"$search" "${fake[@]}" --budget 1000000 --no-adapt --out j >out 2>talk & pid=$!
await $pid grep -q 'sites in' talk
kill -STOP $pid; kill -INT $pid; kill -TERM $pid; kill -CONT $pid # so that it hears both at once
wait $pid; rc=$?
[ $rc -eq 130 ] || fail "second signal: status $rc"
[ ! -s out ] && [ ! -e j/config.json ] || fail "stopped at once, yet there is an answer: $(cat out)"
run "${fake[@]}" --no-adapt --out j --resume # nothing of it is in the way: not its folder, not its lock
answers '^[0-9]+ evaluations' j
done_ second_signal

# Nothing was searched yet, and the compiler may take hours: the first signal ends it.
has_worker() {
	[ -n "$(cat /proc/$pid/task/$pid/children)" ]
}
printf 'HloModule net\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] sine(x)\n}\n' >slow.hlo
FAKE_PLUGIN="fake:any=1;slow=1000000" "$search" -q "${fake[@]}" --graph slow.hlo --out stopped >out 2>talk & pid=$!
await $pid has_worker
kill -INT $pid; wait $pid; rc=$?
wants 'stopped while .* was opened: nothing was searched'
[ ! -e stopped/config.json ] || fail "an answer: $(cat out)"
done_ stopped_while_opening
exit $failed
