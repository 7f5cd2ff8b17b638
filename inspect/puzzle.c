/*
 * puzzle.c - see puzzle.h.
 *
 * For a net the view shows the number of nodes and choices, what is left after everything certain is decided, and the
 * least and most memory that can be in use during each of at most twenty stretches of time, compared with the limit.
 * The lower bound is the sum of the cheapest costs of all nodes and edges; no answer costs less. For a placement
 * problem it shows times, sizes, and a load that no placement can go below: all the time, shared out evenly.
 */
#include "inspect/puzzle.h"

#include <math.h>
#include <string.h>
#include "base/io.h"
#include "space/made.h"
#include "space/net/reduced.h"
#include "space/place/placing.h"

#define STRETCHES 20

/* From when to when memory is in use at all, and in how many stretches that is shown: none shorter than a tick. */
struct span {
	int64_t begin, ticks, n;
};

static struct span span_of(const struct network *net)
{
	int64_t begin = INT64_MAX, end = 0;
	struct span s = {0};

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		if (net->begin[i] >= net->end[i])
			continue;
		begin = net->begin[i] < begin ? net->begin[i] : begin;
		end = net->end[i] > end ? net->end[i] : end;
	}
	if (begin < end)
		s = (struct span){begin, end - begin, STRETCHES};
	s.n = s.ticks < STRETCHES ? s.ticks : STRETCHES;
	return s;
}

/* The first tick of stretch k, or, after the last one, the end. */
static int64_t span_at(const struct span *s, int64_t k)
{
	return s->begin + s->ticks / s->n * k + s->ticks % s->n * k / s->n;
}

static int64_t least_of(const int64_t *v, size_t n, bool most)
{
	int64_t best = v[0];

	for (size_t i = 1; i < n; i++)
		best = (v[i] > best) == most ? v[i] : best;
	return best;
}

static network_sum lower_bound(const struct network *net)
{
	network_sum sum = 0;

	for (uint32_t i = 0; i < net->n_nodes; i++)
		sum += least_of(net->cost + net->first[i], network_choices(net, i), false);
	for (uint32_t e = 0; e < net->n_edges; e++) {
		const struct network_edge *x = &net->edge[e];
		sum += least_of(net->pair + x->cost, (size_t)network_choices(net, x->a) * network_choices(net, x->b),
			false);
	}
	return sum;
}

/*
 * The largest memory in use during each stretch of time, if all nodes take their least memory; or, with `most`, their
 * most.
 */
static void memory_over_time(const struct network *net, const struct span *span, bool most, double *peak)
{
	struct network_value v;
	uint32_t *choice = MEM_NEW(net->n_nodes + 1, uint32_t);
	struct network part = *net;
	int64_t *begin_at = MEM_NEW(net->n_nodes + 1, int64_t), *end_at = MEM_NEW(net->n_nodes + 1, int64_t);

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		const int64_t *usage = net->usage + net->first[i];
		int64_t best = least_of(usage, network_choices(net, i), most);
		while (usage[choice[i]] != best)
			choice[i]++;
	}
	part.begin = begin_at;
	part.end = end_at;
	for (int64_t s = 0; s < span->n; s++) {
		int64_t low = span_at(span, s), high = span_at(span, s + 1);
		for (uint32_t i = 0; i < net->n_nodes; i++) {
			begin_at[i] = net->begin[i] > low ? net->begin[i] : low;
			end_at[i] = net->end[i] < high ? net->end[i] : high;
		}
		v = network_value(&part, choice);
		peak[s] = v.peak_time == INT64_MIN ? 0 : (double)v.peak;
	}
	mem_free(choice);
	mem_free(begin_at);
	mem_free(end_at);
}

static void show_memory(const struct network *net, struct buf *out)
{
	double least[STRETCHES], most[STRETCHES];
	struct span span = span_of(net);

	memory_over_time(net, &span, false, least);
	memory_over_time(net, &span, true, most);
	if (span.n == 0) {
		buf_adds(out, "memory      none is ever in use\n");
		return;
	}
	buf_addf(out, "memory      time from   at least    at most%s\n", net->limited ? "  (1: the limit)" : "");
	for (int64_t s = 0; s < span.n; s++) {
		double unit = net->limited && net->limit > 0 ? (double)net->limit : 1;
		buf_addf(out, "%21lld %10.4g %10.4g", (long long)span_at(&span, s), least[s] / unit,
			most[s] / unit);
		if (net->limited && net->limit > 0) {
			buf_adds(out, "  ");
			for (double x = 0.025; x < least[s] / unit; x += 0.05)
				buf_addch(out, '#');
		}
		buf_addch(out, '\n');
	}
}

static void show_net(const struct network *net, struct buf *out)
{
	struct reduced m;
	uint32_t widest = 0, single = 0;
	char text[41];

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		uint32_t k = network_choices(net, i);
		widest = k > widest ? k : widest;
		single += k == 1;
	}
	reduced_build(&m, net);
	buf_addf(out, "net         %s\nnodes       %u, %u of them with one "
		"choice, at most %u choices, %.1f on average\n", net->name,
		net->n_nodes, single, widest, net->n_nodes ? (double)net->first[net->n_nodes] / net->n_nodes : 0);
	buf_addf(out, "edges       %u\n", net->n_edges);
	if (net->limited)
		buf_addf(out, "limit       %lld\n", (long long)net->limit);
	if (m.hopeless)
		buf_adds(out, "left        nothing: some node has no choice that is allowed\n");
	else
		buf_addf(out, "left        %u variables, %u times that can exceed the limit\n", m.n_vars, m.n_ticks);
	buf_addf(out, "bound       no answer costs less than %s\n", network_sum_text(lower_bound(net), text));
	show_memory(net, out);
	reduced_release(&m);
}

static void show_place(const struct place *p, struct buf *out)
{
	double time[2] = {0}, size = 0, longest = 0, shared = 0;

	for (uint32_t v = 0; v < p->n_nodes; v++) {
		time[0] += p->time[0][v];
		time[1] += p->time[1][v];
		size += p->size[v];
		shared += fmin(p->time[0][v], p->time[1][v]);
	}
	for (uint32_t g = 0; g < p->n_groups; g++) {
		double sum[2] = {0};
		for (uint32_t i = p->group_first[g]; i < p->group_first[g + 1]; i++) {
			sum[0] += p->time[0][p->member[i]];
			sum[1] += p->time[1][p->member[i]];
		}
		longest = fmax(longest, fmin(sum[0], sum[1]));
	}
	buf_addf(out, "nodes       %u in %u groups that stay together, %u edges\n", p->n_nodes, p->n_groups,
		p->n_edges);
	buf_addf(out, "devices     %u accelerators of %.4g bytes, %u processors\n", p->n_accelerators, p->memory,
		p->n_devices - p->n_accelerators);
	buf_addf(out, "time        %.6g on an accelerator, %.6g on a processor\nsize        %.4g bytes\n", time[0],
		time[1], size);
	buf_addf(out, "bound       no placement's largest load is below %.6g\n", fmax(longest, shared / p->n_devices));
	for (int s = PLACING_ONE; s <= PLACING_HEFT; s++) {
		struct placing_options o = {.strategy = (enum placing_strategy)s, .steps = 1};
		struct placing_result r;
		placing_solve(p, &o, &r);
		buf_addf(out, "%-11s load %.6g, latency %.6g\n", placing_name(o.strategy), r.cost,
			place_latency(p, r.device));
		placing_result_release(&r);
	}
}

int puzzle_show(const char *path, struct buf *out, struct err *err)
{
	struct buf text = {0};
	struct network net = {0};
	struct place place = {0};
	int rc = io_read_file(path, IO_FILE_LIMIT, &text, err);

	if (rc < 0 || text.len == 0 || text.data[0] != '{') {
		buf_release(&text);
		return rc;
	}
	if (place_looks_like(text.data, text.len)) {
		if ((rc = place_parse(&place, text.data, text.len, err)) == 0)
			show_place(&place, out);
	} else if (network_looks_like(text.data, text.len)) {
		if ((rc = network_parse(&net, text.data, text.len, err)) == 0)
			show_net(&net, out);
	} else {
		buf_release(&text);
		return err_set(err, MADE_NOT_ONE, path);
	}
	place_release(&place);
	network_release(&net);
	buf_release(&text);
	return rc < 0 ? err_prefix(err, "%s", path) : 1;
}
