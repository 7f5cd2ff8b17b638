/*
 * run.h - writes a run: what `collect` and `search` put into a store.
 *
 * A run has one or more chains. A chain walks through the configurations of one space, in steps. A step
 * is either a sample (one site, the cost of each of its choices, the choice drawn) or a trial (several
 * sites at once, one cost, taken or not). A keyframe is a chain's whole configuration at some step. The run
 * keeps each chain's configuration and its Zobrist hash up to date. 16 bits of the hash go into every step,
 * all 64 into every keyframe, so that a reader can prove its replay.
 *
 *	struct run_spec spec = {.kind = "collect", .settings = json, .policy = "region", ...};
 *	int rc = run_resume(s, &spec, &run, other, &err);	// 1: goes on; the state is in run_state()
 *	if (rc == 0) rc = run_begin(s, &spec, &run, &err);
 *	run_chain(run, &c, &chain, &err);
 *	loop:
 *		run_keyframe(run, chain, sweep, &err);	// at the start of every sweep
 *		... run_failed, run_measured, store_region_put as they happen
 *		run_sample(run, &sample, state, n_state, &err);	// commits all of it
 *	run_end(run, RUN_STOPPED, summary, &err); run_free(run);
 *
 * Before the first commit nothing of a new run is in the file. So a run that is killed before its first step
 * leaves nothing, and starting again with the same seed gives the same run.
 */
#ifndef STORE_RUN_H
#define STORE_RUN_H

#include "store/fact.h"

#define STORE_CHOICES 255    /* the most choices of a site */
#define STORE_CHAINS 65536 /* the most chains of a run */

struct run_spec {
	const char *kind;     /* "collect" or "search" */
	const char *settings; /* JSON: everything that decides the course of the run, and no budget */
	const char *policy;   /* "region" or "whole" */
	uint64_t seed;
	int64_t environment;
	const int64_t *spaces; /* its chains' spaces, in order; only run_resume reads them */
	uint32_t n_spaces;
	const char *program;  /* NULL: opt_version() */
	const char *host;     /* NULL: this machine's name */
	const char *uuid;     /* NULL: a new one */
};

enum run_state { RUN_RUNNING, RUN_STOPPED, RUN_FINISHED, RUN_FAILED };
const char *run_state_name(enum run_state state); /* as stores have it */

struct run;
int run_begin(struct store *s, const struct run_spec *spec, struct run **out, struct err *err);
/*
 * Finds the newest run of the same kind, settings, policy, seed, environment and spaces that did not finish,
 * and replays its chains to where they stood. 1 found, 0 none, -1 error. Runs that were merged from elsewhere
 * do not count: they go on where they were made.
 *
 * Another version of vantage may see other decisions in the same program. The configurations of its run would
 * be read with the wrong sites, so such a run is passed over; `other` gets the uuid of the newest one, or "".
 */
int run_resume(struct store *s, const struct run_spec *spec, struct run **out, char other[37], struct err *err);
/* Ends this stint of the run and commits. A STOPPED run can be resumed, others cannot. */
int run_end(struct run *r, enum run_state state, const char *summary_json, struct err *err);
void run_free(struct run *r); /* accepts NULL; a run not ended stays resumable */

const char *run_uuid(const struct run *r);
uint32_t run_steps(const struct run *r);  /* how many were appended: the number of the next step */
/* What the last step saved, after run_resume; empty for a new run. */
const void *run_state(const struct run *r, size_t *n);

struct chain_spec {
	int64_t space;
	const char *start;	/* "default", "random", ... */
	const uint8_t *config;	/* n_sites bytes */
	double tau;		/* Gibbs temperature, as a share of base_seconds; 0: none */
	double base_seconds; /* the default's cost, which the temperature refers to; 0: unknown */
};
/* Adds a chain with its first keyframe (sweep 0). Chains are numbered from 0. */
int run_chain(struct run *r, const struct chain_spec *c, uint32_t *chain, struct err *err);
uint32_t run_chain_steps(const struct run *r, uint32_t chain);
/* The chain's configuration now, and its hash. */
const uint8_t *run_config(const struct run *r, uint32_t chain, uint64_t *hash);

/* Writes a keyframe; the chain goes on from it. */
int run_keyframe(struct run *r, uint32_t chain, uint32_t sweep, struct err *err);
/* Starts the chain anew from another configuration, with a keyframe: a jump. */
int run_jump(struct run *r, uint32_t chain, uint32_t sweep, const uint8_t *config, struct err *err);

/*
 * The cost of one choice. It is kept as a 32-bit float (relative precision 6e-8), its standard error as the
 * upper half of a float (relative precision 0.4%).
 */
struct choice_cost {
	double delta;		/* seconds, relative to the reference choice */
	double se;
	enum outcome outcome;	/* not ok: the cost says nothing */
	bool bound;	 /* one side was so slow that measuring was given up: |delta| is at least that */
};

/*
 * Does a cost that is a bound still tell what a difference is at least? A bound is about the choice that costs are
 * relative to: who is slower is slower by that much or more, who is faster is faster by that much or more. `sense`: 1
 * if the difference is from another choice to this one, -1 if it is from this one. Where the bound lies on the far
 * side, the difference may be anything.
 */
static inline bool choice_tells(const struct choice_cost *c, double difference, int sense)
{
	return !c->bound || sense * c->delta * difference > 0;
}

struct sample {
	uint32_t chain, site;
	uint8_t chosen, n_choices;
	enum cost_kind kind;
	/* The reference is the first choice whose outcome is ok: its delta and se are 0. */
	struct choice_cost choice[STORE_CHOICES];
};
/* Appends a sample and commits. After a kill run_state gives back `state` (random numbers, position). */
int run_sample(struct run *r, const struct sample *x, const void *state, size_t n_state, struct err *err);
/*
 * From now on a step is committed only if the last commit was so many seconds ago: for steps that take less time than a
 * commit and that can be computed again. A kill loses the steps since then; the run goes on before them. run_end
 * commits all.
 */
void run_relax(struct run *r, double seconds);
/* Writes the state without a step, and what is waiting to be stored, and commits; for a run before its first step. */
int run_save(struct run *r, const void *state, size_t n_state, struct err *err);

struct flip {
	uint32_t site;
	uint8_t choice;
};
struct trial {
	uint32_t chain, n_flips;
	const struct flip *flip; /* how the candidate differs from the chain, ascending by site */
	double delta, se;	 /* seconds: candidate - chain */
	enum outcome outcome;
	enum cost_kind kind;
	bool bound, taken;	 /* is |delta| at least that? does the chain go on from the candidate? */
};
int run_trial(struct run *r, const struct trial *t, const void *state, size_t n_state, struct err *err);

/* What follows belongs to the next step and is committed with it. */

/* An anchor: the whole program measured against the default, beside the sum of the region costs. */
struct anchor {
	uint32_t chain, sweep;
	enum outcome outcome;
	enum cost_kind kind;
	double default_seconds;
	double whole, whole_se;	    /* seconds: the chain's configuration - the default */
	double running, running_se; /* the same as the sum of region costs */
	bool reanchored;	    /* does the sum go on from `whole`? */
};
int run_anchor(struct run *r, const struct anchor *a, struct err *err);

struct measurement {
	uint64_t key[2];	/* of the region; 0, 0: whole programs */
	double seconds_a, seconds_b, delta, se;
	uint32_t pairs, instances;
	enum outcome outcome;
	enum cost_kind kind;
	const void *raw;	/* float pairs (seconds a, seconds b), or NULL */
	size_t n_raw;		/* bytes */
};
int run_measured(struct run *r, const struct measurement *m, struct err *err);

struct failure {
	enum outcome outcome;
	int signal;
	const char *detail; /* the compiler's message, the tail of stderr */
	uint64_t key[2];    /* of the region; 0, 0: whole program or unknown */
};
int run_failed(struct run *r, const struct failure *f, struct err *err);

/* A finding: a configuration to remember, compared with the default. A search's best, and its final answer. */
struct finding {
	uint32_t chain;
	const uint8_t *config;
	double delta, se, default_seconds; /* seconds */
	enum cost_kind kind;
	const char *how;     /* "region": summed from regions; "whole": measured whole; "final": the verdict */
	const char *details; /* JSON, may be NULL */
};
int run_found(struct run *r, const struct finding *f, struct err *err);

#endif
