/*
 * given.h - the user's own inputs, in a file as numpy.savez writes it.
 *
 * What a program does may hang on its inputs: which branches it takes, how often its loops turn. Made-up numbers may
 * lead it where no user ever comes. So a user can give real ones: an array for each parameter, in their order. Every
 * run of the whole program is then on these; where parts of it are run by themselves, their inputs are made up as ever.
 *
 * The file is mapped, not read: it may be gigabytes, of which each worker copies what it needs.
 */
#ifndef DEVICE_GIVEN_H
#define DEVICE_GIVEN_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "graph/graph.h"

struct given;
/* NULL with a sentence if it is no such file, or compressed, or holds what is no array in row-major order. */
struct given *given_open(const char *path, struct err *err);
void given_close(struct given *g); /* accepts NULL */

uint64_t given_hash(const struct given *g); /* of all that it holds */
size_t given_count(const struct given *g);
/* The values of array i, row-major, if it is of this element type (XLA's number) and shape; else NULL. */
const void *given_values(const struct given *g, size_t i, uint8_t dtype, size_t rank, const int64_t *dims);
/* Refuses a program whose parameters are not of the arrays' types and shapes, with a sentence. */
int given_fits(const struct given *g, const struct graph *program, struct err *err);

#endif
