/*
 * print.c - prints the module, its computations and instructions.
 *
 * A message may hold any names, so they are first made legal and unique. They get a "%", so that none
 * can be taken for a word of the language. Operands are printed by name alone. Computations that
 * nobody calls are printed too: they are part of the message.
 */
#include "graph/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "hlo/names.h"
#include "hlo/print/print.h"

struct walk {
	struct printer p;
	const struct graph *g;
	const char **name; /* of each node */
	const char **comp; /* of each computation */
	struct place *place; /* of each node: its key in `nodes` */
	struct names nodes, comps, schedules; /* by struct place; by a computation's id: itself, its schedule */
	uint32_t *at; /* scratch: a number per node, 0 between uses */
};

/* The key of a node: its computation and its id. Instructions of different computations may have the same id. */
struct place {
	int64_t comp, id;
};

/* The node with that id in that computation, or NAMES_NONE. */
static uint32_t node_of(const struct walk *w, int64_t comp, int64_t id)
{
	struct place p = {comp, id};
	return names_get(&w->nodes, (const char *)&p, sizeof(p));
}

static void place_all(struct walk *w)
{
	const struct graph *g = w->g;
	w->place = ARENA_NEW(&w->p.mem, g->n_nodes, struct place);
	w->at = ARENA_NEW(&w->p.mem, g->n_nodes, uint32_t);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		w->place[v] = (struct place){g->comp[g->node[v].comp].proto->id, g->node[v].proto->id};
		names_put(&w->nodes, (const char *)&w->place[v], sizeof(w->place[v]), v);
	}
	for (uint32_t c = 0; c < g->n_comps; c++)
		names_put(&w->comps, (const char *)&g->comp[c].proto->id, sizeof(int64_t), c);
	const Hlo__HloScheduleProto *s = g->module->schedule;
	for (uint32_t i = 0; s && i < s->n_sequences; i++)
		names_put(&w->schedules, (const char *)&s->sequences[i]->key, sizeof(int64_t), i);
}

static void name_all(struct walk *w)
{
	const struct graph *g = w->g;
	struct uniquer ins = {0}, comps = {0};
	w->name = ARENA_NEW(&w->p.mem, g->n_nodes, const char *);
	w->comp = ARENA_NEW(&w->p.mem, g->n_comps, const char *);
	for (uint32_t c = 0; c < g->n_comps; c++) {
		const char *s = g->comp[c].proto->name;
		char *legal = name_sanitized(&w->p.mem, *s ? s : "computation", strlen(*s ? s : "computation"));
		w->comp[c] = uniquer_take(&comps, &w->p.mem, legal, strlen(legal));
	}
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const char *s = g->node[v].proto->name;
		char *legal = name_sanitized(&w->p.mem, *s ? s : "name", strlen(*s ? s : "name"));
		w->name[v] = uniquer_take(&ins, &w->p.mem, legal, strlen(legal));
	}
	uniquer_release(&ins);
	uniquer_release(&comps);
}

static bool is_pred(const struct graph *g, uint32_t v)
{
	return g->node[v].n_operands && g->node[node_operands(g, v)[0]].dtype == DT_PRED;
}

static void call(struct walk *w, const char *attr, uint32_t comp)
{
	buf_addf(w->p.out, ", %s=%%%s", attr, w->comp[comp]);
}

static void call_list(struct walk *w, const char *attr, const uint32_t *comps, uint32_t n)
{
	buf_addf(w->p.out, ", %s={", attr);
	for (uint32_t i = 0; i < n; i++)
		buf_addf(w->p.out, "%s%%%s", i ? ", " : "", w->comp[comps[i]]);
	buf_addch(w->p.out, '}');
}

static bool in_set(const struct attr_set *set, int row)
{
	for (int i = 0; i < set->n; i++)
		if (set->row[i] == row)
			return true;
	return false;
}

/* Prints the called computations, which stand in the order of hlo_attr.def's rows: as one list, or each by its name. */
static void called(struct walk *w, uint32_t v)
{
	const struct node *n = &w->g->node[v];
	const uint32_t *c = node_calls(w->g, v);
	const struct attr_set *set = &w->p.words->op[n->opcode].attrs;
	bool by_name = n->opcode == OP_CONDITIONAL && n->n_called == 2 && is_pred(w->g, v);
	if (n->opcode == OP_ASYNC_UPDATE || n->opcode == OP_ASYNC_DONE || n->n_called == 0)
		return; /* the start has printed it */
	for (int i = 0; i < w->p.words->n_attr && !by_name; i++)
		if (w->p.words->attr[i].form == FORM_COMPUTATIONS && in_set(set, i)) {
			call_list(w, w->p.words->attr[i].name, c, n->n_called);
			return;
		}
	for (uint32_t i = 0, k = 0; i < w->p.words->n_attr && k < n->n_called; i++)
		if (w->p.words->attr[i].form == FORM_COMPUTATION && in_set(set, (int)i))
			call(w, w->p.words->attr[i].name, c[k++]);
}

static uint32_t waits_for(const struct walk *w, uint32_t v, size_t i)
{
	return node_of(w, w->place[v].comp, w->g->node[v].proto->control_predecessor_ids[i]);
}

static void control(struct walk *w, uint32_t v)
{
	size_t n = w->g->node[v].proto->n_control_predecessor_ids;
	for (size_t i = 0; i < n; i++)
		buf_addf(w->p.out, "%s%%%s", i ? ", " : ", control-predecessors={", w->name[waits_for(w, v, i)]);
	if (n)
		buf_addch(w->p.out, '}');
}

static void operands(struct walk *w, uint32_t v)
{
	const struct node *n = &w->g->node[v];
	buf_addch(w->p.out, '(');
	if (n->opcode == OP_PARAMETER)
		buf_addf(w->p.out, "%" PRId64, n->proto->parameter_number);
	else if (n->opcode == OP_CONSTANT && n->proto->literal && n->proto->literal->shape)
		print_literal(w->p.out, n->proto->literal);
	for (uint32_t i = 0; i < n->n_operands; i++)
		buf_addf(w->p.out, "%s%%%s", i ? ", " : "", w->name[node_operands(w->g, v)[i]]);
	buf_addch(w->p.out, ')');
}

static void instruction(struct walk *w, uint32_t v)
{
	const struct node *n = &w->g->node[v];
	buf_addf(w->p.out, "  %s%%%s = ", n->flags & NODE_ROOT ? "ROOT " : "", w->name[v]);
	print_shape(w->p.out, n->proto->shape, true);
	buf_addf(w->p.out, " %s", n->proto->opcode);
	operands(w, v);
	print_attrs(&w->p, &w->p.words->op[n->opcode].attrs, n->proto);
	called(w, v);
	print_attrs(&w->p, &w->p.words->common, n->proto);
	control(w, v);
	buf_addch(w->p.out, '\n');
}

static const Hlo__InstructionSequence *schedule_of(const struct walk *w, int64_t id)
{
	uint32_t i = names_get(&w->schedules, (const char *)&id, sizeof(id));
	return i == NAMES_NONE ? NULL : w->g->module->schedule->sequences[i]->value;
}

static void signature(struct walk *w, const struct comp *c)
{
	uint32_t n = 0;
	buf_addch(w->p.out, '(');
	uint32_t *by_number = mem_alloc(c->n_nodes * sizeof(*by_number));
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		if (w->g->node[v].opcode != OP_PARAMETER)
			continue;
		by_number[w->g->node[v].proto->parameter_number] = v;
		n++;
	}
	for (uint32_t k = 0; k < n; k++) {
		buf_addf(w->p.out, "%s%s: ", k ? ", " : "", w->name[by_number[k]]);
		print_shape(w->p.out, w->g->node[by_number[k]].proto->shape, false);
	}
	mem_free(by_number);
	buf_adds(w->p.out, ") -> ");
	print_shape(w->p.out, w->g->node[c->root].proto->shape, false);
}

/* Does each instruction stand in the list once, after everything it needs? */
static bool stands_behind(struct walk *w, const uint32_t *list, size_t n)
{
	bool fine = true;
	for (size_t i = 0; i < n; i++) {
		fine &= w->at[list[i]] == 0;
		w->at[list[i]] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < n && fine; i++) {
		const struct node *node = &w->g->node[list[i]];
		for (uint32_t k = 0; k < node->n_operands; k++)
			fine &= w->at[node_operands(w->g, list[i])[k]] <= i;
		for (size_t k = 0; k < node->proto->n_control_predecessor_ids; k++)
			fine &= w->at[waits_for(w, list[i], k)] <= i;
	}
	for (size_t i = 0; i < n; i++)
		w->at[list[i]] = 0;
	return fine;
}

static bool as_scheduled(struct walk *w, const Hlo__HloComputationProto *m, uint32_t *list)
{
	const Hlo__InstructionSequence *schedule = schedule_of(w, m->id);
	if (!schedule || schedule->n_instruction_ids != m->n_instructions)
		return false;
	for (size_t i = 0; i < m->n_instructions; i++) {
		list[i] = node_of(w, m->id, schedule->instruction_ids[i]);
		if (list[i] == NAMES_NONE)
			return false;
	}
	return stands_behind(w, list, m->n_instructions);
}

static int by_id(const void *a, const void *b)
{
	int64_t x = ((const struct place *)a)->id, y = ((const struct place *)b)->id;
	return (x > y) - (x < y);
}

static bool ascending(struct walk *w, const struct comp *c, uint32_t *list)
{
	struct place *v = mem_alloc(c->n_nodes * sizeof(*v));
	memcpy(v, w->place + c->first, c->n_nodes * sizeof(*v));
	qsort(v, c->n_nodes, sizeof(*v), by_id);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		list[i] = node_of(w, v[i].comp, v[i].id);
	mem_free(v);
	return stands_behind(w, list, c->n_nodes);
}

/*
 * A computation's instructions in the order to print them: that of the schedule, which is part of the program; if
 * there is none, by ascending id, as they stood in a text; if that is no valid order, that of the message.
 */
static uint32_t *order_of(struct walk *w, const struct comp *c)
{
	const Hlo__HloComputationProto *m = c->proto;
	uint32_t *list = arena_alloc(&w->p.mem, c->n_nodes * sizeof(*list));
	if (!as_scheduled(w, m, list) && !ascending(w, c, list))
		for (size_t i = 0; i < m->n_instructions; i++)
			list[i] = node_of(w, m->id, m->instructions[i]->id);
	return list;
}

static void computation(struct walk *w, uint32_t c)
{
	const struct comp *comp = &w->g->comp[c];
	const uint32_t *list = order_of(w, comp);
	buf_addf(w->p.out, "\n%s%%%s ", c == w->g->entry ? "ENTRY " : "", w->comp[c]);
	signature(w, comp);
	buf_adds(w->p.out, " {\n");
	for (uint32_t i = 0; i < comp->n_nodes; i++)
		instruction(w, list[i]);
	buf_addch(w->p.out, '}');
	print_attrs(&w->p, &w->p.words->comp, comp->proto);
	buf_addch(w->p.out, '\n');
}

static void numbered(struct buf *out, const char *title, char *const *v, size_t n)
{
	buf_addf(out, "\n%s\n", title);
	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "%zu ", i + 1);
		print_string(out, v[i], strlen(v[i]));
		buf_addch(out, '\n');
	}
}

static void stack_frames(struct walk *w)
{
	const Hlo__StackFrameIndex *x = w->g->module->stack_frame_index;
	if (!x || !x->n_stack_frames)
		return;
	numbered(w->p.out, "FileNames", x->file_names, x->n_file_names);
	numbered(w->p.out, "FunctionNames", x->function_names, x->n_function_names);
	buf_adds(w->p.out, "\nFileLocations\n");
	for (size_t i = 0; i < x->n_file_locations; i++) {
		buf_addf(w->p.out, "%zu ", i + 1);
		print_braces(&w->p, &w->p.words->location, x->file_locations[i]);
		buf_addch(w->p.out, '\n');
	}
	buf_adds(w->p.out, "\nStackFrames\n");
	for (size_t i = 0; i < x->n_stack_frames; i++) {
		Hlo__StackFrame frame = *x->stack_frames[i];
		/* Text has the caller's number plus 1. */
		frame.parent_frame_id = (int32_t)((uint32_t)frame.parent_frame_id + 1);
		buf_addf(w->p.out, "%zu ", i + 1);
		print_braces(&w->p, &w->p.words->frame, &frame);
		buf_addch(w->p.out, '\n');
	}
	buf_addch(w->p.out, '\n');
}

static void header(struct walk *w)
{
	const Hlo__HloModuleProto *m = w->g->module;
	char *legal = name_sanitized(&w->p.mem, *m->name ? m->name : "module", strlen(*m->name ? m->name : "module"));
	buf_addf(w->p.out, "HloModule %s", legal);
	if (m->schedule && m->schedule->n_sequences)
		buf_adds(w->p.out, ", is_scheduled=true");
	print_attrs(&w->p, &w->p.words->module, m);
	buf_addch(w->p.out, '\n');
}

void hlo_print(const struct graph *g, struct buf *out)
{
	struct walk w = {.p = {.out = out, .words = hlo_words()}, .g = g};
	name_all(&w);
	place_all(&w);
	header(&w);
	stack_frames(&w);
	for (size_t i = 0; i < g->module->n_computations; i++)
		computation(&w, names_get(&w.comps, (const char *)&g->module->computations[i]->id, sizeof(int64_t)));
	names_release(&w.nodes);
	names_release(&w.comps);
	names_release(&w.schedules);
	arena_release(&w.p.mem);
}
