/*
 * culprit.h - finds the instruction in which a program's run dies.
 */
#ifndef READY_CULPRIT_H
#define READY_CULPRIT_H

#include "device/device.h"

/*
 * For a program that compiles, and dies when it is run. Runs beginnings of it until the shortest one that dies is
 * known, or so many seconds are over, and adds what was found to the sentence in `err`. A culprit in a computation
 * below the entry is told by the instruction that calls it. Adds nothing if no beginning died.
 */
void culprit_tell(struct device *d, const struct buf *program, double seconds, struct err *err);

#endif
