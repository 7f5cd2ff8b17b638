#!/bin/bash
# Orders on the real compiler: it runs them exactly as asked, they compute the very same bits, our model of its memory
# is right to 1%, and a search needs fewer bytes by the compiler's word, by every strategy.
# needs: space/order
set -u
. tests/script.sh
bin=$(realpath "${BIN:-bin}") root=$(realpath .) build=$(realpath "${B:-build/release}") core=${CORE:-0}
plugin=$(DEPS=$(realpath -m "${DEPS:-.deps}") tests/deps --where)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir
[ -e "$plugin" ] && [ -x "$bin/search" ] && [ -x "$build/bench/order" ] || { echo "skip: order: no plugin"; exit 0; }
cd "$dir" || exit 1
graphs="tiny/attention tiny/branch tiny/loop tiny/update loops/heat loops/k-means loops/gru-language"

for g in $graphs; do
	"$build/bench/order" --core "$core" --seconds 0 --configs 8 --bits 2 "$root/examples/graphs/$g.pb.zst" \
		>out 2>talk ||
		fail "$g: $(tail -1 talk)"
	grep -q "random: 8 of 8 exactly as asked" out || fail "$g: not as asked: $(grep random: out)"
	grep -q "bits: 2 of 2" out || fail "$g: other bits: $(grep bits: out)"
	# Of a program of a few hundred bytes a table of a tuple is a percent.
	awk '/sites; model/ {m = $5; c = $7; gsub(/,/, "", m); d = m > c ? m - c : c - m; exit !(d <= c / 100 + 512)}' \
		out ||
		fail "$g: the model is off: $(head -1 out)"
done
done_ orders_are_kept_and_change_no_bit

"$bin/search" -q --core "$core" --space order --graph "$root/examples/graphs/loops/gru-language.pb.zst" --out tuned \
	--steps 20000 \
	--limit seconds:+1000% --verdict-seconds 2 --json >json 2>talk || fail "$(cat talk)"
grep -q '"tuned":true' <(tr -d ' \n' <json) || fail "not tuned: $(cat json)"
grep -q '"numbers_equal":true' <(tr -d ' \n' <json) || fail "other numbers"
[ -s tuned/tuned.pb ] && [ -s tuned/tuned.exe ] && [ -s tuned/report.html ] && [ -s tuned/config.json ] ||
	fail "files are missing"
python3 - <<'P' || fail "bytes are not fewer than the better of the compiler's ways"
import json
j = json.load(open("json"))
w = {k: v["bytes"] for k, v in j["ways"].items()}
raise SystemExit(not w["tuned"] < min(w["default"], w["depth-first"]))
P
done_ a_search_needs_less

"$bin/search" -q --core "$core" --space order --graph "$root/examples/graphs/loops/gru-language.pb.zst" --out unseen \
	--steps 20000 \
	--unverified --json >json 2>talk || fail "$(cat talk)"
grep -q '"tuned":false.*was not run.*"unverified":true' <(tr -d '\n' <json | sed 's/": /":/g') ||
	fail "said: $(cat json)"
grep -q numbers_equal json && fail "it says something of numbers"
[ -s unseen/tuned.exe ] && [ -s unseen/options.txt ] && ! cmp -s unseen/tuned.pb unseen/default.pb ||
	fail "it is not written"
done_ what_is_not_run_is_written_all_the_same

# What is refused leaves no executable, and neither does an earlier search, because that would be loaded first.
"$bin/search" -q --core "$core" --space order --graph "$root/examples/graphs/tiny/update.pb.zst" --out unseen \
	--steps 2000 --limit seconds:-90% --verdict-seconds 0.5 --json >json 2>talk || fail "$(cat talk)"
grep -q '"tuned":false.*less temporary memory, but takes .*the default is the answer' \
	<(tr -d '\n' <json | sed 's/": /":/g') || fail "said: $(cat json)"
cmp -s unseen/tuned.pb unseen/default.pb && [ ! -s unseen/options.txt ] || fail "the default is not the answer"
[ -e unseen/tuned.exe ] && fail "the executable of what was refused stays"
done_ what_is_refused_is_not_written

for how in guided anneal regal brkga sweep random; do
	"$build/bench/order" --core "$core" --seconds 1 --strategy $how \
		--configs 0 "$root/examples/graphs/loops/gru-language.pb.zst" \
		>out 2>talk || fail "$how: $(tail -1 talk)"
	grep -q "tuned: .* -[0-9.]*% below" out && fail "$how: worse than the compiler's ways: $(tail -1 out)"
done
"$bin/search" -q --core "$core" --space order --graph "$root/examples/graphs/loops/gru-language.pb.zst" --out no \
	--limit bytes:+0% \
	>out 2>talk && fail "a limit on bytes was taken"
grep -q "bytes are what the search makes small" talk || fail "said: $(tail -1 talk)"
done_ strategies_and_limits

# Fusion first, then the order: fast within a limit on bytes that the compiler's order breaks; and small.
joint() {
	"$bin/search" -q --core "$core" --space fusion+order --graph "$root/examples/graphs/loops/gru-language.pb.zst" \
		--budget 4 --seconds 16 --verdict-seconds 1 --json "$@" >json 2>talk || fail "$*: $(cat talk)"
}
# What fusion keeps hangs on what was measured, and with it how many bytes are to be won; so here it keeps nothing.
joint --out fast --limit bytes:-25% --steps 20000 --budget 0
python3 - <<'P' || fail "not arranged within the limit: $(cat json)"
import json
j = json.load(open("json"))
room = 0.75 * j["default_bytes"]
raise SystemExit(not (j["ways"]["decided"]["bytes"] > room >= j["ways"]["tuned"]["bytes"] and j["numbers"] == "ok"
	and j["verdict"]["quantity"] == "seconds" and "within the limit bytes:-25%" in j["sentence"]))
P
[ -s fast/tuned.exe ] && [ -s fast/fusion/decisions.json ] && [ -s fast/report.html ] ||
	fail "files are missing: $(ls fast fast/fusion)"
joint --out roomy --limit bytes:+1000%
grep -q '"moves": 0,' json || fail "arranged although there was room: $(cat json)"
# Where no arrangement of what was decided keeps the limit, the compiler's own program is tried.
"$bin/search" --core "$core" --space fusion+order --graph "$root/examples/graphs/loops/gru-language.pb.zst" --budget 2 \
	--seconds 8 --steps 2000 --verdict-seconds 1 --limit bytes:-90% --out beyond --json >json 2>talk ||
	fail "beyond: $(tail -1 talk)"
grep -q "what was decided needs .* beyond the limit" talk && grep -q "so the compiler's own program is arranged" talk &&
	grep -q '"default": {' json && grep -q "the program needs .* beyond the limit" json ||
	fail "beyond: $(cat talk json)"
joint --out small --objective bytes --limit seconds:+1000% --steps 20000
python3 - <<'P' || fail "not smaller: $(cat json)"
import json
j = json.load(open("json"))
raise SystemExit(not (j["tuned"] and j["ways"]["tuned"]["bytes"] < j["ways"]["decided"]["bytes"] and
	j["verdict"]["quantity"] == "bytes" and j["numbers"] == "ok" and "computes the same numbers" in j["sentence"]))
P
done_ fusion_and_order_together
exit $failed
