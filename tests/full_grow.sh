#!/bin/bash
# Adds to a copy of the tree, and removes from it. A kind of decision and a backend need a folder and a row each, a
# quantity needs its rows, and nothing else changes: the new kind keeps the contract, and the new quantity is measured,
# stored, learnt, searched for and kept as a limit. Without the folder and the row of the toy everything still builds,
# and the tests that need no toy pass.
#
# A new quantity reaches most files, so that copy is compiled anew, without optimisation. The other one brings the
# objects along that were built here, so that make compiles what the change reaches. CC, CFLAGS and DEPS are those of
# this build, as make hands them to what it runs; with others everything is compiled anew, and right as well.
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
copy() { # FOLDER: the tree as it stands
	mkdir "$1" && tar -c --exclude=./build --exclude=./bin --exclude=./.deps --exclude=./.git . | tar -x -C "$1" ||
		return
	case $DEPS in /*) ;; *) mkdir -p "$(dirname "$1/$DEPS")" && ln -s "$(realpath -m "$DEPS")" "$1/$DEPS" ;; esac
}
copy_objects() { # FOLDER
	[ ! -d build/release ] || find build/release -type f ! -perm /111 | tar -c -T - | tar -x -C "$1"
}
made() { make -s -j2 ${CC:+CC="$CC"} ${CFLAGS:+CFLAGS="$CFLAGS"} "$@"; }
build() { made "$@" >"$tmp/log" 2>&1; }
says() { grep -qE -- "$1" <<<"$2"; }

copy "$tmp/more"
mkdir "$tmp/more/space/idle" "$tmp/more/device/idle"
cat >"$tmp/more/space/idle/idle.c" <<'END'
/* idle.c - decides which instructions take a nap. Programs stay as they are. */
#include <string.h>
#include "space/space.h"

extern const struct space_kind idle_kind;

static double formula(struct space *s, const uint8_t *config, enum quantity q)
{
	double naps = 0;

	(void)q;
	for (uint32_t i = 0; i < s->n_sites; i++)
		naps += config[i] ? 0 : 1000;
	return naps;
}

static int apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	(void)config;
	(void)err;
	graph_write(s->graph, module);
	return 0;
}

static int region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	struct region r = {.key = {config_hash(s, a), config_hash(s, b)}, .times = 1, .copies = 1, .n_nodes = 1};

	if (memcmp(a, b, s->n_sites) == 0)
		return 0;
	MEM_GROW(&out->v, &out->cap, out->n + 1);
	out->v[out->n++] = r;
	return apply(s, a, &out->v[out->n - 1].a, err) < 0 ? -1 : apply(s, b, &out->v[out->n - 1].b, err);
}

static int check(struct space *s, const uint8_t *config, const void *optimised, size_t n, struct check_result *out,
	struct err *err)
{
	(void)s, (void)config, (void)optimised, (void)n, (void)err;
	*out = (struct check_result){0};
	return 0;
}

static const struct space_ops ops = {
	.kind = &idle_kind,
	.apply = apply,
	.region = region,
	.check = check,
	.context = space_context_alone,
	.touched = space_touched_sites,
	.formula = formula,
	.undecided = "a nap for each",
};

static int idle_open(struct space *s, const char *backend, struct err *err)
{
	const struct graph *g = s->graph;
	uint64_t *class = MEM_NEW(g->n_nodes + 1, uint64_t);

	(void)backend;
	(void)err;
	s->ops = &ops;
	s->site = ARENA_NEW(&s->mem, g->n_nodes + 1, struct site);
	s->site_of = ARENA_NEW(&s->mem, g->n_nodes + 1, uint32_t);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		s->site_of[v] = s->n_sites;
		class[v] = node_local_hash(g, v, true);
		s->site[s->n_sites++] = (struct site){.node = v, .choices = 2};
	}
	space_tie(s, class);
	mem_free(class);
	return 0;
}

static const struct space_price prices[] = {{QUANTITY_NAPS, PRICING_FORMULA}, {QUANTITY_SECONDS, PRICING_WHOLE}, {0}};

const struct space_kind idle_kind = {.name = "idle", .forms = "idle", .prices = prices, .open = idle_open};
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
sed -i '/^#undef QUANTITY$/i QUANTITY(NAPS, "naps", "naps", 1, true, COUNTED, "takes", "naps", "instructions at rest")\
SCALE(NAPS, "knaps", 1000)\
SCALE(NAPS, "naps", 1)' "$tmp/more/schemas/quantity.def"
cd "$tmp/more" || exit 1
CFLAGS="${CFLAGS-} -O0 -g0" ok a_folder_and_a_row_build build all build/release/tests/check_{contract,quantity}
ok the_kind_keeps_the_contract says '^pass: every_kind' "$(build/release/tests/check_contract)"
ok the_quantity_is_written_and_read says '^pass: figures_are_read_back' "$(build/release/tests/check_quantity)"
graph=$(ls examples/graphs/tiny/*.zst | head -1)
ok the_kind_opens says 'space +idle, [1-9]' "$(bin/inspect --space --space-kind idle --device sim "$graph" 2>&1)"
ok the_kind_is_listed says 'idle' "$(bin/search --help 2>&1)"
ok the_backend_speaks says 'the idle device does nothing' "$(bin/inspect --device idle "$graph" 2>&1)"
ok the_backend_is_listed says 'idle' "$(bin/inspect --device nobody "$graph" 2>&1)"

# The quantity as an objective, in a store, in a model, and as a limit.
idle=(--graph "$graph" --space idle --device sim)
search=(bin/search -q "${idle[@]}" --budget 40)
found=$("${search[@]}" --db "$tmp/naps.db" --out "$tmp/naps" --json 2>&1)
ok the_quantity_is_the_objective says 'takes [0-9.]+% less naps .*\([0-9]+ knaps instead of [0-9]+ knaps, modelled\)' \
	"$found"
ok it_is_a_limit says 'within the limit naps:-50%' \
	"$("${search[@]}" --out "$tmp/kept" --objective seconds --limit naps:-50% 2>&1)"
bin/collect -q "${idle[@]}" --db "$tmp/naps.db" --samples 30 >"$tmp/log" 2>&1
bin/learn -q --db "$tmp/naps.db" --learner trees --trees 10 --out "$tmp/naps.vm" >>"$tmp/log" 2>&1
ok it_is_learnt says '"quantity":"naps"' "$("${search[@]}" --model "$tmp/naps.vm" --out "$tmp/guided" --json 2>&1)"
ok its_models_are_its_own says 'costs in naps, not in seconds' \
	"$("${search[@]}" --objective seconds --model "$tmp/naps.vm" --out "$tmp/other" 2>&1)"

cd "$OLDPWD" || exit 1
copy "$tmp/less"
copy_objects "$tmp/less"
cd "$tmp/less" || exit 1
rm -r space/toy
sed -i '/^KIND(toy)$/d' schemas/kind.def
ok without_the_toy_all_builds build all tests benches
ok no_toy_is_opened says 'cannot be read|no such|No such' "$(bin/inspect --space --device sim toy:9:3:1 2>&1)"
TEST_FEWER=10 made check >"$tmp/all" 2>&1
grep -E '^FAIL' "$tmp/all" >"$tmp/log"
ok without_the_toy_checks_pass says '^[0-9]{3,} passed, 0 failed, [0-9]+ skipped$' \
	"$(grep " skipped$" "$tmp/all" | tail -1)"
