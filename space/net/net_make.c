/*
 * net_make.c - makes the program that stands for a net: read from a file, cut out of one, or made up.
 *
 * A made-up net looks like a layered network that is to be sharded. A node is a tensor; a choice is how far it is split
 * and which way. Splitting saves memory and costs something; neighbours that are split differently pay for the change,
 * by their sizes; a few pairs are forbidden. What a choice costs depends on the kind of the layer, and a layer's kind
 * means the same in all made-up nets, so there is something to learn.
 *
 * A piece of a problem is what lies around a random node. Its limit is as tight as that of the whole: it leaves the
 * same share of the way from the least memory to what the cheapest choices need.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/rng.h"
#include "space/made.h"
#include "space/net/net_own.h"

#define MOST_MADE 100000 /* nodes of a made-up net */
#define KINDS 7	  /* of layers */
#define WIDTH 6   /* nodes of a layer */
#define WAYS 4    /* ways to split */
#define TIGHT 0.4 /* how far a made-up net's limit is from the least memory to what the cheapest choices need */

struct shape { /* of a made-up node */
	int64_t size;
	uint32_t kind, choices;
};

static uint32_t parts_of(uint32_t choice)
{
	return 1 + choice % 8;
}

static uint32_t way_of(uint32_t choice)
{
	return choice == 0 ? 0 : 1 + choice % (WAYS - 1);
}

/* A number from 0 to 1 that is the same in all nets. */
static double taste(uint64_t a, uint64_t b)
{
	return (double)(hash_mix(hash_mix(0x6e6574, a), b) >> 11) * 0x1p-53;
}

static int64_t own_cost(const struct shape *s, uint32_t k)
{
	return (int64_t)((double)s->size * (taste(s->kind, way_of(k)) + 0.2 * parts_of(k) * taste(s->kind, 99)));
}

static int64_t pair_cost(const struct shape *a, const struct shape *b, uint32_t k, uint32_t l)
{
	double size = (double)(a->size < b->size ? a->size : b->size);

	if (taste(a->kind * KINDS + b->kind, way_of(k) * 64 + way_of(l) * 8 + 5) < 0.03 && k && l)
		return NET_NEVER;
	if (way_of(k) == way_of(l))
		return (int64_t)(0.1 * size * abs((int)parts_of(k) - (int)parts_of(l)));
	return (int64_t)(size * (0.5 + taste(a->kind * KINDS + b->kind, way_of(k) * 8 + way_of(l))));
}

static void write_shapes(const struct shape *shape, uint32_t nodes, bool usages, struct buf *out)
{
	for (uint32_t i = 0; i < nodes; i++) {
		buf_adds(out, i ? ",[" : "[");
		for (uint32_t k = 0; k < shape[i].choices; k++)
			buf_addf(out, "%s%lld", k ? "," : "", (long long)(usages ? shape[i].size / parts_of(k)
				: own_cost(&shape[i], k)));
		buf_addch(out, ']');
	}
}

static void add_edge(const struct shape *shape, uint32_t a, uint32_t b, struct buf *nodes, struct buf *costs)
{
	buf_addf(nodes, "%s[%u,%u]", nodes->len ? "," : "", a, b);
	buf_adds(costs, costs->len ? ",[" : "[");
	for (uint32_t k = 0; k < shape[a].choices; k++)
		for (uint32_t l = 0; l < shape[b].choices; l++)
			buf_addf(costs, "%s%lld", k + l ? "," : "",
				(long long)pair_cost(&shape[a], &shape[b], k, l));
	buf_addch(costs, ']');
}

/* How long a node lives: mostly for the next layer, one in ten until the end of a backward pass. */
static void write_intervals(uint32_t nodes, struct rng *r, struct buf *out)
{
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t end = rng_below(r, 10) ? i + 2 * WIDTH : 2 * nodes - i;
		buf_addf(out, "%s[%u,%u]", i ? "," : "", i, end > i ? end : i + 1);
	}
}

/* The peak of memory if every node takes the choice that needs least memory, or costs least. */
static double peak_of(const struct network *net, bool by_memory)
{
	uint32_t *choice = MEM_NEW(net->n_nodes + 1, uint32_t);
	struct network_value v;

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		const int64_t *of = (by_memory ? net->usage : net->cost) + net->first[i];
		for (uint32_t k = 1; k < network_choices(net, i); k++)
			choice[i] = of[k] < of[choice[i]] ? k : choice[i];
	}
	v = network_value(net, choice);
	mem_free(choice);
	return v.peak_time == INT64_MIN ? 0 : (double)v.peak;
}

/* Appends the problem again, now with a limit between the least memory and what the cheapest choices need. */
static void write_limited(struct buf *free_of_limits, struct buf *text)
{
	struct network net;
	struct err err = {0};
	double low;

	if (network_parse(&net, free_of_limits->data, free_of_limits->len, &err) < 0)
		BUG("a made-up net: %s", err.text);
	low = peak_of(&net, true);
	net.limited = true;
	net.limit = (int64_t)(low + TIGHT * fmax(peak_of(&net, false) - low, 0));
	network_write(&net, text);
	network_release(&net);
}

void net_layered(uint32_t nodes, uint32_t choices, uint64_t seed, struct buf *text)
{
	struct shape *shape = MEM_NEW(nodes + 1, struct shape);
	struct buf ends = {0}, costs = {0}, whole = {0}, *out = &whole;
	uint32_t kinds[WIDTH];
	struct rng r;

	rng_seed2(&r, seed, 0x6e6574);
	for (uint32_t i = 0; i < WIDTH; i++)
		kinds[i] = (uint32_t)rng_below(&r, KINDS);
	for (uint32_t i = 0; i < nodes; i++) {
		double size = 1000 * pow(1 - rng_unit(&r), -0.7);
		shape[i] = (struct shape){size < 1e9 ? (int64_t)size : 1000000000, kinds[i % WIDTH],
			choices - (uint32_t)rng_below(&r, choices > 2 ? choices / 2 : 1)};
	}
	buf_addf(out, "{\"problem\": {\"name\": \"layered %u %u %llu\", \"nodes\": {\"intervals\": [", nodes, choices,
		(unsigned long long)seed);
	write_intervals(nodes, &r, out);
	buf_adds(out, "], \"costs\": [");
	write_shapes(shape, nodes, false, out);
	buf_adds(out, "], \"usages\": [");
	write_shapes(shape, nodes, true, out);
	for (uint32_t i = 1; i < nodes; i++) {
		add_edge(shape, i - 1 - (uint32_t)rng_below(&r, i < WIDTH ? i : WIDTH), i, &ends, &costs);
		if (i > 2 * WIDTH && rng_below(&r, 2))
			add_edge(shape, i - 1 - WIDTH - (uint32_t)rng_below(&r, WIDTH), i, &ends, &costs);
	}
	buf_addf(out, "]}, \"edges\": {\"nodes\": [%s], \"costs\": [%s]}}}\n", ends.len ? ends.data : "",
		costs.len ? costs.data : "");
	write_limited(out, text);
	buf_release(out);
	buf_release(&ends);
	buf_release(&costs);
	mem_free(shape);
}

/* Takes nodes around a random one, nearest first, until there are enough; these get new numbers, all others NONE. */
static uint32_t pick_piece(const struct network *net, uint32_t nodes, uint64_t seed, uint32_t *number)
{
	struct tally t;
	uint32_t *queue = MEM_NEW(net->n_nodes + 1, uint32_t), n = 0, head = 0, taken = 0;
	struct rng r;

	rng_seed2(&r, seed, 0x637574);
	tally_init(&t, net);
	for (uint32_t i = 0; i < net->n_nodes; i++)
		number[i] = NONE;
	nodes = nodes < net->n_nodes ? nodes : net->n_nodes;
	while (n < nodes) {
		uint32_t i;
		if (head == n) { /* a new place to begin */
			do
				i = (uint32_t)rng_below(&r, net->n_nodes);
			while (number[i] != NONE);
			number[i] = 0;
			queue[n++] = i;
		}
		i = queue[head++];
		for (uint32_t e = t.edge_first[i]; e < t.edge_first[i + 1] && n < nodes; e++) {
			const struct network_edge *x = &net->edge[t.edge_of[e]];
			uint32_t o = x->a == i ? x->b : x->a;
			if (number[o] == NONE) {
				number[o] = 0;
				queue[n++] = o;
			}
		}
	}
	for (uint32_t i = 0; i < net->n_nodes; i++)
		if (number[i] != NONE)
			number[i] = taken++;
	tally_release(&t);
	mem_free(queue);
	return taken;
}

/* Makes a net of the nodes that have a number; the costs of pairs stay the whole's. */
static void make_piece(const struct network *net, const uint32_t *number, uint32_t n, struct network *piece)
{
	struct arena *mem = &piece->mem;
	uint32_t at = 0, choices = 0;

	piece->n_nodes = n;
	piece->name = arena_printf(mem, "%u nodes of %s", n, net->name);
	piece->first = ARENA_NEW(mem, n + 1, uint32_t);
	piece->begin = ARENA_NEW(mem, n + 1, int64_t);
	piece->end = ARENA_NEW(mem, n + 1, int64_t);
	piece->cost = ARENA_NEW(mem, net->first[net->n_nodes] + 1, int64_t);
	piece->usage = ARENA_NEW(mem, net->first[net->n_nodes] + 1, int64_t);
	piece->edge = ARENA_NEW(mem, net->n_edges + 1, struct network_edge);
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		uint32_t k = network_choices(net, i);
		if (number[i] == NONE)
			continue;
		memcpy(piece->cost + choices, net->cost + net->first[i], k * sizeof *net->cost);
		memcpy(piece->usage + choices, net->usage + net->first[i], k * sizeof *net->usage);
		piece->begin[at] = net->begin[i];
		piece->end[at] = net->end[i];
		choices += k;
		piece->first[++at] = choices;
	}
	for (uint32_t e = 0; e < net->n_edges; e++) {
		const struct network_edge *x = &net->edge[e];
		if (number[x->a] != NONE && number[x->b] != NONE)
			piece->edge[piece->n_edges++] =
				(struct network_edge){number[x->a], number[x->b], x->cost};
	}
	piece->pair = net->pair;
}

void net_cut(const struct network *net, uint32_t nodes, uint64_t seed, struct buf *text)
{
	uint32_t *number = MEM_NEW(net->n_nodes + 1, uint32_t), n = pick_piece(net, nodes, seed, number);
	double least = peak_of(net, true), cheap = peak_of(net, false), low, high;
	struct network piece = {0};

	make_piece(net, number, n, &piece);
	low = peak_of(&piece, true);
	high = fmax(peak_of(&piece, false), low);
	piece.limited = net->limited && cheap > least && (double)net->limit < cheap;
	if (piece.limited)
		piece.limit = (int64_t)fmin(low + (high - low) * fmax((double)net->limit - least, 0) / (cheap - least),
			9e18);
	network_write(&piece, text);
	piece.pair = NULL;
	network_release(&piece);
	mem_free(number);
}

static int read_file(const char *path, struct network *net, struct buf *text, struct err *err)
{
	if (io_read_file(path, IO_FILE_LIMIT, text, err) < 0)
		return -1;
	if (!network_looks_like(text->data, text->len))
		return err_set(err, "%s is no problem of the iopddl contest, which begins with a \"problem\"", path);
	return network_parse(net, text->data, text->len, err) < 0 ? err_prefix(err, "%s", path) : 0;
}

static int find_text(const char *name, struct buf *text, struct err *err)
{
	struct buf whole = {0};
	struct network net = {0};
	uint64_t v[3] = {40, 4, 1};
	const char *rest = made_numbers(name, v, 3);
	int rc;

	if (rest && !*rest) {
		if (v[0] < 2 || v[0] > MOST_MADE || v[1] < 2 || v[1] > SPACE_CHOICES)
			return err_set(err, "net:%.60s: a made-up net has 2 to %d nodes with 2 to %d choices", name,
				MOST_MADE, SPACE_CHOICES);
		net_layered((uint32_t)v[0], (uint32_t)v[1], v[2], text);
		return 0;
	}
	if (strncmp(name, "cut:", 4) != 0)
		return read_file(name, &net, text, err) < 0 ? -1 : (network_release(&net), 0);
	rest = made_numbers(name + 4, v, 2);
	if (!rest || !*rest || v[0] < 1 || v[0] > NET_NODES)
		return err_set(err, "net:%.100s is not of the form net:cut:NODES:SEED:FILE", name);
	rc = read_file(rest, &net, &whole, err);
	if (rc == 0)
		net_cut(&net, (uint32_t)v[0], v[1], text);
	network_release(&net);
	buf_release(&whole);
	return rc;
}

/* An operand of a node is a neighbour with a smaller number, once each. */
static void write_program(const struct network *net, const struct buf *text, struct buf *module)
{
	struct made m = {0};
	struct tally t;
	uint32_t *operand = MEM_NEW(net->n_nodes + 1, uint32_t), *seen = MEM_NEW(net->n_nodes + 1, uint32_t);
	char number[16];

	tally_init(&t, net);
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		size_t n = 0;
		for (uint32_t e = t.edge_first[i]; e < t.edge_first[i + 1]; e++) {
			const struct network_edge *x = &net->edge[t.edge_of[e]];
			uint32_t o = x->a == i ? x->b : x->a;
			if (o < i && seen[o] != i + 1)
				operand[n++] = o;
			seen[o] = i + 1;
		}
		snprintf(number, sizeof number, "%u", i);
		made_call(&m, NET_TARGET, number, network_choices(net, i), operand, n);
	}
	made_end(&m, NET_PROBLEM, text->data, text->len, net->name, module);
	tally_release(&t);
	mem_free(operand);
	mem_free(seen);
}

int net_make(const char *program, struct buf *module, char *kind, struct err *err)
{
	struct buf text = {0};
	struct network net = {0};
	int rc = find_text(program + strlen("net:"), &text, err);

	if (rc == 0)
		rc = network_parse(&net, text.data, text.len, err);
	if (rc == 0) {
		write_program(&net, &text, module);
		strcpy(kind, "net");
	}
	network_release(&net);
	buf_release(&text);
	return rc;
}
