/*
 * culprit.h - which instruction a program's run dies in.
 */
#ifndef READY_CULPRIT_H
#define READY_CULPRIT_H

#include "device/device.h"

/*
 * A program compiles, but its run dies. Runs beginnings of it until the first one that dies is known, or so many seconds are
 * over, and adds what was found to the sentence in `err`. Of computations below the entry it says the instruction that
 * calls them. Nothing is added where beginnings tell nothing.
 */
void culprit_tell(struct device *d, const struct buf *program, double seconds, struct err *err);

#endif
