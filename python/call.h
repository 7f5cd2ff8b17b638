/*
 * call.h - what the two ways to call a compiled program share; see call.c.
 */
#ifndef PYTHON_CALL_H
#define PYTHON_CALL_H

#include <stddef.h>

struct call;

size_t vantage_call_inputs(const struct call *c);
size_t vantage_call_outputs(const struct call *c);

/* Runs the program to its end. in: an address each; out: memory for each result, which is copied there. */
int vantage_call_into(struct call *c, const void *const *in, void *const *out, char *why, size_t room);

#endif
