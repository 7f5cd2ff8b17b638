#!/bin/bash
# Each known version of the CPU plugin that is here is recognised by its file, and its pipeline is read, understood and
# kept. The passes after fusion are those that were once read by hand from a dump of every pass. A second look uses what
# was kept. On small programs all of the compiler's own decisions are read back; applied, they are honoured.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh
bin=$(realpath "${BIN:-bin}") deps=$(realpath -m "${DEPS:-.deps}")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export VANTAGE_LOCK_DIR=$dir XDG_CACHE_HOME=$dir/cache VANTAGE_PLUGIN_DIR=${VANTAGE_PLUGIN_DIR:-$deps}
sorted() { tr , '\n' | sort; }

# Read off dumps. Those that also stand before fusion are left out (device/pipeline.h).
common="fusion-wrapper,cpu-all-reduce-combiner,simplification after layout assignment"
common+=",cpu-parallel-task-assigner,optimize_input_output_buffer_alias,copy-insertion,small-while-loop-hoisting"
declare -A behind=(
	[0.0.1]=$common
	[2026.6.23]=$common,propagate-call-metadata
	[0.11.2]=$common,propagate-call-metadata,apply-xla-transforms-0,apply-xla-transforms-1,cse_barrier_expander
)

field() { grep -oE "\"$1\": (\"[^\"]*\"|[a-z]+)" "$2" | head -1 | sed 's/^[^:]*: //; s/"//g'; }

while IFS='"' read -r _ _ _ version _ package _ _ _ file _; do
	name=plugin_$version
	if [ ! -e "$VANTAGE_PLUGIN_DIR/$file" ]; then
		echo "skip: $name: $package is not here; tests/deps --plugin $version fetches it"
		continue
	fi
	for device in "cpu@$version" "$VANTAGE_PLUGIN_DIR/$file"; do
		"$bin/inspect" --pipeline --json --device "$device" >"$dir/said" 2>"$dir/talk" ||
			fail "$(cat "$dir/talk")"
		[ "$(field device "$dir/said")" = cpu ] || fail "$device is kept under $(field device "$dir/said")"
		field version "$dir/said" | grep -q "$package" || fail "not known: $(field version "$dir/said")"
		diff <(field behind "$dir/said" | sorted) <(sorted <<<"${behind[$version]:-no list for it}") \
			>"$dir/differ" ||
			fail "other passes behind fusion: $(tr '\n' ' ' <"$dir/differ")"
		[ "$(field proved "$dir/said")" = true ] || fail "refused: $(field refused "$dir/said")"
	done
	[ "$(field kept "$dir/said")" = true ] || fail "read twice"
	done_ "$name"
	for graph in examples/graphs/tiny/*.pb.zst; do
		"$bin/inspect" --space --device "cpu@$version" "$graph" 2>&1 |
			grep -q '\b\([0-9]*\) of \1 groups equal' || fail "$graph"
	done
	done_ "${name}_default_read_back"
done < <(grep '^PLUGIN("cpu"' schemas/plugin.def) 
exit $failed
