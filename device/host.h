/*
 * host.h - what host.c (the worker and its end) and host_time.c (measuring with it) share.
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

struct known { /* what compiling told about a handle */
	uint32_t handle;
	uint32_t ready;		 /* executables of it that were compiled elsewhere */
	/*
	 * seconds it took (INFINITY: it was loaded, it cannot be compiled again); seconds it estimates for a run, or 0
	 */
	double compile, optimal;
};

struct host {
	struct device base;
	const struct backend *backend;
	char target[64];	   /* hardware that is compiled for; "": programs run here */
	const struct estimator *estimator; /* of the target; NULL: none */
	uint32_t last_handle;	   /* of ours */
	const struct stage *stage; /* NULL: none is known */
	struct buf plugin, worker, options;
	struct buf applied; /* options to apply a configuration with: those of the stage, and then the user's */
	struct pipeline pipeline; /* the plugin's passes, where the stage needs them */
	char *refusal;	    /* why nothing can be decided with this plugin, a sentence; NULL: it can */
	uint64_t seed;
	bool parts_only; /* as it was opened */
	double deadline; /* the user's, of any answer; 0: what was seen decides (patience.c) */
	double work;	 /* seconds that the next request is thought to take, from what was seen; for one request */
	double asked;	 /* clock at the request */
	unsigned long long memory_kills; /* machine_memory_kills when the worker was started */
	double longest_compile, longest_run; /* seconds, of all that went well */
	struct child child;
	struct core_set cores;
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
 * How long the answer to h->request is waited for; and the work of a request, by its kind (`patient`: struct
 * precision).
 */
struct patience host_patience(const struct host *h);
struct patience patience_to_start(void); /* for the worker's first answer: its plugin has to be loaded */
double work_of_compiling(const struct host *h, bool patient);
double work_of_measuring(const struct host *h, const struct precision *p, double compiling);
double work_of_comparing(const struct host *h);

struct known *host_known(struct host *h, uint32_t handle); /* NULL when unknown */

/*
 * Sends h->request; 1 with the reply's body in *c, 0 when there is none because the outcome says
 * all, -1 when no worker can be had. The outcome and detail of a reply are read here.
 */
int host_ask(struct host *h, enum wire_type type, struct answer *a, struct cursor *c, struct err *err);
/* Call this after reading a reply's body: if the body does not end where it should, the worker is ended. */
void host_distrust(struct host *h, const struct cursor *c, struct answer *a);

/*
 * host_estimate.c: compiles for the host's target, with the price in optimal_seconds; and prices of programs compiled
 * so, b 0: of one. Handles of ours are unknown to the worker.
 */
int host_compile_for(struct host *h, enum compile_how how, const char *format, const char *options, const void *p,
	size_t n, unsigned want, struct compiled *out, struct err *err);
bool host_handle_is_ours(uint32_t handle);
int host_estimate(struct host *h, uint32_t a, uint32_t b, struct timing *out);

/* Compiles with these options, the user's among them or not; `ahead` NULL: nothing was compiled elsewhere. */
int host_compile_with(struct host *h, const char *format, const char *options, const void *p, size_t n, unsigned want,
	bool keep, const struct ahead *ahead, struct compiled *out, struct err *err);

/*
 * host_stage.c: finds the stage of a kind of decision (NULL: the first there is), and how to apply there. A plugin that
 * is not understood stays open, to compile and to run; what needs the stage says why not.
 */
void host_stage_open(struct host *h, const char *kind);
void host_stage_close(struct host *h);
int host_apply_options(struct host *h, const char **options, struct err *err);
/* The same without asking whether the plugin is understood; `compiled` says what became of the whole program. */
int host_extract_at(struct host *h, const char *format, const void *p, size_t n, struct compiled *compiled,
	struct extracted *out, struct err *err);
/* host_arrange.c: the second is host_extract at a stage that is about memory. */
int host_arrange(struct device *d, enum compile_how how, const char *options, const void *p, size_t n,
	struct arranged *out, struct err *err);
int host_extract_arranged(struct device *d, const void *p, size_t n, struct extracted *out, struct err *err);
int host_extract(struct device *d, const char *format, const void *p, size_t n, struct extracted *out, struct err *err);

int host_find_worker(struct buf *out, struct err *err); /* host_worker.c: the path of vantage-worker */
/* Of device_ops; host_compare.c and host_time.c have them. */
int host_compare(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o, struct comparison *out,
	struct err *err);
int host_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err);
int host_run(struct device *d, uint32_t a, const struct precision *p, struct timing *out, struct err *err);

#endif
