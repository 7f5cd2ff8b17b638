#!/bin/bash
# the first five minutes. Tunes a program that no model has seen, with the model that is
# shipped, and proves the gain; then shows on a small program how measurements and models come about.
# Called by `make demo`, which has fetched and built everything. Leaves its results in a folder and
# says where. BIN: the folder of the programs.
set -eu
cd "$(dirname "$0")/.."
BIN=${BIN:-bin}
out=${DEMO_OUT:-$(mktemp -d "${TMPDIR:-/tmp}/vantage-demo.XXXXXX")}
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

say "1. A program that was never measured before, tuned within two minutes"
run "$BIN/search" --wait --graph examples/graphs/held-out/ranker.pb.zst --seconds 100 --budget 600 --out "$out/ranker.tuned"

say "2. What the shipped model is made from: single decisions, measured (20 seconds of a night)"
run "$BIN/collect" --wait --db "$out/runs.sqlite" --graph examples/graphs/tiny/chain.pb.zst \
	--graph examples/graphs/tiny/reduction.pb.zst --seconds 20 --no-anchors
run "$BIN/store" ls "$out/runs.sqlite"

say "3. ... and learned from (a model of two small programs: only to see it work)"
run "$BIN/learn" --db "$out/runs.sqlite" --seconds 15 --out "$out/demo.vm"

say "The report of the tuned program: $out/ranker.tuned/report.html"
