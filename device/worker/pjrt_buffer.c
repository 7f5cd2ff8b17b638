/*
 * pjrt_buffer.c - inputs that suit a program, and outputs as numbers.
 *
 * An input is made from (seed, its place among the parameters, its type), so two programs whose
 * parameters agree see the same contents, in fact the same buffers; and an input can be thrown away
 * and made again. Floats are uniform in +-0.5, which avoids denormals and overflow; integers are
 * 0..7, which keeps gathers in range; predicates are 0 or 1. Elements are generated in row-major
 * order and put into the layout the program asks for, so the values do not depend on it.
 *
 * Inputs stay in device memory, the least recently used going first when they take more than their
 * share of it, or when there is no room for another; those of the last two programs asked for (the pair
 * being measured) always stay.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "device/module.h"
#include "device/worker/pjrt_own.h"
#include "hlo/float.h"
#include "hlo/op.h"

#define MOST_INPUTS 4096u

static const struct dtype_facts {
	PJRT_Buffer_Type type;
	uint8_t xla;   /* XLA's PrimitiveType number */
	uint8_t bytes; /* in host memory, where an element smaller than a byte takes one */
	uint8_t bits;
	uint8_t number; /* enum dtype_class */
} dtypes[] = {
#define DTYPE(...)
#define HOST_DTYPE(id, xla, name, bits, number, ...) {PJRT_Buffer_Type_##id, xla, (bits + 7) / 8, bits, DTYPE_##number},
#include "schemas/dtype.def"
#undef DTYPE
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

size_t dtype_host_bytes(PJRT_Buffer_Type t)
{
	const struct dtype_facts *f = facts_of(t);
	return f ? f->bytes : 0;
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

static void fill_small_floats(const struct dtype_facts *f, struct rng *r, uint8_t *p, uint64_t n)
{
	uint16_t table[512];
	uint32_t count = 0, codes = 1u << f->bits;
	/* A few hundred codes that decode to something in range, evenly picked from all. */
	for (uint32_t c = 0, step = codes / 256; count < 512 && c < codes; c += step ? step : 1) {
		double v = fabs(float_decode(f->xla, c));
		if (v <= 0.5 && v >= 0.01)
			table[count++] = (uint16_t)c;
	}
	BUG_ON(count == 0);
	for (uint64_t i = 0; i < n; i++)
		memcpy(p + i * f->bytes, &table[rng_below(r, count)], f->bytes);
}

static void fill(const struct type *t, struct rng *r, uint8_t *p)
{
	const struct dtype_facts *f = facts_of(t->dtype);
	uint64_t n = t->elements * (f->number == DTYPE_COMPLEX ? 2 : 1);
	size_t bytes = f->number == DTYPE_COMPLEX ? f->bytes / 2u : f->bytes;
	if (f->number >= DTYPE_COMPLEX && bytes == 4) {
		for (uint64_t i = 0; i < n; i++) {
			float v = (float)(rng_u64(r) >> 40) * 0x1p-24f - 0.5f;
			memcpy(p + 4 * i, &v, 4);
		}
	} else if (f->number >= DTYPE_COMPLEX && bytes == 8) {
		for (uint64_t i = 0; i < n; i++) {
			double v = rng_unit(r) - 0.5;
			memcpy(p + 8 * i, &v, 8);
		}
	} else if (f->number >= DTYPE_COMPLEX) {
		fill_small_floats(f, r, p, n);
	} else {
		uint64_t mask = f->number == DTYPE_BOOL || f->bits < 4 ? 1 : 7;
		for (uint64_t i = 0; i < n; i++) {
			uint64_t v = rng_u64(r) >> 32 & mask;
			memcpy(p + i * bytes, &v, bytes);
		}
	}
}

static bool row_major(const struct type *t)
{
	for (size_t i = 0; t->minor_to_major && i < t->rank; i++)
		if (t->minor_to_major[i] != (int64_t)(t->rank - 1 - i))
			return false;
	return true;
}

/*
 * Elements between row-major order and the order of a layout: out of it if `back`, else into it.
 * The fastest dimension of a layout is the first it names.
 */
static void reorder(size_t rank, const int64_t *dims, const int64_t *minor_to_major, size_t bytes,
	bool back, const uint8_t *from, uint8_t *to)
{
	size_t step[MODULE_RANK], at[MODULE_RANK] = {0}, total = 1, there = 0;
	for (size_t k = 0; k < rank; k++) {
		step[minor_to_major[k]] = total;
		total *= (size_t)dims[minor_to_major[k]];
	}
	for (size_t here = 0; here < total; here++) {
		memcpy(to + (back ? here : there) * bytes, from + (back ? there : here) * bytes,
			bytes);
		for (size_t d = rank; d-- > 0;) {
			there += step[d];
			if (++at[d] < (size_t)dims[d])
				break;
			there -= step[d] * at[d];
			at[d] = 0;
		}
	}
}

/* Is it a permutation of the dimensions? It comes from a program. */
static bool valid_order(size_t rank, const int64_t *minor_to_major)
{
	uint64_t seen = 0;
	for (size_t k = 0; k < rank; k++) {
		if (minor_to_major[k] < 0 || minor_to_major[k] >= (int64_t)rank)
			return false;
		seen |= (uint64_t)1 << minor_to_major[k];
	}
	return rank <= MODULE_RANK && seen == ((uint64_t)1 << rank) - 1;
}

/* The input's values, in the order in which the plugin takes them. */
static uint8_t *make_values(struct pjrt *p, const struct type *t, uint64_t key)
{
	struct rng r;
	size_t bytes = dtype_host_bytes(t->dtype);
	uint8_t *data = mem_alloc(t->elements * bytes + 8);
	rng_seed2(&r, p->seed, key);
	fill(t, &r, data);
	if (p->plain_copies && !row_major(t)) {
		uint8_t *other = mem_alloc(t->elements * bytes + 8);
		reorder(t->rank, t->dims, t->minor_to_major, bytes, false, data, other);
		mem_free(data);
		return other;
	}
	return data;
}

static int make_buffer(
	struct pjrt *p, const struct type *t, uint64_t key, PJRT_Buffer **out, struct verdict *v)
{
	PJRT_Buffer_MemoryLayout layout = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
		.type = PJRT_Buffer_MemoryLayout_Type_Tiled};
	if (!row_major(t) && !valid_order(t->rank, t->minor_to_major)) {
		v->outcome = OUTCOME_REFUSED;
		snprintf(v->detail, sizeof v->detail, "the layout of an input makes no sense");
		return -1;
	}
	uint8_t *data = make_values(p, t, key);
	layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
	layout.tiled.minor_to_major = t->minor_to_major;
	layout.tiled.minor_to_major_size = t->rank;
	ARGS(Client_BufferFromHostBuffer, b);
	b.client = p->client;
	b.data = data;
	b.type = t->dtype;
	b.dims = t->dims;
	b.num_dims = t->rank;
	b.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
	b.device = p->device;
	b.device_layout = row_major(t) ? NULL : &layout;
	int rc = pjrt_check(p, p->api->PJRT_Client_BufferFromHostBuffer(&b), "making an input", v);
	if (rc == 0) {
		rc = pjrt_await(p, b.done_with_host_buffer, "making an input", v);
		*out = b.buffer;
	}
	mem_free(data);
	return rc;
}

void pjrt_drop_buffer(struct pjrt *p, PJRT_Buffer *b)
{
	struct verdict ignored;
	if (!b)
		return;
	ARGS(Buffer_Destroy, d);
	d.buffer = b;
	pjrt_check(p, p->api->PJRT_Buffer_Destroy(&d), "", &ignored);
}

static void drop_input(struct pjrt *p, size_t i)
{
	pjrt_drop_buffer(p, p->input[i].buffer);
	p->input_bytes -= p->input[i].bytes;
	p->input[i] = p->input[--p->n_inputs];
}

void pjrt_drop_inputs(struct pjrt *p)
{
	while (p->n_inputs)
		drop_input(p, p->n_inputs - 1);
}

/* A quarter of the memory that the device has; where it does not say, of the machine's. */
static uint64_t input_share(const struct pjrt *p)
{
	uint64_t memory = p->facts.memory;

	return (memory ? memory : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE)) / 4;
}

/* Throws away old inputs until `bytes` more have room among `share`, or only those in use are left. */
static void make_room(struct pjrt *p, uint64_t bytes, uint64_t share)
{
	while (p->n_inputs && (p->input_bytes + bytes > share || p->n_inputs >= MOST_INPUTS)) {
		size_t oldest = 0;
		for (size_t i = 1; i < p->n_inputs; i++)
			if (p->input[i].used < p->input[oldest].used)
				oldest = i;
		if (p->input[oldest].used + 1 >= p->tick)
			return;
		drop_input(p, oldest);
	}
}

static uint64_t key_of(const struct type *t, size_t place)
{
	uint64_t h = hash_mix(place, (uint64_t)t->dtype);
	h = hash64(t->dims, t->rank * sizeof *t->dims, h);
	if (!row_major(t))
		h = hash64(t->minor_to_major, t->rank * sizeof *t->dims, h);
	return h;
}

static int ensure_input(
	struct pjrt *p, const struct type *t, size_t place, PJRT_Buffer **out, struct verdict *v)
{
	uint64_t key = key_of(t, place), bytes = t->elements * dtype_host_bytes(t->dtype);
	for (size_t i = 0; i < p->n_inputs; i++)
		if (p->input[i].key == key) {
			p->input[i].used = p->tick;
			*out = p->input[i].buffer;
			return 0;
		}
	make_room(p, bytes, input_share(p));
	/* The contents follow from the type without its layout. */
	struct type plain = *t;
	plain.minor_to_major = NULL;
	int rc = make_buffer(p, t, key_of(&plain, place), out, v);
	if (rc < 0 && v->outcome == OUTCOME_OOM) { /* the pool may be what is in the way */
		size_t before = p->n_inputs;
		make_room(p, bytes, 0);
		if (p->n_inputs < before) {
			*v = (struct verdict){0};
			rc = make_buffer(p, t, key_of(&plain, place), out, v);
		}
	}
	if (rc < 0)
		return -1;
	MEM_GROW(&p->input, &p->cap_inputs, p->n_inputs + 1);
	p->input[p->n_inputs++] = (struct input){key, *out, bytes, p->tick};
	p->input_bytes += bytes;
	return 0;
}

int program_inputs(struct program *g, struct verdict *v)
{
	g->pjrt->tick++;
	for (size_t i = 0; i < g->n_params; i++)
		if (ensure_input(g->pjrt, &g->param[i], i, &g->args[i], v) < 0)
			return -1;
	return 0;
}

/* The output's elements in row-major order; NULL with a verdict. */
static uint8_t *read_values(struct pjrt *p, PJRT_Buffer *b, size_t rank, const int64_t *dims,
	size_t elements, size_t bytes, struct verdict *v)
{
	int64_t order[MODULE_RANK];
	PJRT_Buffer_MemoryLayout layout = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
		.type = PJRT_Buffer_MemoryLayout_Type_Tiled};
	for (size_t k = 0; k < rank; k++)
		order[k] = (int64_t)(rank - 1 - k);
	layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
	layout.tiled.minor_to_major = order;
	layout.tiled.minor_to_major_size = rank;
	ARGS(Buffer_ToHostBuffer, h);
	h.src = b;
	h.host_layout = p->plain_copies ? NULL : &layout;
	h.dst_size = elements * bytes;
	uint8_t *data = mem_alloc(h.dst_size + 8);
	h.dst = data;
	if (pjrt_check(p, p->api->PJRT_Buffer_ToHostBuffer(&h), "reading an output", v) < 0 ||
		pjrt_await(p, h.event, "reading an output", v) < 0) {
		mem_free(data);
		return NULL;
	}
	ARGS(Buffer_GetMemoryLayout, l);
	l.buffer = b;
	struct verdict ignored;
	if (!p->plain_copies || rank < 2 || !HAS(p, Buffer_GetMemoryLayout) ||
		pjrt_check(p, p->api->PJRT_Buffer_GetMemoryLayout(&l), "", &ignored) < 0 ||
		l.layout.type != PJRT_Buffer_MemoryLayout_Type_Tiled ||
		l.layout.tiled.minor_to_major_size != rank ||
		!valid_order(rank, l.layout.tiled.minor_to_major) ||
		memcmp(l.layout.tiled.minor_to_major, order, rank * sizeof *order) == 0)
		return data;
	uint8_t *other = mem_alloc(h.dst_size + 8);
	reorder(rank, dims, l.layout.tiled.minor_to_major, bytes, true, data, other);
	mem_free(data);
	return other;
}

int output_read(
	struct instance *i, uint32_t k, double **out, size_t *n, size_t *cap, struct verdict *v)
{
	struct pjrt *p = i->program->pjrt;
	ARGS(Buffer_ElementType, e);
	ARGS(Buffer_Dimensions, d);
	e.buffer = d.buffer = i->out[k];
	if (pjrt_check(p, p->api->PJRT_Buffer_ElementType(&e), "reading an output", v) < 0 ||
		pjrt_check(p, p->api->PJRT_Buffer_Dimensions(&d), "reading an output", v) < 0)
		return -1;
	const struct dtype_facts *f = facts_of(e.type);
	if (!f || d.num_dims > MODULE_RANK)
		return 0; /* tokens and the like carry no numbers */
	size_t elements = 1, parts = f->number == DTYPE_COMPLEX ? 2 : 1;
	for (size_t j = 0; j < d.num_dims; j++)
		elements *= (size_t)d.dims[j];
	uint8_t *data = read_values(p, i->out[k], d.num_dims, d.dims, elements, f->bytes, v);
	if (!data)
		return -1;
	MEM_GROW(out, cap, *n + elements * parts);
	for (size_t j = 0; j < elements; j++)
		for (size_t part = 0; part < parts; part++)
			(*out)[(*n)++] = dtype_read(e.type, data + j * f->bytes, (int)part);
	mem_free(data);
	return 0;
}
#endif
