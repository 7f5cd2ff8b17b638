#!/bin/bash
# search has small kernels of the answer welded where that is faster, says so, and measures it again.
set -u
. tests/script.sh
search=$(realpath "${BIN:-bin}/search") fake=$(realpath "${B:-build/release}/tests/fake_plugin.so")
graph=$(realpath examples/graphs/tiny/loop.pb.zst)
[ -x "$search" ] && [ -e "$fake" ] || { echo "skip: welding: no search or no fake plugin"; exit 0; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export VANTAGE_LOCK_DIR=$dir XDG_DATA_HOME=$dir/data XDG_CACHE_HOME=$dir/cache TMPDIR=$dir VANTAGE_CPUINFO=$dir/cpuinfo
echo 'flags : fpu' >cpuinfo
run() { # PERCENT of the time that welded programs take, and arguments; output in out, talk in talk
	FAKE_PLUGIN="fake:any=1;welded=$1" "$search" --device "$fake" --space fusion --model none \
		--verdict-seconds 0.5 --graph "$graph" "${@:2}" >out 2>talk || fail "status $?: $(cat talk)"
}
has() { grep -qE "$1" "$2" || fail "no \"$1\" in: $(cat "$2")"; }
lacks() { ! grep -qE "$1" "$2" || fail "\"$1\" in: $(cat "$2")"; }

run 50 --budget 1 --out half
has '^The tuned program takes .*% less time' out
welded='kernels were made [12], none of which moves more than 64 KiB a run, or a turn of its loop'
has "^[0-9]+ of its $welded, with which it took [0-9.]+% .* less" out
has '"welded_bytes": 65536' half/config.json
has 'kernels were made [12]' half/report.html
grep -q xla_cpu_small_call half/tuned.pb || fail "no call in tuned.pb"
done_ they_are_where_it_is_faster

run 50 --budget 0 --from half --out again
has '^The tuned program takes .*% less time' out
has "^[0-9]+ of its $welded\.\$" out
grep -q xla_cpu_small_call again/tuned.pb || fail "no call in the second tuned.pb"
done_ what_was_taken_is_measured_again

run 200 --budget 1 --out twice
lacks 'kernels were made' out
lacks xla_cpu_small_call twice/tuned.pb
has '"welded_bytes": 0' twice/config.json
run 50 --budget 1 --no-weld --out without
lacks 'kernels were made' out
lacks welded without/config.json
done_ they_are_left_where_it_is_not
exit $failed
