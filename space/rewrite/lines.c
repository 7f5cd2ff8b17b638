/*
 * lines.c - finds lines by id, drops those that nobody reads, and sorts them so that operands come first.
 */
#include "space/rewrite/lines.h"

#include <stdlib.h>
#include <string.h>

struct line_place {
	int64_t id;
	uint32_t at;
};

static int by_id(const void *a, const void *b)
{
	const struct line_place *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

struct line_index lines_index(const struct lines *l)
{
	struct line_index x = {MEM_NEW(l->n + 1, struct line_place), l->n};

	for (uint32_t i = 0; i < l->n; i++)
		x.v[i] = (struct line_place){l->v[i]->id, i};
	qsort(x.v, x.n, sizeof *x.v, by_id);
	return x;
}

uint32_t line_at(const struct line_index *x, int64_t id)
{
	const struct line_place *p = bsearch(&(struct line_place){.id = id}, x->v, x->n, sizeof *p, by_id);

	return p ? p->at : NONE;
}

void line_index_release(struct line_index *x)
{
	mem_free(x->v);
	*x = (struct line_index){0};
}

bool line_has_effect(const Hlo__HloInstructionProto *in)
{
	const struct opcode_facts *f = opcode_facts(opcode_of(in->opcode));

	return f->flags & SIDE_EFFECT || f->class == CLASS_CALL || f->class == CLASS_OUTSIDE ||
		in->custom_call_has_side_effect || in->n_control_predecessor_ids;
}

void lines_add(struct lines *l, Hlo__HloInstructionProto *in)
{
	MEM_GROW(&l->v, &l->cap, l->n + 1);
	l->v[l->n++] = in;
}

static void mark(const struct line_index *x, const int64_t *ids, size_t n_ids, uint8_t *live)
{
	for (size_t i = 0; i < n_ids; i++) {
		uint32_t at = line_at(x, ids[i]);
		if (at != NONE)
			live[at] = 1;
	}
}

void lines_prune(struct lines *l, int64_t root)
{
	struct line_index x = lines_index(l);
	uint8_t *live = MEM_NEW(l->n + 1, uint8_t);
	size_t kept = 0;

	for (size_t i = l->n; i-- > 0;) {
		const Hlo__HloInstructionProto *in = l->v[i];
		bool stays = in->id == root || line_has_effect(in) || strcmp(in->opcode, "parameter") == 0;
		if (!live[i] && !stays)
			continue;
		live[i] = 1;
		mark(&x, in->operand_ids, in->n_operand_ids, live);
		mark(&x, in->control_predecessor_ids, in->n_control_predecessor_ids, live);
	}
	for (size_t i = 0; i < l->n; i++)
		if (live[i])
			l->v[kept++] = l->v[i];
	l->n = kept;
	line_index_release(&x);
	mem_free(live);
}

struct waiting { /* a line, and how many of its operands and control predecessors are placed for sure */
	uint32_t line;
	size_t placed;
};

/* The next operand or control predecessor of a line that is not placed yet, or NONE. */
static uint32_t missing(const struct lines *l, const struct line_index *x, struct waiting *w, const uint8_t *placed)
{
	const Hlo__HloInstructionProto *in = l->v[w->line];

	for (; w->placed < in->n_operand_ids + in->n_control_predecessor_ids; w->placed++) {
		size_t control = w->placed - in->n_operand_ids;
		bool operand = w->placed < in->n_operand_ids;
		uint32_t at = line_at(x, operand ? in->operand_ids[w->placed] : in->control_predecessor_ids[control]);
		if (at != NONE && !placed[at])
			return at;
	}
	return NONE;
}

void lines_sort(struct lines *l)
{
	struct line_index x = lines_index(l);
	struct waiting *stack = MEM_NEW(l->n + 1, struct waiting);
	uint8_t *placed = MEM_NEW(l->n + 1, uint8_t);
	struct lines out = {0};

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t n = 0;
		for (stack[n++] = (struct waiting){.line = i}; n > 0;) {
			struct waiting *w = &stack[n - 1];
			uint32_t first = placed[w->line] ? NONE : missing(l, &x, w, placed);
			if (first != NONE) {
				BUG_ON(n > l->n); /* a circle */
				stack[n++] = (struct waiting){.line = first};
				continue;
			}
			if (!placed[w->line])
				lines_add(&out, l->v[w->line]);
			placed[w->line] = 1;
			n--;
		}
	}
	mem_free(l->v);
	line_index_release(&x);
	mem_free(stack);
	mem_free(placed);
	*l = out;
}
