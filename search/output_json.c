/*
 * output_json.c - what a search tells programs: config.json, decisions.json, and the summary of --json.
 *
 * Each is made of the same parts: which decisions (graph, space, sites), the verdict, the course of the search, the
 * environment. A part that does not apply is left out; a value that is not known is null.
 */
#include "base/json.h"
#include "base/opt.h"
#include "search/output.h"

static void add_inputs(struct json *j, const char *name, const struct numbers_on *on)
{
	json_object(j, NULL);
	json_str(j, "inputs", name);
	json_str(j, "own", outcome_name(on->own));
	if (on->compared) {
		json_bool(j, "told", on->told);
		json_num(j, "difference", on->difference);
		json_num(j, "allowed", on->allowed);
		json_uint(j, "unlike", on->unlike);
		json_uint(j, "unlike_allowed", on->unlike_allowed);
		json_uint(j, "output", on->output);
		json_uint(j, "elements", on->elements);
		json_uint(j, "finite", on->finite);
	}
	json_end(j);
}

/* What comparing the numbers said, as a whole and for each kind of input. */
static void add_numbers(struct json *j, const struct numbers *n)
{
	double difference, allowed;

	numbers_worst(n, &difference, &allowed);
	json_str(j, "numbers", outcome_name(n->outcome));
	json_str(j, "numbers_detail", *n->detail ? n->detail : NULL);
	json_num(j, "difference", difference);
	json_num(j, "allowed", allowed);
	json_array(j, "compared");
	for (int i = 0; i < INPUTS_COUNT; i++)
		if (n->on[i].compared || n->on[i].own != OUTCOME_OK)
			add_inputs(j, numbers_inputs(n, (enum inputs)i), &n->on[i]);
	json_end(j);
}

static void add_limits(struct json *j, const struct verdict *v)
{
	static const char *const state[] = {"kept", "unsure", "broken"};

	json_array(j, "limits");
	for (uint32_t i = 0; i < v->n_limits; i++) {
		const struct verdict_limit *l = &v->limit[i];
		json_object(j, NULL);
		json_str(j, "quantity", quantity_name(l->limit.quantity));
		json_num(j, l->limit.relative ? "bound_relative" : "bound", l->limit.bound);
		json_str(j, "state", state[l->state]);
		json_bool(j, "default_breaks", l->default_breaks);
		json_str(j, "kind", cost_kind_name(l->weighed.kind));
		json_num(j, "allowed", limit_allows(&l->limit, l->weighed.dflt));
		json_num(j, "default", l->weighed.dflt);
		json_num(j, "tuned", l->weighed.tuned);
		json_num(j, "change", l->weighed.change);
		json_num(j, "change_low", l->weighed.low);
		json_num(j, "change_high", l->weighed.high);
		json_end(j);
	}
	json_end(j);
}

/* What was taken back because with it the numbers were others; null: nothing. */
static void add_withdrawn(struct json *j, const struct hunt *h)
{
	if (!h->withdrawn.places) {
		json_str(j, "withdrawn", NULL);
		return;
	}
	json_object(j, "withdrawn");
	json_str(j, "what", h->withdrawn.what);
	json_uint(j, "places", h->withdrawn.places);
	json_str(j, "because", h->withdrawn.why);
	json_end(j);
}

static void add_verdict(struct json *j, const struct result *r)
{
	const struct verdict *v = r->verdict;
	bool seconds = v->quantity == QUANTITY_SECONDS;

	json_object(j, "verdict");
	json_bool(j, "tuned", v->tuned);
	json_str(j, "sentence", v->sentence);
	json_str(j, "advice", *v->advice ? v->advice : NULL);
	if (verdict_attention(r->verdict))
		json_str(j, "attention", verdict_attention(r->verdict));
	json_str(j, "kind", cost_kind_name(v->kind));
	json_str(j, "estimator", *v->estimator ? v->estimator : NULL);
	json_num(j, "default_restated_below_own", v->restated);
	json_str(j, "quantity", quantity_name(r->hunt->quantity));
	if (v->measured) {
		json_str(j, "outcome", outcome_name(v->outcome));
		json_num(j, "gain", v->gain);
		json_num(j, "gain_low", v->low);
		json_num(j, "gain_high", v->high);
		json_num(j, seconds ? "default_seconds" : "default", v->default_seconds);
		json_num(j, seconds ? "tuned_seconds" : "tuned", v->tuned_seconds);
		add_numbers(j, &v->numbers);
		add_withdrawn(j, r->hunt);
		json_uint(j, "instances", v->instances);
		json_uint(j, "pairs", v->pairs);
		json_uint(j, "compiled", v->compiled);
		json_num(j, "default_page_faults", v->mapped_in.dflt);
		json_num(j, "tuned_page_faults", v->mapped_in.tuned);
		if (v->mapped_in.kept_dflt > 0) {
			json_num(j, "default_seconds_mapped", v->mapped_in.kept_dflt);
			json_num(j, "tuned_seconds_mapped", v->mapped_in.kept_tuned);
		}
	}
	if (v->forgone) {
		json_bool(j, "unverified", true);
		json_num(j, "believed_more", v->believed.value);
		json_num(j, "believed_se", v->believed.se);
	}
	if (v->n_limits)
		add_limits(j, v);
	json_end(j);
}

static void add_helped(struct json *j, const struct helped *x)
{
	json_object(j, "helpers");
	json_uint(j, "helpers", x->helpers);
	json_num(j, "seconds", x->seconds);
	json_num(j, "used", x->used);
	json_num(j, "in_vain", x->vain);
	json_num(j, "idle", x->idle);
	json_num(j, "search_waited", x->waited);
	json_end(j);
}

static void add_curve(struct json *j, const struct hunt *h)
{
	json_array(j, "curve");
	for (size_t i = 0; i < h->n_curve; i++) {
		json_object(j, NULL);
		json_uint(j, "evaluation", h->curve[i].evaluation);
		json_num(j, "seconds", h->curve[i].seconds);
		json_num(j, "delta", h->curve[i].best);
		json_num(j, "se", h->curve[i].se);
		json_end(j);
	}
	json_end(j);
}

/* What a rival (rival.h) believes of what it chose. */
static void add_rival(struct json *j, const struct rival_answer *a)
{
	if (a->operators == 0)
		return;
	json_object(j, "rival");
	json_uint(j, "operators", a->operators);
	json_uint(j, "programs", a->programs);
	json_num(j, "believed", a->believed);
	json_num(j, "of", a->of);
	json_end(j);
}

static void add_search(struct json *j, const struct result *r)
{
	const struct hunt *h = r->hunt;

	json_object(j, "search");
	json_str(j, "strategy", r->strategy);
	advisor_json(r->advisor, j);
	json_uint(j, "seed", h->o.seed);
	if (h->before == 0) /* one that goes on does not know where it began */
		json_str(j, "start", hunt_start_name(h));
	json_uint(j, "budget", h->o.budget);
	json_uint(j, "evaluations", h->evaluations);
	json_uint(j, "measured", h->measured);
	json_uint(j, "cached", h->cached);
	json_object(j, "failed");
	for (int o = 1; o < OUTCOME_COUNT; o++)
		if (h->failed[o])
			json_uint(j, outcome_name((enum outcome)o), h->failed[o]);
	json_end(j);
	json_uint(j, "kept", h->kept);
	json_uint(j, "refuted", h->refuted);
	json_uint(j, "cut", h->cut);
	json_uint(j, "passed_over", hunt_passed_over(h));
	if (h->n_limits)
		json_uint(j, "beyond_limits", h->beyond);
	json_uint(j, "drift_corrections", h->drifts);
	json_str(j, "charged_for", space_part(h->s));
	json_num(j, "kernel_us", 1e6 * h->part.value);
	json_num(j, "seconds", hunt_seconds(h));
	json_num(j, "opening_seconds", r->opening);
	json_num(j, "verdict_seconds", r->judging);
	json_num(j, "gain_believed", hunt_gain(h));
	json_num(j, "gain_believed_se", hunt_gain_se(h));
	json_num(j, "decoded_default_seconds_more", h->decoded.value);
	json_num(j, "decoded_default_se", h->decoded.se);
	json_num(j, "default_seconds", h->default_seconds);
	add_rival(j, r->rival);
	if (h->helped.helpers)
		add_helped(j, &h->helped);
	add_curve(j, h);
	json_array(j, "checks");
	for (size_t i = 0; i < h->n_check; i++) {
		const struct hunt_check *c = &h->check[i];
		json_object(j, NULL);
		json_uint(j, "evaluation", c->evaluation);
		json_num(j, "seconds", c->seconds);
		json_num(j, "believed", c->believed);
		json_num(j, "whole", c->whole);
		json_num(j, "se", c->se);
		json_num(j, "kernels", c->parts);
		json_num(j, "kernel_us", 1e6 * c->part);
		json_bool(j, "drifted", c->drifted);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void add_environment(struct json *j, const struct result *r)
{
	const struct device_info *d = r->device;

	json_object(j, "environment");
	json_str(j, "program", opt_version());
	json_str(j, "backend", d ? d->backend : "formula");
	json_str(j, "platform", d ? d->platform : NULL);
	json_str(j, "plugin", d ? d->version : NULL);
	json_str(j, "build", d && d->build[0] ? d->build : NULL);
	json_str(j, "accelerator", d && d->device[0] ? d->device : NULL);
	json_str(j, "machine", d ? d->machine : NULL);
	json_str(j, "inputs", d && d->inputs ? "given" : NULL);
	json_end(j);
}

static void add_sites(struct json *j, const struct hunt *h)
{
	struct space *s = h->s;
	struct buf words = {0};

	json_array(j, "sites");
	for (uint32_t i = 0; i < s->n_sites; i++) {
		json_object(j, NULL);
		json_str(j, "name", s->graph->node[s->site[i].node].proto->name);
		json_uint(j, "choices", s->site[i].choices);
		json_uint(j, "default", s->site[i].dflt);
		json_uint(j, "chosen", h->config[i]);
		if (s->ops->words) {
			buf_reset(&words);
			s->ops->words(s, i, h->config[i], &words);
			json_str(j, "what", words.data);
		}
		json_end(j);
	}
	json_end(j);
	buf_release(&words);
}

static void add_decisions(struct json *j, const char *graph, const struct hunt *h)
{
	char hex[65];

	digest_hex(&h->s->graph->content, hex);
	json_str(j, "graph", graph);
	json_str(j, "content_hash", hex);
	json_str(j, "space", h->s->kind);
	json_hex(j, "space_hash", h->s->hash);
	json_hex(j, "config_hash", h->hash);
}

void output_json_config(const struct result *r, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};

	json_object(&j, NULL);
	add_decisions(&j, r->graph, r->hunt);
	json_str(&j, "before", r->before);
	add_verdict(&j, r);
	add_environment(&j, r);
	by_hand_json(r->by_hand, &j);
	screen_json(r->screen, &j);
	trim_json(r->trim, &j);
	form_json(r->form, &j);
	worth_json(r->worth, r->hunt->s, &j);
	add_sites(&j, r->hunt);
	json_end(&j);
}

void output_json_decisions(const struct result *r, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};

	json_object(&j, NULL);
	add_decisions(&j, r->graph, r->hunt);
	json_str(&j, "before", r->before);
	add_sites(&j, r->hunt);
	json_end(&j);
}

/* What was searched first. */
static void add_first(struct json *j, const struct result *r)
{
	if (!r->first)
		return;
	json_object(j, "first");
	json_str(j, "space", r->first->s->kind);
	json_str(j, "out", r->before);
	json_uint(j, "evaluations", r->first->evaluations);
	json_uint(j, "kept", r->first->kept);
	json_num(j, "seconds", hunt_seconds(r->first));
	json_num(j, "gain_believed", hunt_gain(r->first));
	json_num(j, "gain_believed_se", hunt_gain_se(r->first));
	add_withdrawn(j, r->first);
	json_end(j);
}

void output_json_summary(const struct result *r, const char *dir, struct buf *out)
{
	struct json j = {.out = out};

	json_object(&j, NULL);
	json_str(&j, "graph", r->graph);
	json_str(&j, "out", dir);
	json_uint(&j, "sites", r->hunt->s->n_sites);
	json_uint(&j, "sites_not_run", space_idle_sites(r->hunt->s, r->hunt->quantity));
	add_verdict(&j, r);
	add_first(&j, r);
	add_search(&j, r);
	add_environment(&j, r);
	by_hand_json(r->by_hand, &j);
	screen_json(r->screen, &j);
	form_json(r->form, &j);
	json_end(&j);
	buf_addch(out, '\n');
}
