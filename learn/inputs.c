/*
 * inputs.c - see inputs.h.
 */
#include "learn/inputs.h"

#include "learn/row.h"

void inputs_fill(const struct net *net, const float *row, const real *advice, real *to)
{
	for (uint32_t i = 0; i < FLIP_FEATURES; i++)
		*to++ = (real)row[NODE_FEATURES + i];
	for (uint32_t i = 0; i < net->size.advised; i++)
		*to++ = advice[i];
	ramps_of(&net->ramps, row, to);
}
