/*
 * region.c - finds the regions of a move (space.h).
 *
 * If only rules with a price by region changed, each place is cut out by itself. One side has the nodes of the place, the
 * other has what the rule writes for it; both have the same parameters and the same result. A node inside that others
 * also read is computed in any case, so it becomes a parameter. The compiler runs all of its passes over
 * these small programs, as it does over the large one.
 *
 * The regions of a rule with a price by whole programs would not tell the truth, so its region is the two whole programs.
 *
 * A region's key is a hash of its two programs that ignores the names of instructions. So the same place has the same key
 * in another layer, program or night.
 */
#include "space/rewrite/own.h"

#include <string.h>
#include "base/sort.h"
#include "graph/print.h"
#include "hlo/pack.h"

/* A place that is being cut out. */
struct cut {
	const struct space *s;
	uint32_t site;
	uint32_t *node, n_nodes; /* replaced, and read by nobody else; the anchor is last */
	uint32_t *near, n_near;	 /* all nodes that either side may read */
	struct draft draft;
	struct arena mem;
};

struct half {
	struct lines l;
	uint32_t *reads, n_reads; /* nodes that are parameters or constants */
};

static bool listed(const uint32_t *v, uint32_t n, uint32_t what)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i] == what)
			return true;
	return false;
}

static void add_near(struct cut *c, uint32_t v)
{
	if (!listed(c->near, c->n_near, v))
		c->near[c->n_near++] = v;
}

static size_t room(const struct graph *g, const struct found *f)
{
	size_t n = 1 + g->node[f->anchor].n_operands;

	for (uint32_t i = 0; i < f->n_inside; i++)
		n += 1 + g->node[f->inside[i]].n_operands;
	return n;
}

static void add_found(struct cut *c, const struct found *f)
{
	const struct graph *g = c->s->graph;

	for (uint32_t i = 0; i <= f->n_inside; i++) {
		uint32_t v = i ? f->inside[i - 1] : f->anchor;
		add_near(c, v);
		for (uint32_t k = 0; k < g->node[v].n_operands; k++)
			add_near(c, node_operands(g, v)[k]);
		if (i && rewrite_consumes(g, f, v) && !listed(c->node, c->n_nodes, v))
			c->node[c->n_nodes++] = v;
	}
}

static void cut_begin(struct cut *c, const struct space *s, uint32_t site, uint8_t a, uint8_t b)
{
	uint8_t choice[2] = {a, b};
	struct found f[2];
	size_t n = 0;

	*c = (struct cut){.s = s, .site = site};
	for (int i = 0; i < 2; i++) {
		if (choice[i])
			rewrite_found(s, site, rewrite_offer(s, site, choice[i]), &f[i]);
		else
			f[i] = (struct found){.anchor = s->site[site].node};
		n += room(s->graph, &f[i]);
	}
	c->node = ARENA_NEW(&c->mem, n, uint32_t);
	c->near = ARENA_NEW(&c->mem, n, uint32_t);
	for (int i = 0; i < 2; i++)
		add_found(c, &f[i]);
	sort_u32(c->node, c->n_nodes);
	c->node[c->n_nodes++] = s->site[site].node;
	draft_begin(&c->draft, s->graph, &c->mem);
}

static void cut_end(struct cut *c)
{
	draft_release(&c->draft);
	arena_release(&c->mem);
}

/* Fills in what one side computes, and the values that it reads. */
static void fill_half(struct cut *c, uint8_t choice, struct half *h)
{
	const struct graph *g = c->s->graph;
	uint32_t anchor = c->s->site[c->site].node;

	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (!choice || c->node[i] != anchor)
			lines_add(&h->l, g->node[c->node[i]].proto);
	if (choice) {
		rewrite_draft(c->s, c->site, rewrite_offer(c->s, c->site, choice), &c->draft);
		for (size_t i = 0; i < c->draft.n; i++)
			lines_add(&h->l, c->draft.v[i]);
	}
	lines_prune(&h->l, g->node[anchor].proto->id);
	h->reads = ARENA_NEW(&c->mem, c->n_near, uint32_t);
	for (uint32_t i = 0; i < c->n_near; i++) {
		int64_t id = g->node[c->near[i]].proto->id;
		bool made = false, read = false;
		for (size_t k = 0; k < h->l.n; k++) {
			made |= h->l.v[k]->id == id;
			for (size_t j = 0; j < h->l.v[k]->n_operand_ids; j++)
				read |= h->l.v[k]->operand_ids[j] == id;
		}
		if (read && !made)
			h->reads[h->n_reads++] = c->near[i];
	}
}

/* A parameter that stands for the value; if the value is a constant, the constant itself. */
static Hlo__HloInstructionProto *stand_in(struct cut *c, Hlo__HloInstructionProto *x, int64_t *number)
{
	Hlo__HloInstructionProto *in;

	if (strcmp(x->opcode, "constant") == 0 && x->shape->n_dimensions == 0)
		return x;
	in = arena_alloc(&c->mem, sizeof *in);
	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)"parameter";
	in->name = x->name;
	in->id = x->id;
	in->shape = x->shape;
	in->parameter_number = (*number)++;
	return in;
}

/* Adds the computation with this id, after all computations that it calls. */
static void add_called(struct cut *c, int64_t id, Hlo__HloComputationProto **list, size_t *n)
{
	const struct graph *g = c->s->graph;

	for (size_t i = 0; i < *n; i++)
		if (list[i]->id == id)
			return;
	for (size_t i = 0; i < c->draft.n_comps; i++)
		if (c->draft.comp[i]->id == id)
			list[(*n)++] = c->draft.comp[i];
	for (uint32_t k = 0; k < g->n_comps; k++) {
		if (g->comp[k].proto->id != id)
			continue;
		for (size_t i = 0; i < g->comp[k].proto->n_instructions; i++)
			for (size_t j = 0; j < g->comp[k].proto->instructions[i]->n_called_computation_ids; j++)
				add_called(c, g->comp[k].proto->instructions[i]->called_computation_ids[j], list, n);
		list[(*n)++] = g->comp[k].proto;
	}
}

static Hlo__ProgramShapeProto *signature(struct cut *c, const struct lines *l, Hlo__ShapeProto *result)
{
	Hlo__ProgramShapeProto *s = arena_alloc(&c->mem, sizeof *s);

	hlo__program_shape_proto__init(s);
	s->parameters = ARENA_NEW(&c->mem, l->n, Hlo__ShapeProto *);
	s->parameter_names = ARENA_NEW(&c->mem, l->n, char *);
	s->result = result;
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i]->opcode, "parameter") == 0) {
			s->parameters[s->n_parameters++] = l->v[i]->shape;
			s->parameter_names[s->n_parameter_names++] = l->v[i]->name;
		}
	return s;
}

/* Writes a module with these lines, parameters first, and this root. */
static void write_lines(struct cut *c, struct lines *l, const Hlo__HloInstructionProto *root, struct buf *out)
{
	const struct node *anchor = &c->s->graph->node[c->s->site[c->site].node];
	Hlo__HloModuleProto m;
	Hlo__HloComputationProto entry;

	hlo__hlo_module_proto__init(&m);
	hlo__hlo_computation_proto__init(&entry);
	m.computations = ARENA_NEW(&c->mem, c->s->graph->n_comps + c->draft.n_comps + 1, Hlo__HloComputationProto *);
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->v[i]->n_called_computation_ids; k++)
			add_called(c, l->v[i]->called_computation_ids[k], m.computations, &m.n_computations);
	m.computations[m.n_computations++] = &entry;
	m.name = entry.name = m.entry_computation_name = (char *)"region";
	m.id = 1;
	m.entry_computation_id = entry.id = c->s->graph->comp[anchor->comp].proto->id;
	entry.root_id = root->id;
	entry.instructions = l->v;
	entry.n_instructions = l->n;
	m.host_program_shape = entry.program_shape = signature(c, l, root->shape);
	pack_message(&m.base, out);
}

static void write_half(struct cut *c, const struct half *h, const uint32_t *reads, uint32_t n_reads, struct buf *out)
{
	struct lines l = {0};
	int64_t number = 0;

	for (uint32_t i = 0; i < n_reads; i++)
		lines_add(&l, stand_in(c, c->s->graph->node[reads[i]].proto, &number));
	for (size_t i = 0; i < h->l.n; i++)
		lines_add(&l, h->l.v[i]);
	write_lines(c, &l, c->s->graph->node[c->s->site[c->site].node].proto, out);
	mem_free(l.v);
}

/*
 * Writes both sides of a place; returns the larger number of instructions. The parameters of the smaller choice come
 * first, on whichever side it is, so that the reverse move has the same two programs.
 */
static uint32_t write_cut(struct cut *c, uint8_t a, uint8_t b, struct buf *out_a, struct buf *out_b)
{
	uint8_t choice[2] = {a, b};
	struct buf *out[2] = {out_a, out_b};
	struct half half[2] = {{{0}, NULL, 0}, {{0}, NULL, 0}};
	uint32_t *reads = ARENA_NEW(&c->mem, c->n_near, uint32_t), n = 0;
	size_t largest;

	for (int k = 0; k < 2; k++) {
		struct half *h = &half[k ^ (b < a)];
		fill_half(c, choice[k ^ (b < a)], h);
		for (uint32_t i = 0; i < h->n_reads; i++)
			if (!listed(reads, n, h->reads[i]))
				reads[n++] = h->reads[i];
	}
	for (int i = 0; i < 2; i++)
		write_half(c, &half[i], reads, n, out[i]);
	largest = half[0].l.n > half[1].l.n ? half[0].l.n : half[1].l.n;
	for (int i = 0; i < 2; i++)
		mem_free(half[i].l.v);
	return (uint32_t)largest;
}

/* Computes the key of one side: a hash of the program without its names. */
static int name_of(const struct buf *module, uint64_t *key, struct err *err)
{
	struct graph g;

	if (graph_parse(&g, module->data, module->len, "a rewritten place", err) < 0)
		return -1;
	memcpy(key, &g.content, sizeof *key);
	graph_release(&g);
	return 0;
}

static int add_place(struct space *s, uint32_t site, uint8_t a, uint8_t b, bool screen, struct regions *out, struct err *err)
{
	struct region *r;
	struct cut c;

	MEM_GROW(&out->v, &out->cap, out->n + 1);
	r = &out->v[out->n++];
	*r = (struct region){.times = s->graph->comp[s->graph->node[s->site[site].node].comp].trips, .copies = 1, .alike = true,
		.screen = screen};
	cut_begin(&c, s, site, a, b);
	r->n_nodes = write_cut(&c, a, b, &r->a, &r->b);
	cut_end(&c);
	return name_of(&r->a, &r->key[0], err) < 0 || name_of(&r->b, &r->key[1], err) < 0 ? -1 : 0;
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

static bool priced_whole(const struct space *s, uint32_t site, uint8_t choice)
{
	const struct offer *o = rewrite_offer(s, site, choice);

	return o && rewrite_rule(s, o)->whole;
}

/* Are places priced before whole programs? They promise too much, so if they promise nothing the whole is not run. Going back always is. */
static bool screened(const uint8_t *b, const uint8_t *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i] != b[i] && b[i] == 0)
			return false;
	return true;
}

int rewrite_region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	uint8_t *real_a = MEM_NEW(s->n_sites + 1, uint8_t), *real_b = MEM_NEW(s->n_sites + 1, uint8_t);
	bool whole = false, places;
	int rc = 0;

	rewrite_real(s, a, real_a);
	rewrite_real(s, b, real_b);
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (real_a[i] != real_b[i])
			whole |= priced_whole(s, i, real_a[i]) || priced_whole(s, i, real_b[i]);
	places = !whole || screened(real_b, real_a, s->n_sites);
	for (uint32_t i = 0; i < s->n_sites && rc == 0 && places; i++)
		if (real_a[i] != real_b[i])
			rc = add_place(s, i, real_a[i], real_b[i], whole, out, err);
	if (out->n > 1)
		regions_join(out);
	if (rc == 0 && whole)
		rc = add_whole(s, a, b, out, err);
	mem_free(real_a);
	mem_free(real_b);
	return rc;
}

void rewrite_picture(struct space *s, uint32_t site, uint8_t choice, struct buf *out)
{
	struct buf side[2] = {{0}, {0}};
	struct graph g = {0};
	struct cut c;

	cut_begin(&c, s, site, 0, choice);
	write_cut(&c, 0, choice, &side[0], &side[1]);
	cut_end(&c);
	if (graph_parse(&g, side[choice != 0].data, side[choice != 0].len, "a place", NULL) == 0)
		hlo_print(&g, out);
	graph_release(&g);
	buf_release(&side[0]);
	buf_release(&side[1]);
}

/* The value with this id: an instruction of the half, or a node near the place. */
static Hlo__HloInstructionProto *value_of(const struct cut *c, const struct half *h, int64_t id)
{
	for (size_t i = 0; i < h->l.n; i++)
		if (h->l.v[i]->id == id)
			return h->l.v[i];
	for (uint32_t i = 0; i < c->n_near; i++)
		if (c->s->graph->node[c->near[i]].proto->id == id)
			return c->s->graph->node[c->near[i]].proto;
	return NULL;
}

static int add_operator(struct cut *c, const struct half *h, Hlo__HloInstructionProto *in, struct regions *out, struct err *err)
{
	struct lines l = {0};
	int64_t number = 0;
	struct region *r;

	for (size_t k = 0; k < in->n_operand_ids; k++) {
		Hlo__HloInstructionProto *x = value_of(c, h, in->operand_ids[k]);
		bool again = false;
		for (size_t j = 0; j < k; j++)
			again |= in->operand_ids[j] == in->operand_ids[k];
		if (x && !again)
			lines_add(&l, stand_in(c, x, &number));
	}
	lines_add(&l, in);
	MEM_GROW(&out->v, &out->cap, out->n + 1);
	r = &out->v[out->n++];
	*r = (struct region){.times = 1, .copies = 1, .n_nodes = 1};
	write_lines(c, &l, in, &r->a);
	mem_free(l.v);
	return name_of(&r->a, &r->key[0], err);
}

int rewrite_operators(struct space *s, uint32_t site, uint8_t choice, struct regions *before, struct regions *after,
	struct err *err)
{
	uint8_t choices[2] = {0, choice};
	struct regions *out[2] = {before, after};
	struct cut c;
	int rc = 0;

	cut_begin(&c, s, site, 0, choice);
	for (int i = 0; i < 2; i++) {
		struct half h = {{0}, NULL, 0};
		fill_half(&c, choices[i], &h);
		for (size_t k = 0; k < h.l.n && rc == 0; k++)
			if (!opcode_is_idle(opcode_of(h.l.v[k]->opcode)))
				rc = add_operator(&c, &h, h.l.v[k], out[i], err);
		mem_free(h.l.v);
	}
	cut_end(&c);
	return rc;
}
