/*
 * pair.c - programs put side by side: compiled, compared, timed, dropped.
 *
 * The sides are compiled in random order, because what is loaded first tends to run slower. If a helper compiled a side
 * of a region ahead (device_expect), it is loaded instead, as often as the measurement wants instances. What took long
 * to compile is kept for when it is measured again (spare.h).
 *
 * A crash is tried once more, at once: a worker can also die of something else.
 */
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/progress.h"
#include "cost/own.h"
#include "device/room.h"

static void meet(struct cost *c, const struct compiled *p, struct fate *fate)
{
	c->totals.inside += p->seconds;
	if (p->outcome == OUTCOME_OK)
		return;
	fate->outcome = p->outcome;
	fate->signal = p->signal;
	memcpy(fate->detail, p->detail, sizeof fate->detail);
}

int cost_compile(struct cost *c, enum compile_how how, const struct buf *module, unsigned want, struct compiled *out,
	struct fate *fate, struct err *err)
{
	if (device_compile(c->device, how, "hlo", module->data, module->len, want, out, err) < 0)
		return -1;
	meet(c, out, fate);
	return 0;
}

/* Loads a whole program if it was kept there; or compiles it, and keeps it. */
static int compile_kept(struct cost *c, struct spares *kept, enum compile_how how, const struct buf *module,
	unsigned want, struct compiled *out, struct fate *fate, struct err *err)
{
	if (spare_compile(kept, c->device, how, module, want | WANT_MEMORY, out, err) < 0)
		return -1;
	meet(c, out, fate);
	if (fate->outcome != OUTCOME_OK)
		return 0;
	c->side_seconds = cost_lately(c->side_seconds, out->seconds);
	if (!room_for(c->device, out->peak_bytes, "it", ROOM_OF_ALL, fate->detail, sizeof fate->detail))
		fate->outcome = OUTCOME_OOM;
	return 0;
}

int cost_compile_whole(struct cost *c, enum compile_how how, const struct buf *module, unsigned want,
	struct compiled *out, struct fate *fate, struct err *err)
{
	return compile_kept(c, c->o.spares, how, module, want, out, fate, err);
}

/* Where the side of a region is kept that is a whole program: with other sides, unless it is with whole programs. */
static struct spares *kept_with(struct cost *c, enum compile_how how, const struct buf *module)
{
	return c->o.spares && spare_get(c->o.spares, how, module) ? c->o.spares : &c->sides;
}

bool cost_is_kept(struct cost *c, const struct buf *program)
{
	return spare_get(kept_with(c, COMPILE_APPLIED, program), COMPILE_APPLIED, program) != NULL;
}

int cost_drop(struct cost *c, struct compiled *p, struct err *err)
{
	int rc = device_drop(c->device, p, err);
	compiled_release(p);
	return rc;
}

/*
 * Does the compiled program have the groups that were asked for? On an accelerator it need not: its compiler joins more
 * than groups, and splits a group if a library has a faster kernel for a part. The cost is then that of the program
 * which came of it.
 */
int cost_check(struct cost *c, const uint8_t *config, const struct compiled *p,
	struct fate *fate, struct err *err)
{
	struct check_result r = {0};

	if (device_info(c->device)->joins)
		return 0;
	if (c->space->ops->check(c->space, config, p->optimised.data, p->optimised.len, &r, err) < 0)
		return -1;
	if (r.equal == r.asked && r.found == r.asked)
		return 0;
	fate->outcome = OUTCOME_NOT_HONOURED;
	snprintf(fate->detail, sizeof fate->detail, "%u groups asked for, %u found, %u of them equal: %s",
		r.asked, r.found, r.equal, r.detail);
	return 0;
}

/* Is one compilation of a region's side all that measuring it takes, now and again? Or did helpers leave one? */
static bool keeps_side(struct cost *c, const struct buf *module, uint32_t instances)
{
	return instances <= 1 && device_info(c->device)->kind == COST_MEASURED &&
	       (!device_has_helpers(c->device) || spare_get(&c->sides, COMPILE_REGION, module));
}

/* Has the compiler to honour what is decided? */
static bool is_strict(const struct cost *c)
{
	return !c->o.as_compiled || c->o.policy != POLICY_REGION;
}

/* Compiles side i: a whole program, or one side of a region, of which so many instances will be measured. */
static int compile_side(struct cost *c, const struct sides *s, unsigned i, uint32_t instances, struct compiled *out,
	struct fate *fate, struct err *err)
{
	const struct buf *module = s->module[i];
	bool whole = s->config[i] || s->own || s->whole;
	enum compile_how how = s->own && i == 0 ? COMPILE_DEFAULT : whole ? COMPILE_APPLIED : COMPILE_REGION;

	if (s->config[i] || s->own)
		return cost_compile_whole(c, how, module, s->config[i] && is_strict(c) ? WANT_OPTIMISED : 0, out, fate,
			err);
	if (s->whole)
		return compile_kept(c, kept_with(c, how, module), how, module, 0, out, fate, err);
	if (keeps_side(c, module, instances)
			? spare_compile(&c->sides, c->device, how, module, 0, out, err) < 0
			: device_compile_planned(c->device, how, module->data, module->len, instances, out, err) < 0)
		return -1;
	meet(c, out, fate);
	return 0;
}

static int pair_once(struct cost *c, const struct sides *s, const struct precision *p, struct timing *out,
	struct err *err)
{
	struct compiled side[2] = {{0}, {0}};
	struct fate fate = {0};
	unsigned first = (unsigned)rng_below(&c->rng, 2);
	uint32_t copies = p->copies ? p->copies : p->instances;
	int rc = 0;

	if (!s->config[0] && !s->config[1] && !s->own)
		device_gather(c->device, s->module, copies);
	for (unsigned k = 0; k < 2 && rc == 0 && fate.outcome == OUTCOME_OK; k++) {
		unsigned i = k ^ first;
		rc = compile_side(c, s, i, copies, &side[i], &fate, err);
		if (rc == 0 && fate.outcome == OUTCOME_OK && is_strict(c) && s->config[i] && side[i].optimised.len)
			rc = cost_check(c, s->config[i], &side[i], &fate, err);
	}
	*out = (struct timing){.kind = device_info(c->device)->kind};
	if (rc == 0 && fate.outcome == OUTCOME_OK && s->alike && out->kind == COST_MEASURED)
		rc = cost_alike(c->device, s->module[0], side, &fate, err);
	if (rc == 0 && fate.outcome == OUTCOME_OK) {
		rc = device_pair(c->device, &side[0], &side[1], p, out, err);
		c->totals.inside += out->inside;
	} else {
		out->outcome = fate.outcome;
		out->signal = fate.signal;
		memcpy(out->detail, fate.detail, sizeof out->detail);
	}
	out->compiling = side[0].seconds + side[1].seconds;
	for (unsigned i = 0; i < 2; i++)
		if (cost_drop(c, &side[i], rc == 0 ? err : NULL) < 0)
			rc = -1;
	return rc;
}

/* Would all workers have room for such programs at once? */
static bool room_for_all(const struct device *d, const struct compiled side[2], uint32_t workers)
{
	char ignored[160];

	return room_for(d, workers * (side[0].peak_bytes + side[1].peak_bytes), "it", ROOM_OF_ALL, ignored,
		sizeof ignored);
}

/* Hands over what took long to compile. */
static void keep_made(struct compiled side[2], struct timing *out)
{
	for (unsigned i = 0; i < 2; i++)
		if (side[i].seconds >= SPARE_DEAR_SIDE) {
			out->executable[i] = side[i].serialised;
			out->took[i] = side[i].seconds;
			side[i].serialised = (struct buf){0};
		}
}

void cost_measure_ahead(struct device *d, const struct errand *e, struct timing *out)
{
	struct compiled side[2] = {{0}, {0}};
	struct fate fate = {0};
	struct err ignored;
	unsigned first = (unsigned)hash64(e->module[0].data, e->module[0].len, 0) & 1;
	double start = now_seconds();
	int rc = 0;

	for (unsigned k = 0; k < 2 && rc == 0 && fate.outcome == OUTCOME_OK; k++) {
		rc = device_compile_errand(d, e, k ^ first, &side[k ^ first], &ignored);
		fate.outcome = side[k ^ first].outcome;
	}
	if (rc == 0 && fate.outcome == OUTCOME_OK && !room_for_all(d, side, e->workers))
		fate.outcome = OUTCOME_OOM;
	if (rc == 0 && fate.outcome == OUTCOME_OK && e->alike && device_info(d)->kind == COST_MEASURED)
		rc = cost_alike(d, &e->module[0], side, &fate, &ignored);
	if (rc == 0 && fate.outcome == OUTCOME_OK)
		rc = device_pair(d, &side[0], &side[1], &e->precision, out, &ignored);
	else
		*out = (struct timing){.outcome = fate.outcome};
	out->compiling = side[0].seconds + side[1].seconds;
	keep_made(side, out);
	for (unsigned i = 0; i < 2; i++) {
		rc |= device_drop(d, &side[i], &ignored);
		compiled_release(&side[i]);
	}
	if (rc < 0)
		out->outcome = OUTCOME_REFUSED;
	out->ahead = now_seconds() - start;
}

int cost_pair(struct cost *c, const struct sides *s, const struct precision *p, struct timing *out,
	struct err *err)
{
	int rc = pair_once(c, s, p, out, err);

	if (rc == 0 && out->outcome == OUTCOME_CRASHED) {
		rc = cost_failed(c, out->outcome, out->signal, out->detail, err);
		timing_release(out);
		rc = rc == 0 ? pair_once(c, s, p, out, err) : rc;
	}
	out->cut = cost_cut(c, out->outcome);
	return rc;
}
