/*
 * form.c - prints attributes, by the tables of hlo/words.h: the mirror of hlo/text/form.c.
 *
 * An attribute is written when it is required, or when its field differs from what XLA assumes where
 * nothing is written. Forms that know their message stand in files of the same names as the reader's:
 * window.c, alias.c, note.c, shard.c.
 */
#include <inttypes.h>
#include <string.h>
#include "hlo/print/print.h"

/* ---- does the attribute have to be written? ---- */

static bool all_zero(const struct field *v)
{
	for (size_t i = 0; i < field_count(v); i++)
		if (field_number(v, i))
			return false;
	return true;
}

/* Does the number differ from the default? Without a fallback in its row the default is 0, or an unset oneof. */
static bool differs(const struct field *v, const struct attr_row *row)
{
	int64_t x = field_number(v, 0);
	if (row->fallback <= 0)
		return v->f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF || x != 0;
	return x != row->fallback && (row->form == FORM_BOOL || x != 0);
}

static bool accuracy_empty(const Hlo__ResultAccuracy *a)
{
	return a->specs_case == HLO__RESULT_ACCURACY__SPECS_TOLERANCE ? !a->tolerance : !a->mode;
}

static bool shown(const struct field *v, const struct attr_row *row, bool required, const void *message)
{
	size_t n;
	float f;
	if (row->form == FORM_DEVICES)
		return devices_given(message);
	if (!v->f || !v->set)
		return required && v->f;
	switch (row->form) {
	case FORM_INT:
	case FORM_BOOL:
	case FORM_WORD: return required || differs(v, row);
	case FORM_TRISTATE: return field_number(v, 0) != 0;
	case FORM_FLOAT:
		memcpy(&f, v->at, sizeof(f));
		return required || f != 0;
	case FORM_WORDS: return !all_zero(v);
	case FORM_NAME:
	case FORM_STRING:
	case FORM_STRING_OR_JSON: field_string(v, &n); return required || n > 0;
	case FORM_METADATA: return field_pointer(v) && !metadata_empty(field_pointer(v));
	case FORM_FRONTEND:
	case FORM_STATISTICS: return field_pointer(v) && !note_empty(row->form, field_pointer(v));
	case FORM_MODULE_ALIAS:
	case FORM_DONOR: return field_pointer(v) && !alias_empty(row->form, field_pointer(v));
	case FORM_SPARSITY: return field_pointer(v) && !sparsity_empty(field_pointer(v));
	case FORM_ACCURACY: return field_pointer(v) && !accuracy_empty(field_pointer(v));
	case FORM_SHAPES: return ((const Hlo__HloInstructionProto *)message)->constrain_layout;
	default: break;
	}
	return v->count ? required || field_count(v) > 0 : field_pointer(v) != NULL;
}

/* ---- plain forms ---- */

static void ints(struct printer *p, const struct field *v, const char *open, const char *close)
{
	buf_adds(p->out, open);
	for (size_t i = 0; i < field_count(v); i++)
		buf_addf(p->out, "%s%" PRId64, i ? "," : "", field_number(v, i));
	buf_adds(p->out, close);
}

static void words(struct printer *p, const struct field *v, const struct attr_row *row)
{
	buf_addch(p->out, '{');
	for (size_t i = 0; i < field_count(v); i++) {
		const char *w = hlo_word(row->words, field_number(v, i));
		buf_addf(p->out, "%s%s", i ? "," : "", w ? w : "default");
	}
	buf_addch(p->out, '}');
}

static void bools(struct printer *p, const struct field *v)
{
	buf_addch(p->out, '{');
	for (size_t i = 0; i < field_count(v); i++)
		buf_addf(p->out, "%s%s", i ? "," : "", field_number(v, i) ? "true" : "false");
	buf_addch(p->out, '}');
}

/* The slice sizes of all dimensions of a permuted slice, as one list. */
static void int_lists(struct printer *p, const struct field *v)
{
	ints(p, v, "{{", "}}");
}

static void pairs(struct printer *p, const struct field *v)
{
	Hlo__SourceTarget *const *list = field_pointer(v);
	buf_addch(p->out, '{');
	for (size_t i = 0; i < field_count(v); i++)
		buf_addf(p->out, "%s{%" PRId64 ",%" PRId64 "}", i ? "," : "", list[i]->source, list[i]->target);
	buf_addch(p->out, '}');
}

static void shapes(struct printer *p, const struct field *v)
{
	Hlo__ShapeProto *const *list = field_pointer(v);
	buf_addch(p->out, '{');
	for (size_t i = 0; i < field_count(v); i++) {
		buf_adds(p->out, i ? ", " : "");
		print_shape(p->out, list[i], true);
	}
	buf_addch(p->out, '}');
}

static void accuracy(struct printer *p, const Hlo__ResultAccuracy *a)
{
	if (a->specs_case == HLO__RESULT_ACCURACY__SPECS_MODE) {
		const char *w = hlo_word(WORDS_ACCURACY, a->mode);
		buf_addf(p->out, "{mode=%s}", w ? w : "default");
		return;
	}
	buf_adds(p->out, "{tolerance={atol=");
	print_real(p->out, a->tolerance->atol, 17);
	buf_adds(p->out, ",rtol=");
	print_real(p->out, a->tolerance->rtol, 17);
	buf_addf(p->out, ",ulps=%" PRId64 "}}", a->tolerance->ulps);
}

/* XLA's message has the two the other way round: what text calls entry is domain_exit_sharding. */
static void domain(struct printer *p, const Hlo__HloInstructionProto *in)
{
	static const Hlo__OpSharding none = HLO__OP_SHARDING__INIT;
	buf_adds(p->out, "{kind=\"sharding\", entry=");
	print_sharding(p, in->domain_exit_sharding ? in->domain_exit_sharding : &none);
	buf_adds(p->out, ", exit=");
	print_sharding(p, in->domain_entry_sharding ? in->domain_entry_sharding : &none);
	buf_addch(p->out, '}');
}

static void string(struct printer *p, const struct field *v, bool json)
{
	size_t n;
	const char *s = field_string(v, &n);
	(json ? print_string_or_json : print_string)(p->out, s, n);
}

static void plain(struct printer *p, const struct field *v, const struct attr_row *row)
{
	const char *w;
	float f;
	switch (row->form) {
	case FORM_INT: buf_addf(p->out, "%" PRId64, field_number(v, 0)); break;
	case FORM_DIMENSION:
		buf_addf(p->out, "%" PRId64, field_count(v) ? field_number(v, 0) : row->fallback);
		break;
	case FORM_BOOL: buf_adds(p->out, field_number(v, 0) ? "true" : "false"); break;
	case FORM_TRISTATE: buf_adds(p->out, field_number(v, 0) == 1 ? "true" : "false"); break;
	case FORM_FLOAT:
		memcpy(&f, v->at, sizeof(f));
		print_real(p->out, (double)f, 9);
		break;
	case FORM_WORD:
		w = hlo_word(row->words, field_number(v, 0));
		buf_adds(p->out, w ? w : "unknown");
		break;
	case FORM_WORDS: words(p, v, row); break;
	case FORM_NAME: buf_adds(p->out, field_pointer(v)); break;
	case FORM_INTS: ints(p, v, "{", "}"); break;
	case FORM_BOOLS: bools(p, v); break;
	case FORM_INT_LISTS: int_lists(p, v); break;
	default: string(p, v, row->form == FORM_STRING_OR_JSON);
	}
}

static void form(struct printer *p, const struct field *v, const struct attr_row *row, const void *message)
{
	switch (row->form) {
	case FORM_PAIRS: pairs(p, v); break;
	case FORM_DEVICES: print_devices(p, message); break;
	case FORM_SLICE: print_slices(p, v); break;
	case FORM_PADDING: print_padding(p, field_pointer(v)); break;
	case FORM_WINDOW: print_window(p, field_pointer(v)); break;
	case FORM_DIM_LABELS: print_dim_labels(p, field_pointer(v)); break;
	case FORM_SPARSITY: print_sparsity(p, field_pointer(v)); break;
	case FORM_SHAPE: print_shape(p->out, field_pointer(v), true); break;
	case FORM_SHAPES: shapes(p, v); break;
	case FORM_LITERAL: print_shaped_literal(p->out, field_pointer(v)); break;
	case FORM_ALIASING: print_aliasing(p, v); break;
	case FORM_SHARDING: print_sharding(p, field_pointer(v)); break;
	case FORM_DOMAIN: domain(p, message); break;
	case FORM_METADATA: print_braces(p, &p->words->metadata, field_pointer(v)); break;
	case FORM_FRONTEND: print_frontend(p, field_pointer(v)); break;
	case FORM_STATISTICS: print_statistics(p, field_pointer(v)); break;
	case FORM_ORIGIN: print_origin(p, field_pointer(v)); break;
	case FORM_ACCURACY: accuracy(p, field_pointer(v)); break;
	case FORM_MODULE_ALIAS: print_module_alias(p, field_pointer(v)); break;
	case FORM_DONOR: print_donor(p, field_pointer(v)); break;
	case FORM_ENTRY_LAYOUT: print_entry_layout(p, field_pointer(v)); break;
	case FORM_PREDECESSORS: /* graph/print.c knows instructions and computations */
	case FORM_IGNORED:
	case FORM_SKIPPED:
	case FORM_COMPUTATION:
	case FORM_COMPUTATIONS: break;
	default: plain(p, v, row);
	}
}

/* Is the attribute not printed here? Only newer readers of XLA know topk's is_stable, so it is never written. */
static bool is_elsewhere(const struct attr_row *row)
{
	return !*row->path || row->form == FORM_PREDECESSORS || strcmp(row->key, "topk:is_stable") == 0;
}

/* Prints the attributes that have to be written, with `between` before all but the first. */
static void rows(struct printer *p, const struct attr_set *set, const void *message,
	const char *first, const char *between)
{
	const char *before = first;
	for (int i = 0; i < set->n; i++) {
		const struct attr_row *row = &p->words->attr[set->row[i]];
		if (is_elsewhere(row))
			continue;
		struct field v = field_find(message, row->path);
		if (!shown(&v, row, set->required >> i & 1, message))
			continue;
		buf_addf(p->out, "%s%s=", before, row->name);
		form(p, &v, row, message);
		before = between;
	}
}

void print_attrs(struct printer *p, const struct attr_set *set, const void *message)
{
	rows(p, set, message, ", ", ", ");
}

void print_braces(struct printer *p, const struct attr_set *set, const void *message)
{
	buf_addch(p->out, '{');
	rows(p, set, message, "", " ");
	buf_addch(p->out, '}');
}
