#!/bin/bash
# Includes are written from the root and point only one way: see the table. A room is a folder at the
# root; the rooms within it (hlo/text, space/fusion, device/worker, ...) are parts of it, with a rule of
# their own: only device/worker may know the compiler's own C header. Who may know a kind of decision or a backend: check_house.sh. The fact tables schemas/*.def are for
# everybody; generated schemas begin with hlo/.
set -u
cd "$(dirname "$0")/.." || exit 1

tmp=$(mktemp) || exit 1
trap 'rm -f "$tmp"' EXIT
cat >"$tmp" <<'END' || exit 1
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
/^[ \t]*#[ \t]*include/ {
	file = as ? as "/x" : FILENAME
	room = substr(file, 1, index(file, "/") - 1)
	if (/pjrt_c_api/ && index(file, "device/worker/") != 1)
		print FILENAME ":" FNR ": only device/worker may know the plugin's own header"
	if (!match($0, /"[^"]*"/))
		next
	name = substr($0, RSTART + 1, RLENGTH - 2)
	slash = index(name, "/")
	if (!slash)
		print FILENAME ":" FNR ": " name " is not written from the root"
	else if (name !~ /^schemas\/.*\.def$/ && !index(" " may[room] " ", " " substr(name, 1, slash - 1) " "))
		print FILENAME ":" FNR ": " room "/ must not include " name
}
END

report() { # NAME OFFENCES: passes when there are none
	if [ -z "$2" ]; then echo "pass: $1"; else echo "FAIL: $1: $2"; fi
}

rooms=(base hlo graph space device cost ready store lab collect learn search inspect arena)
mapfile -t files < <(find "${rooms[@]}" -name '*.[ch]')
report include_order "$(awk -f "$tmp" "${files[@]}")"

# The lint itself must see what it is for.
missed=
for bad in 'graph #include "device/device.h"' 'base #include "schemas/hlo.pb-c.h"' 'hlo #include "graph/graph.h"' \
	'space #include "device/device.h"' 'device #include "space/space.h"' 'cost #include "ready/subject.h"' \
	'learn #include "collect/plan.h"' 'graph #include "graph.h"' 'search #include <pjrt_c_api.h>' 'search #include "arena/contest.h"' \
	'device #include <pjrt_c_api.h>'; do
	[ -n "$(awk -v as="${bad%% *}" -f "$tmp" <<<"${bad#* }")" ] || missed="$missed$bad; "
done
report lint_sees_offences "${missed:+missed $missed}"
