/*
 * program.c - settles a program: when each node runs, how long each buffer lives, and what each value weighs.
 */
#include "space/order/program.h"

#include <stdlib.h>
#include <string.h>
#include "graph/node_ids.h"
#include "space/order/heap.h"
#include "space/order/own.h"
#include "space/order/rooms.h"

/* Takes a computation's order from the program's schedule, if that is a legal order. */
static bool read_schedule(struct program *p, uint32_t comp, const Hlo__InstructionSequence *s)
{
	const struct comp *c = &p->graph->comp[comp];
	struct node_ids ids = node_ids_of(p->graph, comp);
	uint32_t *order = MEM_NEW(c->n_nodes, uint32_t);
	bool good = s->n_instruction_ids == c->n_nodes;

	for (uint32_t i = 0; i < c->n_nodes && good; i++) {
		order[i] = node_ids_find(&ids, s->instruction_ids[i]);
		good = order[i] != NONE;
	}
	good = good && line_legal(program_line(p, comp), order);
	if (good)
		memcpy(p->order[comp], order, c->n_nodes * sizeof *order);
	node_ids_release(&ids);
	mem_free(order);
	return good;
}

static void read_orders(struct program *p)
{
	const struct graph *g = p->graph;
	const Hlo__HloScheduleProto *s = g->module->schedule;

	for (uint32_t c = 0; c < g->n_comps; c++) {
		uint32_t n = program_line(p, c)->n;
		p->order[c] = MEM_NEW(n, uint32_t);
		for (uint32_t i = 0; i < n; i++)
			p->order[c][i] = i;
		for (size_t k = 0; s && n && k < s->n_sequences; k++)
			if (s->sequences[k]->key == g->comp[c].proto->id && s->sequences[k]->value)
				read_schedule(p, c, s->sequences[k]->value);
		line_settle(program_line(p, c), p->order[c]);
	}
}

static bool is_given(const struct graph *g, uint32_t node)
{
	uint16_t op = g->node[node].opcode;

	return op == OP_CONSTANT || (op == OP_PARAMETER && g->node[node].comp == g->entry);
}

/*
 * Marks the buffers that the caller gives (parameters of the entry) or that are constants, and those that are results.
 * The compiler gives memory to no buffer that is given, unless a result is to be in it.
 */
static void mark_values(const struct program *p, bool *given, bool *result)
{
	const struct graph *g = p->graph;
	const struct values *v = &p->values;
	uint32_t root = g->comp[g->entry].root;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (uint32_t k = v->leaf[i]; k < v->leaf[i + 1]; k++)
			given[values_of(v, k)] |= is_given(g, i);
	for (uint32_t k = v->leaf[root]; k < v->leaf[root + 1]; k++)
		result[values_of(v, k)] = true;
}

static int by_value(const void *a, const void *b)
{
	const struct program_life *x = a, *y = b;

	if (x->begin != y->begin) /* while values are listed, `begin` is the number of the value */
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static void add_life(struct program *p, uint32_t name, uint32_t node)
{
	const struct values *v = &p->values;
	uint32_t life = values_life(v, name), x = values_of(v, name);

	p->life[p->n_lives] = (struct program_life){.maker = node, .comp = v->home[life], .number = v->number[life],
		.begin = p->of_name[x], .end = p->n_lives};
	p->n_lives++;
}

/* Lists all buffers, and the lives of each side by side. */
static void list_values(struct program *p)
{
	const struct graph *g = p->graph;
	struct values *v = &p->values;
	bool *given = MEM_NEW(v->n, bool), *result = MEM_NEW(v->n, bool), *listed = MEM_NEW(v->n, bool);

	p->of_name = MEM_NEW(v->n, uint32_t);
	p->value = MEM_NEW(v->n, struct program_value);
	p->life = MEM_NEW(v->n, struct program_life);
	mark_values(p, given, result);
	for (uint32_t k = 0; k < v->n; k++)
		p->of_name[k] = NONE;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (uint32_t k = v->leaf[i]; k < v->leaf[i + 1]; k++) {
			uint32_t x = values_of(v, k), life = values_life(v, k);
			if ((given[x] && !(result[x] && v->several[x])) || v->number[life] == NONE || listed[life] ||
				v->home[life] != g->node[i].comp)
				continue;
			if (p->of_name[x] == NONE) {
				p->of_name[x] = p->n_values;
				p->value[p->n_values++] = (struct program_value){.name = x, .size = v->bytes[x],
					.result = result[x],
					.room = NONE};
			}
			listed[life] = true;
			add_life(p, k, i);
		}
	if (p->n_lives)
		qsort(p->life, p->n_lives, sizeof *p->life, by_value);
	for (uint32_t i = p->n_lives; i-- > 0;) {
		struct program_value *x = &p->value[p->life[i].begin];
		x->first = i;
		x->n++;
	}
	mem_free(given);
	mem_free(result);
	mem_free(listed);
}

#define MOST_TICKS (UINT64_C(1) << 32) /* more are counted as so many: then no sum over a program's calls overflows */

/* Counts how long each computation runs with all that it calls: a tick for each node. */
static void count_ticks(struct program *p)
{
	const struct graph *g = p->graph;

	for (uint32_t c = 0; c < g->n_comps; c++) { /* callers are numbered after callees */
		uint64_t ticks = program_line(p, c)->n;
		for (uint32_t i = 0; i < program_line(p, c)->n; i++) {
			uint32_t v = g->comp[c].first + i;
			for (uint32_t k = 0; k < g->node[v].n_called; k++)
				ticks += p->ticks[node_calls(g, v)[k]];
		}
		p->ticks[c] = ticks < MOST_TICKS ? ticks : MOST_TICKS;
	}
}

void program_open_for(struct program *p, const struct graph *g, const char *backend)
{
	*p = (struct program){.graph = g};
	values_find(&p->values, g, values_alignment(backend));
	p->order = MEM_NEW(g->n_comps, uint32_t *);
	p->peak = MEM_NEW(g->n_comps, uint64_t);
	p->time = MEM_NEW(g->n_nodes, uint64_t);
	p->start = MEM_NEW(g->n_comps, uint64_t);
	p->ticks = MEM_NEW(g->n_comps, uint64_t);
	p->tables = values_tables(&p->values);
	count_ticks(p);
	read_orders(p);
	list_values(p);
	p->course = MEM_NEW(g->n_comps, struct course);
	for (uint32_t c = 0; c < g->n_comps; c++)
		if (program_line(p, c)->n)
			course_init(&p->course[c], program_line(p, c), p->order[c]);
}

void program_open(struct program *p, const struct graph *g)
{
	program_open_for(p, g, NULL);
}

/* Sets when what a node calls begins, if the first of it begins `now`. Returns when the last of it ends. */
static uint64_t set_calls(struct program *p, uint32_t v, uint64_t now)
{
	const struct node *n = &p->graph->node[v];

	for (uint32_t k = 0; k < n->n_called; k++) { /* of a loop, the condition runs first */
		uint32_t callee = node_calls(p->graph, v)[n->opcode == OP_WHILE ? n->n_called - 1 - k : k];
		p->start[callee] = now > p->start[callee] ? now : p->start[callee];
		now += p->ticks[callee];
	}
	return now;
}

/*
 * Sets when each node runs. What a node calls runs just before it. Callers are numbered after callees, so one pass from
 * the last computation to the first meets all calls of a computation before the computation itself. One that is called
 * several times has the times of its last call.
 *
 * To follow every call would take as long as the program runs: of thirty-one computations, each of which calls the next
 * one twice, the last is called a billion times.
 */
static void set_times(struct program *p)
{
	const struct graph *g = p->graph;

	memset(p->start, 0, g->n_comps * sizeof *p->start);
	for (uint32_t c = g->n_comps; c-- > 0;) {
		uint64_t now = p->start[c];
		for (uint32_t i = 0; i < program_line(p, c)->n; i++) {
			uint32_t v = g->comp[c].first + p->order[c][i];
			now = set_calls(p, v, now);
			p->time[v] = now++;
		}
	}
}

/* When a node is done with what it reads. For a loop that is when its body begins: from then on the body has it. */
static uint64_t read_at(const struct program *p, uint32_t node)
{
	const struct graph *g = p->graph;

	return g->node[node].opcode == OP_WHILE ? p->start[node_calls(g, node)[0]] : p->time[node];
}

/* When a node's value begins: for a parameter when its computation begins, for a call when what it calls begins. */
static uint64_t made_at(const struct program *p, uint32_t node)
{
	const struct node *n = &p->graph->node[node];

	if (n->opcode == OP_PARAMETER)
		return p->start[n->comp];
	if (n->opcode == OP_CALL && p->values.line[node_calls(p->graph, node)[0]].n)
		return p->start[node_calls(p->graph, node)[0]];
	return p->time[node];
}

static void set_life(struct program *p, struct program_life *x)
{
	const struct graph *g = p->graph;
	const struct line *l = program_line(p, x->comp);

	x->begin = made_at(p, x->maker);
	x->end = p->time[x->maker];
	for (uint32_t k = l->readers.first[x->number]; k < l->readers.first[x->number + 1]; k++) {
		uint64_t t = read_at(p, g->comp[x->comp].first + l->readers.item[k]);
		x->end = t > x->end ? t : x->end;
	}
}

void program_as_listed(struct program *p)
{
	p->listed = true;
}

/* Returns a value's rank by the listing. Computations are listed after those that call them. */
static uint64_t listed_rank(const struct program *p, const struct program_value *x)
{
	uint64_t rank = UINT64_MAX;

	for (uint32_t k = x->first; k < x->first + x->n; k++) {
		uint32_t m = p->life[k].maker;
		uint64_t at = (uint64_t)(p->graph->n_comps - p->graph->node[m].comp) << 32 | m;
		rank = at < rank ? at : rank;
	}
	return rank;
}

static void set_lives(struct program *p)
{
	for (uint32_t i = 0; i < p->n_values; i++) {
		struct program_value *x = &p->value[i];
		x->begin = UINT64_MAX;
		x->end = 0;
		for (uint32_t k = x->first; k < x->first + x->n; k++) {
			struct program_life *y = &p->life[k];
			set_life(p, y);
			x->begin = y->begin < x->begin ? y->begin : x->begin;
			x->end = y->end > x->end ? y->end : x->end;
		}
		x->rank = p->listed ? listed_rank(p, x) : x->begin;
		if (x->result) { /* its last life never ends */
			for (uint32_t k = x->first; k < x->first + x->n; k++)
				if (p->life[k].end == x->end)
					p->life[k].end = UINT64_MAX;
			x->end = UINT64_MAX;
		}
	}
}

static void set_weights(struct program *p)
{
	for (uint32_t i = 0; i < p->n_values; i++) {
		const struct program_value *x = &p->value[i];
		uint64_t bytes = x->result || x->room != NONE ? 0 : values_rounded(&p->values, x->size);
		for (uint32_t k = x->first; k < x->first + x->n; k++)
			program_line(p, p->life[k].comp)->value[p->life[k].number].bytes = bytes;
	}
}

uint64_t program_settle(struct program *p)
{
	const struct graph *g = p->graph;

	set_times(p);
	set_lives(p);
	rooms_give(p);
	set_weights(p);
	for (uint32_t c = 0; c < g->n_comps; c++) {
		if (!program_line(p, c)->n)
			continue;
		values_inside(&p->values, p->peak, c);
		course_set(&p->course[c], p->order[c]);
		p->peak[c] = course_peak(&p->course[c]);
	}
	return p->peak[g->entry];
}

void program_copy_orders(const struct program *p, uint32_t *const *to, uint32_t *const *from)
{
	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		if (p->values.line[c].n)
			memcpy(to[c], from[c], p->values.line[c].n * sizeof **to);
}

uint64_t program_bytes(struct program *p)
{
	return p->tables + heap_bytes(p);
}

void program_release(struct program *p)
{
	for (uint32_t c = 0; p->order && c < p->graph->n_comps; c++) {
		mem_free(p->order[c]);
		course_release(&p->course[c]);
	}
	mem_free(p->course);
	if (p->order)
		values_release(&p->values);
	mem_free(p->order);
	mem_free(p->peak);
	mem_free(p->time);
	mem_free(p->start);
	mem_free(p->ticks);
	mem_free(p->value);
	mem_free(p->life);
	mem_free(p->of_name);
	rooms_free(p->rooms);
	heap_free(p->heap);
	*p = (struct program){0};
}
