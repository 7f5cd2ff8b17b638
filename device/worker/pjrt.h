/*
 * pjrt.h - a PJRT plugin: load, compile, run. Only the worker uses this.
 *
 *	pjrt_open     dlopen, version check, client (or, for a compile-only backend, a topology)
 *	program_new   compile; the program owns its executable and knows its parameters and outputs
 *	instance_new  one more load of the program: from serialised bytes, or by compiling again
 *	buffers_of    seeded inputs of a program, shared between programs whose parameters agree
 *	instance_run  execute and await, timed inside
 *	program_compare  how far the outputs of two programs are apart
 *
 * If the compiler or the device fails, that is no err but a refusal: an outcome with a detail.
 */
#ifndef DEVICE_WORKER_PJRT_H
#define DEVICE_WORKER_PJRT_H

#include "device/accelerator.h"
#include "device/backend.h"
#include "device/device.h"
#include "device/given.h"

struct refusal { /* all zero: fine */
	enum outcome outcome;
	char detail[512];
};

struct pjrt;
/*
 * `target`: the hardware to compile for; "": the hardware that is here, and programs run. `spread`: how programs are
 * spread over devices. A program for several devices runs on all of them, with the whole inputs on each; its outputs
 * are those of the first.
 */
struct pjrt *pjrt_open(const struct backend *b, const char *target, const char *plugin, uint64_t seed,
	struct spread spread, struct err *err);
void pjrt_close(struct pjrt *p);
/* Whole programs run on these inputs from now on; it takes them over. NULL: they are made up. */
void pjrt_give(struct pjrt *p, struct given *given);
const char *pjrt_platform(const struct pjrt *p);
const char *pjrt_version(const struct pjrt *p); /* of plugin and API */
const struct accelerator *pjrt_device(const struct pjrt *p); /* all zero where it only compiles */

/*
 * Begins to make the inputs of a program, an HloModuleProto that is about to be compiled and then run, on these cores.
 * The first program that takes some of them takes all. pjrt_end_inputs drops what nobody took.
 */
void pjrt_begin_inputs(struct pjrt *p, const void *hlo, size_t n, const int *core, size_t n_cores);
void pjrt_end_inputs(struct pjrt *p);

struct program;
/* Executables of a program that were made elsewhere, to be loaded where it would be compiled; all zero: none. */
struct ready {
	struct buf *v;
	size_t n, used;
};
void ready_release(struct ready *r);
/*
 * Compiles, or loads the first of `ready`. With `keep` it keeps a copy of the code for instances, and the rest of
 * `ready`. Returns NULL with a refusal.
 */
struct program *program_new(struct pjrt *p, const char *format, const void *code, size_t n,
	const char *options, bool keep, struct ready *ready, struct refusal *v);
void program_free(struct program *g); /* accepts NULL */
bool program_loaded(const struct program *g); /* was it given as an executable? */
bool program_can_be_written(const struct program *g); /* does program_serialise make sense? */
/* Was it made of this, and kept? */
bool program_is(const struct program *g, const char *format, const void *code, size_t n, const char *options);
void program_rest(struct program *g); /* drops its outputs and its second load */
double program_seconds(const struct program *g); /* that compiling it took, or loading it where it was loaded */
/* The optimised HloModuleProto; empty where the plugin cannot say. */
const struct buf *program_optimised(const struct program *g);
uint64_t program_hash(const struct program *g); /* of the optimised module; 0: unknown */
int program_serialise(struct program *g, struct buf *out, struct refusal *v);
struct program_facts {
	uint64_t peak_bytes, code_bytes, temp_bytes;
	uint64_t own_bytes; /* of temporary memory and results; 0 if unknown */
	bool has_temp;
	double flops, optimal_seconds;
};
void program_facts(struct program *g, struct program_facts *out);

struct instance;
struct instance *program_instance(struct program *g); /* its own, from compiling; not to be freed */
/* `anew`: compiled again; else from the serialised executable where the plugin can. */
struct instance *instance_new(struct program *g, bool anew, struct refusal *v);
void instance_free(struct instance *i); /* accepts NULL */

/*
 * Puts the program's inputs of a kind into device memory, unless they are there (device.h says what `nudged` means).
 * Returns 0, or -1 with a refusal.
 */
int program_inputs(struct program *g, enum inputs kind, unsigned nudged, struct refusal *v);
/*
 * Runs `times` times, one after the other, and adds the seconds from call to completion to *seconds. With `keep` the
 * instance keeps the outputs of the last run. Returns 0, or -1 with a refusal.
 */
int instance_run(struct instance *i, uint32_t times, bool keep, double *seconds, struct refusal *v);
uint32_t instance_outputs(const struct instance *i);
struct program_pair {
	struct program *program[2];
	uint32_t inputs; /* of enum inputs */
	uint8_t nudged;	    /* as in struct compare_options, */
	bool both, fresh;   /* likewise */
	/* What runs next is b, a took so long; and 0: it has ended. NULL: nobody wants to know. */
	void (*limit)(void *ctx, double seconds);
	void *ctx;
};
/*
 * Runs both programs and appends how far their outputs are apart, in the form of the reply to `compare`
 * (schemas/worker.md). Returns -1 with a refusal.
 */
int program_compare(const struct program_pair *pair, struct buf *out, struct refusal *v);

#endif
