# script.sh - how a test script says what holds; scripts source it from the root of the tree.
failed=0 bad=

# fail WORDS...: something does not hold.
fail() { bad="$bad; $*"; }

# report NAME OFFENCES: the test NAME passes if there are none.
report() {
	if [ -z "$2" ]; then echo "pass: $1"; else echo "FAIL: $1: $2"; failed=1; fi
}

# done_ NAME: the test NAME passes if nothing failed since the one before.
done_() {
	report "$1" "${bad#; }"
	bad=
}

# first_core: prints the first core that this process may use; a container need not have core 0.
first_core() { sed -nE 's/^Cpus_allowed_list:[[:space:]]*([0-9]+).*/\1/p' /proc/self/status; }
