/*
 * welding.h - has small kernels of the answer welded (graph/weld.h), where that is faster.
 *
 * How small a kernel has to be for this to pay depends on how many there are in a row, on how dear it is to start one
 * on as many cores, and on what the compiler's other generator of code makes of them. So it is tried with several
 * sizes, in a race.
 */
#ifndef SEARCH_WELDING_H
#define SEARCH_WELDING_H

#include "base/json.h"
#include "search/race.h"

#define WELDING_MOST 4

struct weld_tried {
	double bytes; /* the most that a welded kernel moves */
	struct welded welded;
	struct lap lap;
};
struct weldings { /* all zero: nothing was tried */
	struct weld_tried tried[WELDING_MOST];
	uint32_t n;
	double bytes; /* what was taken; 0: the kernels stay apart */
	struct welded welded;
	double gain, se; /* what it saved with all that was taken before it; 0, 0: as an earlier search found */
};

/* The share of a run that the first size saves by starting fewer kernels, very roughly. */
double welding_promise(const struct hunt *h);
/* Decides it for h->config, and notes it in the lab. */
int welding_answer(struct weldings *w, struct race *x, struct err *err);
/* Can anything be welded: is it an answer after fusion, for a compiler that makes one kernel of a call? */
bool welding_possible(const struct lab *lab);
/* Welds as the search did that left this folder. */
int welding_again(struct weldings *w, const char *from, struct lab *lab, const uint8_t *config, struct err *err);
/* From now on kernels stay apart. */
void welding_undo(struct weldings *w, struct lab *lab);
void welding_json(const struct weldings *w, struct json *j);
void welding_text(const struct weldings *w, struct buf *out); /* a sentence; nothing where nothing was taken */

#endif
