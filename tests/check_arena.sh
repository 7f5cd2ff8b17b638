#!/bin/bash
# The arena from end to end on toys and the performance model: whole sessions through the Python client, budgets,
# garbage, clients and servers that are killed. The store is sound whatever happened.
# needs: space/toy
set -u
. tests/await.sh
. tests/script.sh
bin=$(realpath "${BIN:-bin}")
arena=$bin/arena store=$bin/store graphs=$(realpath examples/graphs) peers=$(realpath bench/peers) \
	client=$(realpath tests/arena_session.py)
[ -x "$arena" ] && [ -x "$store" ] || { echo "skip: arena: it is not built"; exit 0; }
command -v python3 >/dev/null || { echo "skip: arena: there is no python3"; exit 0; }
tmp=${TMPDIR:-/tmp}; [ -w /dev/shm ] && tmp=${TMPDIR:-/dev/shm} # every price is synced
dir=$(mktemp -d -p "$tmp") || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export VANTAGE_LOCK_DIR=$dir XDG_DATA_HOME=$dir/data TMPDIR=$dir PYTHONDONTWRITEBYTECODE=1 PATH=$bin:$PATH
RANDOM=7
sound() { "$store" verify "$1" >verified 2>&1 || fail "$1: $(tail -1 verified)"; }
query() { "$store" query "$1" "$2" --csv | tail -n +2; }

python3 "$client" session none toy:12:3:6 30 a.db out >talk 2>&1 || fail "$(tail -3 talk)"
sound a.db
[ "$(query a.db "SELECT count(*) FROM trial")" -eq 30 ] || fail "not every price is a trial"
[ "$(query a.db "SELECT how FROM finding ORDER BY step, n" | tr '\n' ' ')" = 'region final ' ] ||
	fail "findings: $(query a.db "SELECT how FROM finding")"
done_ whole_session

python3 "$client" session sim "$graphs/tiny/chain.pb.zst" 12 b.db out >talk 2>&1 || fail "$(tail -3 talk)"
sound b.db
[ "$(query b.db "SELECT count(*) FROM trial")" -eq 12 ] || fail "not every price is a trial"
done_ whole_session_on_a_device

python3 "$client" environment >talk 2>&1 || fail "$(tail -3 talk)"
done_ environment

# Our own proposals, by a model that is learnt here, gain about as much as a search with as many evaluations.
"$bin/collect" --device sim -q -g "$graphs/tiny/chain.pb.zst" -g "$graphs/tiny/convolution.pb.zst" \
	-g "$graphs/tiny/sort.pb.zst" \
	-n 400 --db m.db >talk 2>&1 && "$bin/learn" --db m.db --trees 40 -q --out m.vm >talk 2>&1 ||
		fail "no model: $(tail -1 talk)"
python3 "$client" guided "$graphs/train/shallow-water.pb.zst" sim fusion 80 m.vm >talk 2>&1 || fail "$(tail -3 talk)"
wrong=$(echo '{"do":"ask","how":"guided"}' | "$arena" -q --device none --graph toy:9 --model missing.vm 2>&1)
[[ $wrong == *'"ok":false'*missing.vm* ]] || fail "a missing model: $wrong"
done_ guided

# Each peer finds a gain on a toy, and the same one with the same seed.
for i in 1 2; do
	python3 "$peers/play.py" --device none --space toy --budgets 60 --seeds 4 --peers anneal,bandit toy:20:3:5 \
		>peers.$i 2>talk || fail "$(tail -3 talk)"
done
[ "$(grep -cE '"by": "(anneal|bandit)", "gain": 0\.[0-9]' peers.1)" -eq 2 ] || fail "found nothing: $(cat peers.1)"
[ "$(sed "s/, .seconds.*//" peers.1)" = "$(sed "s/, .seconds.*//" peers.2)" ] || fail "one seed, two answers"
done_ peers

# Peers play for orders, too. With few of them our own search is ahead, and looks at no more than it may.
python3 "$peers/play.py" --device none --space order --budgets 60 --seeds 1 --peers guided,random,anneal \
	"$graphs/train/vae.pb.zst" >games 2>talk || fail "$(tail -3 talk)"
python3 -c 'import json
gain = {row["by"]: row["gain"] for row in map(json.loads, open("games"))}
assert gain["guided"] > max(gain["random"], gain["anneal"]) >= 0, gain' 2>talk || fail "$(tail -1 talk)"
moves=$("$bin/search" -q --json --device none --space order -g "$graphs/train/vae.pb.zst" --steps 60 \
	--out arranged 2>talk | python3 -c 'import json, sys; print(json.load(sys.stdin)["moves"])')
[ "${moves:-0}" -le 60 ] && [ "${moves:-0}" -gt 50 ] || fail "looked at ${moves:-none} orders of 60: $(tail -1 talk)"
rm -f games
done_ peers_for_orders

# Each peer from a package plays, or is left out with a sentence. A table that was interrupted goes on.
packaged=$(cd "$peers" && grep -l '^needs: ' *.py | sed 's/\.py$//' | paste -sd,)
games="--device none --space toy --budgets 20 --peers $packaged,anneal --results games toy:9:3:5"
python3 "$peers/play.py" --seeds 1 $games >talk 2>&1 || fail "$(tail -3 talk)"
for peer in ${packaged//,/ }; do
	grep -q "\"by\": \"$peer\", \"gain\": [0-9]" games || grep -q "play: $peer is left out: .*needs ([a-z]" talk ||
		fail "$peer: $(tail -3 talk)"
done
cp games before
python3 "$peers/play.py" --seeds 1,2 $games >talk 2>&1 || fail "$(tail -3 talk)"
[ "$(head -n "$(wc -l <before)" games)" = "$(cat before)" ] && [ "$(wc -l <games)" -eq $((2 * $(wc -l <before))) ] ||
	fail "the table did not go on: $(cat games)"
grep -q '^| anneal | [0-9.]*% |' talk || fail "no table: $(cat talk)"
done_ peers_from_packages

# A line that is too long has an answer, and so has the one after it.
{ head -c 17000000 /dev/zero | tr '\0' ' '; echo; echo '{"do":"hello","id":3}'; } |
	"$arena" -q --device none --graph toy:9 >out.txt 2>talk
[ "$(wc -l <out.txt)" -eq 2 ] || fail "$(wc -l <out.txt) answers"
grep -q '"ok":false.*longer than' out.txt || fail "a long line: $(head -c 200 out.txt)"
grep -q '"ok":true,"id":3' out.txt || fail "after a long line: $(tail -1 out.txt | head -c 200)"
python3 "$client" fuzz "${SESSIONS:-60}" 1 >talk 2>&1 || fail "$(tail -3 talk)"
done_ garbage

# Clients die, the server serves on; two servers do not share a socket; a dead server's socket is taken over.
"$arena" --device none --graph toy:12:3:6 --db c.db --socket s >talk 2>&1 & pid=$!
await $pid grep -q ready talk
"$arena" -q --device none --graph missing.pb --socket s >out.txt 2>&1 && fail "two servers at one socket"
grep -q 'another server listens' out.txt || fail "$(cat out.txt)"
python3 "$client" hurt s 30 2 >out.txt 2>&1 || fail "$(tail -3 out.txt)"
wait $pid || fail "the server ended with $?: $(cat talk)"
[ ! -e s ] || fail "the socket was left behind"
sound c.db
"$arena" --device none --graph toy:12:3:6 --socket s --patience 0 >talk 2>&1 & pid=$!
await $pid grep -q ready talk
python3 "$client" mute s $pid >out.txt 2>&1 || { fail "$(tail -3 out.txt)"; kill -9 $pid; }
wait $pid || fail "the server ended with $?: $(cat talk)"
grep -q 'did not read its answers' talk || fail "nothing was said of it: $(cat talk)"
done_ clients_die

# kill -9 of the server at any moment.
for i in 1 2 3; do
	mkfifo in.$i
	"$arena" -q --device none --graph toy:40:3:2 --db d.db <in.$i >out.$i 2>talk & pid=$!
	(
		for k in {0..19}; do
			for j in {0..39}; do echo "{\"do\":\"price\",\"config\":{\"flips\":[[$j,$((k % 3))]]}}"; done
		done >in.$i
	) 2>/dev/null & feeder=$!
	await $pid test -s out.$i
	random_moment 60
	kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null; wait $feeder 2>/dev/null
	sound d.db
	told=$(grep -c '"value"' out.$i) kept=$(query d.db "SELECT count(*) FROM trial WHERE id / 4294967296 = $i")
	[ "$kept" -ge "$((told - 1))" ] || fail "$told prices were told, and $kept are in the store"
done
"$arena" -q --device none --graph toy:9 --socket s >/dev/null 2>talk & pid=$!
await $pid test -S s
kill -9 $pid; wait $pid 2>/dev/null
"$arena" --device none --graph toy:9 --socket s >/dev/null 2>talk & pid=$!
await $pid grep -q ready talk || fail "a dead server's socket: $(cat talk)"
kill -TERM $pid; wait $pid || fail "SIGTERM: status $?"
done_ server_dies

# Started wrongly, it says one sentence.
wants() { # sentence, arguments
	local want=$1
	shift
	"$arena" -q "$@" >out.txt 2>talk </dev/null && fail "$* was taken"
	grep -q "^arena: .*$want" talk && [ "$(wc -l <talk)" -eq 1 ] || fail "no \"$want\" in: $(cat talk)"
}
wants 'no program to decide about'
wants 'missing.pb' --device none --graph missing.pb
wants 'no quantity called joules' --device none --graph toy:9 --objective joules
wants 'is no option' --device none --graph toy:9 extra
echo precious >file; mkdir folder
# A path that no socket can have is found before the program is opened, which may take minutes.
while IFS='|' read -r path want; do
	wants "$want" --device none --graph missing.pb --out never --socket "$path"
done <<END
$(printf 'x%.0s' {1..200})|too long for the path
file|cannot listen at file: this is no socket
folder|cannot listen at folder: this is no socket
nowhere/s|cannot listen at nowhere/s: No such file
END
grep -q precious file || fail 'a file was taken for a socket'
wants 'missing.pb' --device none --graph missing.pb --socket s
[ ! -e s ] && [ ! -e never ] || fail "what could not start left something behind"
done_ bad_usage
