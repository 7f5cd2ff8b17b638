/*
 * estimate_schedule.c - reads what a program on several devices takes from the schedule that XLA:TPU writes.
 *
 * The schedule says for each instruction of a computation when it starts and ends, in cycles, with exchanges beside
 * other work where the compiler managed that. The entry's last end is the program's time. It is a text of nested names:
 *
 *	hlo_module { ... computations { ... instructions { name: "all-reduce.1" ... id: 7 } ... id: 19 } }
 *	computation_schedules { computation_id: 19
 *		instructions { id: 7 start_timestamp_cycles: 1 end_timestamp_cycles: 17.5 } ...
 *		scheduler_statistics { total_cycles: 74645.2 } cycles_per_microsecond: 1500 }
 *
 * The compiler prices some exchanges at almost nothing: tiny ones, and reductions of which each device keeps its part
 * and that are done while nothing else is. So each exchange that is given less than our model of the machine
 * (schemas/mesh.def) says it takes at least, counts as much more. A layout gains nothing by what has no price.
 *
 * An exchange is one instruction, or a fusion that holds one, or a start and its end, between which other work is done.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/estimate.h"
#include "graph/collective.h"

struct reading { /* a text, line by line, and how deep its names are nested */
	const char *p, *end;
	int depth;
	const char *name, *value; /* of the line; value NULL: a name that opens or closes */
	size_t n_name, n_value;
};

/* Reads the next line; false: there is none. Closing lines have no name. */
static bool next(struct reading *r)
{
	const char *line = r->p, *end, *colon;

	if (r->p >= r->end)
		return false;
	end = memchr(line, '\n', (size_t)(r->end - line));
	end = end ? end : r->end;
	r->p = end + (end < r->end);
	while (line < end && *line == ' ')
		line++;
	r->name = line;
	r->n_name = r->n_value = 0;
	r->value = NULL;
	if (line == end)
		return true;
	if (*line == '}') {
		r->depth--;
		return true;
	}
	if (end[-1] == '{') {
		r->depth++;
		r->n_name = (size_t)(end - line) - (end - line > 1 ? 2 : 1);
		return true;
	}
	colon = memchr(line, ':', (size_t)(end - line));
	if (colon && colon + 2 <= end) {
		r->n_name = (size_t)(colon - line);
		r->value = colon + 2;
		r->n_value = (size_t)(end - r->value);
	}
	return true;
}

static bool is(const struct reading *r, int depth, const char *name)
{
	return r->depth == depth && strlen(name) == r->n_name && memcmp(r->name, name, r->n_name) == 0;
}

static double number(const struct reading *r)
{
	char text[40];

	snprintf(text, sizeof text, "%.*s", (int)(r->n_value < 39 ? r->n_value : 39), r->value);
	return strtod(text, NULL);
}

static int64_t whole_number(const struct reading *r)
{
	char text[40];

	snprintf(text, sizeof text, "%.*s", (int)(r->n_value < 39 ? r->n_value : 39), r->value);
	return strtoll(text, NULL, 10);
}

struct span { /* of an instruction, in cycles */
	int64_t id;
	double start, end;
};

struct schedule { /* of one computation */
	int64_t computation;
	struct span *span;
	size_t n, cap;
	double total, per_microsecond;
};

/* Reads the schedules of a text; the one of the computation, or else the last, stays. */
static void read_schedule(const char *text, size_t n, int64_t computation, struct schedule *s)
{
	struct reading r = {.p = text, .end = text + n};

	while (next(&r)) {
		if (is(&r, 1, "computation_schedules")) {
			if (s->computation == computation && s->total > 0)
				return;
			s->n = 0;
			s->total = 0;
		} else if (is(&r, 1, "computation_id") && r.value) {
			s->computation = whole_number(&r);
		} else if (is(&r, 2, "instructions") && s->computation) {
			MEM_GROW(&s->span, &s->cap, s->n + 1);
			s->span[s->n++] = (struct span){0};
		} else if (is(&r, 2, "id") && r.value && s->n) {
			s->span[s->n - 1].id = whole_number(&r);
		} else if (is(&r, 2, "start_timestamp_cycles") && r.value && s->n) {
			s->span[s->n - 1].start = number(&r);
		} else if (is(&r, 2, "end_timestamp_cycles") && r.value && s->n) {
			s->span[s->n - 1].end = number(&r);
		} else if (is(&r, 2, "total_cycles") && r.value) {
			s->total = number(&r);
		} else if (is(&r, 1, "cycles_per_microsecond") && r.value) {
			s->per_microsecond = number(&r);
		}
	}
}

/* Finds the span of a node by its id. */
static const struct span *span_of(const struct schedule *s, const struct graph *g, uint32_t v)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->span[i].id == g->node[v].proto->id)
			return &s->span[i];
	return NULL;
}

/* The seconds from the start of an exchange to its end, as scheduled; -1: it is not in the schedule. */
static double scheduled(const struct schedule *s, const struct graph *g, uint32_t v)
{
	const struct comp *c = &g->comp[g->node[v].comp];
	const struct span *first, *last;

	if (c->role == ROLE_FUSED && c->caller != NONE)
		v = c->caller;
	first = last = span_of(s, g, v);
	for (uint32_t k = 0; k < g->node[v].n_users && first; k++) { /* the end of what was started */
		const char *op = g->node[node_users(g, v)[k]].proto->opcode;
		size_t n = strlen(op);
		const struct span *done = n > 5 && strcmp(op + n - 5, "-done") == 0
			? span_of(s, g, node_users(g, v)[k]) : NULL;
		last = done ? done : last;
	}
	return first ? (last->end - first->start) / (1e6 * s->per_microsecond) : -1;
}

/* What exchanges take at least, beyond what they were given. */
static double unpriced(const struct schedule *s, const struct graph *g, const char *target, struct spread spread,
	struct priced *out)
{
	double more = 0;
	struct exchange e;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		double given;
		if (!collective_read(g, v, spread, &e) || e.group < 2)
			continue;
		given = scheduled(s, g, v);
		if (given < 0)
			continue;
		out->exchanged += e.bytes;
		out->ours += given < estimate_exchange(target, e.bytes);
		more += fmax(0, estimate_exchange(target, e.bytes) - given);
	}
	return more;
}

void estimate_schedule(const char *text, size_t n, const struct graph *g, const char *target, struct spread spread,
	struct priced *out)
{
	struct schedule s = {0};

	*out = (struct priced){0};
	read_schedule(text, n, g->comp[g->entry].proto->id, &s);
	if (s.total > 0 && s.per_microsecond > 0) {
		out->our_seconds = unpriced(&s, g, target, spread, out);
		out->seconds = 1e-6 * s.total / s.per_microsecond + out->our_seconds;
	} else {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail, "the compiler wrote no schedule of this program");
	}
	mem_free(s.span);
}
