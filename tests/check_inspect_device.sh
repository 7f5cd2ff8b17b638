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
exit $failed
