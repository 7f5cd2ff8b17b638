/*
 * culprit.c - halves a program until it is known where its run dies.
 *
 * The first n instructions are a program of their own (graph/beginning.h), whose results are all that it computes. If
 * that runs, the culprit comes later; if it dies, it is among them. Each question is a compile and a run, of half the
 * program at first, so fifteen of them tell one instruction among thirty thousand, and cost about as much as seven
 * compiles of the whole. If the time ends first, the answer is a range of instructions. A beginning that does not
 * compile, or does not end in time, ends the questions.
 *
 * A beginning is compiled by itself, so the compiler makes something else of it than of the whole: a defect that only
 * shows in one fusion of the whole program may stay unseen. Then every beginning runs, and there is no answer.
 */
#include "ready/culprit.h"

#include <stdio.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "graph/beginning.h"

enum fate { RUNS, DIES, UNKNOWN };

/* What becomes of the first n instructions. A beginning without a result is no program, and harmless. */
static enum fate try_beginning(struct device *d, const struct graph *g, uint32_t n, struct err *err)
{
	struct precision once = {.target = 1, .max_seconds = 1e-3, .min_pairs = 1, .patient = true};
	struct compiled c = {0};
	struct timing t = {0};
	struct buf module = {0};
	enum fate fate = UNKNOWN;
	int rc;

	if (!beginning_program(g, n, &module))
		return RUNS;
	rc = device_compile(d, COMPILE_DEFAULT, "hlo", module.data, module.len, 0, &c, err);
	if (rc == 0 && c.outcome == OUTCOME_OK && device_run(d, &c, &once, &t, err) == 0 && !device_late(d)) {
		if (t.outcome == OUTCOME_OK)
			fate = RUNS;
		else if (t.outcome == OUTCOME_CRASHED || t.outcome == OUTCOME_REFUSED)
			fate = DIES;
	}
	if (c.handle)
		device_drop(d, &c, err);
	timing_release(&t);
	compiled_release(&c);
	buf_release(&module);
	return fate;
}

/* Puts the answer behind the sentence: it is one of the instructions `good` to `bad` - 1 of the entry. */
static void add(const struct graph *g, uint32_t good, uint32_t bad, struct err *err)
{
	const struct node *node = g->node + g->comp[g->entry].first;
	const Hlo__HloInstructionProto *first = node[good].proto, *last = node[bad - 1].proto;
	size_t used = strlen(err->text), room = sizeof err->text - used;

	if (bad - good == 1)
		snprintf(err->text + used, room,
			"; the shortest beginning of the program that dies ends with %.120s (%.40s)", first->name,
			first->opcode);
	else
		snprintf(err->text + used, room,
			"; a beginning of the program that dies ends with one of %u instructions, from %.100s to "
			"%.100s",
			bad - good, first->name, last->name);
}

void culprit_tell(struct device *d, const struct buf *program, double seconds, struct err *err)
{
	struct graph g = {0};
	struct err ignored = {{0}};
	uint32_t good = 0, bad;
	enum fate fate = RUNS;
	char text[32];

	if (graph_parse(&g, program->data, program->len, "the program", &ignored) < 0) {
		graph_release(&g);
		return;
	}
	bad = g.comp[g.entry].n_nodes;
	talk_seconds(seconds, text, sizeof text);
	talk("its run dies; looking for the instruction in which it does, for at most %s", text);
	device_until(d, now_seconds() + seconds);
	while (bad - good > 1 && fate != UNKNOWN && !stop_asked()) {
		uint32_t middle = good + (bad - good) / 2;
		fate = try_beginning(d, &g, middle, &ignored);
		if (fate == DIES)
			bad = middle;
		else if (fate == RUNS)
			good = middle;
	}
	device_until(d, 0);
	if (bad < g.comp[g.entry].n_nodes)
		add(&g, good, bad, err);
	graph_release(&g);
}
