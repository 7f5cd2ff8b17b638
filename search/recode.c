/*
 * recode.c - see recode.h.
 */
#include "search/recode.h"

#include <math.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "device/room.h"

#define TIME_SHARE 0.3 /* of the search's time, after which nothing more is asked, and what is under way is cut */
#define RUN_SHARE 0.05 /* ... that two programs run for side by side, */
#define RUN_LEAST 0.5  /* ... in seconds, */
#define RUN_MOST 3.0
#define WORTH 0.005 /* share of a run; for less no option is added */
#define SURE 3.0    /* standard errors */

/* Which other ways are there, by which seconds would be won? */
static uint32_t ways_of(const struct hunt *h)
{
	const struct lab *lab = h->lab;
	const struct device_info *i = lab->device ? device_info(lab->device) : NULL;

	if (!i || !i->can_run || i->kind != COST_MEASURED || h->quantity != QUANTITY_SECONDS || lab->reference ||
		lab->parts_only || lab->space->ops->prepares)
		return 0;
	return i->codegen;
}

/* The ways that an earlier search took. */
static uint32_t taken_earlier(const char *dir)
{
	struct buf path = {0}, text = {0};
	struct err ignored;
	uint32_t ways = 0;

	buf_addf(&path, "%s/options.txt", dir);
	if (io_exists(path.data) && io_read_file(path.data, IO_FILE_LIMIT, &text, &ignored) == 0) {
		buf_addch(&text, 0);
		ways = codegen_read(text.data);
	}
	buf_release(&path);
	buf_release(&text);
	return ways;
}

/* The answer, compiled in the ways that are fastest so far, and in one more. */
struct recoding {
	struct hunt *h;
	enum compile_how how;
	struct buf module;
	struct compiled best, next;
	double began;
};

static int compile(struct recoding *x, struct compiled *out, struct err *err)
{
	const struct buf *m = &x->module;
	unsigned want = WANT_SERIALISED | WANT_MEMORY;

	return device_compile(x->h->lab->device, x->how, "hlo", m->data, m->len, want, out, err);
}

static int drop(struct recoding *x, struct compiled *c, struct err *err)
{
	int rc = device_drop(x->h->lab->device, c, err);

	compiled_release(c);
	*c = (struct compiled){0};
	return rc;
}

/* Is there something to compare with? It is lost if a worker dies of what it is asked. */
static bool has_best(const struct recoding *x)
{
	return x->best.handle && x->best.generation == device_generation(x->h->lab->device);
}

/* Is there time to compile it once more, as far as one can say? */
static bool affordable(const struct recoding *x)
{
	const struct hunt *h = x->h;
	double most = h->o.seconds > 0 ? TIME_SHARE * h->o.seconds : INFINITY;

	return !stop_asked() && now_seconds() - x->began + h->lab->subject.extract_seconds <= most;
}

/* Runs x->next, which has way i besides, beside x->best. Returns 1 if it is faster, else 0. */
static int is_faster(struct recode *r, struct recoding *x, unsigned i, struct err *err)
{
	double share = x->h->o.seconds > 0 ? RUN_SHARE * x->h->o.seconds : RUN_MOST;
	struct precision p = {.target = 0.002, .max_seconds = fmin(RUN_MOST, fmax(RUN_LEAST, share)), .instances = 4,
		.give_up = -1, .even_identical = true};
	struct timing t = {0};
	int rc = device_pair(x->h->lab->device, &x->best, &x->next, &p, &t, err);

	if (rc == 0 && t.outcome == OUTCOME_OK && t.seconds_a > 0) {
		r->asked |= UINT32_C(1) << i;
		r->gain[i] = -t.delta / t.seconds_a;
		r->se[i] = t.delta_se / t.seconds_a;
		rc = r->gain[i] > WORTH && r->gain[i] > SURE * r->se[i];
	}
	timing_release(&t);
	return rc;
}

/* Tries one more way beside those taken. What the compiler refuses, or what has no room, is not taken. */
static int try_way(struct recode *r, struct recoding *x, unsigned i, struct err *err)
{
	struct device *d = x->h->lab->device;
	struct compiled other;
	char ignored[160];
	int rc;

	device_codegen(d, r->taken | UINT32_C(1) << i);
	rc = compile(x, &x->next, err);
	if (rc == 0 && x->next.outcome == OUTCOME_OK &&
		room_for(d, 2 * x->next.peak_bytes, "it", ROOM_OF_ALL, ignored, sizeof ignored))
		rc = is_faster(r, x, i, err);
	if (rc == 1) {
		r->taken |= UINT32_C(1) << i;
		other = x->best;
		x->best = x->next;
		x->next = other;
	}
	return drop(x, &x->next, rc < 0 ? NULL : err) < 0 || rc < 0 ? -1 : 0;
}

static int try_ways(struct recode *r, struct hunt *h, uint32_t ways, struct err *err)
{
	struct recoding x = {.h = h, .how = h->lab->how, .began = now_seconds()};
	struct lab *lab = h->lab;
	struct spares *spares = &lab->subject.opened.spares;
	enum compile_how usual = x.how == COMPILE_CODEGEN ? COMPILE_APPLIED : COMPILE_DEFAULT;
	int rc = lab_answer(lab, h->config, &x.module, err);

	device_until(lab->device, h->o.seconds > 0 ? x.began + TIME_SHARE * h->o.seconds : 0);
	device_heed_stop(lab->device, true);
	if (rc == 0 && affordable(&x))
		rc = spare_compile(spares, lab->device, usual, &x.module, WANT_MEMORY, &x.best, err);
	for (unsigned i = 0; i < CODEGEN_MOST && rc == 0 && has_best(&x); i++)
		if (ways >> i & 1 && affordable(&x))
			rc = try_way(r, &x, i, err);
	if (rc == 0 && r->taken)
		spare_put(spares, x.how, &x.module, &x.best);
	if (drop(&x, &x.best, rc == 0 ? err : NULL) < 0)
		rc = -1;
	device_until(lab->device, 0);
	device_heed_stop(lab->device, false);
	buf_release(&x.module);
	return rc;
}

/* What all ways that were taken save together, of those whose gain is known; its standard error. */
static double together(const struct recode *r, double *se)
{
	double left = 1, variance = 0;

	for (unsigned i = 0; i < CODEGEN_MOST; i++)
		if (r->taken >> i & 1) {
			left *= 1 - r->gain[i];
			variance += r->se[i] * r->se[i];
		}
	*se = sqrt(variance);
	return 1 - left;
}

/* Is the answer the compiler's own program? Then the user's program is compiled with all of its decisions. */
static bool is_own(const struct hunt *h)
{
	uint8_t *dflt = MEM_NEW(h->s->n_sites + 1, uint8_t);
	bool same;

	space_default(h->s, dflt);
	same = !h->lab->derived && memcmp(dflt, h->config, h->s->n_sites) == 0;
	mem_free(dflt);
	return same;
}

int recode_answer(struct recode *r, struct hunt *h, const struct recode_options *o, struct err *err)
{
	uint32_t ways = o->ask ? ways_of(h) : 0;
	struct buf said = {0};
	int rc = 0;

	*r = (struct recode){0};
	if (ways)
		h->lab->how = is_own(h) ? COMPILE_CODEGEN_OWN : COMPILE_CODEGEN;
	if (ways && o->from)
		r->taken = ways & taken_earlier(o->from);
	else if (ways && h->o.budget > 0)
		rc = try_ways(r, h, ways, err);
	if (ways)
		device_codegen(h->lab->device, r->taken);
	if (!r->taken)
		h->lab->how = COMPILE_APPLIED;
	if (rc == 0 && r->taken) {
		recode_text(r, &said);
		talk("%s", said.data);
	}
	buf_release(&said);
	return rc;
}

void recode_undo(struct recode *r, struct lab *lab)
{
	r->taken = 0;
	lab->how = COMPILE_APPLIED;
}

void recode_json(const struct recode *r, struct json *j)
{
	if (!(r->asked | r->taken))
		return;
	json_array(j, "codegen");
	for (unsigned i = 0; i < CODEGEN_MOST; i++) {
		if (!((r->asked | r->taken) >> i & 1))
			continue;
		json_object(j, NULL);
		json_str(j, "option", codegen_way(i)->option);
		json_bool(j, "taken", r->taken >> i & 1);
		if (r->asked >> i & 1) {
			json_num(j, "gain", r->gain[i]);
			json_num(j, "gain_se", r->se[i]);
		}
		json_end(j);
	}
	json_end(j);
}

void recode_text(const struct recode *r, struct buf *out)
{
	double se, gain = together(r, &se);

	if (!r->taken)
		return;
	buf_adds(out, "Its code has ");
	codegen_words(r->taken, out);
	buf_adds(out, " (");
	codegen_options(r->taken, ", ", out);
	buf_adds(out, ")");
	if (r->asked)
		buf_addf(out, ", with which it took %.1f%% +- %.1f less time", 100 * gain, 100 * se);
	buf_adds(out, ".");
}
