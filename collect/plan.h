/*
 * plan.h - one night: the programs, their chains, and which chain is next.
 *
 * A plan opens every program and starts or resumes the run. Then it gives out steps: the program with the fewest
 * samples is next, and of its chains the one with the fewest steps. So a night of any length is balanced. But a step
 * of one program may take as long as a hundred of another. So a program whose next step would give it more than --share
 * times its fair share of the time waits, however few samples it has (next.c). To be opened and probed counts as well.
 * (Equal time for all was tried: the smallest programs then get a hundred times the samples of the large ones, most of
 * them known.) A step that is under way when the time is over is given up, and is no sample.
 *
 * Several workers, each with a device of its own, work side by side. A chain is with one worker at a time, and the
 * store is written under one lock.
 */
#ifndef COLLECT_PLAN_H
#define COLLECT_PLAN_H

#include "base/opt.h"
#include "base/progress.h"
#include "collect/chain.h"

struct settings { /* of a run; what the command line says */
	const char *cores, *db, *cache, *device, *space, *nodes, *objective;
	struct opt_list graphs;	  /* --graph */
	struct opt_list folders;  /* --graphs */
	int64_t samples, workers, seed, chains, core, replicas, partitions, jobs;
	double seconds, tau, deadline;	  /* 0: no limit; 0: by the noise */
	double share; /* times its fair share of the time, beyond which a program waits; 0: none waits */
	int start, measure;	  /* enum start, enum cost_policy */
	bool resume, wait, raw, quiet, quiet_pairs, json, force, anchors;
	bool silent; /* also of an opening that takes minutes; quiet: of all else */
};
enum start { START_DEFAULT, START_RANDOM, START_MIXED };

struct worker {
	struct device *device;
	struct lab *lab;	    /* one per program */
	struct cost_totals opening; /* the work before the run began */
	struct cost_totals totals;  /* the work up to its last step */
};

struct plan {
	const struct settings *set;
	struct archive archive;
	pthread_mutex_t lock;
	struct worker *worker;
	struct chain *chain;	/* program p has chains p * n_chains ... */
	uint32_t n_workers, n_programs, n_named, n_chains; /* n_named: of the programs the first; n_chains: of each */
	char **path;
	double *opening;	/* seconds that opening and probing each program took, all workers together */
	uint64_t steps, before; /* samples of the run, and those of earlier stints */
	uint64_t flying; /* samples in flight */
	double started, deadline, running; /* times: of plan_open, of the end of the budget, of plan_run */
	bool resumed, stop;
	struct err err;		/* the first error of a worker */
	struct progress progress;
};

/*
 * Opens everything. Call plan_close also after a failure. The budget of seconds begins here. It is a failure
 * to be told to stop (base/stop.h) before all is open.
 */
int plan_open(struct plan *p, const struct settings *set, struct err *err);
/* Works until the budget ends, it is told to stop, or something fails. */
int plan_run(struct plan *p, struct err *err);
/* Ends the run in the store and writes the summary: a line, or JSON. */
int plan_finish(struct plan *p, struct buf *summary, struct err *err);
void plan_close(struct plan *p);

#endif
