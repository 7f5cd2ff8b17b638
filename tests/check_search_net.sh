#!/bin/bash
# `search` on a public problem gives an answer in the contest's form, the same one for the same seed and steps; errors
# are sentences.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh
BIN=${BIN:-bin}
bin=$(realpath "$BIN")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# The best of these costs 211: node 1 must not take its first choice beside node 0's first, for memory.
cat >"$tmp/two.json" <<END
{"problem": {"name": "two", "nodes": {"intervals": [[0, 5], [3, 9]], "costs": [[1, 2], [10, 20]],
"usages": [[4, 1], [3, 1]]}, "edges": {"nodes": [[0, 1]], "costs": [[100, 190, 300, 1e18]]}, "usage_limit": 6}}
END
got=$("$BIN/search" --graph "$tmp/two.json" --seconds 5 2>"$tmp/err")
report answers "$([ "$got" = "[0, 1]" ] || echo "printed $got")"
told='two: cost 211, .*best there is; memory at most 5 of 6, at time 3'
report says_what_it_is_worth "$(grep -q "$told" "$tmp/err" || cat "$tmp/err")"

gzip -c "$tmp/two.json" >"$tmp/packed.json.gz"
got=$("$BIN/search" "$tmp/packed.json.gz" --seconds 5 --json --out "$tmp/answer" |
	grep -E '"(cost|peak|exact)"' | tr -d ' \t\n')
report packed_as_json "$([ "$got" = '"exact":true,"cost":211,"peak":5,' ] && [ "$(cat "$tmp/answer")" = "[0, 1]" ] ||
	echo "$got")"

# Options that would have no effect are refused, each in a sentence; so is --steps where nothing takes steps.
echo '{"maxSizePerFPGA": 9, "maxFPGAs": 1, "maxCPUs": 1, "nodes": [{"id": 1, "supportedOnFpga": 1, "cpuLatency": 3,
"fpgaLatency": 1, "isBackwardNode": 0, "size": 2}], "edges": []}' >"$tmp/place.json"
"$BIN/search" "$tmp/place.json" --goal load --placing one --json --out "$tmp/answer" >"$tmp/out" 2>"$tmp/err" ||
	fail "a placement: $(cat "$tmp/err")"
while IFS='|' read -r arguments why; do
	# shellcheck disable=SC2086
	(cd "$tmp" && exec "$bin/search" $arguments >out 2>err)
	[ $? -eq 1 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qF -- "$why" "$tmp/err" ||
		fail "$arguments: $(cat "$tmp/err")"
done <<'END'
two.json --db x.sqlite|--db has no effect on a public problem, unless --strategy
two.json --budget 2000|--budget has no effect
place.json --model none|--model has no effect
place.json --resume|--resume has no effect
two.json --placing heft|--placing is about operations that are placed
two.json --goal time|--goal is about operations that are placed
two.json --goal time --strategy own|--goal is about operations that are placed
place.json --jobs 2|--jobs is about nets
two.json --json|name a file for the answer itself with --out
place.json --json|name a file for the answer itself with --out
toy:40:2:6 --device none --steps 5|--steps has no effect
net:40:4:3 --strategy random --steps 5|--steps has no effect
END
[ ! -e "$tmp/x.sqlite" ] || fail "what was refused made a store"
done_ options_without_effect

refused=
while IFS='|' read -r text why; do
	echo "$text" >"$tmp/bad.json"
	"$BIN/search" "$tmp/bad.json" --seconds 5 >"$tmp/out" 2>"$tmp/err" && refused="$refused$text was taken; "
	[ ! -s "$tmp/out" ] && grep -qF "$why" "$tmp/err" || refused="$refused$text: $(cat "$tmp/err"); "
done <<'END'
{}|neither a problem of the iopddl contest
{"problem": 3}|bad.json: line 1, byte 13: '3' stands where an object should be
{"problem": {"nodes": {"intervals": [[0, 1]], "costs": [[1e18]], "usages": [[1]]}}}|has no feasible answer
{"problem": {"nodes": {"intervals": [[0, 1]], "costs": [[1]], "usages": [[9]]}, "usage_limit": 8}}|no feasible answer
END
report refuses "$refused"

# With a strategy the problem is a program like any other: a folder, a page, the answer in the owners' form.
"$BIN/search" -q "$tmp/two.json" --strategy own --steps 50 --out "$tmp/two" >"$tmp/out" 2>"$tmp/err" ||
	fail "$(cat "$tmp/err")"
[ "$(cat "$tmp/two/answer.json")" = "[0, 1]" ] || fail "answered $(cat "$tmp/two/answer.json")"
grep -q 'Memory over time' "$tmp/two/report.html" || fail "the page draws no memory"
for strategy in guided random sweep; do
	"$BIN/search" -q net:40:4:3 --strategy $strategy --budget 200 --out "$tmp/made" >"$tmp/out" 2>"$tmp/err"
	grep -q '^200 evaluations\|nothing was left' "$tmp/out" || fail "$strategy: $(cat "$tmp/out" "$tmp/err")"
done
"$BIN/inspect" --space net:40:4:3 2>&1 | grep -q '40 sites' || fail "inspect does not show the sites"
"$BIN/inspect" net:40:4:3 2>"$tmp/err" && fail "inspect shows what is no file"
cat >"$tmp/short.json" <<'END'
{"problem": {"nodes": {"intervals": [[2, 5], [9223372036854775807, 5]], "costs": [[1], [2]], "usages": [[3], [4]]},
 "usage_limit": 8}}
END
"$BIN/inspect" "$tmp/short.json" >"$tmp/out" 2>&1 || fail "inspect: $(cat "$tmp/out")"
[ "$(grep -cE '^ +[0-9]+ +0\.375 ' "$tmp/out")" -eq 3 ] || fail "three ticks have other rows: $(cat "$tmp/out")"
echo '{}' >"$tmp/other.json"
"$BIN/inspect" "$tmp/other.json" 2>"$tmp/err2" && fail "inspect takes any JSON for a problem"
grep -q 'neither a problem' "$tmp/err2" || fail "inspect does not say what a problem is: $(cat "$tmp/err2")"
grep -q 'made up.*--space' "$tmp/err" || fail "inspect does not say how to show a made-up program: $(cat "$tmp/err")"
"$BIN/search" -q "$tmp/bad.json" --strategy own --steps 50 --out "$tmp/none" 2>&1 |
	grep -q 'no answer that is allowed' || fail "a hopeless problem has an answer"
done_ nets_are_programs

cat >"$tmp/machine.txt" <<END
device gpu count 2 flops 1e9 bandwidth 1e9 memory 64MiB
device host flops 1e8 bandwidth 1e8
link gpu gpu bandwidth 1e9
link gpu host bandwidth 1e8 latency 1e-6
END
graph=examples/graphs/tiny/chain.pb.zst
"$BIN/search" -q --graph $graph --space place --machine "$tmp/machine.txt" --steps 500 --out "$tmp/placed" \
	>"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
grep -q 'When each device does what' "$tmp/placed/report.html" || fail "the page draws no timeline"
"$BIN/search" -q --graph $graph --space place --out "$tmp/x" 2>&1 | grep -q -- '--machine FILE' ||
	fail "no machine is asked for"
echo 'device gpu flops 0' >"$tmp/machine.txt"
"$BIN/search" -q --graph $graph --space place --machine "$tmp/machine.txt" --out "$tmp/x" 2>&1 |
	grep -q 'machine.txt, line 1: .*above 0' || fail "an impossible machine is taken"
done_ programs_are_placed
exit $failed
