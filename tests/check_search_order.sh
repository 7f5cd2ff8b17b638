#!/bin/bash
# Orders without a compiler: a search on a CostGraphDef goes by the model, finds the order that needs least, proves it,
# and ends at once.
# needs: space/order
set -u
. tests/script.sh
bin=$(realpath "${BIN:-bin}")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR=$dir XDG_CACHE_HOME=$dir
cd "$dir" || exit 1

# Three chains of a large output that becomes small, listed so that all the large ones come first.
for i in 1 2 3; do
	echo "node { name: \"large$i\" id: $i output_info { size: 1000 } }"
done >chains.pbtxt
for i in 1 2 3; do
	echo "node { name: \"small$i\" id: 1$i input_info { preceding_node: $i } output_info { size: 10 } }"
done >>chains.pbtxt
echo 'node { name: "sum" id: 20 input_info { preceding_node: 11 } input_info { preceding_node: 12 }
	input_info { preceding_node: 13 } output_info { size: 1 } }' >>chains.pbtxt

"$bin/search" --space order --graph chains.pbtxt --seconds 600 --out found --json >json 2>talk || fail "$(cat talk)"
grep -q "sizes are taken for units of 64 bytes" talk || fail "units were changed in silence: $(cat talk)"
python3 - <<'P' || fail "said: $(cat json)"
import json
j = json.load(open("json"))
unit = 64
best = (1000 + 10 + 10 + 10) * unit # the third large one becomes small, beside the first two
raise SystemExit(not (j["ways"]["tuned"]["bytes"] == best and j["least_bytes"] == best and j["proved_least"]
	and j["unverified"] and j["search_seconds"] < 60 and "bits_equal" not in j))
P
for f in tuned.pb default.pb config.json report.html; do
	[ -s found/$f ] || fail "$f is missing"
done
grep -q "there is no better one" found/report.html || fail "the report does not say that it is proved"
done_ a_cost_graph_is_searched_by_the_model

echo 'node { id: 1 control_input: 2 }' >wrong.pbtxt
"$bin/search" -q --space order --graph wrong.pbtxt >out 2>talk && fail "it was read"
grep -q "wrong.pbtxt, line 1: an input is of a node that is not there" talk || fail "said: $(cat talk)"
done_ a_broken_one_is_refused
exit $failed
