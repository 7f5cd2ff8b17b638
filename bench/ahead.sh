#!/bin/bash
# ahead.sh [HELPERS...]: which share of the time of many workers a search makes use of.
# Uses a fake plugin whose compiling only sleeps, so a machine of two cores shows what one of sixty-four would do. A
# search prices candidates of a real program while HELPERS workers compile ahead. Prints, for each number of helpers:
# workers (the helpers and the one that measures, which compiles when it would only wait), evaluations, seconds, seconds
# of compiling that went into prices, and their share of the time of all workers. Then, as the search counts it: the
# shares of that time which workers spent on what was used, in vain, and with nothing to do; and the share of its own
# time that the search waited. All regions take equally long, but a kernel less saves time, so most steps are kept. The
# whole program takes a millisecond: of one that takes as long as a region, a kernel could save next to nothing.
# What a kept step makes useless, and confirmations, do not count as compiling.
# SLOW: seconds of one compilation (10). SECONDS_EACH: about how many seconds each run takes (120). GRAPH: the program
# (ranker, which is small for 64 workers).
set -u
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-bin} b=${B:-build/release} slow=${SLOW:-10} each=${SECONDS_EACH:-120}
graph=${GRAPH:-examples/graphs/held-out/ranker.pb.zst}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export VANTAGE_LOCK_DIR=$dir XDG_CACHE_HOME=$dir/cache VANTAGE_SHARE_CORES=1
# of NAME: that figure of the search's own account.
of() {
	grep -oE "\"$1\": ?[0-9.e+-]+" "$dir/out" | head -1 | sed 's/.*: *//' | grep . || echo 0
}

printf '%8s %12s %9s %11s %6s %6s %6s %6s %7s\n' workers evaluations seconds compiling share used vain idle waited
for n in "${@:-1 2 4 8 16 32 64}"; do
	for helpers in $n; do
		evaluations=$(awk "BEGIN { print int($each * ($helpers + 1) / (3.2 * $slow)) + 1 }")
		FAKE_PLUGIN="fake:any=1;whole=1000;slow=$((slow * 1000))" "$bin/search" -q --json \
			--device "$b/tests/fake_plugin.so" --jobs "$helpers" \
			--strategy random --budget "$evaluations" --drift-checks 0 --verdict-seconds 0.1 \
			--graph "$graph" \
			--out "$dir/o$helpers" --db "$dir/$helpers.db" >"$dir/out" 2>"$dir/talk" ||
			{ cat "$dir/talk"; exit 1; }
		seconds=$(of seconds)
		pairs=$("$bin/store" query "$dir/$helpers.db" 'SELECT count(*) FROM region' --csv | tail -1)
		awk "BEGIN { work = 2 * $slow * $pairs
			all = $seconds * ($helpers + 1)
			printf \"%8d %12d %9.1f %11.0f %5.0f%% %5.0f%% %5.0f%% %5.0f%% %6.0f%%\\n\", \
				$helpers + 1, $evaluations, $seconds, work, 100 * work / all, \
				100 * $(of used) / all, 100 * $(of in_vain) / all, 100 * $(of idle) / all, \
				100 * $(of search_waited) / $seconds }"
	done
done
