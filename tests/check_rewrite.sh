#!/bin/bash
# needs: space/rewrite
# What search does with rules: their names, the page, and one kind of decision after another.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh
BIN=${BIN:-bin}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

search() {
	"$BIN/search" --device sim -q --budget 0 --graph tests/depthwise.hlo "$@" \
		2>"$tmp/err"
}

search --space rewrite --start promised -o "$tmp/a" >"$tmp/said" || cat "$tmp/err"
report choices_have_words "$(grep -q '"what": "depthwise-forward: shifted multiply-adds"' "$tmp/a/config.json" ||
	cat "$tmp/a/config.json")"

search --space rewrite --skip-rule depthwise-backward -o "$tmp/b" >/dev/null
told='there is no rule called depthwise-backward; the rules are .*depthwise-forward'
report unknown_rules_are_told "$(grep -q "$told" "$tmp/err" || cat "$tmp/err")"

search --space rewrite --skip-rule depthwise-forward -o "$tmp/c" >/dev/null || cat "$tmp/err"
report rules_are_skipped "$(grep -q '"sites": \[\]' "$tmp/c/config.json" || grep sites "$tmp/c/config.json")"

# Some lose digits on some inputs.
cat >"$tmp/spread.hlo" <<'END'
HloModule spread

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[64,512] parameter(0)
  m = f32[64] parameter(1)
  b = f32[64,512] broadcast(m), dimensions={0}
  d = f32[64,512] subtract(x, b)
  q = f32[64,512] multiply(d, d)
  z = f32[] constant(0)
  ROOT y = f32[64] reduce(q, z), dimensions={1}, to_apply=add
}
END
for rule in "" "--with-rule one-pass-variance"; do
	search --space rewrite $rule --graph "$tmp/spread.hlo" -o "$tmp/s${rule:+w}" >/dev/null || cat "$tmp/err"
done
report some_rules_wait_until_they_are_asked_for "$(
	grep -q '"sites": \[\]' "$tmp/s/config.json" || echo "one is used unasked; "
	grep -q 'one-pass-variance' "$tmp/sw/config.json" || echo "one is not used; ")"

search --space rewrite,fusion --start promised -o "$tmp/d" >"$tmp/said" || cat "$tmp/err"
report what_came_first_is_told "$(grep -q "^First 0 evaluations of the kind rewrite" "$tmp/said" || cat "$tmp/said"
	grep -qF "<a href='rewrite/report.html'>" "$tmp/d/report.html" || echo "the page has no link")"
report one_kind_after_another "$(
	grep -q '"space": "rewrite"' "$tmp/d/rewrite/decisions.json" || echo "no decisions of the first kind; "
	[ -s "$tmp/d/rewrite/derived.pb" ] || echo "no program between; "
	grep -q '"before": ".*/d/rewrite"' "$tmp/d/config.json" || echo "the second does not name the first; "
	cmp -s "$tmp/d/default.pb" "$tmp/a/default.pb" || echo "the default is not the user's program; ")"
report pages_show_places "$(for word in 'Each place, before and after' 'convolution(' 'pad('; do
	grep -qF "$word" "$tmp/d/rewrite/report.html" || echo "the page does not say $word; "; done)"

# Rules are left out of the first kind of several; parameters are hoisted for one kind alone.
search --space rewrite,fusion --skip-rule depthwise-forward -o "$tmp/f" >/dev/null
report rules_are_skipped_before_another_kind \
	"$(grep -q '"sites": \[\]' "$tmp/f/rewrite/decisions.json" || cat "$tmp/err")"
report what_finds_nothing_leaves_the_program_alone "$(
	[ ! -e "$tmp/f/rewrite/derived.pb" ] || echo "it wrote a program; "
	grep -q '"before": null' "$tmp/f/config.json" || echo "the next kind names it; ")"
search --space rewrite,fusion --hoist-params 1 -o "$tmp/g" >/dev/null
told='takes other parameters, so no other kind can go on'
report parameters_are_hoisted_alone "$(grep -q "$told" "$tmp/err" || cat "$tmp/err")"
search --space rewrite --hoist-params 2 -o "$tmp/h" >/dev/null
report hoisted_parameters_exist "$(grep -q '2 parameters are numbered from 0' "$tmp/err" || cat "$tmp/err")"

# The strategies of other optimisers measure each operator once, and believe the sum.
for strategy in taso greedy; do
	"$BIN/search" --device sim --space rewrite --strategy $strategy --budget 50 \
		--graph tests/depthwise.hlo \
		-o "$tmp/$strategy" >"$tmp/said" 2>"$tmp/err"
	report "${strategy}_believes_in_sums" \
		"$(grep -q 'operators measured once each; [0-9]* programs' "$tmp/err" || cat "$tmp/err")"
done

# A concatenation is gone only if both of its readers are rewritten: an integer program sees that.
cat >"$tmp/shared.hlo" <<'END'
HloModule shared

ENTRY e {
  a = f32[64,200] parameter(0)
  b = f32[64,3000] parameter(1)
  w = f32[3200,4] parameter(2)
  g = f32[64,4] parameter(3)
  c = f32[64,3200] concatenate(a, b), dimensions={1}
  y = f32[64,4] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[3200,4] dot(c, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT t = (f32[64,4], f32[3200,4]) tuple(y, d)
}
END
if command -v cbc >/dev/null || command -v glpsol >/dev/null; then
	"$BIN/search" --device sim --space rewrite --strategy tensat \
		--graph "$tmp/shared.hlo" -o "$tmp/tensat" >"$tmp/said" 2>"$tmp/err"
	report tensat_solves_an_integer_program "$(grep -q 'rows, solved in' "$tmp/err" || cat "$tmp/err"
		[ "$(grep -c '"what": "split-concatenation' "$tmp/tensat/config.json")" = 2 ] ||
			cat "$tmp/tensat/config.json")"
fi
# Measuring and solving share the time: compiling three operators takes more than a second of three.
if [ -e "${B:-build/release}/tests/fake_plugin.so" ]; then
	mkdir "$tmp/bin" && printf '#!/bin/sh\necho "$3" >%s\necho Optimal >answer\n' "$tmp/seconds" >"$tmp/bin/cbc" &&
		chmod +x "$tmp/bin/cbc"
	FAKE_PLUGIN="fake:any=1;slow=400" PATH=$tmp/bin:$PATH "$BIN/search" --device \
		"${B:-build/release}/tests/fake_plugin.so" --core "$(first_core)" --wait --space rewrite \
		--strategy tensat --seconds 3 --verdict-seconds 0.1 --graph "$tmp/shared.hlo" -o "$tmp/slow" \
		>"$tmp/said" 2>"$tmp/err"
	report solving_gets_what_measuring_leaves "$([ "$(cat "$tmp/seconds")" -le 2 ] ||
		cat "$tmp/seconds" "$tmp/err")"
fi
PATH=/nowhere "$BIN/search" --device sim --space rewrite --strategy tensat \
	--graph "$tmp/shared.hlo" -o "$tmp/none" >"$tmp/said" 2>"$tmp/err"
report tensat_says_what_to_install "$(grep -q 'apt-get install coinor-cbc' "$tmp/err" || cat "$tmp/err")"

"$BIN/search" --device sim --strategy taso --budget 5 \
	--graph tests/depthwise.hlo -o "$tmp/e" \
	>"$tmp/said" 2>"$tmp/err"
report sums_need_operators "$(grep -q 'are not about operators' "$tmp/err" || cat "$tmp/err")"

# Rewritings are collected, learnt and searched by what was learnt, like any other decision.
"$BIN/collect" --device sim --core "${CORE:--1}" --wait -q --space rewrite --graph examples/graphs/train/vae.pb.zst \
	--graph tests/depthwise.hlo --samples 60 --db "$tmp/runs.sqlite" >/dev/null 2>"$tmp/err" &&
	"$BIN/learn" --db "$tmp/runs.sqlite" --learner trees -q -o "$tmp/rewrite.vm" 2>>"$tmp/err" &&
	"$BIN/search" --device sim --space rewrite --budget 12 --model "$tmp/rewrite.vm" \
		--graph tests/depthwise.hlo -o "$tmp/l" >"$tmp/said" 2>>"$tmp/err"
report rewritings_are_learnt "$(grep -q 'model .*rewrite.vm: 60 decisions of 2 programs' "$tmp/err" || cat "$tmp/err")"
