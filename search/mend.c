/*
 * mend.c - see the header. What to take back is found by comparing numbers (cure.h); the verdict is asked once more.
 */
#include "search/mend.h"

#include <stdio.h>
#include "base/mem.h"
#include "base/stop.h"
#include "base/talk.h"
#include "search/cure.h"

void mend_words(const struct hunt *h, struct buf *out)
{
	const struct hunt_withdrawn *w = &h->withdrawn;

	if (w->places)
		buf_addf(out, "What %s was taken back in %u place%s: with it, %.250s.", w->what, w->places,
			w->places == 1 ? "" : "s", w->why);
}

/* What is left, `config`, becomes the hunt's. */
static void adopt(struct hunt *h, const struct cure *c, const uint8_t *config)
{
	h->withdrawn = c->back;
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		h->hash = config_flip(h->config, h->hash, i, config[i]);
	h->running.value -= c->change;
	hunt_add_point(h);
}

int mend_before_others(struct hunt *h, struct device *d, struct err *err)
{
	uint8_t *config;
	struct cure c;
	int rc;

	if (!h->s->ops->rule || device_info(d)->kind != COST_MEASURED || !device_info(d)->can_run)
		return 0;
	config = MEM_NEW(h->s->n_sites + 1, uint8_t);
	rc = cure_find(&c, h, d, config, err);
	if (rc == 0 && c.back.places)
		adopt(h, &c, config);
	mem_free(config);
	return rc;
}

static bool refused(const struct verdict *v)
{
	return v->outcome == OUTCOME_OK && v->numbers.outcome == OUTCOME_WRONG_NUMBERS && !v->numbers.silent;
}

/* Asks the verdict once more, about `config`. If its numbers are right, it is the answer. */
static int ask_again(struct verdict *v, struct hunt *h, const struct verdict_options *o, const struct cure *c,
	const uint8_t *config, struct err *err)
{
	struct verdict mended;
	struct buf words = {0};
	int rc;

	talk("the numbers are refused: %s; judging it without what %s in %u place%s", v->numbers.detail, c->back.what,
		c->back.places, c->back.places == 1 ? "" : "s");
	rc = verdict_reach(&mended, h->lab, config, o, err);
	if (rc < 0 || mended.outcome != OUTCOME_OK || mended.numbers.outcome != OUTCOME_OK)
		return rc;
	adopt(h, c, config);
	mend_words(h, &words);
	*v = mended;
	snprintf(v->compared, sizeof v->compared, "%.440s %.350s", words.data, mended.compared);
	buf_release(&words);
	return 0;
}

/* Finds what to take back, on a device of its own, since those of the verdict are gone. */
static int find(struct cure *c, struct hunt *h, const struct verdict_options *o, uint8_t *config, struct err *err)
{
	struct device *d = device_open(o->device, err);
	int rc = d ? cure_find(c, h, d, config, err) : -1;

	device_close(d);
	return rc;
}

int mend_answer(struct verdict *v, struct hunt *h, const struct verdict_options *o, struct err *err)
{
	uint8_t *config, *dflt;
	struct cure some = {0}, all;
	int rc = 0;

	if (!refused(v) || !o->device)
		return 0;
	config = MEM_NEW(h->s->n_sites + 1, uint8_t);
	dflt = MEM_NEW(h->s->n_sites + 1, uint8_t);
	cure_all(&all, h, dflt, &v->numbers);
	if (all.back.places && !stop_asked())
		rc = find(&some, h, o, config, err);
	if (rc == 0 && some.back.places && !some.all && !stop_asked())
		rc = ask_again(v, h, o, &some, config, err);
	/* If no kind came before this one, only the compiler's own program would be left to judge. */
	if (rc == 0 && refused(v) && all.back.places && h->lab->derived && !stop_asked())
		rc = ask_again(v, h, o, &all, dflt, err);
	mem_free(config);
	mem_free(dflt);
	return rc;
}
