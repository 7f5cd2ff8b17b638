/*
 * dump.h - the folder a compiler dumps modules into, from making to removing it.
 */
#ifndef DEVICE_DUMP_H
#define DEVICE_DUMP_H

#include "base/buf.h"
#include "device/device.h"
#include "device/stage.h"

#define DUMP_INITIAL ".before_optimizations.hlo.pb" /* how the name of the first module ends */

struct dump {
	char folder[300];
	int held; /* a descriptor of it, locked; -1: it could not be */
	struct buf options; /* compile options that make the compiler dump there */
};
/* The options have DIR where the folder's name goes. Removes folders that killed processes left. */
int dump_begin(struct dump *d, const char *options, struct err *err);
/* Fills before, after, and, if asked, initial. A compiler that dumped nothing is "refused". */
int dump_read(struct dump *d, const struct stage *s, bool initial, struct extracted *out, struct err *err);
/* Appends the file that an arranging stage leaves, if there is one. */
int dump_read_arranged(struct dump *d, const struct stage *s, struct buf *out, struct err *err);
/* Could the compiler write there? If nothing was dumped, a full disk may be why. */
int dump_room(const struct dump *d, struct err *err);
/* Is there a file whose name ends like this? */
bool dump_has(const struct dump *d, const char *end);
/* Appends the module of the first file whose name ends like this; nothing if there is none. */
int dump_left(struct dump *d, const char *end, struct buf *out, struct err *err);
/* The same, as the file is. */
int dump_left_text(struct dump *d, const char *end, struct buf *out, struct err *err);
void dump_end(struct dump *d); /* removes the folder */

#endif
