/*
 * check_contract.c - the contract of a decision space (space/space.h), for every kind of schemas/kind.def, on every
 * small program. A new kind needs no test of its own for this; its row is enough.
 */
#include <glob.h>
#include <stdlib.h>
#include "base/mem.h"
#include "learn/feature.h"
#include "space/space.h"
#include "tests/test.h"

#define KIND(name) extern const struct space_kind name##_kind;
#include "schemas/kind.def"
#undef KIND
#define KIND(name) &name##_kind,
static const struct space_kind *const kinds[] = {
#include "schemas/kind.def"
#undef KIND
};
#define BACKEND "sim"
/* Behind the name of a kind that makes its programs: a few choices at many sites, and many at a few. */
static const char *const made_as[] = {":40:3:1", ":12:200:2", ":12:60:2"};

static struct graph graph;
static struct space *space;
static uint8_t *a, *b;
static struct rng rng;
static const char *which; /* program and kind, for people */

/* Changes the choices of a few sites, or of most. */
static void stir(double density, uint8_t *config)
{
	for (uint32_t i = 0; i < space->n_sites; i++)
		if (rng_unit(&rng) < density)
			config[i] = (uint8_t)rng_below(&rng, space->site[i].choices);
}

static void table_is_sound(void)
{
	for (uint32_t i = 0; i < space->n_sites; i++) {
		const struct site *x = &space->site[i];
		CHECK(i == 0 || x->node > x[-1].node);
		CHECK(x->node < graph.n_nodes && space->site_of[x->node] == i);
		CHECK(x->choices >= 2 && x->choices <= space->stride && x->dflt < x->choices && x->tie < space->n_ties);
	}
	space_default(space, a);
	CHECK(config_valid(space, a, space->n_sites, NULL) == 0);
	for (const struct space_start *p = space->ops->starts; p && p->name; p++) {
		memset(b, 0xff, space->n_sites);
		p->fill(space, b);
		CHECK(config_valid(space, b, space->n_sites, NULL) == 0 && space_start_find(space, p->name) == p);
	}
	CHECK(space->ops->decode || space->ops->undecided || space->n_sites == 0);
}

static void opens_the_same_again(void)
{
	struct space *again;
	space_default(space, a);
	again = space_open(space->kind, BACKEND, &graph, NULL, 0, NULL);
	if (!CHECK(again != NULL))
		return;
	space_default(again, b);
	CHECK(again->hash == space->hash && memcmp(a, b, space->n_sites) == 0);
	space_free(again);
}

static void flips_undo_each_other(void)
{
	uint64_t start, h;
	space_default(space, a);
	start = h = config_hash(space, a);
	for (int k = 0; k < 40 && space->n_sites; k++) {
		uint32_t i = (uint32_t)rng_below(&rng, space->n_sites);
		h = config_flip(a, h, i, (uint8_t)rng_below(&rng, space->site[i].choices));
		CHECK(h == config_hash(space, a));
	}
	for (uint32_t i = space->n_sites; i-- > 0;)
		h = config_flip(a, h, i, space->site[i].dflt);
	CHECK(h == start);
}

/*
 * Applying a configuration gives a program, the same one each time, whatever was asked in between. `check` finds the
 * choices in that program; it finds nothing if only compiled programs show them.
 */
static void what_is_applied_is_found(void)
{
	struct buf first = {0}, other = {0}, again = {0};
	struct check_result found;
	struct err err = {0};
	for (int k = 0; k < 4; k++) {
		space_default(space, a);
		stir(k * 0.33, a);
		space_default(space, b);
		stir(0.5, b);
		buf_reset(&first), buf_reset(&other), buf_reset(&again);
		if (!CHECK(space->ops->apply(space, a, &first, &err) == 0 && space->ops->apply(space, b, &other,
			&err) == 0 && space->ops->apply(space, a, &again, &err) == 0))
			break;
		CHECK(first.len == again.len && memcmp(first.data, again.data, first.len) == 0);
		if (CHECK(space->ops->check(space, a, first.data, first.len, &found, &err) == 0))
			CHECK(found.equal == found.found && (found.found == 0 || (found.asked == found.found &&
				!found.detail[0])));
	}
	if (err.text[0])
		printf("\t%s: %s\n", which, err.text);
	buf_release(&first), buf_release(&other), buf_release(&again);
}

/* Are two programs the same, whatever their instructions are called? */
static bool same_program(const struct buf *x, const struct buf *y)
{
	struct graph g = {0}, h = {0};
	bool same = graph_parse(&g, x->data, x->len, "applied", NULL) == 0 &&
		graph_parse(&h, y->data, y->len, "applied again", NULL) == 0 &&
		memcmp(&g.content, &h.content, sizeof g.content) == 0;
	graph_release(&g);
	graph_release(&h);
	return same;
}

/*
 * If an applied program is read back as the compiler's result, the choices are those that were applied. A choice that
 * the program does not show, because it depends on another one, may be read back as another, of the same program.
 */
static void what_is_applied_is_decoded(void)
{
	struct buf module = {0}, again = {0}, said = {0};
	struct graph after = {0};
	struct space *reader = NULL;
	struct check_result found;
	struct err err = {0};
	if (!space->ops->decode)
		return;
	space_default(space, a);
	stir(0.3, a);
	if (CHECK(space->ops->apply(space, a, &module, &err) == 0) &&
		CHECK(graph_parse(&after, module.data, module.len, "applied", &err) == 0) &&
		CHECK((reader = space_open(space->kind, BACKEND, &graph, NULL, 0, &err)) != NULL) &&
		CHECK(reader->ops->decode(reader, &after, &said, &err) == 0 && said.len)) {
		space_default(reader, b);
		CHECK(config_valid(space, b, space->n_sites, &err) == 0);
		if (reader->account.parts)
			CHECK(space->ops->check(space, b, module.data, module.len, &found, &err) == 0 &&
				found.equal == found.found && space->ops->apply(space, b, &again, &err) == 0 &&
				same_program(&module, &again));
	}
	if (err.text[0])
		printf("\t%s: %s\n", which, err.text);
	space_free(reader);
	graph_release(&after);
	buf_release(&module), buf_release(&again), buf_release(&said);
}

static int by_key(const void *x, const void *y)
{
	return memcmp(((const struct region *)x)->key, ((const struct region *)y)->key, sizeof((struct region){0}).key);
}

/*
 * Sorts regions by their keys. Leaves out those that only decide whether whole programs are worth running, because the
 * way back has none of these.
 */
static void sort_regions(struct regions *r, bool turned)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct region x = r->v[i];
		if (x.screen) {
			region_release(&x);
			continue;
		}
		if (turned) {
			x.key[0] = r->v[i].key[1];
			x.key[1] = r->v[i].key[0];
		}
		r->v[n++] = x;
	}
	r->n = n;
	if (n)
		qsort(r->v, n, sizeof *r->v, by_key);
}

/* A module of a region must be a program, unless the kind prices by formula alone: then it may be empty. */
static void is_program(const struct buf *module)
{
	struct graph g = {0};
	struct err err = {0};
	if (module->len == 0 && space->ops->formula)
		return;
	if (!CHECK(graph_parse(&g, module->data, module->len, "region", &err) == 0))
		printf("\t%s: %s\n", which, err.text);
	graph_release(&g);
}

/* Equal configurations have no regions; the way back has the same regions, reversed; no two regions are alike. */
static void regions_partition_a_difference(void)
{
	struct regions there = {0}, back = {0};
	space_default(space, a);
	CHECK(space->ops->region(space, a, a, &there, NULL) == 0 && there.n == 0);
	for (int k = 0; k < 4; k++) {
		memcpy(b, a, space->n_sites);
		stir(k ? 0.4 : 0.1, b);
		if (!CHECK(space->ops->region(space, a, b, &there, NULL) == 0 && space->ops->region(space, b, a, &back,
			NULL) == 0))
			break;
		sort_regions(&there, false);
		sort_regions(&back, true);
		CHECK_INT(there.n, back.n);
		for (size_t i = 0; i < there.n && i < back.n; i++) {
			const struct region *r = &there.v[i];
			CHECK(r->times > 0 && r->copies > 0 && r->n_nodes > 0 && r->key[0] != r->key[1]);
			CHECK(by_key(r, &back.v[i]) == 0 && r->times == back.v[i].times &&
				r->copies == back.v[i].copies);
			CHECK(i == 0 || by_key(r - 1, r) != 0);
			is_program(&r->a);
			is_program(&r->b);
		}
		regions_release(&there);
		regions_release(&back);
		memcpy(a, b, space->n_sites);
	}
	regions_release(&there);
	regions_release(&back);
}

/* A node that is not touched has the same context before and after. */
static void touched_is_where_contexts_differ(void)
{
	size_t each = space->ops->kind->features ? space->ops->kind->features->n_context : CTX_COUNT, n = 0, cap = 0,
		at = 0;
	float *before = MEM_NEW(each + 1, float), *after = MEM_NEW(each + 1, float);
	uint32_t *changed = MEM_NEW(space->n_sites + 1, uint32_t), n_changed = 0, *nodes = NULL;
	space_default(space, a);
	stir(0.3, a);
	memcpy(b, a, space->n_sites);
	stir(0.2, b);
	for (uint32_t i = 0; i < space->n_sites; i++)
		if (a[i] != b[i])
			changed[n_changed++] = i;
	space->ops->touched(space, a, b, changed, n_changed, &nodes, &n, &cap);
	for (uint32_t v = 0; v < graph.n_nodes; v++) {
		bool listed = at < n && nodes[at] == v;
		uint32_t i = space->site_of[v];
		space->ops->context(space, a, &v, 1, before);
		space->ops->context(space, b, &v, 1, after);
		CHECK(listed || (memcmp(before, after, each * sizeof *before) == 0 && (i == NONE || a[i] == b[i])));
		at += listed;
	}
	CHECK_INT(at, n); /* ascending, distinct, of this graph */
	mem_free(before), mem_free(after), mem_free(changed), mem_free(nodes);
}

/* An effect leaves the configuration as it was; the effect of the flip back has before and after exchanged. */
static void effects_turn_round(void)
{
	const struct space_features *own = space->ops->kind->features;
	size_t n = own ? own->n_effect : EFFECT_COUNT;
	float *x = MEM_NEW(2 * n + 1, float), *y = MEM_NEW(2 * n + 1, float);
	space_default(space, a);
	stir(0.3, a);
	for (uint32_t i = 0; i < space->n_sites && space->ops->effect; i++) {
		uint8_t from = a[i], to = (uint8_t)((from + 1) % space->site[i].choices);
		memcpy(b, a, space->n_sites);
		space->ops->effect(space, a, i, to, x);
		CHECK(memcmp(a, b, space->n_sites) == 0);
		a[i] = to;
		space->ops->effect(space, a, i, from, y);
		CHECK(memcmp(x, y + n, n * sizeof *x) == 0 && memcmp(x + n, y, n * sizeof *x) == 0);
		a[i] = from;
	}
	mem_free(x), mem_free(y);
}

/* All features are finite numbers, and there is room for a kind's own. */
static void features_are_numbers(void)
{
	struct scene scene;
	real flip[FLIP_FEATURES], other[FLIP_FEATURES], context[NODE_CONTEXT];
	feature_open(&scene, space);
	space_default(space, a);
	stir(0.3, a);
	for (uint32_t v = 0; v < graph.n_nodes; v++) {
		feature_context(&scene, a, &v, 1, context, NODE_CONTEXT);
		for (int k = 0; k < NODE_CONTEXT; k++)
			CHECK(isfinite(context[k]) && fabs(context[k]) < 100);
	}
	for (uint32_t i = 0; i < space->n_sites; i++) {
		feature_flip(&scene, a, i, (uint8_t)((a[i] + 1) % space->site[i].choices), flip);
		for (int k = 0; k < FLIP_FEATURES; k++)
			CHECK(isfinite(flip[k]) && fabs(flip[k]) < 100);
	}
	for (uint32_t i = 0; i < space->n_sites; i++) /* no two choices look alike */
		for (uint8_t c = 1; c < space->site[i].choices; c++) {
			feature_flip(&scene, a, i, c, flip);
			for (uint8_t d = c & 7; d < c; d = (uint8_t)(d + 8)) {
				feature_flip(&scene, a, i, d, other);
				CHECK(memcmp(flip, other, sizeof flip) != 0);
			}
		}
	feature_release(&scene);
}

/* A formula depends on the configuration alone, not on what was asked before. */
static void formulas_repeat(void)
{
	const struct space_price *p = space_prices(space->ops->kind);
	for (; p->how != PRICING_NONE; p++) {
		double first;
		if (p->how != PRICING_FORMULA)
			continue;
		space_default(space, a);
		stir(0.5, a);
		first = space->ops->formula(space, a, p->quantity);
		memcpy(b, a, space->n_sites);
		stir(0.5, b);
		space->ops->formula(space, b, p->quantity);
		CHECK(isfinite(first) && space->ops->formula(space, a, p->quantity) == first);
	}
}

static void words_are_found(void)
{
	struct buf out = {0};
	space_default(space, a);
	stir(0.5, a);
	if (space->ops->summary)
		space->ops->summary(space, a, &out);
	for (uint32_t i = 0; i < space->n_sites; i++)
		for (uint8_t k = 0; k < space->site[i].choices; k++) {
			buf_reset(&out);
			if (space->ops->words)
				space->ops->words(space, i, k, &out);
			CHECK(!space->ops->words || out.len);
			CHECK(!space->ops->promise || isfinite(space->ops->promise(space, i, k)));
		}
	buf_release(&out);
}

static void keep_the_contract(const struct space_kind *k, const char *name)
{
	static char text[400];
	int before = test_failed;
	snprintf(text, sizeof text, "%s as %s", name, space->kind);
	which = text;
	a = mem_alloc(space->n_sites + 1);
	b = mem_alloc(space->n_sites + 1);
	rng_seed(&rng, 17);
	CHECK(space->ops->kind == k);
	table_is_sound();
	opens_the_same_again();
	flips_undo_each_other();
	what_is_applied_is_found();
	what_is_applied_is_decoded();
	regions_partition_a_difference();
	touched_is_where_contexts_differ();
	effects_turn_round();
	features_are_numbers();
	formulas_repeat();
	words_are_found();
	if (test_failed > before)
		printf("\tit was %s\n", which);
	mem_free(a), mem_free(b);
}

static void on(const struct space_kind *k, const char *name, const char *kind)
{
	struct err err = {0};
	if (CHECK((space = space_open(kind, BACKEND, &graph, NULL, 0, &err)) != NULL))
		keep_the_contract(k, name);
	else
		printf("\t%s: %s\n", name, err.text);
	space_free(space);
}

static void made(const struct space_kind *k, const char *as)
{
	char program[80], kind[SPACE_KIND_ROOM];
	struct buf module = {0};
	struct err err = {0};
	snprintf(program, sizeof program, "%s%s", k->name, as);
	if (k->make(program, &module, kind, &err) < 0) { /* some have fewer choices at most; they say so */
		CHECK(strstr(err.text, " to ") && as != made_as[0]);
		buf_release(&module);
		return;
	}
	buf_reset(&module);
	if (CHECK(k->make(program, &module, kind, &err) == 0 && graph_parse(&graph, module.data, module.len, program,
		&err) == 0))
		on(k, program, kind);
	else
		printf("\t%s: %s\n", program, err.text);
	graph_release(&graph);
	buf_release(&module);
}

static void every_kind_on_every_small_program(void)
{
	glob_t files;
	uint32_t opened = 0;
	if (!CHECK(glob("examples/graphs/tiny/*.pb.zst", 0, NULL, &files) == 0))
		return;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (size_t i = 0; kinds[k]->make && i < sizeof made_as / sizeof *made_as; i++)
			made(kinds[k], made_as[i]);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct err err = {0};
		if (!CHECK(graph_read(&graph, files.gl_pathv[i], &err) == 0))
			continue;
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
			if (!kinds[k]->make)
				on(kinds[k], files.gl_pathv[i], kinds[k]->name), opened++;
		graph_release(&graph);
	}
	CHECK(opened >= files.gl_pathc && files.gl_pathc > 8);
	globfree(&files);
}

int main(void)
{
	RUN(every_kind_on_every_small_program);
	return test_done();
}
