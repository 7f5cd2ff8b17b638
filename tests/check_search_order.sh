#!/bin/bash
# Orders without a compiler: a search on a CostGraphDef goes by the model, finds the order that needs least, proves it,
# and ends at once.
# needs: space/order
set -u
. tests/script.sh
bin=$(realpath "${BIN:-bin}")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export VANTAGE_LOCK_DIR=$dir XDG_CACHE_HOME=$dir
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
	and j["unverified"] and j["search_seconds"] < 60 and "numbers_equal" not in j))
P
for f in tuned.pb default.pb config.json report.html; do
	[ -s found/$f ] || fail "$f is missing"
done
grep -q "there is no better one" found/report.html || fail "the report does not say that it is proved"
done_ a_cost_graph_is_searched_by_the_model

"$bin/search" -q --space order --graph chains.pbtxt --from found --out again >out 2>talk &&
	fail "it began from an earlier order"
grep -q "looked for anew each time" talk || fail "said: $(cat talk)"
"$bin/search" --space order --graph chains.pbtxt --resume --out found >out 2>talk || fail "$(cat talk)"
grep -q "nothing to resume" talk || fail "began anew in silence: $(cat talk)"
done_ an_order_is_looked_for_anew

echo 'node { id: 1 control_input: 2 }' >wrong.pbtxt
"$bin/search" -q --space order --graph wrong.pbtxt >out 2>talk && fail "it was read"
grep -q "wrong.pbtxt, line 1: an input is of a node that is not there" talk || fail "said: $(cat talk)"
done_ a_broken_one_is_refused

# A computation that holds memory, but has no step that could move: its only one is a call.
cat >still.hlo <<'P'
HloModule still
%inner (a: f32[1000], b: f32[1000]) -> f32[1000] {
  %a = f32[1000] parameter(0)
  %b = f32[1000] parameter(1)
  %e = f32[1000] exponential(%a)
  %s = f32[1000] sine(%e)
  %c = f32[1000] cosine(%e)
  %t = f32[1000] tan(%b)
  %d = f32[1000] add(%s, %t)
  ROOT %r = f32[1000] add(%d, %c)
}
%outer (x: f32[1000], y: f32[1000]) -> f32[1000] {
  %x = f32[1000] parameter(0)
  %y = f32[1000] parameter(1)
  ROOT %k = f32[1000] call(%x, %y), to_apply=%inner
}
ENTRY %main (p: f32[1000]) -> f32[10] {
  %p = f32[1000] parameter(0)
  %o = f32[1000] call(%p, %p), to_apply=%outer
  %v0 = f32[500] custom-call(%p, %p), custom_call_target="f"
  %v1 = f32[1300] custom-call(%o, %p), custom_call_target="f"
  %v2 = f32[300] custom-call(%v1, %v1), custom_call_target="f"
  %v3 = f32[700] custom-call(%v2, %o), custom_call_target="f"
  %v4 = f32[300] custom-call(%v3, %v3), custom_call_target="f"
  %v5 = f32[1100] custom-call(%v0, %v2), custom_call_target="f"
  %v6 = f32[1100] custom-call(%o, %v4), custom_call_target="f"
  %v7 = f32[1100] custom-call(%p, %v3), custom_call_target="f"
  %v8 = f32[1100] custom-call(%p, %v4), custom_call_target="f"
  ROOT %z = f32[10] custom-call(%v6, %v7, %v8), custom_call_target="g"
}
P
"$bin/search" -q --space order --device none --graph still.hlo --seconds 600 --steps 20000 --out still >out 2>talk ||
	fail "$(cat talk)"
grep -q "needs .*% less temporary memory" out || fail "said: $(cat out)"
done_ a_computation_that_cannot_move_is_left_alone

# What a joint search cannot do is said before anything is opened.
refused() {
	want=$1
	shift
	"$bin/search" -q --graph chains.pbtxt --out no "$@" >out 2>talk && fail "$* was taken"
	grep -q -- "$want" talk || fail "$*: said: $(cat talk)"
}
refused "makes seconds small here, so bytes can be limited" --space fusion+order --device sim --limit seconds:+1%
refused "makes bytes small here, so seconds can be limited" --space fusion+order --device sim --objective bytes \
	--limit bytes:+0%
refused "takes one limit" --space fusion,order --device sim --limit bytes:+0%,seconds:+1%
refused "makes seconds or bytes small, nothing else" --space fusion+order --device sim --objective cycles
refused "needs a device that runs them" --space fusion+order --device none
refused "needs a device that runs them" --space fusion+order --device sim --unverified
refused "no decision space called ordr" --space fusion,ordr
done_ a_joint_search_says_what_it_cannot_do
exit $failed
