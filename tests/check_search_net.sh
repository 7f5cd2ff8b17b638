#!/bin/bash
# `search` on a public problem gives an answer in the contest's form, the same one for the same seed and steps; errors
# are sentences.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh
BIN=${BIN:-bin}
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
