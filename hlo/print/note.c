/*
 * note.c - prints what stands beside the program proper: the mirror of hlo/text/note.c.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "hlo/print/print.h"

bool metadata_empty(const Hlo__OpMetadata *m)
{
	static const Hlo__OpMetadata none = HLO__OP_METADATA__INIT;
	return !*m->op_type && !*m->op_name && !*m->source_file && !*m->deduplicated_name && !*m->scheduling_name &&
	       m->source_line == none.source_line && !m->source_end_line && !m->source_column &&
	       !m->source_end_column && !m->n_profile_type && !m->stack_frame_id && !m->metadata_payload;
}

bool note_empty(enum attr_form form, const void *message)
{
	const Hlo__FrontendAttributes *frontend = message;
	const Hlo__StatisticsViz *s = message;
	return form == FORM_FRONTEND ? !frontend->n_map : !s->n_statistics && !s->stat_index_to_visualize;
}

/* May the key be written? Only keys that are names can be read back. */
static bool is_name(const char *s)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	return *s && strchr(letters, *s) &&
		strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.-") == strlen(s);
}

void print_frontend(struct printer *p, const Hlo__FrontendAttributes *m)
{
	const char *comma = "";
	buf_addch(p->out, '{');
	for (size_t i = 0; i < m->n_map; i++) {
		if (!is_name(m->map[i]->key))
			continue;
		buf_addf(p->out, "%s%s=", comma, m->map[i]->key);
		print_string_or_json(p->out, m->map[i]->value, strlen(m->map[i]->value));
		comma = ",";
	}
	buf_addch(p->out, '}');
}

void print_statistics(struct printer *p, const Hlo__StatisticsViz *m)
{
	buf_addf(p->out, "{visualizing_index=%" PRId64, m->stat_index_to_visualize);
	for (size_t i = 0; i < m->n_statistics; i++)
		if (is_name(m->statistics[i]->stat_name) && isfinite(m->statistics[i]->stat_val)) {
			buf_addf(p->out, ",%s=", m->statistics[i]->stat_name);
			print_real(p->out, m->statistics[i]->stat_val, 17);
		}
	buf_addch(p->out, '}');
}

static void commas(struct printer *p, int64_t from, int64_t to)
{
	for (int64_t k = from; k < to; k++)
		buf_addch(p->out, ',');
}

static void original_array(struct printer *p, const Hlo__OriginalArray *a)
{
	buf_addch(p->out, '{');
	if (a)
		print_string(p->out, a->instruction_name, strlen(a->instruction_name));
	if (a && a->n_shape_index)
		print_ints(p->out, a->shape_index, a->n_shape_index, " {", "}");
	buf_addch(p->out, '}');
}

/*
 * The elements come in the order of the tuple's leaves. Between one index and the next we close some
 * parentheses, write a comma for each step in the tuple, and open some.
 */
void print_origin(struct printer *p, const Hlo__OriginalValue *m)
{
	const Hlo__OriginalValueElement *last = NULL;
	size_t open = 0;
	buf_adds(p->out, m->is_synthetic_call ? "{[synthetic_call]" : "{");
	for (size_t i = 0; i < m->n_elements && !m->is_synthetic_call; i++) {
		const Hlo__OriginalValueElement *e = m->elements[i];
		size_t same = 0, n = e->n_shape_index;
		while (last && same < n && same < last->n_shape_index &&
			e->shape_index[same] == last->shape_index[same])
			same++;
		for (; open > same + 1; open--)
			buf_addch(p->out, ')');
		if (last && open == same + 1)
			commas(p, last->shape_index[same], e->shape_index[same]);
		for (; open < n; open++) {
			buf_addch(p->out, '(');
			commas(p, 0, e->shape_index[open]);
		}
		original_array(p, e->original_array);
		last = e;
	}
	for (; open; open--)
		buf_addch(p->out, ')');
	buf_addch(p->out, '}');
}
