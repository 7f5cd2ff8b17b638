/*
 * form.h - what is decided about the answer as a whole, when all decisions about its parts are made: how its code is
 * generated, and which of its kernels are welded.
 *
 * A search that only measures again what was found earlier takes the form that was taken then.
 */
#ifndef SEARCH_FORM_H
#define SEARCH_FORM_H

#include "search/recode.h"
#include "search/welding.h"

struct form_options {
	bool codegen, weld; /* what may be tried */
	const char *from;   /* the folder of an earlier search that is only measured again, or NULL */
};
struct form { /* all zero: as everything is compiled */
	struct recode recode;
	struct weldings weldings;
	enum compile_how apart; /* how the answer is compiled with the former, if nothing is welded */
};

/* Decides it for h->config, and notes it in the lab and in the device. */
int form_choose(struct form *f, struct hunt *h, const struct form_options *o, struct err *err);
/* Takes back what is welded, or else how code is generated. Returns false if nothing is left to take back. */
bool form_undo(struct form *f, struct lab *lab);
void form_json(const struct form *f, struct json *j);
void form_text(const struct form *f, struct buf *out); /* sentences; nothing where nothing was taken */

#endif
