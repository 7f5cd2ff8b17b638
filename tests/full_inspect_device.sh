#!/bin/bash
# inspect --device cpu: every number is there, for people and as JSON.
set -u
inspect=${BIN:-bin}/inspect
graph=examples/graphs/tiny/chain.pb.zst
text=$("$inspect" --device cpu $graph 2>&1)
case $text in *"make deps"*) echo "skip: inspect_cpu: no plugin"; exit 0 ;; esac
json=$("$inspect" --device cpu --json $graph 2>&1)
failed=0
for want in '^compile +[0-9.]+ s' '^run +[0-9.e+-]+ [mun]?s, 95% interval .*measured' '^memory +[0-9.]+ MB' \
	'^optimised [0-9]+ instructions, [1-9][0-9]* of them fusions'; do
	grep -qE "$want" <<<"$text" || { echo "FAIL: inspect_cpu: no \"$want\" in: $text"; failed=1; }
done
for key in compile_seconds run_seconds run_se peak_bytes instructions fusions; do
	grep -qE "\"$key\": [1-9.][0-9.e-]*|\"$key\": 0\.[0-9]+" <<<"$json" ||
		{ echo "FAIL: inspect_cpu: no $key in: $json"; failed=1; }
done
[ $failed -eq 0 ] && echo "pass: inspect_cpu"

# The memory of a program that is split is that of one part. By the compiler of one device, values are whole.
split='sharding={devices=[2,1]<=[2]}'
cat >"${TMPDIR:-/tmp}/split.$$.hlo" <<-END
	ENTRY e {
	  x = f32[1024,1024] parameter(0), $split
	  y = f32[1024,1024] exponential(x), $split
	  z = f32[1024,1024] sine(y), $split
	  ROOT r = f32[1024,1024] dot(z, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, $split
	}
END
needs() { # partitions
	"$inspect" --memory --json --device cpu --partitions "$1" "${TMPDIR:-/tmp}/split.$$.hlo" |
		sed -n 's/.*"compiler_bytes": \([0-9]*\).*/\1/p'
}
whole=$(needs 1) part=$(needs 2)
rm "${TMPDIR:-/tmp}/split.$$.hlo"
if [ -n "$whole" ] && [ -n "$part" ] && [ "$part" -ne "$whole" ]; then
	echo "pass: memory_of_one_part"
else
	echo "FAIL: memory_of_one_part: ${part:-nothing} beside ${whole:-nothing} for the whole"
	failed=1
fi

# What only compiles does not wait for cores on which others measure.
tmp=$(mktemp -d)
held=()
for core in $(seq 0 $(($(nproc --all) - 1))); do
	flock -F "$tmp/vantage-cpu-core$core.lock" sleep 600 &
	held+=($!)
done
for core in $(seq 0 $(($(nproc --all) - 1))); do # until each is held
	while flock -n "$tmp/vantage-cpu-core$core.lock" true; do sleep 0.1; done
done
for show in --memory --space --pipeline; do
	file=$graph
	[ $show = --pipeline ] && file=
	if said=$(VANTAGE_LOCK_DIR=$tmp timeout 300 "$inspect" $show --device cpu $file 2>&1); then
		echo "pass: locked_cores_$show"
	else
		echo "FAIL: locked_cores_$show: $(head -2 <<<"$said")"
		failed=1
	fi
done
kill "${held[@]}"

said=$("$inspect" --space --device tpu:v5e:3x7 $graph 2>&1)
case $said in
*"make deps-tpu"*) echo "skip: a_topology_that_is_none: no libtpu" ;;
*"cannot compile for v5e:3x7"*"written like tpu:v5e:2x2"*) echo "pass: a_topology_that_is_none" ;;
*) echo "FAIL: a_topology_that_is_none: $said"; failed=1 ;;
esac
rm -r "$tmp"
exit $failed
