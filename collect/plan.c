/*
 * plan.c - shares out the steps: which worker takes which chain, and what is stored when.
 *
 * A worker takes one step of one chain at a time. It computes the step without the lock, on a copy of the
 * chain's state. Then it takes the lock and stores keyframe, anchor and sample in one commit, together with the
 * states of all chains. Another chain's state is that of its own last commit, wherever its worker is by now.
 * The chain moves on only after the commit. So the store always holds whole steps, and a kill costs the steps
 * in flight: one per worker.
 *
 * Every worker first compiles all programs for its device. The first worker has done so when the run begins.
 * The others do it while the first one samples.
 */
#include <math.h>
#include <stdio.h>
#include "base/stop.h"
#include "collect/plan_own.h"

#define USED_UP 64 /* steps of a chain in a row that measured nothing */

static uint64_t program_steps(const struct plan *p, uint32_t i)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < p->n_chains; k++)
		n += plan_chains_of(p, i)[k].at.steps;
	return n;
}

/* The seconds that a program had so far. */
static double program_seconds(const struct plan *p, uint32_t i, double now)
{
	double sum = 0;

	for (uint32_t k = 0; k < p->n_chains; k++) {
		const struct chain *c = &plan_chains_of(p, i)[k];
		sum += c->spent + (c->busy ? now - c->begun : 0);
	}
	return sum;
}

/* Does the program still give what is not known? */
static bool teaches(const struct plan *p, uint32_t i)
{
	for (uint32_t k = 0; k < p->n_chains; k++)
		if (plan_chains_of(p, i)[k].known < USED_UP)
			return true;
	return false;
}

/*
 * The most that a program may have had to be given another step. What is modelled does not depend on this machine's
 * speed.
 */
static double fair_seconds(const struct plan *p, double now)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_programs; i++)
		if (teaches(p, i)) {
			sum += program_seconds(p, i, now);
			n++;
		}
	return p->set->share > 0 && p->worker[0].lab->kind == COST_MEASURED && n ? p->set->share * sum / n : INFINITY;
}

/*
 * The idle chain with the fewest steps, of the program with the fewest samples of those that had no more than `most`
 * seconds; NULL when all such are busy.
 */
static struct chain *idle_chain(const struct plan *p, double most, double now)
{
	struct chain *best = NULL;
	uint64_t best_program = 0;

	for (uint32_t i = 0; i < p->n_programs; i++) {
		uint64_t steps = program_steps(p, i);
		if (program_seconds(p, i, now) > most)
			continue;
		for (uint32_t k = 0; k < p->n_chains; k++) {
			struct chain *c = &plan_chains_of(p, i)[k];
			if (c->busy || (best && (steps > best_program ||
						(steps == best_program && c->at.steps >= best->at.steps))))
				continue;
			best = c;
			best_program = steps;
		}
	}
	return best;
}

struct chain *plan_next(const struct plan *p)
{
	double now = now_seconds();
	struct chain *c = idle_chain(p, fair_seconds(p, now), now);

	return c ? c : idle_chain(p, INFINITY, now);
}

void plan_state(const struct plan *p, const struct chain *moving, const struct chain_state *at, struct buf *out)
{
	for (uint32_t k = 0; k < plan_n_chains(p); k++)
		chain_save(&p->chain[k] == moving ? at : &p->chain[k].at, out);
}

/* Stores the step, and then takes it into the chain. On failure the store rolls back, and the chain stays. */
static int keep(struct plan *p, struct chain *c, const struct chain_step *t, struct err *err)
{
	struct buf state = {0};
	int rc = 0;

	if (t->begins && c->at.steps > 0) /* the chain's beginning has its keyframe already */
		rc = run_keyframe(p->archive.run, c->number, t->sweep, err);
	if (rc == 0 && t->anchored)
		rc = run_anchor(p->archive.run, &t->a, err);
	plan_state(p, c, &t->after, &state);
	if (rc == 0)
		rc = run_sample(p->archive.run, &t->x, state.data, state.len, err);
	buf_release(&state);
	if (rc == 0) {
		chain_take(c, t);
		p->steps++;
	}
	return rc;
}

bool plan_over(const struct plan *p)
{
	return stop_asked() || p->stop ||
	       (p->set->samples && p->steps + p->flying - p->before >= (uint64_t)p->set->samples) ||
	       (p->deadline > 0 && now_seconds() > p->deadline);
}

static void show(struct plan *p)
{
	char detail[120];
	struct cost_totals sum;

	plan_totals(p, &sum);
	snprintf(detail, sizeof detail, "cached %.0f%%",
		sum.regions ? 100.0 * (double)sum.cached / (double)sum.regions : 0.0);
	progress_update(&p->progress, p->steps - p->before, detail);
}

struct job {
	struct plan *p;
	struct worker *w;
};

/* The first error of a worker ends the plan. Under the lock. */
static void give_up(struct plan *p, const struct err *err)
{
	if (!p->stop)
		p->err = *err;
	p->stop = true;
}

static void *work(void *arg)
{
	const struct job *job = arg;
	struct plan *p = job->p;
	struct worker *w = job->w;
	struct chain_step t;
	struct err err = {0};
	struct chain *c;
	uint64_t measured;
	int opened = w->lab ? 0 : plan_open_programs(p, w, &err);

	archive_lock(&p->archive);
	if (opened < 0 && !plan_over(p))
		give_up(p, &err);
	if (opened == 0 && w->device)
		device_until(w->device, p->deadline);
	while (opened == 0 && !plan_over(p) && (c = plan_next(p))) {
		int rc;
		c->busy = true;
		c->begun = now_seconds();
		c->lab = &w->lab[c->number / p->n_chains];
		p->flying++;
		measured = cost_totals(c->lab->cost)->measured;
		archive_unlock(&p->archive);
		rc = chain_try(c, p->set->anchors, &t, &err);
		archive_lock(&p->archive);
		c->known = cost_totals(c->lab->cost)->measured == measured ? c->known + 1 : 0;
		if (rc == 0 && !t.cut)
			rc = keep(p, c, &t, &err);
		p->flying--;
		c->busy = false;
		c->spent += now_seconds() - c->begun;
		worker_count(w, p->n_programs, &w->totals);
		if (rc < 0)
			give_up(p, &err);
		show(p);
	}
	archive_unlock(&p->archive);
	return NULL;
}

/* Runs all workers; a single one needs no thread. */
static int work_all(struct plan *p, struct err *err)
{
	struct job *job = MEM_NEW(p->n_workers, struct job);
	pthread_t *thread = MEM_NEW(p->n_workers, pthread_t);
	uint32_t started = 0;
	int rc = 0;

	for (uint32_t w = 0; w < p->n_workers; w++)
		job[w] = (struct job){p, &p->worker[w]};
	if (p->n_workers == 1)
		work(&job[0]);
	while (p->n_workers > 1 && started < p->n_workers && rc == 0) {
		if (pthread_create(&thread[started], NULL, work, &job[started]) == 0)
			started++;
		else
			rc = err_set(err, "the system gives no thread for worker %u of %u; use fewer --workers",
				started + 1, p->n_workers);
	}
	if (rc < 0) {
		archive_lock(&p->archive);
		give_up(p, err);
		archive_unlock(&p->archive);
	}
	for (uint32_t w = 0; w < started; w++)
		pthread_join(thread[w], NULL);
	mem_free(job);
	mem_free(thread);
	return rc;
}

int plan_run(struct plan *p, struct err *err)
{
	int rc;

	p->running = now_seconds();
	progress_start(&p->progress, "collect", (uint64_t)p->set->samples,
		p->set->quiet ? PROGRESS_QUIET : PROGRESS_AUTO);
	rc = work_all(p, err);
	progress_end(&p->progress);
	if (rc == 0 && p->stop) {
		*err = p->err;
		rc = -1;
	}
	return rc;
}
