#!/bin/bash
# search for several kinds of decision, one after the other, on the fake plugin: which are decided, in which order, and
# what is left of them where one finds nothing, is wrong, or has no time.
set -u
depthwise=$(realpath tests/depthwise.hlo)
. tests/search.sh
if [ ! -e "$b/tests/fake_plugin.so" ]; then
	echo "skip: kinds: no fake plugin without the plugin's header"
	exit $failed
fi
fake=(--device "$b/tests/fake_plugin.so" --core "$(first_core)" --budget 20 --verdict-seconds 0.1 --graph "$depthwise")

# A kind that others follow found nothing before the user stopped the search: that is an answer, wherever the next one
# is. Both write into the same store.
runs() { [ -s "$1" ] && [ "$(query "$1" 'SELECT count(*) FROM run' 2>/dev/null)" = "$2" ]; }
for n in 1 2; do # the kind that is being decided
	FAKE_PLUGIN="fake:any=1;hang=100" "$search" -q "${fake[@]}" --space rewrite,fusion --budget $((40 - 20 * n)) \
		--db kinds$n.db --out kinds$n >out 2>talk & pid=$!
	if [ $n = 1 ]; then await $pid runs kinds1.db 1; else await $pid test -s kinds2/rewrite/decisions.json; fi
	kill -INT $pid; wait $pid; rc=$?
	answers 'the default is the answer' kinds$n
	cmp -s kinds$n/tuned.pb kinds$n/default.pb || fail "another program than the default"
	"$store" verify kinds$n.db >/dev/null || fail "kinds$n.db is unsound"
done
[ "$(field space kinds1/config.json)" = rewrite ] || fail "of the kind $(field space kinds1/config.json)"
export FAKE_PLUGIN="fake:any=1"
run "${fake[@]}" --from kinds1 --budget 0 --out kinds3 # no kind is named
answers 'the default is the answer' kinds3
[ "$(field space kinds3/config.json)" = rewrite ] || fail "measured again as $(field space kinds3/config.json)"
run "${fake[@]}" --space rewrite,fusion --db kinds4.db --out kinds4
answers 'evaluations? in' kinds4
[ "$(query kinds4.db "SELECT count(*) FROM stint WHERE state IN ('stopped', 'finished')")" = 2 ] ||
	fail "runs that are not ended: $(query kinds4.db 'SELECT group_concat(state) FROM stint')"
done_ several_kinds

# A later search into the same folder leaves nothing of kinds that it did not decide, but what is not of the earlier
# search: a user's file, an answer of its own, the program that is searched.
mkdir kinds4/order && cp kinds4/rewrite/decisions.json kinds4/order && echo mine >kinds4/order/notes
"$search" -q --device sim --graph "$depthwise" --space fusion --budget 20 --out kinds4/place >/dev/null
echo own >kinds4/place/decisions.json
cp -r kinds4 kinds5 && cp "$depthwise" kinds5/rewrite/derived.pb
for n in 4 5; do
	graph=$depthwise; [ $n = 4 ] || graph=kinds5/rewrite/derived.pb
	run "${fake[@]/*depthwise*/$graph}" --space fusion --out kinds$n
	answers 'evaluations? in' kinds$n
	[ "$(cd kinds$n/order && echo *)" = notes ] || fail "of another kind: $(ls kinds$n/order)"
	[ -s kinds$n/place/tuned.pb ] && [ -s kinds$n/place/decisions.json ] || fail "an answer of its own is gone"
done
[ ! -e kinds4/rewrite ] || fail "left: $(ls kinds4/rewrite)"
[ -s kinds5/rewrite/derived.pb ] || fail "the program that was searched is gone"
done_ an_earlier_search_of_other_kinds

# What fusion decides makes the numbers wrong: what rewriting made is right without it.
FAKE_PLUGIN="fake:any=1;spread=40;applied=1.5" run "${fake[@]}" --space rewrite,fusion --start promised --budget 40 \
	--out mended
answers 'What the kind fusion decided was taken back in .* with it, on normal inputs.*Its numbers are' mended
done_ numbers_are_right_without_the_last_kind

# A program that may take long to compile is opened for the kind that sees the compiler's decisions, before the first.
awk '/ROOT/ { sub("ROOT ", ""); sub(" [a-z]+ =", " v0 ="); last = $0; print; next }
	/^}/ && last { for (i = 1; i < 2000; i++) printf "  v%d = f32[4,32,32,16] sine(v%d)\n", i, i - 1
		print "  ROOT r = f32[4,32,32,16] sine(v1999)" } { print }' "$depthwise" >large.hlo
for graph in large.hlo "$depthwise"; do
	"$search" "${fake[@]/*depthwise*/$graph}" --space rewrite,fusion --budget 2 --out ahead >out 2>talk || rc=$?
	grep -oE 'compiling it to see|shows no choices' talk | sed 's/^c.*/ahead/; s/^s.*/site/' | tr '\n' ' ' >order
	case "$graph $(cat order)" in
	"large.hlo ahead site "* | "$depthwise site "*) ;;
	*) fail "$graph: $(cat talk)" ;;
	esac
done
done_ large_programs_are_opened_for_the_later_kind_first
large=("${fake[@]/*depthwise*/large.hlo}")
"$search" "${large[@]}" --seconds 0.001 --out ahead >out 2>talk || fail "$(cat talk)"
grep -q 'so --space rewrite,fusion' talk && grep -q 'nothing is decided after what is computed in another way' talk ||
	fail "said: $(cat talk)"
[ "$(field space ahead/config.json)" = rewrite ] || fail "of the kind $(field space ahead/config.json)"
[ ! -e ahead/rewrite ] || fail "left of an earlier search: $(ls ahead/rewrite)"
done_ the_first_kind_is_alone_where_compiling_takes_too_long
FAKE_PLUGIN="fake:any=1;blown=2000" "$search" "${large[@]}" --seconds 0.001 --out blown >out 2>talk ||
	fail "$(cat talk)"
grep -q 'search: nothing is computed in another way' talk || fail "said: $(cat talk)"
[ "$(field space blown/config.json)" = fusion ] || fail "of the kind $(field space blown/config.json)"
done_ the_later_kind_is_alone_where_the_compiler_blows_the_program_up
exit $failed
