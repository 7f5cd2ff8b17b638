#!/bin/bash
# The program `learn` from end to end, on toys: collect, learn, score; and everything that can be wrong.
# needs: space/toy
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/await.sh
[ -x "$BIN/collect" ] || { echo "skip: check_learn: no collect"; exit 0; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
fails=0
db=$tmp/a.sqlite
export XDG_DATA_HOME=$tmp/data # where models go without --out
quick="-q --learner gnn --epochs 2 --least-steps 60 --width 16 --head 16"

is() { # NAME STATUS: passes when the status is 0
	if [ "$2" -eq 0 ]; then echo "pass: $1"; else
		echo "FAIL: $1: $(tail -c 300 "$tmp/err" 2>/dev/null | tr '\n' ' ')"
		fails=1
	fi
}
refuses() { # NAME WORD ARGUMENTS...: one sentence with the word, status 1
	local name=$1 word=$2
	shift 2
	"$BIN/learn" "$@" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "^learn: .*$word" "$tmp/err"
	is "$name" $?
}

"$BIN/collect" --device none -q -g toy:30:3:1 -g toy:30:3:2 -g toy:30:3:3 -n 270 --db "$db" >"$tmp/out" 2>"$tmp/err"
is collect_toys $?

"$BIN/learn" --db "$db" --holdout '3$' $quick --out "$tmp/m.vm" --json >"$tmp/out" 2>"$tmp/err"
is trains $?
python3 - "$tmp/out" <<'PY' 2>"$tmp/err"
import json, sys
g = json.load(open(sys.argv[1]))["graphs"]
assert len(g) == 1 and g[0]["graph"].endswith("3"), g
m = g[0]["model"]
assert len(m["recall"]) == 4 and all(0 <= x <= 1 for x in m["recall"] + m["gain"]), m
assert -1 <= m["spearman"] <= 1 and all(abs(x - 1) < 1e-9 for x in g[0]["measured twice"]["recall"]), g
PY
is scores_are_sane $?

"$BIN/learn" --db "$db" --eval "$tmp/m.vm" --holdout '3$' -q --json 2>"$tmp/err" | cmp -s - "$tmp/out"
is a_model_from_a_file_scores_the_same $?

"$BIN/learn" --db "$db" --holdout '3$' $quick --threads 2 --out "$tmp/n.vm" >"$tmp/out" 2>"$tmp/err" &&
	cmp -s "$tmp/m.vm" "$tmp/n.vm"
is threads_change_nothing $?

"$BIN/learn" --db "$db" --leave-one-out $quick --report "$tmp/loo.html" >"$tmp/out" 2>"$tmp/err" &&
	[ "$(grep -c '^toy' "$tmp/out")" -eq 3 ] &&
	grep -q '^mean: ' "$tmp/out"
is leaves_one_out $?

trees="-q --learner trees --leave-one-out --trees 20 --json"
for how in "" "--parts 3" "--parts 2" "--programs 9" "--programs 1"; do
	# shellcheck disable=SC2086 # several options
	"$BIN/learn" --db "$db" $trees $how >"$tmp/loo${how#--p}" 2>"$tmp/err" || break
done
cmp -s "$tmp/loo" "$tmp/looarts 3" && cmp -s "$tmp/loo" "$tmp/loorograms 9" &&
	! cmp -s "$tmp/loo" "$tmp/looarts 2" && ! cmp -s "$tmp/loo" "$tmp/loorograms 1" &&
	[ "$(grep -c '"graph": "toy' "$tmp/looarts 2")" -eq 3 ]
is leaves_parts_out_and_trains_on_fewer $?
for option in "--db $db" "--eval $tmp/m.vm" "--out $tmp/x.vm" --no-keep "--trees 100" --leave-one-out "-t 1"; do
	# shellcheck disable=SC2086
	refuses "models_are_only_listed${option%% *}" "--models only lists the models" --models --json $option
done
for option in "--out $tmp/x.vm" --leave-one-out "--other-weight 0.5" "--learner trees" "--epochs 1" "--trees 9" \
	--force --score-training; do
	name=${option%% *}
	# shellcheck disable=SC2086
	refuses "eval_trains_nothing$name" "--eval trains nothing, so $name has no effect" --db "$tmp/nowhere" \
		--eval "$tmp/m.vm" $option
done
refuses one_part_is_all "nothing is left to train on" --db "$tmp/nowhere" --leave-one-out --parts 1
refuses scores_are_its_own "what to hold out and to score on" --db "$tmp/nowhere" --leave-one-out --score-training
refuses trees_are_no_network "has no network, so --width has no effect" --db "$tmp/nowhere" --learner trees --width 9
refuses trees_have_no_parts "has no network, so --blind has no effect" --db "$tmp/nowhere" --learner trees --blind
refuses trees_are_not_trained "has no network, so --rate has no effect" --db "$tmp/nowhere" --rate 0.1 --learner trees
refuses a_network_grows_no_trees "has no trees, so --lambda has no effect" --db "$tmp/nowhere" --learner gnn --lambda 2
refuses absolute_anyway "--absolute is for --learner gnn" --db "$tmp/nowhere" --absolute
refuses patience_with_nothing "--patience .* add --holdout" --db "$tmp/nowhere" --patience 3 --out "$tmp/x.vm"
refuses parts_need_leave_one_out "leave-one-out" --db "$db" --parts 2

bad=0
for learner in both corrected; do
	"$BIN/learn" --db "$db" --learner $learner -q --epochs 0.01 --least-steps 20 --width 16 --head 16 \
		--trees 20 \
		--out "$tmp/$learner.vm" >"$tmp/out" 2>"$tmp/err" &&
		"$BIN/learn" --db "$db" --eval "$tmp/$learner.vm" -q --json 2>"$tmp/err" |
		grep -q '"graph": "toy' || bad=1
done
[ $bad -eq 0 ]
is network_and_trees_side_by_side_and_one_after_the_other $?

# Whatever ends a long training, the model that it had last can be used, and the one that was in its place is there.
bad=0
written() { find "$tmp" -name "last-$learner.vm.*.tmp" -size +0 | grep -q .; }
for learner in both corrected; do
	cp "$tmp/m.vm" "$tmp/last-$learner.vm"
	"$BIN/learn" --db "$db" --learner $learner -q --epochs 1e6 --width 16 --head 16 --trees 20 \
		--out "$tmp/last-$learner.vm" --seconds 5 >"$tmp/out" 2>"$tmp/err" & pid=$!
	await $pid written
	kill -KILL $pid; wait $pid 2>/dev/null
	cmp -s "$tmp/m.vm" "$tmp/last-$learner.vm" || bad=1
	for left in "$tmp/last-$learner.vm".*.tmp; do
		"$BIN/learn" --db "$db" --eval "$left" -q --json 2>"$tmp/err" | grep -q '"graph": "toy' && break
	done || bad=1
done
[ $bad -eq 0 ]
is a_killed_training_leaves_two_models $?

"$BIN/learn" --db "$db" --eval "$tmp/m.vm" -q --report "$tmp/eval.html" >"$tmp/out" 2>"$tmp/err" &&
	python3 - "$tmp" <<'PY' 2>"$tmp/err"
import sys, re
from html.parser import HTMLParser
void = {"meta", "circle", "line", "path"}
class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.count = [], {}
    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in void:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
for name, plots, rows in ("loo", 4, 3 + 1), ("eval", 3, 3 + 1):
    text = open(sys.argv[1] + "/" + name + ".html").read()
    p = Page()
    p.feed(text)
    p.close()
    assert not p.open and p.count["svg"] == plots, (p.open, p.count)
    assert text.count("<tr><td>toy") + text.count("<tr><td>mean") == rows, name
    assert not re.search(r"\bnan\b|\binf\b|https?://(?!www.w3.org)", text) and "script" not in p.count, name
    assert p.count["circle"] > 20, p.count
PY
is pages_are_whole $?

few_of() { # LEARNER: options of its own for little training
	[ "$1" = trees ] || echo "--epochs 2 --least-steps 40 --width 16 --head 16"
	[ "$1" = gnn ] || echo "--trees 20"
}
# Trees, alone and beside the network: the same bytes however many threads, and a file that scores and guides.
for learner in trees both; do
	# shellcheck disable=SC2046 # several options
	"$BIN/learn" --db "$db" --holdout '3$' -q $(few_of $learner) --learner $learner --out "$tmp/t.vm" \
		--json >"$tmp/out" 2>"$tmp/err" &&
		"$BIN/learn" --db "$db" --holdout '3$' -q $(few_of $learner) --learner $learner --threads 3 \
			--out "$tmp/n.vm" --json 2>"$tmp/err" |
		cmp -s - "$tmp/out" && cmp -s "$tmp/t.vm" "$tmp/n.vm" && ! cmp -s "$tmp/t.vm" "$tmp/m.vm"
	is "${learner}_train_the_same_on_any_threads" $?
	"$BIN/learn" --db "$db" --eval "$tmp/t.vm" --holdout '3$' -q --json 2>"$tmp/err" | cmp -s - "$tmp/out"
	is "${learner}_from_a_file_score_the_same" $?
	rm -rf "$tmp/tuned"
	[ ! -x "$BIN/search" ] || "$BIN/search" -g toy:30:3:3 --device none --model "$tmp/t.vm" --budget 30 -q \
		--out "$tmp/tuned" --json \
		>"$tmp/out" 2>"$tmp/err" && grep -q '"model_hash":"' "$tmp/out"
	is "${learner}_guide_a_search" $?
done
for learner in trees both corrected; do # these would grow for hours
	"$BIN/learn" --db "$db" -q --learner $learner --trees 100000 --seconds 0.5 --out "$tmp/s.vm" \
		>"$tmp/out" 2>"$tmp/err"
	is "${learner}_end_in_time" $?
done
few="-q --trees 20 --epochs 0.01 --least-steps 20"
"$BIN/learn" --db "$db" $few --out "$tmp/t.vm" --json >"$tmp/out" 2>"$tmp/err" &&
	"$BIN/learn" --db "$db" $few --learner both --out "$tmp/n.vm" --json >"$tmp/out" 2>"$tmp/err" &&
		cmp -s "$tmp/t.vm" "$tmp/n.vm"
is both_unless_told_otherwise $?
refuses no_such_learner "gnn, trees, both or corrected" --db "$db" --learner oracle

# As many choices at a site as there may be: through a store, a model and the search that it guides.
for learner in gnn trees; do
	rm -rf "$tmp/many"*
	# shellcheck disable=SC2046 # several options
	"$BIN/collect" --device none -q -g toy:6:200:2 -n 12 --db "$tmp/many.db" >"$tmp/out" 2>"$tmp/err" &&
		"$BIN/store" verify "$tmp/many.db" >"$tmp/out" 2>"$tmp/err" &&
		"$BIN/learn" --db "$tmp/many.db" -q --learner $learner $(few_of $learner) \
			--out "$tmp/many.vm" >"$tmp/out" 2>"$tmp/err" &&
		"$BIN/search" -g toy:6:200:2 --device none --model "$tmp/many.vm" --db "$tmp/many.db" --budget 40 -q \
			--out "$tmp/many" >"$tmp/out" 2>"$tmp/err" &&
		"$BIN/store" verify "$tmp/many.db" >"$tmp/out" 2>"$tmp/err" &&
		python3 - "$tmp/many/config.json" <<'PY' 2>"$tmp/err"
import json, sys
sites = json.load(open(sys.argv[1]))["sites"]
assert all(x["choices"] == 200 for x in sites) and max(x["chosen"] for x in sites) > 15, sites
PY
	is "${learner}_know_two_hundred_choices" $?
done

if [ -e /dev/full ]; then
	lost() { # COMMAND...: it says that its output is lost, status 1
		"$@" >/dev/full 2>"$tmp/err"
		[ $? -eq 1 ] && grep -q "standard output cannot be written" "$tmp/err" || bad=1
	}
	bad=0
	lost "$BIN/learn" --db "$db" --eval "$tmp/m.vm" -q
	lost "$BIN/learn" --db "$db" --eval "$tmp/m.vm" -q --json
	lost "$BIN/learn" --models
	lost "$BIN/collect" --device none -q -g toy:6:2:1 -n 3 --db "$tmp/lost.sqlite"
	[ $bad -eq 0 ]
	is an_output_that_is_lost_is_an_error $?
fi

# One graph is enough to train on.
"$BIN/learn" --db "$db" --holdout '[23]$' $quick --out "$tmp/n.vm" >"$tmp/out" 2>"$tmp/err"
is one_graph_is_enough $?

refuses a_broken_pattern_before_reading "holdout" --db "$tmp/nowhere.sqlite" --holdout '('
refuses no_place_for_the_model_before_reading "none/m.vm" --db "$tmp/nowhere.sqlite" --out "$tmp/none/m.vm"
refuses no_place_for_the_page_before_reading "is a directory" --db "$tmp/nowhere.sqlite" --report "$tmp"
refuses a_place_is_tried_without_a_trace "nowhere.sqlite" --db "$tmp/nowhere.sqlite" --out "$tmp/trace.vm"
[ -z "$(find "$tmp" -name 'trace.vm*')" ]
is no_trace_is_left $?

rm -f "$tmp/err"
"$BIN/learn" --db "$db" --learner gnn --epochs 1e6 --width 16 --head 16 --out "$tmp/killed.vm" \
	>"$tmp/out" 2>"$tmp/err" &
pid=$!
await $pid grep -q samples "$tmp/err"
kill -TERM $pid
wait $pid && "$BIN/learn" --db "$db" --eval "$tmp/killed.vm" -q >"$tmp/out" 2>"$tmp/err"
is terminated_it_saves $?

head -c 5000 "$tmp/m.vm" >"$tmp/short.vm"
refuses truncated_model "truncated" --db "$db" --eval "$tmp/short.vm"
"$BIN/learn" --help 2>&1 | tr -s ' \n' ' ' | grep -q -- '--epochs X [^-]*(default 10)'
is help_shows_defaults $?
refuses no_database "name a store with --db" --epochs 1
refuses report_nowhere "none/page" --db "$db" $quick --report "$tmp/none/page.html"
refuses missing_database "does not exist" --db "$tmp/none.sqlite"
refuses holdout_that_matches_nothing "matches no graph" --db "$db" --holdout zebra
refuses everything_held_out "held out" --db "$db" --holdout toy
cp "$db" "$tmp/unread.sqlite" && python3 - "$tmp/unread.sqlite" <<'PY' 2>"$tmp/err"
import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("UPDATE sample SET site = 1000")
d.commit()
PY
refuses a_store_that_cannot_be_read "no such site" --db "$tmp/unread.sqlite" --holdout '[23]$'
refuses everything_held_out_before_reading "all are held out" --db "$tmp/unread.sqlite" --holdout '.*'
refuses bad_pattern "holdout" --db "$db" --holdout '('
refuses another_backend "no samples" --db "$db" --backend tpu
refuses stray_word "zebra" --db "$db" zebra
if [ -x "$BIN/store" ]; then
	"$BIN/collect" --device sim --space fusion -q -g examples/graphs/tiny/chain.pb.zst -n 10 \
		--db "$tmp/sim.sqlite" >"$tmp/out" 2>"$tmp/err" &&
		refuses model_of_another_space "kind toy, not fusion" --db "$tmp/sim.sqlite" --eval "$tmp/m.vm" &&
		refuses foreign_model "trained for cpu, not for sim" --db "$tmp/sim.sqlite" --eval models/cpu.vm &&
		refuses foreign_alone "that --eval names" --db "$tmp/sim.sqlite" --foreign &&
		"$BIN/learn" --db "$tmp/sim.sqlite" --eval models/cpu.vm --foreign -q --json >"$tmp/out" 2>"$tmp/err" &&
		grep -q spearman "$tmp/out"
	is foreign_models_are_scored_if_asked $?
	"$BIN/learn" --db "$db" --db "$tmp/sim.sqlite" --no-keep --epochs 0.1 --least-steps 1 \
		>"$tmp/out" 2>"$tmp/err" &&
		grep -q "left out: its costs are modelled seconds on sim" "$tmp/err"
	is other_backends_are_left_out_and_said_so $?
fi
exit $fails
