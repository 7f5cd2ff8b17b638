/*
 * recode.h - has the answer's code generated in other ways, where that is faster.
 *
 * Which kernels there are is decided instruction by instruction. How wide their vectors are is decided for the whole
 * program (schemas/codegen.def). So that is asked once, of the answer, when all else is decided. It is compiled in one
 * way after the other, each runs beside the best so far, and the fastest goes before the verdict. The verdict measures
 * it anew against the compiler's own program, so what luck there is in the choice does not count as a gain.
 *
 * If nothing else was found, the answer is the user's own program with these options (COMPILE_CODEGEN_OWN): the
 * compiler makes all decisions by itself.
 *
 * It is not asked where compiling again would take long beside the search, of a search that only measures again what
 * was found earlier (that one's ways are taken), and where seconds are not what counts.
 */
#ifndef SEARCH_RECODE_H
#define SEARCH_RECODE_H

#include "base/json.h"
#include "device/codegen.h"
#include "search/hunt.h"

struct recode_options {
	bool ask;	  /* may it be asked? */
	const char *from; /* the folder of an earlier search that is only measured again, or NULL */
};
struct recode { /* all zero: nothing was asked */
	uint32_t asked, taken; /* ways (codegen.h) that were measured, and taken; if any is, lab.how says so, too */
	/* what each asked way saved, as a share of the answer's time with those taken before, and its standard error */
	double gain[CODEGEN_MOST], se[CODEGEN_MOST];
};

/* Decides it for h->config, and notes it in lab.how and in the device. */
int recode_answer(struct recode *r, struct hunt *h, const struct recode_options *o, struct err *err);
/* From now on the answer is compiled in the usual way. */
void recode_undo(struct recode *r, struct lab *lab);
void recode_json(const struct recode *r, struct json *j);
void recode_text(const struct recode *r, struct buf *out); /* a sentence; nothing where nothing was taken */

#endif
