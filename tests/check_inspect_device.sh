#!/bin/bash
# inspect --device: the model always, the plugin where there is one, and sentences where there is not.
set -u
inspect=${BIN:-bin}/inspect
graph=examples/graphs/tiny/chain.pb.zst
failed=0
case_() { # name, wanted pattern in the output, command
	local name=$1 want=$2 out
	shift 2
	out=$("$@" 2>&1)
	if grep -qE "$want" <<<"$out"; then
		echo "pass: $name"
	else
		echo "FAIL: $name: no \"$want\" in: $out"
		failed=1
	fi
}
[ -x "$inspect" ] || { echo "skip: inspect_device: $inspect is not built"; exit 0; }
case_ modelled '^run +[0-9.]+ us, 95% interval .*modelled' "$inspect" --device sim $graph
case_ modelled_json '"kind": "modelled"' "$inspect" --device sim --json $graph
case_ unknown_device 'there is no device "cup"; did you mean --device cpu\? Known are ' "$inspect" --device cup $graph
alone=$(mktemp -d) && cp "$inspect" "$alone/inspect" # beside nothing that was fetched
case_ missing_plugin "in none of: /nowhere.*make deps" env VANTAGE_PLUGIN_DIR=/nowhere "$alone/inspect" --device cuda \
	$graph
rm -r "$alone"
case_ no_such_version 'there is no version "7\.7" of device cpu; known are .*0\.0\.1' "$inspect" --device cpu@7.7 $graph
case_ no_versions 'there is no version "1" of device sim; known are none' "$inspect" --device sim@1 $graph
case_ pipeline_wants_no_file 'wants no file' "$inspect" --pipeline --device sim $graph
case_ no_pipeline 'its passes are not read' "$inspect" --pipeline --device sim
case_ missing_file 'nothing.pb' "$inspect" --device sim nothing.pb

# Stopped while the compiler is at work, it leaves nothing of what the compiler wrote.
fake=${B:-build/release}/tests/fake_plugin.so
if [ -e "$fake" ]; then
	. tests/await.sh
	tmp=$(mktemp -d)
	printf 'HloModule net\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] sine(x)\n}\n' >"$tmp/net.hlo"
	dumps() { [ -n "$(find "$tmp" -name 'vantage-dump-*')" ]; }
	FAKE_PLUGIN="fake:any=1;slow=1000000" TMPDIR=$tmp VANTAGE_LOCK_DIR=$tmp "$inspect" --space --device "$fake" \
		"$tmp/net.hlo" >"$tmp/said" 2>&1 & pid=$!
	await $pid dumps
	kill -INT $pid
	wait $pid
	case_ stopped 'inspect: stopped$' cat "$tmp/said"
	case_ nothing_is_left '^0$' sh -c "find '$tmp' -name 'vantage-dump-*' | wc -l"
	rm -r "$tmp"
else
	echo "skip: stopped: no fake plugin without the plugin's header"
fi
exit $failed
