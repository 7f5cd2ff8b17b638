#!/bin/bash
# bin/inspect from outside: what it prints, and how it refuses.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build/release} BIN=${BIN:-bin}
inspect=$BIN/inspect zoo=examples/graphs/tiny failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
pass() { echo "pass: $1"; }
fail() { echo "FAIL: $1: $2"; failed=1; }
[ -x "$inspect" ] || { echo "skip: inspect: $inspect is not built"; exit 0; }

# NAME, then words that the output of the command must hold, --, the command.
shows() {
	local name=$1 missing="" words=()
	shift
	while [ "$1" != -- ]; do words+=("$1"); shift; done
	shift
	if ! "$@" >"$tmp/out" 2>"$tmp/err"; then fail "$name" "$(head -1 "$tmp/err")"; return; fi
	for w in "${words[@]}"; do grep -qF -- "$w" "$tmp/out" || missing="$w"; done
	if [ -s "$tmp/err" ]; then fail "$name" "talks on stderr: $(head -1 "$tmp/err")"
	elif [ -n "$missing" ]; then fail "$name" "lacks \"$missing\""
	else pass "$name"; fi
}

# NAME, words, --, command: one line on stderr that holds the words, nothing on stdout, status 1.
refuses() {
	local name=$1 missing="" words=() rc
	shift
	while [ "$1" != -- ]; do words+=("$1"); shift; done
	shift
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	rc=$?
	for w in "${words[@]}"; do grep -qF -- "$w" "$tmp/err" || missing="$w"; done
	if [ $rc -ne 1 ]; then fail "$name" "exit status $rc"
	elif [ -s "$tmp/out" ]; then fail "$name" "prints on stdout"
	elif [ "$(wc -l <"$tmp/err")" -ne 1 ]; then fail "$name" "$(wc -l <"$tmp/err") lines on stderr"
	elif [ -n "$missing" ]; then fail "$name" "lacks \"$missing\" in: $(cat "$tmp/err")"
	else pass "$name"; fi
}

loop=$zoo/loop.pb.zst
shows text jit_loop "37 in 4 computations" "while" "12 rounds" content parameters -- "$inspect" "$loop"
shows named jit_loop "37 in 4 computations" -- "$inspect" --graph "$loop"
refuses named_twice "wants one file, not 2" -- "$inspect" --graph "$loop" "$loop"
shows json '"instructions": 37' '"computations": 4' '"content_hash": "' '"parameters": 2' '"bytes": 32768' \
	'"flops": ' '"trip_count": 12' '"dot": 1' -- "$inspect" --json "$loop"
shows stdin jit_loop -- "$inspect" - <"$loop"
shows nodes "tanh.1" "f32[128,128]" -- "$inspect" --nodes '^tanh' $zoo/chain.pb.zst
shows nodes_by_metadata "exp.1" -- "$inspect" --nodes 'jit\(chain\)/exp' $zoo/chain.pb.zst
shows nodes_json '"opcode": "tanh"' '"users": 2' -- "$inspect" --nodes 'tanh' --json $zoo/chain.pb.zst
shows no_nodes -- "$inspect" --nodes nothing_like_that $zoo/chain.pb.zst
shows dot "digraph" "tanh.1" "->" -- "$inspect" --dot $zoo/chain.pb.zst
shows dot_around "digraph" "exp.1" -- "$inspect" --around exp.1 --hops 1 $zoo/chain.pb.zst
if grep -q "tanh.1" "$tmp/out"; then fail dot_hops "tanh.1 is two hops from exp.1"; else pass dot_hops; fi
shows dot_calls "while" "style=dotted" "while.5" -- "$inspect" --around while.5 --hops 3 "$loop"
shows help "--nodes REGEX" "(default 2)" -- "$inspect" --help

if command -v python3 >/dev/null; then
	shows json_is_json -- sh -c '"$1" --json "$2" | python3 -c "import json,sys; json.load(sys.stdin)"' \
		- "$inspect" "$loop"
	shows nodes_json_is_json -- sh -c '"$1" --nodes . --json "$2" |
		python3 -c "import json,sys; assert len(json.load(sys.stdin)) == 37"' - "$inspect" "$loop"
else
	echo "skip: json_is_json: no python3"
fi
if command -v dot >/dev/null; then
	shows dot_is_dot "<svg" -- sh -c '"$1" --dot "$2" | dot -Tsvg' - "$inspect" "$loop"
fi

: >"$tmp/empty.pb"
head -c 500 "$loop" >"$tmp/cut.pb.zst"
head -c 300 /dev/urandom >"$tmp/noise.pb"
mkdir "$tmp/dump"
for name in before_optimizations cpu_after_optimizations; do
	cp $zoo/chain.pb.zst "$tmp/dump/module_0001.jit_f.$name.hlo.pb.zst"
done
shows dump "tanh" -- "$inspect" "$tmp/dump"
shows memory "most is alive" "at step" "over the program" -- "$inspect" --memory "$zoo/attention.pb.zst"
shows memory_json '"model_bytes"' '"alive"' '"course"' -- "$inspect" --memory --json "$zoo/loop.pb.zst"
cp "$loop" "$tmp/dump/module_0002.jit_g.before_optimizations.hlo.pb.zst"
"$inspect" "$tmp/dump" 2>"$tmp/err"
if [ "$(grep -o 'jit_[fg]' "$tmp/err" | tr '\n' ' ')" = "jit_g jit_f " ]; then pass dump_lists_the_largest_first
else fail dump_lists_the_largest_first "$(cat "$tmp/err")"; fi
refuses empty "$tmp/empty.pb" "is empty" -- "$inspect" "$tmp/empty.pb"
refuses directory "$tmp" "holds no *before_optimizations" -- "$inspect" "$tmp"
refuses absent "$tmp/none.pb" "cannot be opened" -- "$inspect" "$tmp/none.pb"
refuses cut "$tmp/cut.pb.zst" zstd -- "$inspect" "$tmp/cut.pb.zst"
refuses noise "$tmp/noise.pb" -- "$inspect" "$tmp/noise.pb"
refuses store "v3.sqlite.zst is a store" "\`store info FILE\`" -- "$inspect" tests/stores/v3.sqlite.zst
refuses two_files "one file" -- "$inspect" a b
refuses no_file "one file" -- "$inspect"
refuses typo "did you mean --nodes" -- "$inspect" --node x "$loop"
refuses bad_regex "regular expression" -- "$inspect" --nodes '(' "$loop"
refuses bad_node "no node tanh.7" "did you mean" -- "$inspect" --around tanh.7 $zoo/chain.pb.zst
big=$(ls -S examples/graphs/*/*.zst | head -1)
refuses big_picture "no picture" "--around" -- "$inspect" --dot "$big"
if [ -e /proc/self/mem ]; then # a file that opens and then cannot be read, even by root
	refuses unreadable "/proc/self/mem" "cannot be read" -- "$inspect" /proc/self/mem
fi
{ printf '\357\273\277'; "$inspect" --hlo "$loop"; } >"$tmp/marked.hlo"
shows byte_order_mark jit_loop -- "$inspect" "$tmp/marked.hlo"
refuses two_views "--hlo and --dot show different things" -- "$inspect" --hlo --dot "$loop"
refuses views_and_nodes "--memory and --nodes show" -- "$inspect" --memory --nodes tanh "$loop"
refuses hlo_is_no_json "--hlo is printed in a form of its own" -- "$inspect" --hlo --json "$loop"
refuses hlo_of_a_device "--hlo shows the program in the file" -- "$inspect" --hlo --device sim "$loop"
refuses hops_from_nowhere "--around NODE" -- "$inspect" --hops 3 "$loop"
refuses kind_of_nothing "add --space or --flip NODE" -- "$inspect" --space-kind order "$loop"
refuses spread_over_no_device "add --device NAME" -- "$inspect" --partitions 2 "$loop"
if [ -e /dev/full ]; then
	"$inspect" --help >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q "standard output cannot be written" "$tmp/err" && pass help_full_disk ||
		fail help_full_disk "$(cat "$tmp/err")"
	"$inspect" "$loop" >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && pass full_disk || fail full_disk "$(cat "$tmp/err")"
fi
exit $failed
