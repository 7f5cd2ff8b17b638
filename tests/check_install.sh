#!/bin/bash
# What `make install` leaves: the command runs the programs, names its verbs, has man pages and
# completes; nothing with an everyday name lands among the user's commands.
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=${BIN:-bin}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

programs=()
for p in inspect collect store learn search arena; do
	[ -x "$BIN/$p" ] && programs+=("$p")
done
if [ ${#programs[@]} -eq 0 ]; then
	echo "skip: install: no program is built"
	exit 0
fi
one=${programs[0]}

ok() { # NAME CONDITION...
	local name=$1
	shift
	if "$@"; then echo "pass: $name"; else echo "FAIL: $name: $*"; fi
}

tools/install "$BIN" "$tmp" /usr "${programs[@]}" >"$tmp/log" 2>&1 ||
	{ echo "FAIL: install: $(tail -1 "$tmp/log")"; exit 1; }
vantage=$tmp/usr/bin/vantage
ok only_vantage_among_commands test "$(ls "$tmp/usr/bin")" = vantage
ok version grep -q '^vantage [0-9]' <("$vantage" --version)
ok verbs_are_listed grep -q "^  $one " <("$vantage" help)
ok verbs_are_told_in_a_line test -z "$("$vantage" help | grep -E '^  [a-z]+ *$')"
ok listing_is_quiet test -z "$("$vantage" help 2>&1 >/dev/null)"
ok verb_runs_program cmp -s <("$vantage" "$one" --help) <("$BIN/$one" --help)
"$vantage" nonsense >"$tmp/out" 2>"$tmp/err"
ok unknown_verb_fails test $? -eq 1 -a ! -s "$tmp/out"
ok unknown_verb_is_named grep -q 'no verb "nonsense"' "$tmp/err"
ln -s "$vantage" "$tmp/link"
ok found_through_a_link cmp -s <("$tmp/link" "$one" --help) <("$BIN/$one" --help)
for p in "${programs[@]}"; do
	ok "man_$p" grep -q "^\.TH VANTAGE-$p 1" "$tmp/usr/share/man/man1/vantage-$p.1"
	if command -v groff >/dev/null; then
		ok "man_${p}_is_clean" test \
			-z "$(groff -man -ww -Tutf8 "$tmp/usr/share/man/man1/vantage-$p.1" 2>&1 >/dev/null)"
	fi
done

# Completion, as bash calls it: the words so far, which of them is being completed.
complete_words() {
	PATH=$tmp/usr/bin:$PATH bash -c '. "$1/usr/share/bash-completion/completions/vantage" || exit 1
		compopt() { :; }; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vantage
		printf "%s\n" "${COMPREPLY[@]}"' _ "$tmp" "$@"
}
ok completes_verbs grep -qx "$one" <(complete_words vantage "${one:0:2}")
ok completes_options grep -qx -- --version <(complete_words vantage "$one" --ver)
if [ -x "$BIN/store" ]; then
	ok completes_verbs_of_store grep -qx verify <(complete_words vantage store ver)
	ok completes_options_of_store grep -qx -- --csv <(complete_words vantage store ls --c)
fi
