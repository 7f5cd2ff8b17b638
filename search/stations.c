/*
 * stations.c - a thread for each worker while it loads. The first worker takes the lock of the core; the others borrow
 * the core from it, so it is the last to be closed. All are opened by the calling thread, because a worker dies with
 * the thread that started it.
 */
#include "search/stations.h"

#include <pthread.h>
#include <string.h>
#include "base/mem.h"
#include "device/machine.h"

#define MOST 8 /* workers at once: each has a plugin, and the code of both programs */

struct station {
	pthread_t thread;
	struct device_options options;
	const struct buf *kept;
	bool swap; /* side 1 first */
	struct device *device;
	struct compiled side[2];
	int rc;
	struct err err;
};

struct stations {
	struct station at[MOST];
	size_t n;
	int core;
};

static void *load(void *ctx)
{
	struct station *s = ctx;

	for (int k = 0; k < 2 && s->rc == 0; k++) {
		int side = k ^ s->swap;
		const struct buf *b = &s->kept[side];
		s->rc = device_compile(s->device, COMPILE_DEFAULT, FORMAT_EXECUTABLE, b->data, b->len, 0,
			&s->side[side], &s->err);
	}
	return NULL;
}

static size_t room_for_stations(const struct device_options *o, const struct device_info *i)
{
	size_t n = 0;

	if (!o->crew || i->cores != 1)
		return 1;
	mem_free(cores_beside(&i->core, 1, &n));
	if (o->crew > 0 && n > (size_t)o->crew)
		n = (size_t)o->crew;
	return n + 1 < MOST ? n + 1 : MOST;
}

static void close_one(struct stations *s, size_t i)
{
	for (int k = 0; k < 2; k++)
		compiled_release(&s->at[i].side[k]);
	device_close(s->at[i].device);
	s->at[i].device = NULL;
}

void stations_close(struct stations *s)
{
	if (!s)
		return;
	for (size_t i = s->n; i-- > 0;)
		close_one(s, i);
	mem_free(s);
}

/*
 * Opens workers and loads both sides on each; on every second one the other side first, because what is loaded first
 * may be faster. Returns NULL with a sentence if a worker cannot be opened.
 */
static struct stations *open_all(const struct device_options *o, const struct buf side[2], size_t n, struct err *err)
{
	struct stations *s = MEM_NEW(1, struct stations);
	bool threaded[MOST] = {false};
	int rc = 0;

	s->n = n < MOST ? n : MOST;
	for (size_t i = 0; i < s->n && rc == 0; i++) {
		struct station *at = &s->at[i];
		*at = (struct station){.options = *o, .kept = side, .swap = i & 1};
		if (i > 0) {
			at->options.beside = &s->core;
			at->options.n_beside = 1;
		}
		at->device = device_open(&at->options, err);
		if (!at->device)
			rc = -1;
		else if (i == 0)
			s->core = device_info(at->device)->core;
		threaded[i] = at->device && pthread_create(&at->thread, NULL, load, at) == 0;
	}
	for (size_t i = 0; i < s->n; i++) {
		struct station *at = &s->at[i];
		if (threaded[i])
			pthread_join(at->thread, NULL);
		else if (rc == 0)
			load(at);
		if (rc == 0 && at->rc < 0) {
			*err = at->err;
			rc = -1;
		}
	}
	if (rc == 0)
		return s;
	stations_close(s);
	return NULL;
}

int worker_next(struct worker *w, const struct device_options *o, const struct buf *side, size_t left, struct err *err)
{
	bool kept = side && side[0].len && side[1].len;

	if (!w->left && kept && w->room > 1 && left > 1) {
		w->left = left < w->room ? left : w->room;
		w->at = open_all(o, side, w->left, err);
		if (!w->at)
			return -1;
	}
	if (w->at) {
		w->device = w->at->at[--w->left].device;
		w->ready = w->at->at[w->left].side;
	} else if (o && !(w->device = device_open(o, err))) {
		return -1;
	}
	if (w->device && !w->room)
		w->room = room_for_stations(o, device_info(w->device));
	return 0;
}

void worker_close(struct worker *w)
{
	if (w->at)
		close_one(w->at, w->left);
	else
		device_close(w->device);
	if (!w->left) {
		stations_close(w->at);
		w->at = NULL;
	}
	w->device = NULL;
	w->ready = NULL;
}
