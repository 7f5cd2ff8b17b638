/*
 * verdict_words.c - puts a verdict into words: one sentence, and a clause for each limit.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "search/verdict.h"

/* An interval of that many hundredths says little; where programs ran often, other work made it so wide. */
#define WIDE 0.2

void verdict_limit_text(const struct verdict_limit *l, struct buf *out)
{
	const struct weighed *w = &l->weighed;
	char figure[QUANTITY_TEXT];

	buf_adds(out, l->state == LIMIT_KEPT ? "within the limit " : l->state == LIMIT_BROKEN ? "beyond the limit " :
		"perhaps beyond the limit ");
	limit_text(&l->limit, out);
	buf_addf(out, " (%s", quantity_text(l->limit.quantity, w->tuned, figure));
	if (isfinite(w->change)) /* nothing is a share of a default that costs nothing */
		buf_addf(out, ", %+.2f%%", 100 * w->change);
	if (!w->exact)
		buf_addf(out, ", %.0f%% interval %+.2f%% to %+.2f%%", 100 * VERDICT_COVERAGE, 100 * w->low,
			100 * w->high);
	buf_adds(out, ")");
}

/* Lists the limits in this state, or with `other` those in any other: "within the limit ..., within the limit ...". */
static void list_limits(const struct verdict *v, enum limit_state state, struct buf *out)
{
	for (uint32_t i = 0; i < v->n_limits; i++)
		if (v->limit[i].state == state) {
			buf_adds(out, out->len ? ", " : "");
			verdict_limit_text(&v->limit[i], out);
		}
}

static bool needed(const struct verdict *v)
{
	bool any = false;

	for (uint32_t i = 0; i < v->n_limits; i++)
		any |= v->limit[i].default_breaks;
	return any;
}

/* What it is compared with: "the compiler's default", "the best layout made by hand (fsdp)". */
static const char *reference(const struct verdict *v, char text[120])
{
	if (v->reference)
		snprintf(text, 120, "the best %.40s (%.30s)", v->by_hand, v->reference);
	else
		snprintf(text, 120, "the compiler's default");
	return text;
}

/* " on 2 cores", if the programs ran on pinned cores. */
static const char *on_cores(const struct verdict *v, char text[32])
{
	*text = 0;
	if (v->cores)
		snprintf(text, 32, " on %u core%s", v->cores, v->cores > 1 ? "s" : "");
	return text;
}

/* "takes 3.10% less time than the compiler's default (95% interval 2.9% to 3.3%, measured)" */
static void tell_objective(const struct verdict *v, struct buf *out)
{
	bool exact = v->low == v->high && quantity_deterministic(v->quantity);
	bool less = v->gain >= 0;
	double sign = less ? 100 : -100;
	char was[QUANTITY_TEXT], is[QUANTITY_TEXT], on[32], than[120];

	buf_addf(out, "%s ", quantity_verb(v->quantity));
	if (isfinite(v->gain)) /* nothing is a share of a default that costs nothing */
		buf_addf(out, "%.2f%% ", sign * v->gain);
	buf_addf(out, "%s %s than %s (", less ? "less" : "more", quantity_noun(v->quantity), reference(v, than));
	if (exact)
		buf_addf(out, "%s instead of %s, ", quantity_text(v->quantity, v->tuned_seconds, is),
			quantity_text(v->quantity, v->default_seconds, was));
	else
		buf_addf(out, "%.0f%% interval %.2f%% to %.2f%%, ", 100 * VERDICT_COVERAGE,
			sign * (less ? v->low : v->high), sign * (less ? v->high : v->low));
	buf_addf(out, "%s%s%s)", cost_kind_name(v->kind), v->few && !exact ? " by few runs" : "", exact ? ""
		: on_cores(v, on));
}

static void tell_tuned(const struct verdict *v, struct buf *out)
{
	struct buf kept = {0};

	list_limits(v, LIMIT_KEPT, &kept);
	buf_adds(out, "The tuned program ");
	tell_objective(v, out);
	if (kept.len)
		buf_addf(out, ", %s", kept.data);
	buf_adds(out, needed(v) ? ", which the default is not." : ".");
	buf_release(&kept);
}

/* What would make the interval narrower. */
static const char *narrower(const struct verdict *v)
{
	if (v->few)
		return " More --verdict-seconds make the interval narrower.";
	return v->high - v->low > WIDE ? " Other work on this machine made the interval so wide; --from with "
		"--budget 0 measures once more." : "";
}

/* Tells why the default is the answer although both ran and their numbers agree. */
static void tell_default(const struct verdict *v, struct buf *out)
{
	struct buf broken = {0}, unsure = {0};
	char on[32];

	list_limits(v, LIMIT_BROKEN, &broken);
	list_limits(v, LIMIT_UNSURE, &unsure);
	if (broken.len || unsure.len) {
		buf_adds(out, "The tuned program ");
		tell_objective(v, out);
		buf_addf(out, ", but is %s; the default is the answer.", broken.len ? broken.data : unsure.data);
	} else {
		buf_addf(out, "The whole program shows no sure gain "
			"(%+.2f%%, %.0f%% interval %+.2f%% to %+.2f%%%s%s%s); "
			       "the default is the answer.%s", 100 * v->gain, 100 * VERDICT_COVERAGE, 100 * v->low,
			       100 * v->high,
			v->few ? ", by few runs" : "", v->cores ? "," : "", on_cores(v, on), narrower(v));
	}
	buf_release(&broken);
	buf_release(&unsure);
}

/* For programs that were not run: tells whose estimate it is, and what a gain by the compiler's own estimate means. */
static void tell_estimate(const struct verdict *v, struct buf *out)
{
	struct buf beyond = {0};
	char than[120];

	list_limits(v, LIMIT_BROKEN, &beyond);
	buf_addf(out, "By %s the %s ", v->estimator, v->tuned || beyond.len ? "tuned program would"
		: "whole program would");
	if (v->tuned || beyond.len)
		buf_addf(out, "take %.2f%% less %s than %s", 100 * v->gain, quantity_noun(v->quantity),
			v->reference ? reference(v, than) : v->restated > 0 ? "the compiler's own decisions"
			: "the compiler's own");
	else
		buf_addf(out, "gain nothing (%+.2f%%, %s: nothing was run); %s is the answer.",
			round(1e4 * v->gain) / 100 + 0, /* never -0 */
			cost_kind_name(v->kind), v->reference ? reference(v, than) : "the default");
	if (beyond.len)
		buf_addf(out, ", but be %s; the default is the answer.", beyond.data);
	else if (v->tuned && v->reference)
		buf_addf(out, " (%s).", cost_kind_name(v->kind));
	else if (v->tuned) {
		buf_adds(out, " (estimated: nothing was run). ");
		if (v->restated > 0)
			buf_addf(out, "Applied by us, these decisions are estimated at %.2f%% less than the "
				"compiler's own program; no decision gains that, so it is not counted. ",
				100 * v->restated);
		buf_adds(out, "The compiler decides by that model, too: it did not try this, or forbids it by a rule "
			"that we do not know.");
	}
	buf_release(&beyond);
}

static void tell_nothing(const struct verdict *v, struct buf *out)
{
	struct buf broken = {0};
	char than[120];

	list_limits(v, LIMIT_BROKEN, &broken);
	buf_addf(out, "Nothing better than %s was found; %s is the answer", v->reference ? reference(v, than)
		: "the default", v->reference ? "that" : "the default");
	if (broken.len)
		buf_addf(out, ", though it is %s", broken.data);
	buf_adds(out, ".");
	buf_release(&broken);
}

static void tell_belief(const struct verdict *v, struct buf *out)
{
	char change[QUANTITY_TEXT], error[QUANTITY_TEXT];

	buf_addf(out, "Nothing is claimed, for the program was not run: by its parts, "
		"each measured alone, what was found %s %s %s %s than the compiler's default (standard error %s). It "
		"is written as tuned.pb, to be measured where it can be run.",
		quantity_verb(v->quantity), quantity_text(v->quantity, fabs(v->believed.value), change),
		v->believed.value < 0 ? "less" : "more",
		quantity_noun(v->quantity), quantity_text(v->quantity, v->believed.se, error));
}

void verdict_words(struct verdict *v)
{
	struct buf s = {0};

	if (v->forgone)
		tell_belief(v, &s);
	else if (!v->measured)
		tell_nothing(v, &s);
	else if (v->outcome != OUTCOME_OK)
		buf_addf(&s, "The tuned program and the compiler's own could not both be run to the end (%s); the "
			"default is the answer.",
			outcome_name(v->outcome));
	else if (v->numbers.silent)
		buf_addf(&s, "Nobody can tell whether the tuned program computes what the compiler's own does (%s); "
			     "the default is the answer.", v->numbers.detail);
	else if (v->numbers.outcome == OUTCOME_WRONG_NUMBERS)
		buf_addf(&s, "The tuned program computes other numbers than the compiler's own (%s); "
			     "the default is the answer.", v->numbers.detail);
	else if (v->numbers.outcome != OUTCOME_OK)
		buf_addf(&s, "The tuned program does not run on everything that the compiler's own does (%s); "
			     "the default is the answer.", v->numbers.detail);
	else if (*v->estimator)
		tell_estimate(v, &s);
	else if (v->tuned)
		tell_tuned(v, &s);
	else
		tell_default(v, &s);
	snprintf(v->sentence, sizeof v->sentence, "%s", s.data);
	buf_release(&s);
}

const char *verdict_attention(const struct verdict *v)
{
	if (!v->prepares || !(v->tuned || v->forgone))
		return NULL;
	return "ATTENTION: tuned.pb TAKES OTHER PARAMETERS than your program. Run prepare.pb, which lies beside it, "
	       "once, and again whenever a parameter that you named changes: it takes those of them that it prepares, "
	       "in order. tuned.pb then takes what is left of your program's parameters, in order, and after them what "
	       "prepare.pb gave. The figures are of tuned.pb alone.";
}
