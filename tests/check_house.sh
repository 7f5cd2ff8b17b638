#!/bin/bash
# Checks the house rules that a program can check: names stay in their folders, files and functions stay short, lines
# fit a screen, files open with an essay. (check_includes.sh checks which room may include which.)
#
# A kind of decision or a backend is named in its folder and its tables alone.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh

sources() { find base hlo graph space device cost ready store lab collect learn search inspect arena -name '*.[ch]' |
	sort; }

# Finds strings that are a name of the tables, or begin with one: "cpu", "fusion/binary", "toy:"; and sentences and help
# texts that contain a name, unless it is an ordinary word (stores have shards, lists have an order). A feature may be
# called by such a word. A kind may name itself, and so may the folder of a backend. device/worker/ speaks to plugins,
# which call themselves "cpu", too. Comments may name anything.
kinds=$(sed -nE 's/^KIND\(([a-z]+)\)$/\1/p' schemas/kind.def)
backends=$(sed -nE 's/^BACKEND\([a-z]+, "([a-z]+)".*/\1/p' schemas/backend.def)
[ -n "$kinds" ] && [ -n "$backends" ] || echo "FAIL: tables_are_read: kinds \"$kinds\", backends \"$backends\""
ordinary=" order shard net place "
code() { # FILES: every line without its comments, as FILE:LINE: TEXT
	awk '/^[ \t]*(\/?\*|\/\/)/ { next } { gsub(/\/\*[^*]*(\*\/|$)/, ""); print FILENAME ":" FNR ": " $0 }' "$@"
}
named() { # FILES...: offences
	local k
	code "$@" | grep '"' >"$tmp/code"
	for k in $kinds; do
		grep -E "\"$k([/:][^\"]*)?\"|\"[^\"]*--space $k\b" "$tmp/code" |
			grep -vE "^(space|device)/$k/|SCALE_(PLAIN|SIZE)"
		[ "${ordinary/ $k /}" = "$ordinary" ] || continue
		grep -vE '#[ \t]*include' "$tmp/code" | grep -E "\"[^\"]*\b$k\b[^\"]*\"" |
			grep -vE "^(space|device)/$k/"
	done
	for k in $backends; do
		grep -vE '#[ \t]*include' "$tmp/code" | grep -vE "^(device/($k|worker)|space/$k)/" |
			grep -E "\"$k(:[^\"]*)?\"|\"([^\"]*[^A-Za-z0-9_\"-])?$k([^A-Za-z0-9_%\"-][^\"]*)?\""
	done
}
# Only a folder below space/ or device/ itself uses what it declares; others reach a kind, or a backend, through its
# row. Public problems of placement are no kinds of decision; search/puzzle.c and inspect/puzzle.c may include them.
reached() { # FILES...: offences
	code "$@" | grep -E '#[ \t]*include "(space|device)/[a-z]+/|\b('"${kinds//$'\n'/|}"')_kind\b' |
		grep -vE '(->|\.)[a-z_]*_kind\b' |
		grep -vE '^(space|device)/([a-z]+)/[^:]*:[0-9]+:.*("\1/\2/|\b\2_kind\b)' |
		grep -vE '^(search|inspect)/puzzle\.c:[0-9]+: #include "space/(net|place)/'
}
# Options that a kind adds to the command line are its own (struct space_option).
options=$(sed -nE '/struct space_option [a-z]+\[\]/,/;/s/.*\{"([a-z-]+)", ".*/\1/p' space/*/*.c)
[ -n "$options" ] || echo "FAIL: options_of_kinds_are_read: none"
optioned() { # FILES...: offences
	grep -HnE "OPT_[A-Z_]+\([^,]*, \"(${options//$'\n'/|})\"" "$@"
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2046
report names_stay_at_home "$(named $(sources))"
# shellcheck disable=SC2046
report kinds_are_reached_by_their_rows "$(reached $(sources))"
# shellcheck disable=SC2046
report options_of_kinds_are_their_own "$(optioned $(sources))"
kind=${kinds%%[!a-z]*} backend=${backends%%[!a-z]*} option=${options%%[!a-z-]*}
printf 'int f(const char *s)\n{\n\treturn strcmp(s, "%s") == 0;\n}\n' "$kind" >"$tmp/kind.c"
printf 'int f(const char *s)\n{\n\treturn strcmp(s, "%s") == 0;\n}\n' "$backend" >"$tmp/backend.c"
printf 'const char *help = "a device: %s, or another";\n' "$backend" >"$tmp/help.c"
printf 'const char *help = "what %s decides";\n' "$kind" >"$tmp/sentence.c"
printf '#include "space/%s/%s.h"\n' "$kind" "$kind" >"$tmp/include.c"
printf 'const char *name(void)\n{\n\treturn %s_kind.name;\n}\n' "$kind" >"$tmp/symbol.c"
printf 'struct opt o = OPT_STR(0, "%s", &s.value, "VALUE", "help");\n' "$option" >"$tmp/option.c"
report lint_sees_names "$(
	seen=$(named "$tmp"/{kind,backend,help,sentence}.c)
	for f in kind backend help sentence; do [[ $seen == *"/$f.c:"* ]] || echo "a $f is not seen"; done
	for f in include symbol; do [ -n "$(reached "$tmp/$f.c")" ] || echo "an $f is not seen"; done
	[ -n "$(optioned "$tmp/option.c")" ] || echo "an option is not seen"
)"

# A reader holds a screen in mind: no file over 500 lines, no function over 60. A table within a function does not
# count.
tracked() { find base hlo graph space device cost ready store lab collect learn search inspect arena tests bench \
	python -name '*.[ch]' | sort; }
long_files() { # FILES...
	wc -l "$@" | awk '$2 != "total" && $1 > 500 { print $2 " has " $1 " lines;" }'
}
long_functions() { # FILES...
	awk 'FNR == 1 { start = 0 }
		/^\{/ { start = FNR; n = 0; table = 0 }
		start && /^\t.* = \{$/ { table = 1 }
		start && !table { n++ }
		table && /\};$/ { table = 0 }
		/^\}/ { if (start && n > 60) print FILENAME ":" start " has " n " lines;"; start = 0 }' "$@"
}
# shellcheck disable=SC2046
report files_fit_the_mind "$(long_files $(tracked))"
# shellcheck disable=SC2046
report functions_fit_a_screen "$(long_functions $(tracked))"
# Two files fit beside each other on a screen: 120 columns, with tabs of eight. A row of a table may be longer
# (schemas/*.def, the wheels of tests/deps-accelerator, the lines of HLO in tests/hlo_corpus.py, examples/graphs).
scripts() {
	find tests bench tools python examples/run examples/python examples/slurm examples/cron -type f |
		xargs awk 'FNR == 1 && (/^#!/ || FILENAME ~ /\.py$/) { print FILENAME } { nextfile }' |
		grep -vxE 'tests/(deps-accelerator|hlo_corpus\.py)'
}
wide_lines() { # FILES...: one process for all of them, as a process for each takes seconds
	awk 'length($0) + 7 * gsub(/\t/, "\t") > 120 {
		n = split($0, part, "\t")
		columns = length(part[n])
		for (i = 1; i < n; i++)
			before += 8 - length(part[i]) % 8 + length(part[i])
		columns += before
		before = 0
		if (columns > 120)
			print FILENAME ":" FNR " has " columns " columns;"
	}' "$@"
}
# shellcheck disable=SC2046
report lines_fit_a_screen "$(wide_lines $(tracked) \
	$(find examples -name '*.[ch]') $(scripts))"
without_essay() { # FILES...: those of which the first line is no comment, or that have none
	awk 'FNR == 1 && /^\/\*/ { opened[FILENAME] } { nextfile }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in opened)) print ARGV[i] ";" }' "$@"
}
# shellcheck disable=SC2046
report files_open_with_an_essay "$(without_essay $(tracked) schemas/*.def)"
{ echo 'int f(void)'; echo '{'; for ((i = 0; i < 60; i++)); do echo '	;'; done; echo '}'; } >"$tmp/long.c"
for ((i = 0; i < 501; i++)); do echo; done >"$tmp/many.c"
printf '%0121d\n' 1 >"$tmp/wide.c"
: >"$tmp/empty.c"
report lint_sees_files_without_essay "$([ "$(without_essay tests/test.h "$tmp"/{long,empty}.c | wc -l)" -eq 2 ] ||
	echo "other files than the two without one")"
report lint_sees_length "$([ -n "$(long_functions "$tmp/long.c")" ] && [ -n "$(long_files "$tmp/many.c")" ] &&
	[ -n "$(wide_lines "$tmp/wide.c")" ] || echo "a long function, file or line is not seen")"
