/*
 * room.h - is there memory for a program? Asked before it is run, for a machine that swaps answers nobody.
 */
#ifndef DEVICE_ROOM_H
#define DEVICE_ROOM_H

#include "device/device.h"

#define GIB 1073741824.0

/*
 * False, with a sentence that has both figures, where `what` ("it") needs more memory than its worker may have and the
 * machine has free. True where either is not known (`bytes` 0).
 */
bool room_for(const struct device *d, uint64_t bytes, const char *what, char *out, size_t n);

#endif
