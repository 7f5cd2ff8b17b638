/*
 * code.h - samples and trials as bytes, for store/ only; the format stands in schemas/store.sql.
 *
 * Decoding trusts nothing. It refuses a length that does not fit, an outcome that does not exist, and a choice or
 * site out of range. It returns -1 without a sentence, because only the caller knows which row it was.
 */
#ifndef STORE_CODE_H
#define STORE_CODE_H

#include "base/buf.h"
#include "store/run.h"

/* The outcome to store for the sample: the first of its choices' outcomes that is not ok. */
enum outcome code_outcome(const struct sample *x);
void code_costs(const struct sample *x, uint64_t hash, struct buf *out);
/* Fills n_choices and choice[]; the caller compares n_choices with the site's. */
int decode_costs(const void *p, size_t n, struct sample *x, uint16_t *proof);

void code_flips(const struct flip *flip, uint32_t n, uint64_t hash, struct buf *out);
/* Appends flips to *flip, which grows; each must name an existing choice of an existing site. */
int decode_flips(const void *p, size_t n, const uint8_t *choices, uint32_t n_sites, struct flip **flip,
	size_t *cap, uint32_t *n_flips, uint16_t *proof);


#define RUN_BASE(run) ((run) << 32) /* the id, in the tables sample and trial, of the run's step 0 */

#endif
