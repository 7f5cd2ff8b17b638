#!/bin/bash
# Includes are written from the root and point only one way: see the table. A room is a folder at the
# root; the rooms within it (hlo/text, space/fusion, device/worker, ...) are parts of it, with a rule of
# their own: only device/worker may know the compiler's own C header. Who may know a kind of decision or a backend:
# check_house.sh. The fact tables schemas/*.def are for everybody; generated schemas begin with hlo/.
#
# The same is asked of the objects: whose symbols does a file use? There a room may use only what it may include, and
# within a room no two files may need each other, directly or through others, unless the table below says why.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cat >"$dir/rooms" <<'END' || exit 1
BEGIN {
	may["base"] = "base"
	may["hlo"] = "base hlo schemas"
	may["graph"] = "base hlo graph schemas"
	may["space"] = "base hlo graph space schemas"
	may["device"] = "base hlo graph device schemas"
	may["cost"] = "base hlo graph space device cost schemas"
	may["ready"] = "base hlo graph space device cost ready schemas"
	may["store"] = "base hlo graph store schemas"
	may["lab"] = "base hlo graph space device cost ready store lab schemas"
	may["collect"] = "base hlo graph space device cost ready store lab collect schemas"
	may["learn"] = "base hlo graph space store learn schemas"
	may["search"] = "base hlo graph space device cost ready store lab learn search schemas"
	may["inspect"] = "base hlo graph space device cost ready store lab learn inspect schemas"
	may["arena"] = "base hlo graph space device cost ready store lab learn search arena schemas"
}
function room(file) { return substr(file, 1, index(file, "/") - 1) }
function allowed(from, to) { return index(" " may[from] " ", " " to " ") }
END
cat >"$dir/includes" <<'END' || exit 1
/^[ \t]*#[ \t]*include/ {
	file = as ? as "/x" : FILENAME
	if (/pjrt_c_api/ && index(file, "device/worker/") != 1)
		print FILENAME ":" FNR ": only device/worker may know the plugin's own header"
	if (!match($0, /"[^"]*"/))
		next
	name = substr($0, RSTART + 1, RLENGTH - 2)
	if (!index(name, "/"))
		print FILENAME ":" FNR ": " name " is not written from the root"
	else if (name !~ /^schemas\/.*\.def$/ && !allowed(room(file), room(name)))
		print FILENAME ":" FNR ": " room(file) "/ must not include " name
}
END

rooms=(base hlo graph space device cost ready store lab collect learn search inspect arena)
mapfile -t files < <(find "${rooms[@]}" -name '*.[ch]')
report include_order "$(awk -f "$dir/rooms" -f "$dir/includes" "${files[@]}")"

# The lint itself must see what it is for.
missed=
for bad in 'graph #include "device/device.h"' 'base #include "schemas/hlo.pb-c.h"' 'hlo #include "graph/graph.h"' \
	'space #include "device/device.h"' 'device #include "space/space.h"' 'cost #include "ready/subject.h"' \
	'learn #include "collect/plan.h"' 'graph #include "graph.h"' 'search #include <pjrt_c_api.h>' \
		'search #include "arena/contest.h"' \
	'device #include <pjrt_c_api.h>'; do
	[ -n "$(awk -v as="${bad%% *}" -f "$dir/rooms" -f "$dir/includes" <<<"${bad#* }")" ] || missed="$missed$bad; "
done
report lint_sees_offences "${missed:+missed $missed}"

# Files that need each other, as a regular expression, and why that must be. A circle that is not here is an offence,
# and so is a row without one.
cat >"$dir/circles" <<'END' || exit 1
device/(device|pool|pool_plan).c: a device has a pool of helpers, and each helper is a device
hlo/print/(form|shard).c: a sharding is an attribute, and has attributes
hlo/text/(async|attr|form|note|op|operand|shard|text).c: attributes hold computations, which hold lines with attributes
END
# Reads what nm -A says of objects, "FILE.o:ADDRESS TYPE SYMBOL", and then the table of circles.
cat >"$dir/symbols" <<'PROGRAM' || exit 1
FNR == NR {
	file = substr($0, 1, index($0, ":") - 1)
	sub(/\.o$/, ".c", file)
	if ($(NF - 1) == "U")
		uses[++n] = file " " $NF
	else
		home[$NF] = file
	next
}
{ rows[++n_rows] = substr($0, 1, index($0, ": ") - 1) }
function row_of(file,    i) { # the number of the row that names the file, or 0
	for (i = n_rows; i > 0 && file !~ "^" rows[i] "$"; i--)
		;
	seen[i] = 1
	return i
}
function reach(from, file,    i, k, next_file) { # marks all that `from` needs within its room
	k = split(needs[file], next_file, " ")
	for (i = 1; i <= k; i++)
		if (!((from, next_file[i]) in reached)) {
			reached[from, next_file[i]] = 1
			reach(from, next_file[i])
		}
}
END {
	for (i = 1; i <= n; i++) {
		split(uses[i], pair, " ")
		a = pair[1]
		if (!(pair[2] in home) || home[pair[2]] == a)
			continue
		b = home[pair[2]]
		if (!allowed(room(a), room(b)))
			print a " must not use " pair[2] " of " b ";"
		if (room(a) == room(b) && !((a, b) in symbol)) {
			symbol[a, b] = pair[2]
			needs[a] = needs[a] " " b
		}
	}
	for (a in needs) {
		reach(a, a)
		row_of(a)
	}
	for (edge in symbol) {
		split(edge, pair, SUBSEP)
		if (!((pair[2], pair[1]) in reached))
			continue
		row = row_of(pair[1])
		if (row && row == row_of(pair[2]))
			used[row] = 1
		else
			print pair[1] " uses " symbol[edge] " of " pair[2] ", which needs " pair[1] ";"
	}
	for (i = 1; i <= n_rows; i++)
		if (i in seen && !(i in used))
			print "there is no circle of " rows[i] " any more;"
}
PROGRAM
circles() { awk -f "$dir/rooms" -f "$dir/symbols" "$1" "$2"; } # NM TABLE: offences
B=${B:-build/release}
objects=()
for f in "${files[@]}"; do [ -e "$B/${f%.c}.o" ] && objects+=("${f%.c}.o"); done
if [ ${#objects[@]} -gt 0 ]; then
	(cd "$B" && nm -A -g "${objects[@]}") | grep -v ' main$' >"$dir/nm"
	report symbol_order "$(circles "$dir/nm" "$dir/circles")"
else
	echo "skip: symbol_order: nothing is built in $B"
fi
cat >"$dir/two" <<'END'
base/a.o: U g
base/a.o:0000000000000000 T f
base/b.o: U f
base/b.o: U high
base/b.o:0000000000000000 T g
search/c.o:0000000000000000 T high
END
echo 'base/(a|x).c: half a circle' >"$dir/other"
echo 'base/(a|b).c: a reason' >"$dir/reason"
missed=
[ "$(circles "$dir/two" "$dir/other" | wc -l)" -eq 4 ] || missed="a circle, a room above or a row too many; "
[ "$(circles "$dir/two" "$dir/reason")" = "base/b.c must not use high of search/c.c;" ] || missed="$missed a reason; "
report lint_sees_circles "${missed:+missed $missed}"
