/*
 * code.h - samples and trials as bytes, for store/ only; the format stands in schemas/store.sql.
 *
 * Decoding trusts nothing: a length that does not fit, an outcome that does not exist, a choice or
 * site out of range is refused with -1 and no sentence, since the caller knows which row it was.
 */
#ifndef STORE_CODE_H
#define STORE_CODE_H

#include "base/buf.h"
#include "store/run.h"

/* What to store as the sample's outcome: the first that is not ok. */
enum outcome code_outcome(const struct sample *x);
void code_costs(const struct sample *x, uint64_t hash, struct buf *out);
/* Fills n_choices and choice[]; the caller compares n_choices with the site's. */
int decode_costs(const void *p, size_t n, struct sample *x, uint16_t *proof);

void code_flips(const struct flip *flip, uint32_t n, uint64_t hash, struct buf *out);
/* Flips appended to *flip (grown); each must name an existing choice of an existing site. */
int decode_flips(const void *p, size_t n, const uint8_t *choices, uint32_t n_sites, struct flip **flip,
	size_t *cap, uint32_t *n_flips, uint16_t *proof);


#define RUN_BASE(run) ((run) << 32) /* the id of the run's step 0 in sample and trial */

#endif
