/* counsel.c - see counsel.h. Its options are the defaults of search/settings.c. */
#include "search/counsel.h"

#include <math.h>
#include <string.h>

#define EXPLORE 10.0 /* percent of picks that are random, as in a search */

static struct scorer scorer_of(struct counsel *c)
{
	return c->advisor.infer ? scorer_of_model(&c->scoring) : scorer_of_space(c->hunt.s);
}

/* The scorer is made once: making one of a model that learns begins its learning. */
static void stand_at(struct counsel *c, const uint8_t *from)
{
	struct scorer scorer = {0};

	if (!c->hunt.guide)
		scorer = scorer_of(c);
	memcpy(c->hunt.config, from, c->hunt.s->n_sites);
	c->hunt.idle = 0;
	hunt_stand(&c->hunt, &scorer);
}

int counsel_open(struct counsel *c, struct lab *lab, const struct counsel_options *o, struct err *err)
{
	struct advisor_options ao = {.named = o->model,
		.at = {.backend = o->backend, .space = lab->space->kind, .kind = lab->kind, .quantity = lab->quantity}};
	struct hunt_options ho = {.strategy = STRATEGY_GUIDED, .propose = PROPOSE_SIGNED, .budget = o->budget,
		.alpha = HUNT_AUTO, .hops = HUNT_AUTO, .explore = EXPLORE, .tied = true, .adapt = true};

	if (advisor_open(&c->advisor, &ao, lab->space, err) < 0) {
		advisor_release(&c->advisor);
		return -1;
	}
	if (!c->advisor.infer && !lab->space->ops->promise) {
		err_set(err,
			"nothing guides decisions of %s on %s: there is no model for them (train one with learn), and "
			"they promise nothing themselves",
			lab->space->kind, o->backend);
		advisor_release(&c->advisor);
		return -1;
	}
	if (c->advisor.infer)
		infer_tied(c->advisor.infer);
	c->scoring = advisor_scoring(&c->advisor, lab->space, INFER_GAIN, true);
	hunt_prepare(&c->hunt, &ho, lab);
	c->open = true;
	return 0;
}

void counsel_release(struct counsel *c)
{
	hunt_release(&c->hunt);
	advisor_release(&c->advisor);
	*c = (struct counsel){0};
}

bool counsel_propose(struct counsel *c, const uint8_t *from, struct rng *rng, uint8_t *config)
{
	struct hunt *h = &c->hunt;
	bool any;

	if (!h->guide || memcmp(h->config, from, h->s->n_sites) != 0)
		stand_at(c, from);
	h->rng = *rng;
	any = hunt_propose(h);
	*rng = h->rng;
	memcpy(config, h->candidate, h->s->n_sites);
	hunt_undo(h);
	return any;
}

/*
 * If a move is one flip to the guide, returns how many sites it changes, else 0. It is one if it takes tied sites to
 * one choice, and leaves none behind that had the same choice as they. *first is the first site that it changes.
 */
static uint32_t one_flip(const struct space *s, const uint8_t *from, const uint8_t *to, uint32_t *first)
{
	uint32_t n = 0, i = 0, tie;
	uint8_t was, is;

	while (i < s->n_sites && from[i] == to[i])
		i++;
	*first = i;
	if (i == s->n_sites)
		return 0;
	tie = s->site[i].tie;
	was = from[i];
	is = to[i];
	for (; i < s->n_sites; i++) {
		bool moves = s->site[i].tie == tie && from[i] == was && is < s->site[i].choices;
		if (to[i] != (moves ? is : from[i]))
			return 0;
		n += moves;
	}
	return n;
}

void counsel_told(struct counsel *c, const uint8_t *from, const uint8_t *to, const struct delta *d)
{
	struct hunt *h = &c->hunt;
	uint32_t first = 0, n;

	if (!h->guide || memcmp(h->config, from, h->s->n_sites) != 0)
		return;
	h->idle++;
	n = one_flip(h->s, from, to, &first);
	if (n)
		guide_tell(h->guide, first, to[first], d->outcome == OUTCOME_OK ? d->seconds / n : NAN);
}

const char *counsel_by(const struct counsel *c)
{
	return c->advisor.infer ? c->advisor.path.data : "promise";
}
