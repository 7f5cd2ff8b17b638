#!/bin/bash
# search has the answer's code generated in the other way where that is faster, says so, and measures it again.
set -u
. tests/script.sh
search=$(realpath "${BIN:-bin}/search") fake=$(realpath "${B:-build/release}/tests/fake_plugin.so")
graph=$(realpath examples/graphs/tiny/loop.pb.zst)
[ -x "$search" ] && [ -e "$fake" ] || { echo "skip: recode: no search or no fake plugin"; exit 0; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export VANTAGE_LOCK_DIR=$dir XDG_DATA_HOME=$dir/data XDG_CACHE_HOME=$dir/cache TMPDIR=$dir VANTAGE_CPUINFO=$dir/cpuinfo
echo 'flags : fpu avx512f' >cpuinfo
run() { # WIDE, and arguments; output in out, talk in talk
	FAKE_PLUGIN="fake:any=1;wide=$1" "$search" --device "$fake" --space fusion --model none \
		--verdict-seconds 0.5 --graph "$graph" "${@:2}" >out 2>talk || fail "status $?: $(cat talk)"
}
has() { grep -qE "$1" "$2" || fail "no \"$1\" in: $(cat "$2")"; }
lacks() { ! grep -qE "$1" "$2" || fail "\"$1\" in: $(cat "$2")"; }
option=xla_cpu_prefer_vector_width=512

run 50 --budget 1 --out half
has '^The tuned program takes .*% less time' out
has "^Its code has vectors of 512 bits.* \($option.*, with which it took [0-9.]+% .* less time\.\$" out
has "^$option\$" half/options.txt
has '"taken": true' half/config.json
has 'Its code has vectors of 512 bits' half/report.html
done_ it_is_taken_where_it_is_faster

run 50 --budget 0 --from half --out again
has '^The tuned program takes .*% less time' out
has '^Its code has vectors of 512 bits.*\)\.$' out
has "^$option\$" again/options.txt
done_ what_was_taken_is_measured_again

run 200 --budget 1 --out twice
lacks 'Its code has' out
lacks "$option" twice/options.txt
lacks '"taken": true' twice/config.json
run 50 --budget 1 --no-codegen --out without
lacks 'Its code has' out
lacks codegen without/config.json
echo 'flags : fpu' >cpuinfo
run 50 --budget 1 --out old
lacks 'Its code has' out
lacks "$option" old/config.json
done_ it_is_left_where_it_is_not

pieces=xla_multiheap_size_constraint_per_heap
run '100;pieces=50;temp=60000000' --budget 1 --out pieces
has '^Its code has temporary memory in pieces of 30 MB ' out
has "^$pieces=30000000\$" pieces/options.txt
has "$pieces=8000000" pieces/config.json
lacks "$pieces=8000000" pieces/options.txt
run '100;pieces=200;temp=60000000' --budget 1 --out whole
lacks "$pieces" whole/options.txt
has "$pieces=30000000" whole/config.json
has "$pieces=1000000" whole/config.json
run '100;pieces=50;temp=10000000' --budget 1 --out small
lacks "$pieces" small/config.json
done_ memory_is_asked_for_in_pieces_where_there_is_much
exit $failed
