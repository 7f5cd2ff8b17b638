/*
 * device.h - a device: what can compile and run a program.
 *
 * A device is a worker process with a PJRT plugin (host.c), or our performance model (sim/sim.c). Programs go in as
 * HloModuleProto bytes and come out as small handles.
 *
 * A call returns 0 when the device answered; the `outcome` in the result then says what it did with the program. A call
 * returns -1 with a sentence only if the environment is broken (there is no plugin, the worker cannot be started).
 * After the outcome crashed or timeout the worker is gone, and all handles with it; `generation` counts this. A call
 * with a handle of an older generation is answered "crashed" at once, and the caller compiles again.
 *
 * One device is used by one thread; several devices may be open side by side.
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/buf.h"
#include "base/effort.h"
#include "base/err.h"
#include "base/outcome.h"
#include "base/quantity.h"
#include "base/spread.h"

struct device_options {	     /* all zero is the default */
	const char *backend; /* a name of schemas/backend.def (NULL: the first), or a path to a plugin .so */
	int core;	     /* 1 + the core to pin the worker to, or the first of several; 0: the least loaded */
	/* how many cores programs run on; the plugin's threads stay on them. 0: one; -1: all this process may use */
	int cores;
	double deadline;     /* the most seconds of an answer; 0: follows from earlier answers (patience.c) */
	uint64_t seed;	     /* of the inputs */
	const char *inputs;  /* the file with the user's own (given.h), on which whole programs run; NULL: made up */
	bool wait;	     /* for the device's lock instead of failing with a sentence */
	bool untimed;	     /* nothing is timed, so the machine's cores are shared with those who measure */
	bool parts_only;     /* whole programs are not run: there is no room for them here, or their run fails */
	const char *options; /* further compile options "name=value,...", or NULL */
	/*
	 * For kinds that decide how the optimised program is arranged: with which compile options the program that is
	 * opened becomes the optimised one, if other decisions made it (their device's compile_options); or NULL.
	 */
	const char *made_by;
	/* the kind of decision, which says at which stage to extract and apply (stage.h); NULL: the backend's first */
	const char *kind;
	/*
	 * how many workers work ahead on other cores; JOBS_ALL: as many as there is room for; 0: none. On an
	 * accelerator they only compile: one worker measures there
	 */
	int jobs;
	bool assists; /* it is such a worker, so it does not lock the accelerator */
	/* these workers only compile, and stop while something is timed; if there are no other cores they always do */
	bool quiet_pairs;
	/* on how many other cores a large program may be compiled, until these workers have a plan; JOBS_ALL: all */
	int crew;
	uint32_t codegen; /* what COMPILE_CODEGEN means (device_codegen) */
	/* cores to be pinned to without locking them, for a worker that works ahead; and how many */
	const int *beside;
	size_t n_beside;
	/* told of each worker's process when it is started, and of 0 before it is reaped; NULL: nobody is */
	void (*watch)(void *watcher, pid_t pid);
	void *watcher;
	const char *const *environment; /* NAME=VALUE, up to a NULL: added to the workers' own; NULL: nothing is */
	const char *model;   /* sim: device description file, or NULL for the built-in */
	/* by what the parts of our model's prices are multiplied, one for each (estimate.h), borrowed; NULL: by 1 */
	const double *weights;
	struct spread spread; /* over the devices on which a program runs; all zero: one, and nothing is partitioned */
};

#define JOBS_ALL (-1)

struct device_info {
	char backend[32];	/* its name, or the file of a plugin that we do not know: what figures are kept under */
	const char *family;	/* its row of schemas/backend.def: whose rules hold for it */
	char platform[64];	/* what the plugin calls itself */
	char version[160];	/* of plugin and its API */
	char machine[160];	/* processor model, cores, kernel; for the environment's identity */
	char device[200];	/* an accelerator: model, number, memory, driver; "" where the machine computes */
	char build[24];		/* a hash of the plugin's file, or "" */
	const char *release;	/* its version in schemas/plugin.def; NULL: it is none of those */
	char compile_options[1024]; /* what is used to apply a configuration */
	bool plain;		    /* ... which is what any program is compiled with: both ways of compiling are one */
	uint32_t codegen;	/* ways of generating code that are worth trying (codegen.h) */
	char made_by[1024];	/* as in device_options; "" */
	enum cost_kind kind;
	char estimator[80];	/* whose estimates its costs are ("XLA's model for H100"); "": they are no estimates */
	enum quantity quantity; /* what its costs are of */
	uint64_t inputs;	/* a hash of the user's own; 0: they are made up */
	bool joins;		/* its compiler joins and simplifies more than what was decided */
	bool can_run;		/* whole programs */
	bool compiles;
	int core;		/* pinned to, the first of `cores`; or -1 */
	uint32_t cores;		/* that programs run on; 0: not pinned */
	struct spread spread;	/* of programs over devices */
	uint32_t helpers;	/* workers that work ahead, unless they cannot be started */
};

struct pipeline;
struct device_passes { /* what is known of the compiler's passes: pipeline.h has them one by one */
	const struct pipeline *pipeline; /* NULL: they were not read */
	const char *decides;		 /* the pass that decides, as a regular expression; NULL: none is known */
	const char *refusal; /* why nothing can be decided there, a sentence; NULL: it can */
	bool kept;	     /* read earlier, and kept on disk */
};

struct graph;
struct device;
struct device *device_open(const struct device_options *o, struct err *err);
void device_close(struct device *d); /* accepts NULL */
const struct device_info *device_info(const struct device *d);
/*
 * Where a device's costs come from, for people: "measured", "estimated by XLA's model for H100"; a text that is kept in
 * `out`.
 */
const char *device_source(const struct device_info *i, char *out, size_t n);
#define DEVICE_SOURCE 100
/* Refuses a program that does not take the user's own inputs, if there are any. */
int device_takes(const struct device *d, const struct graph *program, struct err *err);
const struct device_passes *device_passes(const struct device *d);
uint32_t device_generation(const struct device *d); /* grows by one at each respawn */
/* What comes next runs in a process that has done nothing before. All handles are lost, as when a worker dies. */
void device_renew(struct device *d);
/*
 * Sets the time, by the clock (now_seconds), from which nobody wants an answer. A request that is under way then is
 * ended, and a later one is not begun; the outcome of both is timeout, which says nothing about the program. 0: no such
 * time.
 */
void device_until(struct device *d, double clock);
/*
 * From now on, or no longer, the same holds once the user asks the program to stop (base/stop.h): while a program is
 * opened or a candidate is priced, but not for a verdict, which the user still wants.
 */
void device_heed_stop(struct device *d, bool heed);
/*
 * From now on COMPILE_CODEGEN and COMPILE_CODEGEN_OWN mean these ways (codegen.h); device_options.codegen until then.
 */
void device_codegen(struct device *d, uint32_t ways);
bool device_late(const struct device *d); /* is it over? */
/* Keeps its cores for the devices that this process opens after it (cores_keep). */
void device_keep_cores(const struct device *d);
/* Fills in the effort with which a request is made now; all unknown if the device's answers do not depend on it. */
void device_effort(const struct device *d, struct effort *out);

/* How to compile. */
enum compile_how {
	COMPILE_DEFAULT, /* all passes: the compiler's own decisions */
	COMPILE_APPLIED, /* only the passes after the stage of the decision: our own (stage.def) */
	COMPILE_REGION,	 /* the same for a region: it is launched alone as it would be in its program (backend.def) */
	COMPILE_CODEGEN, /* COMPILE_APPLIED, with code generated in other ways than the compiler's (device_codegen) */
	COMPILE_CODEGEN_OWN, /* COMPILE_DEFAULT, likewise */
};
enum compile_want {
	WANT_OPTIMISED = 1,  /* the optimised HloModuleProto */
	WANT_SERIALISED = 2, /* the executable's bytes, where the plugin can */
	WANT_MEMORY = 4,     /* memory statistics and cost analysis */
	WANT_CREW = 8,	     /* to compile on all cores that the device may use for it; hosts add this by themselves */
	WANT_RESIDENT = 16,  /* hosts: the program that is extracted stays on the device */
};

struct compiled { /* all zero is empty; compiled_release frees the bufs, device_drop the handle */
	enum outcome outcome;
	char detail[512];     /* why not ok: the compiler's message, signal, tail of stderr */
	int signal;	      /* of a crash, else 0 */
	uint32_t handle;      /* 0: none */
	uint32_t generation;
	uint64_t hash;	      /* of the optimised module: equal means equal programs */
	double seconds;	      /* of compiling */
	uint64_t peak_bytes, code_bytes; /* WANT_MEMORY; 0 if unknown */
	uint64_t temp_bytes;  /* ... of temporary memory, beside arguments and results: exact */
	bool has_temp;	      /* ... is that known? */
	double flops, optimal_seconds;	 /* cost analysis; 0 if unknown */
	struct buf optimised, serialised;
};
void compiled_release(struct compiled *c);

/* `format` is "hlo" (HloModuleProto bytes), "mlir", or what WANT_SERIALISED gave: loaded, not compiled. */
#define FORMAT_EXECUTABLE "executable"
int device_compile(struct device *d, enum compile_how how, const char *format, const void *p, size_t n,
	unsigned want, struct compiled *out, struct err *err);
int device_drop(struct device *d, struct compiled *c, struct err *err); /* forgets the handle */

/*
 * From one compile: the module just before the compiler decides, and the one just after; for MLIR also the module
 * before all optimisation, in `initial`. `after` may be empty.
 */
struct extracted {
	enum outcome outcome;
	char detail[512];
	double seconds;
	struct buf initial, before, after;
	/* the executable that was compiled by the way, the compiler's own program; empty where it cannot be kept */
	struct buf own;
	uint64_t peak_bytes; /* of memory that a run of it needs; 0 if unknown */
	/* the same executable, ready to run on the device, which spares loading it; handle 0: it is not there */
	struct compiled resident;
};
int device_extract(struct device *d, const char *format, const void *p, size_t n, struct extracted *out,
	struct err *err);
void extracted_release(struct extracted *e);

/*
 * A veto is asked about each program that is extracted, as soon as the compiler has written how it arranges the program
 * in memory (`proto` is that of struct arranged). It writes this before it generates code, which takes most of the
 * time.
 * VETO_STOP: the compilation is given up, with the outcome "out of memory" and what it wrote into `why`.
 * VETO_WAIT: it is not all there yet.
 * With `initial` it is asked about the module before all optimisation instead, the very first thing that is written.
 */
enum vetoed { VETO_NONE, VETO_STOP, VETO_WAIT };
struct veto {
	enum vetoed (*ask)(void *ctx, const void *proto, size_t n, char *why, size_t room);
	void *ctx;
	bool initial;
};
void device_veto(struct device *d, const struct veto *s); /* from now on; NULL: no more */

/*
 * How the compiler arranges a program in memory, without generating code: an HloProto with the optimised module in its
 * order and the assignment of its buffers. For devices opened with a kind whose stage is an arranging one (stage.h).
 * `options`: further compile options, or NULL.
 */
struct arranged { /* all zero is empty */
	enum outcome outcome;
	char detail[512];
	double seconds;
	struct buf proto;
};
int device_arrange(struct device *d, enum compile_how how, const char *options, const void *p, size_t n,
	struct arranged *out, struct err *err);
void arranged_release(struct arranged *a);

/* How exactly to measure; all zero is the default (measure.c has the numbers). */
struct precision {
	double target;	     /* stop when the standard error of the log ratio is below this; 0: 0.002 */
	double max_seconds;  /* running time at most, all instances together; 0: 0.5 */
	uint32_t min_pairs;  /* 0: 10 */
	uint32_t instances;  /* loaded instances of each side; 0 or 1: one, with the prior for the rest */
	uint32_t copies;     /* how many executables helpers compile for them; 0: one each */
	double give_up;	     /* stop early when one side is this many times slower; 0: 1.5, negative: never */
	double slow;	     /* seconds that a first run may take in any case, before side b is given up; 0: 2 */
	bool raw;	     /* return raw times */
	bool even_identical; /* run also programs known to be the same (A/A tests) */
	bool part;	     /* both are parts of a program: memory that they give back stays mapped (mapped.h) */
	bool patient;	     /* a user's own program: how long one run takes is not known, but that it ends is */
	/* For long runs, of which only few pairs can be had (measure.c): */
	double enough; /* seconds: stop also when the standard error of b - a is below this; 0: never */
	/* seconds: take few pairs if min_pairs would run longer; 0: 3 max_seconds, for runs of a second or more */
	double most;
};

struct timing { /* all zero is empty */
	enum outcome outcome;
	char detail[512];
	int signal;
	enum cost_kind kind;
	/* the outcome is timeout only because nobody wanted an answer any more (device_until) */
	bool cut;
	bool identical;		 /* same optimised module: equal without a run (seconds are 0: not known) */
	bool gave_up;		 /* one side was obviously slower: a bound, not a precise figure */
	double seconds_a, seconds_b; /* typical run */
	double ratio, ratio_se;	 /* log(b / a): includes what instances differ by */
	double delta, delta_se;	 /* seconds: b - a */
	uint32_t pairs, dropped, instances, batch;
	double wall, inside;	 /* seconds the request took, and of those inside the plugin's execute */
	double compiling; /* seconds that both sides took to compile, if it is known */
	double ahead;	  /* seconds that all of it took on another device before it was asked for; 0: it was not */
	double faults_a, faults_b; /* pages a run maps in, on average; 0 also where the program runs elsewhere */
	struct buf raw;		 /* float pairs (seconds a, seconds b), if asked */
	struct buf executable[2]; /* what the sides became on another device, if compiling them took long, */
	double took[2];		  /* ... so many seconds each */
};
void timing_release(struct timing *t);
int device_pair(struct device *d, const struct compiled *a, const struct compiled *b,
	const struct precision *p, struct timing *out, struct err *err);
/* One program alone: seconds_a and delta_se as its standard error. */
int device_run(struct device *d, const struct compiled *a, const struct precision *p, struct timing *out,
	struct err *err);

/*
 * A plan: what will soon be needed, in the order in which it will be. An item is a side of a region, which will be
 * compiled with COMPILE_REGION, and for how many instances; or a pair of them that will be measured. The helpers of a
 * device (device_options.jobs) do it ahead, and device_compile_planned and device_measured have what they made. A plan
 * replaces the plan before it. An item without a module means one that the device still has from earlier; if it has
 * none, the item counts for nothing.
 */
#define AGENDA_COPIES 8
struct errand { /* a pair to be measured; `measure` of the plan does it, in a thread of its own */
	struct buf module[2]; /* HloModuleProto bytes */
	bool alike;	      /* the numbers of both sides are compared first */
	struct precision precision;
	double charge;	  /* seconds that side b costs more and that no timing of the pair shows */
	double times;	  /* how often it counts in what it is a part of */
	bool alone;	  /* it is all that is asked about */
	uint32_t workers; /* that measure on this machine, the caller's own among them */
	/* the modules are compiled as items of their own, which stand before it, and it is measured after that */
	bool apart;
	struct buf executable[2]; /* ... then these are what they became, */
	double compiling[2];	  /* ... which took so many seconds */
};
struct agenda { /* all zero is empty */
	struct agenda_item {
		uint64_t key[2]; /* of the module, or of the pair */
		uint64_t price[2]; /* what it is for, as the caller names it: the key of a region */
		uint32_t copies;
		bool spare; /* these copies are for the case that a pair with the module is measured again */
		bool pair;
		struct errand of; /* of a single module: module[0] */
	} *v;
	size_t n, cap;
	double settled; /* what the caller knows already of that which the items are for, in seconds */
	/* Measures a pair on device d. An outcome other than ok says nothing: who needs the pair then measures it. */
	void (*measure)(struct device *d, const struct errand *e, struct timing *out);
	/*
	 * How many more executables of each side does an errand need that came out so, because it will be measured
	 * again? If its modules are items, they are made at once. NULL: none. Where compiling is dear, it will be
	 * measured again so many `times`, as far as one can say.
	 */
	uint32_t (*again)(const struct errand *e, const struct timing *t, uint32_t times);
	uint32_t times;
};
void agenda_key(const void *module, size_t n, uint64_t key[2]);
void agenda_pair_key(const struct buf *a, const struct buf *b, uint64_t key[2]);
/* Appends a module, or a pair, taking the bytes. */
void agenda_add(struct agenda *agenda, struct buf *module, uint32_t copies);
void agenda_add_pair(struct agenda *agenda, struct errand *e);
void agenda_add_known(struct agenda *agenda, const uint64_t key[2], uint32_t copies);
void agenda_release(struct agenda *agenda);
bool device_has_helpers(const struct device *d); /* does it have helpers? */
bool device_measures_ahead(const struct device *d); /* do they measure, too, or only compile? */
void device_expect(struct device *d, struct agenda *agenda); /* takes the modules */
/*
 * Called before two modules are compiled, each for so many instances. Waits for the executables that helpers are about
 * to finish, and meanwhile compiles those that no helper has begun. Does nothing if the modules are not in the plan.
 */
void device_gather(struct device *d, const struct buf *const module[2], uint32_t instances);
/* Compiles side i of an errand, or loads its executable; for `measure` of a plan. */
int device_compile_errand(struct device *d, const struct errand *e, unsigned i, struct compiled *out, struct err *err);
/* Compiles HLO as device_compile does, or takes what helpers made; `instances` of the result will be measured. */
int device_compile_planned(struct device *d, enum compile_how how, const void *p, size_t n, uint32_t instances,
	struct compiled *out, struct err *err);
/*
 * Was this pair measured ahead? If a helper is about to, waits for it, and meanwhile does what else is planned. If not,
 * nobody is at the pair any more, and the caller measures it.
 */
bool device_measured(struct device *d, const struct buf *const module[2], struct timing *out);
/*
 * What the errand with this key was found to cost ahead, with its charge and as often as it counts. Returns whether
 * that is known by now; waits for nobody.
 */
struct foretold {
	double seconds, se;
	double inside; /* seconds that the device took for it */
};
bool device_foretells(const struct device *d, const uint64_t key[2], struct foretold *out);
bool device_is_ahead(const struct device *d, const uint64_t key[2]); /* is it known by now, or being measured? */
/*
 * Returns how many executables of each side should be compiled, if the measurement wants several instances and
 * compiling both sides once takes so many seconds: one each, or, where that is dear, one.
 */
uint32_t device_copies(const struct precision *p, double compiling);
/* Where the time of helpers went since the first plan, and that of the device which they help; all zero: none help. */
struct helped {
	uint32_t helpers;
	double seconds;	   /* that there were plans */
	double used, vain; /* seconds that workers spent on what was taken, and on what was not (yet) */
	double idle;	   /* ... that helpers had nothing to do */
	double waited;	   /* ... that the device waited for them */
};
void device_helped(const struct device *d, struct helped *out);

/* The kinds of input (schemas/inputs.def). Values are seeded: a parameter's number and shape decide them. */
enum inputs {
#define INPUTS(id, ...) INPUTS_##id,
#include "schemas/inputs.def"
#undef INPUTS
	INPUTS_COUNT
};
const char *inputs_name(enum inputs i);

/* How to compare; all zero is the default. */
struct compare_options {
	enum inputs inputs;
	/*
	 * Unless it is 0, b's inputs are a's with every float, but for zeros, moved to a neighbouring number of its
	 * type. Another number moves others up and down.
	 */
	uint8_t nudged;
	bool both; /* a's inputs are moved as well, in the same way: both run on the same ones */
	/* both programs are loaded anew first, so that state which they keep from run to run is reset */
	bool fresh;
	/* b is given up if it takes much longer than a: a time-out */
	bool impatient;
};

#define DIFFERENCE_FAR 0.5 /* numbers that are further apart, relative, are counted */
#define DIFFERENCE_FEW 3   /* numbers that are left out where it is said how far the rest are apart */

/* How far two programs are apart in one output. */
struct difference {
	double max_abs, max_rel; /* rel: |a - b| / (|a| + the output's usual magnitude); of what is finite in both */
	/* how far neighbouring numbers of the output's type are apart, relative; 0: integers */
	double unit;
	uint64_t elements, finite; /* finite: in both */
	/* NaN or infinite in one and not, or differently, in the other; integers that are not equal */
	uint64_t unlike;
	uint64_t far;	 /* finite in both, and further apart than DIFFERENCE_FAR */
	double rest_rel; /* max_rel without the DIFFERENCE_FEW numbers that are furthest apart */
};
struct comparison { /* all zero is empty */
	enum outcome outcome;
	char detail[512];
	bool layouts_differ;	 /* of inputs or outputs: buffers made for one program do not fit the other */
	struct difference all;	 /* the largest of each; sums of what is counted */
	struct difference *output;
	uint32_t n_outputs;
};
void comparison_release(struct comparison *c);
/* Compares the outputs of two programs on the same inputs; `o` NULL: normal ones. A model compares nothing. */
int device_compare(struct device *d, const struct compiled *a, const struct compiled *b,
	const struct compare_options *o, struct comparison *out, struct err *err);

#endif
