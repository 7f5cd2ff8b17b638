/*
 * exchange.h - adds a tiny exchange between devices to a program, because of which a compiler writes its schedule.
 *
 * XLA:TPU writes the schedule of a program only if the program has an exchange that it does beside other work. So we
 * add one to every program that is to be priced: 512 numbers a device, each device's to the one after it. They become
 * another part of the result. All programs get the same, so it changes no comparison.
 */
#ifndef HLO_EXCHANGE_H
#define HLO_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"

/* Appends the module (any form that hlo_unpack reads) with the exchange. -1 with a sentence that has `name`. */
int exchange_add(const void *p, size_t n, const char *name, uint32_t devices, struct buf *out, struct err *err);

#endif
