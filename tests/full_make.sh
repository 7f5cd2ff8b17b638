#!/bin/bash
# The Makefile, on a small copy of the tree: nothing is built twice; changed flags rebuild everything; a changed header
# rebuilds what includes it; a source that disappears leaves the archive; a new commit relinks programs only; a new test
# is found by its name.
set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS B BIN CFLAGS MODE DEPS
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/tests" "$tmp/inspect" && cp -R base Makefile schemas "$tmp" && rm -f "$tmp"/schemas/*.proto
cp tests/deps tests/run tests/test.h tests/check_err.c "$tmp/tests/"
cd "$tmp" || exit 1
cat >inspect/main.c <<'END'
#include <stdio.h>
#include "base/opt.h"
int main(void)
{
	puts(opt_version());
	return 0;
}
END
git init -q . 2>/dev/null && git add -A && git -c user.name=t -c user.email=t@t commit -qm one || {
	echo "skip: make: no git"
	exit 0
}

ok() { # NAME CONDITION...
	local name=$1
	shift
	if "$@"; then echo "pass: $name"; else echo "FAIL: $name: $*"; fi
}
build() { make -s -j2 CFLAGS_release=-O0 LIBS='-lzstd -lpcre2-8 -lm' "$@" all tests >log 2>&1 || { cat log; exit 1; }; }
in_archive() { ar t build/release/libvantage.a | grep -qx "$1"; }
quietly() { "$@" >log 2>&1; }
not() { ! "$@"; }

touch marker
build
ok first_build test -x bin/inspect -a -x build/release/tests/check_err
sleep 1
touch marker
build
ok second_build_does_nothing test -z "$(find build bin -newer marker -type f)"
echo "int gone(void); int gone(void) { return 1; }" >base/gone.c
build
ok new_source_is_archived in_archive gone.o
rm base/gone.c
build
ok lost_source_leaves_the_archive not in_archive gone.o
sleep 1
touch marker
git commit -q --allow-empty -m two --author 't <t@t>' 2>/dev/null ||
	git -c user.name=t -c user.email=t@t commit -q --allow-empty -m two
build
ok commit_relinks_programs test bin/inspect -nt marker
ok commit_relinks_nothing_else test -z "$(find build/release/tests build/release/base -newer marker -type f)"
ok version_names_the_commit grep -q "$(git rev-parse --short HEAD)" <(bin/inspect)
touch base/err.h
build
ok header_rebuilds_its_users test build/release/base/io.o -nt base/err.h
ok header_rebuilds_no_others test base/err.h -nt build/release/base/hash.o
touch marker
sleep 1
build CFLAGS=-DSOMETHING
ok flags_rebuild test build/release/base/hash.o -nt marker
mkdir -p sys
printf '#include_next <zstd.h>\n' | tee sys/zstd.h >sys/stdarg.h && sed -i s/zstd/stdarg/ sys/stdarg.h
build CFLAGS='-DSOMETHING -isystem sys'
touch marker
sleep 1
touch sys/stdarg.h
build CFLAGS='-DSOMETHING -isystem sys'
ok system_header_rebuilds_its_users test build/release/base/err.o -nt marker
ok system_header_rebuilds_no_others test marker -nt build/release/base/hash.o
touch marker
sleep 1
echo '#define ANOTHER_VERSION' >>sys/zstd.h
touch -d 2001-01-01 sys/zstd.h
build CFLAGS='-DSOMETHING -isystem sys'
ok header_of_another_version_rebuilds_whatever_its_date test build/release/base/io.o -nt marker
for bad in 'return undeclared(3);' 'char *p = 3; return *p;' 'double d = 3; char *p = &d; return *p;'; do
	echo "int bad(void); int bad(void) { $bad }" >base/bad.c
	ok "refuses: $bad" not quietly make -s build/release/base/bad.o
done
rm base/bad.c
sed 's/check_err/check_again/' tests/check_err.c >tests/check_again.c
build CFLAGS='-DSOMETHING -isystem sys'
ok new_test_is_found test -x build/release/tests/check_again
ok run_counts grep -qx '14 passed, 0 failed, 0 skipped' <(tests/run check 2>&1)
rm tests/check_again.c
ok run_forgets_lost_tests grep -qx '7 passed, 0 failed, 0 skipped' <(tests/run check 2>&1)

printf '#!/bin/bash\necho "pass: begun"\nread -r never < <(sleep 36000)\n' >tests/hang_always.sh &&
	chmod +x tests/hang_always.sh
ok run_ends_what_hangs grep -qx 'FAIL: hang_always.sh: not over after 1 s' <(TEST_TIMEOUT=1 tests/run hang 2>&1)
for i in 1 2 3 4 5; do
	printf '#!/bin/bash\necho "pass: $CORE %d"\necho "FAIL: a: here"\nexit 1\n' $i >tests/several_$i.sh
done
chmod +x tests/several_*.sh
for jobs in 1 3; do
	ok "run_counts_$jobs" grep -qx '5 passed, 5 failed, 0 skipped' <(tests/run -j $jobs several 2>&1)
done
