/*
 * region.c - finds the regions of a move (space.h).
 *
 * If all rules that changed have a price by region, each place is cut out by itself (cut.h). For a rule with a price by
 * whole programs, a place alone would not tell the truth, so its region is the two whole programs. That goes for a
 * block of places, too, and for what may be taken back from one (block.c): errors of many regions add up.
 *
 * A region's key is a hash of its two programs that ignores the names of instructions. So the same place has the same
 * key in another layer, program or night.
 */
#include "space/rewrite/cut.h"

#include <math.h>
#include <string.h>
#include "graph/print.h"
#include "hlo/library.h"

/* How often a program calls oneDNN in a run. */
static double calls(const struct graph *g)
{
	double n = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (node_is_compiled(g, v) && library_is_call(g->node[v].proto))
			n += g->comp[g->node[v].comp].trips;
	return n;
}

/*
 * Computes the key of one side: a hash of the program without its names. A run of the whole program runs the side
 * `times` times; `parts`, unless it is NULL, gets how many calls that makes.
 */
static int name_of(const struct buf *module, double times, uint64_t *key, uint32_t *parts, struct err *err)
{
	struct graph g;

	if (graph_parse(&g, module->data, module->len, "a rewritten place", err) < 0)
		return -1;
	memcpy(key, &g.content, sizeof *key);
	if (parts)
		*parts = (uint32_t)fmin(times * calls(&g), 1e9);
	graph_release(&g);
	return 0;
}

/* Adds the place of a site, and marks all sites that belong to it. */
static int add_place(struct space *s, uint32_t site, const uint8_t *a, const uint8_t *b, bool screen, uint8_t *done,
	struct regions *out, struct err *err)
{
	const struct comp *in = &s->graph->comp[s->graph->node[s->site[site].node].comp];
	struct region *r;
	struct cut c;

	MEM_GROW(&out->v, &out->cap, out->n + 1);
	r = &out->v[out->n++];
	*r = (struct region){.times = in->trips, .copies = 1, .screen = screen};
	cut_begin(&c, s, site, a, b);
	for (uint32_t i = 0; i < c.n_sites; i++)
		done[c.site[i]] = 1;
	r->n_nodes = cut_write(&c, &r->a, &r->b);
	/* Sides with other parameters, or results more precise than what they are of: the verdict compares these. */
	r->alike = !c.prepared && !c.converted;
	cut_end(&c);
	if (name_of(&r->a, in->trips, &r->key[0], &r->parts[0], err) < 0)
		return -1;
	return name_of(&r->b, in->trips, &r->key[1], &r->parts[1], err);
}

static int add_whole(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	struct region *r;

	MEM_GROW(&out->v, &out->cap, out->n + 1);
	r = &out->v[out->n++];
	*r = (struct region){.times = 1, .copies = 1, .n_nodes = s->graph->n_nodes, .whole = true};
	if (rewrite_apply(s, a, &r->a, err) < 0 || rewrite_apply(s, b, &r->b, err) < 0)
		return -1;
	r->key[0] = hash64(r->a.data, r->a.len, 0);
	r->key[1] = hash64(r->b.data, r->b.len, 0);
	return 0;
}

/*
 * Are places priced before the whole programs? They promise too much, so if they promise no gain, the whole programs
 * need not be run. A move that takes a rewriting back is always priced by whole programs alone, and so is one whose
 * places do not show alone what they gain.
 */
static bool screened(const struct space *s, const uint8_t *b, const uint8_t *a)
{
	for (uint32_t i = 0; i < s->n_sites; i++) {
		const struct offer *o = a[i] == b[i] ? NULL : rewrite_offer(s, i, b[i]);
		if (a[i] != b[i] && (b[i] == 0 || (o && rewrite_rule(s, o)->blind)))
			return false;
	}
	return true;
}

int rewrite_region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	uint8_t *real_a = MEM_NEW(3 * s->n_sites + 1, uint8_t);
	uint8_t *real_b = real_a + s->n_sites, *done = real_b + s->n_sites;
	bool whole = rewrite_is_block(s, a, b), places = !whole;
	int rc = 0;

	rewrite_real(s, a, real_a);
	rewrite_real(s, b, real_b);
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (real_a[i] != real_b[i])
			whole |= rewrite_told_whole(s, i, real_a[i]) || rewrite_told_whole(s, i, real_b[i]);
	places = places && (!whole || screened(s, real_b, real_a));
	for (uint32_t i = 0; i < s->n_sites && rc == 0 && places; i++)
		if (real_a[i] != real_b[i] && !done[i] && space_matters(s, i, QUANTITY_SECONDS))
			rc = add_place(s, i, real_a, real_b, whole, done, out, err);
	if (out->n > 1)
		regions_join(out);
	if (rc == 0 && whole)
		rc = add_whole(s, a, b, out, err);
	mem_free(real_a);
	return rc;
}

/* What takes effect if nothing but one site is decided: nothing, and that choice. */
static uint8_t *alone(const struct space *s, uint32_t site, uint8_t choice)
{
	uint8_t *real = MEM_NEW(2 * s->n_sites + 1, uint8_t);

	real[s->n_sites + site] = choice;
	return real;
}

void rewrite_picture(struct space *s, uint32_t site, uint8_t choice, struct buf *out)
{
	uint8_t *real = alone(s, site, choice);
	struct buf side[2] = {{0}, {0}};
	struct graph g = {0};
	struct cut c;

	cut_begin(&c, s, site, real, real + s->n_sites);
	cut_write(&c, &side[0], &side[1]);
	cut_end(&c);
	if (graph_parse(&g, side[choice != 0].data, side[choice != 0].len, "a place", NULL) == 0)
		hlo_print(&g, out);
	graph_release(&g);
	buf_release(&side[0]);
	buf_release(&side[1]);
	mem_free(real);
}

static int add_operators(struct cut *c, const struct half *h, struct regions *out, struct err *err)
{
	int rc = 0;

	for (size_t k = 0; k < h->l.n && rc == 0; k++) {
		if (opcode_is_idle(opcode_of(h->l.v[k]->opcode)))
			continue;
		MEM_GROW(&out->v, &out->cap, out->n + 1);
		struct region *r = &out->v[out->n++];
		*r = (struct region){.times = 1, .copies = 1, .n_nodes = 1};
		cut_write_one(c, h, h->l.v[k], &r->a);
		rc = name_of(&r->a, 1, &r->key[0], NULL, err);
	}
	return rc;
}

static int add_half(struct cut *c, int side, struct regions *out, struct err *err)
{
	struct half h;
	int rc;

	cut_half(c, side, &h);
	rc = add_operators(c, &h, out, err);
	mem_free(h.l.v);
	return rc;
}

int rewrite_operators(struct space *s, uint32_t site, uint8_t choice, struct regions *before, struct regions *after,
	struct err *err)
{
	uint8_t *real = alone(s, site, choice);
	struct cut c;
	int rc;

	cut_begin(&c, s, site, real, real + s->n_sites);
	rc = add_half(&c, 0, before, err);
	if (rc == 0)
		rc = add_half(&c, 1, after, err);
	cut_end(&c);
	mem_free(real);
	return rc;
}

/* Appends the nodes near the place that the lines read. */
static void add_reads(const struct cut *c, const struct lines *l, uint32_t **reads, size_t *n, size_t *cap)
{
	for (uint32_t i = 0; i < c->n_near; i++) {
		int64_t id = c->s->graph->node[c->near[i]].proto->id;
		bool read = false;
		for (size_t k = 0; k < l->n; k++)
			for (size_t j = 0; j < l->v[k]->n_operand_ids; j++)
				read |= l->v[k]->operand_ids[j] == id;
		if (!read)
			continue;
		MEM_GROW(reads, cap, *n + 1);
		(*reads)[(*n)++] = c->near[i];
	}
}

int rewrite_alternative(struct space *s, uint32_t node, uint8_t choice, struct regions *ops, uint32_t **reads,
	size_t *n_reads, size_t *cap_reads, struct err *err)
{
	uint32_t site = s->site_of[node];
	const struct offer *o = site == NONE ? NULL : rewrite_offer(s, site, choice);
	uint8_t *real = o ? alone(s, site, choice) : NULL;
	struct half h = {0};
	struct cut c;
	int rc;

	if (o && o->leader != NONE) {
		mem_free(real);
		return 0;
	}
	if (o)
		cut_begin(&c, s, site, real, real + s->n_sites);
	else
		cut_begin_node(&c, s, node);
	if (o)
		rewrite_draft(s, site, o, &c.draft);
	else
		lines_add(&h.l, s->graph->node[node].proto);
	for (size_t i = 0; i < c.draft.n; i++)
		lines_add(&h.l, c.draft.v[i]);
	add_reads(&c, &h.l, reads, n_reads, cap_reads);
	rc = add_operators(&c, &h, ops, err);
	mem_free(h.l.v);
	cut_end(&c);
	mem_free(real);
	return rc < 0 ? -1 : 1;
}
