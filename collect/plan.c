/*
 * plan.c - shares out the steps: which worker takes which chain, and what is stored when.
 *
 * A worker takes one step of one chain at a time. It computes the step without the lock, on a copy of the
 * chain's state. Then it takes the lock and stores keyframe, anchor and sample in one commit, together with the
 * states of all chains. Another chain's state is that of its own last commit, wherever its worker is by now.
 * The chain moves on only after the commit. So the store always holds whole steps, and a kill costs the steps
 * in flight: one per worker. If all prices are exact, a step may take less time than a commit, and costs nothing to
 * compute again. Then steps are committed together, those of RELAXED seconds at a time.
 *
 * Every worker first compiles all programs for its device. The first worker has done so when the run begins.
 * The others do it while the first one samples.
 */
#include <math.h>
#include <stdio.h>
#include "base/stop.h"
#include "collect/plan_own.h"

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
		c->taken++;
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
