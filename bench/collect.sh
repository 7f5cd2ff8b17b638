#!/bin/bash
# Measures how many samples an hour gives, by region and by whole programs, and the device's share of the time.
#
#	make && bench/collect.sh [SECONDS=120 [CORE=0 [PROGRAM ...]]]
#
# Each program is opened, then sampled for SECONDS in both ways, from its default, with the same seed and a new store,
# so that nothing is cached from before. The rows are for bench/log.md. "device" is the share of the wall time that the
# plugin spent compiling or running; "cached" counts regions answered from the cache. Opening (compiling, learning the
# noise) is not part of the time.
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${1:-120} core=${2:-0} bin=$(realpath "${BIN:-bin}")
shift $(($# < 2 ? $# : 2))
shared=${SHARED_HLO:-../shared/hlo}
if [ $# -eq 0 ]; then
	set -- examples/graphs/held-out/graph-network.pb.zst "$shared"/dlrm_keras_jax_f32_train_step.pb \
		"$shared"/{resnet50_keras_jax_f32,diffrax.b380012920,bench_mass_matrix_35}.pb
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
number() { grep -oE "\"$1\":[-0-9.e]+" "$2" | cut -d: -f2; }
echo '| program | sites | region, samples/hour | device | cached | whole, samples/hour | device | ratio |'
echo '|---|---|---|---|---|---|---|---|'
for p in "$@"; do
	for how in region whole; do
		# The budget begins with the command: what opening takes is learnt first, and kept by the store.
		run=("$bin/collect" --db "$dir/$how.sqlite" --graph "$p" --device cpu --core "$core" --start default \
			--no-anchors --measure $how --quiet --json)
		"${run[@]}" --seconds 0.001 >"$dir/$how.open" 2>"$dir/talk" ||
			{ echo "$p, by $how, opening: status $?: $(cat "$dir/talk")" >&2; continue 2; }
		again=$(number opening_seconds "$dir/$how.open")
		"${run[@]}" --seconds "$(awk "BEGIN { print $seconds + $again }")" >"$dir/$how" 2>"$dir/talk" ||
			{ echo "$p, by $how: status $?: $(cat "$dir/talk")" >&2; continue 2; }
	done
	sites=$("$bin/store" query "$dir/region.sqlite" 'SELECT sites FROM space' --csv | tail -1)
	name=$(basename "$p"); name=${name%.zst}
	awk -v name="${name%.pb}" -v sites="$sites" -v c="$(number cached_share "$dir/region")" \
		-v r="$(number samples_per_second "$dir/region")" -v w="$(number samples_per_second "$dir/whole")" \
		-v rd="$(number device_share "$dir/region")" -v wd="$(number device_share "$dir/whole")" \
		'BEGIN { printf "| %s | %d | %d | %.0f%% | %.0f%% | %d | %.0f%% | %.1f |\n", name, sites,
			3600 * r, 100 * rd, 100 * c, 3600 * w, 100 * wd, (w > 0 ? r / w : 0) }'
	rm -f "$dir"/*.sqlite*
done
