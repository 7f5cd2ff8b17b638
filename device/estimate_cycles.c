/*
 * estimate_cycles.c - adds up the cycles that XLA:TPU writes beside each kernel.
 *
 * libtpu writes into the backend_config of each fusion, each copy, and each instruction that it compiles by itself how
 * many cycles it expects, the start of the kernel included. A kernel in a loop counts once for each turn. The figure
 * that the compiler gives for a whole program (optimal_seconds) counts a loop once, whatever its turns, and knows no
 * start of a kernel; so it saw no difference between most choices.
 *
 * Asynchronous copies move values into fast memory while kernels run. They have no cycles. A computation takes as long
 * as its kernels or as its copies over the rate of memory, whichever is longer.
 *
 * Products (convolutions, too: libtpu makes convolutions of products) and reductions over windows get our roofline and
 * START. For the same product libtpu writes 272 cycles if its own fusion pass made the kernel, and 3,971 if it came as
 * a fusion; for the same reduction over windows 3,770 and 6,103. So these figures compare nothing. The unit for
 * products has its operands brought to it, so that fetching them costs nothing beyond the rate of memory.
 *
 * What else has no cycles, such as a sort, gets a roofline of the target (schemas/target.def), and the estimate tells
 * how many did. Numbers alone are computed beside everything else, and take nothing; a program of nothing else takes a
 * cycle, because no time at all would mean that there is no estimate.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/scan.h"
#include "device/estimate.h"
#include "device/target.h"

/* Reads the cycles from the object in which they are, where they are written as a string. */
static int read_cycles(struct scan *s, double *cycles)
{
	struct buf text = {0};
	char key[64];
	int rc = scan_object(s);

	while (rc == 0 && (rc = scan_key(s, key, sizeof key)) == 1)
		rc = strcmp(key, "estimated_cycles") == 0 ? scan_str(s, &text) : scan_skip(s);
	*cycles = rc == 0 && text.len ? strtod(text.data, NULL) : 0;
	buf_release(&text);
	return rc;
}

double estimate_kernel_cycles(const struct node *n)
{
	const ProtobufCBinaryData *set = &n->proto->backend_config;
	struct err ignored;
	struct scan s;
	double cycles = 0;
	char key[64];
	int rc;

	if (!set->len)
		return 0;
	scan_open(&s, set->data, set->len, &ignored);
	rc = scan_object(&s);
	while (rc == 0 && (rc = scan_key(&s, key, sizeof key)) == 1)
		rc = strcmp(key, "window_config") == 0 ? read_cycles(&s, &cycles) : scan_skip(&s);
	return rc < 0 ? 0 : cycles;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

#define START 1800 /* cycles that libtpu says any kernel takes that computes something */

enum by { BY_CYCLES, BY_ROOFLINE, BY_PRODUCTS };

static enum by priced_by(uint16_t opcode)
{
	return opcode == OP_DOT || opcode == OP_CONVOLUTION ? BY_PRODUCTS :
	       opcode == OP_REDUCE_WINDOW		    ? BY_ROOFLINE :
							      BY_CYCLES;
}

/* By what is the kernel priced? The part of it that says least of itself decides. */
static enum by kernel_priced_by(const struct graph *g, uint32_t v)
{
	const struct comp *c = g->node[v].opcode == OP_FUSION ? &g->comp[node_calls(g, v)[0]] : NULL;
	enum by by = priced_by(g->node[v].opcode);

	for (uint32_t u = c ? c->first : 0; c && u < c->first + c->n_nodes; u++)
		by = priced_by(g->node[u].opcode) > by ? priced_by(g->node[u].opcode) : by;
	return by;
}

struct tpu {
	struct roofline roofline, products;
	struct roofline_scratch scratch;
	double second; /* cycles */
};

/* Adds the kernels of one computation, one turn. Returns seconds. */
static double add_computation(struct tpu *t, const struct graph *g, const struct comp *c, struct priced *out)
{
	double kernels = 0, copies = 0;

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		const struct node *n = &g->node[v];
		enum by by = kernel_priced_by(g, v);
		double cycles, ours;
		if (!node_is_kernel(g, v) || ends_with(n->proto->opcode, "-done"))
			continue;
		if (ends_with(n->proto->opcode, "-start")) {
			copies += (double)g->node[node_operands(g, v)[0]].bytes / t->roofline.memory_rate;
			continue;
		}
		cycles = by == BY_CYCLES ? estimate_kernel_cycles(n) : 0;
		if (cycles <= 0 && n->rank == 0 && n->dtype != DT_TUPLE)
			continue;
		ours = cycles > 0 ? 0 : roofline_kernel(by == BY_PRODUCTS ? &t->products : &t->roofline, g, v,
			&t->scratch);
		ours += by == BY_CYCLES ? 0 : START / t->second;
		out->kernels++;
		out->modelled += cycles > 0;
		out->ours += cycles <= 0;
		out->our_seconds += c->trips * ours;
		kernels += cycles / t->second + ours;
	}
	return fmax(kernels, copies);
}

void estimate_cycles(const struct graph *g, const char *target, struct spread spread, struct priced *out)
{
	double bytes = target_number(target, "memory_bandwidth");
	struct tpu t = {.second = 1e6 * target_number(target, "cycles_per_microsecond")};
	double rate = target_number(target, "operations_per_cycle") * t.second;

	(void)spread;
	*out = (struct priced){0};
	if (t.second <= 0) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail, "how long a cycle of %.40s is, is not known "
			"(schemas/target.def)", target);
		return;
	}
	t.roofline = (struct roofline){.work = rate, .loads = 4 * rate, .heavy = rate, .near_rate = bytes,
		.mid_rate = bytes, .far_rate = bytes, .memory_rate = bytes};
	t.products = t.roofline;
	t.products.work = t.products.heavy = target_number(target, "products_per_cycle") * t.second;
	t.products.loads = INFINITY;
	for (uint32_t c = 0; c < g->n_comps; c++) {
		const struct comp *comp = &g->comp[c];
		if (comp_is_compiled(comp))
			out->seconds += comp->trips * add_computation(&t, g, comp, out);
	}
	out->seconds = fmax(out->seconds, 1 / t.second);
	roofline_scratch_release(&t.scratch);
}
