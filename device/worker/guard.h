/*
 * guard.h - ends a run that takes too long to be worth its answer.
 */
#ifndef DEVICE_WORKER_GUARD_H
#define DEVICE_WORKER_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "device/wire.h"

/*
 * From now on, until guard_end: after so many seconds `reply` answers request `id`, and the process is over. With
 * `working` the process must also have computed for so long: a run that only waits for a processor is not slow.
 */
void guard_begin(double seconds, bool working, enum wire_type type, uint32_t id, const struct buf *reply);
void guard_end(void);

#endif
