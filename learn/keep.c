/*
 * keep.c - compares the new model with the old one, and puts the better one in place.
 */
#include "learn/keep.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include "learn/apart.h"
#include "learn/history.h"
#include "learn/shelf.h"
#include "learn/team.h"

static struct shelf place_of(const struct dataset *ds)
{
	return (struct shelf){.backend = ds->backend, .kind = ds->kind, .quantity = ds->quantity,
		.space = ds->space};
}

int keep_prepare(const struct dataset *ds, struct err *err)
{
	struct shelf at = place_of(ds);
	struct buf path = {0};
	int rc = shelf_path(&at, &path, err);

	if (rc == 0)
		rc = shelf_prepare(path.data, err);
	buf_release(&path);
	return rc;
}

/* Can the old model not have been trained on this decision? */
static bool new_to_old(const struct data *d, const struct example *e, const struct model_facts *old)
{
	if (e->apart && strcmp(old->apart, APART_RULE) == 0)
		return true;
	return facts_seen(old, &d->graph[e->graph].scene.space->graph->content) == SEEN_NOT;
}

/* The decisions that judge; with `old`, only those that are new to it. */
static struct judge_list choose(const struct data *d, const bool *held, const struct model_facts *old)
{
	struct judge_list list = {.example = MEM_NEW(d->n_examples + 1, uint32_t)};

	for (size_t i = 0; i < d->n_examples; i++) {
		const struct example *e = &d->example[i];
		if (e->picked || d->graph[e->graph].other || !e->label[0].measured || !(e->apart || held[e->graph]) ||
			(old && !new_to_old(d, e, old)))
			continue;
		list.example[list.n++] = (uint32_t)i;
		list.n_flips += e->n_flips;
	}
	return list;
}

/* What the old model predicts, over data cut to its own number of layers. NULL: error. */
static float *predict_old(const struct dataset *ds, const struct judge_list *list, const struct model *old,
	const struct keep_options *o, struct team *team, struct err *err)
{
	struct dataset again = {0};
	float *out = NULL;

	if (!old->net.size.layers || old->net.size.layers == ds->data.radius)
		return judge_predict(&ds->data, list, old, team);
	if (o->read(o->ctx, old->net.size.layers, &again, err) == 0)
		out = again.data.n_examples == ds->data.n_examples ? judge_predict(&again.data, list, old, team) :
			(err_set(err, "the databases changed while they were learnt from; start again"), NULL);
	dataset_release(&again);
	return out;
}

static int judge_on(const struct dataset *ds, const struct judge_list *list, const struct model *fresh,
	const struct keep_options *o, struct kept *k, struct err *err)
{
	struct team *team = team_new(o->threads);
	float *a = judge_predict(&ds->data, list, fresh, team), *b = NULL;
	int rc = 0;

	if (k->old && !(b = predict_old(ds, list, k->old, o, team, err)))
		rc = -1;
	if (rc == 0)
		judge(&ds->data, list, a, b, &k->judged);
	mem_free(a);
	mem_free(b);
	team_free(team);
	return rc;
}

/* Judges on what is new to both, or, where that is too little, on what is new to the new one. */
static int compare(const struct dataset *ds, const bool *held, const struct model *fresh, const struct keep_options *o,
	struct kept *k, struct err *err)
{
	struct judge_list fair = choose(&ds->data, held, k->old ? &k->old->facts : NULL);
	struct judge_list all = choose(&ds->data, held, NULL);
	int rc = judge_on(ds, &fair, fresh, o, k, err);

	if (rc == 0 && k->judged.gaining < JUDGE_LEAST && all.n > fair.n) {
		k->flattered = true;
		rc = judge_on(ds, &all, fresh, o, k, err);
		if (k->judged.verdict == JUDGED_WORSE)
			k->judged.verdict = JUDGED_ALIKE; /* it may only look worse */
	}
	mem_free(fair.example);
	mem_free(all.example);
	return rc;
}

int keep(const struct dataset *ds, const bool *held, const struct model *fresh, const struct keep_options *o,
	struct kept *out, struct err *err)
{
	struct shelf at = place_of(ds);
	struct err why = {0};
	bool wanted;
	int rc = -1, lock = -1;

	if (shelf_path(&at, &out->path, err) < 0 || shelf_prepare(out->path.data, err) < 0 ||
		(lock = shelf_lock(out->path.data, err)) < 0)
		return -1;
	out->old = shelf_find(&at, &out->old_path, &out->notes);
	if (compare(ds, held, fresh, o, out, err) < 0)
		goto out;
	wanted = out->old ? out->judged.verdict == JUDGED_BETTER : out->judged.verdict != JUDGED_WORSE;
	out->forced = o->force && !wanted;
	rc = 0;
	if (wanted || out->forced)
		rc = shelf_put(out->path.data, fresh, err);
	out->placed = rc == 0 && (wanted || out->forced);
	if (rc == 0 && history_add(out, fresh, (double)time(NULL), &why) < 0)
		buf_addf(&out->notes, "no line in the history of models: %s\n", why.text);
out:
	shelf_unlock(lock);
	return rc;
}

void kept_release(struct kept *k)
{
	buf_release(&k->path);
	buf_release(&k->old_path);
	buf_release(&k->notes);
	model_free(k->old);
	*k = (struct kept){0};
}

/* On what they were judged. */
static void add_ground(const struct kept *k, struct buf *out)
{
	const struct judged *j = &k->judged;

	buf_addf(out, "Judged on %zu flips in %u surroundings of %u program%s", j->flips, j->surroundings, j->graphs,
		j->graphs == 1 ? "" : "s");
	if (k->flattered)
		buf_adds(out, "; the new one was not trained on them, the old one may have been, which flatters it");
	else
		buf_addf(out, "; %s trained on them", !k->old ? "it was not" : "neither was");
	if (j->gaining < JUDGE_LEAST)
		buf_addf(out, "; in %u of them something improves, too few to tell (%d)", j->gaining, JUDGE_LEAST);
	buf_adds(out, ".\n");
}

static void add_points(double x, struct buf *out)
{
	buf_addf(out, "%.1f points %s", fabs(100 * x), x < 0 ? "worse" : "better");
}

static void add_verdict(const struct kept *k, struct buf *out)
{
	static const char *const word[] = {"better than", "worse than", "not clearly better than"};
	const struct judged *j = &k->judged;

	buf_addf(out, "The new model is %s %s", word[j->verdict], k->old ? "the old one" : "no model");
	if (isnan(j->depth[0])) {
		buf_addf(out, ": nothing improves among the %zu flips that can judge them.\n", j->flips);
		return;
	}
	buf_addf(out, ". Sorted by it, gains are %.1f%% from the top of the list of flips (", 100 * j->depth[0]);
	if (k->old)
		buf_addf(out, "by the old one: %.1f%%; ", 100 * j->depth[1]);
	buf_adds(out, "unsorted: 50%). It is between ");
	add_points(j->low, out);
	buf_adds(out, " and ");
	add_points(j->high, out);
	buf_adds(out, " (95%).\n");
	add_ground(k, out);
}

void kept_text(const struct kept *k, struct buf *out)
{
	add_verdict(k, out);
	if (k->placed)
		buf_addf(out, "It is in place%s: search takes %s.\n", k->forced ? " by --force" : "", k->path.data);
	else if (k->old)
		buf_addf(out, "It is not put in place (--force does that): search goes on with %s.\n",
			k->old_path.data);
	else
		buf_adds(out, "It is not put in place (--force does that): search goes on without a model.\n");
}

void kept_json(const struct kept *k, struct json *j, const char *key)
{
	struct buf text = {0};

	kept_text(k, &text);
	json_object(j, key);
	json_bool(j, "replaced", k->placed);
	json_bool(j, "forced", k->forced);
	json_str(j, "path", k->path.data);
	json_str(j, "verdict", judgement_name(k->judged.verdict));
	json_str(j, "sentence", text.data);
	json_num(j, "depth_new", k->judged.depth[0]);
	json_num(j, "depth_old", k->judged.depth[1]);
	json_num(j, "difference_low", k->judged.low);
	json_num(j, "difference_high", k->judged.high);
	json_uint(j, "flips", k->judged.flips);
	json_uint(j, "surroundings", k->judged.surroundings);
	json_uint(j, "surroundings_with_gain", k->judged.gaining);
	json_uint(j, "programs", k->judged.graphs);
	json_bool(j, "old_may_have_seen_them", k->flattered);
	json_str(j, "old_path", k->old ? k->old_path.data : NULL);
	if (k->old)
		facts_json(&k->old->facts, j, "old");
	json_end(j);
	buf_release(&text);
}
