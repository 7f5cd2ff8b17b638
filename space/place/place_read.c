/*
 * place_read.c - reads the dnn-partitioning problems.
 *
 *	{"maxSizePerFPGA": bytes, "maxFPGAs": 6, "maxCPUs": 1,
 *	 "nodes": [{"id": 1, "supportedOnFpga": 1, "cpuLatency": 6.9, "fpgaLatency": 0.7, "isBackwardNode": 0,
 *		    "colorClass": 1, "size": 131325952.0}, ...],
 *	 "edges": [{"sourceId": 1, "destId": 2, "cost": 0.1}, ...]}
 *
 * What they call an FPGA stands for any accelerator. A node without colorClass is alone in its group; a node without
 * size takes no memory. A key of our own, "valueSize", is the memory of the node's value, from its start until the last
 * node that reads it has run; the goals time and memory heed it. All edges out of a node must have the same cost,
 * because they all carry the node's one value.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/scan.h"
#include "space/place/place.h"

struct draft_node {
	int64_t id, color;
	double time[2], size, held;
	bool supported, backward;
	uint32_t has; /* bits of the fields that were read */
};

struct draft_edge {
	int64_t from, to;
	double cost;
	uint32_t has;
};

struct draft {
	struct draft_node *node;
	struct draft_edge *edge;
	size_t n_nodes, cap_nodes, n_edges, cap_edges;
	int64_t accelerators, processors;
	double memory;
	uint32_t has;
};

enum { ID = 1, ACCELERATOR = 2, PROCESSOR = 4, COLOR = 8, HELD = 16, NODE_WHOLE = ID | ACCELERATOR | PROCESSOR };
enum { FROM = 1, TO = 2, COST = 4, EDGE_WHOLE = FROM | TO | COST };

/* What the value of a key is (a whole number, true or false, seconds or bytes), and where it goes. */
struct field {
	const char *key;
	enum { WHOLE, TRUTH, AMOUNT } type;
	size_t at;
	uint32_t bit;
};

static const struct field of_node[] = {
	{"id", WHOLE, offsetof(struct draft_node, id), ID},
	{"fpgaLatency", AMOUNT, offsetof(struct draft_node, time[0]), ACCELERATOR},
	{"cpuLatency", AMOUNT, offsetof(struct draft_node, time[1]), PROCESSOR},
	{"size", AMOUNT, offsetof(struct draft_node, size), 0},
	{"valueSize", AMOUNT, offsetof(struct draft_node, held), HELD},
	{"supportedOnFpga", TRUTH, offsetof(struct draft_node, supported), 0},
	{"isBackwardNode", TRUTH, offsetof(struct draft_node, backward), 0},
	{"colorClass", WHOLE, offsetof(struct draft_node, color), COLOR},
	{0}};

static const struct field of_edge[] = {
	{"sourceId", WHOLE, offsetof(struct draft_edge, from), FROM},
	{"destId", WHOLE, offsetof(struct draft_edge, to), TO},
	{"cost", AMOUNT, offsetof(struct draft_edge, cost), COST},
	{0}};

static int take_amount(struct scan *s, double *v)
{
	if (scan_f64(s, v) < 0)
		return -1;
	return *v < 0 || *v > 1e100 ? scan_fail(s, "%g is no time or size", *v) : 0;
}

/* Reads an object into a struct: fields by the table, other keys are skipped. `has` gets the bits of what was read. */
static int take_fields(struct scan *s, const struct field *f, void *out, uint32_t *has)
{
	char key[32];
	int rc = scan_object(s);

	while (rc >= 0 && (rc = scan_key(s, key, sizeof key)) == 1) {
		const struct field *of = f;
		while (of->key && strcmp(key, of->key) != 0)
			of++;
		void *at = (char *)out + of->at;
		*has |= of->bit;
		rc = !of->key ? scan_skip(s) : of->type == WHOLE ? scan_i64(s, at) : of->type == TRUTH
			? scan_bool(s, at) : take_amount(s, at);
	}
	return rc;
}

static int take_node(struct scan *s, struct draft *d)
{
	struct draft_node n = {.supported = true};

	if (take_fields(s, of_node, &n, &n.has) < 0)
		return -1;
	if ((n.has & NODE_WHOLE) != NODE_WHOLE)
		return scan_fail(s, "a node lacks id, fpgaLatency or cpuLatency");
	if (d->n_nodes == PLACE_NODES)
		return scan_fail(s, "more than %u nodes", PLACE_NODES);
	MEM_GROW(&d->node, &d->cap_nodes, d->n_nodes + 1);
	d->node[d->n_nodes++] = n;
	return 0;
}

static int take_edge(struct scan *s, struct draft *d)
{
	struct draft_edge e = {0};

	if (take_fields(s, of_edge, &e, &e.has) < 0)
		return -1;
	if (e.has != EDGE_WHOLE)
		return scan_fail(s, "an edge lacks sourceId, destId or cost");
	if (d->n_edges == PLACE_EDGES)
		return scan_fail(s, "more than %u edges", PLACE_EDGES);
	MEM_GROW(&d->edge, &d->cap_edges, d->n_edges + 1);
	d->edge[d->n_edges++] = e;
	return 0;
}

static int take_list(struct scan *s, struct draft *d, int (*take)(struct scan *s, struct draft *d))
{
	int rc = scan_array(s);

	while (rc >= 0 && (rc = scan_item(s)) == 1)
		rc = take(s, d);
	return rc;
}

static int take_problem(struct scan *s, struct draft *d)
{
	static const char *const names[] = {"maxSizePerFPGA", "maxFPGAs", "maxCPUs", "nodes", "edges"};
	char key[32];
	int rc = scan_object(s);

	while (rc >= 0 && (rc = scan_key(s, key, sizeof key)) == 1) {
		uint32_t i = 0;
		while (i < 5 && strcmp(key, names[i]) != 0)
			i++;
		if (i < 5 && d->has >> i & 1)
			return scan_fail(s, "%s is given twice", key);
		d->has |= (uint32_t)1 << i;
		rc = i == 0 ? take_amount(s, &d->memory) : i == 1 ? scan_i64(s, &d->accelerators) :
			i == 2 ? scan_i64(s, &d->processors) : i == 3 ? take_list(s, d, take_node) :
			i == 4 ? take_list(s, d, take_edge) : scan_skip(s);
	}
	if (rc < 0 || scan_end(s) < 0)
		return -1;
	for (uint32_t i = 0; i < 5; i++)
		if (!(d->has >> i & 1))
			return scan_fail(s, "there is no %s", names[i]);
	if (d->accelerators < 0 || d->processors < 0 || d->accelerators > PLACE_DEVICES ||
		d->processors > PLACE_DEVICES || d->accelerators + d->processors < 1 ||
		d->accelerators + d->processors > PLACE_DEVICES)
		return scan_fail(s, "there must be 1 to %d devices", PLACE_DEVICES);
	return 0;
}

struct named {
	int64_t name;
	uint32_t number;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	return x->name != y->name ? (x->name < y->name ? -1 : 1) : (x->number > y->number) - (x->number < y->number);
}

static const struct named *find(const struct named *v, size_t n, int64_t name)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (v[middle].name < name)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && v[low].name == name ? &v[low] : NULL;
}

static void take_groups(struct place *p, const struct draft *d)
{
	struct named *color = MEM_NEW(d->n_nodes + 1, struct named);
	size_t n = 0;

	for (uint32_t v = 0; v < p->n_nodes; v++)
		if (d->node[v].has & COLOR)
			color[n++] = (struct named){d->node[v].color, v};
	if (n > 1)
		qsort(color, n, sizeof *color, by_name);
	for (size_t i = 0; i < n; i++) {
		p->n_groups += i == 0 || color[i].name != color[i - 1].name;
		p->group[color[i].number] = p->n_groups - 1;
	}
	for (uint32_t v = 0; v < p->n_nodes; v++)
		if (!(d->node[v].has & COLOR))
			p->group[v] = p->n_groups++;
	mem_free(color);
}

static int take_edges(struct place *p, const struct draft *d, const struct named *name, struct err *err)
{
	bool *known = MEM_NEW(p->n_nodes + 1, bool);
	int rc = 0;

	for (size_t i = 0; i < d->n_edges && rc == 0; i++) {
		const struct draft_edge *e = &d->edge[i];
		const struct named *from = find(name, d->n_nodes, e->from), *to = find(name, d->n_nodes, e->to);
		if (!from || !to) {
			rc = err_set(err, "edge %zu: there is no node %lld", i, (long long)(from ? e->to : e->from));
		} else if (known[from->number] && p->transfer[from->number] != e->cost) {
			rc = err_set(err, "edge %zu: the edges out of node "
				"%lld cost %g and %g, but it is one value that is "
				"transferred", i, (long long)e->from, p->transfer[from->number], e->cost);
		} else {
			known[from->number] = true;
			p->transfer[from->number] = e->cost;
			p->from[p->n_edges] = from->number;
			p->to[p->n_edges++] = to->number;
		}
	}
	mem_free(known);
	return rc;
}

static int build(struct place *p, const struct draft *d, struct err *err)
{
	struct named *name = MEM_NEW(d->n_nodes + 1, struct named);
	int rc = 0;

	place_alloc(p, (uint32_t)d->n_nodes, (uint32_t)d->n_edges);
	p->n_accelerators = (uint32_t)d->accelerators;
	p->n_devices = (uint32_t)(d->accelerators + d->processors);
	p->memory = d->memory;
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		const struct draft_node *n = &d->node[v];
		p->id[v] = n->id;
		p->time[0][v] = n->time[0];
		p->time[1][v] = n->time[1];
		p->size[v] = n->size;
		p->supported[v] = n->supported;
		if (n->has & HELD && !p->held)
			p->held = ARENA_NEW(&p->mem, p->n_nodes + 1, double);
		if (n->has & HELD)
			p->held[v] = n->held;
		name[v] = (struct named){n->id, v};
	}
	if (d->n_nodes > 1)
		qsort(name, d->n_nodes, sizeof *name, by_name);
	for (size_t i = 1; i < d->n_nodes && rc == 0; i++)
		if (name[i].name == name[i - 1].name)
			rc = err_set(err, "two nodes have the id %lld", (long long)name[i].name);
	take_groups(p, d);
	if (rc == 0)
		rc = take_edges(p, d, name, err);
	if (rc == 0)
		rc = place_finish(p, err);
	mem_free(name);
	return rc;
}

int place_parse(struct place *p, const void *text, size_t n, struct err *err)
{
	struct draft d = {0};
	struct scan s;
	int rc;

	*p = (struct place){0};
	scan_open(&s, text, n, err);
	rc = take_problem(&s, &d);
	if (rc == 0)
		rc = build(p, &d, err);
	if (rc < 0)
		place_release(p);
	mem_free(d.node);
	mem_free(d.edge);
	return rc;
}

bool place_looks_like(const void *text, size_t n)
{
	return memmem(text, n, "\"maxFPGAs\"", 10) != NULL;
}
