/*
 * puzzle.c - a public problem of placement, from file to answer.
 *
 * The answer, in the form that the problem's owners want, goes to standard output or to a file. Its value goes to
 * standard error, for people. With --json it goes to standard output, and the answer must go to a file.
 */
#include "search/puzzle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/io.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/stop.h"
#include "space/made.h"
#include "space/net/net.h"
#include "space/net/solve.h"
#include "space/place/deciding.h"
#include "space/place/placing.h"

#define PLACES_ONLY "--%s is about operations that are placed on devices, and %s is a net: leave it out"

int puzzle_program(const char *path, int goal, struct buf *name, struct err *err)
{
	static const char *const goals[] = {"load", "latency", "time", NULL};
	bool named = goal >= 0;
	struct buf text = {0};
	int rc = io_read_file(path, IO_FILE_LIMIT, &text, err);

	goal = named ? goal : 0;
	if (rc == 0 && place_looks_like(text.data, text.len) && !goals[goal])
		rc = err_set(err, "--goal memory is for --placing; with --strategy, ask for --goal time --objective "
			"bytes");
	else if (rc == 0 && place_looks_like(text.data, text.len))
		buf_addf(name, PLACE_PROGRAM, goals[goal], path);
	else if (rc == 0 && network_looks_like(text.data, text.len) && named)
		rc = err_set(err, PLACES_ONLY, "goal", path);
	else if (rc == 0 && network_looks_like(text.data, text.len))
		buf_addf(name, NET_PROGRAM, path);
	else if (rc == 0)
		rc = err_set(err, MADE_NOT_ONE, path);
	buf_release(&text);
	return rc;
}

static void show(void *with, double seconds, uint64_t steps, bool found, network_sum cost)
{
	char detail[100], text[41];

	(void)seconds;
	if (found)
		snprintf(detail, sizeof detail, "best %s", network_sum_text(cost, text));
	else
		snprintf(detail, sizeof detail, "nothing that fits yet");
	progress_update(with, steps, detail);
}

static void json_sum(struct json *j, const char *key, network_sum v)
{
	char text[41];

	if (v >= INT64_MIN && v <= INT64_MAX)
		json_int(j, key, (int64_t)v);
	else
		json_str(j, key, network_sum_text(v, text));
}

static void summary_json(const struct network *net, const struct network_result *r, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};

	json_object(&j, NULL);
	json_str(&j, "problem", net->name);
	json_bool(&j, "feasible", r->found);
	json_bool(&j, "exact", r->exact);
	json_sum(&j, "cost", r->value.cost);
	json_sum(&j, "peak", r->value.peak);
	if (net->limited)
		json_int(&j, "limit", net->limit);
	json_uint(&j, "nodes", net->n_nodes);
	json_uint(&j, "variables", r->n_vars);
	json_uint(&j, "steps", r->steps);
	json_uint(&j, "jobs", r->jobs);
	json_uint(&j, "walks", r->walks);
	json_num(&j, "seconds", r->seconds);
	json_num(&j, "best_seconds", r->best_seconds);
	json_end(&j);
	buf_addch(out, '\n');
}

static void summary_text(const struct network *net, const struct network_result *r, struct buf *out)
{
	char cost[41], peak[41];

	buf_addf(out, "%s: cost %s, found after %.1f of %.1f s, %llu steps on %u threads", net->name,
		network_sum_text(r->value.cost, cost), r->best_seconds, r->seconds, (unsigned long long)r->steps,
		r->jobs);
	if (r->exact)
		buf_adds(out, "; it is the best there is");
	if (net->limited && r->value.peak_time != INT64_MIN)
		buf_addf(out, "; memory at most %s of %lld, at time %lld", network_sum_text(r->value.peak, peak),
			(long long)net->limit, (long long)r->value.peak_time);
	buf_addch(out, '\n');
}

/* The answer where it was asked for; what it is worth to people, or after a file to standard output. */
static int hand_out(const struct puzzle_settings *set, const struct buf *answer, const struct buf *summary,
	struct err *err)
{
	int rc = set->out ? io_write_file(set->out, answer->data, answer->len, err) :
		io_print(answer, err);

	if (rc == 0 && set->out)
		rc = io_print(summary, err);
	else if (rc == 0 && !set->quiet)
		rc = io_write_full(2, summary->data, summary->len, err);
	return rc;
}

static int give_answer(const struct puzzle_settings *set, const struct network *net, const struct network_result *r,
	struct err *err)
{
	struct buf answer = {0}, summary = {0};
	int rc;

	network_write_answer(net, r->choice, &answer);
	if (set->json)
		summary_json(net, r, &summary);
	else
		summary_text(net, r, &summary);
	rc = hand_out(set, &answer, &summary, err);
	buf_release(&answer);
	buf_release(&summary);
	return rc;
}

/* Refuses options that have no effect on a public problem, or on one of this sort. */
static int fits(const struct puzzle_settings *set, bool net, struct err *err)
{
#define EVERY "graph", "out", "seconds", "steps", "seed", "json", "quiet"
	static const char *const any[] = {EVERY, "jobs", "placing", "goal", NULL},
		*const nets[] = {EVERY, "jobs", NULL}, *const places[] = {EVERY, "placing", "goal", NULL};
	const char *none = opt_beside(set->given, any), *other = opt_beside(set->given, net ? nets : places);

	if (none)
		return err_set(err, "--%s has no effect on a public problem, unless --strategy NAME says to search it "
			"like a program", none);
	if (other && net)
		return err_set(err, PLACES_ONLY, other, set->path);
	if (other)
		return err_set(err, "--%s is about nets; a placement is looked for by one thread: leave it out", other);
	if (set->json && !set->out)
		return err_set(err, "--json tells on standard output what the answer is worth: name a file for the "
			"answer itself with --out");
	return 0;
}

static int solve_net(const struct puzzle_settings *set, const struct network *net, struct err *err)
{
	struct progress p = {0};
	struct network_options o = {.seconds = set->seconds, .steps = (uint64_t)set->steps, .jobs = (uint32_t)set->jobs,
		.seed = (uint64_t)set->seed, .stop = stop_asked, .progress = show, .with = &p};
	struct network_result r;
	int rc;

	progress_start(&p, "search", o.steps, set->quiet ? PROGRESS_QUIET : PROGRESS_AUTO);
	network_solve(net, &o, &r);
	progress_end(&p);
	if (r.found)
		rc = give_answer(set, net, &r, err);
	else if (r.hopeless)
		rc = err_set(err, "%s has no feasible answer: whatever is "
			"chosen, something is forbidden or does not fit", set->path);
	else
		rc = err_set(err, "%s: no feasible answer was found in %.1f s; try more --seconds or another --seed",
			set->path, r.seconds);
	network_result_release(&r);
	return rc;
}

static void show_place(void *with, uint64_t steps, double cost)
{
	char detail[60];

	snprintf(detail, sizeof detail, "best %.6g", cost);
	progress_update(with, steps, detail);
}

static void place_summary(const struct puzzle_settings *set, const struct place *p, const struct placing_result *r,
	struct buf *out)
{
	static const char *const goals[] = {"largest load", "latency", "time", "memory"},
		*const keys[] = {"load", "latency", "time", "memory"};
	struct json j = {.out = out, .pretty = true};

	if (!set->json) {
		buf_addf(out, "%s: %s %.6g by %s, found after %.1f of %.1f s, "
			"%llu steps; %u nodes in %u groups on %u devices\n",
			set->path, goals[set->goal], r->cost, placing_name((enum placing_strategy)set->strategy),
			r->best_seconds, r->seconds, (unsigned long long)r->steps, p->n_nodes, p->n_groups,
			p->n_devices);
		return;
	}
	json_object(&j, NULL);
	json_str(&j, "strategy", placing_name((enum placing_strategy)set->strategy));
	json_num(&j, keys[set->goal], r->cost);
	json_uint(&j, "nodes", p->n_nodes);
	json_uint(&j, "groups", p->n_groups);
	json_uint(&j, "steps", r->steps);
	json_num(&j, "seconds", r->seconds);
	json_num(&j, "best_seconds", r->best_seconds);
	json_end(&j);
	buf_addch(out, '\n');
}

static int solve_place(const struct puzzle_settings *set, const struct place *p, struct err *err)
{
	struct progress talk = {0};
	struct placing_options o = {.strategy = (enum placing_strategy)set->strategy,
		.goal = (enum place_goal)set->goal,
		.seconds = set->seconds, .steps = (uint64_t)set->steps, .seed = (uint64_t)set->seed, .stop = stop_asked,
		.progress = show_place, .with = &talk};
	struct placing_result r;
	struct buf answer = {0}, summary = {0};
	int rc;

	progress_start(&talk, "search", o.steps, set->quiet ? PROGRESS_QUIET : PROGRESS_AUTO);
	placing_solve(p, &o, &r);
	progress_end(&talk);
	if (r.cost < INFINITY) {
		place_write(p, o.goal, r.device, &answer);
		place_summary(set, p, &r, &summary);
		rc = hand_out(set, &answer, &summary, err);
	} else {
		rc = err_set(err, "%s: no placement was found that fits", set->path);
	}
	buf_release(&answer);
	buf_release(&summary);
	placing_result_release(&r);
	return rc;
}

static int solve_text(const struct puzzle_settings *set, const struct buf *text, struct err *err)
{
	struct network net;
	struct place place;
	int rc;

	if (place_looks_like(text->data, text->len)) {
		if (fits(set, false, err) < 0)
			return -1;
		if ((rc = place_parse(&place, text->data, text->len, err)) < 0)
			return err_prefix(err, "%s", set->path);
		rc = solve_place(set, &place, err);
		place_release(&place);
		return rc;
	}
	if (!network_looks_like(text->data, text->len))
		return err_set(err, MADE_NOT_ONE, set->path);
	if (fits(set, true, err) < 0)
		return -1;
	if ((rc = network_parse(&net, text->data, text->len, err)) < 0)
		err_prefix(err, "%s", set->path);
	else
		rc = solve_net(set, &net, err);
	network_release(&net);
	return rc;
}

int puzzle_solve(const struct puzzle_settings *set, struct err *err)
{
	struct buf text = {0};
	int rc = io_read_file(set->path, IO_FILE_LIMIT, &text, err);

	if (rc == 0)
		rc = solve_text(set, &text, err);
	buf_release(&text);
	return rc;
}
