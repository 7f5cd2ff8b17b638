/*
 * network_read.c - reads the contest's JSON.
 *
 *	{"problem": {"name": ..., "usage_limit": ...,
 *	  "nodes": {"intervals": [[0, 5], ...], "costs": [[...], ...], "usages": [[...], ...]},
 *	  "edges": {"nodes": [[0, 1], ...], "costs": [[...], ...]}}}
 *
 * Members come in any order, and unknown ones are skipped. So the lists are kept as they are read, and put together and
 * checked at the end: lists must be equally long, nodes must exist, an edge must have as many costs as pairs. An edge
 * of a node with itself, or with nothing, is a cost of that node. Several edges between the same nodes stay separate,
 * and their costs add up.
 */
#include <limits.h>
#include <string.h>
#include "base/io.h"
#include "base/scan.h"
#include "space/net/network.h"

struct lists { /* of lists of numbers; all zero is none */
	int64_t *v;
	size_t n, cap;
	size_t *end; /* per list: where it ends in v */
	size_t n_lists, cap_lists;
	bool given;
};

struct draft {
	struct buf name;
	struct lists intervals, costs, usages, ends, pairs;
	bool limited;
	int64_t limit;
};

static void lists_release(struct lists *l)
{
	mem_free(l->v);
	mem_free(l->end);
}

static size_t list_at(const struct lists *l, size_t i)
{
	return i ? l->end[i - 1] : 0;
}

static size_t list_size(const struct lists *l, size_t i)
{
	return l->end[i] - list_at(l, i);
}

/* [[1, 2], [], ...]: at most `most` lists of at most `each` numbers. */
static int take_lists(struct scan *s, struct lists *l, size_t most, size_t each, const char *what)
{
	int rc, inner;

	if (l->given)
		return scan_fail(s, "%s is given twice", what);
	l->given = true;
	if (scan_array(s) < 0)
		return -1;
	while ((rc = scan_item(s)) == 1) {
		size_t start = l->n;
		if (l->n_lists == most)
			return scan_fail(s, "%s has more than %zu members", what, most);
		if (scan_array(s) < 0)
			return -1;
		while ((inner = scan_item(s)) == 1) {
			if (l->n - start == each || l->n == NET_COSTS)
				return scan_fail(s, "%s has too many numbers", what);
			MEM_GROW(&l->v, &l->cap, l->n + 1);
			if (scan_i64(s, &l->v[l->n++]) < 0)
				return -1;
		}
		if (inner < 0)
			return -1;
		MEM_GROW(&l->end, &l->cap_lists, l->n_lists + 1);
		l->end[l->n_lists++] = l->n;
	}
	return rc;
}

static int take_nodes(struct scan *s, struct draft *d)
{
	char key[32];
	int rc = scan_object(s);

	if (rc < 0)
		return -1;
	while ((rc = scan_key(s, key, sizeof key)) == 1) {
		if (strcmp(key, "intervals") == 0)
			rc = take_lists(s, &d->intervals, NET_NODES, 2, "the nodes' intervals");
		else if (strcmp(key, "costs") == 0)
			rc = take_lists(s, &d->costs, NET_NODES, NET_CHOICES, "the nodes' costs");
		else if (strcmp(key, "usages") == 0)
			rc = take_lists(s, &d->usages, NET_NODES, NET_CHOICES, "the nodes' usages");
		else
			rc = scan_skip(s);
		if (rc < 0)
			return -1;
	}
	return rc;
}

static int take_edges(struct scan *s, struct draft *d)
{
	char key[32];
	int rc = scan_object(s);

	if (rc < 0)
		return -1;
	while ((rc = scan_key(s, key, sizeof key)) == 1) {
		if (strcmp(key, "nodes") == 0)
			rc = take_lists(s, &d->ends, NET_EDGES, 2, "the edges' nodes");
		else if (strcmp(key, "costs") == 0)
			rc = take_lists(s, &d->pairs, NET_EDGES, (size_t)NET_CHOICES * NET_CHOICES, "the edges' costs");
		else
			rc = scan_skip(s);
		if (rc < 0)
			return -1;
	}
	return rc;
}

static int take_problem(struct scan *s, struct draft *d)
{
	char key[32];
	int rc = scan_object(s);

	if (rc < 0)
		return -1;
	while ((rc = scan_key(s, key, sizeof key)) == 1) {
		if (strcmp(key, "name") == 0) {
			buf_reset(&d->name);
			rc = scan_str(s, &d->name);
		} else if (strcmp(key, "nodes") == 0) {
			rc = take_nodes(s, d);
		} else if (strcmp(key, "edges") == 0) {
			rc = take_edges(s, d);
		} else if (strcmp(key, "usage_limit") == 0 && !scan_is(s, 'n')) {
			d->limited = true;
			rc = scan_i64(s, &d->limit);
		} else {
			rc = scan_skip(s);
		}
		if (rc < 0)
			return -1;
	}
	return rc;
}

static int take_file(struct scan *s, struct draft *d)
{
	char key[32];
	bool found = false;
	int rc = scan_object(s);

	if (rc < 0)
		return -1;
	while ((rc = scan_key(s, key, sizeof key)) == 1) {
		bool problem = strcmp(key, "problem") == 0;
		if (problem && found)
			return scan_fail(s, "there are two problems");
		found |= problem;
		if ((problem ? take_problem(s, d) : scan_skip(s)) < 0)
			return -1;
	}
	if (rc == 0)
		rc = scan_end(s);
	if (rc == 0 && !found)
		return scan_fail(s, "there is no \"problem\"");
	return rc;
}

static int check_nodes(const struct draft *d, struct err *err)
{
	size_t n = d->costs.n_lists;

	if (!d->intervals.given || !d->costs.given || !d->usages.given)
		return err_set(err, "the nodes lack %s", !d->costs.given ? "costs" : !d->usages.given ? "usages"
			: "intervals");
	if (d->intervals.n_lists != n || d->usages.n_lists != n)
		return err_set(err, "there are %zu nodes with costs, %zu with intervals, %zu with usages", n,
			d->intervals.n_lists, d->usages.n_lists);
	for (size_t i = 0; i < n; i++) {
		const int64_t *when = d->intervals.v + list_at(&d->intervals, i);
		if (list_size(&d->intervals, i) != 2)
			return err_set(err, "node %zu: an interval is two times, not %zu", i,
				list_size(&d->intervals, i));
		if (when[0] < 0 || when[1] < 0)
			return err_set(err, "node %zu: a time below 0", i);
		if (list_size(&d->costs, i) == 0)
			return err_set(err, "node %zu has no choices", i);
		if (list_size(&d->usages, i) != list_size(&d->costs, i))
			return err_set(err, "node %zu has %zu costs but %zu usages", i, list_size(&d->costs, i),
				list_size(&d->usages, i));
	}
	return 0;
}

static int check_edge(const struct draft *d, size_t e, struct err *err)
{
	size_t n = list_size(&d->ends, e), pairs = 1;
	const int64_t *end = d->ends.v + list_at(&d->ends, e);

	if (n == 0)
		return err_set(err, "edge %zu has no nodes", e);
	for (size_t k = 0; k < n; k++) {
		if (end[k] < 0 || (uint64_t)end[k] >= d->costs.n_lists)
			return err_set(err, "edge %zu: there is no node %lld", e, (long long)end[k]);
		pairs *= list_size(&d->costs, (size_t)end[k]);
	}
	if (list_size(&d->pairs, e) != pairs)
		return err_set(err, "edge %zu has %zu costs where its nodes have %zu pairs of choices", e,
			list_size(&d->pairs, e), pairs);
	return 0;
}

static int check_edges(const struct draft *d, struct err *err)
{
	if (d->ends.given != d->pairs.given)
		return err_set(err, "the edges lack %s", d->ends.given ? "costs" : "nodes");
	if (d->ends.n_lists != d->pairs.n_lists)
		return err_set(err, "there are %zu edges with nodes, %zu with costs", d->ends.n_lists,
			d->pairs.n_lists);
	for (size_t e = 0; e < d->ends.n_lists; e++)
		if (check_edge(d, e, err) < 0)
			return -1;
	return 0;
}

static void build_nodes(struct network *net, const struct draft *d)
{
	net->n_nodes = (uint32_t)d->costs.n_lists;
	net->first = ARENA_NEW(&net->mem, net->n_nodes + 1, uint32_t);
	net->begin = ARENA_NEW(&net->mem, net->n_nodes, int64_t);
	net->end = ARENA_NEW(&net->mem, net->n_nodes, int64_t);
	net->cost = arena_dup(&net->mem, d->costs.v, d->costs.n * sizeof *net->cost);
	net->usage = arena_dup(&net->mem, d->usages.v, d->usages.n * sizeof *net->usage);
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		net->first[i + 1] = (uint32_t)d->costs.end[i];
		net->begin[i] = d->intervals.v[2 * i];
		net->end[i] = d->intervals.v[2 * i + 1];
	}
}

/* Adds; a sum beyond 64 bits becomes the largest or smallest number of 64 bits. */
static int64_t add_clamped(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static void build_edges(struct network *net, struct draft *d)
{
	net->edge = ARENA_NEW(&net->mem, d->ends.n_lists, struct network_edge);
	for (size_t e = 0; e < d->ends.n_lists; e++) {
		size_t n = list_size(&d->ends, e), at = list_at(&d->pairs, e);
		const int64_t *end = d->ends.v + list_at(&d->ends, e);
		uint32_t a = (uint32_t)end[0], b = (uint32_t)end[n - 1];
		uint32_t k = network_choices(net, a);
		if (a != b)
			net->edge[net->n_edges++] = (struct network_edge){a, b, at};
		else
			for (uint32_t i = 0; i < k; i++) {
				int64_t *cost = &net->cost[net->first[a] + i];
				*cost = add_clamped(*cost, d->pairs.v[at + (n == 2 ? (size_t)i * (k + 1) : i)]);
			}
	}
	net->pair = d->pairs.v;
	d->pairs.v = NULL;
}

int network_parse(struct network *net, const void *text, size_t n, struct err *err)
{
	struct draft d = {0};
	struct scan s;
	int rc;

	*net = (struct network){0};
	scan_open(&s, text, n, err);
	rc = take_file(&s, &d);
	if (rc == 0)
		rc = check_nodes(&d, err);
	if (rc == 0)
		rc = check_edges(&d, err);
	if (rc == 0) {
		net->name = arena_strdup(&net->mem, d.name.data ? d.name.data : "");
		net->limited = d.limited;
		net->limit = d.limit;
		build_nodes(net, &d);
		build_edges(net, &d);
	}
	buf_release(&d.name);
	lists_release(&d.intervals);
	lists_release(&d.costs);
	lists_release(&d.usages);
	lists_release(&d.ends);
	lists_release(&d.pairs);
	return rc;
}

bool network_looks_like(const void *text, size_t n)
{
	size_t head = n < 4096 ? n : 4096;

	return memmem(text, head, "\"problem\"", 9) != NULL;
}
