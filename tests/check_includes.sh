#!/bin/bash
# Includes are written from the root and point only left to right: see the table. The fact tables
# schemas/*.def are for everybody; generated schemas begin with graph/; only device/ may know the
# compiler's own C header.
set -u
cd "$(dirname "$0")/.." || exit 1

allowed() { # FOLDER: the folders it may include from
	case $1 in
	base) echo base ;;
	graph) echo base graph schemas ;;
	device) echo base graph device schemas ;;
	store) echo base graph store schemas ;;
	collect) echo base graph device store collect schemas ;;
	learn) echo base graph store learn schemas ;;
	search) echo base graph device store collect learn search schemas ;;
	esac
}

# Prints what is wrong with the includes of FILE, taken to lie in FOLDER.
offences() { # FOLDER FILE
	local folder=$1 file=$2 name
	grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file" | while IFS=: read -r line text; do
		name=$(sed -E 's/^[^"]*"([^"]*)".*/\1/' <<<"$text")
		case $name in
		schemas/*.def) ;;
		*/*) [[ " $(allowed "$folder") " == *" ${name%%/*} "* ]] ||
			echo "$file:$line: $folder/ must not include $name" ;;
		*) echo "$file:$line: \"$name\" is not written from the root" ;;
		esac
	done
	[ "$folder" = device ] || grep -nH 'include.*pjrt_c_api' "$file"
}

lint() {
	for folder in base graph device store collect learn search; do
		for file in "$folder"/*.[ch] "$folder"/*.def; do
			[ -e "$file" ] && offences "$folder" "$file"
		done
	done
}

report() { # NAME OFFENCES: passes when there are none
	if [ -z "$2" ]; then echo "pass: $1"; else echo "FAIL: $1: $2"; fi
}

report include_order "$(lint)"

# The lint itself must see what it is for.
tmp=$(mktemp) || exit 1
trap 'rm -f "$tmp"' EXIT
for bad in 'graph #include "device/device.h"' 'base #include "schemas/hlo.pb-c.h"' \
	'learn #include "collect/plan.h"' 'graph #include "graph.h"' 'search #include <pjrt_c_api.h>'; do
	echo "${bad#* }" >"$tmp"
	[ -n "$(offences "${bad%% *}" "$tmp")" ] || missed="${missed:-}$bad; "
done
report lint_sees_offences "${missed:+missed ${missed}}"
