/*
 * space.h - `inspect --space FILE`: what there is to decide about a program.
 */
#ifndef INSPECT_SPACE_H
#define INSPECT_SPACE_H

#include "device/device.h"

struct inspect_space { /* all zero but path is fine */
	const char *path;    /* whatever --graph may name */
	const char *kind;    /* of space; NULL: fusion */
	const char *nodes;   /* regular expression: lists the sites whose names match, or NULL */
	const char *flip;    /* node whose other choices are to be measured, or NULL; needs a device */
	bool json;
	struct device *device; /* NULL: sites as the plain rules say, nothing measured */
};
/* Appends text for people, or one JSON object. */
int inspect_space(const struct inspect_space *o, struct buf *out, struct err *err);

#endif
