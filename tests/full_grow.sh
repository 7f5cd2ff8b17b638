#!/bin/bash
# Adds to a copy of the tree, and removes from it. A kind of decision that decides nothing, and a backend that does
# nothing, need a folder and a row each, and nothing else changes. Without the folder and the row of the toy everything
# still builds, and the tests that need no toy pass.
#
# A copy brings the objects along that were built here, so that make compiles what a change reaches. CC, CFLAGS and DEPS
# are those of this build, as make hands them to what it runs; with others everything is compiled anew, and right as
# well.
set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS B BIN MODE
export DEPS=${DEPS:-.deps}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

ok() { # NAME CONDITION...
	local name=$1
	shift
	if "$@"; then echo "pass: $name"; else echo "FAIL: $name: $*"; tail -20 "$tmp/log"; fi
}
copy() { # FOLDER: the tree as it stands, and of what was built the objects
	mkdir "$1" && tar -c --exclude=./build --exclude=./bin --exclude=./.deps --exclude=./.git . | tar -x -C "$1" ||
		return
	[ ! -d build/release ] || find build/release -type f ! -perm /111 | tar -c -T - | tar -x -C "$1"
	case $DEPS in /*) ;; *) mkdir -p "$(dirname "$1/$DEPS")" && ln -s "$(realpath -m "$DEPS")" "$1/$DEPS" ;; esac
}
made() { make -s -j2 ${CC:+CC="$CC"} ${CFLAGS:+CFLAGS="$CFLAGS"} "$@"; }
build() { made "$@" >"$tmp/log" 2>&1; }
says() { grep -qE -- "$1" <<<"$2"; }

copy "$tmp/more"
mkdir "$tmp/more/space/idle" "$tmp/more/device/idle"
cat >"$tmp/more/space/idle/idle.c" <<'END'
/* idle.c - a space without sites. */
#include "space/space.h"

extern const struct space_kind idle_kind;

static const struct space_ops ops = {.kind = &idle_kind, .undecided = "nothing"};

static int idle_open(struct space *s, const char *backend, struct err *err)
{
	(void)backend;
	(void)err;
	s->ops = &ops;
	return 0;
}

const struct space_kind idle_kind = {.name = "idle", .forms = "idle", .open = idle_open};
END
cat >"$tmp/more/device/idle/idle.c" <<'END'
/* idle.c - a device that refuses to be opened, in its own words. */
#include "device/ops.h"

struct device *idle_open(const struct device_options *o, struct err *err)
{
	(void)o;
	err_set(err, "the idle device does nothing");
	return NULL;
}
END
echo 'KIND(idle)' >>"$tmp/more/schemas/kind.def"
sed -n 's/^BACKEND(sim, "sim"/BACKEND(idle, "idle"/p' schemas/backend.def >>"$tmp/more/schemas/backend.def"
cd "$tmp/more" || exit 1
ok a_folder_and_a_row_build build all
graph=$(ls examples/graphs/tiny/*.zst | head -1)
ok the_kind_opens says 'space +idle, 0 sites' "$(bin/inspect --space --space-kind idle --device sim "$graph" 2>&1)"
ok the_kind_is_listed says 'idle' "$(bin/search --help 2>&1)"
ok the_backend_speaks says 'the idle device does nothing' "$(bin/inspect --device idle "$graph" 2>&1)"
ok the_backend_is_listed says 'idle' "$(bin/inspect --device nobody "$graph" 2>&1)"

cd "$OLDPWD" || exit 1
copy "$tmp/less"
cd "$tmp/less" || exit 1
rm -r space/toy
sed -i '/^KIND(toy)$/d' schemas/kind.def
ok without_the_toy_all_builds build all tests benches
ok no_toy_is_opened says 'cannot be read|no such|No such' "$(bin/inspect --space --device sim toy:9:3:1 2>&1)"
TEST_FEWER=10 made check >"$tmp/all" 2>&1
grep -E '^FAIL' "$tmp/all" >"$tmp/log"
ok without_the_toy_checks_pass says '^[0-9]{3} passed, 0 failed, [0-9]+ skipped$' \
	"$(grep " skipped$" "$tmp/all" | tail -1)"
