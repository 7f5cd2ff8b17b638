/*
 * describe.c - describes a graph in words and in JSON; both say the same.
 *
 * Figures are per run of the program. What stands in a loop counts once per round, and in a branch as often as it
 * was noted to be taken. If the number of rounds is unknown it counts once, and the text says "at least".
 */
#include "graph/describe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "graph/turns.h"

#define TUPLE_SHOWN 8 /* elements of a tuple's shape */

struct summary { /* of one run of the program */
	uint32_t control, fused, applied, dead; /* computations by role, without the entry */
	uint32_t parameters, unknown_loops;	/* of the entry; loops that count as one round */
	uint64_t parameter_bytes, result_bytes, constant_bytes;
	double flops;	/* work.c's weighted operations */
	double written; /* bytes of all results of compiled computations, loops included */
};

static void summarise(const struct graph *g, struct summary *s)
{
	*s = (struct summary){0};
	for (uint32_t c = 0; c < g->n_comps; c++) {
		s->control += g->comp[c].role == ROLE_CONTROL;
		s->fused += g->comp[c].role == ROLE_FUSED;
		s->applied += g->comp[c].role == ROLE_APPLIED;
		s->dead += g->comp[c].role == ROLE_DEAD;
	}
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		const struct comp *c = &g->comp[n->comp];
		if (n->opcode == OP_CONSTANT && c->role != ROLE_DEAD)
			s->constant_bytes += n->bytes;
		s->unknown_loops += n->opcode == OP_WHILE && n->trip_count < 0 && c->role != ROLE_DEAD;
		if (comp_is_compiled(c) && node_is_kernel(g, v))
			s->written += (double)n->bytes * c->trips;
		if (n->comp != g->entry)
			continue;
		s->flops += n->flops;
		if (n->opcode == OP_PARAMETER) {
			s->parameters++;
			s->parameter_bytes += n->bytes;
		}
	}
	s->result_bytes = g->node[g->comp[g->entry].root].bytes;
}

void describe_shape(const Hlo__ShapeProto *shape, struct buf *out)
{
	if (shape->element_type == DT_TUPLE) {
		buf_addch(out, '(');
		for (size_t i = 0; i < shape->n_tuple_shapes && i < TUPLE_SHOWN; i++) {
			buf_adds(out, i ? ", " : "");
			describe_shape(shape->tuple_shapes[i], out);
		}
		if (shape->n_tuple_shapes > TUPLE_SHOWN)
			buf_addf(out, ", ... %zu in all", shape->n_tuple_shapes);
		buf_addch(out, ')');
		return;
	}
	buf_addf(out, "%s[", dtype_name((uint8_t)shape->element_type));
	for (size_t i = 0; i < shape->n_dimensions; i++)
		buf_addf(out, "%s%" PRId64, i ? "," : "", shape->dimensions[i]);
	buf_addch(out, ']');
}

static void scaled(double x, double base, const char *const *unit, size_t n, struct buf *out)
{
	size_t i = 0;
	for (; i + 1 < n && x >= 1000; i++)
		x /= base;
	buf_addf(out, i && x < 99.95 ? "%.1f%s" : "%.0f%s", x, unit[i]);
}

static void add_si(double x, struct buf *out)
{
	static const char *const unit[] = {"", " k", " M", " G", " T", " P", " E"};
	scaled(x, 1000, unit, sizeof(unit) / sizeof(*unit), out);
}

static void add_bytes(double x, struct buf *out)
{
	static const char *const unit[] = {" bytes", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
	scaled(x, 1024, unit, sizeof(unit) / sizeof(*unit), out);
}

struct tally {
	uint16_t opcode;
	uint32_t count;
	double flops;
};

static int by_count(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(opcode_name(x->opcode), opcode_name(y->opcode));
}

/* Counts the opcodes that occur, the most frequent first; `t` has OP_COUNT + 1 places. */
static size_t tally(const struct graph *g, struct tally *t)
{
	size_t n = 0;
	for (uint16_t op = 0; op <= OP_COUNT; op++)
		t[op] = (struct tally){.opcode = op};
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct comp *c = &g->comp[g->node[v].comp];
		t[g->node[v].opcode].count++;
		if (comp_is_compiled(c) && node_is_kernel(g, v)) /* loops count in their bodies */
			t[g->node[v].opcode].flops += g->node[v].flops * c->trips;
	}
	for (uint16_t op = 0; op <= OP_COUNT; op++)
		if (t[op].count)
			t[n++] = t[op];
	qsort(t, n, sizeof(*t), by_count);
	return n;
}

static void text_opcodes(const struct graph *g, struct buf *out)
{
	struct tally t[OP_COUNT + 1];
	size_t n = tally(g, t);
	buf_adds(out, "\noperations              count    work\n");
	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "  %-20s %6" PRIu32 "    ", opcode_name(t[i].opcode), t[i].count);
		if (t[i].flops > 0)
			add_si(t[i].flops, out);
		buf_addch(out, '\n');
	}
}

static void text_loops(const struct graph *g, struct buf *out)
{
	bool first = true;
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		if (n->opcode != OP_WHILE || g->comp[n->comp].role == ROLE_DEAD)
			continue;
		if (first)
			buf_adds(out, "\nloops\n");
		first = false;
		buf_addf(out, "  %-20s ", n->proto->name);
		if (n->trip_count >= 0)
			buf_addf(out, "%.0f rounds", n->trip_count);
		else
			buf_adds(out, "rounds unknown");
		buf_addf(out, ", body of %" PRIu32 " instructions", g->comp[node_calls(g, v)[0]].n_nodes);
		if (g->comp[n->comp].trips > 1)
			buf_addf(out, ", itself entered %.0f times", g->comp[n->comp].trips);
		buf_addch(out, '\n');
	}
}

/* Is it a conditional whose branches were counted? */
static bool was_counted(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	return n->opcode == OP_CONDITIONAL && g->comp[n->comp].role != ROLE_DEAD && turns_noted(n->proto, 0) >= 0;
}

static void text_conditionals(const struct graph *g, struct buf *out)
{
	bool first = true;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		if (!was_counted(g, v))
			continue;
		buf_addf(out, "%s  %-20s branches taken", first ? "\nconditionals\n" : "", n->proto->name);
		first = false;
		for (uint32_t k = 0; k < n->n_called; k++)
			buf_addf(out, "%s %.3g%%", k ? "," : "", 100 * turns_noted(n->proto, k));
		if (g->comp[n->comp].trips != 1)
			buf_addf(out, ", itself entered %.3g times", g->comp[n->comp].trips);
		buf_addch(out, '\n');
	}
}

void describe_text(const struct graph *g, struct buf *out)
{
	struct summary s;
	char hex[65];
	summarise(g, &s);
	digest_hex(&g->content, hex);
	buf_addf(out, "%s\n", *g->name ? g->name : "(no name)");
	buf_addf(out, "  instructions  %" PRIu32 " in %" PRIu32 " computations (", g->n_nodes, g->n_comps);
	buf_addf(out, "the entry, %" PRIu32 " control, %" PRIu32 " fused, %" PRIu32 " applied", s.control,
		s.fused, s.applied);
	if (s.dead)
		buf_addf(out, ", %" PRIu32 " never called", s.dead);
	buf_addf(out, ")\n  parameters    %" PRIu32 ", ", s.parameters);
	add_bytes((double)s.parameter_bytes, out);
	buf_adds(out, "; results ");
	add_bytes((double)s.result_bytes, out);
	buf_adds(out, "; constants ");
	add_bytes((double)s.constant_bytes, out);
	buf_addf(out, "\n  one run       %s", s.unknown_loops ? "at least " : "");
	add_si(s.flops, out);
	buf_adds(out, " operations, ");
	add_bytes(s.written, out);
	buf_addf(out, " written if nothing were fused\n  content       %s\n", hex);
	text_loops(g, out);
	text_conditionals(g, out);
	text_opcodes(g, out);
}

static void json_loops(const struct graph *g, struct json *j)
{
	json_array(j, "loops");
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		if (n->opcode != OP_WHILE || g->comp[n->comp].role == ROLE_DEAD)
			continue;
		json_object(j, NULL);
		json_str(j, "name", n->proto->name);
		if (n->trip_count >= 0)
			json_num(j, "trip_count", n->trip_count);
		else
			json_str(j, "trip_count", NULL);
		json_uint(j, "body_instructions", g->comp[node_calls(g, v)[0]].n_nodes);
		json_num(j, "entered", g->comp[n->comp].trips);
		json_num(j, "flops", n->flops);
		json_end(j);
	}
	json_end(j);
}

static void json_conditionals(const struct graph *g, struct json *j)
{
	json_array(j, "conditionals");
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		if (!was_counted(g, v))
			continue;
		json_object(j, NULL);
		json_str(j, "name", n->proto->name);
		json_array(j, "runs");
		for (uint32_t k = 0; k < n->n_called; k++)
			json_num(j, NULL, turns_noted(n->proto, k));
		json_end(j);
		json_num(j, "entered", g->comp[n->comp].trips);
		json_end(j);
	}
	json_end(j);
}

void describe_json(const struct graph *g, struct json *j)
{
	struct summary s;
	struct tally t[OP_COUNT + 1];
	char hex[65];
	summarise(g, &s);
	digest_hex(&g->content, hex);
	json_str(j, "name", g->name);
	json_str(j, "content_hash", hex);
	json_uint(j, "instructions", g->n_nodes);
	json_uint(j, "computations", g->n_comps);
	json_object(j, "roles");
	json_uint(j, "entry", 1);
	json_uint(j, "control", s.control);
	json_uint(j, "fused", s.fused);
	json_uint(j, "applied", s.applied);
	json_uint(j, "dead", s.dead);
	json_end(j);
	json_uint(j, "entry_instructions", g->comp[g->entry].n_nodes);
	json_uint(j, "operands", g->n_edges);
	json_uint(j, "parameters", s.parameters);
	json_uint(j, "bytes", s.parameter_bytes);
	json_uint(j, "result_bytes", s.result_bytes);
	json_uint(j, "constant_bytes", s.constant_bytes);
	json_num(j, "written_bytes", s.written);
	json_num(j, "flops", s.flops);
	json_uint(j, "unknown_loops", s.unknown_loops);
	json_object(j, "opcodes");
	size_t n = tally(g, t);
	for (size_t i = 0; i < n; i++)
		json_uint(j, opcode_name(t[i].opcode), t[i].count);
	json_end(j);
	json_loops(g, j);
	json_conditionals(g, j);
}

static bool matches(struct re *re, const char *text)
{
	return text && re_match(re, text, strlen(text));
}

static bool wanted(const struct node *n, struct re *re)
{
	const Hlo__OpMetadata *m = n->proto->metadata;
	return matches(re, n->proto->name) || (m && (matches(re, m->op_name) || matches(re, m->source_file)));
}

void describe_nodes_text(const struct graph *g, struct re *re, struct buf *out)
{
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		const Hlo__OpMetadata *m = n->proto->metadata;
		if (!wanted(n, re))
			continue;
		buf_addf(out, "%-28s %-18s ", n->proto->name, n->proto->opcode);
		describe_shape(n->proto->shape, out);
		buf_addf(out, "  %" PRIu32 " users", n->n_users);
		if (n->flops > 0) {
			buf_adds(out, "  work ");
			add_si(n->flops, out);
		}
		if (n->comp != g->entry)
			buf_addf(out, "  in %s", g->comp[n->comp].proto->name);
		if (m && *m->op_name)
			buf_addf(out, "  %s", m->op_name);
		buf_addch(out, '\n');
	}
}

void describe_nodes_json(const struct graph *g, struct re *re, struct json *j)
{
	struct buf shape = {0};
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		if (!wanted(n, re))
			continue;
		buf_reset(&shape);
		describe_shape(n->proto->shape, &shape);
		json_object(j, NULL);
		json_uint(j, "node", v);
		json_str(j, "name", n->proto->name);
		json_str(j, "opcode", n->proto->opcode);
		json_str(j, "shape", shape.data);
		json_str(j, "computation", g->comp[n->comp].proto->name);
		json_uint(j, "operands", n->n_operands);
		json_uint(j, "users", n->n_users);
		json_uint(j, "bytes", n->bytes);
		json_num(j, "flops", n->flops);
		json_str(j, "op_name", n->proto->metadata ? n->proto->metadata->op_name : "");
		json_end(j);
	}
	buf_release(&shape);
}
