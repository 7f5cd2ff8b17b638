/*
 * estimate_reified.c - reads the prices that XLA:GPU writes beside each kernel.
 *
 * If it is asked to, XLA writes a list of prices into the backend_config of each fusion, and of each product that a
 * library computes. Each price has the name of the model that gave it:
 *
 *	indexing-cost-model	for fusions in tiles (Triton). It is right there; the plain model does not know tiles
 *				and says 9 ms for a softmax of 0.2 us
 *	(no name)		the performance model by which XLA's own fusion pass decides
 *	sol			the analytical estimator of the scheduler, for kernels that the others leave out
 *
 * The first of these that is there counts. To each kernel LAUNCH is added, as XLA does when it compares fused with
 * unfused. A kernel in a loop counts once for each turn.
 *
 * No model prices copies, sorts and calls of cuDNN. They get a roofline from the numbers of the target, and the
 * estimate tells how many did. So does a kernel that has a price of 0 although it moves data, for example two updates
 * in place that were merged into one: what a model does not see is no gain.
 *
 * XLA would compile some kernels that it hardly ever makes itself, and for which its price means nothing: two
 * reductions that feed one another, a reduction whose result is broadcast again, more operands than a launch can pass.
 * A program with such a kernel is refused, unless XLA made it and it was kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/scan.h"
#include "device/estimate.h"
#include "device/target.h"
#include "graph/unmade.h"

#define LAUNCH 1e-6 /* seconds */

enum { MODEL_TILES, MODEL_PLAIN, MODEL_SCHEDULER, N_MODELS };
static const char *const models[N_MODELS] = {"indexing-cost-model", "", "sol"};

/* Reads one entry of the list; its price goes to its model's place. */
static int read_price(struct scan *s, double *us)
{
	char key[64];
	struct buf name = {0};
	double value = -1;
	int rc = scan_object(s);

	while (rc == 0 && (rc = scan_key(s, key, sizeof key)) == 1)
		rc = strcmp(key, "exec_time_us") == 0 ? scan_f64(s, &value) :
		     strcmp(key, "name") == 0	      ? scan_str(s, &name) :
							scan_skip(s);
	for (int m = 0; rc == 0 && m < N_MODELS; m++)
		if (strcmp(name.len ? name.data : "", models[m]) == 0)
			us[m] = value;
	buf_release(&name);
	return rc;
}

static int read_prices(struct scan *s, double *us)
{
	char key[64];
	int rc = scan_object(s);

	while (rc == 0 && (rc = scan_key(s, key, sizeof key)) == 1) {
		if (strcmp(key, "reification_cost") != 0) {
			rc = scan_skip(s);
			continue;
		}
		rc = scan_array(s);
		while (rc == 0 && (rc = scan_item(s)) == 1)
			rc = read_price(s, us);
	}
	return rc;
}

/* Seconds by the model that counts, without the launch; negative if there is no price. */
static double modelled(const struct node *n)
{
	double us[N_MODELS] = {-1, -1, -1};
	struct scan s;
	struct err ignored;

	scan_open(&s, n->proto->backend_config.data, n->proto->backend_config.len, &ignored);
	if (!n->proto->backend_config.len || read_prices(&s, us) < 0)
		return -1;
	for (int m = 0; m < N_MODELS; m++)
		if (us[m] >= 0)
			return 1e-6 * us[m];
	return -1;
}

/* The target's speed of memory and arithmetic, and nothing else. */
static struct roofline roofline_of(const char *target)
{
	double rate = target_number(target, "core_count") * target_number(target, "fpus_per_core") * 2e9 *
		      target_number(target, "clock_rate_ghz");
	double bytes = target_number(target, "memory_bandwidth");

	return (struct roofline){.work = rate, .loads = 4 * rate, .heavy = rate, .near_rate = bytes, .mid_rate = bytes,
		.far_rate = bytes, .memory_rate = bytes};
}

/* Is it the inside of a kernel that stays as XLA made it? */
static bool is_kept(const struct graph *g, const struct comp *c)
{
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		if (strstr(g->node[v].proto->name, KEPT_MARK))
			return true;
	return false;
}

/* Tells why XLA would hardly ever make this kernel; NULL if it might. */
static const char *refused(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const struct comp *c;

	if (n->opcode != OP_FUSION || (n->proto->fusion_kind && strcmp(n->proto->fusion_kind, "kCustom") == 0))
		return NULL;
	if (n->n_operands + 1 > UNMADE_OPERANDS)
		return "more operands than it passes to one";
	c = &g->comp[node_calls(g, v)[0]];
	return is_kept(g, c) ? NULL : unmade_fusion(g, c);
}

/* Is it the end of an asynchronous operation? That takes no time of its own. */
static bool is_end(const struct node *n)
{
	const char *name = n->proto->opcode;
	size_t len = strlen(name);

	return len > 5 && strcmp(name + len - 5, "-done") == 0;
}

static void add_kernel(const struct graph *g, uint32_t v, const struct roofline *m, struct roofline_scratch *scratch,
	struct priced *out)
{
	const struct node *n = &g->node[v];
	double seconds = modelled(n);
	const char *why = refused(g, v);

	if (why && out->outcome == OUTCOME_OK) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail, "XLA does not make such a "
			"kernel here (%s, %.80s), its price means nothing", why, n->proto->name);
	}
	out->kernels++;
	out->unpriced += seconds < 0;
	if (seconds > 0) {
		out->modelled++;
	} else {
		seconds = roofline_kernel(m, g, v, scratch);
		out->ours++;
		out->our_seconds += g->comp[n->comp].trips * seconds;
	}
	out->seconds += g->comp[n->comp].trips * (seconds + LAUNCH);
}

void estimate_reified(const struct graph *g, const char *target, struct spread spread, struct priced *out)
{
	struct roofline m = roofline_of(target);
	struct roofline_scratch scratch = {0};

	(void)spread;
	*out = (struct priced){0};
	for (uint32_t c = 0; c < g->n_comps; c++) {
		const struct comp *comp = &g->comp[c];
		if (!comp_is_compiled(comp))
			continue;
		for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++)
			if (node_is_kernel(g, v) && !is_end(&g->node[v]))
				add_kernel(g, v, &m, &scratch, out);
	}
	roofline_scratch_release(&scratch);
}
