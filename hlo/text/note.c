/*
 * note.c - reads what stands beside the program proper: where things come from, and free text.
 *
 *	{op_name="a" source_line=3}	 metadata
 *	{a="b",c={"d":1}}		 notes of frontends
 *	{visualizing_index=0,a=1.5}	 statistics
 *	{({"a" {0}}, {"b"})}		 the values of the original program that these are
 */
#include <string.h>
#include "hlo/text/own.h"

void text_metadata(struct text *p, Hlo__OpMetadata *m)
{
	const struct attr_set *sets[] = {&p->words->metadata};
	struct attr_target t = {.message = m};
	text_attrs(p, &t, sets, 1, ATTR_BRACES);
	attr_target_release(&t);
}

/* A later value of the same key replaces the earlier one. */
void text_frontend(struct text *p, const struct field *w)
{
	Hlo__FrontendAttributes *m = text_message(p, &hlo__frontend_attributes__descriptor);
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		size_t n;
		Hlo__FrontendAttribute *a = text_message(p, &hlo__frontend_attribute__descriptor), *old = NULL;
		if (!text_is(p, T_ATTR))
			text_expected(p, "name=");
		a->key = text_keep(p, p->tok.s, p->tok.n);
		text_next(p);
		a->value = text_is(p, '{') ? text_braces(p, &n) : text_string(p, NULL);
		for (size_t i = 0; i < list.n && i < 64; i++)
			if (strcmp(((Hlo__FrontendAttribute *)list.v[i])->key, a->key) == 0)
				old = list.v[i];
		if (old)
			old->value = a->value;
		else
			ptr_list_add(&list, a);
	}
	m->n_map = list.n;
	m->map = (Hlo__FrontendAttribute **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	field_set_pointer(w, m);
}

void text_statistics(struct text *p, const struct field *w)
{
	Hlo__StatisticsViz *m = text_message(p, &hlo__statistics_viz__descriptor);
	struct ptr_list list = {0};
	bool first = true;
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}'), first = false) {
		if (!text_is(p, T_ATTR) || (first && !text_attr_is(p, "visualizing_index")))
			text_expected(p, first ? "visualizing_index=" : "name=");
		if (first) {
			text_next(p);
			m->stat_index_to_visualize = text_int(p);
			continue;
		}
		Hlo__Statistic *s = text_add(p, &list, &hlo__statistic__descriptor);
		s->stat_name = text_keep(p, p->tok.s, p->tok.n);
		text_next(p);
		s->stat_val = text_real(p);
	}
	m->n_statistics = list.n;
	m->statistics = (Hlo__Statistic **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	field_set_pointer(w, m);
}

static Hlo__OriginalArray *original_array(struct text *p)
{
	Hlo__OriginalArray *a = text_message(p, &hlo__original_array__descriptor);
	text_expect(p, '{');
	if (text_is(p, T_STRING)) {
		a->instruction_name = text_string(p, NULL);
		if (text_is(p, '{'))
			a->shape_index = text_shape_index(p, &a->n_shape_index);
	}
	text_expect(p, '}');
	return a;
}

/* {({"a" {0}}, {"b"})}: parentheses are tuples, a comma goes to the next element; an empty {} says nothing. */
void text_origin(struct text *p, const struct field *w)
{
	Hlo__OriginalValue *m = text_message(p, &hlo__original_value__descriptor);
	struct ptr_list list = {0};
	struct int_list at = {0};
	text_expect(p, '{');
	if (text_accept(p, '[')) {
		m->is_synthetic_call = text_word_is(p, "synthetic_call");
		if (!m->is_synthetic_call)
			text_expected(p, "synthetic_call");
		text_next(p);
		text_expect(p, ']');
	}
	while (!p->bad && !text_is(p, '}')) {
		if (text_is(p, '{')) {
			Hlo__OriginalArray *a = original_array(p);
			Hlo__OriginalValueElement *e = text_add(p, &list, &hlo__original_value_element__descriptor);
			e->n_shape_index = at.n;
			e->shape_index = text_keep_ints(p, &at);
			e->original_array = *a->instruction_name ? a : NULL;
		} else if (at.n < HLO_TEXT_DEPTH && text_accept(p, '(')) {
			int_list_add(&at, 0);
		} else if (at.n && text_accept(p, ')')) {
			at.n--;
		} else if (at.n && text_accept(p, ',')) {
			at.v[at.n - 1]++;
		} else {
			text_expected(p, "a tuple of {\"name\" {index}}");
		}
	}
	text_expect(p, '}');
	m->n_elements = list.n;
	m->elements = (Hlo__OriginalValueElement **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	mem_free(at.v);
	field_set_pointer(w, m);
}
