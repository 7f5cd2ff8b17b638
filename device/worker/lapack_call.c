/*
 * lapack_call.c - a call of a routine of LAPACK: its operands, its dimensions, its memory.
 *
 * What a routine takes is in schemas/lapack.def, and a call that has anything else is refused before LAPACK sees it. So
 * LAPACK writes nowhere but into the results, and finds no fault with its parameters, which may end the process.
 * Dimensions are ints for LAPACK; larger ones are refused.
 *
 * Out of memory is an error of the call, not the end of the worker.
 */
#include "device/worker/lapack_own.h"
#ifdef HAVE_PJRT
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hlo/op.h"

static const struct lapack_type {
	int dtype, real, complex;
} types[] = {{DT_F32, DT_F32, DT_C64}, {DT_F64, DT_F64, DT_C128}, {DT_C64, DT_F32, DT_C64}, {DT_C128, DT_F64, DT_C128}};

int lapack_wrong(struct lapack_call *c, const char *what)
{
	snprintf(c->why, sizeof c->why, "%s", what);
	return -1;
}

static size_t bytes_of(int dtype)
{
	return dtype_bits((uint8_t)dtype) / 8;
}

static int dtype_of_letter(const struct lapack_call *c, char letter)
{
	switch (letter) {
	case 'x':
		return types[c->type].dtype;
	case 'r':
		return types[c->type].real;
	case 'z':
		return types[c->type].complex;
	default:
		return DT_S32;
	}
}

static int find_type(struct lapack_call *c)
{
	const struct ffi_list *in = &c->frame->in;

	for (c->type = 0; c->type < sizeof types / sizeof *types; c->type++)
		if (in->n > 0 && in->type[0] == FFI_BUFFER && in->value[0]->dtype == types[c->type].dtype) {
			c->complex = types[c->type].dtype != types[c->type].real;
			c->bytes = bytes_of(types[c->type].dtype);
			c->real = bytes_of(types[c->type].real);
			return 0;
		}
	return lapack_wrong(c, "its first argument has no type that LAPACK knows");
}

/* Compares a dimension with what its letter stands for, or learns that. */
static int take_dimension(struct lapack_call *c, char letter, int64_t n)
{
	int *size = &c->size[letter - 'a'], m = lapack_size(c, 'm'), cols = lapack_size(c, 'n');

	if (n < 0 || n > INT_MAX)
		return lapack_wrong(c, "a dimension is larger than LAPACK can count");
	if (letter == 'k')
		*size = m < cols ? m : cols;
	if (letter == 'e')
		*size = cols > 0 ? cols - 1 : 0;
	if (*size == LAPACK_UNKNOWN)
		*size = (int)n;
	return *size == n ? 0 : lapack_wrong(c, "its arguments and results do not fit together");
}

/* Reads the operand that a word describes. The first one says how large the batch is. */
static int take_operand(struct lapack_call *c, const char *word, size_t length, const struct ffi_buffer *b,
	struct lapack_operand *out)
{
	int64_t before = b->rank - (int64_t)(length - 1);
	size_t batch = 1;

	if (b->dtype != dtype_of_letter(c, word[0]) || before < 0)
		return lapack_wrong(c, "an argument or a result has another type than the routine has");
	out->data = b->data;
	out->step = bytes_of(b->dtype);
	for (int64_t d = 0; d < before; d++)
		batch *= (size_t)b->dims[d];
	for (size_t d = 1; d < length; d++) {
		int64_t n = b->dims[before + (int64_t)d - 1];
		if (take_dimension(c, word[d], n) < 0)
			return -1;
		out->step *= (size_t)n;
	}
	if (c->batch == SIZE_MAX)
		c->batch = batch;
	return c->batch == batch ? 0 : lapack_wrong(c, "its arguments and results have different batch dimensions");
}

static int take_all(struct lapack_call *c, const char *words, const struct ffi_list *list, struct lapack_operand *out)
{
	int64_t n = 0;

	for (const char *w = words; *w; n++) {
		size_t length = strcspn(w, " ");
		if (n >= list->n || list->type[n] != FFI_BUFFER)
			return lapack_wrong(c, "it has too few arguments or results");
		if (take_operand(c, w, length, list->value[n], &out[n]) < 0)
			return -1;
		w += length;
		w += *w == ' ';
	}
	return n == list->n ? 0 : lapack_wrong(c, "it has too many arguments or results");
}

int lapack_begin(struct lapack_call *c, const struct lapack_row *row)
{
	c->batch = SIZE_MAX;
	for (size_t i = 0; i < sizeof c->size / sizeof *c->size; i++)
		c->size[i] = LAPACK_UNKNOWN;
	if (find_type(c) < 0 || take_all(c, row->arguments, &c->frame->in, c->in) < 0 ||
		take_all(c, row->results[c->complex], &c->frame->out, c->out) < 0)
		return -1;
	for (unsigned i = 0; row->copies[i]; i++) {
		const struct lapack_operand *from = &c->in[row->copies[i] - '0'], *to = &c->out[i];
		if (from->data != to->data && c->batch * to->step > 0)
			memcpy(to->data, from->data, c->batch * to->step);
	}
	return 0;
}

void lapack_end(struct lapack_call *c)
{
	while (c->n_scratch > 0)
		free(c->scratch[--c->n_scratch]);
}

int lapack_letter(struct lapack_call *c, const char *name, const char *letters, char *out)
{
	int64_t n;

	if (ffi_attribute(c->frame, name, DT_U8, &n) < 0 || n <= 0 || n > CHAR_MAX || !strchr(letters, (int)n)) {
		snprintf(c->why, sizeof c->why, "its attribute %s is none of the letters %s", name, letters);
		return -1;
	}
	*out = (char)n;
	return 0;
}

void *lapack_scratch(struct lapack_call *c, size_t count, size_t bytes)
{
	void *p = c->n_scratch < LAPACK_SCRATCH ? calloc(count ? count : 1, bytes) : NULL;

	if (!p)
		lapack_wrong(c, "there is not enough memory for its work");
	else
		c->scratch[c->n_scratch++] = p;
	return p;
}

/* LAPACK answers in the routine's type; a float that is a large integer may have been rounded down. */
void *lapack_work(struct lapack_call *c, const union lapack_number *asked, int *n)
{
	double size = c->real == sizeof asked->f ? (double)asked->f * (1 + 0x1p-23) : asked->d;

	if (!(size < INT_MAX)) {
		lapack_wrong(c, "its work needs more memory than LAPACK can count");
		return NULL;
	}
	*n = size < 1 ? 1 : (int)size;
	return lapack_scratch(c, (size_t)*n, c->bytes);
}

void *lapack_in(const struct lapack_call *c, unsigned place, size_t i)
{
	return c->in[place].data + i * c->in[place].step;
}

void *lapack_out(const struct lapack_call *c, unsigned place, size_t i)
{
	return c->out[place].data + i * c->out[place].step;
}
#endif
