/*
 * host.h - what the files share of a device that is a worker process.
 *
 *	host.c		the worker: started, asked, ended
 *	host_open.c	the device around it
 *	host_extract.c	programs as the compiler has them at a stage
 *	host_stage.c	which stage that is
 *	host_arrange.c	how programs lie in memory
 *	host_compare.c	outputs side by side
 *	host_time.c	measuring
 *	host_estimate.c	prices for hardware that is not here
 *	host_worker.c	where the worker's program is
 */
#ifndef DEVICE_HOST_H
#define DEVICE_HOST_H

#include "base/rng.h"
#include "device/accelerator.h"
#include "device/backend.h"
#include "device/child.h"
#include "device/estimate.h"
#include "device/machine.h"
#include "device/pipeline.h"
#include "device/prior.h"
#include "device/ops.h"
#include "device/stage.h"

struct known { /* what is known of a handle since it was compiled */
	uint32_t handle;
	uint32_t ready;	 /* how many executables of it were compiled elsewhere */
	double compile;	 /* seconds that compiling took; INFINITY: it was loaded and cannot be compiled again */
	double load;	 /* ... then these are the seconds that loading took; else 0 */
	double optimal;	 /* seconds that the compiler estimates for a run; 0: it estimates nothing */
};

#define REMEMBERED 16
struct remembered { /* a program that was compiled for a target, and what came of it */
	uint64_t key[2];
	struct compiled compiled;
};

struct host {
	struct device base;
	const struct backend *backend;
	char target[64];	   /* hardware that is compiled for; "": programs run here */
	const struct estimator *estimator; /* of the target; NULL: none */
	double weight[ESTIMATE_PARTS]; /* as in device_options */
	uint32_t last_handle;	   /* of ours */
	struct remembered remembered[REMEMBERED]; /* by host_estimate.c, the oldest is forgotten */
	uint32_t n_remembered;
	const struct stage *stage; /* NULL: none is known */
	struct buf plugin, worker, options;
	struct buf applied; /* options to apply a configuration with: those of the stage, and then the user's */
	struct buf region;  /* ... to compile a region with */
	struct buf codegen; /* ... to generate code in other ways with, as they were asked for last */
	struct pipeline pipeline; /* the plugin's passes, where the stage needs them */
	char *refusal;	    /* why nothing can be decided with this plugin, a sentence; NULL: it can */
	uint64_t seed;
	char *inputs; /* the user's file; NULL: there is none */
	bool parts_only; /* as it was opened */
	double deadline; /* the user's, of any answer; 0: what was seen decides (patience.c) */
	double work;	 /* seconds that the next request is expected to take; for one request */
	double asked;	 /* clock at the request */
	unsigned long long memory_kills; /* machine_memory_kills when the worker was started */
	double longest_compile, longest_run; /* seconds, of all that went well */
	struct child child;
	char unwanted[300]; /* why an answer was given up that nobody wanted any more */
	struct core_set cores;
	int *crew; /* further cores for compiling large programs */
	size_t n_crew;
	int *borrowed; /* cores to be pinned to that are not locked */
	size_t n_borrowed;
	struct lock device_lock; /* of an accelerator */
	struct accelerator accelerator;
	struct frame reply;
	struct buf request;
	struct rng rng;
	struct prior prior;
	double measured, measured_aa; /* seconds */
	struct known *known;
	size_t n_known, cap_known;
};

/* What became of a request: filled by ask, or read from the reply. */
struct answer {
	enum outcome outcome;
	char *detail;
	size_t detail_size;
	int *signal; /* may be NULL */
};

static inline struct host *host_of(struct device *d)
{
	return (struct host *)d;
}

/*
 * patience.c: how long the answer to h->request is waited for, and the seconds of work that a request is expected to
 * take. `patient`: a user's own program, which is known to work, gets more time while nothing else is known of it.
 */
struct patience host_patience(const struct host *h);
struct patience patience_to_start(void); /* for the worker's first answer: its plugin has to be loaded */
double patience_asleep(void); /* seconds for which a worker that runs a program on the host's cores may sleep */
double work_of_compiling(const struct host *h, bool patient);
double work_of_measuring(const struct host *h, const struct precision *p, double compiling);
double work_of_comparing(const struct host *h);

struct known *host_known(struct host *h, uint32_t handle); /* NULL when unknown */
void host_note(struct host *h, const struct compiled *c, const struct known *k); /* from now on, if it has a handle */
uint64_t host_memory_limit(const struct host *h); /* of the worker's data, in bytes; 0: none */
int host_set_up(struct host *h, struct err *err); /* starts the worker, which must not run */

/*
 * Sends h->request. Returns 1 with the reply's body in *c; 0 if there is no body, because the request failed; -1 with a
 * sentence if no worker can be started. Fills in the outcome and detail of the reply.
 */
int host_ask(struct host *h, enum wire_type type, struct answer *a, struct cursor *c, struct err *err);
/* Call this after reading a reply's body: if the body does not end where it should, the worker is ended. */
/* The worker is over: no handle is worth anything any more, and the next request starts another one. */
void host_bury(struct host *h);
void host_distrust(struct host *h, const struct cursor *c, struct answer *a);

/*
 * host_estimate.c: compiles for the host's target, with the price in optimal_seconds. The handle is a number of the
 * host's, which the worker does not know. host_estimate returns the prices of two such programs, or of one (b 0).
 */
int host_compile_for(struct host *h, enum compile_how how, const char *format, const char *options, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err);
bool host_handle_is_ours(uint32_t handle);
void host_forget(struct host *h);
int host_estimate(struct host *h, uint32_t a, uint32_t b, struct timing *out);

/*
 * Compiles with exactly these debug options. `keep`: the program gets a handle. `ahead` NULL: nothing was compiled
 * elsewhere.
 */
int host_compile_with(struct host *h, const char *format, const char *options, const void *p, size_t n, unsigned want,
	bool keep, const struct ahead *ahead, struct compiled *out, struct err *err);

/*
 * host_stage.c: finds the stage of a kind of decision (NULL: the first there is), and how to apply there. A plugin that
 * is not understood stays open, to compile and to run; what needs the stage says why not.
 */
void host_stage_open(struct host *h, const char *kind);
void host_stage_close(struct host *h);
int host_apply_options(struct host *h, enum compile_how how, const char **options, struct err *err);
/* host_arrange.c: the second is host_extract at a stage that is about memory. */
int host_arrange(struct device *d, enum compile_how how, const char *options, const void *p, size_t n,
	struct arranged *out, struct err *err);
int host_extract_arranged(struct device *d, const void *p, size_t n, struct extracted *out, struct err *err);
int host_extract(struct device *d, const char *format, const void *p, size_t n, struct extracted *out,
	struct err *err);
/*
 * host_extract.c: extracts without asking whether the plugin is understood. `more`: WANT_RESIDENT, or 0. `compiled`
 * says what became of the whole program. The other one writes two lists of options as one.
 */
int host_extract_at(struct host *h, const char *format, const void *p, size_t n, unsigned more,
	struct compiled *compiled, struct extracted *out, struct err *err);
void host_join(struct buf *out, const char *a, const char *b);

/*
 * host_veto.c: lets the device's veto look at the dump of the compilation that is asked for next. `s` lives until
 * host_veto_end.
 */
struct host_veto {
	struct host *host;
	struct dump *dump;
	const struct stage *stage; /* that writes how programs are arranged */
	bool done;
};
void host_veto_begin(struct host_veto *s, struct host *h, struct dump *dump);
void host_veto_end(struct host_veto *s);

int host_find_worker(struct buf *out, struct err *err); /* host_worker.c: the path of vantage-worker */
/* Of device_ops; host_compare.c and host_time.c have them. */
int host_compare(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o, struct comparison *out,
	struct err *err);
int host_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err);
int host_run(struct device *d, uint32_t a, const struct precision *p, struct timing *out, struct err *err);

#endif
