#!/bin/bash
# Every graph of the zoo can be read, is listed, and holds no trace of the machine that made it; all are small.
cd "$(dirname "$0")/.." || exit 1
BIN=${BIN:-bin} zoo=examples/graphs limit=$((8 << 20))
failed=0
pass() { echo "pass: $1"; }
skip() { echo "skip: $1: $2"; }
fail() { echo "FAIL: $1: $2"; failed=1; }

shopt -s nullglob
files=("$zoo"/*/*.pb.zst)
size=$(cat /dev/null "${files[@]}" | wc -c)
if [ "${#files[@]}" -eq 0 ]; then fail zoo_size "no graphs in $zoo"
elif [ "$size" -gt "$limit" ]; then fail zoo_size "$size bytes in all, wanted at most $limit"
else pass zoo_size
fi

twice=$(basename -a "${files[@]}" | sort | uniq -d)
[ -z "$twice" ] && pass zoo_distinct || fail zoo_distinct "in two folders: $twice"

if ! command -v zstd >/dev/null; then skip zoo_anonymous "no zstd command"
elif zstd -dcq "${files[@]}" | grep -aqE '\.py\b|/(home|root|tmp|usr|opt)/'; then
	fail zoo_anonymous "a graph names a file or a path"
else pass zoo_anonymous
fi

out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
for f in "${files[@]}"; do
	name=$(basename "$f" .pb.zst)
	if ! grep -q "^| $name |" "$zoo/README.md"; then fail "zoo_$name" "is not in $zoo/README.md"
	elif [ ! -x "$BIN/inspect" ]; then skip "zoo_$name" "$BIN/inspect is not built"
	elif "$BIN/inspect" --json "$f" >"$out" 2>&1; then pass "zoo_$name"
	else fail "zoo_$name" "$(head -1 "$out")"
	fi
done
exit $failed
