/*
 * cost_graph.c - reads the nodes of a CostGraphDef, and writes the program as HLO text.
 *
 * We read a few fields (fields.h) and skip all others. A file may list its nodes in any order; we write each node after
 * its inputs.
 */
#include "hlo/text/cost_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/talk.h"
#include "hlo/text/fields.h"

struct input {
	int64_t node, port;
	bool control;
};

struct node {
	char *name;
	int64_t id;
	uint32_t first_input, n_inputs, first_output, n_outputs;
	uint32_t waits; /* inputs whose nodes are not written yet */
	int line;
};

struct reader {
	struct fields f;
	struct node *node;
	struct input *input;
	int64_t *output;
	uint32_t n_nodes, n_inputs, n_outputs;
	size_t cap_nodes, cap_inputs, cap_outputs;
};

/* The two numbers that matter of input_info, or the one of output_info. */
static int read_info(struct reader *r, const char *first, int64_t *a, const char *second, int64_t *b)
{
	char close = fields_open(&r->f), word[FIELDS_WORD];
	int rc = close ? 0 : -1;

	while (rc == 0 && !fields_take(&r->f, close)) {
		if (fields_name(&r->f, word) < 0)
			return -1;
		if (strcmp(word, first) == 0)
			rc = fields_number(&r->f, a);
		else if (second && strcmp(word, second) == 0)
			rc = fields_number(&r->f, b);
		else
			rc = fields_skip(&r->f);
	}
	return rc;
}

static void add_input(struct reader *r, struct node *n, struct input in)
{
	MEM_GROW(&r->input, &r->cap_inputs, (size_t)r->n_inputs + 1);
	r->input[r->n_inputs++] = in;
	n->n_inputs++;
}

static int read_input(struct reader *r, struct node *n)
{
	struct input in = {0};

	if (read_info(r, "preceding_node", &in.node, "preceding_port", &in.port) < 0)
		return -1;
	add_input(r, n, in);
	return 0;
}

static int add_control(struct reader *r, struct node *n)
{
	struct input in = {.control = true};

	if (fields_integer(&r->f, &in.node) < 0)
		return -1;
	add_input(r, n, in);
	return 0;
}

static int read_control(struct reader *r, struct node *n)
{
	int rc = 0;

	if (!fields_take(&r->f, ':'))
		return fields_fail(&r->f, r->f.line, "a \":\" is missing", "");
	if (!fields_take(&r->f, '['))
		rc = add_control(r, n);
	else
		while (rc == 0 && !fields_take(&r->f, ']'))
			rc = add_control(r, n);
	return rc;
}

static int read_output(struct reader *r, struct node *n)
{
	int64_t size = 0;

	if (read_info(r, "size", &size, NULL, NULL) < 0)
		return -1;
	if (size < 0 || size > INT64_MAX / (2 * COST_GRAPH_UNIT))
		return fields_fail(&r->f, r->f.line, "no output has that size", "");
	MEM_GROW(&r->output, &r->cap_outputs, (size_t)r->n_outputs + 1);
	r->output[r->n_outputs++] = size;
	n->n_outputs++;
	return 0;
}

static int read_node(struct reader *r, struct node *n)
{
	char close = fields_open(&r->f), word[FIELDS_WORD], name[FIELDS_WORD] = "";
	int rc = close ? 0 : -1;

	*n = (struct node){.line = r->f.line, .first_input = r->n_inputs, .first_output = r->n_outputs};
	while (rc == 0 && !fields_take(&r->f, close)) {
		if (fields_name(&r->f, word) < 0)
			return -1;
		if (strcmp(word, "name") == 0)
			rc = fields_take(&r->f, ':') ? fields_string(&r->f, name)
				: fields_fail(&r->f, r->f.line, "a \":\" is missing", "");
		else if (strcmp(word, "id") == 0)
			rc = fields_number(&r->f, &n->id);
		else if (strcmp(word, "input_info") == 0)
			rc = read_input(r, n);
		else if (strcmp(word, "control_input") == 0)
			rc = read_control(r, n);
		else if (strcmp(word, "output_info") == 0)
			rc = read_output(r, n);
		else
			rc = fields_skip(&r->f);
	}
	n->name = mem_strdup(name);
	return rc;
}

static int read_nodes(struct reader *r)
{
	char word[FIELDS_WORD];
	int rc = 0;

	for (fields_blank(&r->f); rc == 0 && r->f.p < r->f.end; fields_blank(&r->f)) {
		if (fields_name(&r->f, word) < 0)
			return -1;
		if (strcmp(word, "node") != 0) {
			rc = fields_skip(&r->f);
			continue;
		}
		MEM_GROW(&r->node, &r->cap_nodes, (size_t)r->n_nodes + 1);
		memset(&r->node[r->n_nodes], 0, sizeof *r->node);
		rc = read_node(r, &r->node[r->n_nodes++]);
	}
	return rc == 0 && r->n_nodes == 0 ? fields_fail(&r->f, r->f.line, "there is no node", "") : rc;
}

struct numbered {
	int64_t id;
	uint32_t node;
};

static int by_id(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* From ids to numbers of nodes: input.node becomes one. */
static int resolve(struct reader *r)
{
	struct numbered *all = MEM_NEW(r->n_nodes, struct numbered);
	int rc = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		all[i] = (struct numbered){r->node[i].id, i};
	qsort(all, r->n_nodes, sizeof *all, by_id);
	for (uint32_t i = 1; i < r->n_nodes && rc == 0; i++)
		if (all[i].id == all[i - 1].id)
			rc = fields_fail(&r->f, r->node[all[i].node].line, "two nodes have the same id, one is ",
				r->node[all[i].node].name);
	for (uint32_t i = 0; i < r->n_nodes && rc == 0; i++)
		for (uint32_t k = 0; k < r->node[i].n_inputs && rc == 0; k++) {
			struct input *in = &r->input[r->node[i].first_input + k];
			struct numbered key = {in->node, 0};
			const struct numbered *from = bsearch(&key, all, r->n_nodes, sizeof *all, by_id);
			if (!from)
				rc = fields_fail(&r->f, r->node[i].line, "an input is of a node that is not there, of ",
					r->node[i].name);
			else if (!in->control && (in->port < 0 || in->port >= r->node[from->node].n_outputs))
				rc = fields_fail(&r->f, r->node[i].line,
					"an input is of an output that is not there, of ", r->node[i].name);
			else
				in->node = from->node;
		}
	mem_free(all);
	return rc;
}

static void write_operands(const struct reader *r, const struct node *n, struct buf *out)
{
	const char *comma = "";

	for (uint32_t k = 0; k < n->n_inputs; k++) {
		const struct input *in = &r->input[n->first_input + k];
		if (in->control)
			continue;
		buf_addf(out, "%sn%" PRId64, comma, in->node);
		if (r->node[in->node].n_outputs > 1)
			buf_addf(out, "_%" PRId64, in->port);
		comma = ", ";
	}
}

static void write_controls(const struct reader *r, const struct node *n, struct buf *out)
{
	const char *comma = "";

	for (uint32_t k = 0; k < n->n_inputs; k++) {
		const struct input *in = &r->input[n->first_input + k];
		if (!in->control)
			continue;
		buf_addf(out, "%sn%" PRId64, *comma ? comma : ", control-predecessors={", in->node);
		comma = ", ";
	}
	buf_adds(out, *comma ? "}" : "");
}

/* One array, or a tuple and its elements. */
static void write_node(const struct reader *r, uint32_t i, int64_t unit, struct buf *out)
{
	const struct node *n = &r->node[i];
	const int64_t *size = n->n_outputs ? r->output + n->first_output : NULL;

	buf_addf(out, " n%" PRIu32 " = %s", i, n->n_outputs > 1 ? "(" : n->n_outputs ? "" : "u8[0]{0}");
	for (uint32_t k = 0; k < n->n_outputs; k++)
		buf_addf(out, "%su8[%" PRId64 "]{0}", k ? ", " : "", size[k] * unit);
	buf_addf(out, "%s custom-call(", n->n_outputs > 1 ? ")" : "");
	write_operands(r, n, out);
	buf_adds(out, "), custom_call_target=\"op\"");
	write_controls(r, n, out);
	buf_addf(out, ", metadata={op_name=\"%s\"}\n", n->name);
	for (uint32_t k = 0; n->n_outputs > 1 && k < n->n_outputs; k++)
		buf_addf(out, " n%" PRIu32 "_%" PRIu32 " = u8[%" PRId64 "]{0} get-tuple-element(n%" PRIu32
			"), index=%" PRIu32 "\n", i, k, size[k] * unit, i, k);
}

/* All nodes, each behind its inputs. */
static int write_nodes(struct reader *r, int64_t unit, struct buf *out)
{
	uint32_t *first = MEM_NEW((size_t)r->n_nodes + 1, uint32_t), *user = MEM_NEW(r->n_inputs, uint32_t);
	uint32_t n = 0, *ready = MEM_NEW(r->n_nodes, uint32_t), *at = MEM_NEW(r->n_nodes, uint32_t);
	int rc = 0;

	for (uint32_t k = 0; k < r->n_inputs; k++)
		first[r->input[k].node + 1]++;
	for (uint32_t i = 0; i < r->n_nodes; i++) {
		first[i + 1] += first[i];
		at[i] = first[i];
	}
	for (uint32_t i = 0; i < r->n_nodes; i++) {
		r->node[i].waits = r->node[i].n_inputs;
		for (uint32_t k = 0; k < r->node[i].n_inputs; k++)
			user[at[r->input[r->node[i].first_input + k].node]++] = i;
		if (!r->node[i].waits)
			ready[n++] = i;
	}
	for (uint32_t done = 0; done < n; done++) {
		write_node(r, ready[done], unit, out);
		for (uint32_t k = first[ready[done]]; k < first[ready[done] + 1]; k++)
			if (--r->node[user[k]].waits == 0)
				ready[n++] = user[k];
	}
	for (uint32_t i = 0; n < r->n_nodes && i < r->n_nodes && rc == 0; i++)
		if (r->node[i].waits)
			rc = fields_fail(&r->f, r->node[i].line, "nodes wait for each other in a circle, one is ",
				r->node[i].name);
	mem_free(first);
	mem_free(user);
	mem_free(ready);
	mem_free(at);
	return rc;
}

/* What nobody reads ends in one small result, so that nothing large is returned. */
static void write_root(const struct reader *r, struct buf *out)
{
	bool *read = MEM_NEW(r->n_outputs + 1, bool);
	const char *comma = "";

	for (uint32_t k = 0; k < r->n_inputs; k++)
		if (!r->input[k].control)
			read[r->node[r->input[k].node].first_output + r->input[k].port] = true;
	buf_adds(out, " ROOT all = u8[1]{0} custom-call(");
	for (uint32_t i = 0; i < r->n_nodes; i++)
		for (uint32_t k = 0; k < r->node[i].n_outputs; k++) {
			if (read[r->node[i].first_output + k])
				continue;
			buf_addf(out, "%sn%" PRIu32, comma, i);
			if (r->node[i].n_outputs > 1)
				buf_addf(out, "_%" PRIu32, k);
			comma = ", ";
		}
	buf_adds(out, "), custom_call_target=\"end\"\n}\n");
	mem_free(read);
}

bool cost_graph_is(const char *p, size_t n)
{
	struct err no = {0};
	struct fields f = {.p = p, .end = n ? p + n : p, .name = "", .line = 1, .err = &no};
	char word[FIELDS_WORD];

	fields_word(&f, word);
	if (strcmp(word, "node") != 0)
		return false;
	fields_take(&f, ':');
	if (!fields_take(&f, '{'))
		return false;
	fields_word(&f, word);
	return *word && (fields_take(&f, ':') || fields_take(&f, '{'));
}

int cost_graph_read(const char *p, size_t n, const char *name, struct buf *hlo, struct err *err)
{
	struct reader r = {.f = {.p = p, .end = n ? p + n : p, .name = name, .line = 1, .err = err}};
	int64_t most = 0;
	int rc = read_nodes(&r);

	if (rc == 0)
		rc = resolve(&r);
	for (uint32_t k = 0; k < r.n_outputs; k++)
		most = r.output[k] > most ? r.output[k] : most;
	if (rc == 0) {
		int64_t unit = most < COST_GRAPH_UNITS ? COST_GRAPH_UNIT : 1;
		if (unit > 1)
			talk("%s: no output is as large as %d, so sizes are taken for units of %d bytes, and all "
			     "figures count these",
				name, COST_GRAPH_UNITS, COST_GRAPH_UNIT);
		buf_adds(hlo, "HloModule cost_graph\nENTRY main {\n");
		rc = write_nodes(&r, unit, hlo);
		write_root(&r, hlo);
	}
	for (uint32_t i = 0; i < r.n_nodes; i++)
		mem_free(r.node[i].name);
	mem_free(r.node);
	mem_free(r.input);
	mem_free(r.output);
	return rc;
}
