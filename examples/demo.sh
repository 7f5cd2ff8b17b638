#!/bin/bash
# The first three minutes (on two free cores): what vantage is made of, what it does to a real program, and what to do
# with one's own.
#
# A model is learnt from measurements that come with vantage, without those of WaveNet; with it WaveNet's training
# step is tuned, timed against the compiler's own program, and run once more by a program that shares no code with
# vantage. Every figure is measured here and now, whatever it turns out to be: on a busy machine a search gets less
# far in its time, and intervals are wider. Called by `make demo`, which has fetched and built everything. BIN: the
# folder of the programs; DEMO_OUT: where results go; DEPS: where the plugin lies.
set -eu
cd "$(dirname "$0")/.."
BIN=${BIN:-bin} DEPS=${DEPS:-.deps}
out=${DEMO_OUT:-$(mktemp -d "${TMPDIR:-/tmp}/vantage-demo.XXXXXX")}
plugin=$(DEPS=$DEPS tests/deps --where || true)
export VANTAGE_PLUGIN_DIR=${VANTAGE_PLUGIN_DIR:-$(realpath -m "$DEPS")}
seconds=${DEMO_SECONDS:-60}
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*" >&2; "$@"; }

if [ ! -e "$plugin" ]; then
	echo "demo: there is no XLA plugin in $DEPS, so nothing can be measured here. \`make deps\` fetches it and" \
		"says why when it cannot; bin/search --device sim shows the search on a modelled device." >&2
	exit 1
fi

say "1. Learn which decisions matter, from measured ones; WaveNet and shallow water are left out"
run "$BIN/store" merge "$out/runs.sqlite" models/cpu.runs.sqlite.zst
run "$BIN/learn" -q --db "$out/runs.sqlite" --threads "$(nproc)" --holdout 'wavenet|shallow-water' \
	--out "$out/unseen.vm" >"$out/scores.txt"
echo "(the model is $out/unseen.vm; how well it predicts the two it has not seen: $out/scores.txt)"

say "2. Tune a training step of WaveNet, which that model has never seen: $seconds seconds of search, then the verdict"
run "$BIN/search" --wait --graph examples/graphs/train/wavenet.pb.zst --space fusion --model "$out/unseen.vm" \
	--seconds "$seconds" --verdict-seconds "${DEMO_VERDICT:-10}" --out "$out/wavenet.tuned" | tee "$out/said.txt"

say "3. Run what came out by a program of 400 lines that knows the plugin only (examples/run/run_tuned.c)"
protoc-c --c_out="$out" schemas/hlo.proto schemas/compile_options.proto
${CC:-cc} -O2 -I. -I"$out" -I"$DEPS/xla_plugins/xla_cpu_pjrt/include" -o "$out/run_tuned" \
	examples/run/run_tuned.c "$out"/schemas/*.pb-c.c -lprotobuf-c -ldl -lm
# On one core, as it was judged: several gain differently. What the plugin logs begins with a letter for the level and
# a date.
core=$(taskset -pc $$ | sed 's/.*: *//; s/[-,].*//')
run taskset -c "$core" "$out/run_tuned" "$plugin" "$out/wavenet.tuned" \
	2> >(grep -vE '^(WARNING: All log|[IW][0-9]{4} )' >&2)

say "What came out, and what next"
sed -n 1p "$out/said.txt"
cat <<END
Every step of the search, with its figures: $out/wavenet.tuned/report.html
Not every program has so much to gain: README.md has a table, with small gains and none.

Your own program:
END
printf '    %-46s %s\n' examples/export/README.md "how to get it out of JAX, TensorFlow or PyTorch" \
	"$BIN/inspect step.pb" "what is in it" \
	"$BIN/inspect --space step.pb" "what there is to decide" \
	"$BIN/search --graph step.pb --seconds 300" "tune it, guided by the model that is shipped" \
	examples/run/README.md "how to run step.tuned/ from C and from JAX" \
	"$BIN/collect --graph step.pb --seconds 3600" "measure its decisions, for a better model from $BIN/learn"
