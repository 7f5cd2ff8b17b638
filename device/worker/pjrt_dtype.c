/*
 * pjrt_dtype.c - element types: how their numbers are written, and what inputs are filled with.
 *
 * An input's values follow from a generator, its type and the kind of input (schemas/inputs.def). Those of the usual
 * kind are floats of about +-0.5, which avoids denormals and overflow, and integers of 0 to 7, which keeps gathers in
 * range. A nudged input is the same one with every float moved to one of its two neighbours: as little as can be told
 * apart, so that what it does to the outputs is what rounding may do to them.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include <math.h>
#include <string.h>
#include "base/rng.h"
#include "device/worker/pjrt_own.h"
#include "hlo/float.h"
#include "hlo/op.h"

static const struct dtype_facts {
	PJRT_Buffer_Type type;
	uint8_t xla;   /* XLA's PrimitiveType number */
	uint8_t bytes; /* in host memory, where an element smaller than a byte takes one */
	uint8_t bits;
	uint8_t number; /* enum dtype_class */
	uint8_t mantissa;
} dtypes[] = {
#define DTYPE(...)
#define HOST_DTYPE(id, xla, name, bits, number, exponent, mantissa, bias) \
	{PJRT_Buffer_Type_##id, xla, (bits + 7) / 8, bits, DTYPE_##number, mantissa},
#include "schemas/dtype.def"
#undef DTYPE
};

/* What a kind of input is made of. */
static const struct range {
	double low, high;
	uint32_t integer;
} ranges[] = {
#define INPUTS(id, name, low, high, integer, what) {low, high, integer},
#include "schemas/inputs.def"
#undef INPUTS
};

static const struct dtype_facts *facts_of(PJRT_Buffer_Type t)
{
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		if (dtypes[i].type == t)
			return &dtypes[i];
	return NULL;
}

PJRT_Buffer_Type dtype_of_xla(int32_t primitive)
{
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		if (dtypes[i].xla == primitive)
			return dtypes[i].type;
	return PJRT_Buffer_Type_INVALID;
}

uint8_t dtype_xla(PJRT_Buffer_Type t)
{
	const struct dtype_facts *f = facts_of(t);
	return f ? f->xla : DT_INVALID;
}

size_t dtype_host_bytes(PJRT_Buffer_Type t)
{
	const struct dtype_facts *f = facts_of(t);
	return f ? f->bytes : 0;
}

double dtype_unit(PJRT_Buffer_Type t)
{
	const struct dtype_facts *f = facts_of(t);

	return f->number < DTYPE_COMPLEX ? 0 : ldexp(1, -f->mantissa);
}

bool dtype_complex(PJRT_Buffer_Type t)
{
	return facts_of(t)->number == DTYPE_COMPLEX;
}

static double read_integer(const struct dtype_facts *f, const uint8_t *p)
{
	int64_t v = 0;
	memcpy(&v, p, f->bytes);
	int shift = 64 - 8 * f->bytes;
	if (f->number == DTYPE_SINT)
		return (double)((int64_t)((uint64_t)v << shift) >> shift);
	return (double)(uint64_t)v;
}

double dtype_read(PJRT_Buffer_Type t, const uint8_t *p, int part)
{
	const struct dtype_facts *f = facts_of(t);
	size_t bytes = f->number == DTYPE_COMPLEX ? f->bytes / 2u : f->bytes;
	float f32;
	double f64;
	uint16_t small = 0;
	p += (size_t)part * bytes;
	if (f->number < DTYPE_COMPLEX)
		return read_integer(f, p);
	if (bytes == 8)
		return memcpy(&f64, p, 8), f64;
	if (bytes == 4)
		return memcpy(&f32, p, 4), (double)f32;
	memcpy(&small, p, bytes);
	return float_decode(f->xla, small);
}

/* One of the two neighbours of a float, by its code of so many bits; zero stays. */
static uint64_t nudge(uint64_t code, unsigned bits, bool up)
{
	uint64_t size = code & ~((uint64_t)1 << (bits - 1));

	return size == 0 ? code : up ? code + 1 : code - 1;
}

static void nudge_all(uint8_t *p, uint64_t n, size_t bytes, unsigned bits, struct rng *r)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t code = 0;
		memcpy(&code, p + i * bytes, bytes);
		code = nudge(code, bits, rng_u64(r) >> 63);
		memcpy(p + i * bytes, &code, bytes);
	}
}

/* The largest finite number of a small float type. */
static double largest(const struct dtype_facts *f)
{
	double most = 0;

	for (uint32_t c = 0; c < 1u << f->bits; c++) {
		double v = float_decode(f->xla, c);
		if (isfinite(v) && v > most)
			most = v;
	}
	return most;
}

/* So many draws of the generator at once, and the small numbers they hold: a language model has billions of inputs. */
#define DRAWS 1024
union draws {
	uint64_t whole[DRAWS];
	uint32_t word[2 * DRAWS];
	uint16_t half[4 * DRAWS];
};

/* Draws for the elements from `from` on, of n, if each draw makes `each` of them; returns for how many. */
static uint64_t draw(union draws *d, struct rng *r, uint64_t from, uint64_t n, uint64_t each)
{
	uint64_t m = n - from < each * DRAWS ? n - from : each * DRAWS;

	rng_fill(r, d->whole, (m + each - 1) / each);
	return m;
}

/* A few hundred codes that decode to something in range, evenly picked from all. */
static void fill_small_floats(const struct dtype_facts *f, const struct range *range, struct rng *r, uint8_t *p,
	uint64_t n)
{
	double high = fmin(range->high, largest(f) / 4), low = range->low < 0 ? 0.02 * high : 0;
	uint16_t table[512] = {0};
	uint32_t count = 0, codes = 1u << f->bits;
	union draws d;

	for (uint32_t c = 0, step = codes / 256; count < 512 && c < codes; c += step ? step : 1) {
		double v = float_decode(f->xla, c);
		if (fabs(v) <= high && fabs(v) >= low && (range->low < 0 || !signbit(v)))
			table[count++] = (uint16_t)c;
	}
	count = count ? count : 1; /* nothing but the smallest */
	for (uint64_t i = 0, m; i < n; i += m) {
		m = draw(&d, r, i, n, 4);
		for (uint64_t k = 0; k < m && f->bytes == 1; k++)
			p[i + k] = (uint8_t)table[(uint32_t)d.half[k] * count >> 16];
		for (uint64_t k = 0; k < m && f->bytes == 2; k++)
			memcpy(p + 2 * (i + k), &table[(uint32_t)d.half[k] * count >> 16], 2);
	}
}

static void fill_integers(const struct dtype_facts *f, const struct range *range, struct rng *r, uint8_t *p, uint64_t n)
{
	uint64_t mask = range->integer & (f->number == DTYPE_BOOL || f->bits < 4 ? 1 : 7);
	union draws d;

	for (uint64_t i = 0, m; i < n; i += m) {
		m = draw(&d, r, i, n, 4);
		for (uint64_t k = 0; k < m; k++) {
			uint64_t v = (uint64_t)d.half[k] >> 8 & mask;
			memcpy(p + (i + k) * f->bytes, &v, f->bytes);
		}
	}
}

static void fill_f32(float low, float width, struct rng *r, uint8_t *p, uint64_t n)
{
	union draws d;

	for (uint64_t i = 0, m; i < n; i += m) {
		m = draw(&d, r, i, n, 2);
		for (uint64_t k = 0; k < m; k++) {
			float v = (float)(int32_t)(d.word[k] >> 8) * 0x1p-24f * width + low;
			memcpy(p + 4 * (i + k), &v, 4);
		}
	}
}

void dtype_fill(PJRT_Buffer_Type t, enum inputs kind, unsigned nudged, uint64_t elements, struct rng *r, uint8_t *p)
{
	const struct dtype_facts *f = facts_of(t);
	const struct range *range = &ranges[kind];
	unsigned parts = f->number == DTYPE_COMPLEX ? 2 : 1;
	uint64_t n = elements * parts;
	size_t bytes = f->bytes / parts;
	double low = range->low, width = range->high - low;

	if (f->number < DTYPE_COMPLEX) {
		fill_integers(f, range, r, p, n);
		return;
	}
	if (bytes <= 2)
		fill_small_floats(f, range, r, p, n);
	if (bytes == 4)
		fill_f32((float)low, (float)width, r, p, n);
	for (uint64_t i = 0; i < n && bytes == 8; i++) {
		double v = rng_unit(r) * width + low;
		memcpy(p + 8 * i, &v, 8);
	}
	dtype_nudge(t, nudged, elements, r, p);
}

void dtype_nudge(PJRT_Buffer_Type t, unsigned nudged, uint64_t elements, struct rng *r, uint8_t *p)
{
	const struct dtype_facts *f = facts_of(t);
	unsigned parts = f->number == DTYPE_COMPLEX ? 2 : 1;

	if (f->number < DTYPE_COMPLEX)
		return;
	if (nudged > 1)
		rng_seed2(r, rng_u64(r), nudged);
	if (nudged)
		nudge_all(p, elements * parts, f->bytes / parts, f->bits / parts, r);
}
#endif
