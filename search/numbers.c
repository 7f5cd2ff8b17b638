/*
 * numbers.c - see the header. What takes longer is asked only if what was asked before is not enough: further nudges,
 * then the two programs of "plain", which must be compiled, then those in 64 bits, which are also slow to run.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "base/talk.h"
#include "device/room.h"
#include "hlo/draws.h"
#include "hlo/widen.h"
#include "search/numbers_judge.h"

/* The programs that are compared. The last two are in 64 bits. */
enum side { OWN, TUNED, READ_BACK, PLAIN, EXACT, TUNED_EXACT, SIDES };

/* What is not given is compiled when first wanted. */
struct check {
	const struct numbers_job *job;
	bool fresh;
	struct numbers_kept *kept; /* READ_BACK to EXACT */
	struct numbers_side exact; /* TUNED_EXACT */
};

static struct numbers_side *side_of(struct check *c, enum side side)
{
	return side == TUNED_EXACT ? &c->exact : &c->kept->side[side - READ_BACK];
}

static bool has_none(struct check *c, enum side side)
{
	return side >= READ_BACK && side_of(c, side)->none;
}

static struct compiled *program_of(struct check *c, enum side side)
{
	return side == OWN ? c->job->own : side == TUNED ? c->job->tuned : &side_of(c, side)->program;
}

/* The configuration of one of our programs; freed by the caller. */
static uint8_t *config_of(const struct check *c, enum side side)
{
	struct space *s = c->job->space;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);

	if (side == TUNED || side == TUNED_EXACT)
		memcpy(config, c->job->config, s->n_sites);
	if (side == READ_BACK)
		space_default(s, config);
	return config;
}

static bool made_from_original(enum side side)
{
	return side == OWN || side == EXACT;
}

static enum compile_how how_of(const struct check *c, enum side side)
{
	bool tuned = side == TUNED || side == TUNED_EXACT;

	return made_from_original(side) ? COMPILE_DEFAULT : tuned && c->job->how ? c->job->how : COMPILE_APPLIED;
}

/* What is to be compiled, before it is widened. */
static int make_module(const struct check *c, enum side side, struct buf *out, struct err *err)
{
	const struct numbers_job *job = c->job;
	const struct space_ops *ops = job->space->ops;
	const struct buf *given = made_from_original(side) ? job->original : side == READ_BACK || side == PLAIN ? NULL :
		job->module;
	uint8_t *config = config_of(c, side);
	int rc = 0;

	if (given)
		buf_add(out, given->data, given->len);
	else
		rc = (ops->apply_whole ? ops->apply_whole : ops->apply)(job->space, config, out, err);
	mem_free(config);
	return rc;
}

/* Compiles a program in 64 bits. If there is none, or no room for it, its outcome says so. */
static int compile_exact(struct check *c, enum side side, const struct buf *module, struct err *err)
{
	enum compile_how how = how_of(c, side);
	struct compiled *p = program_of(c, side);
	struct device *d = c->job->device;
	struct buf wide = {0};
	int rc = 0;

	if (hlo_widen(module->data, module->len, "the program", &wide, NULL) < 0)
		p->outcome = OUTCOME_REFUSED;
	else
		rc = device_compile(d, how, "hlo", wide.data, wide.len, WANT_MEMORY, p, err);
	if (rc == 0 && p->outcome == OUTCOME_OK &&
		!room_for(d, p->peak_bytes, "it", ROOM_OF_ALL, p->detail, sizeof p->detail))
		p->outcome = OUTCOME_OOM;
	side_of(c, side)->none |= p->outcome != OUTCOME_OK;
	buf_release(&wide);
	return rc;
}

static int compile(struct check *c, enum side side, struct err *err)
{
	enum compile_how how = how_of(c, side);
	struct compiled *p = program_of(c, side);
	struct buf module = {0};
	int rc = make_module(c, side, &module, err);

	compiled_release(p);
	if (rc == 0 && side >= EXACT)
		rc = compile_exact(c, side, &module, err);
	else if (rc == 0)
		rc = device_compile(c->job->device, how, "hlo", module.data, module.len, 0, p, err);
	buf_release(&module);
	return rc;
}

/* Makes sure that a program is on the device: one that was lost with its worker is compiled again. */
static int ensure(struct check *c, enum side side, struct err *err)
{
	struct compiled *p = program_of(c, side);

	if (p->outcome == OUTCOME_OK && p->handle && p->generation == device_generation(c->job->device))
		return 0;
	return compile(c, side, err);
}

/* Compares two programs, as compare() does, without looking for what was noted. */
static int ask(struct check *c, enum side a, enum side b, enum inputs inputs, uint8_t nudged,
	struct comparison *out, struct err *err)
{
	struct compare_options o = {.inputs = inputs, .nudged = nudged, .both = nudged && a >= EXACT,
		.fresh = c->fresh};
	struct compiled *x = program_of(c, a), *y = program_of(c, b);

	*out = (struct comparison){0};
	if (ensure(c, a, err) < 0 || ensure(c, b, err) < 0)
		return -1;
	if (x->outcome == OUTCOME_OK && y->outcome == OUTCOME_OK)
		return device_compare(c->job->device, x, y, &o, out, err);
	out->outcome = x->outcome != OUTCOME_OK ? x->outcome : y->outcome;
	snprintf(out->detail, sizeof out->detail, "%s", x->outcome != OUTCOME_OK ? x->detail : y->detail);
	return 0;
}

/* Compares a and b. If inputs are nudged, they are so for b, and for a as well if a computes in 64 bits. */
static int compare(struct check *c, enum side a, enum side b, enum inputs inputs, uint8_t nudged,
	struct comparison *out, struct err *err)
{
	bool kept = b != TUNED && b != TUNED_EXACT;
	int rc;

	if (kept && numbers_recall(c->kept, (uint8_t)a, (uint8_t)b, inputs, nudged, out))
		return 0;
	rc = ask(c, a, b, inputs, nudged, out, err);
	if (rc == 0 && kept && out->outcome == OUTCOME_OK)
		numbers_note(c->kept, (uint8_t)a, (uint8_t)b, inputs, nudged, out);
	return rc;
}

const char *numbers_inputs(const struct numbers *n, enum inputs i)
{
	return n->given && i == INPUTS_NORMAL ? "given" : inputs_name(i);
}

static void explain(struct numbers *n, const struct trial *t, enum inputs i)
{
	const struct numbers_on *on = &n->on[i];
	char *s = n->detail;
	size_t room = sizeof n->detail;

	if (t->tuned.outcome != OUTCOME_OK) {
		n->outcome = t->tuned.outcome;
		snprintf(s, room, "on %s inputs it does not run: %s: %.250s", numbers_inputs(n, i),
			outcome_meaning(n->outcome), t->tuned.detail);
		return;
	}
	n->outcome = OUTCOME_WRONG_NUMBERS;
	if (t->tuned.layouts_differ)
		snprintf(s, room, "it takes or leaves its values in other layouts than the compiler's own program");
	else if (on->unlike > on->unlike_allowed)
		snprintf(s, room,
			"on %s inputs, %llu elements of output %u are unlike: NaN, "
			"infinite or an integer otherwise, %llu allowed",
			numbers_inputs(n, i), (unsigned long long)on->unlike, on->output,
			(unsigned long long)on->unlike_allowed);
	else
		snprintf(s, room, "on %s inputs, output %u differs by %.2g relative%s, %.2g allowed",
			numbers_inputs(n, i), on->output, on->difference,
			on->exact ? " from what it is without rounding" : "", on->allowed);
}

/* Is choice 0 everywhere another program than the default as it was read back? */
static bool has_plain(const struct check *c)
{
	uint8_t *dflt = config_of(c, READ_BACK), *plain = config_of(c, PLAIN);
	bool differ = memcmp(dflt, plain, c->job->space->n_sites) != 0;

	mem_free(dflt);
	mem_free(plain);
	return differ;
}

/* How many terms node v adds up for each number that it gives, what it calls included; by computation in `inside`. */
static double terms_of(const struct graph *g, const struct comp *c, uint32_t v, const double *inside)
{
	const struct node *n = &g->node[v];
	double terms = 0;

	if (opcode_facts(n->opcode)->class != CLASS_CALL)
		return n->elements ? n->flops / (double)n->elements : 0;
	for (uint32_t k = 0; k < n->n_called; k++) {
		uint32_t callee = node_calls(g, v)[k];
		terms = fmax(terms, inside[callee] * fmax(1, g->comp[callee].trips / c->trips));
	}
	return terms;
}

/* The most terms that are added up on any way through the program, one sum after the other. */
static double longest_way(const struct graph *g)
{
	double *way = MEM_NEW(g->n_nodes + 1, double), *inside = MEM_NEW(g->n_comps, double), most;

	for (uint32_t c = 0; c < g->n_comps; c++)
		for (uint32_t v = g->comp[c].first; v < g->comp[c].first + g->comp[c].n_nodes; v++) {
			for (uint32_t k = 0; k < g->node[v].n_operands; k++)
				way[v] = fmax(way[v], way[node_operands(g, v)[k]]);
			way[v] += terms_of(g, &g->comp[c], v, inside);
			inside[c] = fmax(inside[c], way[v]);
		}
	most = fmax(1, inside[g->entry]);
	mem_free(way);
	mem_free(inside);
	return most;
}

/* Number `which` of the comparisons with the program in 64 bits, if there are such programs. */
static int compare_exact(struct check *c, enum inputs i, struct trial *t, int which, struct err *err)
{
	static const enum side with[] = {OWN, TUNED, TUNED_EXACT};

	if (has_none(c, EXACT) || has_none(c, with[which]))
		return 0;
	if (!program_of(c, EXACT)->handle)
		talk("its numbers differ by more than nudged inputs do; computing them in 64 bits to see why");
	return compare(c, EXACT, with[which], i, 0, &t->exact[which], err);
}

/* Measures how far the compiler's own program is off on nudged inputs: on these here it may be right by luck. */
static int compare_rounded(struct check *c, enum inputs i, struct trial *t, struct numbers_on *on, bool *good,
	struct err *err)
{
	for (uint8_t k = 0; k < NUMBERS_NUDGES && !*good && numbers_only_rounded(t, on); k++) {
		if (compare(c, EXACT, OWN, i, (uint8_t)(k + 1), &t->rounded[k], err) < 0)
			return -1;
		*good = numbers_judge(t, on);
	}
	return 0;
}

/* Asks one yardstick after the other until the numbers are good, or there is no more. */
static int measure_on(struct check *c, enum inputs i, struct trial *t, struct numbers_on *on, bool *good,
	struct err *err)
{
	*good = numbers_judge(t, on);
	for (uint8_t k = 1; k < NUMBERS_NUDGES && !*good && !t->tuned.layouts_differ; k++) {
		if (compare(c, OWN, OWN, i, (uint8_t)(k + 1), &t->nudged[k], err) < 0)
			return -1;
		*good = numbers_judge(t, on);
	}
	if (!*good && has_plain(c) && compare(c, READ_BACK, PLAIN, i, 0, &t->plain, err) < 0)
		return -1;
	*good = *good || numbers_judge(t, on);
	t->long_way = NUMBERS_LEAST * sqrt(longest_way(c->job->space->graph));
	for (int k = 0; k < 3 && !*good && !t->tuned.layouts_differ; k++) {
		if (compare_exact(c, i, t, k, err) < 0)
			return -1;
		*good = numbers_judge(t, on);
	}
	return compare_rounded(c, i, t, on, good, err);
}

/* Compares on one kind of input. The result goes to n->on[i], and the reason to n if it is not good enough. */
static int check_on(struct check *c, struct numbers *n, enum inputs i, struct trial *t, struct err *err)
{
	enum outcome own;
	bool good = false;

	if (compare(c, OWN, OWN, i, 1, &t->nudged[0], err) < 0)
		return -1;
	own = n->on[i].own = t->nudged[0].outcome;
	if (own != OUTCOME_OK) /* a program need not run on just any input */
		return 0;
	if (compare(c, OWN, TUNED, i, 0, &t->tuned, err) < 0)
		return -1;
	if (t->tuned.outcome == OUTCOME_OK && measure_on(c, i, t, &n->on[i], &good, err) < 0)
		return -1;
	if (!good)
		explain(n, t, i);
	return 0;
}

static void trial_release(struct trial *t)
{
	comparison_release(&t->tuned);
	for (int k = 0; k < NUMBERS_NUDGES; k++) {
		comparison_release(&t->nudged[k]);
		comparison_release(&t->rounded[k]);
	}
	comparison_release(&t->plain);
	for (int k = 0; k < 3; k++)
		comparison_release(&t->exact[k]);
}

static bool any_told(const struct numbers *n)
{
	for (int i = 0; i < INPUTS_COUNT; i++)
		if (n->on[i].told)
			return true;
	return false;
}

/* Is there time for one more kind of input, if it takes as long as those before it did on average? */
static bool time_for_another(const struct numbers *n, const struct numbers_job *job, double spent, int kinds)
{
	return job->seconds <= 0 || kinds == 0 || !any_told(n) || spent + spent / kinds <= job->seconds;
}

/* No kind of input told anything: one cause, if it is the same on all, or else what it may be. */
static void say_why_silent(struct numbers *out)
{
	enum outcome own = out->on[0].own;
	bool same = own != OUTCOME_OK;

	for (int i = 1; i < INPUTS_COUNT; i++)
		same = same && out->on[i].own == own;
	if (same)
		snprintf(out->detail, sizeof out->detail,
			"on every kind of input the compiler's own program ends so: %s", outcome_meaning(own));
	else
		snprintf(out->detail, sizeof out->detail,
			"on every kind of input the compiler's own program does not "
			"run, gives no finite number, or changes as much by rounding alone");
}

/* The k-th kind of input to ask, if one is to be the first. */
static enum inputs number_of(int k, enum inputs first)
{
	return k == 0 ? first : k <= (int)first ? (enum inputs)(k - 1) : (enum inputs)k;
}

int numbers_check(struct numbers *out, const struct numbers_job *job, struct err *err)
{
	double start = now_seconds();
	struct numbers_kept here = {0};
	struct check c = {.job = job, .fresh = hlo_draws(job->original->data, job->original->len),
		.kept = job->kept ? job->kept : &here};
	int rc = 0;

	*out = (struct numbers){.given = device_info(job->device)->inputs != 0};
	for (int k = 0; k < INPUTS_COUNT && rc == 0 && out->outcome == OUTCOME_OK; k++) {
		struct trial t = {0};
		enum inputs i = number_of(k, c.kept->refused);
		if (!time_for_another(out, job, now_seconds() - start, k))
			break;
		rc = check_on(&c, out, i, &t, err);
		if (out->outcome != OUTCOME_OK)
			c.kept->refused = i;
		trial_release(&t);
	}
	if (rc == 0 && out->outcome == OUTCOME_OK && !any_told(out)) {
		out->outcome = OUTCOME_WRONG_NUMBERS;
		out->silent = true;
		say_why_silent(out);
	}
	if (numbers_drop(&c.exact, job->device, rc == 0 ? err : NULL) < 0)
		rc = -1;
	if (numbers_forget(&here, job->device, rc == 0 ? err : NULL) < 0)
		rc = -1;
	return rc;
}

void numbers_kinds(const struct numbers *n, struct buf *out)
{
	for (int i = 0; i < INPUTS_COUNT; i++)
		if (n->on[i].told)
			buf_addf(out, "%s%s", out->len ? ", " : "", numbers_inputs(n, (enum inputs)i));
}

void numbers_worst(const struct numbers *n, double *difference, double *allowed)
{
	*difference = *allowed = 0;
	for (int i = 0; i < INPUTS_COUNT; i++) {
		const struct numbers_on *on = &n->on[i];
		if (on->told && (*allowed == 0 || on->difference * *allowed > *difference * on->allowed)) {
			*difference = on->difference;
			*allowed = on->allowed;
		}
	}
}
