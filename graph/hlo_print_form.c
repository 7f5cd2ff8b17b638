/*
 * hlo_print_form.c - attributes, by the tables of hlo_words.h: the mirror of hlo_text_form.c.
 *
 * An attribute is written when it is required or its field holds something else than what XLA
 * assumes where nothing is written.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "graph/hlo_print_own.h"

struct value { /* a field of a message, found by its path; f is NULL where a message on the way is missing */
	const ProtobufCFieldDescriptor *f;
	const char *at;
	size_t n; /* of a list */
	bool set; /* of a oneof */
};

static struct value value_of(const void *message, const char *path)
{
	const ProtobufCMessage *m = message;
	for (;;) {
		struct value v = {0};
		char name[64];
		size_t n = strcspn(path, ".");
		BUG_ON(n >= sizeof(name));
		memcpy(name, path, n);
		name[n] = '\0';
		const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name);
		BUG_ON(!f);
		const char *at = (const char *)m + f->offset;
		if (!path[n]) {
			v.f = f;
			v.at = at;
			v.set = true;
			if (f->label == PROTOBUF_C_LABEL_REPEATED)
				memcpy(&v.n, (const char *)m + f->quantifier_offset, sizeof(v.n));
			if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
				uint32_t which;
				memcpy(&which, (const char *)m + f->quantifier_offset, sizeof(which));
				v.set = which == f->id;
			}
			return v;
		}
		memcpy(&m, at, sizeof(m));
		if (!m)
			return v;
		path += n + 1;
	}
}

static int64_t number(const struct value *v, size_t i)
{
	bool wide = v->f->type == PROTOBUF_C_TYPE_INT64;
	const char *at = v->at;
	int64_t x = 0;
	int32_t narrow;
	if (v->f->label == PROTOBUF_C_LABEL_REPEATED)
		at = *(const char *const *)(const void *)at;
	if (wide) {
		memcpy(&x, at + 8 * i, 8);
		return x;
	}
	memcpy(&narrow, at + 4 * i, 4);
	return narrow;
}

static const void *pointer(const struct value *v)
{
	const void *p;
	memcpy(&p, v->at, sizeof(p));
	return p;
}

static const char *text_of(const struct value *v, size_t *n)
{
	if (v->f->type == PROTOBUF_C_TYPE_BYTES) {
		ProtobufCBinaryData b;
		memcpy(&b, v->at, sizeof(b));
		*n = b.len;
		return (const char *)b.data;
	}
	const char *s = pointer(v);
	*n = s ? strlen(s) : 0;
	return s;
}

/* ---- does it say something? ---- */

static bool all_zero(const struct value *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (number(v, i))
			return false;
	return true;
}

static bool shown(const struct value *v, const struct attr_row *row, bool required, const void *message)
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
	case FORM_WORD:
		/* 0 is nothing, but where something else is assumed. */
		return required || (row->fallback <= 0 ? v->f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF || number(v, 0) != 0 :
							 number(v, 0) != row->fallback &&
								 (row->form == FORM_BOOL || number(v, 0) != 0));
	case FORM_TRISTATE: return number(v, 0) != 0;
	case FORM_FLOAT:
		memcpy(&f, v->at, sizeof(f));
		return required || f != 0;
	case FORM_WORDS: return !all_zero(v);
	case FORM_NAME:
	case FORM_STRING:
	case FORM_STRING_OR_JSON: text_of(v, &n); return required || n > 0;
	case FORM_METADATA: return pointer(v) && !metadata_empty(pointer(v));
	case FORM_FRONTEND: return pointer(v) && ((const Hlo__FrontendAttributes *)pointer(v))->n_map;
	case FORM_STATISTICS:
		return pointer(v) && (((const Hlo__StatisticsViz *)pointer(v))->n_statistics ||
					     ((const Hlo__StatisticsViz *)pointer(v))->stat_index_to_visualize);
	case FORM_SPARSITY:
		return pointer(v) && (((const Hlo__SparsityConfig *)pointer(v))->lhs ||
					     ((const Hlo__SparsityConfig *)pointer(v))->rhs);
	case FORM_MODULE_ALIAS: return pointer(v) && ((const Hlo__HloInputOutputAliasProto *)pointer(v))->n_entries;
	case FORM_DONOR: return pointer(v) && ((const Hlo__HloBufferDonorProto *)pointer(v))->n_entries;
	case FORM_ACCURACY: {
		const Hlo__ResultAccuracy *a = pointer(v);
		return a && (a->specs_case == HLO__RESULT_ACCURACY__SPECS_TOLERANCE ? a->tolerance != NULL : a->mode != 0);
	}
	case FORM_SHAPES: return ((const Hlo__HloInstructionProto *)message)->constrain_layout;
	default: break;
	}
	return v->f->label == PROTOBUF_C_LABEL_REPEATED ? required || v->n > 0 : pointer(v) != NULL;
}

/* ---- forms ---- */

static void ints(struct printer *p, const struct value *v, const char *open, const char *close)
{
	buf_adds(p->out, open);
	for (size_t i = 0; i < v->n; i++)
		buf_addf(p->out, "%s%" PRId64, i ? "," : "", number(v, i));
	buf_adds(p->out, close);
}

static void words(struct printer *p, const struct value *v, const struct attr_row *row)
{
	buf_addch(p->out, '{');
	for (size_t i = 0; i < v->n; i++) {
		const char *w = hlo_word(row->words, number(v, i));
		buf_addf(p->out, "%s%s", i ? "," : "", w ? w : "default");
	}
	buf_addch(p->out, '}');
}

static void bools(struct printer *p, const struct value *v)
{
	buf_addch(p->out, '{');
	for (size_t i = 0; i < v->n; i++)
		buf_addf(p->out, "%s%s", i ? "," : "", number(v, i) ? "true" : "false");
	buf_addch(p->out, '}');
}

/* All dimensions' slice sizes of a permuted slice, as one list. */
static void int_lists(struct printer *p, const struct value *v)
{
	ints(p, v, "{{", "}}");
}

static void pairs(struct printer *p, const struct value *v)
{
	Hlo__SourceTarget *const *list = pointer(v);
	buf_addch(p->out, '{');
	for (size_t i = 0; i < v->n; i++)
		buf_addf(p->out, "%s{%" PRId64 ",%" PRId64 "}", i ? "," : "", list[i]->source, list[i]->target);
	buf_addch(p->out, '}');
}

static void slices(struct printer *p, const struct value *v)
{
	Hlo__SliceDimensions *const *list = pointer(v);
	buf_addch(p->out, '{');
	for (size_t i = 0; i < v->n; i++) {
		buf_addf(p->out, "%s[%" PRId64 ":%" PRId64, i ? ", " : "", list[i]->start, list[i]->limit);
		if (list[i]->stride != 1)
			buf_addf(p->out, ":%" PRId64, list[i]->stride);
		buf_addch(p->out, ']');
	}
	buf_addch(p->out, '}');
}

static void padding(struct printer *p, const Hlo__PaddingConfig *c)
{
	for (size_t i = 0; i < c->n_dimensions; i++) {
		const Hlo__PaddingConfigDimension *d = c->dimensions[i];
		buf_addf(p->out, "%s%" PRId64 "_%" PRId64, i ? "x" : "", d->edge_padding_low, d->edge_padding_high);
		if (d->interior_padding)
			buf_addf(p->out, "_%" PRId64, d->interior_padding);
	}
}

static void window(struct printer *p, const Hlo__Window *w)
{
	static const struct {
		const char *name;
		size_t offset;
		int64_t usual;
	} parts[] = {{"size", offsetof(Hlo__WindowDimension, size), INT64_MIN},
		{"stride", offsetof(Hlo__WindowDimension, stride), 1},
		{"lhs_dilate", offsetof(Hlo__WindowDimension, base_dilation), 1},
		{"rhs_dilate", offsetof(Hlo__WindowDimension, window_dilation), 1}};
	bool pads = false, reversed = false;
	const char *space = "";
	buf_addch(p->out, '{');
	for (size_t k = 0; k < 4; k++) {
		bool differs = false;
		for (size_t i = 0; i < w->n_dimensions; i++) {
			int64_t v;
			memcpy(&v, (const char *)w->dimensions[i] + parts[k].offset, sizeof(v));
			differs |= v != parts[k].usual;
		}
		for (size_t i = 0; differs && i < w->n_dimensions; i++) {
			int64_t v;
			memcpy(&v, (const char *)w->dimensions[i] + parts[k].offset, sizeof(v));
			if (i == 0)
				buf_addf(p->out, "%s%s=", space, parts[k].name);
			buf_addf(p->out, "%s%" PRId64, i ? "x" : "", v);
			space = " ";
		}
	}
	for (size_t i = 0; i < w->n_dimensions; i++) {
		pads |= w->dimensions[i]->padding_low || w->dimensions[i]->padding_high;
		reversed |= w->dimensions[i]->window_reversal;
	}
	for (size_t i = 0; pads && i < w->n_dimensions; i++)
		buf_addf(p->out, "%s%" PRId64 "_%" PRId64, i ? "x" : " pad=", w->dimensions[i]->padding_low,
			w->dimensions[i]->padding_high);
	for (size_t i = 0; reversed && i < w->n_dimensions; i++)
		buf_addf(p->out, "%s%d", i ? "x" : " rhs_reversal=", w->dimensions[i]->window_reversal != 0);
	buf_addch(p->out, '}');
}

static void labels(struct printer *p, char a, int64_t at_a, char b, int64_t at_b, const int64_t *spatial, size_t n)
{
	char s[64];
	int64_t rank = (at_a > at_b ? at_a : at_b) + 1;
	for (size_t i = 0; i < n; i++)
		if (spatial[i] >= rank)
			rank = spatial[i] + 1;
	if (rank > 63 || n > 10)
		return;
	memset(s, '?', sizeof(s));
	s[rank < 0 ? 0 : rank] = '\0';
	for (size_t i = 0; i < n; i++)
		if (spatial[i] >= 0)
			s[spatial[i]] = (char)('0' + i);
	if (at_a >= 0)
		s[at_a] = a;
	if (at_b >= 0)
		s[at_b] = b;
	buf_adds(p->out, s);
}

static void dim_labels(struct printer *p, const Hlo__ConvolutionDimensionNumbers *d)
{
	labels(p, 'b', d->input_batch_dimension, 'f', d->input_feature_dimension, d->input_spatial_dimensions,
		d->n_input_spatial_dimensions);
	buf_addch(p->out, '_');
	labels(p, 'i', d->kernel_input_feature_dimension, 'o', d->kernel_output_feature_dimension,
		d->kernel_spatial_dimensions, d->n_kernel_spatial_dimensions);
	buf_adds(p->out, "->");
	labels(p, 'b', d->output_batch_dimension, 'f', d->output_feature_dimension, d->output_spatial_dimensions,
		d->n_output_spatial_dimensions);
}

static void sparsity(struct printer *p, const Hlo__SparsityConfig *c)
{
	buf_addch(p->out, '{');
	for (int i = 0; i < 2; i++) {
		const Hlo__TensorSparsity *s = i ? c->rhs : c->lhs;
		if (s)
			buf_addf(p->out, "%s=%s{sparsity=%" PRId64 "x%" PRId64 " dimension=%" PRId64 " stride=%" PRId64 " idx=%d}",
				i ? " rhs" : "lhs", "", s->num_non_zero, s->block_size, s->dimension, s->stride, s->idx);
	}
	buf_addch(p->out, '}');
}

static void aliasing(struct printer *p, const struct value *v)
{
	Hlo__OutputOperandAliasing *const *list = pointer(v);
	buf_addch(p->out, '{');
	for (size_t i = 0; i < v->n; i++) {
		print_ints(p->out, list[i]->output_shape_index, list[i]->n_output_shape_index, i ? ", {" : "{", "}: ");
		buf_addf(p->out, "(%" PRId64 ", ", list[i]->operand_index);
		print_ints(p->out, list[i]->operand_shape_index, list[i]->n_operand_shape_index, "{", "})");
	}
	buf_addch(p->out, '}');
}

static void module_alias(struct printer *p, const Hlo__HloInputOutputAliasProto *m)
{
	buf_adds(p->out, "{ ");
	for (size_t i = 0; i < m->n_entries; i++) {
		const Hlo__AliasEntry *e = m->entries[i];
		const char *kind = hlo_word(WORDS_ALIAS, e->kind);
		print_ints(p->out, e->output_shape_index, e->n_output_shape_index, i ? ", {" : "{", "}: ");
		buf_addf(p->out, "(%" PRId64 ", ", e->parameter_number);
		print_ints(p->out, e->parameter_shape_index, e->n_parameter_shape_index, "{", "}, ");
		buf_addf(p->out, "%s)", kind ? kind : "may-alias");
	}
	buf_adds(p->out, " }");
}

static void donor(struct printer *p, const Hlo__HloBufferDonorProto *m)
{
	buf_adds(p->out, "{ ");
	for (size_t i = 0; i < m->n_entries; i++) {
		buf_addf(p->out, "%s(%" PRId64 ", ", i ? ", " : "", m->entries[i]->parameter_number);
		print_ints(p->out, m->entries[i]->parameter_shape_index, m->entries[i]->n_parameter_shape_index, "{", "})");
	}
	buf_adds(p->out, " }");
}

static void entry_layout(struct printer *p, const Hlo__ProgramShapeProto *s)
{
	buf_adds(p->out, "{(");
	for (size_t i = 0; i < s->n_parameters; i++) {
		buf_adds(p->out, i ? ", " : "");
		print_shape(p->out, s->parameters[i], true);
	}
	buf_adds(p->out, ")->");
	if (s->result)
		print_shape(p->out, s->result, true);
	buf_addch(p->out, '}');
}

static void shapes(struct printer *p, const struct value *v)
{
	Hlo__ShapeProto *const *list = pointer(v);
	buf_addch(p->out, '{');
	for (size_t i = 0; i < v->n; i++) {
		buf_adds(p->out, i ? ", " : "");
		print_shape(p->out, list[i], true);
	}
	buf_addch(p->out, '}');
}

bool metadata_empty(const Hlo__OpMetadata *m)
{
	static const Hlo__OpMetadata none = HLO__OP_METADATA__INIT;
	return !*m->op_type && !*m->op_name && !*m->source_file && !*m->deduplicated_name && !*m->scheduling_name &&
	       m->source_line == none.source_line && !m->source_end_line && !m->source_column && !m->source_end_column &&
	       !m->n_profile_type && !m->stack_frame_id && !m->metadata_payload;
}

static void form(struct printer *p, const struct value *v, const struct attr_row *row, const void *message);

/* Rows that say something, with `between` before all but the first. */
static void rows(struct printer *p, const struct attr_set *set, const void *message,
	const char *first, const char *between)
{
	const char *before = first;
	for (int i = 0; i < set->n; i++) {
		const struct attr_row *row = &p->words->attr[set->row[i]];
		if (!*row->path || row->form == FORM_PREDECESSORS || strcmp(row->key, "topk:is_stable") == 0) /* only newer readers know it */
			continue;
		struct value v = value_of(message, row->path);
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

void print_metadata(struct printer *p, const Hlo__OpMetadata *m)
{
	buf_addch(p->out, '{');
	rows(p, &p->words->metadata, m, "", " ");
	buf_addch(p->out, '}');
}

/* Keys that are no names cannot be written. */
static bool is_name(const char *s)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	return *s && strchr(letters, *s) && strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.-") == strlen(s);
}

static void frontend(struct printer *p, const Hlo__FrontendAttributes *m)
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

static void statistics(struct printer *p, const Hlo__StatisticsViz *m)
{
	buf_addf(p->out, "{visualizing_index=%" PRId64, m->stat_index_to_visualize);
	for (size_t i = 0; i < m->n_statistics; i++)
		if (is_name(m->statistics[i]->stat_name) && isfinite(m->statistics[i]->stat_val)) {
			buf_addf(p->out, ",%s=", m->statistics[i]->stat_name);
			print_real(p->out, m->statistics[i]->stat_val, 17);
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

/*
 * Elements come in the order of the tuple's leaves; from one index to the next some parentheses close,
 * a comma counts on, and some open.
 */
static void origin(struct printer *p, const Hlo__OriginalValue *m)
{
	const Hlo__OriginalValueElement *last = NULL;
	size_t open = 0;
	buf_adds(p->out, m->is_synthetic_call ? "{[synthetic_call]" : "{");
	for (size_t i = 0; i < m->n_elements && !m->is_synthetic_call; i++) {
		const Hlo__OriginalValueElement *e = m->elements[i];
		size_t same = 0, n = e->n_shape_index;
		while (last && same < n && same < last->n_shape_index && e->shape_index[same] == last->shape_index[same])
			same++;
		for (; open > same + 1; open--)
			buf_addch(p->out, ')');
		if (last && open == same + 1)
			for (int64_t k = last->shape_index[same]; k < e->shape_index[same] && k < 1 << 20; k++)
				buf_addch(p->out, ',');
		for (; open < n; open++) {
			buf_addch(p->out, '(');
			for (int64_t k = 0; k < e->shape_index[open] && k < 1 << 20; k++)
				buf_addch(p->out, ',');
		}
		buf_addch(p->out, '{');
		if (e->original_array) {
			print_string(p->out, e->original_array->instruction_name, strlen(e->original_array->instruction_name));
			if (e->original_array->n_shape_index)
				print_ints(p->out, e->original_array->shape_index, e->original_array->n_shape_index, " {", "}");
		}
		buf_addch(p->out, '}');
		last = e;
	}
	for (; open; open--)
		buf_addch(p->out, ')');
	buf_addch(p->out, '}');
}

static void form(struct printer *p, const struct value *v, const struct attr_row *row, const void *message)
{
	const char *s, *w;
	size_t n;
	float f;
	switch (row->form) {
	case FORM_INT: buf_addf(p->out, "%" PRId64, number(v, 0)); break;
	case FORM_DIMENSION: buf_addf(p->out, "%" PRId64, v->n ? number(v, 0) : row->fallback); break;
	case FORM_BOOL: buf_adds(p->out, number(v, 0) ? "true" : "false"); break;
	case FORM_TRISTATE: buf_adds(p->out, number(v, 0) == 1 ? "true" : "false"); break;
	case FORM_FLOAT:
		memcpy(&f, v->at, sizeof(f));
		print_real(p->out, (double)f, 9);
		break;
	case FORM_WORD:
		w = hlo_word(row->words, number(v, 0));
		buf_adds(p->out, w ? w : "unknown");
		break;
	case FORM_WORDS: words(p, v, row); break;
	case FORM_NAME: buf_adds(p->out, pointer(v)); break;
	case FORM_STRING: s = text_of(v, &n); print_string(p->out, s, n); break;
	case FORM_STRING_OR_JSON: s = text_of(v, &n); print_string_or_json(p->out, s, n); break;
	case FORM_INTS: ints(p, v, "{", "}"); break;
	case FORM_BOOLS: bools(p, v); break;
	case FORM_INT_LISTS: int_lists(p, v); break;
	case FORM_PAIRS: pairs(p, v); break;
	case FORM_DEVICES: print_devices(p, message); break;
	case FORM_SLICE: slices(p, v); break;
	case FORM_PADDING: padding(p, pointer(v)); break;
	case FORM_WINDOW: window(p, pointer(v)); break;
	case FORM_DIM_LABELS: dim_labels(p, pointer(v)); break;
	case FORM_SPARSITY: sparsity(p, pointer(v)); break;
	case FORM_SHAPE: print_shape(p->out, pointer(v), true); break;
	case FORM_SHAPES: shapes(p, v); break;
	case FORM_LITERAL: print_shaped_literal(p->out, pointer(v)); break;
	case FORM_ALIASING: aliasing(p, v); break;
	case FORM_SHARDING: print_sharding(p, pointer(v)); break;
	case FORM_DOMAIN: {
		const Hlo__HloInstructionProto *in = message;
		static const Hlo__OpSharding none = HLO__OP_SHARDING__INIT;
		buf_adds(p->out, "{kind=\"sharding\", entry=");
		print_sharding(p, in->domain_exit_sharding ? in->domain_exit_sharding : &none);
		buf_adds(p->out, ", exit=");
		print_sharding(p, in->domain_entry_sharding ? in->domain_entry_sharding : &none);
		buf_addch(p->out, '}');
		break;
	}
	case FORM_METADATA: print_metadata(p, pointer(v)); break;
	case FORM_FRONTEND: frontend(p, pointer(v)); break;
	case FORM_STATISTICS: statistics(p, pointer(v)); break;
	case FORM_ORIGIN: origin(p, pointer(v)); break;
	case FORM_ACCURACY: accuracy(p, pointer(v)); break;
	case FORM_MODULE_ALIAS: module_alias(p, pointer(v)); break;
	case FORM_DONOR: donor(p, pointer(v)); break;
	case FORM_ENTRY_LAYOUT: entry_layout(p, pointer(v)); break;
	case FORM_PREDECESSORS: /* hlo_print.c knows instructions and computations */
	case FORM_IGNORED:
	case FORM_SKIPPED:
	case FORM_COMPUTATION:
	case FORM_COMPUTATIONS: break;
	}
}
