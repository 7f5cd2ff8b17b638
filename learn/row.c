/*
 * row.c - copies the three parts of a row side by side.
 */
#include "learn/row.h"

void row_fill(const real *node, const real *context, const real *flip, float *row)
{
	for (int i = 0; i < NODE_FIXED; i++)
		*row++ = (float)node[i];
	for (int i = 0; i < NODE_CONTEXT; i++)
		*row++ = (float)context[i];
	for (int i = 0; i < FLIP_FEATURES; i++)
		*row++ = (float)flip[i];
}
