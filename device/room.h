/*
 * room.h - is there enough memory for a program? This is asked before it runs, because a machine that swaps is of no
 * use to anybody.
 */
#ifndef DEVICE_ROOM_H
#define DEVICE_ROOM_H

#include "device/device.h"

#define GIB 1073741824.0

/*
 * Returns false, with a sentence with both figures, if `what` ("it") needs more memory than its worker may have or the
 * machine has free; `of`: for what it needs that much. Returns true if either figure is unknown (`bytes` 0).
 */
#define ROOM_OF_ALL "inputs, results and temporary values"
#define ROOM_OF_ENDS "inputs and results alone"
bool room_for(const struct device *d, uint64_t bytes, const char *what, const char *of, char *out, size_t n);

#endif
