/*
 * dump.h - the folder a compiler dumps modules into, from making to removing it.
 */
#ifndef DEVICE_DUMP_H
#define DEVICE_DUMP_H

#include "base/buf.h"
#include "device/device.h"
#include "device/stage.h"

struct dump {
	char folder[300];
	const struct stage *stage;
	struct buf options; /* compile options that make the compiler dump there */
};
int dump_begin(struct dump *d, const struct stage *s, struct err *err);
/* Fills before, after, and, if asked, initial. A compiler that dumped nothing is "refused". */
int dump_read(struct dump *d, bool initial, struct extracted *out, struct err *err);
/* The whole file of an arranging stage, if there is one. */
int dump_read_arranged(struct dump *d, struct buf *out, struct err *err);
void dump_end(struct dump *d); /* removes the folder */

#endif
