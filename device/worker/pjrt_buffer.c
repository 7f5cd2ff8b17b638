/*
 * pjrt_buffer.c - inputs that suit a program, and outputs as numbers.
 *
 * An input follows from the seed, its number among the parameters, and its type. So two programs with equal parameters
 * get the same contents, in fact the same buffers, and an input can be thrown away and made again. pjrt_dtype.c makes
 * the values. Elements are generated in row-major order and then put into the layout that the program asks for, so the
 * values do not depend on the layout. Where the user gives inputs (device/given.h), the whole program runs on these.
 *
 * A plugin that computes in the machine's memory is lent the memory of a large input, and makes no copy. The weights of
 * a language model take gigabytes, and half of the time for making them was the kernel's, which mapped them in twice.
 *
 * Inputs stay in device memory. If they take more than their share of it, or if there is no room for another, the least
 * recently used goes first. The inputs of the last two programs (the pair that is being measured) always stay.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "device/module.h"
#include "device/worker/pjrt_own.h"

#define MOST_INPUTS 4096u
#define LENT ((size_t)1 << 20) /* bytes of an input, from which on its memory is lent */

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

struct wanted { /* inputs to be made */
	uint32_t device;
	enum inputs kind;
	unsigned nudged;
	const struct given *given; /* from which ordinary ones are taken; NULL: they are made up */
};

/* The input's values, in the order in which the plugin takes them. They may have been made already. */
static uint8_t *make_values(struct pjrt *p, const struct type *t, size_t place, const struct wanted *w)
{
	size_t bytes = dtype_host_bytes(t->dtype);
	uint64_t key = value_key(t, place);
	uint8_t *data = NULL;
	if (w->kind == INPUTS_NORMAL && !w->nudged)
		data = pjrt_take_input(p, key, t->dtype, t->elements);
	if (!data)
		data = value_new(p->seed, key, t->dtype, t->elements, w->kind, w->nudged,
			w->kind == INPUTS_NORMAL ? value_given(w->given, t, place) : NULL);
	if (p->plain_copies && !row_major(t)) {
		uint8_t *other = mem_alloc_aligned(t->elements * bytes + 8, VALUE_ALIGNMENT);
		reorder(t->rank, t->dims, t->minor_to_major, bytes, false, data, other);
		mem_free(data);
		return other;
	}
	return data;
}

struct lent {
	const PJRT_Api *api;
	void *memory;
};

/* The plugin is done with the memory, perhaps on a thread of its own. */
static void take_back(PJRT_Error *error, void *ctx)
{
	struct lent *l = ctx;
	ARGS(Error_Destroy, d);

	d.error = error;
	if (error)
		l->api->PJRT_Error_Destroy(&d);
	mem_free(l->memory);
	mem_free(l);
}

/* Does the buffer use this memory, and no copy of it? */
static bool uses(struct pjrt *p, PJRT_Buffer *buffer, const void *memory)
{
	struct refusal ignored;
	ARGS(Buffer_UnsafePointer, u);

	u.buffer = buffer;
	return pjrt_check(p, p->api->PJRT_Buffer_UnsafePointer(&u), "", &ignored) == 0 &&
	       u.buffer_pointer == (uintptr_t)memory;
}

/* Frees the memory of an input once the plugin does not need it, which `done` tells: at once if it made a copy. */
static int give_up_memory(struct pjrt *p, PJRT_Buffer *buffer, PJRT_Event *done, void *memory, bool lent,
	struct refusal *v)
{
	struct refusal ignored;
	int rc;

	if (lent && done && uses(p, buffer, memory)) {
		struct lent *l = MEM_NEW(1, struct lent);
		ARGS(Event_OnReady, r);
		ARGS(Event_Destroy, d);
		*l = (struct lent){p->api, memory};
		r.event = d.event = done;
		r.callback = take_back;
		r.user_arg = l;
		rc = pjrt_check(p, p->api->PJRT_Event_OnReady(&r), "making an input", v);
		pjrt_check(p, p->api->PJRT_Event_Destroy(&d), "", &ignored);
		return rc; /* if it was refused, the memory stays: the buffer uses it */
	}
	rc = pjrt_await(p, done, "making an input", v);
	mem_free(memory);
	return rc;
}

static int make_buffer(
	struct pjrt *p, const struct type *t, size_t place, const struct wanted *w, PJRT_Buffer **out,
		struct refusal *v)
{
	PJRT_Buffer_MemoryLayout layout = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
		.type = PJRT_Buffer_MemoryLayout_Type_Tiled};
	if (!row_major(t) && !valid_order(t->rank, t->minor_to_major)) {
		v->outcome = OUTCOME_REFUSED;
		snprintf(v->detail, sizeof v->detail, "the layout of an input makes no sense");
		return -1;
	}
	uint8_t *data = make_values(p, t, place, w);
	layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
	layout.tiled.minor_to_major = t->minor_to_major;
	layout.tiled.minor_to_major_size = t->rank;
	ARGS(Client_BufferFromHostBuffer, b);
	b.client = p->client;
	b.data = data;
	b.type = t->dtype;
	b.dims = t->dims;
	b.num_dims = t->rank;
	bool lend = p->facts.on_host && t->elements * dtype_host_bytes(t->dtype) >= LENT && HAS(p, Event_OnReady) &&
		HAS(p, Buffer_UnsafePointer);
	b.host_buffer_semantics = lend ? PJRT_HostBufferSemantics_kImmutableZeroCopy
				       : PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
	b.device = p->device[w->device];
	b.device_layout = row_major(t) ? NULL : &layout;
	if (pjrt_check(p, p->api->PJRT_Client_BufferFromHostBuffer(&b), "making an input", v) < 0) {
		mem_free(data);
		return -1;
	}
	*out = b.buffer;
	return give_up_memory(p, b.buffer, b.done_with_host_buffer, data, lend, v);
}

void pjrt_drop_buffer(struct pjrt *p, PJRT_Buffer *b)
{
	struct refusal ignored;
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

void pjrt_forget_use(struct pjrt *p)
{
	p->tick++;
}

void pjrt_drop_inputs(struct pjrt *p)
{
	while (p->n_inputs)
		drop_input(p, p->n_inputs - 1);
}

/* bytes at most: others use the machine's memory, too, and inputs can be made again in seconds */
#define HOST_SHARE ((uint64_t)1 << 30)

/* A quarter of the device's memory; or of the machine's, if the device is the machine or does not say. */
static uint64_t input_share(const struct pjrt *p)
{
	uint64_t memory = p->facts.memory;
	uint64_t share = (memory ? memory : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE)) / 4;

	return p->facts.on_host && share > HOST_SHARE ? HOST_SHARE : share;
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
	uint64_t h = value_key(t, place);
	if (!row_major(t))
		h = hash64(t->minor_to_major, t->rank * sizeof *t->dims, h);
	return h;
}

static int ensure_input(
	struct pjrt *p, const struct type *t, size_t place, const struct wanted *w, PJRT_Buffer **out,
		struct refusal *v)
{
	uint64_t which = (((uint64_t)w->device * INPUTS_COUNT + w->kind) * (UINT8_MAX + 1) + w->nudged) * 2 +
		(w->given != NULL);
	uint64_t key = hash_mix(key_of(t, place), which);
	uint64_t bytes = t->elements * dtype_host_bytes(t->dtype);
	for (size_t i = 0; i < p->n_inputs; i++)
		if (p->input[i].key == key) {
			p->input[i].used = p->tick;
			*out = p->input[i].buffer;
			return 0;
		}
	make_room(p, bytes, input_share(p));
	int rc = make_buffer(p, t, place, w, out, v);
	if (rc < 0 && v->outcome == OUTCOME_OOM) { /* the pool may be what is in the way */
		size_t before = p->n_inputs;
		make_room(p, bytes, 0);
		if (p->n_inputs < before) {
			*v = (struct refusal){0};
			rc = make_buffer(p, t, place, w, out, v);
		}
	}
	if (rc < 0)
		return -1;
	MEM_GROW(&p->input, &p->cap_inputs, p->n_inputs + 1);
	p->input[p->n_inputs++] = (struct input){key, *out, bytes, p->tick};
	p->input_bytes += bytes;
	return 0;
}

int program_inputs(struct program *g, enum inputs kind, unsigned nudged, struct refusal *v)
{
	struct wanted w = {0, kind, nudged, values_given(g->pjrt->given, g->param, g->n_params)};

	g->pjrt->tick++;
	for (; w.device < g->pjrt->n_devices; w.device++)
		for (size_t i = 0; i < g->n_params; i++)
			if (ensure_input(g->pjrt, &g->param[i], i, &w, &g->args[w.device * g->n_params + i], v) < 0)
				return -1;
	if (g->pjrt->n_early)
		pjrt_end_inputs(g->pjrt); /* this was the program they were made for */
	return 0;
}

bool output_order(const struct instance *i, uint32_t k, size_t rank, int64_t *order)
{
	struct pjrt *p = i->program->pjrt;
	struct refusal ignored;
	ARGS(Buffer_GetMemoryLayout, l);
	l.buffer = i->out[k];
	if (!HAS(p, Buffer_GetMemoryLayout) || pjrt_check(p, p->api->PJRT_Buffer_GetMemoryLayout(&l), "", &ignored) <
		0 || l.layout.type != PJRT_Buffer_MemoryLayout_Type_Tiled || l.layout.tiled.minor_to_major_size !=
		rank || !valid_order(rank, l.layout.tiled.minor_to_major))
		return false;
	memcpy(order, l.layout.tiled.minor_to_major, rank * sizeof *order);
	return true;
}

/* The output's elements in row-major order; NULL with a refusal. */
static uint8_t *read_values(struct instance *i, uint32_t k, const struct values *x, size_t bytes, struct refusal *v)
{
	struct pjrt *p = i->program->pjrt;
	int64_t order[MODULE_RANK], there[MODULE_RANK];
	PJRT_Buffer_MemoryLayout layout = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
		.type = PJRT_Buffer_MemoryLayout_Type_Tiled};
	for (size_t d = 0; d < x->rank; d++)
		order[d] = (int64_t)(x->rank - 1 - d);
	layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
	layout.tiled.minor_to_major = order;
	layout.tiled.minor_to_major_size = x->rank;
	ARGS(Buffer_ToHostBuffer, h);
	h.src = i->out[k];
	h.host_layout = p->plain_copies ? NULL : &layout;
	h.dst_size = x->elements * bytes;
	uint8_t *data = mem_alloc(h.dst_size + 8);
	h.dst = data;
	if (pjrt_check(p, p->api->PJRT_Buffer_ToHostBuffer(&h), "reading an output", v) < 0 ||
		pjrt_await(p, h.event, "reading an output", v) < 0) {
		mem_free(data);
		return NULL;
	}
	if (!p->plain_copies || x->rank < 2 || !output_order(i, k, x->rank, there) ||
		memcmp(there, order, x->rank * sizeof *order) == 0)
		return data;
	uint8_t *other = mem_alloc(h.dst_size + 8);
	reorder(x->rank, x->dims, there, bytes, true, data, other);
	mem_free(data);
	return other;
}

/*
 * Two rows of three are put there and read back by columns. A plugin that heeds layouts returns the columns; an old
 * XLA:CPU returns the rows, or refuses.
 */
bool pjrt_heeds_layouts(struct pjrt *p)
{
	static const float rows[] = {0, 1, 2, 3, 4, 5}, columns[] = {0, 3, 1, 4, 2, 5};
	static const int64_t dims[] = {2, 3}, by_columns[] = {0, 1};
	PJRT_Buffer_MemoryLayout layout = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
		.type = PJRT_Buffer_MemoryLayout_Type_Tiled,
		.tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE, .minor_to_major = by_columns,
			.minor_to_major_size = 2}};
	float got[6] = {0};
	struct refusal ignored;
	ARGS(Client_BufferFromHostBuffer, b);
	ARGS(Buffer_ToHostBuffer, h);

	b.client = p->client;
	b.device = p->device[0];
	b.data = rows;
	b.type = PJRT_Buffer_Type_F32;
	b.dims = dims;
	b.num_dims = 2;
	b.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
	if (pjrt_check(p, p->api->PJRT_Client_BufferFromHostBuffer(&b), "", &ignored) < 0)
		return false;
	h.src = b.buffer;
	h.host_layout = &layout;
	h.dst = got;
	h.dst_size = sizeof got;
	bool read = pjrt_await(p, b.done_with_host_buffer, "", &ignored) == 0 &&
		pjrt_check(p, p->api->PJRT_Buffer_ToHostBuffer(&h), "", &ignored) == 0 &&
		pjrt_await(p, h.event, "", &ignored) == 0;
	pjrt_drop_buffer(p, b.buffer);
	return read && memcmp(got, columns, sizeof got) == 0;
}

int output_values(struct instance *i, uint32_t k, struct values *out, struct refusal *v)
{
	struct pjrt *p = i->program->pjrt;
	ARGS(Buffer_ElementType, e);
	ARGS(Buffer_Dimensions, d);
	e.buffer = d.buffer = i->out[k];
	*out = (struct values){0};
	if (pjrt_check(p, p->api->PJRT_Buffer_ElementType(&e), "reading an output", v) < 0 ||
		pjrt_check(p, p->api->PJRT_Buffer_Dimensions(&d), "reading an output", v) < 0)
		return -1;
	size_t bytes = dtype_host_bytes(e.type);
	if (!bytes || d.num_dims > MODULE_RANK)
		return 0; /* tokens and the like carry no numbers */
	out->dtype = e.type;
	out->rank = d.num_dims;
	out->elements = 1;
	for (size_t j = 0; j < d.num_dims; j++) {
		out->dims[j] = d.dims[j];
		out->elements *= (size_t)d.dims[j];
	}
	out->data = read_values(i, k, out, bytes, v);
	return out->data ? 0 : -1;
}
#endif
