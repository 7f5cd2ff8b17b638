/*
 * make.c - makes the program that stands for a problem of placement: read from a file, cut out of one, or made up.
 *
 * The made-up ones are of the families that learned placers are trained on (REGAL's appendix): erdos (any earlier node,
 * with equal chance), small (near ones, some of them exchanged for any), attach (nodes with many readers get more),
 * blocks (communities), layers (of the layer before). Times, sizes and transfers are log-normal.
 *
 * A piece of a problem is what lies around a random group, and has as many devices; their memory is as tight as before,
 * by the sizes of all nodes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/io.h"
#include "base/json.h"
#include "base/rng.h"
#include "space/made.h"
#include "space/place/place_own.h"

#define MOST_MADE 1000000 /* nodes of a made-up problem */
#define DEGREE 3

static const char *const families[] = {"erdos", "small", "attach", "blocks", "layers"};
enum family { ERDOS, SMALL, ATTACH, BLOCKS, LAYERS, FAMILIES };

static double log_normal(struct rng *r, double mean)
{
	double a = 1 - rng_unit(r), b = rng_unit(r);

	return exp(mean + sqrt(-2 * log(a)) * cos(2 * M_PI * b));
}

/* Draws one node that v reads from; `end` holds both ends of all edges so far. */
static uint32_t draw_source(enum family f, uint32_t v, uint32_t n, struct rng *r, const uint32_t *end, size_t n_ends)
{
	uint32_t width = (uint32_t)sqrt(n) + 1, low;

	switch (f) {
	case SMALL:
		return rng_below(r, 10) == 0 || v < DEGREE ? (uint32_t)rng_below(r, v)
			: v - 1 - (uint32_t)rng_below(r, DEGREE);
	case ATTACH:
		return n_ends ? end[rng_below(r, n_ends)] : 0;
	case BLOCKS:
		low = v - v % (n / 16 + 1);
		return v > low && rng_below(r, 20) ? low + (uint32_t)rng_below(r, v - low) : (uint32_t)rng_below(r, v);
	case LAYERS:
		low = v - v % width;
		return low < width ? (uint32_t)rng_below(r, v) : low - width + (uint32_t)rng_below(r, width);
	default:
		return (uint32_t)rng_below(r, v);
	}
}

static void add_edge(struct buf *out, uint32_t from, uint32_t to, double cost)
{
	buf_addf(out, "%s{\"sourceId\": %u, \"destId\": %u, \"cost\": %.6g}", out->len ? "," : "", from, to, cost);
}

int place_family(const char *family, uint32_t nodes, uint32_t devices, uint64_t seed, struct buf *text)
{
	uint32_t *end = MEM_NEW(2 * DEGREE * (size_t)nodes + 1, uint32_t);
	double *cost = MEM_NEW(nodes + 1, double), size = 0;
	struct buf node = {0}, edge = {0};
	enum family f = 0;
	size_t n_ends = 0;
	struct rng r;

	while (f < FAMILIES && strcmp(families[f], family) != 0)
		f++;
	rng_seed2(&r, seed, 0x706c616365 + f);
	for (uint32_t v = 0; v < nodes; v++) {
		double time = log_normal(&r, 0), own = log_normal(&r, 10);
		uint32_t source[DEGREE];
		cost[v] = log_normal(&r, -2);
		size += own;
		buf_addf(&node, "%s{\"id\": %u, \"fpgaLatency\": %.6g, \"cpuLatency\": %.6g, \"size\": %.6g}",
			v ? "," : "", v, time, 10 * time, own);
		for (int k = 0; k < DEGREE && v; k++) {
			uint32_t u = draw_source(f, v, nodes, &r, end, n_ends);
			add_edge(&edge, u, v, cost[u]);
			source[k] = u;
		}
		for (int k = 0; k < DEGREE && v; k++) { /* only now, so that nobody reads itself */
			end[n_ends++] = source[k];
			end[n_ends++] = v;
		}
	}
	buf_addf(text,
		"{\"maxSizePerFPGA\": %.6g, \"maxFPGAs\": %u, \"maxCPUs\": 1, \"nodes\": [%s], \"edges\": [%s]}\n",
		2 * size / (devices - 1), devices - 1, node.len ? node.data : "", edge.len ? edge.data : "");
	mem_free(end);
	mem_free(cost);
	buf_release(&node);
	buf_release(&edge);
	return f < FAMILIES ? 0 : -1;
}

/* Takes groups around a random one, nearest first, until they have enough nodes. */
static void pick_piece(const struct place *p, uint32_t nodes, uint64_t seed, bool *taken)
{
	uint32_t *queue = MEM_NEW(p->n_groups + 1, uint32_t), n = 0, head = 0, count = 0;
	bool *seen = MEM_NEW(p->n_groups + 1, bool);
	struct rng r;

	rng_seed2(&r, seed, 0x637574);
	while (count < nodes && count < p->n_nodes) {
		uint32_t g;
		if (head == n) { /* a new place to begin */
			do
				g = (uint32_t)rng_below(&r, p->n_groups);
			while (seen[g]);
			seen[g] = true;
			queue[n++] = g;
		}
		g = queue[head++];
		taken[g] = true;
		count += p->group_first[g + 1] - p->group_first[g];
		for (uint32_t i = p->group_first[g]; i < p->group_first[g + 1]; i++) {
			uint32_t v = p->member[i], ins = p->in_first[v + 1] - p->in_first[v];
			uint32_t all = ins + p->out_first[v + 1] - p->out_first[v];
			for (uint32_t k = 0; k < all; k++) {
				uint32_t o = p->group[k < ins ? p->in[p->in_first[v] + k]
					: p->out[p->out_first[v] + k - ins]];
				if (!seen[o])
					queue[n++] = o;
				seen[o] = true;
			}
		}
	}
	mem_free(queue);
	mem_free(seen);
}

static void write_node(const struct place *p, uint32_t v, struct json *j)
{
	json_object(j, NULL);
	json_int(j, "id", p->id[v]);
	json_bool(j, "supportedOnFpga", p->supported[v]);
	json_num(j, "fpgaLatency", p->time[0][v]);
	json_num(j, "cpuLatency", p->time[1][v]);
	json_num(j, "size", p->size[v]);
	json_uint(j, "colorClass", p->group[v]);
	json_end(j);
}

void place_cut(const struct place *p, uint32_t nodes, uint64_t seed, struct buf *text)
{
	bool *taken = MEM_NEW(p->n_groups + 1, bool);
	struct json j = {.out = text};
	double all = 0, part = 0;

	pick_piece(p, nodes, seed, taken);
	for (uint32_t v = 0; v < p->n_nodes; v++) {
		all += p->size[v];
		part += taken[p->group[v]] ? p->size[v] : 0;
	}
	json_object(&j, NULL);
	json_num(&j, "maxSizePerFPGA", all > 0 ? p->memory * part / all : p->memory);
	json_uint(&j, "maxFPGAs", p->n_accelerators);
	json_uint(&j, "maxCPUs", p->n_devices - p->n_accelerators);
	json_array(&j, "nodes");
	for (uint32_t v = 0; v < p->n_nodes; v++)
		if (taken[p->group[v]])
			write_node(p, v, &j);
	json_end(&j);
	json_array(&j, "edges");
	for (uint32_t v = 0; v < p->n_nodes; v++)
		for (uint32_t k = p->out_first[v]; k < p->out_first[v + 1]; k++) {
			if (!taken[p->group[v]] || !taken[p->group[p->out[k]]])
				continue;
			json_object(&j, NULL);
			json_int(&j, "sourceId", p->id[v]);
			json_int(&j, "destId", p->id[p->out[k]]);
			json_num(&j, "cost", p->transfer[v]);
			json_end(&j);
		}
	json_end(&j);
	json_end(&j);
	mem_free(taken);
}

static int read_file(const char *path, struct buf *text, struct err *err)
{
	if (io_read_file(path, IO_FILE_LIMIT, text, err) < 0)
		return -1;
	return place_looks_like(text->data, text->len) ? 0 : err_set(err,
		"%s is no problem of dnn-partitioning, which says \"maxFPGAs\"", path);
}

static int cut_file(const char *name, struct buf *text, struct err *err)
{
	uint64_t v[2];
	const char *path = made_numbers(name, v, 2);
	struct buf whole = {0};
	struct place p = {0};
	int rc;

	if (!path || !*path || v[0] < 1 || v[0] > PLACE_NODES)
		return err_set(err, "place:cut:%.80s is not of the form place:cut:NODES:SEED:FILE", name);
	rc = read_file(path, &whole, err);
	if (rc == 0 && place_parse(&p, whole.data, whole.len, err) < 0)
		rc = err_prefix(err, "%s", path);
	if (rc == 0)
		place_cut(&p, (uint32_t)v[0], v[1], text);
	place_release(&p);
	buf_release(&whole);
	return rc;
}

/* The text of a problem by what follows the kind and the goal in its name. */
static int find_text(const char *name, struct buf *text, struct err *err)
{
	const char *family = families[LAYERS], *rest = name;
	uint64_t v[3];

	if (strncmp(name, "cut:", 4) == 0)
		return cut_file(name + 4, text, err);
	for (int f = 0; f < FAMILIES; f++) {
		size_t n = strlen(families[f]);
		if (strncmp(name, families[f], n) == 0 && name[n] == ':') {
			family = families[f];
			rest = name + n + 1;
		}
	}
	rest = made_numbers(rest, v, 3);
	if (!rest || *rest)
		return read_file(name, text, err);
	if (v[0] < 2 || v[0] > MOST_MADE || v[1] < 2 || v[1] > PLACE_DEVICES)
		return err_set(err, "place:%.60s: a made-up problem has 2 to %d nodes on 2 to %d devices", name,
			MOST_MADE, PLACE_DEVICES);
	return place_family(family, (uint32_t)v[0], (uint32_t)v[1], v[2], text);
}

static void write_program(const struct place *p, const struct buf *text, const char *name, struct buf *module)
{
	struct made m = {0};
	uint32_t *number = MEM_NEW(p->n_nodes + 1, uint32_t), *operand = MEM_NEW(p->n_nodes + 1, uint32_t);
	char digits[16];

	for (uint32_t i = 0; i < p->n_nodes; i++) { /* a call comes after what it reads */
		uint32_t v = p->order[i], n = 0;
		number[v] = i;
		for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++)
			operand[n++] = number[p->in[k]];
		snprintf(digits, sizeof digits, "%u", v);
		made_call(&m, PLACE_TARGET, digits, (int64_t)fmin(p->size[v], 1e15), operand, n);
	}
	made_end(&m, PLACE_PROBLEM, text->data, text->len, name, module);
	mem_free(number);
	mem_free(operand);
}

int place_make(const char *program, struct buf *module, char *kind, struct err *err)
{
	static const char *const goals[] = {"load", "latency", "time"};
	const char *name = program + strlen("place:"), *goal = goals[0];
	struct buf text = {0};
	struct place p = {0};
	int rc;

	for (int i = 0; i < 3; i++) {
		size_t n = strlen(goals[i]);
		if (strncmp(name, goals[i], n) == 0 && name[n] == ':') {
			goal = goals[i];
			name += n + 1;
			break;
		}
	}
	rc = find_text(name, &text, err);
	if (rc == 0 && place_parse(&p, text.data, text.len, err) < 0)
		rc = err_prefix(err, "%s", program);
	if (rc == 0) {
		write_program(&p, &text, name, module);
		snprintf(kind, SPACE_KIND_ROOM, "place:%s", goal);
	}
	place_release(&p);
	buf_release(&text);
	return rc;
}
