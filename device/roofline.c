/*
 * roofline.c - a performance model of compiled programs.
 *
 * A program takes `start`, plus the sum over its kernels of `launch` and the longer of work and traffic, each counted
 * as often as the kernel's computation runs. node_is_kernel (graph/graph.h) says what a kernel is.
 *
 *	work	 elements computed times what one costs, over the rate of generated code; elements
 *		 fetched, over the rate of loads; products and convolutions on their own are done by a
 *		 library, at a rate of their own
 *	traffic	 bytes of all distinct values read, no more of each than is asked for, and of the result,
 *		 over the bandwidth of the smallest cache that all of it fits into
 *
 * Inside a fusion, code is generated element by element: an element of the root asks its operands for the elements it
 * needs, and so on. Nothing is remembered, except what several elementwise readers ask for at the same place. So a
 * value is computed again each time if an instruction reads its operand more than once (a broadcast does, a reduction
 * does not). That makes some fusions bad, and a search worthwhile.
 *
 * Every kernel is priced by itself, so the difference of a region is exactly that of the whole programs. Caches carry
 * nothing from one kernel to the next, and nothing runs side by side.
 */
#include "device/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/opt.h"

#define DESCRIPTION_LIMIT ((size_t)1 << 20)

const struct roofline roofline_default = {
#define SIM(field, key, dflt, ...) .field = dflt,
#include "schemas/sim.def"
#undef SIM
};

static const char *const keys[] = {
#define SIM(field, key, ...) key,
#include "schemas/sim.def"
#undef SIM
};
#define N_KEYS (sizeof keys / sizeof *keys)

static int set_key(struct roofline *m, const char *key, double value)
{
#define SIM(field, name, ...)          \
	if (strcmp(key, name) == 0) {  \
		m->field = value;      \
		return 0;              \
	}
#include "schemas/sim.def"
#undef SIM
	return -1;
}

/* Cuts the white space off both ends, in place. */
static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t\r");
	n = strlen(s);
	while (n && strchr(" \t\r", s[n - 1]))
		s[--n] = 0;
	return s;
}

static int parse_line(struct roofline *m, char *line, const char *name, int number, struct err *err)
{
	char *equals, *key, *text, *end;
	double value;

	line[strcspn(line, "#")] = 0;
	line = trim(line);
	if (!*line)
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return err_set(err, "%s, line %d: \"%.60s\" is not of the form key = number", name, number, line);
	*equals = 0;
	key = trim(line);
	text = trim(equals + 1);
	value = strtod(text, &end);
	if (end == text || *end || !isfinite(value) || value <= 0)
		return err_set(err, "%s, line %d: %.60s is \"%.60s\", not a positive number", name, number, key, text);
	if (set_key(m, key, value) < 0) {
		const char *near = opt_nearest(key, keys, N_KEYS);
		return err_set(err, "%s, line %d: a device description knows no %.60s%s%s%s", name, number, key,
			near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	}
	return 0;
}

int roofline_parse(struct roofline *m, const char *text, const char *name, struct err *err)
{
	char *copy = mem_strdup(text), *line = copy;
	int rc = 0;

	for (int number = 1; line && rc == 0; number++) {
		char *next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		rc = parse_line(m, line, name, number, err);
		line = next;
	}
	mem_free(copy);
	return rc;
}

int roofline_read(struct roofline *m, const char *path, struct err *err)
{
	struct buf text = {0};
	int rc = io_read_file(path, DESCRIPTION_LIMIT, &text, err);

	if (rc == 0 && text.len && memchr(text.data, 0, text.len))
		rc = err_set(err, "%s is no device description: it holds a zero byte", path);
	if (rc == 0)
		rc = roofline_parse(m, text.len ? text.data : "", path, err);
	buf_release(&text);
	return rc;
}

void roofline_scratch_release(struct roofline_scratch *s)
{
	mem_free(s->asked);
	*s = (struct roofline_scratch){0};
}

/* How many elements of operand k one computed element asks for. */
static double asks(const struct graph *g, uint32_t v, uint32_t k)
{
	const struct node *n = &g->node[v];
	double own = n->elements ? (double)n->elements : 1;
	double theirs = (double)g->node[node_operands(g, v)[k]].elements;

	switch (n->opcode) {
	case OP_DOT: /* along the contracted dimension */
		return n->flops / (2 * own);
	case OP_DYNAMIC_UPDATE_SLICE: /* in place: only the update is looked at */
		return k == 1;
	case OP_DYNAMIC_SLICE:
		return k == 0;
	case OP_GATHER:
	case OP_PAD:
	case OP_CONCATENATE:
		return k == 0 && n->opcode == OP_GATHER ? 1 : fmin(theirs / own, 1);
	default:
		return opcode_facts(n->opcode)->class == CLASS_APPLY ? fmax(theirs / own, 1) : 1;
	}
}

/* Elements an instruction computes when its whole result is wanted. */
static double elements_of(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	if (n->opcode == OP_DYNAMIC_UPDATE_SLICE && n->n_operands > 1)
		return (double)g->node[node_operands(g, v)[1]].elements;
	return (double)n->elements;
}

struct kernel {
	double work, loads, heavy, bytes;
};

static double bytes_per_element(const struct node *n)
{
	return n->elements ? (double)n->bytes / (double)n->elements : 0;
}

static void add_read(struct kernel *k, const struct graph *g, uint32_t v, double asked)
{
	const struct node *n = &g->node[v];

	k->loads += asked;
	k->bytes += fmin(asked, (double)n->elements) * bytes_per_element(n);
}

/* An instruction outside of fusions. */
static struct kernel bare_kernel(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	double elements = elements_of(g, v);
	bool library = opcode_facts(n->opcode)->class == CLASS_HEAVY || opcode_facts(n->opcode)->class == CLASS_OUTSIDE;
	struct kernel k = {.bytes = elements * bytes_per_element(n)};

	*(library ? &k.heavy : &k.work) = n->flops;
	for (uint32_t i = 0; i < n->n_operands; i++) {
		uint32_t p = node_operands(g, v)[i];
		if (g->node[p].flags & NODE_SCALAR_CONST)
			continue;
		add_read(&k, g, p, library ? (double)g->node[p].elements : elements * asks(g, v, i));
	}
	if (library)
		k.loads = 0; /* counted in its rate */
	return k;
}

/* Passes what is asked of v on to its operands; elementwise readers share what they ask for. */
static void ask_operands(const struct graph *g, uint32_t v, uint32_t first, double *same, double *other)
{
	const struct node *n = &g->node[v];
	double asked = same[v - first] + other[v - first];

	for (uint32_t i = 0; i < n->n_operands; i++) {
		uint32_t p = node_operands(g, v)[i] - first;
		if (n->opcode == OP_TUPLE)
			same[p] = fmax(same[p], elements_of(g, p + first));
		else if (opcode_facts(n->opcode)->class == CLASS_ELEMENTWISE || n->opcode == OP_BITCAST)
			same[p] = fmax(same[p], asked);
		else
			other[p] += asked * asks(g, v, i);
	}
}

static struct kernel fused_kernel(const struct graph *g, uint32_t v, struct roofline_scratch *s)
{
	const struct comp *c = &g->comp[node_calls(g, v)[0]];
	struct kernel k = {0};
	double *same, *other;

	MEM_GROW(&s->asked, &s->cap, 2 * (size_t)c->n_nodes);
	same = s->asked;
	other = same + c->n_nodes;
	memset(same, 0, 2 * (size_t)c->n_nodes * sizeof *same);
	if (g->node[c->root].opcode != OP_TUPLE) {
		same[c->root - c->first] = elements_of(g, c->root);
		k.bytes = elements_of(g, c->root) * bytes_per_element(&g->node[c->root]);
	} else {
		k.bytes = (double)g->node[c->root].bytes;
	}
	for (uint32_t i = c->n_nodes; i-- > 0;) { /* readers before what they read */
		uint32_t w = c->first + i;
		const struct node *n = &g->node[w];
		double asked = same[i] + other[i];
		if (n->flags & NODE_SCALAR_CONST)
			continue;
		if (n->opcode == OP_PARAMETER || n->opcode == OP_CONSTANT) {
			add_read(&k, g, w, asked);
			continue;
		}
		k.work += n->elements ? asked * n->flops / (double)n->elements : 0;
		ask_operands(g, w, c->first, same, other);
	}
	return k;
}

static double bandwidth(const struct roofline *m, double bytes)
{
	return bytes <= m->near_bytes ? m->near_rate : bytes <= m->mid_bytes ? m->mid_rate :
		bytes <= m->far_bytes ? m->far_rate : m->memory_rate;
}

static double kernel_seconds(const struct roofline *m, const struct kernel *k)
{
	double work = k->work / m->work + k->loads / m->loads + k->heavy / m->heavy;
	return m->launch + fmax(work, k->bytes / bandwidth(m, k->bytes));
}

double roofline_kernel(const struct roofline *m, const struct graph *g, uint32_t v, struct roofline_scratch *s)
{
	struct kernel k = g->node[v].opcode == OP_FUSION ? fused_kernel(g, v, s) : bare_kernel(g, v);

	return kernel_seconds(m, &k);
}

double roofline_seconds(const struct roofline *m, const struct graph *g, struct roofline_scratch *s)
{
	double total = m->start;

	for (uint32_t c = 0; c < g->n_comps; c++) {
		const struct comp *comp = &g->comp[c];
		double seconds = comp->role == ROLE_CONTROL ? m->turn : 0;
		if (!comp_is_compiled(comp))
			continue;
		for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++)
			if (node_is_kernel(g, v))
				seconds += roofline_kernel(m, g, v, s);
		total += comp->trips * seconds;
	}
	return total;
}
