/*
 * lapack_own.h - what lapack.c (the table of routines), lapack_call.c (a call of one) and the routines share.
 *
 * LAPACK takes pointers only, and its routines for the four types differ in their names. So one function of ours serves
 * all four: it casts the code of the call to the parameters that it knows. Fortran compilers add the lengths of strings
 * behind the other parameters; all strings here have one letter.
 */
#ifndef DEVICE_WORKER_LAPACK_OWN_H
#define DEVICE_WORKER_LAPACK_OWN_H

#include "device/worker/ffi.h"
#ifdef HAVE_PJRT

enum lapack_routine {
#define ROUTINE(function, ...) LAPACK_##function,
#include "schemas/lapack.def"
#undef ROUTINE
	LAPACK_ROUTINES
};

struct lapack_operand {
	char *data;
	size_t step; /* bytes from one of the batch to the next */
};

enum {
	LAPACK_OPERANDS = 6,  /* of a call, at most: arguments, and results */
	LAPACK_SCRATCH = 6,   /* pieces of scratch memory of a call, at most */
	LAPACK_UNKNOWN = -1   /* a dimension that no operand has named yet */
};

struct lapack_call {
	const struct ffi_frame *frame;
	enum lapack_routine routine;
	unsigned type; /* place in "sdcz" */
	bool complex;
	size_t bytes, real; /* of an element; of its real part */
	size_t batch;
	int size[26]; /* of the dimensions that schemas/lapack.def names, by their letters */
	struct lapack_operand in[LAPACK_OPERANDS], out[LAPACK_OPERANDS];
	void (*code)(void); /* LAPACK's */
	void *scratch[LAPACK_SCRATCH];
	size_t n_scratch;
	char why[200]; /* the call cannot be answered */
};

/* A number as LAPACK gives the best size of scratch memory. */
union lapack_number {
	float f;
	double d, z[2];
};

/*
 * Reads a call: its type, its operands, the dimensions; overwritten arguments are copied. `arguments`, `results` and
 * `copies` are the columns of schemas/lapack.def. All of these functions return 0, or -1 with c->why.
 */
struct lapack_row {
	const char *name[2], *arguments, *results[2], *copies; /* for real numbers, for complex ones */
};
int lapack_begin(struct lapack_call *c, const struct lapack_row *row);
void lapack_end(struct lapack_call *c);
int lapack_wrong(struct lapack_call *c, const char *what);
/* An attribute that is one of these letters. */
int lapack_letter(struct lapack_call *c, const char *name, const char *letters, char *out);
/* Scratch memory, which lapack_end gives back; NULL with c->why. Never NULL for 0 bytes. */
void *lapack_scratch(struct lapack_call *c, size_t count, size_t bytes);
/* Scratch memory as large as the routine asked for; its length goes into *n. */
void *lapack_work(struct lapack_call *c, const union lapack_number *asked, int *n);
/* The numbers of the i-th of the batch. */
void *lapack_in(const struct lapack_call *c, unsigned place, size_t i);
void *lapack_out(const struct lapack_call *c, unsigned place, size_t i);
static inline int lapack_size(const struct lapack_call *c, char dimension)
{
	return c->size[dimension - 'a'];
}
/* Of a matrix with so many rows. */
static inline int lapack_leading(int rows)
{
	return rows > 1 ? rows : 1;
}

#define ROUTINE(function, ...) int lapack_##function(struct lapack_call *c);
#include "schemas/lapack.def"
#undef ROUTINE

#endif
#endif
