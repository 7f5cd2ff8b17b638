/*
 * net.c - nets as decisions: the kind that reads iopddl problems, cuts pieces out of them, or makes some (net_make.c).
 *
 * A site is a node with more than one choice. The price is the formula: what the choices and their pairs cost, and the
 * most memory in use. An answer that is not allowed must cost more than all that are, or a search would take it. So
 * each forbidden choice or pair costs as much as all costs of the problem can differ together, and so does memory above
 * the limit, and more the more it is. If costs can be negative, all answers cost so much more that none is below 1.
 */
#include "space/net/net.h"

#include <math.h>
#include <string.h>
#include "space/net/net_own.h"
#include "space/net/page.h"
#include "space/net/solve.h"

static double formula(struct space *s, const uint8_t *config, enum quantity q)
{
	const struct net_space *n = net_own(s);
	double cost, limit = n->net.limit > 1 ? (double)n->net.limit : 1;

	net_stand(s, config);
	if (q == QUANTITY_BYTES)
		return fmax((double)tally_peak(&n->now, NULL), 0);
	cost = (double)n->now.cost + n->shift + n->now.never * n->spread;
	return n->now.over > 0 ? cost + n->spread * (1 + (double)n->now.over / limit) : cost;
}

static int apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	(void)config;
	(void)err;
	graph_write(s->graph, module);
	return 0;
}

static int check(struct space *s, const uint8_t *config, const void *optimised, size_t n, struct check_result *out,
	struct err *err)
{
	(void)config, (void)optimised, (void)n, (void)err;
	*out = (struct check_result){.asked = s->n_sites, .found = s->n_sites, .equal = s->n_sites};
	return 0;
}

/* The changed sites and their neighbours, whose edges cost something else. */
static void touched(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed, uint32_t n_changed,
	uint32_t **nodes, size_t *count, size_t *cap)
{
	const struct net_space *n = net_own(s);
	uint32_t *site = NULL;
	size_t room = 0, k = 0;

	(void)a, (void)b;
	for (uint32_t i = 0; i < n_changed; i++) {
		uint32_t node = n->net_of[changed[i]], degree = n->now.edge_first[node + 1] - n->now.edge_first[node];
		MEM_GROW(&site, &room, k + degree + 1);
		site[k++] = n->node_of[node];
		for (uint32_t e = 0; e < degree; e++) {
			const struct network_edge *x = &n->net.edge[n->now.edge_of[n->now.edge_first[node] + e]];
			site[k++] = n->node_of[x->a == node ? x->b : x->a];
		}
	}
	space_touched_nodes(site, k, nodes, count, cap);
	mem_free(site);
}

static void words(struct space *s, uint32_t site, uint8_t choice, struct buf *out)
{
	const struct net_space *n = net_own(s);
	uint32_t at = n->net.first[n->net_of[site]] + choice;

	buf_addf(out, "node %u takes choice %u: cost %lld, memory %lld", n->net_of[site], choice,
		(long long)n->net.cost[at], (long long)n->net.usage[at]);
}

static void summary(struct space *s, const uint8_t *config, struct buf *out)
{
	const struct net_space *n = net_own(s);
	char text[2][41];

	net_stand(s, config);
	buf_addf(out, "cost %s, memory at most %s", network_sum_text(n->now.cost, text[0]),
		network_sum_text(tally_peak(&n->now, NULL), text[1]));
	if (n->net.limited)
		buf_addf(out, " of %lld", (long long)n->net.limit);
	if (n->now.never || n->now.over > 0)
		buf_addf(out, "; not allowed: %u forbidden%s", n->now.never,
			n->now.over > 0 ? ", too much memory" : "");
}

static void answer(struct space *s, const uint8_t *config, struct buf *out)
{
	net_stand(s, config);
	network_write_answer(&net_own(s)->net, net_own(s)->now.choice, out);
}

static void page(struct space *s, const uint8_t *before, const uint8_t *after, struct buf *out)
{
	const struct net_space *n = net_own(s);
	uint32_t *first;

	net_stand(s, before);
	first = mem_alloc((n->net.n_nodes + 1) * sizeof *first);
	memcpy(first, n->now.choice, n->net.n_nodes * sizeof *first);
	net_stand(s, after);
	network_page(&n->net, first, n->now.choice, out);
	mem_free(first);
}

static int solve(struct space *s, const struct space_effort *e, uint8_t *config, struct err *err)
{
	const struct net_space *n = net_own(s);
	struct network_options o = {.seconds = e->seconds, .steps = e->steps, .jobs = e->jobs, .seed = e->seed,
		.stop = e->stop};
	struct network_result r;

	network_solve(&n->net, &o, &r);
	for (uint32_t i = 0; i < s->n_sites && r.found; i++)
		config[i] = (uint8_t)r.choice[n->net_of[i]];
	int rc = r.found ? 0 : err_set(err, "%s: no answer that is allowed was found in %.1f s", n->net.name,
		r.seconds);
	network_result_release(&r);
	return rc;
}

/* Each node's own cheapest choice, or the one that takes least memory. */
static void fill_each(struct space *s, uint8_t *config, bool by_memory)
{
	const struct net_space *n = net_own(s);

	for (uint32_t i = 0; i < s->n_sites; i++) {
		const int64_t *v = (by_memory ? n->net.usage : n->net.cost) + n->net.first[n->net_of[i]];
		config[i] = 0;
		for (uint8_t k = 1; k < s->site[i].choices; k++)
			config[i] = v[k] < v[config[i]] ? k : config[i];
	}
}

static void fill_cheapest(struct space *s, uint8_t *config)
{
	fill_each(s, config, false);
}

static void fill_leanest(struct space *s, uint8_t *config)
{
	fill_each(s, config, true);
}

static void release(struct space *s)
{
	tally_release(&net_own(s)->now);
	network_release(&net_own(s)->net);
}

static const struct space_start starts[] = {{"cheapest", fill_cheapest}, {"leanest", fill_leanest}, {0}};

static const struct space_ops net_ops = {
	.kind = &net_kind,
	.apply = apply,
	.region = space_region_formula,
	.check = check,
	.context = net_context,
	.touched = touched,
	.formula = formula,
	.undecided = "greedy, node by node, with a price for memory",
	.summary = summary,
	.starts = starts,
	.effect = net_effect,
	.grain = net_grain,
	.promise = net_promise,
	.words = words,
	.answer = answer,
	.page = page,
	.release = release,
};

static int open_net(struct space *s, const char *backend, struct err *err)
{
	(void)backend;
	s->own = ARENA_NEW(&s->mem, 1, struct net_space);
	s->ops = &net_ops;
	return net_begin(s, err);
}

static const struct space_price prices[] = {{QUANTITY_FORMULA, PRICING_FORMULA}, {QUANTITY_BYTES, PRICING_FORMULA},
	{0}};

const struct space_kind net_kind = {
	.name = "net",
	.answer_file = "answer.json",
	.forms = "net",
	.about = "a choice for each node of a public problem, net:FILE.json",
	.choices = "The number of a choice is its place in the node's lists of costs and usages.",
	.prices = prices,
	.features = &net_features,
	.open = open_net,
	.make = net_make,
	.solve = solve,
};
