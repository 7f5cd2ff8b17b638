#!/bin/bash
# A program with a Cholesky decomposition and a triangular system (solve.hlo) is looked at, searched, and judged: two
# decisions are measured, and if one of them is kept, its numbers are those of the compiler's own program. Whether one
# is better is the machine's to say, so an answer without any is "skipped". Arranging its memory runs nothing but
# compiles it. Skipped without a plugin.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh
bin=$(realpath "${BIN:-bin}") deps=$(realpath -m "${DEPS:-.deps}") core=${CORE:-$(first_core)}
export VANTAGE_PLUGIN_DIR=${VANTAGE_PLUGIN_DIR:-$deps}
[ -e "$(DEPS=$deps tests/deps --where)" ] || { echo "skip: search_lapack: no plugin"; exit 0; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir

"$bin/inspect" --space tests/solve.hlo >"$dir/said" 2>&1 || fail "$(tail -3 "$dir/said")"
grep -q 'sites found' "$dir/said" || fail "no sites: $(tail -3 "$dir/said")"
done_ looked_at

search() { # NAME OPTIONS...
	local name=$1
	shift
	"$bin/search" --graph tests/solve.hlo --out "$dir/$name" --core "$core" --wait --budget 2 "$@" --json \
		>"$dir/$name.json" 2>"$dir/talk" || fail "$name: $(tail -3 "$dir/talk")"
}
search fusion --space fusion --verdict-seconds 0.5
grep -q '"evaluations":2' "$dir/fusion.json" || fail "evaluations: $(tail -c 2000 "$dir/fusion.json")"
done_ searched

if grep -q '"sentence":"Nothing better' "$dir/fusion.json"; then
	echo "skip: judged: neither of the two decisions is better, here and now"
else
	grep -q '"numbers":"ok"' "$dir/fusion.json" || fail "numbers: $(tail -c 2000 "$dir/fusion.json")"
	done_ judged
fi

search order --space order
[ -s "$dir/order/tuned.pb" ] || fail "nothing written: $(tail -3 "$dir/talk")"
done_ arranged
exit $failed
