/*
 * hlo_text_form.c - the forms in which values are written; see enum attr_form for an example of each.
 *
 * A form is a function from tokens to a field, found by the path of the attribute's row. Plain ones
 * (numbers, words, strings, lists of them) serve most rows; the others know their message.
 */
#include <string.h>
#include "graph/hlo_text_own.h"

struct place { /* a field of a message */
	char *at;
	size_t *count;	/* of a list */
	const ProtobufCFieldDescriptor *f;
};

static struct place place_of(struct text *p, void *message, const char *path)
{
	struct place w = {0};
	char *m = text_walk(p, message, path, &w.f);
	w.at = m + w.f->offset;
	w.count = w.f->label == PROTOBUF_C_LABEL_REPEATED ? (size_t *)(void *)(m + w.f->quantifier_offset) : NULL;
	if (w.f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		memcpy(m + w.f->quantifier_offset, &w.f->id, sizeof(uint32_t));
	return w;
}

static bool is_wide(const ProtobufCFieldDescriptor *f)
{
	return f->type == PROTOBUF_C_TYPE_INT64;
}

static void set_number(const struct place *w, int64_t v)
{
	int32_t narrow = (int32_t)v;
	if (is_wide(w->f))
		memcpy(w->at, &v, sizeof(v));
	else
		memcpy(w->at, &narrow, sizeof(narrow));
}

static void set_pointer(const struct place *w, void *p)
{
	memcpy(w->at, &p, sizeof(p));
}

static void set_string(const struct place *w, char *s, size_t n)
{
	ProtobufCBinaryData b = {n, (uint8_t *)s};
	if (w->f->type == PROTOBUF_C_TYPE_BYTES)
		memcpy(w->at, &b, sizeof(b));
	else
		set_pointer(w, s);
}

/* A list of numbers, with what the field holds already before it. */
static void set_numbers(struct text *p, const struct place *w, const struct int_list *l)
{
	size_t width = is_wide(w->f) ? 8 : 4;
	char *v = arena_alloc(p->mem, l->n * width);
	for (size_t i = 0; i < l->n; i++) {
		struct place to = {v + i * width, NULL, w->f};
		set_number(&to, l->v[i]);
	}
	*w->count = l->n;
	set_pointer(w, l->n ? v : NULL);
}

static void set_messages(struct text *p, const struct place *w, struct ptr_list *l)
{
	*w->count = l->n;
	set_pointer(w, text_keep_ptrs(p, l));
	mem_free(l->v);
}

static int word(struct text *p, enum word_kind kind)
{
	int v = text_is(p, T_WORD) || text_is(p, T_NAME) ? hlo_word_number(kind, p->tok.s, p->tok.n) : -1;
	if (v < 0) {
		char list[400];
		hlo_word_list(kind, list, sizeof(list));
		text_expected(p, list);
		return 0;
	}
	text_next(p);
	return v;
}

void text_ints(struct text *p, int open, int close)
{
	p->ints.n = 0;
	for (bool more = text_first(p, open, close); more; more = text_again(p, close))
		int_list_add(&p->ints, text_int(p));
}

/* ---- plain forms ---- */

static int64_t int_for(struct text *p, const ProtobufCFieldDescriptor *f)
{
	return is_wide(f) ? text_int(p) : text_int_in(p, INT32_MIN, INT32_MAX);
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

static void name(struct text *p, const struct attr_row *row, const struct place *w)
{
	char *s = text_keep(p, p->tok.s, p->tok.n);
	word(p, row->words);
	set_pointer(w, s);
}

static void string(struct text *p, const struct place *w, bool json)
{
	size_t n = 0;
	char *s = json && text_is(p, '{') ? text_braces(p, &n) :
					    text_string(p, w->f->type == PROTOBUF_C_TYPE_BYTES ? &n : NULL);
	set_string(w, s, n);
}

/* ---- lists of small messages ---- */

static void *add(struct text *p, struct ptr_list *l, const ProtobufCMessageDescriptor *d)
{
	void *m = text_message(p, d);
	ptr_list_add(l, m);
	return m;
}

static void pairs(struct text *p, const struct place *w)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__SourceTarget *t = add(p, &list, &hlo__source_target__descriptor);
		text_expect(p, '{');
		t->source = text_int(p);
		text_expect(p, ',');
		t->target = text_int(p);
		text_expect(p, '}');
	}
	set_messages(p, w, &list);
}

static void slices(struct text *p, const struct place *w)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__SliceDimensions *d = add(p, &list, &hlo__slice_dimensions__descriptor);
		text_expect(p, '[');
		d->start = text_int(p);
		text_expect(p, ':');
		d->limit = text_int(p);
		d->stride = text_accept(p, ':') ? text_int(p) : 1;
		text_expect(p, ']');
	}
	set_messages(p, w, &list);
}

/* Numbers of a token such as "1_2x3_4": up to `max` of them before the next "x"; how many. */
static size_t numbers(struct text *p, const char **s, const char *end, int64_t *v, size_t max)
{
	size_t n = 0;
	while (*s < end && n < max) {
		bool minus = **s == '-';
		int64_t x = 0;
		for (*s += minus; *s < end && **s >= '0' && **s <= '9'; ++*s)
			if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, **s - '0', &x)) {
				text_wrong_at(p, *s, "this number does not fit in 64 bits");
				return 0;
			}
		v[n++] = minus ? -x : x;
		if (*s == end || *(*s)++ == 'x')
			break;
	}
	return n;
}

static void padding(struct text *p, const struct place *w)
{
	Hlo__PaddingConfig *config = text_message(p, &hlo__padding_config__descriptor);
	struct ptr_list list = {0};
	const char *s = p->tok.s, *end = s + p->tok.n;
	if (!text_is(p, T_PADS))
		text_expected(p, "padding, such as 0_1x2_3_1 (low_high or low_high_interior, x between dimensions)");
	while (!p->bad && s < end) {
		int64_t v[3] = {0};
		Hlo__PaddingConfigDimension *d = add(p, &list, &hlo__padding_config_dimension__descriptor);
		numbers(p, &s, end, v, 3);
		d->edge_padding_low = v[0];
		d->edge_padding_high = v[1];
		d->interior_padding = v[2];
	}
	text_next(p);
	config->n_dimensions = list.n;
	config->dimensions = (Hlo__PaddingConfigDimension **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	set_pointer(w, config);
}

/* 3x4, or a single number; into p->ints. */
static void sizes(struct text *p)
{
	const char *s = p->tok.s, *end = s + p->tok.n;
	p->ints.n = 0;
	if (text_is(p, T_INT)) {
		int_list_add(&p->ints, text_int(p));
		return;
	}
	if (!text_is(p, T_SIZES))
		text_expected(p, "sizes, such as 3x4");
	while (!p->bad && s < end) {
		int64_t v = 0;
		numbers(p, &s, end, &v, 1);
		int_list_add(&p->ints, v);
	}
	text_next(p);
}

static bool attr_is(const struct text *p, const char *name)
{
	return p->tok.n == strlen(name) && memcmp(p->tok.s, name, p->tok.n) == 0;
}

/* One part of a window, for all its dimensions; which field it goes to is told by its offset. */
static void window_part(struct text *p, Hlo__Window *w)
{
	static const struct {
		const char *name;
		size_t offset;
	} parts[] = {{"stride", offsetof(Hlo__WindowDimension, stride)},
		{"lhs_dilate", offsetof(Hlo__WindowDimension, base_dilation)},
		{"rhs_dilate", offsetof(Hlo__WindowDimension, window_dilation)},
		{"rhs_reversal", offsetof(Hlo__WindowDimension, window_reversal)}};
	const char *at = p->tok.at;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!attr_is(p, parts[i].name))
			continue;
		text_next(p);
		sizes(p);
		if (p->ints.n != w->n_dimensions)
			text_wrong_at(p, at, "size= has %zu dimensions, and so must this", w->n_dimensions);
		for (size_t d = 0; !p->bad && d < w->n_dimensions; d++) {
			char *to = (char *)w->dimensions[d] + parts[i].offset;
			if (i == 3)
				w->dimensions[d]->window_reversal = p->ints.v[d] == 1;
			else
				memcpy(to, &p->ints.v[d], sizeof(int64_t));
		}
		return;
	}
	text_wrong_at(p, at, "expected size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal");
}

static void window_pad(struct text *p, Hlo__Window *w)
{
	const char *s, *end, *at = p->tok.at;
	text_next(p);
	s = p->tok.s;
	end = s + p->tok.n;
	if (!text_is(p, T_PADS))
		text_expected(p, "padding, such as 0_1x2_3");
	for (size_t d = 0; !p->bad && (d < w->n_dimensions || s < end); d++) {
		int64_t v[3];
		if (d >= w->n_dimensions || s >= end || numbers(p, &s, end, v, 3) != 2) {
			text_wrong_at(p, at, "pad= must have low_high for each of the %zu dimensions", w->n_dimensions);
			break;
		}
		w->dimensions[d]->padding_low = v[0];
		w->dimensions[d]->padding_high = v[1];
	}
	text_next(p);
}

static void window_size(struct text *p, Hlo__Window *w)
{
	struct ptr_list list = {0};
	text_next(p);
	sizes(p);
	for (size_t i = 0; i < p->ints.n; i++) {
		Hlo__WindowDimension *d = add(p, &list, &hlo__window_dimension__descriptor);
		d->size = p->ints.v[i];
		d->stride = d->window_dilation = d->base_dilation = 1;
	}
	w->n_dimensions = list.n;
	w->dimensions = (Hlo__WindowDimension **)text_keep_ptrs(p, &list);
	mem_free(list.v);
}

/* The parts may stand in any order, but all depend on size=: first it is looked for, then the rest read. */
static void window(struct text *p, const struct place *w)
{
	Hlo__Window *out = text_message(p, &hlo__window__descriptor);
	set_pointer(w, out);
	text_expect(p, '{');
	struct token tok = p->tok;
	const char *at = p->at;
	while (!p->bad && !text_is(p, '}') && !(text_is(p, T_ATTR) && attr_is(p, "size")) && !text_is(p, T_END))
		text_next(p);
	if (text_is(p, T_ATTR))
		window_size(p, out);
	if (p->bad)
		return;
	p->tok = tok;
	p->at = at;
	while (!p->bad && !text_is(p, '}')) {
		if (!text_is(p, T_ATTR))
			text_expected(p, "size=, stride=, pad= or another part of a window");
		else if (attr_is(p, "size")) {
			text_next(p);
			sizes(p);
		} else if (attr_is(p, "pad"))
			window_pad(p, out);
		else
			window_part(p, out);
	}
	text_expect(p, '}');
}

/*
 * One of the three groups of dim_labels: digits are spatial dimensions, `a` and `b` the others, "?" is
 * none. Where each label stands goes to *first, *second and into p->ints.
 */
static void labels(struct text *p, const char *s, const char *end, char a, char b, int64_t *first,
	int64_t *second)
{
	size_t spatial = 0;
	unsigned seen = 0;
	for (const char *c = s; c < end; c++)
		spatial += *c != a && *c != b && *c != '?';
	p->ints.n = 0;
	for (size_t i = 0; i < spatial; i++)
		int_list_add(&p->ints, -1);
	for (const char *c = s; c < end; c++) {
		bool digit = *c >= '0' && *c <= '9';
		unsigned bit = *c == a ? 1 : *c == b ? 2 : digit ? 4u << (*c - '0') : 0;
		if (*c == '?')
			continue;
		if (!bit || seen & bit || (digit && (size_t)(*c - '0') >= spatial)) {
			text_wrong_at(p, c, "each of %c, %c and the digits below %zu stands here once", a, b, spatial);
			return;
		}
		seen |= bit;
		if (digit)
			p->ints.v[*c - '0'] = c - s;
		else
			*(*c == a ? first : second) = c - s;
	}
}

static void dim_labels(struct text *p, const struct place *w)
{
	Hlo__ConvolutionDimensionNumbers *d = text_message(p, &hlo__convolution_dimension_numbers__descriptor);
	set_pointer(w, d);
	if (!text_is(p, T_LABELS)) {
		text_expected(p, "dimension labels, such as bf01_oi01->bf01");
		return;
	}
	const char *s = p->tok.s, *end = s + p->tok.n;
	const char *rhs = memchr(s, '_', p->tok.n), *out = memchr(s, '>', p->tok.n);
	labels(p, s, rhs, 'b', 'f', &d->input_batch_dimension, &d->input_feature_dimension);
	d->n_input_spatial_dimensions = p->ints.n;
	d->input_spatial_dimensions = text_keep_ints(p, &p->ints);
	labels(p, rhs + 1, out - 1, 'i', 'o', &d->kernel_input_feature_dimension,
		&d->kernel_output_feature_dimension);
	d->n_kernel_spatial_dimensions = p->ints.n;
	d->kernel_spatial_dimensions = text_keep_ints(p, &p->ints);
	labels(p, out + 1, end, 'b', 'f', &d->output_batch_dimension, &d->output_feature_dimension);
	d->n_output_spatial_dimensions = p->ints.n;
	d->output_spatial_dimensions = text_keep_ints(p, &p->ints);
	if (d->n_input_spatial_dimensions != d->n_kernel_spatial_dimensions ||
		d->n_input_spatial_dimensions != d->n_output_spatial_dimensions)
		text_wrong_at(p, s, "input, kernel and output must have as many spatial dimensions");
	text_next(p);
}

static Hlo__TensorSparsity *sparsity_of(struct text *p)
{
	Hlo__TensorSparsity *s = text_message(p, &hlo__tensor_sparsity__descriptor);
	text_expect(p, '{');
	while (!p->bad && !text_is(p, '}')) {
		struct token key = p->tok;
		if (!text_is(p, T_ATTR))
			text_expected(p, "sparsity=, dimension=, stride= or idx=");
		text_next(p);
		if (key.n == 8 && memcmp(key.s, "sparsity", 8) == 0) {
			sizes(p);
			if (p->ints.n != 2)
				text_wrong_at(p, key.at, "sparsity is two numbers, such as 2x4");
			else
				s->num_non_zero = p->ints.v[0], s->block_size = p->ints.v[1];
		} else if (key.n == 9 && memcmp(key.s, "dimension", 9) == 0)
			s->dimension = text_int(p);
		else if (key.n == 6 && memcmp(key.s, "stride", 6) == 0)
			s->stride = text_int(p);
		else if (key.n == 3 && memcmp(key.s, "idx", 3) == 0)
			s->idx = (int32_t)text_int_in(p, INT32_MIN, INT32_MAX);
		else
			text_wrong_at(p, key.at, "expected sparsity=, dimension=, stride= or idx=");
	}
	text_expect(p, '}');
	return s;
}

static void sparsity(struct text *p, const struct place *w)
{
	Hlo__SparsityConfig *s = text_message(p, &hlo__sparsity_config__descriptor);
	set_pointer(w, s);
	text_expect(p, '{');
	while (!p->bad && !text_is(p, '}')) {
		bool lhs = text_is(p, T_ATTR) && attr_is(p, "lhs");
		if (!lhs && !(text_is(p, T_ATTR) && attr_is(p, "rhs")))
			text_expected(p, "lhs= or rhs=");
		text_next(p);
		*(lhs ? &s->lhs : &s->rhs) = sparsity_of(p);
	}
	text_expect(p, '}');
}

/* ---- aliasing ---- */

static int64_t *shape_index(struct text *p, size_t *n)
{
	text_ints(p, '{', '}');
	*n = p->ints.n;
	return text_keep_ints(p, &p->ints);
}

static void aliasing(struct text *p, const struct place *w)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__OutputOperandAliasing *a = add(p, &list, &hlo__output_operand_aliasing__descriptor);
		a->output_shape_index = shape_index(p, &a->n_output_shape_index);
		text_expect(p, ':');
		text_expect(p, '(');
		a->operand_index = text_int(p);
		text_expect(p, ',');
		a->operand_shape_index = shape_index(p, &a->n_operand_shape_index);
		text_expect(p, ')');
	}
	set_messages(p, w, &list);
}

static void module_alias(struct text *p, const struct place *w)
{
	Hlo__HloInputOutputAliasProto *m = text_message(p, &hlo__hlo_input_output_alias_proto__descriptor);
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__AliasEntry *a = add(p, &list, &hlo__alias_entry__descriptor);
		a->output_shape_index = shape_index(p, &a->n_output_shape_index);
		text_expect(p, ':');
		text_expect(p, '(');
		a->parameter_number = text_int(p);
		text_expect(p, ',');
		a->parameter_shape_index = shape_index(p, &a->n_parameter_shape_index);
		a->kind = text_accept(p, ',') ? word(p, WORDS_ALIAS) : 1;
		text_expect(p, ')');
	}
	m->n_entries = list.n;
	m->entries = (Hlo__AliasEntry **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	set_pointer(w, m);
}

static void donor(struct text *p, const struct place *w)
{
	Hlo__HloBufferDonorProto *m = text_message(p, &hlo__hlo_buffer_donor_proto__descriptor);
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__BufferDonorEntry *d = add(p, &list, &hlo__buffer_donor_entry__descriptor);
		text_expect(p, '(');
		d->parameter_number = text_int(p);
		text_expect(p, ',');
		d->parameter_shape_index = shape_index(p, &d->n_parameter_shape_index);
		text_expect(p, ')');
	}
	m->n_entries = list.n;
	m->entries = (Hlo__BufferDonorEntry **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	set_pointer(w, m);
}

static void entry_layout(struct text *p, const struct place *w)
{
	Hlo__ProgramShapeProto *s = text_message(p, &hlo__program_shape_proto__descriptor);
	struct ptr_list list = {0};
	text_expect(p, '{');
	for (bool more = text_first(p, '(', ')'); more; more = text_again(p, ')'))
		ptr_list_add(&list, text_shape(p));
	text_expect(p, T_ARROW);
	s->result = text_shape(p);
	text_expect(p, '}');
	s->n_parameters = list.n;
	s->parameters = (Hlo__ShapeProto **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	set_pointer(w, s);
	p->layout_given = true;
}

/* ---- what says where things come from, and free text ---- */

void text_metadata(struct text *p, Hlo__OpMetadata *m)
{
	const struct attr_set *sets[] = {&p->words->metadata};
	struct attr_target t = {.message = m};
	text_attrs(p, &t, sets, 1, ATTR_BRACES);
	attr_target_release(&t);
}

/* A later value of the same key replaces the earlier one. */
static void frontend(struct text *p, const struct place *w)
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
	set_pointer(w, m);
}

static void statistics(struct text *p, const struct place *w)
{
	Hlo__StatisticsViz *m = text_message(p, &hlo__statistics_viz__descriptor);
	struct ptr_list list = {0};
	bool first = true;
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}'), first = false) {
		if (!text_is(p, T_ATTR) || (first && !attr_is(p, "visualizing_index")))
			text_expected(p, first ? "visualizing_index=" : "name=");
		if (first) {
			text_next(p);
			m->stat_index_to_visualize = text_int(p);
			continue;
		}
		Hlo__Statistic *s = add(p, &list, &hlo__statistic__descriptor);
		s->stat_name = text_keep(p, p->tok.s, p->tok.n);
		text_next(p);
		s->stat_val = text_real(p);
	}
	m->n_statistics = list.n;
	m->statistics = (Hlo__Statistic **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	set_pointer(w, m);
}

static Hlo__OriginalArray *original_array(struct text *p)
{
	Hlo__OriginalArray *a = text_message(p, &hlo__original_array__descriptor);
	text_expect(p, '{');
	if (text_is(p, T_STRING)) {
		a->instruction_name = text_string(p, NULL);
		if (text_is(p, '{'))
			a->shape_index = shape_index(p, &a->n_shape_index);
	}
	text_expect(p, '}');
	return a;
}

/* {({"a" {0}}, {"b"})}: parentheses are the tuple, the comma counts; an empty {} stands for nothing. */
static void origin(struct text *p, const struct place *w)
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
			Hlo__OriginalValueElement *e = add(p, &list, &hlo__original_value_element__descriptor);
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
	set_pointer(w, m);
}

static void accuracy(struct text *p, const struct place *w)
{
	Hlo__ResultAccuracy *m = text_message(p, &hlo__result_accuracy__descriptor);
	text_expect(p, '{');
	if (text_is(p, T_ATTR) && attr_is(p, "mode")) {
		text_next(p);
		m->specs_case = HLO__RESULT_ACCURACY__SPECS_MODE;
		m->mode = word(p, WORDS_ACCURACY);
	} else if (text_is(p, T_ATTR) && attr_is(p, "tolerance")) {
		Hlo__Tolerance *t = text_message(p, &hlo__tolerance__descriptor);
		text_next(p);
		for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
			bool ulps = attr_is(p, "ulps"), rtol = attr_is(p, "rtol");
			if (!text_is(p, T_ATTR) || (!ulps && !rtol && !attr_is(p, "atol")))
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
		set_pointer(w, m);
}

static void domain(struct text *p, void *message)
{
	Hlo__HloInstructionProto *in = message;
	text_expect(p, '{');
	for (int i = 0; i < 3 && !p->bad; i++) {
		static const char *const names[] = {"kind", "entry", "exit"};
		text_accept(p, ',');
		if (!text_is(p, T_ATTR) || !attr_is(p, names[i]))
			text_expected(p, "kind=\"sharding\", entry={...}, exit={...}");
		text_next(p);
		if (i == 0 && strcmp(text_string(p, NULL), "sharding") != 0)
			text_wrong_at(p, p->tok.at, "the only kind of domain is \"sharding\"");
		else if (i > 0)
			*(i == 1 ? &in->domain_exit_sharding : &in->domain_entry_sharding) = text_sharding(p); /* sic */
	}
	text_expect(p, '}');
}

/* ---- other instructions and computations ---- */

static void predecessors(struct text *p, struct attr_target *t, const struct place *w)
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
	set_numbers(p, w, &p->ints);
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

static void plain(struct text *p, const struct attr_row *row, const struct place *w)
{
	protobuf_c_boolean truth;
	float f;
	switch (row->form) {
	case FORM_INT:
		set_number(w, int_for(p, w->f));
		return;
	case FORM_DIMENSION:
		p->ints.n = 0;
		int_list_add(&p->ints, text_int(p));
		if (p->ints.v[0] == row->fallback)
			p->ints.n = 0;
		set_numbers(p, w, &p->ints);
		return;
	case FORM_BOOL:
		truth = text_bool(p);
		memcpy(w->at, &truth, sizeof(truth));
		return;
	case FORM_TRISTATE:
		set_number(w, text_bool(p) ? 1 : 2);
		return;
	case FORM_FLOAT:
		f = (float)text_real(p);
		memcpy(w->at, &f, sizeof(f));
		return;
	case FORM_WORD:
		set_number(w, word(p, row->words));
		return;
	case FORM_WORDS:
		p->ints.n = 0;
		for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}'))
			int_list_add(&p->ints, word(p, row->words));
		set_numbers(p, w, &p->ints);
		return;
	case FORM_NAME:
		name(p, row, w);
		return;
	case FORM_INTS:
		text_ints(p, '{', '}');
		set_numbers(p, w, &p->ints);
		return;
	case FORM_INT_LISTS:
		int_lists(p);
		set_numbers(p, w, &p->ints);
		return;
	case FORM_BOOLS:
		bools(p);
		set_numbers(p, w, &p->ints);
		return;
	default:
		string(p, w, row->form == FORM_STRING_OR_JSON);
	}
}

static void shapes(struct text *p, void *message, const struct place *w)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}'))
		ptr_list_add(&list, text_shape(p));
	set_messages(p, w, &list);
	((Hlo__HloInstructionProto *)message)->constrain_layout = true;
}

/* Module settings that the message has no place for. */
static void dropped(struct text *p, const struct attr_row *row)
{
	size_t n;
	switch (row->form) {
	case FORM_IGNORED:
		word(p, row->words);
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
	struct place w = place_of(p, message, row->path);
	switch (row->form) {
	case FORM_PAIRS: pairs(p, &w); break;
	case FORM_DEVICES: text_devices(p, message); break;
	case FORM_SLICE: slices(p, &w); break;
	case FORM_PADDING: padding(p, &w); break;
	case FORM_WINDOW: window(p, &w); break;
	case FORM_DIM_LABELS: dim_labels(p, &w); break;
	case FORM_SPARSITY: sparsity(p, &w); break;
	case FORM_SHAPE: set_pointer(&w, text_shape(p)); break;
	case FORM_SHAPES: shapes(p, message, &w); break;
	case FORM_LITERAL: set_pointer(&w, text_shaped_literal(p)); break;
	case FORM_ALIASING: aliasing(p, &w); break;
	case FORM_SHARDING: set_pointer(&w, text_sharding(p)); break;
	case FORM_DOMAIN: domain(p, message); break;
	case FORM_METADATA: text_metadata(p, *(Hlo__OpMetadata **)(void *)w.at); break;
	case FORM_FRONTEND: frontend(p, &w); break;
	case FORM_STATISTICS: statistics(p, &w); break;
	case FORM_ORIGIN: origin(p, &w); break;
	case FORM_ACCURACY: accuracy(p, &w); break;
	case FORM_PREDECESSORS: predecessors(p, t, &w); break;
	case FORM_MODULE_ALIAS: module_alias(p, &w); break;
	case FORM_DONOR: donor(p, &w); break;
	case FORM_ENTRY_LAYOUT: entry_layout(p, &w); break;
	default: plain(p, row, &w);
	}
}
