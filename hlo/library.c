/*
 * library.c - see library.h. Settings are JSON, as protobuf prints a message of XLA's: a number that is missing is 0,
 * and long ones may be in quotes.
 */
#include "hlo/library.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/scan.h"
#include "hlo/edit.h"
#include "hlo/module.h"
#include "hlo/op.h"

#define RANK 16
#define PATH 128

typedef Hlo__HloInstructionProto instruction;
typedef Hlo__ConvolutionDimensionNumbers meaning;

static const struct library { /* what it computes, and what its settings are called */
	uint16_t opcode;
	const char *target, *settings;
} libraries[] = {
	{OP_DOT, LIBRARY_CALL "matmul", "onednn_matmul_config"},
	{OP_CONVOLUTION, LIBRARY_CALL "convolution", "onednn_conv_config"},
};

/* What settings say of the dimensions of a convolution. */
static const struct place {
	const char *array, *kind, *key;
	size_t at, count; /* of the list's length; 0: it is one number */
} places[] = {
#define ONE(array, kind, key, field) {array, kind, key, offsetof(meaning, field), 0}
#define LIST(array, kind, field) {array, kind, "spatial_dims", offsetof(meaning, field), offsetof(meaning, n_##field)}
	ONE("input", "data", "batch_dim", input_batch_dimension),
	ONE("input", "data", "feature_dim", input_feature_dimension),
	LIST("input", "data", input_spatial_dimensions),
	ONE("kernel", "filter", "input_feature_dim", kernel_input_feature_dimension),
	ONE("kernel", "filter", "output_feature_dim", kernel_output_feature_dimension),
	LIST("kernel", "filter", kernel_spatial_dimensions),
	ONE("output", "data", "batch_dim", output_batch_dimension),
	ONE("output", "data", "feature_dim", output_feature_dimension),
	LIST("output", "data", output_spatial_dimensions),
#undef ONE
#undef LIST
};

/* ... and of its window, a number for each dimension. What a message leaves out of these is `missing`. */
static const struct along {
	const char *key;
	size_t at;
	int64_t missing;
} window[] = {
#define ALONG(key, field, missing) {key, offsetof(Hlo__WindowDimension, field), missing}
	ALONG("size", size, 1),
	ALONG("pad_left", padding_low, 0),
	ALONG("pad_right", padding_high, 0),
	ALONG("strides", stride, 1),
	ALONG("window_dilations", window_dilation, 1),
#undef ALONG
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct library *library_of(uint16_t opcode)
{
	for (size_t i = 0; i < COUNT(libraries); i++)
		if (libraries[i].opcode == opcode)
			return &libraries[i];
	return NULL;
}

/* ---- from an instruction to a call ---- */

static void write_numbers(struct json *j, const char *key, const int64_t *v, size_t n)
{
	json_array(j, key);
	for (size_t i = 0; i < n; i++)
		json_int(j, NULL, v[i]);
	json_end(j);
}

/* Side k of a dot: where the dimensions of its matrices lie, counted from 1. */
static void write_matrix(struct json *j, const Hlo__DotDimensionNumbers *dims, int k)
{
	const int64_t *batch = k ? dims->rhs_batch_dimensions : dims->lhs_batch_dimensions;
	int64_t summed = *(k ? dims->rhs_contracting_dimensions : dims->lhs_contracting_dimensions);
	int64_t n = (int64_t)dims->n_lhs_batch_dimensions, at[RANK], stays = n * (n + 1) / 2 + n + 1 - summed;

	for (int64_t i = 0; i < n; i++) {
		at[i] = batch[i] + 1;
		stays -= batch[i];
	}
	at[k ? n + 1 : n] = stays + 1;
	at[k ? n : n + 1] = summed + 1;
	json_object(j, k ? "rhs" : "lhs");
	json_int(j, "dims", n + 2);
	json_object(j, "tensor");
	write_numbers(j, "dimensions", at, (size_t)n + 2);
	json_end(j);
	json_end(j);
}

static int64_t *number_at(void *message, size_t at)
{
	return (int64_t *)((char *)message + at);
}

static void write_meaning(struct json *j, meaning *m)
{
	for (size_t i = 0; i < COUNT(places); i++) {
		const struct place *p = &places[i];
		if (i == 0 || strcmp(p->array, p[-1].array) != 0) {
			json_object(j, p->array);
			json_int(j, "dims", (int64_t)m->n_input_spatial_dimensions + 2);
			json_object(j, p->kind);
		}
		if (p->count)
			write_numbers(j, p->key, *(int64_t **)((char *)m + p->at),
				*(size_t *)((char *)m + p->count));
		else
			json_int(j, p->key, *number_at(m, p->at));
		if (i + 1 == COUNT(places) || strcmp(p->array, p[1].array) != 0) {
			json_end(j);
			json_end(j);
		}
	}
}

static void write_convolution(struct json *j, instruction *in)
{
	json_int(j, "dims", (int64_t)in->shape->n_dimensions);
	json_int(j, "feature_groups", in->feature_group_count > 1 ? in->feature_group_count : 1);
	write_meaning(j, in->convolution_dimension_numbers);
	json_object(j, "window");
	for (size_t k = 0; k < COUNT(window); k++) {
		json_array(j, window[k].key);
		for (size_t i = 0; i < in->window->n_dimensions; i++) {
			int64_t v = *number_at(in->window->dimensions[i], window[k].at);
			json_int(j, NULL, v ? v : window[k].missing);
		}
		json_end(j);
	}
	json_end(j);
}

void library_call(struct arena *mem, instruction *in)
{
	const struct library *l = library_of(opcode_of(in->opcode));
	struct buf settings = {0};
	struct json j = {.out = &settings};

	json_object(&j, NULL);
	json_object(&j, l->settings);
	if (l->opcode == OP_DOT)
		for (int k = 0; k < 2; k++)
			write_matrix(&j, in->dot_dimension_numbers, k);
	else
		write_convolution(&j, in);
	json_end(&j);
	json_end(&j);
	in->opcode = arena_strdup(mem, opcode_name(OP_CUSTOM_CALL));
	in->custom_call_target = arena_strdup(mem, l->target);
	in->custom_call_api_version = 1;
	in->backend_config.len = settings.len;
	in->backend_config.data = arena_dup(mem, settings.data, settings.len);
	in->dot_dimension_numbers = NULL;
	in->convolution_dimension_numbers = NULL;
	in->precision_config = NULL;
	in->window = NULL;
	in->feature_group_count = in->batch_group_count = 0;
	buf_release(&settings);
}

/* ---- and back ---- */

struct settings { /* all that they say, as paths "object/object/key" with numbers */
	struct said {
		char path[PATH];
		int64_t v[RANK];
		uint32_t n;
	} said[32];
	uint32_t n;
};

static int read_number(struct scan *s, struct said *to)
{
	struct buf text = {0};
	int rc;

	if (to->n == RANK)
		return scan_fail(s, "a list of more than %d numbers", RANK);
	if (!scan_is(s, '"'))
		return scan_i64(s, &to->v[to->n++]);
	rc = scan_str(s, &text);
	if (rc == 0)
		to->v[to->n++] = strtoll(text.data ? text.data : "", NULL, 10);
	buf_release(&text);
	return rc;
}

static int read_said(struct scan *s, struct settings *out, const char *path)
{
	struct said *to = &out->said[out->n];
	int rc;

	if (out->n == COUNT(out->said))
		return scan_fail(s, "too many settings");
	out->n++;
	*to = (struct said){0};
	memcpy(to->path, path, strlen(path) + 1);
	if (!scan_is(s, '['))
		return scan_is(s, 't') || scan_is(s, 'f') ? scan_skip(s) : read_number(s, to);
	if (scan_array(s) < 0)
		return -1;
	while ((rc = scan_item(s)) == 1)
		if (read_number(s, to) < 0)
			return -1;
	return rc;
}

static int read_object(struct scan *s, struct settings *out, const char *path)
{
	char key[PATH], inner[PATH];
	int rc;

	if (scan_object(s) < 0)
		return -1;
	while ((rc = scan_key(s, key, sizeof key)) == 1) {
		struct buf b = {0};
		buf_addf(&b, "%s%s%s", path, *path ? "/" : "", key);
		memcpy(inner, b.data, b.len < PATH ? b.len + 1 : 1);
		inner[PATH - 1] = 0;
		buf_release(&b);
		if ((scan_is(s, '{') ? read_object(s, out, inner) : read_said(s, out, inner)) < 0)
			return -1;
	}
	return rc;
}

/* What they say of a path, below that of the library. */
static const struct said *find(const struct settings *s, const struct library *l, const char *path)
{
	static const struct said nothing;
	size_t head = strlen(l->settings);

	for (uint32_t i = 0; i < s->n; i++)
		if (strncmp(s->said[i].path, l->settings, head) == 0 && s->said[i].path[head] == '/' &&
			strcmp(s->said[i].path + head + 1, path) == 0)
			return &s->said[i];
	return &nothing;
}

static bool spell_dot(struct arena *mem, instruction *in, const struct library *l, const struct settings *s)
{
	Hlo__DotDimensionNumbers *d = arena_alloc(mem, sizeof *d);
	int64_t *at[2];
	uint32_t n = find(s, l, "lhs/tensor/dimensions")->n;

	if (n < 2 || find(s, l, "rhs/tensor/dimensions")->n != n)
		return false;
	for (int k = 0; k < 2; k++) {
		at[k] = arena_dup(mem, find(s, l, k ? "rhs/tensor/dimensions" : "lhs/tensor/dimensions")->v,
			n * sizeof *at[k]);
		for (uint32_t i = 0; i < n; i++)
			at[k][i]--;
	}
	hlo__dot_dimension_numbers__init(d);
	d->n_lhs_batch_dimensions = d->n_rhs_batch_dimensions = n - 2;
	d->lhs_batch_dimensions = at[0];
	d->rhs_batch_dimensions = at[1];
	d->n_lhs_contracting_dimensions = d->n_rhs_contracting_dimensions = 1;
	d->lhs_contracting_dimensions = at[0] + n - 1;
	d->rhs_contracting_dimensions = at[1] + n - 2;
	in->dot_dimension_numbers = d;
	return true;
}

static bool spell_meaning(struct arena *mem, meaning *m, const struct library *l, const struct settings *s, uint32_t n)
{
	for (size_t i = 0; i < COUNT(places); i++) {
		const struct place *p = &places[i];
		const char *path = arena_printf(mem, "%s/%s/%s", p->array, p->kind, p->key);
		const struct said *said = find(s, l, path);
		if (!p->count) {
			*number_at(m, p->at) = said->v[0];
			continue;
		}
		if (said->n != n)
			return false;
		*(size_t *)((char *)m + p->count) = n;
		*(int64_t **)((char *)m + p->at) = arena_dup(mem, said->v, n * sizeof *said->v);
	}
	return true;
}

static bool spell_convolution(struct arena *mem, instruction *in, const struct library *l, const struct settings *s)
{
	meaning *m = arena_alloc(mem, sizeof *m);
	Hlo__Window *w = arena_alloc(mem, sizeof *w);
	uint32_t n = find(s, l, "window/size")->n;

	hlo__convolution_dimension_numbers__init(m);
	hlo__window__init(w);
	if (n == 0 || !spell_meaning(mem, m, l, s, n))
		return false;
	w->n_dimensions = n;
	w->dimensions = ARENA_NEW(mem, n, Hlo__WindowDimension *);
	for (uint32_t i = 0; i < n; i++) {
		w->dimensions[i] = arena_alloc(mem, sizeof *w->dimensions[i]);
		hlo__window_dimension__init(w->dimensions[i]);
		w->dimensions[i]->base_dilation = 1;
	}
	for (size_t k = 0; k < COUNT(window); k++) {
		const struct said *said = find(s, l, arena_printf(mem, "window/%s", window[k].key));
		if (said->n != n)
			return false;
		for (uint32_t i = 0; i < n; i++)
			*number_at(w->dimensions[i], window[k].at) = said->v[i];
	}
	in->convolution_dimension_numbers = m;
	in->window = w;
	in->feature_group_count = find(s, l, "feature_groups")->v[0];
	in->batch_group_count = 1;
	return true;
}

static const struct library *called(const instruction *in)
{
	for (size_t i = 0; i < COUNT(libraries) && opcode_of(in->opcode) == OP_CUSTOM_CALL; i++)
		if (in->custom_call_target && strcmp(in->custom_call_target, libraries[i].target) == 0)
			return &libraries[i];
	return NULL;
}

/* Do they ask for what no instruction of one kind computes: operations behind, sides prepared before? */
static bool says_more(const struct settings *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strstr(s->said[i].path, "fusions") || strstr(s->said[i].path, "transpose_") ||
			strstr(s->said[i].path, "optimization_config"))
			return true;
	return false;
}

bool library_spell(struct arena *mem, instruction *in)
{
	const struct library *l = called(in);
	struct settings said = {0};
	struct scan s;
	bool ok;

	if (!l || in->n_operand_ids != 2 || !in->shape || in->shape->n_dimensions == 0)
		return false;
	scan_open(&s, in->backend_config.data, in->backend_config.len, NULL);
	if (read_object(&s, &said, "") < 0 || says_more(&said))
		return false;
	ok = l->opcode == OP_DOT ? spell_dot(mem, in, l, &said) : spell_convolution(mem, in, l, &said);
	if (!ok)
		return false;
	in->opcode = arena_strdup(mem, opcode_name(l->opcode));
	in->custom_call_target = (char *)protobuf_c_empty_string;
	in->custom_call_api_version = 0;
	return true;
}

static const char *spell_all(const struct edit *e)
{
	for (size_t i = 0; i < e->module->n_computations; i++)
		for (size_t k = 0; k < e->module->computations[i]->n_instructions; k++)
			library_spell(e->mem, e->module->computations[i]->instructions[k]);
	return NULL;
}

int library_spell_all(const void *p, size_t n, struct buf *out, struct err *err)
{
	return hlo_edit(p, n, "the program", spell_all, NULL, out, err);
}

bool library_is_call(const instruction *in)
{
	return called(in) != NULL;
}

static bool is_half(const Hlo__HloComputationProto *c, int64_t id)
{
	for (size_t i = 0; i < c->n_instructions; i++)
		if (c->instructions[i]->id == id)
			return c->instructions[i]->shape && c->instructions[i]->shape->element_type == DT_BF16;
	return false;
}

bool library_in_16_bits(const void *p, size_t n)
{
	struct arena mem = {0};
	Hlo__HloModuleProto *m = hlo_unpack(&mem, p, n, "the program", NULL);
	bool any = false;

	for (size_t i = 0; m && i < m->n_computations && !any; i++)
		for (size_t k = 0; k < m->computations[i]->n_instructions && !any; k++) {
			const instruction *in = m->computations[i]->instructions[k];
			any = called(in) && in->n_operand_ids && is_half(m->computations[i], in->operand_ids[0]);
		}
	arena_release(&mem);
	return any;
}

bool library_spelt(const instruction *in)
{
	const struct library *l = library_of(opcode_of(in->opcode));

	return l && in->backend_config.len && memmem(in->backend_config.data, in->backend_config.len, l->settings,
		strlen(l->settings));
}
