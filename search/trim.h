/*
 * trim.h - takes back the decisions of an answer that change nothing.
 *
 * A search takes many decisions in one step, and later ones make earlier ones needless. Who writes an answer down by
 * hand wants the shortest that costs no more. So after the search decisions are put back to the plain choice: all
 * together, then halves of them, down to single ones. What stays cheap as it is, or becomes cheaper, stays plain. Every
 * step is priced, so the answer never becomes dearer, and breaks no limit that it did not break before. Then each one
 * that is left is put back to what the default has there, and stays so where that is cheaper: a decision that came with
 * others may cost more than it gains.
 *
 * That is asked only where prices are exact, of kinds that say what is plain (space_ops.plain), and for a part of the
 * time that the search took.
 */
#ifndef SEARCH_TRIM_H
#define SEARCH_TRIM_H

#include "base/json.h"
#include "search/hunt.h"

struct trim { /* all zero: nothing was asked */
	uint32_t asked, dropped; /* sites that could be plain, and those that are now */
	uint32_t back;		 /* sites that are as in the default again, which is cheaper there */
	uint32_t prices;	 /* that it took; they do not count as evaluations of the search */
	bool cut;		 /* time was over before each was asked */
};

/* Changes h->config, if the search found anything. */
int trim_answer(struct trim *t, struct hunt *h, struct err *err);
void trim_json(const struct trim *t, struct json *j);
void trim_page(const struct trim *t, struct buf *out);

#endif
