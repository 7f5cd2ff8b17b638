#!/bin/bash
# Runs the test programs that include only base/, hlo/, graph/ and space/ under valgrind: no invalid access, no use of
# uninitialised memory, no leak. (The other tests start processes, compilers or threads.) They try a tenth of their
# random cases, because other numbers in the same code show valgrind nothing new.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build/release}
if ! command -v valgrind >/dev/null; then
	echo "skip: valgrind: not installed"
	exit 0
fi
if nm "$B/libvantage.a" 2>/dev/null | grep -qE '__(asan|tsan)_'; then
	echo "skip: valgrind: does not run what is built with a sanitizer"
	exit 0
fi
export TEST_FEWER=10
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
for source in tests/check_*.c tests/fuzz_*.c; do
	name=$(basename "$source" .c)
	name=${name#check_}
	[ -x "$B/tests/check_$name" ] || continue
	rooms="device|cost|ready|lab|store|collect|learn|search|inspect|tests/store_fixture"
	grep -qE "#include \"($rooms)[./]" "$source" && continue
	if valgrind -q --error-exitcode=99 --leak-check=full --trace-children=no \
		--child-silent-after-fork=yes "$B/tests/check_$name" >"$out" 2>&1; then
		echo "pass: valgrind_$name"
	else
		echo "FAIL: valgrind_$name: exit status $?"
		grep -v '^pass: ' "$out" | tail -20
	fi
done
