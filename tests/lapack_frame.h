/*
 * lapack_frame.h - calls a routine of device/worker/lapack.h as a plugin would: a frame with operands and attributes.
 * Every operand is memory of its own that is exactly as large as it has to be, for valgrind and the sanitizer.
 * Numbers go in and out as complex doubles, whatever the type is.
 */
#ifndef TESTS_LAPACK_FRAME_H
#define TESTS_LAPACK_FRAME_H

#include <complex.h>
#include "base/rng.h"
#include "device/worker/lapack.h"
#include "hlo/op.h"
#include "tests/test.h"

#define NONE (-1) /* no such dimension */
#define PLACES 8

typedef double complex number;

struct frame {
	struct ffi_api api;
	struct ffi_frame f;
	ffi_handler *handler;
	unsigned type; /* place in "sdcz" */
	int64_t batch;
	struct ffi_buffer buffer[2 * PLACES], *in[PLACES], *out[PLACES];
	int64_t dims[2 * PLACES][3];
	size_t n;
	int is_buffer[PLACES], is_scalar[PLACES];
	struct ffi_span name[PLACES], *names[PLACES];
	struct ffi_scalar scalar[PLACES];
	void *scalars[PLACES];
	int32_t value[PLACES];
	char error[300];
};

static char frame_error[300];

static struct ffi_error *frame_fail(struct ffi_error_args *a)
{
	snprintf(frame_error, sizeof frame_error, "%s", a->message);
	return (struct ffi_error *)(void *)frame_error;
}

static inline bool frame_complex(unsigned type)
{
	return type >= 2;
}

static inline int frame_dtype(unsigned type, char kind)
{
	static const int own[] = {DT_F32, DT_F64, DT_C64, DT_C128};
	if (kind == 'i')
		return DT_S32;
	return own[kind == 'r' ? type % 2 : kind == 'z' ? 2 + type % 2 : type];
}

/* The routine of this type; complex ones may have another name. */
static inline void frame_begin(struct frame *f, unsigned type, int64_t batch, const char *real,
	const char *complex_name)
{
	char name[40];

	*f = (struct frame){.type = type, .batch = batch};
	f->api = (struct ffi_api){.struct_size = sizeof f->api, .error_create = frame_fail};
	f->f = (struct ffi_frame){.struct_size = sizeof f->f, .api = &f->api, .stage = FFI_EXECUTE};
	f->f.in.type = f->f.out.type = f->is_buffer;
	f->f.in.value = f->in;
	f->f.out.value = f->out;
	f->f.attributes.type = f->is_scalar;
	f->f.attributes.name = f->names;
	f->f.attributes.value = f->scalars;
	for (int i = 0; i < PLACES; i++) {
		f->is_buffer[i] = FFI_BUFFER;
		f->is_scalar[i] = FFI_SCALAR;
	}
	snprintf(name, sizeof name, "lapack_%c%s_ffi", "sdcz"[type], frame_complex(type) ? complex_name : real);
	f->handler = lapack_handler(name);
	CHECK(f->handler != NULL);
}

static inline struct ffi_buffer *frame_operand(struct frame *f, char kind, int rows, int cols)
{
	struct ffi_buffer *b = &f->buffer[f->n];
	int64_t *dims = f->dims[f->n++];
	size_t bytes;

	dims[0] = f->batch;
	dims[1] = rows == NONE ? 1 : rows;
	dims[2] = cols == NONE ? 1 : cols;
	*b = (struct ffi_buffer){.struct_size = sizeof *b, .dtype = frame_dtype(f->type, kind), .dims = dims};
	b->rank = 1 + (rows != NONE) + (cols != NONE);
	bytes = (size_t)(dims[0] * dims[1] * dims[2]) * dtype_bits((uint8_t)b->dtype) / 8;
	b->data = malloc(bytes ? bytes : 1);
	memset(b->data, 0x7f, bytes);
	return b;
}

static inline struct ffi_buffer *frame_in(struct frame *f, char kind, int rows, int cols)
{
	return f->in[f->f.in.n++] = frame_operand(f, kind, rows, cols);
}

static inline struct ffi_buffer *frame_out(struct frame *f, char kind, int rows, int cols)
{
	return f->out[f->f.out.n++] = frame_operand(f, kind, rows, cols);
}

static inline void frame_attribute(struct frame *f, const char *name, int dtype, int32_t value)
{
	int64_t i = f->f.attributes.n++;

	f->value[i] = value; /* a byte of it, on a machine that has the low one first */
	f->name[i] = (struct ffi_span){name, strlen(name)};
	f->scalar[i] = (struct ffi_scalar){dtype, &f->value[i]};
	f->names[i] = &f->name[i];
	f->scalars[i] = &f->scalar[i];
}

static inline void frame_letter(struct frame *f, const char *name, char value)
{
	frame_attribute(f, name, DT_U8, value);
}

/* NULL, or the sentence that says why not. */
static inline const char *frame_call(struct frame *f)
{
	return f->handler && !f->handler(&f->f) ? NULL : frame_error;
}

static inline void frame_runs(struct frame *f)
{
	const char *why = frame_call(f);

	if (!CHECK(why == NULL))
		printf("\t%s\n", why);
}

static inline void frame_end(struct frame *f)
{
	while (f->n > 0)
		free(f->buffer[--f->n].data);
}

static inline size_t frame_index(const struct ffi_buffer *b, int64_t batch, int row, int col)
{
	return (size_t)((batch * b->dims[2] + col) * b->dims[1] + row);
}

static inline number get(const struct ffi_buffer *b, int64_t batch, int row, int col)
{
	size_t i = frame_index(b, batch, row, col);

	switch (b->dtype) {
	case DT_F32:
		return ((const float *)b->data)[i];
	case DT_F64:
		return ((const double *)b->data)[i];
	case DT_C64:
		return ((const float complex *)b->data)[i];
	case DT_C128:
		return ((const double complex *)b->data)[i];
	default:
		return ((const int32_t *)b->data)[i];
	}
}

static inline void put(struct ffi_buffer *b, int64_t batch, int row, int col, number x)
{
	size_t i = frame_index(b, batch, row, col);

	switch (b->dtype) {
	case DT_F32:
		((float *)b->data)[i] = (float)creal(x);
		break;
	case DT_F64:
		((double *)b->data)[i] = creal(x);
		break;
	case DT_C64:
		((float complex *)b->data)[i] = (float complex)x;
		break;
	case DT_C128:
		((double complex *)b->data)[i] = x;
		break;
	default:
		((int32_t *)b->data)[i] = (int32_t)creal(x);
	}
}

#define BATCH 2
static const int frame_sizes[][2] = {{4, 4}, {5, 3}, {3, 5}, {1, 1}, {9, 2}, {40, 40}, {0, 0}, {0, 3}, {3, 0}};

/* Tries all types with all sizes. */
static inline void each_size(void (*try)(unsigned type, int m, int n))
{
	for (unsigned type = 0; type < 4; type++)
		for (size_t i = 0; i < sizeof frame_sizes / sizeof *frame_sizes; i++)
			try(type, frame_sizes[i][0], frame_sizes[i][1]);
}

/* The square ones only. */
static inline void each_square(void (*try)(unsigned type, int n))
{
	for (unsigned type = 0; type < 4; type++)
		for (size_t i = 0; i < sizeof frame_sizes / sizeof *frame_sizes; i++)
			if (frame_sizes[i][0] == frame_sizes[i][1])
				try(type, frame_sizes[i][0]);
}
static struct rng frame_rng = {{1, 2, 3, 4}};

static inline double tolerance(const struct frame *f)
{
	return f->type % 2 ? 1e-11 : 3e-4;
}

static inline number draw(unsigned type)
{
	double re = rng_unit(&frame_rng) - 0.5;

	return frame_complex(type) ? re + I * (rng_unit(&frame_rng) - 0.5) : re;
}

static inline void fill(const struct frame *f, struct ffi_buffer *b)
{
	for (int64_t k = 0; k < b->dims[0]; k++)
		for (int j = 0; j < b->dims[2]; j++)
			for (int i = 0; i < b->dims[1]; i++)
				put(b, k, i, j, draw(f->type));
}

/* A Hermitian matrix with a heavy diagonal. */
static inline void fill_hermitian(const struct frame *f, struct ffi_buffer *b, double diagonal)
{
	for (int64_t k = 0; k < b->dims[0]; k++)
		for (int j = 0; j < b->dims[2]; j++)
			for (int i = 0; i <= j; i++) {
				number x = i == j ? diagonal + creal(draw(f->type)) : draw(f->type);
				put(b, k, i, j, x);
				put(b, k, j, i, conj(x));
			}
}

/* The sum of a[row, q] b[q, col] over q < n, where the entries are given by functions of the matrix. */
typedef number entry(const struct ffi_buffer *b, int64_t k, int row, int col);

static inline number whole(const struct ffi_buffer *b, int64_t k, int row, int col)
{
	return get(b, k, row, col);
}

static inline number adjoint(const struct ffi_buffer *b, int64_t k, int row, int col)
{
	return conj(get(b, k, col, row));
}

static inline number upper(const struct ffi_buffer *b, int64_t k, int row, int col)
{
	return row <= col ? get(b, k, row, col) : 0;
}

static inline number lower(const struct ffi_buffer *b, int64_t k, int row, int col)
{
	return row >= col ? get(b, k, row, col) : 0;
}

static inline number lower_adjoint(const struct ffi_buffer *b, int64_t k, int row, int col)
{
	return conj(lower(b, k, col, row));
}

static inline number unit_lower(const struct ffi_buffer *b, int64_t k, int row, int col)
{
	return row == col ? 1 : lower(b, k, row, col);
}

static inline number product(const struct ffi_buffer *a, entry *ea, const struct ffi_buffer *b, entry *eb, int64_t k,
	int row, int col, int n)
{
	number sum = 0;

	for (int q = 0; q < n; q++)
		sum += ea(a, k, row, q) * eb(b, k, q, col);
	return sum;
}

static inline void same(const struct frame *f, number got, number want)
{
	CHECK_NEAR(cabs(got - want), 0, tolerance(f));
}

static inline void info_is(const struct ffi_buffer *info, int want)
{
	for (int64_t k = 0; k < info->dims[0]; k++)
		CHECK_INT(creal(get(info, k, 0, 0)), want);
}

#define EACH_BATCH(b) for (int64_t k = 0; k < (b)->dims[0]; k++)
#define EACH_ENTRY(b)                                                                                                  \
	EACH_BATCH(b) for (int j = 0; j < (b)->dims[2]; j++) for (int i = 0; i < (b)->dims[1]; i++)

#endif
