/*
 * order.c - tests orders on the real compiler: is our model of its memory right, are orders kept, what does tuning
 * find?
 *
 *	build/release/bench/order [--seconds N] [--strategy NAME] [--configs N] [--bits N] GRAPH...
 *
 * For each program it prints these lines:
 *
 *	model	our bytes against the compiler's, for its default order, our depth-first order, and its other ways; and
 *		what its own program needs, in which nothing is forced
 *	random	of N random configurations: how many the compiler ran exactly as asked, how far the model is off, and in
 *		which share of pairs it ranks two orders as the compiler does
 *	bits	of the first N of these: how many compute the very same bits as the default, on all kinds of input
 *	tuned	what so many seconds of a strategy find, by the compiler's word, against the better of its own ways;
 *		newer XLA has no depth-first way, so orders.py compares with our depth-first order, too
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/opt.h"
#include "base/progress.h"
#include "device/stage.h"
#include "hlo/module.h"
#include "ready/subject.h"
#include "space/order/order.h"
#include "space/order/strategy.h"
#include "space/order/write.h"

struct settings {
	double seconds;
	int64_t configs, bits, core, seed;
	const char *strategy, *device;
};

/* The compiler's figure for a module; with `same`, whether it runs in the orders the program has. */
static int ask(struct device *d, const struct buf *module, const char *options, struct program *p, uint64_t *bytes,
	bool *same, struct err *err)
{
	struct arranged a;
	struct arena mem = {0};
	uint32_t equal = 0, all = 0;
	int rc = device_arrange(d, COMPILE_APPLIED, options, module->data, module->len, &a, err);

	if (rc == 0 && a.outcome != OUTCOME_OK)
		rc = err_set(err, "not arranged: %.300s", a.detail);
	if (rc == 0)
		rc = order_figure(a.proto.data, a.proto.len, bytes, err);
	if (rc == 0) {
		Hlo__HloModuleProto *m = hlo_unpack(&mem, a.proto.data, a.proto.len, "the arranged program", err);
		rc = m ? order_read(p, m, &equal, &all, err) : -1;
	}
	if (same)
		*same = equal == all;
	arena_release(&mem);
	arranged_release(&a);
	return rc;
}

static int ask_chained(struct device *d, struct program *p, uint64_t *bytes, bool *same, struct err *err)
{
	struct buf module = {0};
	int rc;

	order_write(p, &module);
	rc = ask(d, &module, NULL, p, bytes, same, err);
	buf_release(&module);
	return rc;
}

/* How much more; 0 where there is nothing. */
static double percent(uint64_t model, uint64_t truth)
{
	return truth ? 100 * ((double)model / (double)truth - 1) : 0;
}

static int try_random(struct device *d, struct space *s, const struct settings *set, struct rng *r, struct err *err)
{
	uint64_t *truth = MEM_NEW(set->configs, uint64_t), *model = MEM_NEW(set->configs, uint64_t);
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	uint32_t kept = 0, pairs = 0, alike = 0;
	double worst = 0;
	int rc = 0;

	for (int64_t i = 0; i < set->configs && rc == 0; i++) {
		bool same = false;
		space_random(s, 0.02 + 0.9 * (double)i / (double)set->configs, r, config);
		model[i] = (uint64_t)s->ops->formula(s, config, QUANTITY_BYTES);
		rc = ask_chained(d, order_program(s), &truth[i], &same, err);
		kept += same;
		if (rc == 0 && truth[i])
			worst = fmax(worst, fabs((double)model[i] / (double)truth[i] - 1));
		for (int64_t k = 0; k < i; k++) {
			if (truth[i] == truth[k])
				continue;
			pairs++;
			alike += (truth[i] < truth[k]) == (model[i] < model[k]) && model[i] != model[k];
		}
	}
	if (rc == 0)
		printf("  random: %u of %lld exactly as asked; model off by %.2f%% "
			"at most; %u of %u pairs ranked alike (%.1f%%)\n", kept,
			(long long)set->configs, 100 * worst, alike, pairs, pairs ? 100.0 * alike / pairs : 100);
	mem_free(truth);
	mem_free(model);
	mem_free(config);
	return rc;
}

/* 1: both compute the same bits on all kinds of input. */
static int same_bits(struct device *d, const struct compiled *a, const struct compiled *b, struct err *err)
{
	for (int i = 0; i < INPUTS_COUNT; i++) {
		struct compare_options o = {.inputs = (enum inputs)i, .fresh = true};
		struct comparison c;
		bool same;
		if (device_compare(d, a, b, &o, &c, err) < 0)
			return -1;
		same = c.outcome == OUTCOME_OK && c.all.max_abs == 0 && c.all.unlike == 0;
		comparison_release(&c);
		if (!same)
			return 0;
	}
	return 1;
}

static int try_bits(struct device *d, struct subject *s, const struct settings *set, struct rng *r, struct err *err)
{
	uint8_t *config = MEM_NEW(s->space->n_sites + 1, uint8_t);
	struct compiled own = {0};
	uint32_t same = 0;
	int rc = device_compile(d, COMPILE_DEFAULT, "hlo", s->original.data, s->original.len, 0, &own, err);

	for (int64_t i = 0; i < set->bits && rc == 0; i++) {
		struct compiled one = {0};
		struct buf module = {0};
		space_random(s->space, 0.02 + 0.9 * (double)i / (double)set->bits, r, config);
		rc = s->space->ops->apply(s->space, config, &module, err);
		if (rc == 0)
			rc = device_compile(d, COMPILE_APPLIED, "hlo", module.data, module.len, 0, &one, err);
		if (rc == 0)
			rc = one.outcome == OUTCOME_OK ? same_bits(d, &own, &one, err) : 0;
		same += rc == 1;
		rc = rc == 1 ? 0 : rc;
		if (one.handle)
			device_drop(d, &one, &(struct err){0});
		compiled_release(&one);
		buf_release(&module);
	}
	if (rc == 0)
		printf("  bits: %u of %lld as the default's\n", same, (long long)set->bits);
	compiled_release(&own);
	mem_free(config);
	return rc;
}

/* What our own depth-first order needs. Leaves the program in that order. */
static int try_depth_first(struct device *d, struct space *s, uint8_t *config, struct err *err)
{
	uint64_t bytes, model;

	order_base_set(s, config, ORDER_DEPTH_FIRST);
	model = order_bytes(s, config);
	if (ask_chained(d, order_program(s), &bytes, NULL, err) < 0)
		return -1;
	printf("; depth-first by us %llu, %llu (%+.2f%%)", (unsigned long long)model, (unsigned long long)bytes,
		percent(model, bytes));
	order_base_set(s, config, ORDER_COMPILER);
	return 0;
}

/* Says what the compiler's own program needs, and how far from that the same order is, if it is forced. */
static int say_own(struct device *d, const struct buf *original, uint64_t forced, struct err *err)
{
	struct arranged a;
	uint64_t own = 0;
	int rc = device_arrange(d, COMPILE_DEFAULT, NULL, original->data, original->len, &a, err);

	if (rc == 0 && a.outcome == OUTCOME_OK)
		rc = order_figure(a.proto.data, a.proto.len, &own, err);
	if (rc == 0)
		printf("; own %llu, so forced is %+.2f%%\n", (unsigned long long)own, percent(forced, own));
	arranged_release(&a);
	return rc;
}

static int try_program(const char *path, struct device *d, const struct settings *set, struct err *err)
{
	struct subject s = {0};
	struct tune_options o = {.seconds = set->seconds};
	struct tune_result t;
	struct rng r;
	uint64_t dflt, way, best, found, model;
	struct program *p;
	uint8_t *config;
	int rc = subject_open(&s, path, order_kind.name, d, err);

	if (rc < 0)
		return -1;
	rng_seed(&r, (uint64_t)set->seed);
	config = MEM_NEW(s.space->n_sites + 1, uint8_t);
	order_set(s.space, config);
	p = order_program(s.space);
	program_settle(p);
	model = program_bytes(p);
	rc = ask_chained(d, p, &dflt, NULL, err);
	best = dflt;
	if (rc == 0)
		printf("%s: %u sites; model %llu, compiler %llu (%+.2f%%)", s.name, s.space->n_sites,
			(unsigned long long)model, (unsigned long long)dflt, percent(model, dflt));
	rc = rc == 0 ? try_depth_first(d, s.space, config, err) : rc;
	for (const struct stage_way *w = stage_way(stage_find(order_kind.name, device_info(d)->family)); rc == 0 && w;
		w = NULL) {
		if ((rc = ask(d, &s.bytes, w->options, p, &way, NULL, err)) < 0)
			break;
		program_settle(p);
		model = program_bytes(p);
		printf("; %s %llu, %llu (%+.2f%%)", w->name, (unsigned long long)model, (unsigned long long)way,
			percent(model, way));
		order_set_base(s.space, ORDER_DEPTH_FIRST);
		p = order_program(s.space);
		o.other = order_base_orders(s.space, way < best ? ORDER_COMPILER : ORDER_DEPTH_FIRST);
		order_base_set(s.space, config, way < best ? ORDER_DEPTH_FIRST : ORDER_COMPILER);
		best = way < best ? way : best;
	}
	rc = rc == 0 ? say_own(d, &s.original, dflt, err) : rc;
	if (rc == 0 && set->configs)
		rc = try_random(d, s.space, set, &r, err);
	if (rc == 0 && set->bits)
		rc = try_bits(d, &s, set, &r, err);
	order_set(s.space, config);
	p = order_program(s.space);
	if (rc == 0 && set->seconds > 0) {
		rc = order_strategy_find(set->strategy)->run(p, &o, &r, &t, err);
		if (rc == 0)
			rc = ask_chained(d, p, &found, NULL, err);
		if (rc == 0)
			printf("  tuned: %llu by the compiler, %llu by the model; %.2f%% below "
				"the better of its ways; %llu moves in %.0f s\n",
				(unsigned long long)found, (unsigned long long)t.bytes,
				100 * (1 - (double)found / (double)best), (unsigned long long)t.moves, t.seconds);
	}
	fflush(stdout);
	mem_free(config);
	subject_release(&s);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings set = {.seconds = 20, .configs = 10, .core = -1, .seed = 1,
		.strategy = order_strategies[0].name};
	const struct opt table[] = {
		OPT_NUM(0, "seconds", &set.seconds, 0, 1e6, "of a strategy on each program; 0: none"),
		OPT_STR(0, "strategy", &set.strategy, "NAME", "guided, anneal, regal, brkga, sweep, random or exact"),
		OPT_INT('n', "configs", &set.configs, 0, 100000, "random configurations of each program"),
		OPT_INT(0, "bits", &set.bits, 0, 100000, "random configurations of each program that are run"),
		OPT_STR('d', "device", &set.device, "NAME", "device; default: the first"),
		OPT_INT(0, "core", &set.core, -1, 1023, "core to use; -1: the least loaded"),
		OPT_INT('s', "seed", &set.seed, 0, INT64_MAX, "random seed"), OPT_END};
	const struct opt_program prog = {"order", "[OPTIONS] GRAPH...",
		"Holds our model of the compiler's memory against the compiler, and tunes orders.", table};
	struct device_options o = {.kind = order_kind.name, .wait = true};
	struct device *d = NULL;
	struct err err = {0};
	int n = 0, rc;

	err_program(prog.name);
	rc = opt_parse(&prog, argc, argv, &n, &err);
	if (rc == 0 && !order_strategy_find(set.strategy))
		rc = err_set(&err, "there is no strategy %.60s", set.strategy);
	o.core = (int)set.core + 1;
	o.backend = set.device;
	if (rc == 0 && !(d = device_open(&o, &err)))
		rc = -1;
	for (int i = 0; rc == 0 && i < n; i++)
		rc = try_program(argv[i], d, &set, &err);
	device_close(d);
	return rc < 0 ? err_exit(&err) : 0;
}
