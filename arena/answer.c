/*
 * answer.c - see answer.h. An answer begins with "ok" and the request's id. Everything else depends on the request, one
 * function each. What is refused is told in a sentence, and nothing was done then.
 */
#include "arena/answer.h"

#include <string.h>
#include "arena/sight.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"

#define MODULE_INLINE ((size_t)8 << 20) /* bytes of a module that goes into an answer */

struct reply { /* what every function of a request gets */
	struct contest *c;
	const struct request *r;
	struct json *j;	 /* inside the answer's object */
	bool refused;	 /* where the function returns -1: the client may go on */
	bool spent;	 /* ... but not with prices */
	struct err *err;
};

static int refuse(struct reply *a, const char *sentence)
{
	a->refused = true;
	return err_set(a->err, "%s", sentence);
}

static void add_budget(struct json *j, const struct contest *c)
{
	const struct contest_settings *set = c->set;

	json_object(j, "budget");
	json_uint(j, "priced", c->priced);
	json_num(j, "seconds", c->spent);
	if (set->budget)
		json_uint(j, "left", (uint64_t)set->budget - c->priced);
	if (set->seconds > 0)
		json_num(j, "seconds_left", set->seconds > c->spent ? set->seconds - c->spent : 0);
	json_bool(j, "over", c->over);
	json_end(j);
}

static void add_config(struct json *j, const char *key, const struct space *s, const uint8_t *config)
{
	json_array(j, key);
	for (uint32_t i = 0; i < s->n_sites; i++)
		json_uint(j, NULL, config[i]);
	json_end(j);
}

static int hello(struct reply *a)
{
	const struct contest *c = a->c;
	const struct lab *l = &c->lab;
	const struct space *s = l->space;
	char hex[65];

	digest_hex(&s->graph->content, hex);
	json_str(a->j, "arena", "vantage");
	json_int(a->j, "version", ARENA_VERSION);
	json_str(a->j, "program", opt_version());
	json_str(a->j, "graph", l->subject.name);
	json_str(a->j, "content_hash", hex);
	json_str(a->j, "space", s->kind);
	json_hex(a->j, "space_hash", s->hash);
	json_str(a->j, "backend", c->has_device ? c->info.backend : "formula");
	json_str(a->j, "quantity", quantity_name(l->quantity));
	json_str(a->j, "kind", cost_kind_name(l->kind));
	json_str(a->j, "estimator", c->info.estimator[0] ? c->info.estimator : NULL);
	json_bool(a->j, "exact", l->kind != COST_MEASURED || quantity_deterministic(l->quantity));
	json_num(a->j, "default", c->default_cost);
	json_num(a->j, "default_se", c->default_se);
	json_uint(a->j, "sites", s->n_sites);
	json_uint(a->j, "classes", s->n_ties);
	json_array(a->j, "starts");
	for (const struct space_start *p = s->ops->starts; p && p->name; p++)
		json_str(a->j, NULL, p->name);
	json_end(a->j);
	json_array(a->j, "limits");
	for (uint32_t i = 0; i < l->n_limits; i++) {
		struct buf text = {0};
		limit_text(&l->limit[i].limit, &text);
		json_str(a->j, NULL, text.data);
		buf_release(&text);
	}
	json_end(a->j);
	json_bool(a->j, "store", c->archive.run != NULL);
	add_budget(a->j, c);
	return 0;
}

static int space(struct reply *a)
{
	const struct space *s = a->c->lab.space;

	json_str(a->j, "meaning", s->ops->kind->choices);
	json_array(a->j, "choices");
	for (uint32_t i = 0; i < s->n_sites; i++)
		json_uint(a->j, NULL, s->site[i].choices);
	json_end(a->j);
	json_array(a->j, "default");
	for (uint32_t i = 0; i < s->n_sites; i++)
		json_uint(a->j, NULL, s->site[i].dflt);
	json_end(a->j);
	json_array(a->j, "class");
	for (uint32_t i = 0; i < s->n_sites; i++)
		json_uint(a->j, NULL, s->site[i].tie);
	json_end(a->j);
	json_array(a->j, "name");
	for (uint32_t i = 0; i < s->n_sites; i++)
		json_str(a->j, NULL, s->graph->node[s->site[i].node].proto->name);
	json_end(a->j);
	return 0;
}

static int features(struct reply *a)
{
	struct contest *c = a->c;

	if (!c->scene.space)
		feature_open(&c->scene, c->lab.space);
	if (a->r->has & HAS_FROM)
		sight_flips(&c->scene, a->r->from, a->r->config, a->j);
	else
		sight_sites(&c->scene, a->r->config, a->j);
	return 0;
}

/* Moves one site of `config` to another choice. */
static int flip_one(struct reply *a, struct rng *rng, uint8_t *config)
{
	const struct space *s = a->c->lab.space;
	uint32_t site;
	uint8_t choice;

	if (s->n_sites == 0)
		return refuse(a, "there is nothing to flip: the program has no sites");
	site = (uint32_t)rng_below(rng, s->n_sites);
	choice = (uint8_t)rng_below(rng, s->site[site].choices - 1u);
	choice = (uint8_t)(choice + (choice >= config[site]));
	config[site] = choice;
	json_uint(a->j, "site", site);
	json_uint(a->j, "choice", choice);
	return 0;
}

/* Replaces `config` by what our own search would try from it. */
static int guided(struct reply *a, struct rng *rng, uint8_t *config)
{
	struct err why = {0};
	const char *by;

	if (contest_advise(a->c, config, rng, &by, &why) < 0)
		return refuse(a, why.text);
	json_str(a->j, "by", by);
	return 0;
}

static int ask(struct reply *a)
{
	struct contest *c = a->c;
	const struct request *r = a->r;
	struct space *s = c->lab.space;
	const struct space_start *start = space_start_find(s, r->how);
	uint8_t *config = mem_alloc(s->n_sites + 1);
	struct rng own, *rng = &c->rng;
	int rc = 0;

	if (r->has & HAS_SEED) {
		rng_seed2(&own, (uint64_t)r->seed, 0x61736b);
		rng = &own;
	}
	memcpy(config, r->has & HAS_FROM ? r->from : c->dflt, s->n_sites);
	if (strcmp(r->how, "random") == 0)
		space_random(s, 0.1 + 0.8 * rng_unit(rng), rng, config);
	else if (strcmp(r->how, "flip") == 0)
		rc = flip_one(a, rng, config);
	else if (strcmp(r->how, "guided") == 0)
		rc = guided(a, rng, config);
	else if (start)
		start->fill(c->lab.space, config);
	else if (strcmp(r->how, "default") == 0)
		space_default(s, config);
	else
		rc = refuse(a, "\"how\" is random, flip, guided, default, or a start that hello names");
	if (rc == 0)
		add_config(a->j, "config", s, config);
	mem_free(config);
	return rc;
}

static int read_ask(struct reply *a, struct contest_ask *ask)
{
	static const char *const how[] = {"usual", "again", "whole"};
	const struct request *r = a->r;

	*ask = (struct contest_ask){.to = r->config, .from = r->has & HAS_FROM ? r->from : NULL};
	if (r->has & HAS_HOW) {
		int i = 0;
		while (i < 3 && strcmp(r->how, how[i]) != 0)
			i++;
		if (i == 3)
			return refuse(a, "\"how\" is usual, again (with more "
				"precision), or whole (by running whole programs)");
		ask->how = (enum contest_how)i;
	}
	if (r->has & HAS_QUANTITY && lab_objective(r->quantity, &ask->quantity, a->err) < 0)
		return a->refused = true, -1;
	return 0;
}

static int price(struct reply *a)
{
	struct contest_price p;
	struct contest_ask ask;
	const struct delta *d = &p.delta;
	bool ok;

	if (read_ask(a, &ask) < 0)
		return -1;
	a->spent = contest_spent(a->c);
	if (contest_price(a->c, &ask, &p, &a->refused, a->err) < 0)
		return -1;
	ok = d->outcome == OUTCOME_OK;
	json_str(a->j, "outcome", outcome_name(d->outcome));
	if (!ok)
		json_str(a->j, "detail", d->detail);
	json_str(a->j, "quantity", quantity_name(d->quantity));
	json_str(a->j, "kind", cost_kind_name(d->kind));
	if (ok) {
		json_num(a->j, "value", d->seconds);
		json_num(a->j, "se", d->se);
		json_bool(a->j, "bound", d->gave_up);
	}
	if (p.known) {
		json_num(a->j, "total", p.total.value);
		json_num(a->j, "total_se", p.total.se);
	}
	json_bool(a->j, "cached", d->measured == 0);
	json_uint(a->j, "regions", d->regions);
	json_uint(a->j, "measured", d->measured);
	json_num(a->j, "seconds", p.wall);
	json_num(a->j, "inside", d->inside);
	add_budget(a->j, a->c);
	return 0;
}

static int tell(struct reply *a)
{
	struct estimate cost;

	if (contest_tell(a->c, a->r->config, &cost, &a->refused, a->err) < 0)
		return -1;
	json_num(a->j, "total", cost.value);
	json_num(a->j, "total_se", cost.se);
	json_bool(a->j, "best", memcmp(a->r->config, a->c->best, a->c->lab.space->n_sites) == 0);
	return 0;
}

/* Is it the name of a file and nothing more: without a folder, and not hidden? */
static bool plain_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static int keep_module(struct reply *a, const struct buf *module)
{
	struct buf path = {0};
	struct err why = {0};
	int rc = 0;

	if (!a->c->set->out)
		return refuse(a, "the server was given no folder to write to: "
			"start it with --out DIR, or ask without \"name\"");
	if (!plain_name(a->r->name))
		return refuse(a, "\"name\" is the name of a file, without a folder and without a dot in front");
	buf_addf(&path, "%s/%s", a->c->set->out, a->r->name);
	if (io_write_file(path.data, module->data, module->len, &why) < 0)
		rc = refuse(a, why.text);
	else
		json_str(a->j, "path", path.data);
	buf_release(&path);
	return rc;
}

static void add_base64(struct json *j, const char *key, const struct buf *b)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct buf text = {0};

	buf_reserve(&text, b->len / 3 * 4 + 4);
	for (size_t i = 0; i < b->len; i += 3) {
		uint32_t v = 0;
		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (i + k < b->len ? (unsigned char)b->data[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buf_addch(&text, i + k <= b->len ? digit[v >> (18 - 6 * k) & 63] : '=');
	}
	json_str(j, key, text.len ? text.data : "");
	buf_release(&text);
}

static int apply(struct reply *a)
{
	struct space *s = a->c->lab.space;
	struct buf module = {0};
	struct digest digest;
	struct err why = {0};
	char hex[65];
	int rc = 0;

	if (s->ops->apply(s, a->r->config, &module, &why) < 0)
		rc = refuse(a, why.text);
	else if (a->r->has & HAS_NAME)
		rc = keep_module(a, &module);
	else if (module.len > MODULE_INLINE)
		rc = refuse(a, "the program is too large for an answer: give a \"name\", and it becomes a file");
	else
		add_base64(a->j, "module", &module);
	if (rc == 0) {
		sha256_of(module.data, module.len, &digest);
		digest_hex(&digest, hex);
		json_str(a->j, "sha256", hex);
		json_uint(a->j, "bytes", module.len);
	}
	buf_release(&module);
	return rc;
}

static int verdict(struct reply *a)
{
	struct contest *c = a->c;
	struct verdict v;

	if (c->over)
		return refuse(a, "there was a verdict, and there is only one");
	if (contest_verdict(c, a->r->has & HAS_CONFIG ? a->r->config : c->has_told ? c->told : c->best, &v, a->err) < 0)
		return -1;
	json_bool(a->j, "tuned", v.tuned);
	json_str(a->j, "sentence", v.sentence);
	json_str(a->j, "quantity", quantity_name(v.quantity));
	json_str(a->j, "kind", cost_kind_name(v.kind));
	json_bool(a->j, "measured", v.measured);
	if (v.measured) {
		json_str(a->j, "outcome", outcome_name(v.outcome));
		json_num(a->j, "gain", v.gain);
		json_num(a->j, "gain_low", v.low);
		json_num(a->j, "gain_high", v.high);
		json_num(a->j, "default", v.default_seconds);
		json_num(a->j, "with", v.tuned_seconds);
		json_str(a->j, "numbers", outcome_name(v.numbers.outcome));
	}
	add_budget(a->j, c);
	return 0;
}

static int quit_server(struct reply *a)
{
	(void)a;
	return 0;
}

static int (*const function[])(struct reply *) = {
	[DO_HELLO] = hello, [DO_SPACE] = space, [DO_FEATURES] = features, [DO_ASK] = ask, [DO_PRICE] = price,
	[DO_TELL] = tell, [DO_APPLY] = apply,
	[DO_VERDICT] = verdict, [DO_QUIT] = quit_server};
_Static_assert(sizeof function / sizeof *function == DO_COUNT, "every request has a function");

/* Writes the beginning of every answer: {"ok": ..., "id": ... */
static void begin(struct json *j, const struct request *r, bool ok)
{
	json_object(j, NULL);
	json_bool(j, "ok", ok);
	if (r->has & HAS_ID)
		json_int(j, "id", r->id);
}

int answer(struct contest *c, struct request *r, const char *text, size_t n, struct buf *out, bool *quit,
	struct err *err)
{
	struct known_configs known = {c->lab.space, c->best, c->has_told ? c->told : NULL};
	struct json j = {.out = out};
	struct reply a = {.c = c, .r = r, .j = &j, .err = err};
	size_t start = out->len;
	int rc;

	r->has = 0;
	if (!text)
		rc = err_set(err, "the line is longer than %zu bytes", LINE_MOST);
	else
		rc = request_read(r, &known, text, n, err);
	a.refused = rc < 0;
	if (rc == 0) {
		begin(&j, r, true);
		rc = function[r->what](&a);
		*quit = rc == 0 && r->what == DO_QUIT;
	}
	if (rc < 0) { /* what was begun is replaced by the sentence */
		out->len = start;
		j = (struct json){.out = out};
		begin(&j, r, false);
		json_str(&j, "error", err->text);
		if (a.spent)
			json_bool(&j, "spent", true);
		if (!a.refused)
			json_bool(&j, "fatal", true);
	}
	json_end(&j);
	buf_addch(out, '\n');
	return rc < 0 && !a.refused ? -1 : 0;
}
