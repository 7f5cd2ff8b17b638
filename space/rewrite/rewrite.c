/*
 * rewrite.c - opens the space: finds which rules apply where in the user's program.
 *
 * A site is a node at which a rule applies. Its choices are the variants of all rules that apply there; choice 0 leaves
 * the node as it is. So rules that would replace the same value exclude each other. Places can overlap in other ways,
 * too; effect.c decides which of them takes effect. A configuration is always applied to the program as it was opened,
 * never to a rewritten one.
 *
 * The full name may ask for rules that need asking, "rewrite/with:RULE", leave rules out, "rewrite/without:RULE:RULE",
 * and name parameters that do not change from run to run, "rewrite/hoist:0-17:20" (hoist.c). It is stored, so a saved
 * configuration is never read in a space with other rules.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "space/rewrite/own.h"

static int check(struct space *s, const uint8_t *config, const void *optimised, size_t n, struct check_result *out,
	struct err *err)
{
	(void)optimised;
	(void)n;
	(void)err;
	*out = (struct check_result){0};
	rewrite_real(s, config, rewrite_of(s)->real);
	for (uint32_t i = 0; i < s->n_sites; i++)
		out->asked += rewrite_of(s)->real[i] != 0;
	out->found = out->equal = out->asked; /* the compiler may change the program as it likes */
	return 0;
}

static void summary(struct space *s, const uint8_t *config, struct buf *out)
{
	uint32_t real = 0, inert = 0;

	rewrite_real(s, config, rewrite_of(s)->real);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		real += rewrite_of(s)->real[i] != 0;
		inert += config[i] && !rewrite_of(s)->real[i];
	}
	buf_addf(out, "%u places rewritten", real);
	if (inert)
		buf_addf(out, ", %u inert because an earlier one took what they are about", inert);
}

static double promise(struct space *s, uint32_t site, uint8_t choice)
{
	const struct offer *o = rewrite_offer(s, site, choice);

	return o ? 1e-9 * (double)o->promise : 0;
}

static void words(struct space *s, uint32_t site, uint8_t choice, struct buf *out)
{
	const struct offer *o = rewrite_offer(s, site, choice);
	const struct rule *r = o ? rewrite_rule(s, o) : NULL;

	if (r)
		buf_addf(out, "%s: %s", r->name, r->variant[o->variant - 1]);
	if (r && o->leader != NONE)
		buf_addf(out, ", with %s", s->graph->node[o->leader].proto->name);
	if (!r)
		buf_adds(out, "as it is");
}

static uint32_t rule_number(struct space *s, uint32_t site, uint8_t choice)
{
	const struct offer *o = rewrite_offer(s, site, choice);

	return o ? 1u + o->rule : 0;
}

/* Sets every site to the choice that promises most. Promises of rules priced by whole programs are not relied on. */
static void fill_promised(struct space *s, uint8_t *config)
{
	for (uint32_t i = 0; i < s->n_sites; i++) {
		config[i] = 0;
		for (uint8_t k = 1; k < s->site[i].choices; k++)
			if (!rewrite_rule(s, rewrite_offer(s, i, k))->whole && promise(s, i, k) > 0 &&
				promise(s, i, k) >= promise(s, i, config[i]))
				config[i] = k;
	}
}

static bool is_dear(const struct space *s, uint32_t site)
{
	bool dear = false;

	for (uint8_t k = 1; k < s->site[site].choices; k++)
		dear |= rewrite_told_whole(s, site, k);
	return dear;
}

#define PROMISED "promised"
static const struct space_start starts[] = {{PROMISED, fill_promised}, {NULL, NULL}};

static void release(struct space *s)
{
	rules_release(&rewrite_of(s)->rules);
	mem_free(rewrite_of(s)->family);
}

/*
 * A call of oneDNN makes a plan of what it does, every time, and its code is cold in a program. Of 64 x 256 x 256
 * numbers in f32 or bf16 a call took 7 to 9 us less than the product, each alone, and 5 to 9 more in programs of 10 to
 * 100 of them (30 where megabytes are read between them). Of 512 x 512 x 512 it took 64 less alone, 71 in a program.
 */
#define CALL_SECONDS 16e-6

/* What both sets of operations have. */
#define SHARED_OPS \
	.kind = &rewrite_kind, .apply = rewrite_apply, .region = rewrite_region, .check = check, \
	.context = rewrite_context, .effect = rewrite_effect, .touched = space_touched_sites, \
	.part_seconds = CALL_SECONDS, .part = "call of oneDNN", \
	.undecided = "the program as it was handed in", .summary = summary, .starts = starts, \
	.promise = promise, .dear = is_dear, .believe = rewrite_believe, .rule = rule_number, .words = words, \
	.picture = rewrite_picture, .operators = rewrite_operators, .together = near_together, \
	.scheme = rewrite_block, .taken = rewrite_taken, .alternative = rewrite_alternative, .release = release

static const struct space_ops rewrite_ops = {SHARED_OPS};
/* ... where parameters are hoisted. */
static const struct space_ops hoisted_ops = {SHARED_OPS, .prepares = true, .apply_whole = rewrite_apply_whole,
	.answer = rewrite_prepare};

/* The number of the rule with this name, or how many there are. */
static size_t find_rule(const struct rules *rules, const char *name, size_t len)
{
	size_t i = 0;

	while (i < rules->n && (strlen(rules->rule[i].name) != len || strncmp(rules->rule[i].name, name, len) != 0))
		i++;
	return i;
}

/* Marks the rules of a list "RULE:RULE". */
static int read_rules(const struct rules *rules, const char *list, size_t n, bool *out, struct err *err)
{
	struct buf names = {0};
	int rc = 0;

	for (size_t i = 0; i < rules->n; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", rules->rule[i].name);
	for (const char *p = list; p <= list + n && rc == 0;) {
		size_t len = strcspn(p, ":/"), i = find_rule(rules, p, len);
		if (i < rules->n)
			out[i] = true;
		else
			rc = err_set(err, "there is no rule called %.*s; the rules are %s", (int)len, p, names.data);
		p += len + 1;
	}
	buf_release(&names);
	return rc;
}

/* Reads what follows the kind in the full name: rules that are asked for or left out, parameters that are given. */
static int read_name(struct space *s, const struct rules *rules, bool *with, bool *without, struct err *err)
{
	struct rewrite *w = rewrite_of(s);
	const char *p = s->kind + strcspn(s->kind, "/:");

	while (*p) {
		size_t word = strcspn(p, ":"), n = p[word] ? strcspn(p + word + 1, "/") : 0;
		const char *list = p + word + 1;
		if (n && word == 8 && strncmp(p, "/without", word) == 0) {
			if (read_rules(rules, list, n, without, err) < 0)
				return -1;
		} else if (n && word == 5 && strncmp(p, "/with", word) == 0) {
			if (read_rules(rules, list, n, with, err) < 0)
				return -1;
		} else if (n && word == 6 && strncmp(p, "/hoist", word) == 0) {
			w->given = hoist_read(&s->mem, s->graph, list, n, err);
			if (!w->given)
				return -1;
		} else {
			return err_set(err, "the decision space %.60s is not of the form %s", s->kind,
				rewrite_kind.forms);
		}
		p = list + n;
	}
	if (w->given) {
		w->on = hoist_marks(&s->mem, s->graph, w->given);
		s->ops = &hoisted_ops;
	}
	return 0;
}

/* A hash of a place and of what it reads; places with the same hash are copies of each other. */
static uint64_t surroundings(const struct graph *g, uint64_t h, const struct found *f)
{
	for (uint32_t i = 0; i <= f->n_inside; i++) {
		uint32_t v = i ? f->inside[i - 1] : f->anchor;
		h = hash_mix(h, node_local_hash(g, v, true));
		for (uint32_t k = 0; k < g->node[v].n_operands; k++) {
			const struct node *o = &g->node[node_operands(g, v)[k]];
			h = hash_mix(hash_mix(hash_mix(h, o->dtype), o->elements), o->rank);
		}
	}
	return h;
}

struct opening {
	struct space *s;
	const bool *without;
	uint64_t *tie;
	uint32_t *led_by; /* 2 * node + side */
	size_t cap_site, cap_tie, cap_offer, cap_first, n_offers;
};

/* Adds the variants of a rule at a place; returns a hash of both. */
static uint64_t add_offers(struct opening *o, uint16_t r, const struct found *f, uint32_t first)
{
	struct rewrite *w = rewrite_of(o->s);
	const struct rule *rule = &w->rules.rule[r];
	double turns = o->s->graph->comp[o->s->graph->node[f->anchor].comp].trips;

	for (uint8_t k = 1; k <= f->variants && o->n_offers - first < SPACE_CHOICES - 1; k++) {
		MEM_GROW(&w->offer, &o->cap_offer, o->n_offers + 1);
		w->offer[o->n_offers++] = (struct offer){.rule = r, .variant = k, .side = (uint8_t)f->side,
			.leader = f->leader, .promise = (float)(turns * rule_promise(rule, f))};
	}
	return hash64(rule->name, strlen(rule->name), f->variants + 16 * f->side);
}

static bool is_prepared(const struct space *s, uint32_t v, uint32_t side)
{
	const struct rewrite *w = rewrite_of(s);

	return w->on && side < s->graph->node[v].n_operands && w->on[node_operands(s->graph, v)[side]] == HOIST_GIVEN;
}

static uint64_t try_joining(struct opening *o, uint16_t r, uint32_t v, uint32_t first, uint64_t h)
{
	struct rewrite *w = rewrite_of(o->s);
	struct found f;

	for (uint32_t side = 0; side < 2; side++) {
		uint32_t leader = joins_leader(o->s, &w->rules.rule[r], v, side, o->led_by);
		if (leader == NONE || !rule_match_joined(&w->rules.rule[r], o->s->graph, v, leader, side, &f))
			continue;
		f.prepared = is_prepared(o->s, v, !side) && is_prepared(o->s, leader, !side);
		o->led_by[2 * v + side] = leader;
		w->has_joins = true;
		h = surroundings(o->s->graph, hash_mix(h, add_offers(o, r, &f, first)), &f);
	}
	return h;
}

/* Adds all offers at a node. */
static void try_node(struct opening *o, uint32_t v)
{
	struct space *s = o->s;
	struct rewrite *w = rewrite_of(s);
	uint32_t first = (uint32_t)o->n_offers;
	uint64_t h = 0;
	struct found f;

	for (uint16_t r = 0; r < w->rules.n; r++) {
		if (o->without[r])
			continue;
		if (rule_joins(&w->rules.rule[r]))
			h = try_joining(o, r, v, first, h);
		else if (rule_match(&w->rules.rule[r], s->graph, v, &f))
			h = surroundings(s->graph, hash_mix(h, add_offers(o, r, &f, first)), &f);
	}
	if (o->n_offers == first)
		return;
	MEM_GROW(&s->site, &o->cap_site, s->n_sites + 1);
	MEM_GROW(&w->first, &o->cap_first, s->n_sites + 1);
	MEM_GROW(&o->tie, &o->cap_tie, s->n_sites + 1);
	w->first[s->n_sites] = first;
	o->tie[s->n_sites] = h;
	s->site_of[v] = s->n_sites;
	s->site[s->n_sites++] = (struct site){.node = v, .choices = (uint8_t)(o->n_offers - first + 1)};
}

/* Moves the growing arrays into the space's own memory. */
static void settle(struct space *s, struct opening *o)
{
	struct rewrite *w = rewrite_of(s);
	struct site *site = s->site;
	struct offer *offer = w->offer;
	uint32_t *first = w->first;

	s->site = arena_dup(&s->mem, site, s->n_sites * sizeof *site);
	w->offer = arena_dup(&s->mem, offer, o->n_offers * sizeof *offer);
	w->first = arena_dup(&s->mem, first, s->n_sites * sizeof *first);
	w->n_offers = (uint32_t)o->n_offers;
	mem_free(site);
	mem_free(offer);
	mem_free(first);
}

/* Ties the sites, and lists what each class is. */
static void tie(struct space *s, const uint64_t *hash)
{
	struct rewrite *w = rewrite_of(s);

	space_tie(s, hash);
	w->alike = ARENA_NEW(&s->mem, s->n_ties + 1, uint32_t);
	w->n_alike = ARENA_NEW(&s->mem, s->n_ties + 1, uint32_t);
	for (uint32_t i = s->n_sites; i-- > 0;) {
		w->alike[s->site[i].tie] = i;
		w->n_alike[s->site[i].tie]++;
	}
}

/* A plugin that is named by its file counts as the first backend. */
static bool has_onednn(const char *backend)
{
	static const struct {
		const char *name, *traits;
	} known[] = {
#define BACKEND(opener, name, plugin, client, topology, env, region, traits, cost, part, fetch) {name, #traits},
#include "schemas/backend.def"
#undef BACKEND
	};
	bool here = false;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, backend) == 0 || (i == 0 && strstr(backend, ".so")))
			here = strstr(known[i].traits, "ONEDNN") != NULL;
#ifndef __x86_64__
	here = false;
#endif
	return here;
}

static int rewrite_open(struct space *s, const char *backend, struct err *err)
{
	struct rewrite *w = ARENA_NEW(&s->mem, 1, struct rewrite);
	const struct graph *g = s->graph;
	struct opening o = {.s = s};
	bool *with, *without;
	int rc;

	s->ops = &rewrite_ops;
	s->own = w;
	w->fresh = fresh_of(g);
	if (rules_load(&w->rules, err) < 0)
		return -1;
	with = ARENA_NEW(&s->mem, w->rules.n, bool);
	o.without = without = ARENA_NEW(&s->mem, w->rules.n, bool);
	rc = read_name(s, &w->rules, with, without, err);
	if (rc < 0)
		return -1;
	for (size_t i = 0; i < w->rules.n; i++)
		without[i] |= (w->rules.rule[i].onednn && !has_onednn(backend)) ||
			      (w->rules.rule[i].asked && !with[i]);
	s->site_of = arena_alloc(&s->mem, g->n_nodes * sizeof *s->site_of);
	joins_open(s);
	o.led_by = MEM_NEW(2 * g->n_nodes + 1, uint32_t);
	memset(o.led_by, 0xff, 2 * g->n_nodes * sizeof *o.led_by);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		s->site_of[v] = NONE;
		if (node_is_compiled(g, v) && !(w->on && w->on[v] == HOIST_GIVEN))
			try_node(&o, v);
	}
	mem_free(o.led_by);
	settle(s, &o);
	near_open(s);
	w->leads = ARENA_NEW(&s->mem, g->n_nodes, uint8_t);
	w->taken = ARENA_NEW(&s->mem, g->n_nodes, uint8_t);
	w->real = ARENA_NEW(&s->mem, s->n_sites, uint8_t);
	w->told = ARENA_NEW(&s->mem, w->rules.n * RULE_VARIANTS, bool);
	tie(s, o.tie);
	mem_free(o.tie);
	return 0;
}

static int ask_for(const char *kind, const char *rules, char out[SPACE_KIND_ROOM], struct err *err)
{
	return space_kind_extend(kind, "/with:", rules, out, err);
}

static int leave_out(const char *kind, const char *rules, char out[SPACE_KIND_ROOM], struct err *err)
{
	return space_kind_extend(kind, "/without:", rules, out, err);
}

static int hoist(const char *kind, const char *parameters, char out[SPACE_KIND_ROOM], struct err *err)
{
	return space_kind_extend(kind, "/hoist:", parameters, out, err);
}

static const struct space_option options[] = {{"skip-rule", "NAME,NAME", "rules of rewriting not to use", leave_out},
	{"with-rule", "NAME,NAME",
		"rules of rewriting that are used only if they are asked for, because on some inputs they lose digits "
		"that the compiler keeps: one-pass-variance",
		ask_for},
	{"hoist-params", "LIST",
		"of a rewritten program, parameters that do not change from run to run, such as weights: numbers, "
		"ranges, names (0-17,20). What depends on them alone is computed once, by a program of its own "
		"(prepare.pb), so the tuned program TAKES OTHER PARAMETERS",
		hoist},
	{0}};

const struct space_kind rewrite_kind = {
	.name = "rewrite",
	.answer_file = "prepare.pb",
	.forms = "rewrite, rewrite/with:RULE, rewrite/without:RULE:RULE, rewrite/hoist:PARAMETERS",
	.about = "which operations are computed in another way",
	.choices = "0 leaves the program as it is, every other one writes the place in another way.",
	.open = rewrite_open,
	.options = options,
	.features = &rewrite_features,
	.leads = PROMISED,
	.flat = true,
};
