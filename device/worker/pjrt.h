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
 * What the compiler or the device does not do is no err but a refusal: an outcome with a detail.
 */
#ifndef DEVICE_WORKER_PJRT_H
#define DEVICE_WORKER_PJRT_H

#include "device/accelerator.h"
#include "device/backend.h"
#include "device/device.h"

struct refusal { /* all zero: fine */
	enum outcome outcome;
	char detail[512];
};

struct pjrt;
/*
 * `target`: hardware to compile for, "": what is here, and programs run. `spread`: of programs over
 * devices. A program for several takes its inputs whole on each and runs on all; the outputs of the first are the
 * program's.
 */
struct pjrt *pjrt_open(const struct backend *b, const char *target, const char *plugin, uint64_t seed,
	struct spread spread, struct err *err);
void pjrt_close(struct pjrt *p);
const char *pjrt_platform(const struct pjrt *p);
const char *pjrt_version(const struct pjrt *p); /* of plugin and API */
const struct accelerator *pjrt_device(const struct pjrt *p); /* all zero where it only compiles */

struct program;
/* Executables of a program that were made elsewhere, to be loaded where it would be compiled; all zero: none. */
struct ready {
	struct buf *v;
	size_t n, used;
};
void ready_release(struct ready *r);
/* NULL with a refusal. Keeps a copy of the code for instances, if `keep`, and what is left of `ready`. */
struct program *program_new(struct pjrt *p, const char *format, const void *code, size_t n,
	const char *options, bool keep, struct ready *ready, struct refusal *v);
void program_free(struct program *g); /* accepts NULL */
/* The optimised HloModuleProto; empty where the plugin cannot say. */
const struct buf *program_optimised(const struct program *g);
uint64_t program_hash(const struct program *g); /* of the optimised module; 0: unknown */
int program_serialise(struct program *g, struct buf *out, struct refusal *v);
struct program_facts {
	uint64_t peak_bytes, code_bytes, temp_bytes;
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
 * Makes sure the program's inputs of a kind are in device memory (device.h says what `nudged` means). 0, or -1 with a
 * refusal.
 */
int program_inputs(struct program *g, enum inputs kind, bool nudged, struct refusal *v);
/*
 * Runs `times` times one after the other; adds the seconds from call to completion to *seconds. The
 * outputs of the last run are kept in the instance if `keep`. 0, or -1 with a refusal.
 */
int instance_run(struct instance *i, uint32_t times, bool keep, double *seconds, struct refusal *v);
uint32_t instance_outputs(const struct instance *i);
struct program_pair {
	struct program *program[2];
	uint32_t inputs; /* of enum inputs */
	bool nudged, fresh; /* as in struct compare_options */
};
/*
 * Runs both and appends how far their outputs are apart, as the reply to compare has it (schemas/worker.md). -1 with a
 * refusal.
 */
int program_compare(const struct program_pair *pair, struct buf *out, struct refusal *v);

#endif
