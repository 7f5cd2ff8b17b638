/*
 * frame.c - brings the stack frames, which say where instructions come from, into XLA's normal form.
 *
 * A frame is kept if an instruction names it or a frame that it calls. Each is kept once. They are numbered
 * in the order in which the instructions of the text first need them, callers first. An instruction loses its
 * frame if that frame does not exist or is among its own callers.
 */
#include <string.h>
#include "hlo/text/own.h"

enum { FILES, FUNCTIONS, LOCATIONS, FRAMES, TABLES };

struct frames {
	struct text *p;
	const Hlo__StackFrameIndex *from;
	int32_t *number;	     /* of each old frame: its number in the new index, or 0 */
	uint32_t *round;	     /* of each old frame: the last walk to the callers that saw it */
	struct names known[TABLES];  /* the things of each table, by their bytes */
	struct ptr_list list[TABLES];
};

/* The number of a thing with these bytes; the first such thing is kept. */
static int32_t intern(struct frames *f, int table, const void *key, size_t n, void *thing)
{
	uint32_t at = names_get(&f->known[table], key, n);
	if (at == NAMES_NONE) {
		at = (uint32_t)f->list[table].n;
		names_put(&f->known[table], arena_dup(f->p->mem, key, n), n, at);
		ptr_list_add(&f->list[table], thing);
	}
	return (int32_t)at + 1;
}

static bool in(int32_t id, size_t n)
{
	return id > 0 && (size_t)id <= n;
}

/* The number of the frame with that caller, or 0 if the text has no location for it. */
static int32_t add(struct frames *f, const Hlo__StackFrame *frame, int32_t caller)
{
	const Hlo__StackFrameIndex *x = f->from;
	if (!in(frame->file_location_id, x->n_file_locations))
		return 0;
	const Hlo__FileLocation *old = x->file_locations[frame->file_location_id - 1];
	if (!in(old->file_name_id, x->n_file_names) || !in(old->function_name_id, x->n_function_names))
		return 0;
	char *file = x->file_names[old->file_name_id - 1], *function = x->function_names[old->function_name_id - 1];
	Hlo__FileLocation *l = text_message(f->p, &hlo__file_location__descriptor);
	Hlo__StackFrame *s = text_message(f->p, &hlo__stack_frame__descriptor);
	l->file_name_id = intern(f, FILES, file, strlen(file), file);
	l->function_name_id = intern(f, FUNCTIONS, function, strlen(function), function);
	l->line = old->line;
	l->column = old->column;
	l->end_line = old->end_line;
	l->end_column = old->end_column;
	int32_t place[] = {l->file_name_id, l->function_name_id, l->line, l->column, l->end_line, l->end_column};
	s->file_location_id = intern(f, LOCATIONS, place, sizeof(place), l);
	s->parent_frame_id = caller;
	int32_t key[] = {s->file_location_id, caller};
	return intern(f, FRAMES, key, sizeof(key), s);
}

static int32_t renumbered(struct frames *f, int32_t id, uint32_t round, struct int_list *path)
{
	size_t n = f->from->n_stack_frames;
	int32_t at = id;
	path->n = 0;
	for (; at != 0 && !(in(at, n) && f->number[at - 1]); at = f->from->stack_frames[at - 1]->parent_frame_id) {
		if (!in(at, n) || f->round[at - 1] == round)
			return 0;
		f->round[at - 1] = round;
		int_list_add(path, at);
	}
	int32_t caller = at ? f->number[at - 1] : 0;
	while (path->n) {
		at = (int32_t)path->v[--path->n];
		caller = add(f, f->from->stack_frames[at - 1], caller);
		if (!caller)
			return 0;
		f->number[at - 1] = caller;
	}
	return caller;
}

static Hlo__StackFrameIndex *collect(struct text *p, struct frames *f)
{
	Hlo__StackFrameIndex *x = text_message(p, &hlo__stack_frame_index__descriptor);
	x->n_file_names = f->list[FILES].n;
	x->file_names = (char **)text_keep_ptrs(p, &f->list[FILES]);
	x->n_function_names = f->list[FUNCTIONS].n;
	x->function_names = (char **)text_keep_ptrs(p, &f->list[FUNCTIONS]);
	x->n_file_locations = f->list[LOCATIONS].n;
	x->file_locations = (Hlo__FileLocation **)text_keep_ptrs(p, &f->list[LOCATIONS]);
	x->n_stack_frames = f->list[FRAMES].n;
	x->stack_frames = (Hlo__StackFrame **)text_keep_ptrs(p, &f->list[FRAMES]);
	return x;
}

void text_frames(struct text *p)
{
	static const Hlo__StackFrameIndex none = HLO__STACK_FRAME_INDEX__INIT;
	struct frames f = {.p = p, .from = p->frames ? p->frames : &none};
	struct int_list path = {0};
	uint32_t round = 0;
	f.number = MEM_NEW(f.from->n_stack_frames, int32_t);
	f.round = MEM_NEW(f.from->n_stack_frames, uint32_t);
	for (size_t c = 0; c < p->m->n_computations; c++) {
		Hlo__HloComputationProto *comp = p->m->computations[c];
		Hlo__HloInstructionProto **in_text = MEM_NEW(comp->n_instructions, Hlo__HloInstructionProto *);
		for (size_t i = 0; i < comp->n_instructions; i++)
			in_text[(uint32_t)comp->instructions[i]->id] = comp->instructions[i];
		for (size_t i = 0; i < comp->n_instructions; i++) {
			Hlo__OpMetadata *m = in_text[i]->metadata;
			if (m->stack_frame_id)
				m->stack_frame_id = renumbered(&f, m->stack_frame_id, ++round, &path);
		}
		mem_free(in_text);
	}
	if (f.list[FRAMES].n)
		p->m->stack_frame_index = collect(p, &f);
	for (int i = 0; i < TABLES; i++) {
		names_release(&f.known[i]);
		mem_free(f.list[i].v);
	}
	mem_free(path.v);
	mem_free(f.number);
	mem_free(f.round);
}
