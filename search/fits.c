/*
 * fits.c - see the header.
 */
#include "search/fits.h"

#include <string.h>
#include "base/stop.h"

static int has_price(struct lab *lab, const uint8_t *config, struct err *err)
{
	struct timing t = {0};
	int rc = cost_whole(lab->cost, config, config, NULL, &t, err);
	bool good = t.outcome == OUTCOME_OK;

	timing_release(&t);
	return rc < 0 ? -1 : good;
}

static int try_schemes(struct lab *lab, const uint8_t *from, uint8_t *config, uint32_t *prices, struct err *err)
{
	struct space *s = lab->space;
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && *prices < FITS_MOST && !stop_asked() && s->ops->scheme(s, from, k, config);
		k++) {
		if (memcmp(config, from, s->n_sites) == 0)
			continue;
		++*prices;
		rc = has_price(lab, config, err);
	}
	return rc;
}

int fits_find(struct lab *lab, const uint8_t *from, uint8_t *config, uint32_t *prices, struct err *err)
{
	struct space *s = lab->space;
	uint8_t *start;
	int rc;

	if (!s->ops->scheme)
		return 0;
	start = mem_alloc(s->n_sites + 1);
	memcpy(start, from, s->n_sites);
	rc = try_schemes(lab, start, config, prices, err);
	for (const struct space_start *p = s->ops->starts; rc == 0 && p && p->name; p++) {
		p->fill(s, start);
		rc = try_schemes(lab, start, config, prices, err);
	}
	mem_free(start);
	return rc;
}
