/*
 * sift.c - what else the places of a block could be.
 *
 * A model that knows a kind of decision proposes many of them at once, and two whole programs price them. From then on
 * all that the block changed is priced so (space_ops.taken). In a large program that leaves a handful of tries, though
 * the block has dozens of classes of places, with several choices each, and by regions a choice takes a fraction of a
 * second. So once a block stands, its classes are asked for their other choices by regions, those with the most work
 * first, for a part of the time that is left. What is better there goes into one candidate, and whole programs decide
 * on it. (Of 52 classes of a film classifier 39 had something better than what the model had said. By regions that was
 * worth 47 ms of 202, by whole programs 68 +- 1. Of a program of openings, a Llama and a T5 nearly nothing changed.)
 *
 * The questions are evaluations, of which none is kept. They are asked once in a search, only against the clock, and
 * only if it leaves time to price what the answers come to.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/progress.h"
#include "search/hunt.h"

#define SIFT_SHARE 0.25 /* of what is left of the search, for the questions, */
#define SIFT_MOST 0.1	/* ... and of what is left of that, for one */
#define BLOCK_TIMES 1.2 /* times what the block took, for what the answers come to */

struct question {
	uint32_t site;
	uint8_t choice;
	double work;
};

struct sift {
	struct question *v;
	size_t n, cap, at;
	uint64_t hash;	 /* of the configuration in which the block stands */
	double until;	 /* hunt_seconds when the questions end */
	uint8_t *better; /* the configuration with the best choices so far */
	double *saves;	 /* by class: what that saves */
	bool asking;	 /* is the candidate one of the questions? */
};

static int by_work(const void *a, const void *b)
{
	const struct question *x = a, *y = b;

	if (x->work != y->work)
		return x->work < y->work ? 1 : -1;
	return x->site != y->site ? (x->site > y->site) - (x->site < y->site) : x->choice - y->choice;
}

/* Lists the questions about one class, of which `first` is a site. */
static void list_class(const struct hunt *h, uint32_t first, struct sift *f)
{
	const struct space *s = h->s;
	double work = 0;

	for (uint32_t i = 0; i < s->n_sites; i++)
		if (s->site[i].tie == s->site[first].tie && h->config[i] == h->config[first]) {
			const struct node *n = &s->graph->node[s->site[i].node];
			work += n->flops * s->graph->comp[n->comp].trips;
		}
	for (uint8_t k = 0; k < s->site[first].choices; k++) {
		if (k == h->config[first])
			continue;
		MEM_GROW(&f->v, &f->cap, f->n + 1);
		f->v[f->n++] = (struct question){first, k, work};
	}
}

/* Seconds for the questions. What they come to takes as long as the block did, which began when it was planned. */
static double seconds_for(const struct hunt *h)
{
	double left = h->o.seconds - hunt_seconds(h) - hunt_last_check(h);

	return fmin(SIFT_SHARE * left, left - BLOCK_TIMES * (now_seconds() - h->scheme_began));
}

void hunt_sift(struct hunt *h)
{
	const struct space *s = h->s;
	uint8_t *listed;
	struct sift *f;

	if (h->sift || !s->ops->by_places || !h->o.tied || hunt_is_flip(h) || h->scheme_began <= 0)
		return;
	f = h->sift = MEM_NEW(1, struct sift);
	f->better = MEM_NEW(s->n_sites + 1, uint8_t);
	f->saves = MEM_NEW(s->n_ties + 1, double);
	listed = MEM_NEW(s->n_ties + 1, uint8_t);
	for (uint32_t i = 0; i < h->n_flips; i++) {
		if (!listed[s->site[h->flips[i]].tie])
			list_class(h, h->flips[i], f);
		listed[s->site[h->flips[i]].tie] = 1;
	}
	mem_free(listed);
	if (f->n)
		qsort(f->v, f->n, sizeof *f->v, by_work);
	memcpy(f->better, h->config, s->n_sites);
	f->hash = h->hash;
	f->until = hunt_seconds(h) + seconds_for(h);
}

bool hunt_asks(const struct hunt *h)
{
	return h->sift && h->sift->asking;
}

int hunt_offer_question(struct hunt *h, double *seconds, struct err *err)
{
	struct sift *f = h->sift;
	size_t bytes;
	double most;
	int rc = 0;

	if (!f || !f->better || f->hash != h->hash)
		return 0;
	cost_by_places(h->lab->cost, true);
	while (rc == 0 && f->at < f->n && (most = SIFT_MOST * (f->until - hunt_seconds(h))) > 0) {
		const struct question *q = &f->v[f->at++];
		hunt_propose_flip(h, q->site, q->choice);
		rc = cost_takes(h->lab->cost, h->config, h->candidate, most, seconds, &bytes, err);
		if (rc == 0 && h->n_flips > 0 && *seconds <= most)
			rc = 1;
		else
			hunt_undo(h);
	}
	cost_by_places(h->lab->cost, false);
	f->asking = rc > 0;
	return rc;
}

bool hunt_propose_sifted(struct hunt *h)
{
	struct sift *f = h->sift;

	if (!f || !f->better || f->hash != h->hash)
		return false;
	memcpy(h->drawn, f->better, h->s->n_sites);
	mem_free(f->better);
	f->better = NULL; /* all was asked */
	return hunt_propose_drawn(h);
}

void hunt_answered(struct hunt *h, const struct delta *d)
{
	struct sift *f = h->sift;
	uint32_t tie = h->s->site[h->flips[0]].tie;

	f->asking = false;
	if (d->cut || d->outcome != OUTCOME_OK || d->seconds + d->se >= f->saves[tie])
		return;
	f->saves[tie] = d->seconds;
	for (uint32_t i = 0; i < h->n_flips; i++)
		f->better[h->flips[i]] = h->candidate[h->flips[i]];
}

void hunt_end_sift(struct hunt *h)
{
	if (!h->sift)
		return;
	mem_free(h->sift->v);
	mem_free(h->sift->better);
	mem_free(h->sift->saves);
	mem_free(h->sift);
	h->sift = NULL;
}
