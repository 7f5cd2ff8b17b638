/*
 * form.c - reads values in each form that they are written in; enum attr_form has an example of each.
 *
 * Each form has a function that reads tokens into a field; the path in the attribute's row says which
 * field. Here are the plain forms, which serve most rows: numbers, words, strings and lists of them,
 * then names of other instructions and computations. Forms that know their message stand in other files:
 *
 *	window.c   dimension by dimension: windows, padding, slices, labels
 *	alias.c    which buffers are shared, what the boundary promises
 *	note.c	   notes: metadata, attributes of frontends, origins
 *	shard.c    devices
 */
#include <string.h>
#include "hlo/text/own.h"

static void set_ints(struct text *p, const struct field *w)
{
	field_set_numbers(p->mem, w, p->ints.v, p->ints.n);
}

/* ---- plain forms ---- */

static int64_t int_for(struct text *p, const struct field *w)
{
	return w->f->type == PROTOBUF_C_TYPE_INT64 ? text_int(p) : text_int_in(p, INT32_MIN, INT32_MAX);
}

static void bools(struct text *p)
{
	p->ints.n = 0;
	if (!text_is(p, '{')) {
		int_list_add(&p->ints, text_bool(p));
		return;
	}
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}'))
		int_list_add(&p->ints, text_bool(p));
}

static void int_lists(struct text *p)
{
	p->ints.n = 0;
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}'))
		for (bool again = text_first(p, '{', '}'); again; again = text_again(p, '}'))
			int_list_add(&p->ints, text_int(p));
}

static void name(struct text *p, const struct attr_row *row, const struct field *w)
{
	char *s = text_keep(p, p->tok.s, p->tok.n);
	text_word_of(p, row->words);
	field_set_pointer(w, s);
}

static void string(struct text *p, const struct field *w, bool json)
{
	size_t n = 0;
	char *s = json && text_is(p, '{') ? text_braces(p, &n) :
					    text_string(p, w->f->type == PROTOBUF_C_TYPE_BYTES ? &n : NULL);
	field_set_string(w, s, n);
}

static void pairs(struct text *p, const struct field *w)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__SourceTarget *t = text_add(p, &list, &hlo__source_target__descriptor);
		text_expect(p, '{');
		t->source = text_int(p);
		text_expect(p, ',');
		t->target = text_int(p);
		text_expect(p, '}');
	}
	text_set_list(p, w, &list);
}

static void shapes(struct text *p, void *message, const struct field *w)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}'))
		ptr_list_add(&list, text_shape(p));
	text_set_list(p, w, &list);
	((Hlo__HloInstructionProto *)message)->constrain_layout = true;
}

static void accuracy(struct text *p, const struct field *w)
{
	Hlo__ResultAccuracy *m = text_message(p, &hlo__result_accuracy__descriptor);
	text_expect(p, '{');
	if (text_attr_is(p, "mode")) {
		text_next(p);
		m->specs_case = HLO__RESULT_ACCURACY__SPECS_MODE;
		m->mode = text_word_of(p, WORDS_ACCURACY);
	} else if (text_attr_is(p, "tolerance")) {
		Hlo__Tolerance *t = text_message(p, &hlo__tolerance__descriptor);
		text_next(p);
		for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
			bool ulps = text_attr_is(p, "ulps"), rtol = text_attr_is(p, "rtol");
			if (!text_is(p, T_ATTR) || (!ulps && !rtol && !text_attr_is(p, "atol")))
				text_expected(p, "atol=, rtol= or ulps=");
			text_next(p);
			double v = text_real(p);
			if (ulps)
				t->ulps = v > -1e18 && v < 1e18 ? (int64_t)v : 0;
			else
				*(rtol ? &t->rtol : &t->atol) = v;
		}
		m->specs_case = HLO__RESULT_ACCURACY__SPECS_TOLERANCE;
		m->tolerance = t;
	} else {
		text_expected(p, "mode= or tolerance=");
	}
	text_expect(p, '}');
	if (m->specs_case != HLO__RESULT_ACCURACY__SPECS_MODE || m->mode)
		field_set_pointer(w, m);
}

static void domain(struct text *p, void *message)
{
	Hlo__HloInstructionProto *in = message;
	text_expect(p, '{');
	for (int i = 0; i < 3 && !p->bad; i++) {
		static const char *const names[] = {"kind", "entry", "exit"};
		text_accept(p, ',');
		if (!text_attr_is(p, names[i]))
			text_expected(p, "kind=\"sharding\", entry={...}, exit={...}");
		text_next(p);
		if (i == 0 && strcmp(text_string(p, NULL), "sharding") != 0)
			text_wrong_at(p, p->tok.at, "the only kind of domain is \"sharding\"");
		else if (i > 0)
			/* The first in the text is the entry's, but XLA's message has the two the other way round. */
		*(i == 1 ? &in->domain_exit_sharding : &in->domain_entry_sharding) = text_sharding(p);
	}
	text_expect(p, '}');
}

/* ---- other instructions and computations ---- */

static void predecessors(struct text *p, struct attr_target *t, const struct field *w)
{
	p->ints.n = 0;
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		const char *at = p->tok.at;
		char *s = text_name(p, "the name of an instruction");
		uint32_t i = names_get(&t->scope->names, s, strlen(s));
		bool twice = false;
		if (i == NAMES_NONE)
			text_wrong_at(p, at, "there is no instruction %s above this place", s);
		for (size_t k = 0; k < p->ints.n && k < 64; k++)
			twice |= p->ints.v[k] == i;
		if (!twice)
			int_list_add(&p->ints, i);
	}
	set_ints(p, w);
}

static void computation(struct text *p, struct attr_target *t, const struct attr_row *row)
{
	Hlo__HloComputationProto *c = NULL;
	const struct attr_row *in_attr = p->in_attr;
	if (text_is(p, '{')) {
		p->in_attr = NULL;
		c = text_computation(p, "_");
		p->in_attr = p->bad ? p->in_attr : in_attr;
	} else {
		const char *at = p->tok.at;
		char *s = text_name(p, "the name of a computation, or one in braces");
		uint32_t i = names_get(&p->comp_names, s, strlen(s));
		if (i == NAMES_NONE)
			text_wrong_at(p, at, "there is no computation %s above this place", s);
		else
			c = p->comps.v[i];
	}
	if (c)
		attr_call(p, t, row, c);
}

/* ---- by form ---- */

static void plain(struct text *p, const struct attr_row *row, const struct field *w)
{
	protobuf_c_boolean truth;
	float f;
	switch (row->form) {
	case FORM_INT:
		field_set_number(w, int_for(p, w));
		return;
	case FORM_DIMENSION:
		p->ints.n = 0;
		int_list_add(&p->ints, text_int(p));
		if (p->ints.v[0] == row->fallback)
			p->ints.n = 0;
		set_ints(p, w);
		return;
	case FORM_BOOL:
		truth = text_bool(p);
		memcpy(w->at, &truth, sizeof(truth));
		return;
	case FORM_TRISTATE:
		field_set_number(w, text_bool(p) ? 1 : 2);
		return;
	case FORM_FLOAT:
		f = (float)text_real(p);
		memcpy(w->at, &f, sizeof(f));
		return;
	case FORM_WORD:
		field_set_number(w, text_word_of(p, row->words));
		return;
	case FORM_WORDS:
		p->ints.n = 0;
		for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}'))
			int_list_add(&p->ints, text_word_of(p, row->words));
		set_ints(p, w);
		return;
	case FORM_NAME:
		name(p, row, w);
		return;
	case FORM_INTS:
		text_ints(p, '{', '}');
		set_ints(p, w);
		return;
	case FORM_INT_LISTS:
		int_lists(p);
		set_ints(p, w);
		return;
	case FORM_BOOLS:
		bools(p);
		set_ints(p, w);
		return;
	default:
		string(p, w, row->form == FORM_STRING_OR_JSON);
	}
}

/* Module settings that the message has no place for. */
static void dropped(struct text *p, const struct attr_row *row)
{
	size_t n;
	switch (row->form) {
	case FORM_IGNORED:
		text_word_of(p, row->words);
		return;
	case FORM_SKIPPED:
		text_braces(p, &n);
		return;
	case FORM_BOOLS:
		bools(p);
		return;
	case FORM_BOOL:
		n = text_bool(p);
		if (strcmp(row->name, "is_scheduled") == 0)
			p->scheduled = n;
		return;
	default:
		text_int(p);
	}
}

void text_form(struct text *p, struct attr_target *t, void *message, const struct attr_row *row)
{
	if (row->form == FORM_COMPUTATION) {
		computation(p, t, row);
		return;
	}
	if (row->form == FORM_COMPUTATIONS) {
		for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}'))
			computation(p, t, row);
		return;
	}
	if (!*row->path) {
		dropped(p, row);
		return;
	}
	struct field w = field_make(p->mem, message, row->path);
	switch (row->form) {
	case FORM_PAIRS: pairs(p, &w); break;
	case FORM_DEVICES: text_devices(p, message); break;
	case FORM_SLICE: text_slices(p, &w); break;
	case FORM_PADDING: text_padding(p, &w); break;
	case FORM_WINDOW: text_window(p, &w); break;
	case FORM_DIM_LABELS: text_dim_labels(p, &w); break;
	case FORM_SPARSITY: text_sparsity(p, &w); break;
	case FORM_SHAPE: field_set_pointer(&w, text_shape(p)); break;
	case FORM_SHAPES: shapes(p, message, &w); break;
	case FORM_LITERAL: field_set_pointer(&w, text_shaped_literal(p)); break;
	case FORM_ALIASING: text_aliasing(p, &w); break;
	case FORM_SHARDING: field_set_pointer(&w, text_sharding(p)); break;
	case FORM_DOMAIN: domain(p, message); break;
	case FORM_METADATA: text_metadata(p, field_pointer(&w)); break;
	case FORM_FRONTEND: text_frontend(p, &w); break;
	case FORM_STATISTICS: text_statistics(p, &w); break;
	case FORM_ORIGIN: text_origin(p, &w); break;
	case FORM_ACCURACY: accuracy(p, &w); break;
	case FORM_PREDECESSORS: predecessors(p, t, &w); break;
	case FORM_MODULE_ALIAS: text_module_alias(p, &w); break;
	case FORM_DONOR: text_donor(p, &w); break;
	case FORM_ENTRY_LAYOUT: text_entry_layout(p, &w); break;
	default: plain(p, row, &w);
	}
}
