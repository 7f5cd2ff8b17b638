/*
 * main.c - the program `search`: looks for a faster program for one graph.
 *
 * It searches kind after kind of decision, each on the program that came of the one before, or one kind alone
 * (single.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "base/stop.h"
#include "base/talk.h"
#include "device/machine.h"
#include "ready/user_program.h"
#include "search/chosen.h"
#include "search/lead.h"
#include "search/mend.h"
#include "search/puzzle.h"
#include "search/single.h"

#define BUDGET 2000
#define SECONDS 600

/*
 * Writes the program with the decisions of this kind, from which the next kind starts; if it found nothing, `program`
 * stays empty. Closes the device and the store.
 */
static int hand_over(struct session *s, struct buf *program, struct err *err)
{
	struct result r = single_result(s);
	struct buf module = {0};
	bool found = lead_found(&s->hunt);
	int rc = found && s->device ? mend_before_others(&s->hunt, s->device, err) : 0;

	found = s->aims->joint || lead_found(&s->hunt); /* for one aim, the last kind judges all of them */
	memcpy(s->made_by, s->info.compile_options, sizeof s->made_by);
	snprintf(s->verdict.sentence, sizeof s->verdict.sentence, "%s", found
		? "These decisions are judged together with those that were made on the program that came of them."
		: "Nothing was found here, so the program was left as it is.");
	if (rc == 0)
		rc = output_clear(s->dir.data, err);
	if (rc == 0 && found)
		rc = s->lab.space->ops->apply(s->lab.space, s->hunt.config, &module, err);
	if (rc == 0 && found) {
		buf_addf(program, "%s/derived.pb", s->dir.data);
		rc = io_write_file(program->data, module.data, module.len, err);
	}
	if (rc == 0)
		rc = output_write_decisions(s->dir.data, &r, err);
	if (rc == 0)
		rc = single_end_run(s, &r, err);
	buf_addf(&s->aims->handed, "%s%s,", s->aims->handed.len ? "" : ",", s->lab.space->ops->kind->name);
	buf_release(&module);
	session_give_back(s);
	session_leave_store(s);
	return rc;
}

/*
 * The user stopped the search before the next kind was open, and this one found nothing: its answer, that nothing was
 * found, is that of the search. It goes into the folder of the search.
 */
static int answer_early(struct session *s, const char *dir, struct err *err)
{
	buf_reset(&s->dir);
	buf_adds(&s->dir, dir);
	return single_conclude(s, err);
}

/*
 * Arranges the user's own program instead, because what other kinds decided needs more memory than it may in every
 * arrangement that was found.
 */
static int run_without(struct session *last, const char *graph, struct err *err)
{
	struct settings set = *last->set;
	struct aims *aims = last->aims;

	set.graph = graph;
	talk("so the compiler's own program is arranged, without these decisions");
	session_close(last);
	*last = (struct session){.set = &set, .aims = aims};
	return single_search(last, err);
}

/* Searches the last kind, and answers. */
static int run_last(struct session *last, struct settings *set, struct session *before, struct aims *aims,
	struct err *err)
{
	int rc;

	aims_take(aims, true, set);
	last->set = set;
	last->before = before;
	last->aims = aims;
	rc = single_search(last, err);
	if (rc == SINGLE_ANSWERED && last->beyond)
		rc = run_without(last, aims->graph, err);
	rc = rc == 0 ? single_conclude(last, err) : rc;
	session_close(last);
	return rc == SINGLE_ANSWERED ? 0 : rc;
}

static int run_after(struct session *last, const char *first, struct session *before, struct aims *aims,
	struct err *err);

/* Searches a kind as the last one that was to have others after it. */
static int run_alone(struct session *s, struct session *last, struct settings *rest, struct err *err)
{
	rest->space = s->set->space;
	rest->model = s->set->model;
	last->ahead = s->ahead;
	s->ahead = (struct spares){0};
	return run_last(last, rest, s->before, s->aims, err);
}

/*
 * Searches a kind that others follow, in a folder of its name in `dir`, and then those. `rest` are the settings for
 * what is left.
 */
static int run_leading(struct session *s, const char *dir, struct session *last, struct settings *rest, struct err *err)
{
	struct settings own = *s->set;
	struct buf inner = {0}, from = {0}, program = {0};
	int rc;

	own.model = own.model && strcmp(own.model, "none") == 0 ? own.model : NULL; /* one is of one kind */
	lead_from(own.space, &from, &own);
	aims_take(s->aims, false, &own);
	buf_addf(&inner, "%s/%.*s", dir, (int)strcspn(own.space, "/:"), own.space);
	own.out = inner.data;
	s->set = &own;
	rc = single_search(s, err);
	if (rc == SINGLE_ALONE) {
		rc = run_alone(s, last, rest, err);
		goto out;
	}
	if (rc == SINGLE_LATER) {
		last->set = rest;
		rc = run_after(last, s->next, s->before, s->aims, err);
		goto out;
	}
	if (rc == SINGLE_ANSWERED)
		rc = err_set(err, "what %s decides is no program that another kind can go on with", own.space);
	rc = rc == 0 ? hand_over(s, &program, err) : rc;
	rest->graph = program.len ? program.data : rest->graph;
	rest->start = settings_begin_elsewhere(rest) ? SETTINGS_BETTER : rest->start;
	if (rc == 0)
		lead_spend(&s->hunt, rest);
	last->set = rest;
	last->first = s;
	if (rc == 0 && stop_asked() && !program.len && !s->before)
		rc = SINGLE_STOPPED;
	else if (rc == 0)
		rc = run_after(last, s->next, program.len ? s : s->before, s->aims, err);
	rc = rc == SINGLE_STOPPED ? answer_early(s, dir, err) : rc;
out:
	session_close(s);
	buf_release(&inner);
	buf_release(&from);
	buf_release(&program);
	return rc;
}

/*
 * Searches kind after kind ("rewrite,fusion"), each on the program that the one before left; `first` are the kinds to
 * come.
 */
static int run_after(struct session *last, const char *first, struct session *before, struct aims *aims,
	struct err *err)
{
	struct settings own = *last->set, rest = *last->set;
	const char *comma = strchr(first, ',');
	struct session s = {.set = &own, .before = before, .aims = aims, .next = comma ? comma + 1 : NULL};
	struct buf kind = {0};
	int rc;

	buf_add(&kind, first, comma ? (size_t)(comma - first) : strlen(first));
	own.space = kind.data;
	if (comma) {
		rc = run_leading(&s, own.out, last, &rest, err);
	} else {
		rest.space = kind.data;
		rc = run_last(last, &rest, before, aims, err);
	}
	buf_release(&kind);
	return rc;
}

/* The program was lowered and promises something: begins anew, on the lowered program, with the kind that leads. */
static int run_led(struct session *s, struct aims *aims, struct err *err)
{
	const struct buf *original = &s->lab.subject.original;
	struct settings set = *s->set;
	struct buf program = {0};
	int rc;

	buf_addf(&program, "%s/%s.pb", set.out, s->lab.subject.name);
	rc = io_write_file(program.data, original->data, original->len, err);
	session_close(s);
	lead_take(&set);
	set.graph = program.data;
	*s = (struct session){.set = &set};
	rc = rc == 0 ? run_after(s, set.space, NULL, aims, err) : rc;
	session_close(s);
	buf_release(&program);
	return rc;
}

static int search(struct session *s, struct aims *aims, struct err *err)
{
	int rc = aims_read(aims, s->set, err);

	if (rc == 0 && strchr(s->set->space, ','))
		return run_after(s, s->set->space, NULL, aims, err);
	rc = rc == 0 ? single_search(s, err) : rc;
	if (rc == SINGLE_LED)
		return run_led(s, aims, err);
	return rc == 0 ? single_conclude(s, err) : rc < 0 ? -1 : 0;
}

/*
 * The folder has its answer. Folders in it of kinds that this search has not written are of an earlier one, whose
 * answer was here.
 */
static int drop_earlier(const struct settings *set, const struct aims *aims, struct err *err)
{
	struct buf name = {0};
	int rc = 0;

	for (const struct space_kind *k = NULL; rc == 0 && (k = space_kind_next(k));) {
		buf_reset(&name);
		buf_addf(&name, ",%s,", k->name);
		if (!aims->handed.len || !strstr(aims->handed.data, name.data))
			rc = output_drop_kind(set->out, k->name, set->graph, err);
	}
	buf_release(&name);
	return rc;
}

/* Searches in a folder of its own. One that was made for it stays only if there is something in it. */
static int run(struct settings *set, struct err *err)
{
	const char *graph = set->graph;
	struct session s = {.set = set};
	struct aims aims = {0};
	struct buf dir = {0};
	bool made;
	int held, rc;

	if (!space_maker(graph) && strcmp(graph, "-") != 0 && access(graph, R_OK) < 0)
		return err_errno(err, "%s cannot be read", graph);
	if (!set->out) {
		session_default_dir(graph, &dir);
		set->out = dir.data;
	}
	made = !io_exists(set->out);
	held = output_hold(set->out, err);
	rc = held < 0 ? -1 : search(&s, &aims, err);
	rc = rc == 0 ? drop_earlier(set, &aims, err) : rc;
	session_close(&s);
	if (rc < 0 && made)
		rmdir(set->out);
	if (held >= 0)
		close(held);
	buf_release(&dir);
	buf_release(&aims.handed);
	return rc;
}

static int run_puzzle(const struct settings *set, struct err *err)
{
	struct puzzle_settings p = {.path = set->graph, .out = set->out, .seconds = set->seconds, .seed = set->seed,
		.jobs = set->jobs > 0 ? set->jobs : 0, .steps = set->steps, .json = set->json, .quiet = set->quiet,
		.strategy = set->placing >= 0 ? set->placing : 0, .goal = set->goal >= 0 ? set->goal : 0,
		.given = &set->given};

	if (p.seconds <= 0 && p.steps == 0)
		p.seconds = SOLVE_SECONDS;
	return puzzle_solve(&p, err);
}

/*
 * A public problem, for which the user named a strategy, is a program that its kind makes. Where a formula gives all
 * prices, no device is needed; a kind that looks by itself does so, unless told otherwise.
 */
static int settle_made(struct settings *set, struct buf *program, struct err *err)
{
	const struct space_kind *kind = NULL;
	struct err none = {0};

	if (space_is_problem(set->graph) && set->strategy_named) {
		if (puzzle_program(set->graph, set->goal, program, err) < 0)
			return -1;
		set->graph = program->data;
	}
	if (!space_is_problem(set->graph))
		kind = space_maker(set->graph);
	if (!kind && !strchr(set->space, ',') && !space_is_problem(set->graph))
		kind = space_kind_find(set->space, &none);
	if (kind && space_needs_no_device(set->graph, set->space) && !set->device_named)
		set->device = "none";
	if (kind && kind->solve && !set->strategy_named)
		set->strategy = STRATEGY_SELF;
	return 0;
}

/* Does any kind of this search look by itself? It has bounds of its own, steps or a minute. */
static bool looks_by_itself(const struct settings *set)
{
	bool alone = space_is_problem(set->graph) || set->strategy == STRATEGY_SELF;
	char name[SPACE_KIND_ROOM];
	struct err ignored;

	for (const char *at = set->space; !alone && *at; at += strcspn(at, ","), at += *at == ',') {
		const struct space_kind *kind;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
		kind = space_kind_find(name, &ignored);
		alone = !kind || kind->arranging; /* of one that there is not, another sentence tells */
	}
	return alone;
}

/*
 * The bounds of a search for which the user named none: it must not take half a day because the program is large. Who
 * names a budget has it spent.
 */
static int settle_bounds(struct settings *set, struct err *err)
{
	bool alone = looks_by_itself(set);

	if (set->seconds < 0)
		set->seconds = set->budget < 0 && (!alone || strchr(set->space, ',')) ? SECONDS : 0;
	if (set->budget < 0)
		set->budget = BUDGET;
	return alone || set->steps == 0 ? 0 : err_set(err, "--steps has no effect on this search, whose kinds of "
		"decision do not look by themselves: bound it with --budget or --seconds");
}

int main(int argc, char **argv)
{
	struct settings set;
	struct buf program = {0};
	struct err err = {0};
	int rc;

	err_program("search");
	stop_on_signals(STOP_AT_SECOND);
	rc = search_parse(&set, argc, argv, &err);
	talk_on(!set.quiet);
	if (rc == 0 && user_program_is_cost_graph(set.graph))
		set.device = "none";
	if (rc == 0)
		rc = settle_made(&set, &program, &err);
	if (rc == 0)
		rc = settings_fit_device(&set, &err);
	if (rc == 0)
		lead_settle(&set);
	if (rc == 0)
		rc = settle_bounds(&set, &err);
	if (rc == 0)
		rc = space_is_problem(set.graph) ? run_puzzle(&set, &err) : run(&set, &err);
	search_settings_release(&set);
	buf_release(&program);
	cores_give_back();
	return rc < 0 ? err_exit(&err) : 0;
}
