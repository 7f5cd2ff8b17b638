#!/bin/bash
# Includes are written from the root and point only left to right: see the table. The fact tables
# schemas/*.def are for everybody; generated schemas begin with graph/; only device/ may know the
# compiler's own C header.
set -u
cd "$(dirname "$0")/.." || exit 1

tmp=$(mktemp) || exit 1
trap 'rm -f "$tmp"' EXIT
cat >"$tmp" <<'END' || exit 1
BEGIN {
	may["base"] = "base"
	may["graph"] = "base graph schemas"
	may["device"] = "base graph device schemas"
	may["store"] = "base graph store schemas"
	may["collect"] = "base graph device store collect schemas"
	may["learn"] = "base graph store learn schemas"
	may["search"] = "base graph device store collect learn search schemas"
}
/^[ \t]*#[ \t]*include/ {
	folder = as ? as : substr(FILENAME, 1, index(FILENAME, "/") - 1)
	if (/pjrt_c_api/ && folder != "device")
		print FILENAME ":" FNR ": only device/ may know the plugin's own header"
	if (!match($0, /"[^"]*"/))
		next
	name = substr($0, RSTART + 1, RLENGTH - 2)
	slash = index(name, "/")
	if (!slash)
		print FILENAME ":" FNR ": " name " is not written from the root"
	else if (name !~ /^schemas\/.*\.def$/ && !index(" " may[folder] " ", " " substr(name, 1, slash - 1) " "))
		print FILENAME ":" FNR ": " folder "/ must not include " name
}
END

report() { # NAME OFFENCES: passes when there are none
	if [ -z "$2" ]; then echo "pass: $1"; else echo "FAIL: $1: $2"; fi
}

report include_order "$(awk -f "$tmp" {base,graph,device,store,collect,learn,search}/*.[ch])"

# The lint itself must see what it is for.
missed=
for bad in 'graph #include "device/device.h"' 'base #include "schemas/hlo.pb-c.h"' \
	'learn #include "collect/plan.h"' 'graph #include "graph.h"' 'search #include <pjrt_c_api.h>'; do
	[ -n "$(awk -v as="${bad%% *}" -f "$tmp" <<<"${bad#* }")" ] || missed="$missed$bad; "
done
report lint_sees_offences "${missed:+missed $missed}"
