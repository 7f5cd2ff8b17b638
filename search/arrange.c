/*
 * arrange.c - see arrange.h.
 */
#include "search/arrange.h"

#include <stdio.h>
#include <string.h>
#include "base/io.h"
#include "base/progress.h"
#include "base/stop.h"
#include "device/stage.h"
#include "hlo/module.h"
#include "space/order/order.h"
#include "space/order/write.h"

/* Asks the compiler how it arranges a module; takes over its order if `order` says so. */
static int ask(struct arrange *a, enum compile_how how, const char *options, const struct buf *module, bool take,
	uint64_t *bytes, struct err *err)
{
	struct arranged out;
	struct arena mem = {0};
	Hlo__HloModuleProto *m;
	int rc = device_arrange(a->device, how, options, module->data, module->len, &out, err);

	if (rc < 0)
		return -1;
	a->labels++;
	a->label_seconds += out.seconds;
	if (out.outcome != OUTCOME_OK)
		rc = err_set(err, "%s cannot be arranged in memory: %s: %.300s", a->lab->subject.name,
			outcome_meaning(out.outcome), out.detail);
	if (rc == 0)
		rc = order_figure(out.proto.data, out.proto.len, bytes, err);
	if (rc == 0 && take) {
		m = hlo_unpack(&mem, out.proto.data, out.proto.len, "the arranged program", err);
		rc = m ? order_read(order_program(a->lab->space), m, NULL, NULL, err) : -1;
	}
	arena_release(&mem);
	arranged_release(&out);
	return rc;
}

/* Adds the program's present orders under a name, with the bytes that the compiler says they need. */
static int add_way(struct arrange *a, const char *name, uint64_t bytes)
{
	struct program *p = order_program(a->lab->space);
	const struct course *c = &p->course[p->graph->entry];
	struct arrangement *w = &a->way[a->n_ways++];

	program_settle(p);
	*w = (struct arrangement){.name = name, .bytes = bytes, .model = program_bytes(p), .n = c->line->n};
	w->alive = MEM_NEW(w->n, double);
	for (uint32_t i = 0; i < w->n; i++)
		w->alive[i] = (double)c->bytes[i];
	return 0;
}

static int ask_chained(struct arrange *a, uint64_t *bytes, struct err *err)
{
	struct buf module = {0};
	int rc;

	order_write(order_program(a->lab->space), &module);
	rc = ask(a, COMPILE_APPLIED, NULL, &module, false, bytes, err);
	buf_release(&module);
	return rc;
}

/* Asks what the compiler's own ways need. Leaves the program in the better order. */
static int ask_ways(struct arrange *a, struct err *err)
{
	struct space *s = a->lab->space;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	const struct stage *stage = stage_find(s->kind, device_info(a->device)->family);
	uint64_t bytes;
	uint32_t best = 0;
	int rc = ask(a, COMPILE_DEFAULT, NULL, &a->lab->subject.original, false, &a->default_bytes, err);

	order_set(s, config);
	if (rc == 0)
		rc = ask_chained(a, &bytes, err);
	if (rc == 0)
		rc = add_way(a, "default", bytes);
	for (const struct stage_way *w = NULL; rc == 0 && a->n_ways < 3 && (w = stage_way(stage, w));) {
		rc = ask(a, COMPILE_APPLIED, w->options, &a->lab->subject.bytes, true, &bytes, err);
		if (rc < 0)
			break;
		order_set_base(s, ORDER_DEPTH_FIRST);
		rc = add_way(a, w->name, bytes);
		if (a->way[a->n_ways - 1].bytes < a->way[best].bytes)
			best = a->n_ways - 1;
	}
	a->better = best > 0;
	order_base_set(s, config, best ? ORDER_DEPTH_FIRST : ORDER_COMPILER);
	if (rc == 0)
		order_set(s, config);
	mem_free(config);
	return rc;
}

struct talk {
	struct progress progress;
	double from, to; /* shares of the whole search */
};

static void show(void *with, double share, uint64_t bytes)
{
	struct talk *t = with;
	char detail[80], text[QUANTITY_TEXT];

	snprintf(detail, sizeof detail, "%% of the time, %s by the model", quantity_text(QUANTITY_BYTES, (double)bytes, text));
	progress_update(&t->progress, (uint64_t)(100 * (t->from + (t->to - t->from) * share)), detail);
}

/* From the order that the program stands in and the one it does not; the best by the compiler's word becomes a base. */
static int look_for_better(struct arrange *a, struct err *err)
{
	struct space *s = a->lab->space;
	struct program *p = order_program(s);
	const struct order_strategy *how = a->set->strategy ? a->set->strategy : order_strategies;
	struct talk talk = {.from = 0, .to = 1};
	struct tune_options o = {.seconds = a->set->seconds, .moves = a->set->budget, .stop = stop_asked, .progress = show,
		.with = &talk};
	struct tune_result r = {0};
	struct rng rng;
	uint64_t best = a->way[0].bytes, bytes;
	int rc;

	if (a->n_ways > 1)
		o.other = order_base_orders(s, a->better ? ORDER_COMPILER : ORDER_DEPTH_FIRST);
	for (uint32_t i = 1; i < a->n_ways; i++)
		best = a->way[i].bytes < best ? a->way[i].bytes : best;
	order_set_base(s, ORDER_FOUND); /* so that no order worse than the better way is the answer */
	rng_seed(&rng, a->set->seed);
	progress_start(&talk.progress, "search", 100, a->set->quiet ? PROGRESS_QUIET : PROGRESS_AUTO);
	rc = how->run(p, &o, &rng, &r, err);
	progress_end(&talk.progress);
	a->moves = r.moves;
	a->seconds = r.seconds;
	if (rc == 0)
		rc = ask_chained(a, &bytes, err);
	if (rc == 0 && bytes < best)
		order_set_base(s, ORDER_FOUND);
	return rc;
}

/* Compares the outputs of both, bit by bit, on all kinds of input. */
static int compare_bits(struct arrange *a, struct compiled *own, struct compiled *tuned, struct err *err)
{
	a->bits_equal = true;
	for (int i = 0; i < INPUTS_COUNT && a->bits_equal; i++) {
		struct compare_options o = {.inputs = (enum inputs)i, .fresh = true};
		struct comparison c;
		if (device_compare(a->device, own, tuned, &o, &c, err) < 0)
			return -1;
		a->bits_equal = c.outcome == OUTCOME_OK && c.all.max_abs == 0 && c.all.unlike == 0;
		comparison_release(&c);
	}
	return 0;
}

static int put(const struct arrange *a, const char *name, const void *p, size_t n, struct err *err)
{
	struct buf path = {0};
	int rc;

	buf_addf(&path, "%s/%s", a->set->dir, name);
	rc = io_write_file(path.data, p, n, err);
	buf_release(&path);
	return rc;
}

/* Compiles both programs completely, compares their bits, and keeps the tuned executable. */
static int prove(struct arrange *a, const uint8_t *config, struct err *err)
{
	const struct buf *original = &a->lab->subject.original;
	struct compiled own = {0}, tuned = {0};
	struct buf module = {0};
	int rc = a->lab->space->ops->apply(a->lab->space, config, &module, err);

	if (rc == 0)
		rc = device_compile(a->device, COMPILE_DEFAULT, "hlo", original->data, original->len, 0, &own, err);
	if (rc == 0)
		rc = device_compile(a->device, COMPILE_APPLIED, "hlo", module.data, module.len, WANT_SERIALISED, &tuned, err);
	if (rc == 0 && own.outcome == OUTCOME_OK && tuned.outcome == OUTCOME_OK)
		rc = compare_bits(a, &own, &tuned, err);
	if (rc == 0)
		rc = put(a, "tuned.pb", module.data, module.len, err);
	if (rc == 0 && tuned.serialised.len)
		rc = put(a, "tuned.exe", tuned.serialised.data, tuned.serialised.len, err);
	compiled_release(&own);
	compiled_release(&tuned);
	buf_release(&module);
	return rc;
}

static void judge(struct arrange *a)
{
	const struct arrangement *found = &a->way[a->n_ways - 1];
	const struct verdict *v = &a->verdict;
	double saved = a->default_bytes ? 1 - (double)found->bytes / (double)a->default_bytes : 0;
	char text[2][QUANTITY_TEXT];
	size_t n = sizeof a->sentence;
	struct buf limit = {0};

	limit_text(&a->limit, &limit);
	quantity_text(QUANTITY_BYTES, (double)a->default_bytes, text[0]);
	quantity_text(QUANTITY_BYTES, (double)found->bytes, text[1]);
	a->tuned = false;
	if (saved <= 0)
		snprintf(a->sentence, n, "No order was found that needs less temporary memory than the compiler's (%s); the default is "
			"the answer.", text[0]);
	else if (!a->bits_equal)
		snprintf(a->sentence, n, "The tuned program could not be shown to compute the same bits; the default is the answer.");
	else if (v->outcome != OUTCOME_OK || v->numbers.outcome != OUTCOME_OK)
		snprintf(a->sentence, n, "The tuned program could not be run to the end; the default is the answer.");
	else if (a->limited && limit_excess(&a->limit, v->default_seconds, v->tuned_seconds) > 0)
		snprintf(a->sentence, n, "The tuned program needs %.1f%% less temporary memory, but takes %.1f%% more time (95%% interval "
			"%+.1f%% to %+.1f%%), more than %s allows; the default is the answer.", 100 * saved, -100 * v->gain,
			-100 * v->high, -100 * v->low, limit.data);
	else
		a->tuned = true;
	if (a->tuned)
		snprintf(a->sentence, n, "The tuned program needs %.2f%% less temporary memory than the compiler's default (%s instead of "
			"%s), computes the same bits, and takes %+.1f%% time (95%% interval %+.1f%% to %+.1f%%).", 100 * saved, text[1],
			text[0], -100 * v->gain, -100 * v->high, -100 * v->low);
	buf_release(&limit);
}

static int write_all(struct arrange *a, struct err *err)
{
	const struct buf *original = &a->lab->subject.original;
	struct buf out = {0};
	char options[600];
	int rc = put(a, "default.pb", original->data, original->len, err);

	snprintf(options, sizeof options, "%s\n", a->tuned ? "xla_disable_all_hlo_passes=true" : "");
	if (rc == 0 && !a->tuned)
		rc = put(a, "tuned.pb", original->data, original->len, err);
	if (rc == 0)
		rc = put(a, "options.txt", options, a->tuned ? strlen(options) : 0, err);
	arrange_config(a, &out);
	if (rc == 0)
		rc = put(a, "config.json", out.data, out.len, err);
	buf_reset(&out);
	arrange_page(a, &out);
	if (rc == 0)
		rc = put(a, "report.html", out.data, out.len, err);
	buf_release(&out);
	return rc;
}

/* The limit on time is judged here, not by the verdict, whose objective time is. */
static int take_limit(struct arrange *a, struct err *err)
{
	struct lab *l = a->lab;

	for (uint32_t i = 0; i < l->n_limits; i++) {
		if (l->limit[i].limit.quantity != QUANTITY_SECONDS)
			return err_set(err, "the bytes of an order can be limited in seconds, not in %s",
				quantity_name(l->limit[i].limit.quantity));
		a->limit = l->limit[i].limit;
		a->limited = true;
	}
	return 0;
}

int arrange_search(struct arrange *a, struct err *err)
{
	struct space *s = a->lab->space;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	uint64_t bytes = 0;
	int rc = take_limit(a, err);

	if (rc == 0)
		rc = ask_ways(a, err);
	if (rc == 0)
		rc = look_for_better(a, err);
	order_base_set(s, config, ORDER_FOUND);
	order_set(s, config);
	if (rc == 0)
		rc = ask_chained(a, &bytes, err);
	if (rc == 0)
		rc = add_way(a, "tuned", bytes);
	if (rc == 0)
		rc = prove(a, config, err);
	lab_drop_costs(a->lab);
	a->lab->n_limits = 0;
	device_close(a->device);
	a->device = NULL;
	a->lab->quantity = QUANTITY_SECONDS; /* bytes are known already; the verdict is about time */
	if (rc == 0 && bytes < a->default_bytes && a->bits_equal)
		rc = verdict_reach(&a->verdict, a->lab, config, &(struct verdict_options){a->device_options,
			a->set->verdict_seconds, a->set->seconds}, err);
	if (rc == 0)
		judge(a);
	if (rc == 0)
		rc = write_all(a, err);
	mem_free(config);
	return rc;
}

void arrange_release(struct arrange *a)
{
	for (uint32_t i = 0; i < a->n_ways; i++)
		mem_free(a->way[i].alive);
	device_close(a->device);
	*a = (struct arrange){0};
}
