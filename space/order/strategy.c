/*
 * strategy.c - the table of strategies (strategy.h).
 */
#include <string.h>
#include "space/order/exact.h"
#include "space/order/strategy.h"
#include "space/order/trial.h"

static int run(void (*how)(struct trial *), struct program *p, const struct tune_options *o, struct rng *r,
	struct tune_result *out)
{
	struct trial t;

	trial_begin(&t, p, o, r, out);
	how(&t);
	trial_end(&t);
	return 0;
}

static int run_anneal(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out,
	struct err *err)
{
	(void)err;
	tune(p, o, r, out);
	return 0;
}

static int run_guided(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out,
	struct err *err)
{
	(void)err;
	guided_run(p, o, r, out);
	return 0;
}

static int run_regal(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out,
	struct err *err)
{
	(void)err;
	return run(regal_run, p, o, r, out);
}

static int run_brkga(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out,
	struct err *err)
{
	(void)err;
	return run(brkga_run, p, o, r, out);
}

static int run_sweep(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out,
	struct err *err)
{
	(void)err;
	return run(sweep_run, p, o, r, out);
}

static int run_random(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out,
	struct err *err)
{
	(void)err;
	return run(random_run, p, o, r, out);
}

static int run_exact(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out,
	struct err *err)
{
	uint32_t entry = p->graph->entry;
	struct trial t;
	uint64_t bytes;
	int rc;

	trial_begin(&t, p, o, r, out);
	for (uint32_t i = 0; i < p->n_values; i++)
		if (p->value[i].result && p->value[i].size > 64) {
			trial_end(&t);
			return err_set(err, "the best of all orders is found only for programs that "
				"return nothing large: what is in the memory of results depends on the order");
		}
	rc = exact_order(program_line(p, entry), EXACT_SETS, p->order[entry], &bytes, err);
	if (rc == 0)
		trial_bytes(&t);
	trial_end(&t);
	return rc;
}

const struct order_strategy order_strategies[] = {{"guided", run_guided}, {"anneal", run_anneal},
	{"regal", run_regal}, {"brkga", run_brkga}, {"sweep", run_sweep}, {"random", run_random}, {"exact", run_exact},
	{0}};

const struct order_strategy *order_strategy_find(const char *name)
{
	for (const struct order_strategy *s = order_strategies; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}
