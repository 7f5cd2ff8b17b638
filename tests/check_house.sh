#!/bin/bash
# The house rules that a program can check: names stay in their folders, files and functions stay short, files say what they are.
# (Which room may include which: check_includes.sh.)
#
# A kind of decision or a backend is named in its folder and its tables alone.
set -u
cd "$(dirname "$0")/.." || exit 1

report() { # NAME OFFENCES: passes when there are none
	if [ -z "$2" ]; then echo "pass: $1"; else echo "FAIL: $1: $2"; fi
}
sources() { find base hlo graph space device cost ready store lab collect learn search inspect arena -name '*.[ch]' | sort; }

# Strings that are a name of the tables, or a name and more: "cpu", "fusion/binary", "toy:". A kind may name itself, and so
# may the folder of a backend that has one; device/worker/ speaks to plugins, which call themselves "cpu" too. Comments may name
# anything.
kinds=$(sed -nE 's/^KIND\(([a-z]+)\)$/\1/p' schemas/kind.def)
backends=$(sed -nE 's/^BACKEND\([a-z]+, "([a-z]+)".*/\1/p' schemas/backend.def)
[ -n "$kinds" ] && [ -n "$backends" ] || echo "FAIL: tables_are_read: kinds \"$kinds\", backends \"$backends\""
named() { # FILES...: offences
	local k
	awk '/^[ \t]*(\/?\*|\/\/)/ { next } { gsub(/\/\*[^*]*(\*\/|$)/, ""); print FILENAME ":" FNR ": " $0 }' "$@" >"$tmp/code"
	for k in $kinds; do grep -E "\"$k([/:][^\"]*)?\"" "$tmp/code" | grep -v "^space/$k/"; done
	for k in $backends; do grep -E "\"$k(:[^\"]*)?\"" "$tmp/code" | grep -vE "^device/($k|worker)/"; done
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2046
report names_stay_at_home "$(named $(sources))"
printf 'int f(const char *s)\n{\n\treturn strcmp(s, "%s") == 0;\n}\n' ${kinds%%[!a-z]*} >"$tmp/kind.c"
printf 'int f(const char *s)\n{\n\treturn strcmp(s, "%s") == 0;\n}\n' ${backends%%[!a-z]*} >"$tmp/backend.c"
report lint_sees_names "$(for f in kind backend; do [ -n "$(named "$tmp/$f.c")" ] || echo "a $f is not seen"; done)"

# A reader holds a screen in mind: no file over 500 lines, no function over 60. A table within a function does not count.
tracked() { find base hlo graph space device cost ready store lab collect learn search inspect arena tests bench python -name '*.[ch]' | sort; }
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
# shellcheck disable=SC2046
report files_open_with_an_essay "$(for f in $(tracked) schemas/*.def; do case $(head -c 2 "$f") in '/*') ;; *) echo "$f;" ;; esac; done)"
{ echo 'int f(void)'; echo '{'; for ((i = 0; i < 60; i++)); do echo '	;'; done; echo '}'; } >"$tmp/long.c"
for ((i = 0; i < 501; i++)); do echo; done >"$tmp/many.c"
report lint_sees_length "$([ -n "$(long_functions "$tmp/long.c")" ] && [ -n "$(long_files "$tmp/many.c")" ] || echo "a long function or file is not seen")"
