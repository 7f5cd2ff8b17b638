/* schedule_text.c - see the header: goes through the text line by line, and keeps how deep it is. */
#include "device/schedule_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

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

static int by_id(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

void schedule_text_read(const char *text, size_t n, struct schedule_text *s)
{
	struct reading r = {.p = text, .end = text + n};
	bool inside = false;

	*s = (struct schedule_text){0};
	while (next(&r)) {
		struct span *last = s->n ? &s->span[s->n - 1] : NULL;
		if (is(&r, 1, "computation_schedules")) {
			inside = true;
		} else if (is(&r, 2, "instructions") && inside) {
			MEM_GROW(&s->span, &s->cap, s->n + 1);
			s->span[s->n++] = (struct span){0};
		} else if (is(&r, 2, "id") && r.value && last) {
			last->id = whole_number(&r);
		} else if (is(&r, 2, "start_timestamp_cycles") && r.value && last) {
			last->start = number(&r);
		} else if (is(&r, 2, "end_timestamp_cycles") && r.value && last) {
			last->end = number(&r);
		} else if (is(&r, 1, "cycles_per_microsecond") && r.value) {
			s->per_microsecond = number(&r);
		}
	}
	if (s->n)
		qsort(s->span, s->n, sizeof *s->span, by_id);
}

const struct span *schedule_text_find(const struct schedule_text *s, int64_t id)
{
	struct span key = {.id = id};

	return s->n ? bsearch(&key, s->span, s->n, sizeof *s->span, by_id) : NULL;
}

void schedule_text_release(struct schedule_text *s)
{
	mem_free(s->span);
	*s = (struct schedule_text){0};
}
