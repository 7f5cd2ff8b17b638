/*
 * infer.h - predictions for every flip of a graph at once, kept up to date as the configuration moves.
 *
 *	struct infer *f = infer_new(model, space, &err);
 *	infer_move(f, config);				// the first time: the whole graph
 *	for site, for k != config[site]: infer_site(f, site)[k].gain ...
 *	config[17] = 1; infer_move(f, config);		// only what the change can reach
 *	changed = infer_changed(f, &n);			// the sites to look at again
 *	infer_free(f);
 *
 * A flip is (site, k): that site alone goes from its current choice to k. Numbers are relative to the
 * graph's sigma, the median magnitude of its advantages, which nobody knows before measuring: they
 * order the flips of one graph; dividing a measured advantage by its `gain` estimates sigma.
 *
 * What infer_move leaves is what infer_full would, to 1e-6; a test holds them together. One infer uses
 * the scratch memory of its space, so both belong to one thread.
 */
#ifndef LEARN_INFER_H
#define LEARN_INFER_H

#include <stdint.h>
#include "base/err.h"
#include "space/space.h"
#include "learn/model.h"

struct prediction {
	float magnitude; /* log(1 + |advantage| / sigma): how much the flip matters, either way */
	float p_improve; /* probability that it makes the program faster */
	float gain;	 /* expected gain of trying it, in sigmas: p_improve x its size if it improves; >= 0 */
};

enum infer_by { INFER_MAGNITUDE, INFER_IMPROVE, INFER_GAIN };

struct infer;
/* Borrows both. Refuses a model for another kind of space; model_fits checks the rest. */
struct infer *infer_new(const struct model *m, struct space *s, struct err *err);
void infer_free(struct infer *f); /* accepts NULL */

/* Predicts for `config` (n_sites bytes, copied), reusing what still holds; the first call is a full one. */
void infer_move(struct infer *f, const uint8_t *config);
/* The same from scratch. */
void infer_full(struct infer *f, const uint8_t *config);

/* site[site].choices predictions, by choice; that of the current choice is all zero. Valid until the next move. */
const struct prediction *infer_site(const struct infer *f, uint32_t site);

/*
 * From now on predicts only one of the sites that move together: in each tie class, the first site of each present
 * choice. Predictions of the others mean nothing. This saves most of the work where layers are alike: describing a flip
 * walks all kernels that it changes, and in a language model one site in twenty is the first of its kind. Call it
 * before the first move.
 */
void infer_tied(struct infer *f);
/*
 * From now on predictions are corrected by what infer_learn tells about this program (residual.h). Call it before the
 * first move. Returns false if the model cannot learn.
 */
bool infer_adapt(struct infer *f);
/* Tells the measured advantage of a flip, in base units per run of the program. Any prediction may change. */
void infer_learn(struct infer *f, uint32_t site, uint8_t choice, double advantage);
/* Saves and loads what was learnt; loading wants the configuration of the save. Nothing happens without infer_adapt. */
void infer_save(const struct infer *f, struct buf *out);
void infer_load(struct infer *f, struct cursor *in);

/* Sites whose predictions the last move computed anew, ascending; after a full pass all of them. */
const uint32_t *infer_changed(const struct infer *f, uint32_t *n);

#endif
