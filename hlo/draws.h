/*
 * draws.h - programs that draw random numbers.
 *
 * A compiled program may keep the state of its generator from run to run. So two programs that draw are only alike if
 * both are loaded anew.
 */
#ifndef HLO_DRAWS_H
#define HLO_DRAWS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Does the module (any form that hlo_unpack reads) draw: by an instruction for that, or by a call whose target says so?
 * What parameters and places in the user's source are called does not matter. True if it cannot be read.
 */
bool hlo_draws(const void *p, size_t n);

#endif
