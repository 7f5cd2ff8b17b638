/*
 * guide.h - which flip to try next.
 *
 * A flip is one site going to another choice. The guide keeps a score for the best untried flip of every site.
 * It hands out one at random among the best alpha percent. When the configuration moves near a site, it forgets
 * what it knows of that site. Scores come from a scorer: the model's predictions, or in tests an oracle. Without a
 * scorer all flips are alike, which is random search.
 *
 * A measurement is worth more than a prediction. So with `adapt` a flip that was tried and not taken is not
 * offered again until something near it changes. And sites of one tie class, which are copies of each other, are
 * scored by what was measured on any of them. A scorer that learns is told every measurement, and scores all others by
 * what it showed.
 */
#ifndef SEARCH_GUIDE_H
#define SEARCH_GUIDE_H

#include "base/buf.h"
#include "space/space.h"

struct scorer { /* all zero: none */
	void *ctx;
	/* The configuration moved to `config`; returns the sites whose scores may differ, all at first. */
	const uint32_t *(*move)(void *ctx, const uint8_t *config, uint32_t *n);
	/* Score of flipping `site` to `choice`; higher is better, any scale. */
	float (*score)(void *ctx, uint32_t site, uint8_t choice);
	/* Score of a move of any number of flips, on the scale of `score`; NULL if it cannot tell. */
	float (*rate)(void *ctx, const uint8_t *from, const uint8_t *to);
	/*
	 * Takes in what a flip turned out to cost, in base units; every score may differ afterwards. The other two save
	 * what was learnt, and load it. All three are NULL if the scorer does not learn.
	 */
	void (*learn)(void *ctx, uint32_t site, uint8_t choice, double amount);
	void (*save)(void *ctx, struct buf *out);
	void (*load)(void *ctx, struct cursor *in);
};

struct guide_options {
	double alpha;	/* percent of sites, or of classes if tied, to pick from */
	double explore; /* percent of picks that are uniformly random */
	bool adapt;
	bool tied; /* sites of a class that have the same choice move together */
	enum quantity quantity; /* that is to be small: only where it can be changed is a move worth anything */
};

/* How many places there are to move at: sites, or classes of them. */
double guide_moves(const struct space *s, bool tied);
/* The percentage of so many places to pick from, at least `least`, if there are so many evaluations. */
double guide_alpha(double evaluations, double moves, double least);

struct guide;
struct guide *guide_new(const struct space *s, const struct scorer *scorer, const struct guide_options *o);
void guide_free(struct guide *g); /* accepts NULL */

/* Call it first, and whenever the search has moved. */
void guide_move(struct guide *g, const uint8_t *config);
/* From now on flips are drawn among the best alpha percent. */
void guide_focus(struct guide *g, double alpha);
/* Draws a flip; false when every flip was tried since the last move near it (only with adapt). */
bool guide_pick(struct guide *g, struct rng *r, uint32_t *site, uint8_t *choice);
/* Asked right after a draw: was every flip tried, or supposed to be tried? False if nothing was drawn yet. */
bool guide_knows_all(const struct guide *g);
/*
 * Draws up to `want` flips of different sites, among the best alpha percent or twice as many as are wanted, if that is
 * more, but only what promises a gain. Returns how many there are; none without a scorer.
 */
uint32_t guide_pick_many(struct guide *g, struct rng *r, uint32_t want, uint32_t *site, uint8_t *choice);
/* The score of a site's next flip, together with the sites that move with it; 0 without a scorer. */
double guide_worth(const struct guide *g, uint32_t site);
/* Can the scorer rate moves of several flips? Then the score of one, and the best score of any single flip. */
bool guide_rates(const struct guide *g);
float guide_rate(const struct guide *g, const uint8_t *from, const uint8_t *to);
float guide_best(const struct guide *g);
/* Is a flip of this site a move of its own? Of tied sites that move together only one is; where nothing runs, none. */
bool guide_leads(const struct guide *g, uint32_t site);
/* Tells what trying a single flip showed: seconds of each copy, negative is better; NAN: it failed. */
void guide_tell(struct guide *g, uint32_t site, uint8_t choice, double seconds);
/*
 * Supposes that a flip was tried and not taken, to see what would be picked then. guide_recall forgets all that was
 * supposed; until then the guide must not be told, moved or saved.
 */
void guide_suppose(struct guide *g, uint32_t site, uint8_t choice);
void guide_recall(struct guide *g);
/* Sites in order of their scores, best first; n_sites places. */
void guide_order(struct guide *g, uint32_t *sites);

/*
 * Saves what was learned and tried. To load it, make a guide in the same way and move it to the same
 * configuration; in->bad is set if it does not fit.
 */
void guide_save(const struct guide *g, struct buf *out);
void guide_load(struct guide *g, struct cursor *in);

#endif
