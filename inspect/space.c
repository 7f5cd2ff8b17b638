/*
 * space.c - `inspect --space FILE`: shows what can be decided about a program, and what one decision costs.
 *
 * It counts the sites by opcode, by number of choices and by class. It shows what the compiler's default makes of the
 * program, and how much of it choices can say. With --flip, each other choice of one site is measured against the
 * default twice, by region and by whole programs: the quickest way to see whether the two agree on a machine.
 */
#include "inspect/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/progress.h"
#include "base/re.h"
#include "cost/cost.h"
#include "inspect/inspect.h"
#include "lab/lab.h"
#include "ready/subject.h"

#define TOP 12 /* opcodes and classes shown to people */

struct tally { /* counts sites with the same opcode or class */
	uint32_t what, sites, plain; /* what: the opcode or class; plain: sites whose default is choice 0 */
};

static int by_sites(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->sites != y->sites)
		return x->sites < y->sites ? 1 : -1;
	return (x->what > y->what) - (x->what < y->what);
}

/* Counts sites by opcode, or by class; most sites first. Returns how many opcodes or classes have any. */
static uint32_t tally(const struct space *s, bool classes, struct tally *t, uint32_t room)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < room; i++)
		t[i] = (struct tally){.what = i};
	for (uint32_t i = 0; i < s->n_sites; i++) {
		const struct site *x = &s->site[i];
		struct tally *at = &t[classes ? x->tie : s->graph->node[x->node].opcode];
		at->sites++;
		at->plain += x->dflt == 0;
	}
	qsort(t, room, sizeof *t, by_sites);
	while (n < room && t[n].sites)
		n++;
	return n;
}

static void put_choices(const struct space *s, struct json *j, struct buf *out)
{
	uint32_t count[SPACE_CHOICES + 1] = {0};
	bool first = true;

	for (uint32_t i = 0; i < s->n_sites; i++)
		count[s->site[i].choices]++;
	for (uint32_t k = 2; k <= SPACE_CHOICES; k++) {
		char key[8];
		if (count[k] == 0)
			continue;
		snprintf(key, sizeof key, "%u", k);
		if (j)
			json_uint(j, key, count[k]);
		else
			buf_addf(out, "%s%u with %u", first ? "" : ", ", count[k], k);
		first = false;
	}
}

/* Shows why the choices cannot say all that the compiler did. */
static void put_causes(const struct space_account *a, struct buf *out)
{
	for (uint32_t c = 0; c < a->n_causes; c++)
		if (a->cause[c].parts)
			buf_addf(out, "differ    %u: %s, first %s\n", a->cause[c].parts, a->cause[c].meaning,
				a->cause[c].first);
}

static void put_account(const struct space_account *a, struct json *j)
{
	json_object(j, "default");
	json_uint(j, "parts", a->parts);
	json_uint(j, "equal", a->equal);
	json_uint(j, "instructions_added", a->added);
	json_object(j, "causes");
	for (uint32_t c = 0; c < a->n_causes; c++)
		json_uint(j, a->cause[c].name, a->cause[c].parts);
	json_end(j);
	json_object(j, "first");
	for (uint32_t c = 0; c < a->n_causes; c++)
		if (a->cause[c].parts)
			json_str(j, a->cause[c].name, a->cause[c].first);
	json_end(j);
	json_end(j);
}

static void put_text(struct subject *s, struct buf *out)
{
	struct space *sp = s->space;
	uint32_t room = sp->n_ties > OP_COUNT ? sp->n_ties : OP_COUNT + 1, n;
	struct tally *t = MEM_NEW(room, struct tally);
	uint8_t *dflt = mem_alloc(sp->n_sites);

	buf_addf(out, "program   %s, %u instructions\n", s->name, s->graph.n_nodes);
	buf_addf(out, "space     %s, %u sites in %u classes, table %016llx\n", sp->kind, sp->n_sites,
		sp->n_ties, (unsigned long long)sp->hash);
	buf_adds(out, "choices   ");
	put_choices(sp, NULL, out);
	buf_adds(out, sp->n_sites ? "\n" : "none: there is nothing to decide\n");
	space_default(sp, dflt);
	if (sp->ops->summary) {
		buf_adds(out, "default   ");
		sp->ops->summary(sp, dflt, out);
		buf_addch(out, '\n');
	}
	buf_addf(out, "decoded   %s\n", s->decoded);
	put_causes(&sp->account, out);
	n = tally(sp, false, t, OP_COUNT + 1);
	for (uint32_t i = 0; i < n && i < TOP; i++)
		buf_addf(out, "%s%-24s %6u sites, %6u plain by default\n", i ? "          " : "sites     ",
			opcode_name((uint16_t)t[i].what), t[i].sites, t[i].plain);
	n = tally(sp, true, t, sp->n_ties);
	for (uint32_t i = 0; i < n && i < TOP / 2 && t[i].sites > 1; i++)
		buf_addf(out, "%sclass %-18u %6u sites, %6u plain by default\n",
			i ? "          " : "classes   ", t[i].what, t[i].sites, t[i].plain);
	mem_free(dflt);
	mem_free(t);
}

static void put_json(struct subject *s, struct json *j)
{
	struct space *sp = s->space;
	struct tally *t = MEM_NEW(OP_COUNT + 1, struct tally);
	uint32_t n = tally(sp, false, t, OP_COUNT + 1);

	json_str(j, "name", s->name);
	json_uint(j, "instructions", s->graph.n_nodes);
	json_str(j, "kind", sp->kind);
	json_uint(j, "sites", sp->n_sites);
	json_uint(j, "classes", sp->n_ties);
	json_hex(j, "table", sp->hash);
	json_str(j, "decoded", s->decoded);
	if (sp->account.parts)
		put_account(&sp->account, j);
	json_num(j, "extract_seconds", s->extract_seconds);
	json_object(j, "choices");
	put_choices(sp, j, NULL);
	json_end(j);
	json_object(j, "opcodes");
	for (uint32_t i = 0; i < n; i++)
		json_uint(j, opcode_name((uint16_t)t[i].what), t[i].sites);
	json_end(j);
	mem_free(t);
}

static void put_site(const struct space *s, uint32_t i, struct json *j, struct buf *out)
{
	const struct site *x = &s->site[i];
	const struct node *n = &s->graph->node[x->node];

	if (!j) {
		buf_addf(out, "site      %-28s %-20s %u choices, %u by default, class %u\n", n->proto->name,
			opcode_name(n->opcode), x->choices, x->dflt, x->tie);
		return;
	}
	json_object(j, NULL);
	json_str(j, "node", n->proto->name);
	json_str(j, "opcode", opcode_name(n->opcode));
	json_uint(j, "choices", x->choices);
	json_uint(j, "default", x->dflt);
	json_uint(j, "class", x->tie);
	json_end(j);
}

static int put_sites(const struct space *s, const char *pattern, struct json *j, struct buf *out,
	struct err *err)
{
	struct re *re = re_new(pattern, err);

	if (!re)
		return -1;
	if (j)
		json_array(j, "sites_matching");
	for (uint32_t i = 0; i < s->n_sites; i++) {
		const char *name = s->graph->node[s->site[i].node].proto->name;
		if (re_match(re, name, strlen(name)))
			put_site(s, i, j, out);
	}
	if (j)
		json_end(j);
	re_free(re);
	return 0;
}

struct tried_flip { /* one choice, measured by region and by whole programs */
	uint8_t choice;
	struct buf what; /* it means, where the kind says so in words */
	struct delta region;
	struct timing whole;
	double region_wall, whole_wall;
};

static void put_flip(const struct tried_flip *f, struct json *j, struct buf *out)
{
	enum quantity q = f->region.quantity;

	if (!j) {
		buf_addf(out, "choice %u  region ", f->choice);
		if (f->region.outcome == OUTCOME_OK)
			buf_addf(out, "%+.3f +- %.3f %s (%u places, %.2f s)", quantity_in_unit(q, f->region.seconds),
				quantity_in_unit(q, f->region.se), quantity_unit(q), f->region.regions, f->region_wall);
		else
			buf_addf(out, "%s: %.200s", outcome_name(f->region.outcome), f->region.detail);
		if (f->whole.outcome == OUTCOME_OK)
			buf_addf(out, ", whole %+.3f +- %.3f %s (%.2f s)", quantity_in_unit(q, f->whole.delta),
				quantity_in_unit(q, f->whole.delta_se), quantity_unit(q), f->whole_wall);
		else
			buf_addf(out, ", whole %s: %.200s", outcome_name(f->whole.outcome), f->whole.detail);
		if (f->what.len)
			buf_addf(out, "; %s", f->what.data);
		buf_addch(out, '\n');
		return;
	}
	json_object(j, NULL);
	json_uint(j, "choice", f->choice);
	json_str(j, "what", f->what.data);
	json_str(j, "region_outcome", outcome_name(f->region.outcome));
	json_num(j, "region", f->region.seconds);
	json_num(j, "region_se", f->region.se);
	json_num(j, "region_wall", f->region_wall);
	json_uint(j, "places", f->region.regions);
	json_str(j, "whole_outcome", outcome_name(f->whole.outcome));
	json_num(j, "whole", f->whole.delta);
	json_num(j, "whole_se", f->whole.delta_se);
	json_num(j, "whole_wall", f->whole_wall);
	json_end(j);
}

static int measure_flip(struct cost *c, const uint8_t *dflt, const uint8_t *config, struct tried_flip *f,
	struct err *err)
{
	double start = now_seconds();

	if (cost_delta(c, dflt, config, &f->region, err) < 0)
		return -1;
	f->region_wall = now_seconds() - start;
	start = now_seconds();
	if (cost_whole(c, dflt, config, NULL, &f->whole, err) < 0)
		return -1;
	f->whole_wall = now_seconds() - start;
	timing_release(&f->whole);
	return 0;
}

static int measure_flips(struct cost *c, struct space *sp, uint32_t site, struct json *j, struct buf *out,
	struct err *err)
{
	uint8_t *dflt = mem_alloc(sp->n_sites), *config = mem_alloc(sp->n_sites);
	int rc = 0;

	space_default(sp, dflt);
	space_default(sp, config);
	for (uint8_t k = 0; k < sp->site[site].choices && rc == 0; k++) {
		struct tried_flip f = {.choice = k};
		config[site] = k;
		if (k == dflt[site])
			continue;
		if (sp->ops->words)
			sp->ops->words(sp, site, k, &f.what);
		rc = measure_flip(c, dflt, config, &f, err);
		if (rc == 0)
			put_flip(&f, j, out);
		buf_release(&f.what);
	}
	mem_free(dflt);
	mem_free(config);
	return rc;
}

static int put_flips(const struct inspect_space *o, struct subject *s, struct json *j, struct buf *out,
	struct err *err)
{
	struct space *sp = s->space;
	uint32_t v = graph_find(&s->graph, o->flip), site = v == NONE ? NONE : sp->site_of[v];
	double seconds, se;
	struct cost *c;
	int rc = -1;

	if (site == NONE)
		return err_set(err, v == NONE ? "%s has no instruction called %.100s at the stage of this decision; "
						"--nodes . lists what there is to decide about"
					      : "in %s there is nothing to decide about %.100s", s->name, o->flip);
	c = cost_new(sp, o->device, NULL, err);
	if (!c)
		return -1;
	if (cost_default_seconds(c, &seconds, &se, err) < 0)
		goto out;
	if (j) {
		json_num(j, "default_seconds", seconds);
		json_str(j, "flip", o->flip);
		json_uint(j, "default_choice", sp->site[site].dflt);
		json_array(j, "choices_measured");
	} else {
		buf_addf(out, "flip      %s: %u choices, %u by default; the program takes %.4g %s (%s)\n", o->flip,
			sp->site[site].choices, sp->site[site].dflt, quantity_in_unit(cost_quantity(c), seconds),
			quantity_unit(cost_quantity(c)), cost_kind_name(cost_kind(c)));
	}
	rc = measure_flips(c, sp, site, j, out, err);
	if (j)
		json_end(j);
out:
	cost_free(c);
	return rc;
}

int inspect_space(const struct inspect_space *o, struct buf *out, struct err *err)
{
	struct subject s = {0};
	struct json j = {.out = out, .pretty = true};
	int rc = subject_open(&s, o->path, o->kind, o->device, err);

	if (rc == 0 && o->json) {
		json_object(&j, NULL);
		put_json(&s, &j);
	} else if (rc == 0) {
		put_text(&s, out);
	}
	if (rc == 0 && o->nodes)
		rc = put_sites(s.space, o->nodes, o->json ? &j : NULL, out, err);
	if (rc == 0 && o->flip)
		rc = put_flips(o, &s, o->json ? &j : NULL, out, err);
	if (rc == 0 && o->json) {
		json_end(&j);
		buf_addch(out, '\n');
	}
	subject_release(&s);
	return rc;
}

/* Opens the device. If the user named none and there is no plugin, goes on without one, and says what that means. */
static int open_device(const struct inspect_settings *set, const char *path, struct device **d,
	struct err *err)
{
	struct device_options o = {.backend = set->device, .kind = set->space_kind, .wait = true,
		.untimed = !set->flip};
	struct err why = {0};

	if (space_maker(path))
		return 0;
	if (lab_place(&o, "1", set->replicas, set->partitions, err) < 0)
		return -1;
	*d = inspect_open(&o, &why);
	if (*d && !set->device && !set->flip && !device_passes(*d)->decides) {
		device_close(*d); /* it would only count how often loops turn, and would run the program for it */
		*d = NULL;
		return 0;
	}
	if (*d)
		return 0;
	if (set->device || set->flip)
		return err_set(err, "%s", why.text);
	fprintf(stderr, "inspect: without the compiler, by the rules alone: %s\n", why.text);
	return 0;
}

int inspect_decisions(struct inspection *in)
{
	const struct inspect_settings *set = in->set;
	struct inspect_space o = {.path = in->path, .kind = set->space_kind, .nodes = set->nodes,
		.flip = set->flip, .json = set->json};
	int rc = open_device(set, in->path, &o.device, in->err);

	if (rc == 0)
		rc = inspect_space(&o, in->out, in->err);
	device_close(o.device);
	return rc;
}
