/*
 * stage.h - where in a backend's pipeline a kind of decision is made (schemas/stage.def).
 */
#ifndef DEVICE_STAGE_H
#define DEVICE_STAGE_H

struct stage {
	const char *kind, *backend;
	const char *pass;    /* that decides, as a regular expression */
	const char *extract; /* debug options to dump the modules around it; DIR stands for the folder */
	const char *apply;   /* debug options that run only what follows it */
};

/* `kind` may be a full name ("fusion/binary"); NULL: the first that the backend has. NULL: there is none. */
const struct stage *stage_find(const char *kind, const char *backend);

#endif
