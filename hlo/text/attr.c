/*
 * attr.c - reads attributes, in any order, by the tables of hlo/words.h.
 *
 * An operation may have the attributes of its own set and of the common set. Any other attribute is an
 * offence, and the sentence lists those that are allowed. An attribute given twice is an offence, and so
 * is a required one that is missing.
 */
#include <stdlib.h>
#include <string.h>
#include "hlo/text/own.h"

static size_t index_of(const struct text *p, const struct attr_row *row)
{
	return (size_t)(row - p->words->attr);
}

bool attr_seen(const struct attr_target *t, const char *key)
{
	size_t i = (size_t)(hlo_attr(key) - hlo_words()->attr);
	return t->seen[i / 64] >> (i % 64) & 1;
}

static const struct attr_row *find(const struct text *p, const struct attr_set *const *sets, int n_sets,
	const char *s, size_t n, int *set)
{
	for (*set = 0; *set < n_sets; ++*set)
		for (int i = 0; i < sets[*set]->n; i++) {
			const struct attr_row *row = &p->words->attr[sets[*set]->row[i]];
			if (strncmp(row->name, s, n) == 0 && row->name[n] == '\0')
				return row;
		}
	return NULL;
}

static void unknown(struct text *p, const struct attr_set *const *sets, int n_sets)
{
	struct buf b = {0};
	for (int k = 0; k < n_sets; k++)
		for (int i = 0; i < sets[k]->n; i++)
			buf_addf(&b, "%s%s", b.len ? ", " : "", p->words->attr[sets[k]->row[i]].name);
	text_wrong_at(p, p->tok.at, "there is no attribute %.*s here; there can be: %.600s", p->tok.n > 40 ? 40
		: (int)p->tok.n, p->tok.s, b.data ? b.data : "none");
	buf_release(&b);
}

/* Reads the value. A common attribute goes into the wrapped instruction as well, see op.c. */
static void value(struct text *p, struct attr_target *t, const struct attr_row *row, bool common, bool wrapped)
{
	const struct attr_row *outer = p->in_attr;
	struct token tok = p->tok;
	const char *at = p->at;
	p->in_attr = row;
	text_form(p, t, wrapped ? t->extra : t->message, row);
	bool twice = common && t->extra && row->form != FORM_SHARDING && row->form != FORM_PREDECESSORS &&
		     row->form != FORM_BOOLS;
	if (twice && !p->bad) {
		p->tok = tok;
		p->at = at;
		text_form(p, t, t->extra, row);
	}
	if (!p->bad)
		p->in_attr = outer;
}

static void one(struct text *p, struct attr_target *t, const struct attr_set *const *sets, int n_sets)
{
	int set;
	if (!text_is(p, T_ATTR)) {
		text_expected(p, "an attribute, name=value");
		return;
	}
	const struct attr_row *row = find(p, sets, n_sets, p->tok.s, p->tok.n, &set);
	if (!row) {
		unknown(p, sets, n_sets);
		return;
	}
	size_t i = index_of(p, row);
	if (t->seen[i / 64] >> (i % 64) & 1)
		text_wrong_at(p, p->tok.at, "attribute %s is given twice", row->name);
	t->seen[i / 64] |= UINT64_C(1) << (i % 64);
	text_next(p);
	value(p, t, row, sets[set] == &p->words->common, t->extra && set == 0);
}

static void check_required(struct text *p, const struct attr_target *t, const struct attr_set *const *sets,
	int n_sets, const char *at)
{
	for (int k = 0; k < n_sets; k++)
		for (int i = 0; i < sets[k]->n; i++) {
			size_t r = sets[k]->row[i];
			if (sets[k]->required >> i & 1 && !(t->seen[r / 64] >> (r % 64) & 1))
				text_wrong_at(p, at, "attribute %s is missing here", p->words->attr[r].name);
		}
}

void text_attrs(struct text *p, struct attr_target *t, const struct attr_set *const *sets, int n_sets, int how)
{
	const char *at = p->tok.at;
	if (how == ATTR_BRACES) {
		text_expect(p, '{');
		while (!p->bad && !text_is(p, '}')) {
			text_accept(p, ',');
			one(p, t, sets, n_sets);
		}
		check_required(p, t, sets, n_sets, at);
		text_expect(p, '}');
		return;
	}
	while (text_accept(p, ','))
		one(p, t, sets, n_sets);
	check_required(p, t, sets, n_sets, at);
}

static bool calls(const struct attr_row *row)
{
	return row->form == FORM_COMPUTATION || row->form == FORM_COMPUTATIONS;
}

/* The index of a row among the rows that name computations. */
static size_t call_slot(const struct text *p, const struct attr_row *row)
{
	const struct attr_row *first = row;
	while (first > p->words->attr && calls(first - 1))
		first--;
	return (size_t)(row - first);
}

void attr_call(struct text *p, struct attr_target *t, const struct attr_row *row, Hlo__HloComputationProto *c)
{
	size_t slot = call_slot(p, row);
	BUG_ON(slot >= sizeof(t->called) / sizeof(*t->called));
	ptr_list_add(&t->called[slot], c);
}

void attr_called(const struct attr_target *t, struct ptr_list *out)
{
	for (size_t i = 0; i < sizeof(t->called) / sizeof(*t->called); i++)
		for (size_t k = 0; k < t->called[i].n; k++)
			ptr_list_add(out, t->called[i].v[k]);
}

void attr_target_release(struct attr_target *t)
{
	for (size_t i = 0; i < sizeof(t->called) / sizeof(*t->called); i++)
		mem_free(t->called[i].v);
	*t = (struct attr_target){0};
}
