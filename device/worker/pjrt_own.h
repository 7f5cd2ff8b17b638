/*
 * pjrt_own.h - what pjrt.c (client), pjrt_program.c, pjrt_dtype.c, pjrt_early.c (inputs made ahead), pjrt_buffer.c
 * (inputs, outputs), pjrt_run.c and pjrt_compare.c share.
 */
#ifndef DEVICE_WORKER_PJRT_OWN_H
#define DEVICE_WORKER_PJRT_OWN_H

#ifdef HAVE_PJRT
#include "base/mem.h"
#include "base/rng.h"
#include "device/module.h"
#include "device/worker/pjrt.h"
#include <pjrt_c_api.h>

struct type { /* an array's type; rank 0 is a scalar */
	PJRT_Buffer_Type dtype;
	size_t rank;
	int64_t *dims, *minor_to_major;
	uint64_t elements;
};

/* An input in device memory. The pool keeps it while there is room, in order of last use. */
struct input {
	uint64_t key;
	PJRT_Buffer *buffer;
	uint64_t bytes, used; /* used: tick of the last program_inputs that asked for it */
};

struct pjrt {
	const struct backend *backend;
	char tools[600]; /* the folder of CUDA's assembler beside the plugin; "" if there is none */
	char chosen[600]; /* the folder where the kernels are kept that XLA:GPU chose by trying; "": they are not */
	char target[64]; /* the hardware to compile for; "": the hardware that is here */
	void *library;
	const PJRT_Api *api;
	PJRT_Client *client;
	PJRT_TopologyDescription *topology;
	PJRT_Device *const *device; /* of the client, n_devices at least */
	struct spread spread;	    /* of programs over devices */
	uint32_t n_devices;	    /* that makes so many */
	uint64_t seed, tick, input_bytes;
	struct given *given; /* the user's inputs; NULL: all are made up */
	char platform[64], version[160];
	struct accelerator facts;
	bool plain_copies; /* transfers do not heed layouts: XLA:CPU before 2026 (pjrt_heeds_layouts) */
	struct input *input;
	size_t n_inputs, cap_inputs;
	struct early *early; /* inputs that are made while their program is compiled; NULL: none are */
	size_t n_early;	     /* that were taken from there */
};

struct instance {
	struct program *program;
	PJRT_LoadedExecutable *exe;
	PJRT_Buffer **out; /* program->n_outputs for each device; of the last kept run, else NULL */
};

struct program {
	struct pjrt *pjrt;
	struct instance first, *twin; /* twin: a second load, to be compared with the first; NULL: none yet */
	PJRT_Executable *exe;
	size_t n_params, n_outputs;
	struct type *param;
	PJRT_Buffer *
		*args; /* n_params for each device, borrowed from the pool; valid since the last program_inputs */
	int64_t *keep; /* 0..n_params-1: none may be donated */
	struct buf optimised, code, serialised;
	uint64_t hash;
	char *format, *options;
	struct ready ready; /* for instances, instead of compiling */
	bool given; /* as an executable: its code is what is loaded, there is nothing to compile */
	/*
	 * It has calls of oneDNN. When XLA:CPU writes a program down, it takes these for calls of a function, and reads
	 * memory beyond them. Then it dies, or fails, or writes what nobody can load.
	 */
	bool unwritable;
	double seconds; /* that making it took */
	struct arena mem;
};

/* Fills p->facts (pjrt_device.c), once there are client and device. */
void pjrt_ask_device(struct pjrt *p, uint32_t count);
/* Fills the refusal from an error and destroys it; -1, or 0 when there is none. */
int pjrt_check(struct pjrt *p, PJRT_Error *error, const char *doing, struct refusal *v);
/* Waits for an event and destroys it. */
int pjrt_await(struct pjrt *p, PJRT_Event *event, const char *doing, struct refusal *v);
/* Compiles code as the program's first load was: into *loaded, or, compile-only, into g->exe. */
int program_compile(struct program *g, const void *code, size_t n, PJRT_LoadedExecutable **loaded,
	struct refusal *v);
/* The same from the next of the program's executables that can be loaded, if there is one. */
int program_make(struct program *g, const void *code, size_t n, PJRT_LoadedExecutable **loaded, struct refusal *v);
/* Loads serialised bytes instead. */
int program_load(struct program *g, const void *bytes, size_t n, PJRT_LoadedExecutable **loaded, struct refusal *v);
void instance_drop_outputs(struct instance *i);
void instance_release(struct instance *i); /* its outputs and its load, not itself */
void pjrt_drop_buffer(struct pjrt *p, PJRT_Buffer *b);
/* The inputs of the program before the next one may go, if they are in the way. */
void pjrt_forget_use(struct pjrt *p);
void pjrt_drop_inputs(struct pjrt *p);
#define VALUE_ALIGNMENT 64 /* XLA:CPU takes no memory that begins elsewhere */
/* By what the values of a parameter are drawn: not by its layout; and nudged ones as those they were nudged from. */
uint64_t value_key(const struct type *t, size_t place);
/* The values that the user gives for the parameter at this place; NULL if there are none of its type. */
const void *value_given(const struct given *g, const struct type *t, size_t place);
/* The same file if it has values for all of a program's parameters; a region has not: its are made up. Else NULL. */
const struct given *values_given(const struct given *g, const struct type *t, size_t n);
/* Draws them, or copies them from `given`; row-major; the caller frees them. Calls nothing of the plugin. */
uint8_t *value_new(uint64_t seed, uint64_t key, PJRT_Buffer_Type dtype, uint64_t elements, enum inputs kind,
	unsigned nudged, const void *given);
/* The values of a parameter that were made early, the caller's from now on; NULL: they were not. */
uint8_t *pjrt_take_input(struct pjrt *p, uint64_t key, PJRT_Buffer_Type dtype, uint64_t elements);

uint8_t dtype_xla(PJRT_Buffer_Type t); /* XLA's number of it */
PJRT_Buffer_Type dtype_of_xla(int32_t primitive); /* PJRT_Buffer_Type_INVALID when unknown */
/* Bytes per element in host memory (sub-byte types take one); 0 for what has none. */
size_t dtype_host_bytes(PJRT_Buffer_Type t);
/* An element as one double (complex: real part first, `part` 1 the imaginary). */
double dtype_read(PJRT_Buffer_Type t, const uint8_t *p, int part);
/* Relative distance of neighbouring numbers; 0 for integers and predicates. */
double dtype_unit(PJRT_Buffer_Type t);
bool dtype_complex(PJRT_Buffer_Type t);
/* Values for an array of so many elements, row-major. The same generator gives the same ones, nudged or not. */
void dtype_fill(PJRT_Buffer_Type t, enum inputs kind, unsigned nudged, uint64_t elements, struct rng *r, uint8_t *p);
/* Moves every float to one of its neighbours; which is drawn anew for each number; 0: none moves. */
void dtype_nudge(PJRT_Buffer_Type t, unsigned nudged, uint64_t elements, struct rng *r, uint8_t *p);

struct values { /* an output's elements, row-major; data NULL: it has none (tokens) */
	PJRT_Buffer_Type dtype;
	size_t rank, elements;
	int64_t dims[MODULE_RANK];
	uint8_t *data; /* freed by the caller */
};
/* Does a transfer put elements into the order that its layout asks for? */
bool pjrt_heeds_layouts(struct pjrt *p);
int output_values(struct instance *i, uint32_t k, struct values *out, struct refusal *v);
/* The order of an output's dimensions in memory, fastest first; false where the plugin does not say. */
bool output_order(const struct instance *i, uint32_t k, size_t rank, int64_t *order);

/* A call with its struct_size set: CALL(p, Client_Compile, &args) */
#define ARGS(name, var) PJRT_##name##_Args var = {.struct_size = PJRT_##name##_Args_STRUCT_SIZE}
/* Does the plugin know this function? Older ones have a shorter table. */
#define HAS(p, name)                                                                               \
	(offsetof(PJRT_Api, PJRT_##name) + sizeof(void *) <= (p)->api->struct_size &&              \
		(p)->api->PJRT_##name)

#endif
#endif
