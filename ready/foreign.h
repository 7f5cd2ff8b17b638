/*
 * foreign.h - what to tell a user whose program the compiler refuses.
 */
#ifndef READY_FOREIGN_H
#define READY_FOREIGN_H

#include "device/device.h"

/*
 * Fills in why the program of this name was not compiled, after device_extract with another outcome than ok; returns
 * -1. If it calls what is no part of the compiler, the sentence names that, and says what can be done.
 */
int refused_by_compiler(const char *name, const struct extracted *e, struct err *err);

#endif
