/*
 * space.h - `inspect --space FILE`: shows what can be decided about a program.
 */
#ifndef INSPECT_SPACE_H
#define INSPECT_SPACE_H

#include "device/device.h"

struct inspect_space { /* all zero but path is fine */
	const char *path;  /* a file, or a program that a kind of decision makes ("toy:40:3:1") */
	const char *kind;  /* the full name of the space; NULL: the default kind */
	const char *nodes; /* a regular expression: lists the sites whose names match; may be NULL */
	const char *flip;  /* the node whose other choices are measured, which needs a device; may be NULL */
	bool json;
	struct device *device; /* NULL: the sites come from the rules alone, and nothing is measured */
};
/* Appends text for people, or one JSON object. */
int inspect_space(const struct inspect_space *o, struct buf *out, struct err *err);

#endif
