/*
 * numbers_kept.h - what checks of one program's numbers have in common.
 *
 * Where numbers are refused, another answer to the same program is checked, and another. What they are compared with is
 * the same each time, and so is the yardstick: how the compiler's own program changes on nudged inputs, and how far it
 * is from what it would be without rounding. So programs in which the tuned one has no part stay on the device, and
 * comparisons of them are noted. And the kind of input that refused the last answer is the one to begin with, since a
 * check ends at the first that refuses.
 */
#ifndef SEARCH_NUMBERS_KEPT_H
#define SEARCH_NUMBERS_KEPT_H

#include "device/device.h"

#define NUMBERS_KEPT 3 /* programs */

struct numbers_side {
	struct compiled program;
	bool none; /* in 64 bits, there is no such program */
};

struct numbers_kept { /* all zero: nothing yet */
	struct numbers_side side[NUMBERS_KEPT];
	struct numbers_known {
		uint8_t a, b, inputs, nudged;
		struct comparison said;
	} *known;
	size_t n_known, room;
	enum inputs refused; /* the last answer */
};

/* Copies what was noted of a comparison to *out, whose parts the caller frees. False: nothing was noted. */
bool numbers_recall(const struct numbers_kept *k, uint8_t a, uint8_t b, enum inputs inputs, uint8_t nudged,
	struct comparison *out);
/* Notes what was found. */
void numbers_note(struct numbers_kept *k, uint8_t a, uint8_t b, enum inputs inputs, uint8_t nudged,
	const struct comparison *said);

/* Takes a program off the device. err may be NULL. */
int numbers_drop(struct numbers_side *side, struct device *d, struct err *err);
/* ... and all that is kept. */
int numbers_forget(struct numbers_kept *k, struct device *d, struct err *err);

#endif
