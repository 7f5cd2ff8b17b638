/*
 * timed.c - the programs of a request to measure, as measure.c runs them.
 *
 * Each side has instances, which are loaded or compiled when they are first run. What a run counts for is decided here:
 * whether the process was kept from its core meanwhile, and which pages it mapped in.
 */
#include "device/worker/timed.h"
#ifdef HAVE_PJRT
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include "base/progress.h"
#include "device/worker/guard.h"
#include "device/worker/mapped.h"
#include "device/worker/measure.h"

/*
 * Loading a program is expected to take such a share of the time of compiling it. For most programs the share is
 * smaller. For a training step of 30,000 instructions, which is compiled in 35 s, it is more than half.
 */
#define LOAD_SHARE 0.2

void put_refusal(struct buf *out, const struct refusal *v)
{
	buf_u8(out, (uint8_t)v->outcome);
	buf_str(out, v->detail);
}

static double process_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct rusage used_so_far(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u;
}

/* Does one more instance of it take as long as its first one did? */
static bool as_dear(const struct program *g)
{
	return program_loaded(g) || !program_can_be_written(g);
}

/*
 * Chooses the instances of both sides. With one each, compiling made them. With one each of the same program, the other
 * is a second load, on either side by chance. Of several that are compiled, the first are those that compiling made. Of
 * several that are loaded, each is loaded when it is first run; measure.c draws which side that is, except for the very
 * first, because the order of loading is one of the things that make instances differ. A program that was given as an
 * executable is loaded already, and to load a large one takes ten seconds: its first instance is that. So it is with a
 * program that cannot be written down, of which each instance is compiled.
 */
static void choose_instances(struct timed *s, uint32_t n, struct rng *r)
{
	int first = s->program[0] == s->program[1] ? (int)rng_below(r, 2) : 0;
	bool loaded = as_dear(s->program[0]) && (!s->program[1] || as_dear(s->program[1]));

	if (n > 1 && !loaded && (!s->anew || !s->program[1] || s->program[0] == s->program[1]))
		return;
	s->instance[first][0] = program_instance(s->program[0]);
	if (s->program[1] && s->program[0] != s->program[1])
		s->instance[1][0] = program_instance(s->program[1]);
}

static int load_instance(struct timed *s, int side, uint32_t i)
{
	struct instance **place = &s->instance[side][i];
	double start = now_seconds();

	if (*place)
		return 0;
	*place = instance_new(s->program[side], s->anew, &s->refusal);
	s->loading += now_seconds() - start;
	s->n_loaded++;
	return *place ? 0 : -1;
}

/* What loading one takes: as those before did, or as long as this one did, or a share of what compiling it took. */
static double load_seconds(const struct timed *s, const struct program *g)
{
	if (s->n_loaded)
		return s->loading / s->n_loaded;
	return program_seconds(g) * (as_dear(g) || s->anew ? 1 : LOAD_SHARE);
}

/* Seconds that one more instance of each side takes. */
static double timed_loading(void *ctx)
{
	struct timed *s = ctx;

	return load_seconds(s, s->program[0]) + (s->program[1] ? load_seconds(s, s->program[1]) : 0);
}

/*
 * Runs an instance, and finds out whether the run was preempted. On cpu the program runs on the core of this process.
 * The plugin's own threads take the core from each other, and the kernel counts that as involuntary, too. So a run
 * counts as preempted only if the process also missed time. The missed time is taken off, in case too few pairs are
 * left to drop any. Where the program runs elsewhere, missed time is no sign, and the kernel's count must do.
 */
static int timed_run(void *ctx, int side, uint32_t instance, uint32_t times, double *seconds)
{
	struct timed *s = ctx;
	*seconds = 0;
	if (load_instance(s, side, instance) < 0)
		return -1;
	if (s->forgets)
		mapped_forget();
	struct rusage before = used_so_far();
	double cpu = process_seconds(), start = now_seconds();
	int rc = instance_run(s->instance[side][instance], times, false, seconds, &s->refusal);
	double missed = now_seconds() - start - (process_seconds() - cpu);
	struct rusage after = used_so_far();
	bool preempted = after.ru_nivcsw != before.ru_nivcsw;
	if (s->ran[side][instance]) {
		s->faults[side] += (double)(after.ru_minflt - before.ru_minflt);
		s->runs[side] += times;
	}
	s->ran[side][instance] = true;
	s->inside += *seconds;
	if (s->on_core) {
		preempted = preempted && missed > 0.01 * *seconds + 5e-6;
		if (preempted && missed < *seconds)
			*seconds -= missed;
	}
	s->preempted += preempted;
	return rc;
}

static long timed_switches(void *ctx)
{
	struct timed *s = ctx;
	return s->preempted;
}

static void free_instances(struct timed *s, struct program *a, struct program *b)
{
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < TIMED_INSTANCES; i++) {
			struct instance *x = s->instance[side][i];
			if (x && x != program_instance(a) && !(b && x == program_instance(b)))
				instance_free(x);
		}
}

static void put_estimate(struct buf *out, const struct estimate *e)
{
	buf_f64(out, e->value);
	buf_f64(out, e->se);
}

/* With `over`, this is the last that is heard of this process. */
static void put_measured(struct buf *out, const struct measured *m, const struct timed *s, bool over)
{
	buf_u8(out, m->gave_up);
	put_estimate(out, &m->a);
	put_estimate(out, &m->b);
	put_estimate(out, &m->ratio);
	put_estimate(out, &m->delta);
	buf_f64(out, m->between);
	buf_u32(out, m->pairs);
	buf_u32(out, m->dropped);
	buf_u32(out, m->instances);
	buf_u32(out, m->batch);
	buf_f64(out, s->inside);
	for (int side = 0; side < 2; side++)
		buf_f64(out, s->runs[side] > 0 ? s->faults[side] / s->runs[side] : 0);
	buf_blob(out, m->raw.data, m->raw.len);
	buf_u8(out, over);
}

static void timed_limit(void *ctx, double seconds, const struct measured *bound)
{
	struct timed *s = ctx;
	struct buf reply = {0};

	if (!bound) {
		guard_end();
		return;
	}
	put_refusal(&reply, &(struct refusal){0});
	put_measured(&reply, bound, s, true);
	guard_begin(seconds, s->on_host, WIRE_MEASURE, s->id, &reply);
	buf_release(&reply);
}

/* Is what it keeps in memory of its own mapped anew in each run? */
static bool keeps_much(struct program *g)
{
	struct program_facts facts = {0};

	program_facts(g, &facts);
	return mapped_anew(facts.own_bytes);
}

void timed_answer(struct timed *s, const struct precision *p, struct rng *r, struct buf *out)
{
	struct program *a = s->program[0], *b = s->program[1];
	struct measure_subject subject = {s, b ? 2 : 1, timed_run, timed_switches, timed_limit, timed_loading};
	struct precision q = *p;
	struct measured m = {0};

	q.instances = q.instances == 0 ? 1 : q.instances > TIMED_INSTANCES ? TIMED_INSTANCES : q.instances;
	if (a) {
		mapped_keep(p->part);
		s->forgets = !p->part && (keeps_much(a) || (b && keeps_much(b)));
		q.instances = measure_affords(&q, 1, timed_loading(s));
		choose_instances(s, q.instances, r);
		if (program_inputs(a, INPUTS_NORMAL, 0, &s->refusal) == 0 &&
			(!b || program_inputs(b, INPUTS_NORMAL, 0, &s->refusal) == 0) &&
			measure(&subject, &q, r, &m) < 0)
			measured_release(&m);
		free_instances(s, a, b);
	}
	put_refusal(out, &s->refusal);
	put_measured(out, &m, s, false);
	measured_release(&m);
}
#endif
