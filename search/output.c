/*
 * output.c - writing the folder, and the state to go on from.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "base/json.h"
#include "base/opt.h"
#include "search/output.h"

#define STATE_LIMIT ((size_t)1 << 30)
/* Of the file `state`. The older one does not say which decisions it is about, so it cannot be trusted. */
#define STATE_MAGIC "vantage search 2"
#define STATE_MAGIC_OLD "vantage search"

static int put(const char *dir, const char *name, const void *p, size_t n, struct err *err)
{
	struct buf path = {0};
	int rc;

	buf_addf(&path, "%s/%s", dir, name);
	rc = io_write_file(path.data, p, n, err);
	buf_release(&path);
	return rc;
}

int output_prepare(const char *dir, struct err *err)
{
	struct buf path = {0};
	int rc = io_make_dir(dir, err);

	buf_addf(&path, "%s/.writable", dir);
	if (rc == 0)
		rc = io_write_file(path.data, "", 0, err);
	if (rc == 0)
		unlink(path.data);
	buf_release(&path);
	return rc;
}

static void add_inputs(struct json *j, enum inputs i, const struct numbers_on *on)
{
	json_object(j, NULL);
	json_str(j, "inputs", inputs_name(i));
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
			add_inputs(j, (enum inputs)i, &n->on[i]);
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

static void add_verdict(struct json *j, const struct result *r)
{
	bool seconds = r->verdict->quantity == QUANTITY_SECONDS;

	const struct verdict *v = r->verdict;

	json_object(j, "verdict");
	json_bool(j, "tuned", v->tuned);
	json_str(j, "sentence", v->sentence);
	json_str(j, "advice", *v->advice ? v->advice : NULL);
	json_str(j, "kind", cost_kind_name(v->kind));
	json_str(j, "estimator", *v->estimator ? v->estimator : NULL);
	json_str(j, "quantity", quantity_name(r->hunt->quantity));
	if (v->measured) {
		json_str(j, "outcome", outcome_name(v->outcome));
		json_num(j, "gain", v->gain);
		json_num(j, "gain_low", v->low);
		json_num(j, "gain_high", v->high);
		json_num(j, seconds ? "default_seconds" : "default", v->default_seconds);
		json_num(j, seconds ? "tuned_seconds" : "tuned", v->tuned_seconds);
		add_numbers(j, &v->numbers);
		json_uint(j, "instances", v->instances);
		json_uint(j, "pairs", v->pairs);
		json_uint(j, "compiled", v->compiled);
		json_num(j, "default_page_faults", v->default_faults);
		json_num(j, "tuned_page_faults", v->tuned_faults);
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

static void add_search(struct json *j, const struct result *r)
{
	const struct hunt *h = r->hunt;

	json_object(j, "search");
	json_str(j, "strategy", r->strategy);
	advisor_json(r->advisor, j);
	json_uint(j, "seed", h->o.seed);
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
	if (h->n_limits)
		json_uint(j, "beyond_limits", h->beyond);
	json_uint(j, "drift_corrections", h->drifts);
	json_num(j, "kernel_us", 1e6 * h->part.value);
	json_num(j, "seconds", hunt_seconds(h));
	json_num(j, "gain_believed", hunt_gain(h));
	json_num(j, "gain_believed_se", hunt_gain_se(h));
	json_num(j, "decoded_default_seconds_more", h->decoded.value);
	json_num(j, "decoded_default_se", h->decoded.se);
	json_num(j, "default_seconds", h->default_seconds);
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

static void write_config(const struct result *r, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};

	json_object(&j, NULL);
	add_decisions(&j, r->graph, r->hunt);
	json_str(&j, "before", r->before);
	add_verdict(&j, r);
	add_environment(&j, r);
	layouts_json(r->layouts, &j);
	add_sites(&j, r->hunt);
	json_end(&j);
}

int output_write_decisions(const char *dir, const struct result *r, struct err *err)
{
	struct buf text = {0};
	struct json j = {.out = &text, .pretty = true};
	int rc;

	json_object(&j, NULL);
	add_decisions(&j, r->graph, r->hunt);
	json_str(&j, "before", r->before);
	add_sites(&j, r->hunt);
	json_end(&j);
	rc = put(dir, "decisions.json", text.data, text.len, err);
	buf_reset(&text);
	report_write(r, &text);
	if (rc == 0)
		rc = put(dir, "report.html", text.data, text.len, err);
	buf_release(&text);
	return rc;
}

/* "a=b,c=d" as lines. */
static void write_options(const char *options, struct buf *out)
{
	buf_adds(out, options);
	buf_addch(out, '\n');
}

static int drop(const char *dir, const char *name, struct err *err)
{
	struct buf path = {0};
	int rc = 0;

	buf_addf(&path, "%s/%s", dir, name);
	if (unlink(path.data) < 0 && errno != ENOENT)
		rc = err_errno(err, "cannot remove %s", path.data);
	buf_release(&path);
	return rc;
}

static int write_executable(const char *dir, struct device *d, const struct buf *module, struct err *err)
{
	struct compiled c = {0};
	int rc = device_compile(d, COMPILE_APPLIED, "hlo", module->data, module->len, WANT_SERIALISED, &c, err);

	if (rc == 0 && c.outcome == OUTCOME_OK && c.serialised.len)
		rc = put(dir, "tuned.exe", c.serialised.data, c.serialised.len, err);
	if (c.handle)
		device_drop(d, &c, err);
	compiled_release(&c);
	return rc;
}

/* The answer in the form that the kind has for whoever uses the program. */
static int write_answer(const char *dir, const struct result *r, const uint8_t *config, struct err *err)
{
	struct space *s = r->hunt->s;
	struct buf text = {0};
	int rc = 0;

	if (s->ops->answer) {
		s->ops->answer(s, config, &text);
		rc = put(dir, s->ops->answer_file, text.data, text.len, err);
	}
	buf_release(&text);
	return rc;
}

/* What is to be used: what was found, or the default, which is the program as it was given or what people do by hand. */
static int write_module(const char *dir, const struct result *r, struct buf *module, struct buf *options, struct err *err)
{
	struct space *s = r->hunt->s;
	const struct buf *original = &r->hunt->lab->subject.original;
	bool found = r->verdict->tuned || r->verdict->forgone, decided = found || r->hunt->lab->reference;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	int rc = 0;

	space_default(s, config);
	if (found)
		memcpy(config, r->hunt->config, s->n_sites);
	if (decided)
		rc = s->ops->apply(s, config, module, err);
	else
		buf_add(module, original->data, original->len);
	if (rc == 0 && decided && r->device)
		write_options(r->device->compile_options, options);
	if (rc == 0)
		rc = write_answer(dir, r, config, err);
	mem_free(config);
	return rc;
}

int output_write(const char *dir, const struct result *r, struct device *d, struct err *err)
{
	const struct buf *original = &r->hunt->lab->subject.original;
	struct buf module = {0}, text = {0};
	int rc = drop(dir, "tuned.exe", err); /* an earlier search's */

	if (rc == 0)
		rc = write_module(dir, r, &module, &text, err);
	if (rc == 0)
		rc = put(dir, "default.pb", original->data, original->len, err);
	if (rc == 0)
		rc = put(dir, "tuned.pb", module.data, module.len, err);
	if (rc == 0)
		rc = put(dir, "options.txt", text.data ? text.data : "", text.len, err);
	if (rc == 0 && r->verdict->tuned && d && r->device->kind == COST_MEASURED)
		rc = write_executable(dir, d, &module, err);
	buf_reset(&text);
	write_config(r, &text);
	if (rc == 0)
		rc = put(dir, "config.json", text.data, text.len, err);
	buf_reset(&text);
	report_write(r, &text);
	if (rc == 0)
		rc = put(dir, "report.html", text.data, text.len, err);
	buf_release(&module);
	buf_release(&text);
	return rc;
}

void output_summary(const struct result *r, const char *dir, bool json, struct buf *out)
{
	const struct hunt *h = r->hunt;
	struct json j = {.out = out};

	if (json) {
		json_object(&j, NULL);
		json_str(&j, "graph", r->graph);
		json_str(&j, "out", dir);
		json_uint(&j, "sites", h->s->n_sites);
		add_verdict(&j, r);
		add_search(&j, r);
		add_environment(&j, r);
		layouts_json(r->layouts, &j);
		json_end(&j);
		buf_addch(out, '\n');
		return;
	}
	buf_addf(out, "%s\n", r->verdict->sentence);
	if (*r->verdict->compared)
		buf_addf(out, "%s\n", r->verdict->compared);
	if (*r->verdict->advice)
		buf_addf(out, "%s\n", r->verdict->advice);
	buf_addf(out, "%llu evaluation%s in %.1f s: %llu measured, %llu cached, %llu kept, %llu refuted when measured again",
		(unsigned long long)h->evaluations, h->evaluations == 1 ? "" : "s", hunt_seconds(h),
		(unsigned long long)h->measured, (unsigned long long)h->cached, (unsigned long long)h->kept,
		(unsigned long long)h->refuted);
	if (h->beyond)
		buf_addf(out, ", %llu beyond a limit", (unsigned long long)h->beyond);
	for (int o = 1; o < OUTCOME_COUNT; o++)
		if (h->failed[o])
			buf_addf(out, ", %llu %s", (unsigned long long)h->failed[o], outcome_name((enum outcome)o));
	if (h->used_up)
		buf_adds(out, "; nothing was left to try");
	buf_addch(out, '\n');
	layouts_text(r->layouts, out);
	buf_addf(out, "%s/report.html\n", dir);
}

/* What a configuration means and what costs are relative to: the sites with their choices, and the default. */
static uint64_t decisions(const struct space *s)
{
	uint8_t *dflt = mem_alloc(s->n_sites + 1);
	uint64_t h;

	space_default(s, dflt);
	h = hash_mix(s->hash, config_hash(s, dflt));
	mem_free(dflt);
	return h;
}

int output_save_state(const char *dir, const struct hunt *h, const char *settings, struct err *err)
{
	struct buf b = {0};
	int rc;

	buf_str(&b, STATE_MAGIC);
	buf_str(&b, settings);
	buf_u64(&b, decisions(h->s));
	hunt_save(h, &b);
	rc = put(dir, "state", b.data, b.len, err);
	buf_release(&b);
	return rc;
}

int output_load_state(const char *dir, struct hunt *h, const char *settings, bool *other, struct err *err)
{
	struct buf path = {0}, b = {0};
	char *magic = NULL, *saved = NULL;
	int rc = 0;

	buf_addf(&path, "%s/state", dir);
	if (!io_exists(path.data))
		goto out;
	rc = -1;
	if (io_read_file(path.data, STATE_LIMIT, &b, err) < 0)
		goto out;
	struct cursor in = cursor_of(b.data, b.len);
	magic = cursor_str(&in);
	saved = cursor_str(&in);
	if (strcmp(magic, STATE_MAGIC) != 0 && strcmp(magic, STATE_MAGIC_OLD) != 0)
		err_set(err, "%s is no saved search", path.data);
	else if (strcmp(saved, settings) != 0)
		err_set(err, "%s was saved by a search with other settings (%s); choose another --out, or leave out --resume",
			path.data, saved);
	else if (strcmp(magic, STATE_MAGIC_OLD) == 0 || cursor_u64(&in) != decisions(h->s))
		rc = 0, *other = true;
	else if (hunt_load(h, in.p, cursor_left(&in), err) == 0)
		rc = 1;
	else
		err_prefix(err, "%s", path.data);
out:
	mem_free(magic);
	mem_free(saved);
	buf_release(&path);
	buf_release(&b);
	return rc;
}

bool output_saved_setting(const char *dir, const char *key, struct buf *out)
{
	struct buf path = {0}, b = {0}, start = {0};
	char *magic, *saved;
	const char *value;
	bool found = false;

	buf_addf(&path, "%s/state", dir);
	buf_addf(&start, "\"%s\":\"", key);
	if (io_exists(path.data) && io_read_file(path.data, STATE_LIMIT, &b, NULL) == 0) {
		struct cursor in = cursor_of(b.data, b.len);
		magic = cursor_str(&in);
		saved = cursor_str(&in);
		value = strstr(saved, start.data);
		found = (strcmp(magic, STATE_MAGIC) == 0 || strcmp(magic, STATE_MAGIC_OLD) == 0) && value;
		if (found) {
			value += start.len;
			buf_add(out, value, strcspn(value, "\""));
		}
		mem_free(magic);
		mem_free(saved);
	}
	buf_release(&path);
	buf_release(&b);
	buf_release(&start);
	return found;
}

int output_drop_state(const char *dir, struct err *err)
{
	return drop(dir, "state", err);
}
