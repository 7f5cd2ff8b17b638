/*
 * holders.c - lists what is alive at the peak, with names that people know.
 *
 * An instruction's metadata says where it comes from: with a file and a line, or, in newer compilers, with a number
 * that leads through a table of stack frames to a file and a line.
 */
#include "space/order/holders.h"

#include <stdlib.h>
#include <string.h>
#include "base/quantity.h"

static int by_bytes(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void set_place(const struct graph *g, const Hlo__OpMetadata *m, struct holder *h)
{
	const Hlo__StackFrameIndex *t = g->module->stack_frame_index;
	size_t frame = (size_t)m->stack_frame_id, at;

	h->op = m->op_name ? m->op_name : "";
	h->file = m->source_file ? m->source_file : "";
	h->line = m->source_line;
	if (*h->file || !t || frame < 1 || frame > t->n_stack_frames)
		return;
	at = (size_t)t->stack_frames[frame - 1]->file_location_id;
	if (at < 1 || at > t->n_file_locations)
		return;
	h->line = t->file_locations[at - 1]->line;
	at = (size_t)t->file_locations[at - 1]->file_name_id;
	if (at >= 1 && at <= t->n_file_names)
		h->file = t->file_names[at - 1];
}

static const char *shape_text(struct arena *mem, const Hlo__ShapeProto *s)
{
	struct buf b = {0};
	const char *text;

	buf_addf(&b, "%s[", dtype_name((uint8_t)s->element_type));
	for (size_t i = 0; i < s->n_dimensions; i++)
		buf_addf(&b, "%s%lld", i ? "," : "", (long long)s->dimensions[i]);
	buf_addch(&b, ']');
	text = arena_strdup(mem, s->element_type == DT_TUPLE ? "part of a tuple" : b.data);
	buf_release(&b);
	return text;
}

static void add(struct holders *h, const struct graph *g, uint32_t node, uint64_t bytes, bool inside)
{
	struct holder *x = &h->v[h->n++];
	const Hlo__HloInstructionProto *in = g->node[node].proto;

	*x = (struct holder){.name = in->name, .bytes = bytes, .inside = inside, .op = "", .file = ""};
	x->shape = inside ? "" : shape_text(&h->mem, in->shape);
	if (in->metadata)
		set_place(g, in->metadata, x);
}

void holders_find(struct holders *h, struct program *p)
{
	const struct graph *g = p->graph;
	const struct comp *entry = &g->comp[g->entry];
	const struct line *l = program_line(p, g->entry);
	const struct course *c = &p->course[g->entry];
	uint32_t at = course_where(c, course_peak(c));

	*h = (struct holders){.bytes = course_peak(c), .at = at, .steps = l->n, .step = ""};
	h->v = MEM_NEW(l->n_values + 1, struct holder);
	if (at >= l->n)
		return;
	h->step = g->node[entry->first + c->order[at]].proto->name;
	for (uint32_t i = 0; i < l->n_values; i++)
		if (l->value[i].bytes && c->place[l->value[i].maker] <= at && c->place[c->last[i]] >= at)
			add(h, g, entry->first + l->value[i].maker, l->value[i].bytes, false);
	if (l->inside[c->order[at]] > 0) /* for a loop, without what it carries */
		add(h, g, entry->first + c->order[at], (uint64_t)l->inside[c->order[at]], true);
	qsort(h->v, h->n, sizeof *h->v, by_bytes);
}
