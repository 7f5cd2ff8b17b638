#!/bin/bash
# The demo as a stranger sees it, with a search of a few seconds: every part is shown and works, the verdict is the one
# that was measured, and without a plugin one sentence says what to do. The gain itself is not judged.
set -u
. tests/script.sh
bin=$(realpath "${BIN:-bin}") deps=$(realpath -m "${DEPS:-.deps}")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir BIN=$bin
DEPS=$dir/nowhere DEMO_OUT=$dir examples/demo.sh >"$dir/none" 2>&1 && fail "went on without a plugin"
grep -q 'make deps' "$dir/none" && [ "$(wc -l <"$dir/none")" -eq 1 ] || fail "$(cat "$dir/none")"
done_ demo_without_a_plugin

DEPS=$deps tests/deps --where >/dev/null && command -v protoc-c >/dev/null || {
	echo "skip: demo: no plugin"
	exit $failed
}
mkdir "$dir/out"
DEPS=$deps DEMO_OUT=$dir/out DEMO_SECONDS=5 DEMO_VERDICT=2 examples/demo.sh >"$dir/said" 2>"$dir/talk" ||
	fail "status $?: $(tail -3 "$dir/talk")"
grep -q 'this program was not one of them' "$dir/talk" || fail "not said what the model has seen"
verdict=$(sed -n 1p "$dir/out/said.txt") # shown when it was reached, and again at the end
[ -n "$verdict" ] && [ "$(grep -cFx -- "$verdict" "$dir/said")" -eq 2 ] || fail "not told at the end: $verdict"
grep '^default .* us, tuned' "$dir/said" || fail "nothing was run"
[ -s "$dir/out/wavenet.tuned/report.html" ] && [ -s "$dir/out/scores.txt" ] || fail "no report"
for command in $(sed -n 's|^    \([^ ]*\).*|\1|p' "$dir/said"); do
	[ -e "$command" ] || fail "names $command, which there is not"
done
done_ demo
exit $failed
