/*
 * pjrt_early.c - makes the inputs of a large program while it is compiled, on cores that are free.
 *
 * The inputs of a language model take gigabytes. Filling them, and the kernel, which clears their memory first, took
 * longer than the compiler. What they are follows from the program as it is handed in: the types of its parameters. So
 * a thread makes the values meanwhile, and whoever makes the buffers takes them from it.
 *
 * The thread begins with the last parameter, and the other one with the first. They meet somewhere, so that both work
 * to the end, and at most one wait for the other. The thread makes no call of the plugin. It leaves cores alone on
 * which another process measures, which it looks at before each input. It takes at most half of the memory that is
 * free: the compiler needs some, too.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include <pthread.h>
#include <string.h>
#include "base/hash.h"
#include "device/machine.h"
#include "device/worker/pjrt_own.h"

#define SMALL ((uint64_t)1 << 20)  /* bytes of an input that is not worth it, */
#define FEW ((uint64_t)32 << 20)   /* ... and of all that are */
#define MEMORY_SHARE 2		   /* the part of the free memory that they may take */

enum state { OPEN, BEGUN, MADE, TAKEN };

struct early {
	struct value {
		uint64_t key;
		PJRT_Buffer_Type dtype;
		uint64_t elements;
		enum state state;
		const void *given; /* NULL: they are made up */
		uint8_t *data;
	} *v;
	size_t n, cap, n_cores;
	int *core;
	uint64_t seed;
	bool over;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news;
};

uint64_t value_key(const struct type *t, size_t place)
{
	return hash64(t->dims, t->rank * sizeof *t->dims, hash_mix(place, (uint64_t)t->dtype));
}

const void *value_given(const struct given *g, const struct type *t, size_t place)
{
	return g ? given_values(g, place, dtype_xla(t->dtype), t->rank, t->dims) : NULL;
}

const struct given *values_given(const struct given *g, const struct type *t, size_t n)
{
	if (g && given_count(g) != n)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!value_given(g, &t[i], i))
			return NULL;
	return g;
}

uint8_t *value_new(uint64_t seed, uint64_t key, PJRT_Buffer_Type dtype, uint64_t elements, enum inputs kind,
	unsigned nudged, const void *given)
{
	struct rng r;
	size_t bytes = elements * dtype_host_bytes(dtype);
	uint8_t *data = mem_alloc_aligned(bytes + 8, VALUE_ALIGNMENT);

	rng_seed2(&r, seed, key);
	if (given) {
		memcpy(data, given, bytes);
		dtype_nudge(dtype, nudged, elements, &r, data);
	} else {
		dtype_fill(dtype, kind, nudged, elements, &r, data);
	}
	return data;
}

/* Moves the thread to those of its cores on which nobody measures; false: there is none. */
static bool find_cores(const struct early *e)
{
	int *core = MEM_NEW(e->n_cores, int);
	struct err ignored;
	size_t n = 0;

	for (size_t i = 0; i < e->n_cores; i++)
		if (!core_claimed(e->core[i]))
			core[n++] = e->core[i];
	n = n && thread_pin(0, core, n, &ignored) == 0 ? n : 0;
	mem_free(core);
	return n > 0;
}

static void *make(void *ctx)
{
	struct early *e = ctx;

	for (size_t i = e->n; i-- > 0 && find_cores(e);) {
		struct value *x = &e->v[i];
		uint8_t *data;
		bool mine;

		pthread_mutex_lock(&e->lock);
		mine = x->state == OPEN && !e->over;
		if (mine)
			x->state = BEGUN;
		pthread_mutex_unlock(&e->lock);
		if (!mine)
			break; /* the other one has come so far, or nobody wants more */
		data = value_new(e->seed, x->key, x->dtype, x->elements, INPUTS_NORMAL, 0, x->given);
		pthread_mutex_lock(&e->lock);
		x->data = data;
		x->state = MADE;
		pthread_cond_broadcast(&e->news);
		pthread_mutex_unlock(&e->lock);
	}
	return NULL;
}

/* Lists the inputs that are worth it. Returns their bytes; 0: there are none, or the program cannot be read. */
static uint64_t list_values(struct early *e, const struct given *given, const void *hlo, size_t n)
{
	struct arena mem = {0};
	struct module_type *t = NULL;
	struct type *type;
	size_t count = 0;
	uint64_t bytes = 0;
	struct err ignored;

	if (module_parameters(hlo, n, &mem, &t, &count, &ignored) < 0)
		count = 0;
	type = MEM_NEW(count + 1, struct type);
	for (size_t i = 0; i < count; i++)
		type[i] = (struct type){dtype_of_xla(t[i].dtype), t[i].rank, t[i].dims, NULL, t[i].elements};
	given = values_given(given, type, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t size = type[i].elements * dtype_host_bytes(type[i].dtype);
		if (size < SMALL)
			continue;
		MEM_GROW(&e->v, &e->cap, e->n + 1);
		e->v[e->n++] = (struct value){value_key(&type[i], i), type[i].dtype, type[i].elements, OPEN,
			value_given(given, &type[i], i), NULL};
		bytes += size;
	}
	mem_free(type);
	arena_release(&mem);
	return bytes;
}

static void release(struct early *e)
{
	for (size_t i = 0; i < e->n; i++)
		mem_free(e->v[i].data);
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->news);
	mem_free(e->v);
	mem_free(e->core);
	mem_free(e);
}

void pjrt_begin_inputs(struct pjrt *p, const void *hlo, size_t n, const int *core, size_t n_cores)
{
	struct early *e;
	uint64_t bytes;

	pjrt_end_inputs(p);
	if (!p->client || !p->facts.on_host || !n_cores)
		return;
	e = MEM_NEW(1, struct early);
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->news, NULL);
	e->seed = p->seed;
	e->core = MEM_NEW(n_cores, int);
	memcpy(e->core, core, n_cores * sizeof *core);
	e->n_cores = n_cores;
	bytes = list_values(e, p->given, hlo, n);
	if (bytes < FEW || bytes > machine_available() / MEMORY_SHARE || pthread_create(&e->thread, NULL, make, e) != 0)
		release(e);
	else
		p->early = e;
}

uint8_t *pjrt_take_input(struct pjrt *p, uint64_t key, PJRT_Buffer_Type dtype, uint64_t elements)
{
	struct early *e = p->early;
	struct value *x = NULL;
	uint8_t *data = NULL;

	for (size_t i = 0; e && i < e->n && !x; i++)
		if (e->v[i].key == key && e->v[i].dtype == dtype && e->v[i].elements == elements)
			x = &e->v[i];
	if (!x)
		return NULL;
	pthread_mutex_lock(&e->lock);
	while (x->state == BEGUN)
		pthread_cond_wait(&e->news, &e->lock);
	data = x->data;
	x->data = NULL;
	x->state = TAKEN;
	pthread_mutex_unlock(&e->lock);
	p->n_early += data != NULL;
	return data;
}

void pjrt_end_inputs(struct pjrt *p)
{
	struct early *e = p->early;

	if (!e)
		return;
	pthread_mutex_lock(&e->lock);
	e->over = true;
	pthread_mutex_unlock(&e->lock);
	pthread_join(e->thread, NULL);
	release(e);
	p->early = NULL;
	p->n_early = 0;
}
#endif
