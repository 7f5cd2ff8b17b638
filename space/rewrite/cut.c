/*
 * cut.c - see cut.h. The compiler runs all of its passes over these small programs, as it does over the large one.
 */
#include "space/rewrite/cut.h"

#include <string.h>
#include "base/sort.h"
#include "hlo/pack.h"

static bool listed(const uint32_t *v, uint32_t n, uint32_t what)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i] == what)
			return true;
	return false;
}

static void add_once(uint32_t *v, uint32_t *n, uint32_t what)
{
	if (!listed(v, *n, what))
		v[(*n)++] = what;
}

/* Adds the anchors of a site: its node and, where it joins, the leader. */
static void add_anchors(struct cut *c, uint32_t site)
{
	add_once(c->anchor, &c->n_anchors, c->s->site[site].node);
	for (int i = 0; i < 2; i++) {
		const struct offer *o = rewrite_offer(c->s, site, c->real[i][site]);
		if (o && o->leader != NONE)
			add_once(c->anchor, &c->n_anchors, o->leader);
	}
}

/* Does the site belong to the place, because it or the leader that it joins is an anchor? */
static bool belongs(const struct cut *c, uint32_t site)
{
	for (int i = 0; i < 2; i++) {
		const struct offer *o = rewrite_offer(c->s, site, c->real[i][site]);
		if (o && (listed(c->anchor, c->n_anchors, c->s->site[site].node) ||
			(o->leader != NONE && listed(c->anchor, c->n_anchors, o->leader))))
			return true;
	}
	return false;
}

static void add_site(struct cut *c, uint32_t site)
{
	if (listed(c->site, c->n_sites, site))
		return;
	c->site[c->n_sites++] = site;
	add_anchors(c, site);
}

/* Adds the sites that share with this one a node that both look through. */
static void add_sharing(struct cut *c, uint32_t site)
{
	const struct rewrite *w = rewrite_of(c->s);

	for (uint32_t k = w->near_first[site]; k < w->near_first[site + 1]; k++)
		if (c->real[0][w->near[k]] || c->real[1][w->near[k]])
			add_site(c, w->near[k]);
}

/* Finds all sites that share what they compute, or look through, with this one. */
static void find_sites(struct cut *c, uint32_t site)
{
	bool more = rewrite_of(c->s)->has_joins;
	uint32_t n = c->s->n_sites;

	c->site = arena_alloc(&c->mem, n * sizeof *c->site);
	c->anchor = arena_alloc(&c->mem, 3 * (size_t)n * sizeof *c->anchor);
	add_site(c, site);
	do {
		uint32_t was = c->n_sites;
		for (uint32_t i = 0; i < c->n_sites; i++)
			add_sharing(c, c->site[i]);
		for (uint32_t i = 0; i < n && more; i++)
			if (belongs(c, i))
				add_site(c, i);
		if (c->n_sites == was)
			break;
	} while (more);
	sort_u32(c->site, c->n_sites);
	sort_u32(c->anchor, c->n_anchors); /* so that the place reads its values in one order, wherever it is come by */
}

static void add_near(struct cut *c, uint32_t v)
{
	const struct graph *g = c->s->graph;

	add_once(c->near, &c->n_near, v);
	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		add_once(c->near, &c->n_near, node_operands(g, v)[k]);
}

/* Fills `f` for a site of the place on a side; false if nothing takes effect there. */
static bool found_on(const struct cut *c, uint32_t site, int side, struct found *f)
{
	const struct offer *o = rewrite_offer(c->s, site, c->real[side][site]);

	if (!o)
		return false;
	rewrite_found(c->s, site, o, f);
	return true;
}

/* How many nodes a node inside brings: itself, its operands, what is around a product, and the operands of that. */
static size_t room_of(const struct graph *g, uint32_t v)
{
	size_t n = 1 + g->node[v].n_operands;
	struct around a;

	around_product(g, v, &a);
	for (uint32_t i = 0; i < a.n; i++)
		n += 1 + g->node[a.v[i]].n_operands;
	return n;
}

static size_t room(const struct cut *c)
{
	const struct graph *g = c->s->graph;
	struct found f;
	size_t n = 0;

	for (uint32_t i = 0; i < c->n_anchors; i++)
		n += room_of(g, c->anchor[i]);
	for (uint32_t i = 0; i < 2 * c->n_sites; i++)
		for (uint32_t k = 0; found_on(c, c->site[i / 2], i % 2, &f) && k < f.n_inside; k++)
			n += room_of(g, f.inside[k]);
	return n;
}

/* Adds nodes that the place looks through. */
static void add_inside(struct cut *c, const struct found *f)
{
	for (uint32_t k = 0; k < f->n_inside; k++) {
		add_near(c, f->inside[k]);
		add_once(c->node, &c->n_nodes, f->inside[k]);
	}
}

/* Adds what belongs to the products inside. */
static void add_around(struct cut *c)
{
	struct around a;

	for (uint32_t i = 0, n = c->n_nodes; i < n; i++) {
		around_product(c->s->graph, c->node[i], &a);
		for (uint32_t k = 0; k < a.n; k++) {
			add_near(c, a.v[k]);
			add_once(c->node, &c->n_nodes, a.v[k]);
			c->converted |= c->s->graph->node[a.v[k]].dtype != c->s->graph->node[c->node[i]].dtype;
		}
	}
}

/* What nothing reads counts as read: a place has a result even where the program has no use for it. */
static bool read_elsewhere(const struct cut *c, uint32_t v)
{
	const struct node *n = &c->s->graph->node[v];
	bool read = n->flags & NODE_ROOT || n->n_users == 0;

	for (uint32_t k = 0; k < n->n_users && !read; k++)
		read = !listed(c->node, c->n_nodes, node_users(c->s->graph, v)[k]);
	return read;
}

/*
 * What others read besides must be there on both sides, or these would differ in their numbers: it is a result, too.
 * An anchor that only what is around it reads is none.
 */
static void add_results(struct cut *c, uint32_t around)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (read_elsewhere(c, c->node[i]))
			add_once(c->anchor, &c->n_anchors, c->node[i]);
	for (uint32_t i = 0; i < c->n_anchors; i++)
		if (!around || read_elsewhere(c, c->anchor[i]))
			c->anchor[n++] = c->anchor[i];
	c->n_anchors = n;
}

void cut_begin(struct cut *c, struct space *s, uint32_t site, const uint8_t *a, const uint8_t *b)
{
	struct found f;
	uint32_t *own, inside;
	size_t n;

	*c = (struct cut){.s = s, .real = {a, b}};
	find_sites(c, site);
	n = room(c);
	own = c->anchor;
	c->anchor = ARENA_NEW(&c->mem, n, uint32_t);
	c->node = ARENA_NEW(&c->mem, n, uint32_t);
	c->near = ARENA_NEW(&c->mem, n, uint32_t);
	for (uint32_t i = 0; i < c->n_anchors; i++) {
		c->anchor[i] = c->node[c->n_nodes++] = own[i];
		add_near(c, own[i]);
	}
	for (uint32_t i = 0; i < 2 * c->n_sites; i++)
		if (found_on(c, c->site[i / 2], i % 2, &f))
			add_inside(c, &f);
	inside = c->n_nodes;
	add_around(c);
	add_results(c, c->n_nodes - inside);
	sort_u32(c->node, c->n_nodes);
	sort_u32(c->anchor, c->n_anchors);
	draft_begin(&c->draft, s->graph, &rewrite_of(s)->fresh, &c->mem);
}

void cut_begin_node(struct cut *c, struct space *s, uint32_t node)
{
	*c = (struct cut){.s = s, .n_anchors = 1};
	c->anchor = arena_dup(&c->mem, &node, sizeof node);
	c->near = ARENA_NEW(&c->mem, 1 + s->graph->node[node].n_operands, uint32_t);
	add_near(c, node);
	draft_begin(&c->draft, s->graph, &rewrite_of(s)->fresh, &c->mem);
}

void cut_end(struct cut *c)
{
	draft_release(&c->draft);
	arena_release(&c->mem);
}

/* Does another site of the place join this node on that side? */
static bool leads(const struct cut *c, uint32_t v, int side)
{
	for (uint32_t i = 0; i < c->n_sites; i++) {
		const struct offer *o = rewrite_offer(c->s, c->site[i], c->real[side][c->site[i]]);
		if (o && o->leader == v)
			return true;
	}
	return false;
}

/* The results as one value. */
static Hlo__HloInstructionProto *result(struct cut *c, struct lines *l)
{
	const struct graph *g = c->s->graph;
	Hlo__HloInstructionProto *in;

	if (c->n_anchors == 1)
		return g->node[c->anchor[0]].proto;
	in = arena_alloc(&c->mem, sizeof *in);
	hlo__hlo_instruction_proto__init(in);
	in->opcode = in->name = (char *)"tuple";
	in->shape = arena_alloc(&c->mem, sizeof *in->shape);
	hlo__shape_proto__init(in->shape);
	in->shape->element_type = DT_TUPLE;
	in->shape->n_tuple_shapes = in->n_operand_ids = c->n_anchors;
	in->shape->tuple_shapes = ARENA_NEW(&c->mem, c->n_anchors, Hlo__ShapeProto *);
	in->operand_ids = ARENA_NEW(&c->mem, c->n_anchors, int64_t);
	for (uint32_t i = 0; i < c->n_anchors; i++) {
		in->shape->tuple_shapes[i] = g->node[c->anchor[i]].proto->shape;
		in->operand_ids[i] = g->node[c->anchor[i]].proto->id;
	}
	in->id = ids_next(&c->draft.fresh.ids, g->node[c->anchor[0]].proto);
	lines_add(l, in);
	return in;
}

/* The lines of a side, in the order of the nodes that they stand for. */
static void fill_lines(struct cut *c, int side, struct lines *l)
{
	const struct graph *g = c->s->graph;

	for (uint32_t i = 0; i < c->n_nodes; i++) {
		uint32_t v = c->node[i], site = c->s->site_of[v];
		bool mine = site != NONE && listed(c->site, c->n_sites, site);
		const struct offer *o = mine ? rewrite_offer(c->s, site, c->real[side][site]) : NULL;
		c->draft.n = 0;
		if (leads(c, v, side))
			rewrite_draft_joined(c->s, v, c->real[side], &c->draft);
		else if (!o)
			lines_add(l, g->node[v].proto);
		else if (o->leader == NONE)
			rewrite_draft(c->s, site, o, &c->draft);
		for (size_t k = 0; k < c->draft.n; k++)
			lines_add(l, c->draft.v[k]);
	}
}

void cut_half(struct cut *c, int side, struct half *h)
{
	const struct graph *g = c->s->graph;

	*h = (struct half){.reads = ARENA_NEW(&c->mem, c->n_near, uint32_t)};
	fill_lines(c, side, &h->l);
	h->root = result(c, &h->l);
	if (c->n_anchors > 1)
		lines_sort(&h->l);
	lines_prune(&h->l, h->root->id);
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

static Hlo__ProgramShapeProto *signature(struct cut *c, const struct lines *l, Hlo__ShapeProto *result_shape)
{
	Hlo__ProgramShapeProto *s = arena_alloc(&c->mem, sizeof *s);

	hlo__program_shape_proto__init(s);
	s->parameters = ARENA_NEW(&c->mem, l->n, Hlo__ShapeProto *);
	s->parameter_names = ARENA_NEW(&c->mem, l->n, char *);
	s->result = result_shape;
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
	const struct node *anchor = &c->s->graph->node[c->anchor[0]];
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

/* Is this value computed once, before the program or before the loop around it? */
static bool stays(const struct cut *c, uint32_t v)
{
	const uint8_t *on = rewrite_of(c->s)->on;

	return (on && on[v] == HOIST_GIVEN) || rule_stays_for(c->s->graph, v) > 0;
}

/*
 * Turns lines that are computed once into parameters, after `number` of them. The first lines are `reads`. (A compiler
 * computes what a loop leaves as it is before the loop. Four products of an LSTM's turn made one, with the four weights
 * put together, were 3% dearer where that counted in each turn, and in truth 1.7% cheaper.)
 */
static void prepare(struct cut *c, struct lines *l, const uint32_t *reads, uint32_t n_reads, int64_t root,
	int64_t number)
{
	uint8_t *on = MEM_NEW(l->n + 1, uint8_t);

	for (uint32_t i = 0; i < n_reads; i++)
		on[i] = stays(c, reads[i]) ? HOIST_GIVEN : 0;
	if (hoist_lines(l, on, root, 0, &c->mem, NULL) > 0) {
		c->prepared = true;
		lines_prune(l, root);
		for (size_t i = 0; i < l->n; i++)
			if (strcmp(l->v[i]->opcode, "parameter") == 0 && l->v[i]->parameter_number >= number)
				l->v[i]->parameter_number = number++;
	}
	mem_free(on);
}

static void write_half(struct cut *c, const struct half *h, const uint32_t *reads, uint32_t n_reads, struct buf *out)
{
	struct lines l = {0};
	int64_t number = 0;

	for (uint32_t i = 0; i < n_reads; i++)
		lines_add(&l, stand_in(c, c->s->graph->node[reads[i]].proto, &number));
	for (size_t i = 0; i < h->l.n; i++)
		lines_add(&l, h->l.v[i]);
	if (rewrite_of(c->s)->given || c->s->graph->comp[c->s->graph->node[c->anchor[0]].comp].trips > 1)
		prepare(c, &l, reads, n_reads, h->root->id, number);
	write_lines(c, &l, h->root, out);
	mem_free(l.v);
}

/* Is the choice of side 1 the smaller one, at the first site where they differ? */
static bool second_is_smaller(const struct cut *c)
{
	for (uint32_t i = 0; i < c->n_sites; i++)
		if (c->real[0][c->site[i]] != c->real[1][c->site[i]])
			return c->real[1][c->site[i]] < c->real[0][c->site[i]];
	return false;
}

uint32_t cut_write(struct cut *c, struct buf *a, struct buf *b)
{
	struct buf *out[2] = {a, b};
	struct half half[2];
	uint32_t *reads = ARENA_NEW(&c->mem, c->n_near, uint32_t), n = 0;
	size_t largest;

	for (int k = 0; k < 2; k++) {
		int side = k ^ second_is_smaller(c);
		cut_half(c, side, &half[side]);
		for (uint32_t i = 0; i < half[side].n_reads; i++)
			add_once(reads, &n, half[side].reads[i]);
	}
	for (int i = 0; i < 2; i++)
		write_half(c, &half[i], reads, n, out[i]);
	largest = half[0].l.n > half[1].l.n ? half[0].l.n : half[1].l.n;
	for (int i = 0; i < 2; i++)
		mem_free(half[i].l.v);
	return (uint32_t)largest;
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

void cut_write_one(struct cut *c, const struct half *h, Hlo__HloInstructionProto *in, struct buf *out)
{
	struct lines l = {0};
	int64_t number = 0;

	for (size_t k = 0; k < in->n_operand_ids; k++) {
		Hlo__HloInstructionProto *x = value_of(c, h, in->operand_ids[k]);
		bool again = false;
		for (size_t j = 0; j < k; j++)
			again |= in->operand_ids[j] == in->operand_ids[k];
		if (x && !again)
			lines_add(&l, stand_in(c, x, &number));
	}
	lines_add(&l, in);
	write_lines(c, &l, in, out);
	mem_free(l.v);
}
