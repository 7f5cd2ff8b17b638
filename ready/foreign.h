/*
 * foreign.h - what to tell a user whose program the compiler refuses.
 */
#ifndef READY_FOREIGN_H
#define READY_FOREIGN_H

#include <stdbool.h>
#include "device/device.h"

/*
 * Is the program of this name refused because it calls what is no part of the compiler? `detail` has the compiler's
 * words. If so, fills in a sentence that names what is called, and says what can be done.
 */
bool foreign_told(const char *name, const char *detail, struct err *err);
/*
 * Fills in why the program of this name was not compiled, after device_extract with another outcome than ok; returns
 * -1. If it calls what is no part of the compiler, that is told as above.
 */
int refused_by_compiler(const char *name, const struct extracted *e, struct err *err);

#endif
