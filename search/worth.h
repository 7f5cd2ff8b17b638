/*
 * worth.h - what each decision of an answer is worth: the cost if it alone were taken back.
 *
 * A search takes many decisions in one step, and each was right beside what had been decided by then. So after the
 * search each site that differs from the default is put back, alone. That is asked only where prices are exact, and
 * for a part of the time that the search took; what is missing is said. Some decisions need each other, and some do
 * the same as another, so their sum says nothing.
 */
#ifndef SEARCH_WORTH_H
#define SEARCH_WORTH_H

#include "base/json.h"
#include "search/hunt.h"

struct worth_row {
	uint32_t site;
	enum outcome outcome; /* of the program without it */
	double cost;	      /* more than the answer's, if that is OK */
};

struct worths { /* all zero: nothing was asked */
	uint32_t n, differ; /* sites priced, the dearest loss first; and sites that differ from the default */
	struct worth_row *row;
};

/* Does nothing where prices are not exact, or where nobody decides these by hand. */
int worth_find(struct worths *w, const struct hunt *h, struct cost *cost, struct err *err);
void worth_release(struct worths *w);

void worth_json(const struct worths *w, const struct space *s, struct json *j);
void worth_page(const struct worths *w, const struct hunt *h, struct buf *out);

#endif
