#!/bin/bash
# A night on the real plugin, as cron runs it, and the search in the morning. The shipped model was not trained on these
# programs, so the first night's model is judged against it.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh
bin=$(realpath "${BIN:-bin}") root=$PWD
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir XDG_DATA_HOME=$dir/data VANTAGE=$bin
export UNTIL=$(date -d "12 hours" +%H:%M) # by default it ends at 06:00, which may be now
"$bin/inspect" --device cpu examples/graphs/tiny/chain.pb.zst >/dev/null 2>&1 ||
	{ echo "skip: night: no plugin"; exit 0; }
cd "$dir" || exit 1
place=$dir/data/vantage/models/cpu/measured/fusion.vm log=$dir/data/vantage/night/log
quick="--learner gnn --epochs 0.01 --least-steps 100 --top-draws 0"
mkdir graphs && cp "$root/examples/graphs/tiny/attention.pb.zst" "$root/examples/graphs/tiny/scan.pb.zst" graphs

LEARN="$quick --json" "$root/examples/cron/vantage-night" graphs --samples 60 2>talk || fail "night 1: $(cat talk)"
grep -q '"old_path": ".*models/cpu.vm"' "$log" || fail "not judged against the shipped one: $(tail -c 600 "$log")"
grep -q '"old_may_have_seen_them": false' "$log" ||
	fail "the shipped model was not trained on these: $(tail -c 600 "$log")"
LEARN="$quick --json --force" "$root/examples/cron/vantage-night" graphs --samples 20 2>talk ||
	fail "night 2: $(cat talk)"
[ -s "$place" ] && tail -1 "$log" | grep -q 'a new model is in place' || fail "--force left none: $(tail -3 "$log")"
first=$(cksum <"$place")
LEARN=$quick "$root/examples/cron/vantage-night" graphs --samples 20 2>talk || fail "night 3: $(cat talk)"
tail -4 "$log" | grep -Eq "neither was trained on them|nothing improves" ||
	fail "not judged on what is new to both: $(tail -4 "$log")"
was=$place.before
tail -1 "$log" | grep -q 'stays' && was=$place
[ "$(cksum <"$was")" = "$first" ] || fail "what the log says is not what was done"
[ "$("$bin/store" query data/vantage/night/runs.sqlite 'SELECT count(*) FROM sample' --csv | tail -1)" = 100 ] ||
	fail "samples are missing"
"$bin/store" verify data/vantage/night/runs.sqlite >/dev/null || fail "unsound"
done_ three_nights_on_the_plugin

"$bin/search" --graph graphs/scan.pb.zst --budget 5 --verdict-seconds 1 --out s >out 2>talk || fail "$(cat talk)"
grep -q "^search: model $place: .* of 2 programs, measured .*; this program was one of them" talk || fail "$(cat talk)"
done_ the_search_in_the_morning_takes_it
exit $failed
