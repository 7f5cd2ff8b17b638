# search.sh - runs searches in a folder of their own, and says what they left; scripts source it from the root of the
# tree. Afterwards $dir is the present folder, and goes away in the end.
. tests/await.sh
. tests/script.sh
bin=$(realpath "${BIN:-bin}") b=$(realpath "${B:-build/release}")
search=$bin/search store=$bin/store
graphs=$(realpath examples/graphs) models=$(realpath models)
[ -x "$search" ] && [ -x "$store" ] || { echo "skip: search: it is not built"; exit 0; }
tmp=${TMPDIR:-/tmp}; [ -w /dev/shm ] && tmp=${TMPDIR:-/dev/shm} # every trial is synced
dir=$(mktemp -d -p "$tmp") || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export VANTAGE_LOCK_DIR=$dir XDG_DATA_HOME=$dir/data TMPDIR=$dir
run() { # arguments; output in out, talk in talk, status in rc
	"$search" -q "$@" >out 2>talk
	rc=$?
}
wants() { # what is said, in a sentence of its own, with status 1
	[ $rc -eq 1 ] || fail "status $rc instead of \"$1\""
	[ "$(wc -l <talk)" -eq 1 ] || fail "$(wc -l <talk) lines"
	grep -qE "^search: .*$1" talk || fail "no \"$1\" in: $(cat talk)"
}
answers() { # what is said, with status 0, and a whole folder
	[ $rc -eq 0 ] || fail "status $rc: $(cat talk)"
	grep -qE "$1" out || fail "no \"$1\" in: $(cat out)"
	[ -s "$2/tuned.pb" ] && [ -e "$2/options.txt" ] && grep -q '^</html>' "$2/report.html" ||
		fail "$2: $(ls -A "$2" | tr '\n' ' ')"
	tail -1 "$2/config.json" | grep -qx '}' || fail "$2/config.json is cut off"
	[ -z "$(find "$2" -name '.*' -type f)" ] || fail "leftovers in $2"
}
query() { "$store" query "$1" "$2" --csv | tail -n +2; }
field() { grep -oE "\"$1\": ?\"?[^,\"]*" "$2" | head -1 | sed 's/.*[:"] *//'; }
