/*
 * arrange.c - asks the compiler for its arrangements, looks for a better one, and proves it.
 */
#include "search/arrange.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/io.h"
#include "base/progress.h"
#include "base/stop.h"
#include "device/codegen.h"
#include "device/stage.h"
#include "search/output.h"

#define TRIES 3 /* at finding whether the limit on time is kept */

static const struct space_arranging *kind_of(const struct arrange *a)
{
	return a->lab->space->ops->kind->arranging;
}

/* Asks the compiler how it arranges a module, and what that needs. If `taken` is given, it gets that arrangement. */
static int ask(struct arrange *a, enum compile_how how, const char *options, const struct buf *module, uint8_t *taken,
	uint64_t *bytes, struct err *err)
{
	struct arranged out;
	int rc = device_arrange(a->device, how, options, module->data, module->len, &out, err);

	if (rc < 0)
		return -1;
	a->labels++;
	a->label_seconds += out.seconds;
	if (out.outcome != OUTCOME_OK)
		rc = err_set(err, "%s cannot be arranged in memory: %s: %.300s", a->lab->subject.name,
			outcome_meaning(out.outcome), out.detail);
	if (rc == 0)
		rc = kind_of(a)->figure(out.proto.data, out.proto.len, bytes, err);
	if (rc == 0 && taken)
		rc = kind_of(a)->take(a->lab->space, out.proto.data, out.proto.len, taken, err);
	arranged_release(&out);
	return rc;
}

/* Finds what an arrangement needs: asks the compiler, or else the model. */
static int ask_applied(struct arrange *a, const uint8_t *config, uint64_t *bytes, struct err *err)
{
	struct buf module = {0};
	struct space_course c;
	int rc;

	if (!a->device) {
		kind_of(a)->course(a->lab->space, config, &c);
		*bytes = c.bytes;
		mem_free(c.alive);
		return 0;
	}
	rc = a->lab->space->ops->apply(a->lab->space, config, &module, err);

	if (rc == 0)
		rc = ask(a, COMPILE_APPLIED, NULL, &module, NULL, bytes, err);
	buf_release(&module);
	return rc;
}

/* Adds an arrangement under a name, with the bytes that the compiler says it needs. */
static void add_way(struct arrange *a, const char *name, const uint8_t *config, uint64_t bytes)
{
	struct space *s = a->lab->space;
	struct arrangement *w = &a->way[a->n_ways++];

	*w = (struct arrangement){.name = name, .config = MEM_NEW(s->n_sites + 1, uint8_t), .bytes = bytes};
	memcpy(w->config, config, s->n_sites);
	kind_of(a)->course(s, config, &w->course);
}

/* Without a compiler, the ways are the order of the file, and what the kind itself can start from. */
static int weigh_ways(struct arrange *a, struct err *err)
{
	struct space *s = a->lab->space;
	const struct space_start *other = s->ops->starts && s->ops->starts->name ? s->ops->starts + 1 : NULL;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	uint64_t bytes;
	int rc = ask_applied(a, config, &a->default_bytes, err);

	if (rc == 0)
		add_way(a, "default", config, a->default_bytes);
	if (rc == 0 && other && other->name) {
		other->fill(s, config);
		rc = ask_applied(a, config, &bytes, err);
		if (rc == 0)
			add_way(a, other->name, config, bytes);
	}
	mem_free(config);
	return rc;
}

/* Finds what the compiler's own program needs. It was asked that to open the program, unless others decided first. */
static int ask_default(struct arrange *a, struct err *err)
{
	const struct buf *known = &a->lab->subject.opened.after;

	if (known->len && !a->derived)
		return kind_of(a)->figure(known->data, known->len, &a->default_bytes, err);
	return ask(a, COMPILE_DEFAULT, NULL, &a->lab->subject.original, NULL, &a->default_bytes, err);
}

/* Asks what the compiler's own ways need. */
static int ask_ways(struct arrange *a, struct err *err)
{
	struct space *s = a->lab->space;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	const struct stage_way *other = stage_way(a->stage);
	uint64_t bytes;
	int rc = ask_default(a, err);

	if (rc == 0)
		rc = ask_applied(a, config, &bytes, err);
	if (rc == 0)
		add_way(a, a->derived ? "decided" : "default", config, bytes);
	if (rc == 0 && other)
		rc = ask(a, COMPILE_APPLIED, other->options, &a->lab->subject.bytes, config, &bytes, err);
	if (rc == 0 && other)
		add_way(a, other->name, config, bytes);
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

	quantity_text(QUANTITY_BYTES, (double)bytes, text);
	snprintf(detail, sizeof detail, "%% of the time, %s by the model", text);
	progress_update(&t->progress, (uint64_t)(100 * (t->from + (t->to - t->from) * share)), detail);
}

/* Does a program that needs so many bytes keep the limit that the user set, if any? */
static bool in_room(const struct arrange *a, uint64_t bytes)
{
	return !a->set->room || limit_excess(a->set->room, (double)a->default_bytes, (double)bytes) == 0;
}

/* Looks for a better arrangement, from the better of the compiler's ways. The best, by the compiler, comes last. */
static int look_for_better(struct arrange *a, struct err *err)
{
	struct space *s = a->lab->space;
	bool other = a->n_ways > 1, better = other && a->way[1].bytes < a->way[0].bytes;
	struct talk talk = {.from = 0, .to = 1};
	const struct arrangement *best = &a->way[better];
	struct space_look o = {.strategy = a->set->strategy, .from = best->config,
		.other = other ? a->way[!better].config : NULL, .seconds = a->set->seconds, .moves = a->set->budget,
		.seed = a->set->seed, .stop = stop_asked, .progress = show, .with = &talk};
	struct space_looked looked = {0};
	uint8_t *config;
	uint64_t bytes;
	int rc;

	if (a->set->room && in_room(a, a->way[0].bytes)) { /* then there is no reason to change the arrangement */
		add_way(a, "tuned", a->way[0].config, a->way[0].bytes);
		return 0;
	}
	config = MEM_NEW(s->n_sites + 1, uint8_t);
	progress_start(&talk.progress, "search", 100, a->set->quiet ? PROGRESS_QUIET : PROGRESS_AUTO);
	rc = kind_of(a)->look(s, &o, config, &looked, err);
	progress_end(&talk.progress);
	a->moves = looked.moves;
	a->least = looked.least;
	a->proved = looked.proved;
	a->seconds = looked.seconds;
	if (rc == 0)
		rc = ask_applied(a, config, &bytes, err);
	if (rc == 0 && bytes < best->bytes)
		add_way(a, "tuned", config, bytes);
	else if (rc == 0)
		add_way(a, "tuned", best->config, best->bytes);
	mem_free(config);
	return rc;
}

/* Is what was found the answer, if nothing speaks against it? */
static bool worth_proving(const struct arrange *a, const struct arrangement *found)
{
	return a->set->room ? in_room(a, found->bytes) : found->bytes < a->default_bytes;
}

/* Is the limit on time kept, by the interval of the verdict? */
static enum limit_state limit_of(const struct arrange *a)
{
	const struct verdict *v = &a->verdict;
	double dflt = v->default_seconds;

	if (limit_excess(&a->limit, dflt, dflt * (1 - v->low)) == 0)
		return LIMIT_KEPT;
	return limit_excess(&a->limit, dflt, dflt * (1 - v->high)) > 0 ? LIMIT_BROKEN : LIMIT_UNSURE;
}

/* Times both programs until the interval says whether the limit is kept, each time for twice as long. */
static int reach_verdict(struct arrange *a, const uint8_t *config, struct err *err)
{
	double seconds = a->set->verdict_seconds > 0 ? a->set->verdict_seconds : VERDICT_SECONDS;
	struct verdict_options o = {a->device_options, a->set->verdict_seconds, a->set->seconds};
	struct verdict *v = &a->verdict;
	int rc = verdict_reach(v, a->lab, config, &o, err);

	for (int i = 1; rc == 0 && i < TRIES && a->limited && v->outcome == OUTCOME_OK && limit_of(a) == LIMIT_UNSURE &&
		!stop_asked(); i++) {
		o.seconds = seconds *= 2;
		rc = verdict_reach(v, a->lab, config, &o, err);
	}
	return rc;
}

/* Is the default the answer, though a program was found that needs `percent` less? Then this says why. */
static bool tell_against(struct arrange *a, double percent)
{
	const struct verdict *v = &a->verdict;
	size_t n = sizeof a->sentence;
	struct buf limit = {0};

	if (a->derived && v->numbers.outcome == OUTCOME_WRONG_NUMBERS) {
		snprintf(a->sentence, n,
			"The tuned program needs %.2f%% less temporary memory, but computes other numbers (%.200s); "
			"the default is the answer.", percent, v->numbers.detail);
		return true;
	}
	if (!a->derived && !a->numbers_equal) {
		snprintf(a->sentence, n,
			"The tuned program needs %.2f%% less temporary memory, but could not be shown to compute "
			"exactly the same numbers%s%s%s; the default is the answer. With --unverified it is written "
			"all the same.",
			percent, *a->why ? " (" : "", a->why, *a->why ? ")" : "");
		return true;
	}
	if (v->outcome != OUTCOME_OK || v->numbers.outcome != OUTCOME_OK) {
		snprintf(a->sentence, n,
			"The tuned program needs %.2f%% less temporary memory, but could not be run to the end; the "
			"default is the answer. With --unverified it is written all the same.",
			percent);
		return true;
	}
	if (!a->limited || limit_of(a) == LIMIT_KEPT)
		return false;
	limit_text(&a->limit, &limit);
	if (limit_of(a) == LIMIT_BROKEN)
		snprintf(a->sentence, n,
			"The tuned program needs %.1f%% less temporary memory, but takes %.1f%% more time (95%% "
			"interval %+.1f%% to %+.1f%%), more than %s allows; the default is the answer.",
			percent, -100 * v->gain, -100 * v->high, -100 * v->low, limit.data);
	else
		snprintf(a->sentence, n,
			"The tuned program needs %.1f%% less temporary memory, but whether %s is kept could not be "
			"measured (%+.1f%% of time, 95%% interval %+.1f%% to %+.1f%%); the default is the answer. More "
			"--verdict-seconds, a quieter machine or a wider --limit may decide it.",
			percent, limit.data, -100 * v->gain, -100 * v->high, -100 * v->low);
	buf_release(&limit);
	return true;
}

static void judge(struct arrange *a)
{
	const struct arrangement *found = &a->way[a->n_ways - 1];
	const struct verdict *v = &a->verdict;
	double saved = a->default_bytes ? 1 - (double)found->bytes / (double)a->default_bytes : 0;
	char dflt[QUANTITY_TEXT], less[QUANTITY_TEXT];
	size_t n = sizeof a->sentence;

	quantity_text(QUANTITY_BYTES, (double)a->default_bytes, dflt);
	quantity_text(QUANTITY_BYTES, (double)found->bytes, less);
	a->forgone = saved > 0 && !a->estimated && (a->set->unverified || !a->stage);
	a->tuned = saved > 0 && !a->estimated && !a->forgone && !tell_against(a, 100 * saved);
	if (saved > 0 && a->estimated)
		arrange_judge_estimate(a, saved, dflt, less);
	else if (saved <= 0)
		snprintf(a->sentence, n,
			"No arrangement was found that needs less temporary memory than the %s (%s); the "
			"default is the answer.",
			a->stage ? "compiler's" : "order of the file", dflt);
	else if (!a->stage)
		snprintf(a->sentence, n,
			"The program found needs %.2f%% less temporary memory than in the order of its file (%s "
			"instead of %s), by our model of a compiler's memory. It was not compiled.",
			100 * saved, less, dflt);
	else if (a->forgone)
		snprintf(a->sentence, n,
			"The program found needs %.2f%% less temporary memory than the compiler's default (%s instead "
			"of %s). It was not run: neither its numbers nor its time were compared.",
			100 * saved, less, dflt);
	else if (a->tuned)
		snprintf(a->sentence, n,
			"The tuned program needs %.2f%% less temporary memory than the compiler's default (%s instead "
			"of %s), computes %s, and takes %.1f%% %s time (95%% interval %+.1f%% to %+.1f%%).",
			100 * saved, less, dflt, a->derived ? "the same numbers" : "exactly the same numbers",
			100 * fabs(v->gain), v->gain > 0 ? "less" : "more", -100 * v->high, -100 * v->low);
}

/* Judges a program that is to be fast within a limit on bytes: the verdict is about time, and the limit joins it. */
static void judge_time(struct arrange *a)
{
	const struct arrangement *found = &a->way[a->n_ways - 1];
	struct verdict *v = &a->verdict;
	struct verdict_limit *l = &v->limit[0];
	double dflt = (double)a->default_bytes, tuned = (double)found->bytes, change = dflt > 0 ? tuned / dflt - 1 : 0;

	l->limit = *a->set->room;
	l->weighed = (struct weighed){.known = true, .exact = true, .kind = a->lab->kind, .dflt = dflt,
		.tuned = tuned, .change = change, .low = change, .high = change};
	l->state = in_room(a, found->bytes) ? LIMIT_KEPT : LIMIT_BROKEN;
	l->default_breaks = !in_room(a, a->default_bytes);
	v->n_limits = 1;
	a->beyond = a->derived && l->state == LIMIT_BROKEN;
	if (l->state == LIMIT_BROKEN) {
		struct buf limit = {0};
		char needs[QUANTITY_TEXT];
		verdict_limit_text(l, &limit);
		snprintf(a->sentence, sizeof a->sentence,
			"In the best arrangement that was found, %s needs %s of temporary memory, %s%s.",
			a->derived ? "what was decided" : "the program",
			quantity_text(QUANTITY_BYTES, tuned, needs), limit.data,
			a->derived ? "" : "; the default is the answer");
		buf_release(&limit);
		return;
	}
	v->tuned = v->measured && v->outcome == OUTCOME_OK && v->numbers.outcome == OUTCOME_OK &&
		l->state == LIMIT_KEPT && (v->low > 0 || l->default_breaks);
	verdict_tell(v);
	a->tuned = v->tuned;
	snprintf(a->sentence, sizeof a->sentence, "%.690s", v->sentence);
}

int arrange_write(struct arrange *a, struct err *err)
{
	bool found = a->tuned || a->forgone;
	const struct buf *original = &a->lab->subject.original, *answer = found ? &a->module : original;
	struct buf out = {0};
	char options[600] = "\n";
	int rc = output_clear(a->set->dir, err);

	if (rc == 0)
		rc = io_write_in(a->set->dir, "default.pb", original->data, original->len, err);
	if (found && a->stage)
		snprintf(options, sizeof options, "%s\n%s\n%s", a->stage->apply, codegen_always(a->stage->backend),
			codegen_needed(a->stage->backend, answer->data, answer->len));
	if (rc == 0)
		rc = io_write_in(a->set->dir, "tuned.pb", answer->data, answer->len, err);
	if (rc == 0)
		rc = io_write_in(a->set->dir, "options.txt", options, found ? strlen(options) : 0, err);
	arrange_page(a, &out);
	if (rc == 0)
		rc = io_write_in(a->set->dir, "report.html", out.data, out.len, err);
	if (rc == 0 && found && a->executable.len)
		output_executable(a->set->dir, &a->executable);
	buf_reset(&out);
	arrange_config(a, &out);
	if (rc == 0)
		rc = io_write_in(a->set->dir, "config.json", out.data, out.len, err);
	buf_release(&out);
	return rc;
}

/* The limit on time is judged here, not by the verdict, whose objective time is. */
static int take_limit(struct arrange *a, struct err *err)
{
	struct lab *l = a->lab;

	for (uint32_t i = 0; a->device && i < l->n_limits; i++) {
		if (l->limit[i].limit.quantity != QUANTITY_SECONDS)
			return err_set(err, "the bytes of an arrangement can be limited in seconds, not in %s",
				quantity_name(l->limit[i].limit.quantity));
		a->limit = l->limit[i].limit;
		a->limited = true;
	}
	return 0;
}

/* Is there anything left to learn from running it? */
static bool worth_timing(const struct arrange *a, const struct arrangement *found)
{
	if (!a->stage || a->set->unverified || !worth_proving(a, found))
		return false;
	return a->set->room || a->derived || a->numbers_equal;
}

int arrange_search(struct arrange *a, struct err *err)
{
	const struct arrangement *found;
	int rc = take_limit(a, err);

	a->derived = a->lab->derived;
	a->estimated = arrange_is_estimated(a);
	a->stage = a->device ? stage_find(a->lab->space->kind, device_info(a->device)->family) : NULL;
	if (rc == 0)
		rc = a->device ? ask_ways(a, err) : weigh_ways(a, err);
	if (rc == 0)
		rc = look_for_better(a, err);
	found = &a->way[a->n_ways ? a->n_ways - 1 : 0];
	if (a->least > found->bytes) /* the bound rounds up each value, also the last one */
		a->least = found->bytes;
	if (rc == 0)
		rc = a->lab->space->ops->apply(a->lab->space, found->config, &a->module, err);
	a->examined = rc == 0 && a->device && worth_proving(a, found);
	if (a->examined)
		rc = arrange_prove(a, err);
	lab_drop_costs(a->lab);
	a->lab->n_limits = 0;
	device_close(a->device);
	a->device = NULL;
	a->lab->quantity = QUANTITY_SECONDS; /* bytes are known already; the verdict is about time */
	if (rc == 0 && worth_timing(a, found))
		rc = reach_verdict(a, found->config, err);
	if (rc == 0 && a->set->room)
		judge_time(a);
	else if (rc == 0)
		judge(a);
	return rc;
}

void arrange_release(struct arrange *a)
{
	for (uint32_t i = 0; i < a->n_ways; i++) {
		mem_free(a->way[i].config);
		mem_free(a->way[i].course.alive);
	}
	buf_release(&a->module);
	buf_release(&a->executable);
	device_close(a->device);
	*a = (struct arrange){0};
}
