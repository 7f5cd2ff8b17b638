/*
 * estimate_schedule.c - replays a program on several devices as XLA:TPU has scheduled it, and says what it takes.
 *
 * The compiled program has an order, in which the compiler starts exchanges and copies early and waits for them late.
 * We go through it as a device does. One instruction runs after the other; what was started goes on beside them. Links
 * do one exchange after the other, and so does what copies into fast memory. An instruction that ends something waits.
 *
 *	kernel		the cycles that the compiler writes beside it (estimate_cycles.c) once it has chosen its tiles
 *	exchange	what its schedule gives it (schedule_text.h)
 *	loop		its body, as often as it turns
 *
 * and nothing less than what the machine permits: bytes of memory over its rate, operations of products over theirs
 * (schemas/target.def), bytes sent over links and a floor (schemas/mesh.def). So a layout gains nothing by what the
 * compiler forgot to price. It forgets much: it gives 263 cycles to a reduction of 100 MB over four devices.
 *
 * The schedule has a total, too, which we once took. The scheduler prices kernels before their tiles are chosen: a
 * product of 275 Gflop at 11 ms in f32 and at 8 ms in bfloat16, where the machine needs 1.4 ms and the compiler itself
 * writes 1.44 ms beside the kernel; and a reduction that is no fusion at one cycle, whatever it reads. With products
 * five times too long all exchanges seem hidden.
 *
 * An exchange is one instruction, or a fusion that holds one, or a start and its end, or a chain of fusions, of which
 * each does a part of the work, between a start and an end. The links of a chain have one channel.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/estimate.h"
#include "device/schedule_text.h"
#include "device/target.h"
#include "graph/collective.h"
#include "hlo/names.h"

#define FAST 1 /* the number of the fast memory in layouts */

struct replay {
	const struct graph *g;
	const struct schedule_text *s;
	struct spread spread;
	const char *target;
	double second;	     /* cycles in it */
	double memory, work; /* bytes, and operations of products, a second */
	double *ready;	     /* per node: when what it started is done; 0: it started nothing */
	double *of_comp;     /* seconds of a computation, which are known once it was replayed */
	uint32_t **order;    /* ... its nodes, as they are scheduled; NULL: in the order of the graph */
	struct { /* exchanges under way in chains */
		int64_t channel;
		double ready;
	} chain[32];
	uint32_t n_chains;
	struct priced *out;
};

struct clock { /* of a computation */
	double now, links, copies; /* until when each is busy */
	double bytes; /* that went from slow memory or to it */
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

static bool is_slow(const struct graph *g, uint32_t v)
{
	const Hlo__ShapeProto *shape = g->node[v].proto->shape;

	return g->node[v].dtype != DT_TUPLE && !(shape->layout && shape->layout->memory_space == FAST);
}

/* Bytes of a result that lie in slow memory. */
static double slow_bytes(const struct graph *g, uint32_t v)
{
	const Hlo__ShapeProto *shape = g->node[v].proto->shape;
	double bytes = 0, elements = 0;

	if (g->node[v].dtype != DT_TUPLE)
		return is_slow(g, v) ? (double)g->node[v].bytes : 0;
	for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
		const Hlo__ShapeProto *part = shape->tuple_shapes[i];
		if (part->element_type == DT_TUPLE || (part->layout && part->layout->memory_space == FAST))
			continue;
		elements = 1;
		for (size_t d = 0; d < part->n_dimensions; d++)
			elements *= (double)part->dimensions[d];
		bytes += elements * dtype_bits((uint8_t)part->element_type) / 8;
	}
	return bytes;
}

static double last_bytes(const struct graph *g, uint32_t v) /* of the last operand */
{
	return (double)g->node[node_operands(g, v)[g->node[v].n_operands - 1]].bytes;
}

/* The most bytes that the readers of a value look at; a reader that cuts looks at what it takes. */
static double looked_at(const struct graph *g, uint32_t v)
{
	double all = (double)g->node[v].bytes, sum = 0;

	for (uint32_t k = 0; k < g->node[v].n_users; k++) {
		uint32_t u = node_users(g, v)[k];
		switch (g->node[u].opcode) {
		case OP_BITCAST:
			sum += looked_at(g, u);
			break;
		case OP_SLICE:
		case OP_DYNAMIC_SLICE:
		case OP_GATHER:
			sum += (double)g->node[u].bytes;
			break;
		case OP_DYNAMIC_UPDATE_SLICE: /* in place */
			sum += node_operands(g, u)[0] == v ? 0 : all;
			break;
		case OP_SCATTER:
			sum += node_operands(g, u)[0] == v ? last_bytes(g, u) : all;
			break;
		default:
			return all;
		}
	}
	return fmin(sum, all);
}

/* What a fusion writes of its result: in place, only what is new. */
static double written(const struct graph *g, uint32_t root, double all)
{
	const struct node *n = &g->node[root];

	if (n->opcode == OP_BITCAST)
		return written(g, node_operands(g, root)[0], all);
	if (n->opcode == OP_SCATTER)
		return fmin(all, last_bytes(g, root));
	if (n->opcode == OP_DYNAMIC_UPDATE_SLICE)
		return fmin(all, (double)g->node[node_operands(g, root)[1]].bytes);
	return all;
}

/* Bytes that a kernel moves from slow memory and to it. */
static double kernel_bytes(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const struct comp *c = n->opcode == OP_FUSION ? &g->comp[node_calls(g, v)[0]] : NULL;
	double bytes = slow_bytes(g, v);

	if (c)
		bytes = written(g, c->root, bytes);
	for (uint32_t k = 0; !c && k < n->n_operands; k++) {
		bool cuts = n->opcode == OP_SLICE || n->opcode == OP_DYNAMIC_SLICE || n->opcode == OP_GATHER;
		uint32_t x = node_operands(g, v)[k];
		if (is_slow(g, x))
			bytes += fmin((double)g->node[x].bytes, cuts ? (double)n->bytes : INFINITY);
	}
	for (uint32_t u = c ? c->first : 0; c && u < c->first + c->n_nodes; u++) {
		const Hlo__HloInstructionProto *in = g->node[u].proto;
		if (g->node[u].opcode != OP_PARAMETER || (uint64_t)in->parameter_number >= n->n_operands)
			continue;
		if (is_slow(g, node_operands(g, v)[in->parameter_number]))
			bytes += looked_at(g, u);
	}
	return bytes;
}

/* Operations of the products in a kernel. */
static double product_flops(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	double flops = opcode_facts(n->opcode)->class == CLASS_HEAVY ? n->flops : 0;

	for (uint32_t c = 0; n->opcode == OP_FUSION && c < n->n_called; c++) {
		const struct comp *in = &g->comp[node_calls(g, v)[c]];
		for (uint32_t u = in->first; u < in->first + in->n_nodes; u++)
			flops += product_flops(g, u);
	}
	return flops;
}

/* Finds an exchange in a node, or in what it calls. */
static bool find_exchange(const struct replay *r, uint32_t v, struct exchange *e, int64_t *channel)
{
	const struct graph *g = r->g;

	if (collective_read(g, v, r->spread, e)) {
		*channel = g->node[v].proto->channel_id;
		return true;
	}
	for (uint32_t c = 0; c < g->node[v].n_called && g->node[v].opcode != OP_WHILE && g->node[v].opcode !=
		OP_CONDITIONAL; c++) {
		const struct comp *in = &g->comp[node_calls(g, v)[c]];
		for (uint32_t u = in->first; u < in->first + in->n_nodes; u++)
			if (find_exchange(r, u, e, channel))
				return true;
	}
	return false;
}

/* Seconds that an exchange takes. */
static double exchange_seconds(struct replay *r, uint32_t v, const struct exchange *e, bool started)
{
	const struct span *given = schedule_text_find(r->s, r->g->node[v].proto->id);
	double least = estimate_exchange(r->target, (int)e->kind, e->group, e->bytes), seconds = 0;

	if (given && !started) /* of a start, the span says nothing */
		seconds = (given->end - given->start) / r->second;
	r->out->exchanged += e->bytes;
	r->out->ours += seconds < least;
	return fmax(seconds, least);
}

/* A link of a chain, or a start: the exchange begins, unless it began before, and goes on beside others. */
static double *chain_of(struct replay *r, int64_t channel)
{
	for (uint32_t i = 0; i < r->n_chains; i++)
		if (r->chain[i].channel == channel)
			return &r->chain[i].ready;
	return NULL;
}

static void end_chain(struct replay *r, int64_t channel)
{
	for (uint32_t i = 0; i < r->n_chains; i++)
		if (r->chain[i].channel == channel)
			r->chain[i] = r->chain[--r->n_chains];
}

/* Does the node call what has this call of the compiler's: of the beginning, or the end, of a chain? */
static bool is_chain(const struct graph *g, uint32_t v, const char *target)
{
	const struct comp *in = g->node[v].opcode == OP_FUSION ? &g->comp[node_calls(g, v)[0]] : NULL;

	for (uint32_t u = in ? in->first : 0; in && u < in->first + in->n_nodes; u++)
		if (g->node[u].opcode == OP_CUSTOM_CALL && strcmp(g->node[u].proto->custom_call_target, target) == 0)
			return true;
	return false;
}

static void begin_exchange(struct replay *r, uint32_t v, const struct exchange *e, int64_t channel, struct clock *t)
{
	t->links = fmax(t->now, t->links) + exchange_seconds(r, v, e, true);
	r->ready[v] = t->links;
	if (channel && r->n_chains < sizeof r->chain / sizeof *r->chain && !chain_of(r, channel)) {
		r->chain[r->n_chains].channel = channel;
		r->chain[r->n_chains++].ready = t->links;
	}
}

/* Waits for what the operands started. */
static void wait(const struct replay *r, uint32_t v, struct clock *t)
{
	for (uint32_t k = 0; k < r->g->node[v].n_operands; k++)
		t->now = fmax(t->now, r->ready[node_operands(r->g, v)[k]]);
}

static double run_kernel(struct replay *r, uint32_t v, struct clock *t)
{
	double cycles = estimate_kernel_cycles(&r->g->node[v]), seconds = cycles / r->second;
	double bytes = kernel_bytes(r->g, v), work = product_flops(r->g, v) / r->work;
	double least = fmax(bytes / r->memory, work);

	t->bytes += bytes;
	r->out->kernels++;
	r->out->modelled += cycles > 0;
	if (least > seconds)
		r->out->our_seconds += r->g->comp[r->g->node[v].comp].trips * (least - seconds);
	return fmax(seconds, least);
}

static double replay(struct replay *r, uint32_t comp);

/* What is called runs here: a loop as often as it turns, of branches the longest. */
static double run_called(struct replay *r, uint32_t v)
{
	const struct node *n = &r->g->node[v];
	double seconds = 0;

	for (uint32_t c = 0; c < n->n_called; c++) {
		double one = replay(r, node_calls(r->g, v)[c]);
		seconds = n->opcode == OP_CONDITIONAL ? fmax(seconds, one) : seconds + one;
	}
	return seconds * (n->opcode == OP_WHILE && n->trip_count > 0 ? n->trip_count : 1);
}

/* A copy into fast memory, or out of it: as many bytes as its end has. */
static void begin_copy(struct replay *r, uint32_t v, struct clock *t)
{
	const struct graph *g = r->g;
	double bytes = 0;

	for (uint32_t k = 0; k < g->node[v].n_users; k++)
		if (ends_with(g->node[node_users(g, v)[k]].proto->opcode, "-done"))
			bytes = (double)g->node[node_users(g, v)[k]].bytes;
	t->bytes += bytes;
	t->copies = fmax(t->now, t->copies) + bytes / r->memory;
	r->ready[v] = t->copies;
}

static void run_exchange(struct replay *r, uint32_t v, const struct exchange *e, int64_t channel, struct clock *t)
{
	const struct graph *g = r->g;
	const double *link = channel ? chain_of(r, channel) : NULL;

	if (ends_with(g->node[v].proto->opcode, "-start") || is_chain(g, v, "AsyncCollectiveStart")) {
		begin_exchange(r, v, e, channel, t);
	} else if (is_chain(g, v, "AsyncCollectiveDone")) {
		t->now = fmax(t->now, link ? *link : 0);
		end_chain(r, channel);
	} else if (g->node[v].opcode == OP_FUSION && link) { /* it goes on beside what the kernel computes */
		t->now += run_kernel(r, v, t);
	} else {
		t->now = fmax(t->now, t->links) + exchange_seconds(r, v, e, false);
		t->links = t->now;
	}
}

static void run(struct replay *r, uint32_t v, struct clock *t)
{
	const struct graph *g = r->g;
	const char *op = g->node[v].proto->opcode;
	bool starts = ends_with(op, "-start");
	struct exchange e;
	int64_t channel = 0;

	if (ends_with(op, "-done"))
		wait(r, v, t);
	else if (find_exchange(r, v, &e, &channel))
		run_exchange(r, v, &e, channel, t);
	else if (starts)
		begin_copy(r, v, t);
	else if (g->node[v].n_called && g->comp[node_calls(g, v)[0]].role == ROLE_CONTROL)
		t->now += run_called(r, v);
	else if (node_is_kernel(g, v))
		t->now += run_kernel(r, v, t);
}

/* Returns the seconds of a computation, once. */
static double replay(struct replay *r, uint32_t comp)
{
	const struct comp *c = &r->g->comp[comp];
	struct clock t = {0};

	if (r->of_comp[comp] >= 0)
		return r->of_comp[comp];
	for (uint32_t i = 0; i < c->n_nodes; i++)
		run(r, r->order[comp] ? r->order[comp][i] : c->first + i, &t);
	t.now = fmax(t.now, fmax(t.links, t.copies));
	return r->of_comp[comp] = fmax(t.now, t.bytes / r->memory);
}

/* Lists the nodes of a computation as the program is scheduled; NULL: it does not say. */
static uint32_t *order_of(const struct graph *g, uint32_t comp)
{
	const Hlo__HloScheduleProto *s = g->module->schedule;
	const struct comp *c = &g->comp[comp];
	const Hlo__InstructionSequence *list = NULL;
	struct names at = {0};
	uint32_t *out;

	for (size_t i = 0; s && i < s->n_sequences; i++)
		if (s->sequences[i]->key == c->proto->id)
			list = s->sequences[i]->value;
	if (!list || list->n_instruction_ids != c->n_nodes)
		return NULL;
	out = MEM_NEW(c->n_nodes + 1, uint32_t);
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		names_put(&at, (const char *)&g->node[v].proto->id, sizeof(int64_t), v);
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		out[i] = names_get(&at, (const char *)&list->instruction_ids[i], sizeof(int64_t));
		if (out[i] == NAMES_NONE) {
			mem_free(out);
			out = NULL;
			break;
		}
	}
	names_release(&at);
	return out;
}

static void replay_all(struct replay *r)
{
	const struct graph *g = r->g;

	r->ready = MEM_NEW(g->n_nodes + 1, double);
	r->of_comp = MEM_NEW(g->n_comps + 1, double);
	r->order = MEM_NEW(g->n_comps + 1, uint32_t *);
	for (uint32_t c = 0; c < g->n_comps; c++) {
		r->of_comp[c] = -1;
		if (comp_is_compiled(&g->comp[c]))
			r->order[c] = order_of(g, c);
	}
	r->out->seconds = replay(r, g->entry);
	for (uint32_t c = 0; c < g->n_comps; c++)
		mem_free(r->order[c]);
	mem_free(r->order);
	mem_free(r->of_comp);
	mem_free(r->ready);
}

void estimate_schedule(const char *text, size_t n, const struct graph *g, const char *target, struct spread spread,
	struct priced *out)
{
	struct schedule_text s;
	struct replay r = {.g = g, .s = &s, .spread = spread, .target = target, .out = out,
		.memory = target_number(target, "memory_bandwidth")};

	*out = (struct priced){0};
	schedule_text_read(text, n, &s);
	r.second = 1e6 * s.per_microsecond;
	r.work = target_number(target, "products_per_cycle") * r.second;
	if (r.second > 0 && s.n && r.memory > 0 && r.work > 0) {
		replay_all(&r);
	} else {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail, s.n ? "what a %.40s can do is not known (schemas/target.def)"
			: "the compiler wrote no schedule of this program", target);
	}
	schedule_text_release(&s);
}
