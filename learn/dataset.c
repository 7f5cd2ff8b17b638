/*
 * dataset.c - see dataset.h. A graph of the data is one space in one environment, because advantages on two machines
 * have different scales. It is found by store, space and environment. The same graph in two databases is there twice,
 * under one name; graphs are held out by name.
 */
#include "learn/dataset.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "base/json.h"
#include "space/part.h"
#include "store/fact.h"
#include "store/replay.h"

enum { NAMED = 8 }; /* programs in one line */

struct source {
	const struct dataset *owner;
	uint32_t database;	    /* which dataset_read */
	int64_t space, environment; /* ids in it */
	struct graph graph;
	struct space *opened;	    /* NULL: unusable, and that was said */
	char *other_sites;	    /* its program's name, where this version sees other sites in it; or NULL */
	uint32_t number;	    /* graph of data */
};

void dataset_init(struct dataset *ds, uint32_t radius)
{
	*ds = (struct dataset){0};
	data_init(&ds->data, radius);
}

void dataset_release(struct dataset *ds)
{
	data_release(&ds->data);
	for (size_t i = 0; i < ds->n_sources; i++) {
		space_free(ds->source[i]->opened);
		graph_release(&ds->source[i]->graph);
		mem_free(ds->source[i]->other_sites);
		mem_free(ds->source[i]);
	}
	mem_free(ds->source);
	for (size_t i = 0; i < ds->n_read; i++)
		mem_free(ds->read[i].uuid);
	mem_free(ds->read);
	mem_free(ds->backend);
	mem_free(ds->space);
	mem_free(ds->version);
	buf_release(&ds->runs);
	buf_release(&ds->machines);
	buf_release(&ds->notes);
	*ds = (struct dataset){0};
}

static void note(struct dataset *ds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct dataset *ds, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&ds->notes, fmt, ap);
	va_end(ap);
	buf_addch(&ds->notes, '\n');
}

/* Are a site and its choices here what they were where they were measured? */
static bool same_sites(const struct space *s, const struct stored_space *p)
{
	bool same = s->hash == p->hash && s->n_sites == p->n_sites;

	for (uint32_t i = 0; same && i < s->n_sites; i++)
		same = s->site[i].choices == p->choices[i] && s->site[i].node == p->node[i];
	return same;
}

/* The space as it was stored, or as this version sees it where it has another number of sites. */
static struct space *space_of(const struct graph *g, const struct stored_space *p, struct err *err)
{
	struct err now = {0};
	struct space *s = space_open(p->kind, p->backend, g, p->dflt, p->n_sites, err);

	if (!s && (s = space_open(p->kind, p->backend, g, NULL, 0, &now)) && s->n_sites == p->n_sites) {
		space_free(s);
		s = NULL;
	}
	return s;
}

/* Rebuilds graph and space; 0 with x->opened set, 1 if this program cannot use it, -1. */
static int rebuild(struct dataset *ds, struct store *db, struct source *x, char **name, struct err *err)
{
	struct stored_space p = {0};
	struct stored_graph g = {0};
	struct err why = {0};
	int rc = -1;

	if (store_get_space(db, x->space, &p, err) < 0 || store_get_graph(db, p.graph, &g, err) < 0)
		goto out;
	*name = mem_strdup(g.name);
	rc = 1;
	if (graph_parse(&x->graph, g.bytes.data, g.bytes.len, g.name, &why) < 0 ||
		!(x->opened = space_of(&x->graph, &p, &why))) {
		note(ds, "%s is left out: %s", g.name, why.text);
		goto out;
	}
	if (!same_sites(x->opened, &p)) {
		x->other_sites = mem_strdup(g.name);
		space_free(x->opened);
		x->opened = NULL;
		goto out;
	}
	rc = 0;
out:
	stored_space_release(&p);
	stored_graph_release(&g);
	return rc;
}

static struct source *find_source(struct dataset *ds, uint32_t database, int64_t space, int64_t environment)
{
	for (size_t i = 0; i < ds->n_sources; i++) {
		struct source *x = ds->source[i];
		if (x->database == database && x->space == space && x->environment == environment)
			return x;
	}
	return NULL;
}

/* The family of decisions must be one; the first usable space sets it. */
static bool same_family(struct dataset *ds, const struct space *s, const char *name)
{
	size_t n = strcspn(s->kind, "/:");

	if (!ds->space) {
		ds->space = mem_strdup(s->kind);
		ds->space[n] = 0;
	}
	if (strlen(ds->space) == n && strncmp(ds->space, s->kind, n) == 0)
		return true;
	note(ds, "%s is left out: its decisions are of kind %s, the others' %s", name, s->kind, ds->space);
	return false;
}

static struct source *get_source(struct dataset *ds, struct store *db, uint32_t database, int64_t space,
	const struct run_info *run, const struct dataset_options *o, struct err *err)
{
	struct source *x = find_source(ds, database, space, run->environment);
	struct data_graph *g;
	char *name = NULL;
	int rc;

	if (x)
		return x;
	x = MEM_NEW(1, struct source);
	*x = (struct source){.database = database, .space = space, .environment = run->environment};
	MEM_GROW(&ds->source, &ds->cap_sources, ds->n_sources + 1);
	ds->source[ds->n_sources++] = x;
	rc = rebuild(ds, db, x, &name, err);
	if (rc == 0 && !same_family(ds, x->opened, name)) {
		space_free(x->opened);
		x->opened = NULL;
	} else if (rc == 0) {
		x->number = data_graph(&ds->data, name, x->opened);
		g = &ds->data.graph[x->number];
		g->other = strcmp(run->version, ds->version) != 0;
		g->weight = g->other ? o->other_weight : 1;
	}
	mem_free(name);
	return rc < 0 ? NULL : x;
}

/* A single flip that a search tried, as the sample it amounts to; false if it is none. */
static bool sample_of_trial(const struct source *x, const struct step *t, struct sample *out)
{
	const struct trial *y = &t->trial;
	uint32_t site;

	if (y->n_flips != 1 || (site = y->flip[0].site) >= x->opened->n_sites)
		return false;
	*out = (struct sample){.site = site, .n_choices = x->opened->site[site].choices, .kind = y->kind};
	if (y->flip[0].choice >= out->n_choices || t->config[site] >= out->n_choices)
		return false;
	for (uint8_t k = 0; k < out->n_choices; k++)
		out->choice[k].outcome = OUTCOME_REFUSED; /* not tried: not usable */
	out->choice[t->config[site]] = (struct choice_cost){.outcome = OUTCOME_OK};
	out->choice[y->flip[0].choice] = (struct choice_cost){y->delta, y->se, y->outcome, y->bound};
	return true;
}

/* Takes in a trial of several flips, if the kind can say what these do together. */
static bool take_move(struct dataset *ds, const struct source *x, const struct step *t)
{
	const struct space *s = x->opened;
	const struct trial *y = &t->trial;
	struct choice_cost cost = {y->delta, y->se, y->outcome, y->bound};
	uint8_t *to;
	bool good = y->n_flips > 1;

	if (!s->ops->effect_of)
		return false;
	to = mem_alloc(s->n_sites + 1);
	memcpy(to, t->config, s->n_sites);
	for (uint32_t i = 0; i < y->n_flips && good; i++) {
		good = y->flip[i].site < s->n_sites && y->flip[i].choice < s->site[y->flip[i].site].choices;
		if (good)
			to[y->flip[i].site] = y->flip[i].choice;
	}
	good = good && config_valid(s, t->config, s->n_sites, NULL) == 0;
	if (good)
		data_move(&ds->data, x->number, t->config, to, &cost);
	mem_free(to);
	return good;
}

static uint64_t take_step(struct dataset *ds, const struct source *x, const struct step *t,
	const struct dataset_options *o)
{
	struct sample made;
	const struct data_graph *g;

	if (!x->opened || t->n_sites != x->opened->n_sites)
		return 0;
	g = &ds->data.graph[x->number];
	if (o->limit && g->n_samples >= o->limit)
		return 0;
	if (t->is_trial && !sample_of_trial(x, t, &made))
		return take_move(ds, x, t);
	data_sample(&ds->data, x->number, t->config, t->is_trial ? &made : &t->sample);
	return 1;
}

/* The entry of a run among those that were read, added if it is new. Valid until the next call. */
static struct run_read *entry_of(struct dataset *ds, const char *uuid)
{
	for (size_t i = 0; i < ds->n_read; i++)
		if (strcmp(ds->read[i].uuid, uuid) == 0)
			return &ds->read[i];
	MEM_GROW(&ds->read, &ds->cap_read, ds->n_read + 1);
	ds->read[ds->n_read] = (struct run_read){.uuid = mem_strdup(uuid)};
	return &ds->read[ds->n_read++];
}

/* Reads the steps of a run that are not in `known`. */
static int read_run(struct dataset *ds, struct store *db, uint32_t database, const struct run_info *info,
	struct run_read *known, const struct dataset_options *o, struct progress *bar, uint64_t *taken,
	struct err *err)
{
	struct replay *p = replay_open_at(db, info->id, known->steps, err);
	uint64_t before = bar->done;
	struct step t;
	int rc = -1;

	if (!p)
		return -1;
	while ((rc = replay_next(p, &t, err)) == 1) {
		struct source *x = get_source(ds, db, database, t.space, info, o, err);
		if (!x) {
			rc = -1;
			break;
		}
		*taken += take_step(ds, x, &t, o);
		progress_update(bar, before + t.step, NULL);
	}
	replay_close(p);
	known->steps = info->steps;
	return rc;
}

static bool asked_for(const struct run_info *r, const struct dataset_options *o)
{
	return r->steps > 0 && (!o->backend || strcmp(r->backend, o->backend) == 0) &&
		(!o->cost || strcmp(cost_kind_name(r->cost_kind), o->cost) == 0);
}

/* Only runs of one backend, one kind of cost and one quantity can be learnt from together. */
static bool comparable(const struct dataset *ds, const struct run_info *r)
{
	return strcmp(r->backend, ds->backend) == 0 && r->cost_kind == ds->kind && r->quantity == ds->quantity;
}

/* What the first database sets for all: that of its first run, and the version of the newest of those like it. */
static void begin(struct dataset *ds, const struct run_info *runs, size_t n, const struct dataset_options *o)
{
	const struct run_info *newest = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!asked_for(&runs[i], o))
			continue;
		if (!newest) {
			ds->backend = mem_strdup(runs[i].backend);
			ds->kind = runs[i].cost_kind;
			ds->quantity = ds->data.quantity = runs[i].quantity;
			newest = &runs[i];
		}
		if (comparable(ds, &runs[i]) && runs[i].started >= newest->started)
			newest = &runs[i];
	}
	if (newest)
		ds->version = mem_strdup(newest->version);
}

/* Is this run learnt from? Says why not, unless that was asked for. */
static bool usable_run(struct dataset *ds, const struct run_info *r, const struct dataset_options *o, const char *path)
{
	const char *kind = cost_kind_name(r->cost_kind);

	if (!asked_for(r, o) || (o->other_weight <= 0 && strcmp(r->version, ds->version) != 0))
		return false;
	if (comparable(ds, r))
		return true;
	note(ds, "run %s of %s is left out: its costs are %s %s on %s, the others' %s %s on %s", r->uuid, path, kind,
		quantity_name(r->quantity), r->backend, cost_kind_name(ds->kind), quantity_name(ds->quantity),
		ds->backend);
	return false;
}

/* What is charged for a kernel (space/part.h). Whole programs have it in them already. */
static double charge(const struct run_info *r, const struct dataset_options *o)
{
	if (strcmp(r->policy, "region") != 0 || r->quantity != QUANTITY_SECONDS)
		return 0;
	return o->part_seconds < 0 ? part_seconds(r->backend, r->cost_kind) : o->part_seconds;
}

static void describe_run(struct dataset *ds, const struct run_info *r, uint64_t taken)
{
	struct json j = {.out = &ds->runs};

	if (ds->runs.len)
		buf_addch(&ds->runs, ',');
	json_object(&j, NULL);
	json_str(&j, "uuid", r->uuid);
	json_str(&j, "kind", r->kind);
	json_str(&j, "policy", r->policy);
	json_str(&j, "program", r->program);
	json_uint(&j, "samples", taken);
	json_end(&j);
}

/* Where and when what was taken was measured. */
static void place_run(struct dataset *ds, const struct run_info *r)
{
	ds->since = ds->since > 0 ? fmin(ds->since, r->started) : r->started;
	ds->until = fmax(ds->until, r->last);
	if (ds->machines.len && strstr(ds->machines.data, r->machine))
		return;
	buf_addf(&ds->machines, "%s%s", ds->machines.len ? "; " : "", r->machine);
}

int dataset_read(struct dataset *ds, const char *path, const struct dataset_options *o, struct err *err)
{
	struct store *db = store_open(path, STORE_READ, NULL, err);
	struct run_info *runs = NULL;
	uint32_t database = ds->n_runs; /* any number not used before */
	struct progress bar = {0};
	uint64_t steps = 0, seen = 0;
	size_t n = 0;
	int rc = -1;

	if (!db)
		return -1;
	if (store_runs(db, &runs, &n, err) < 0)
		goto out;
	ds->n_runs++;
	if (!ds->backend)
		begin(ds, runs, n, o);
	for (size_t i = 0; i < n; i++)
		steps += runs[i].steps;
	progress_start(&bar, "reading samples", steps, o->talk);
	for (size_t i = 0; i < n; i++, progress_update(&bar, seen, NULL)) {
		struct run_read *known;
		uint64_t taken = 0;
		seen += runs[i].steps;
		if (!usable_run(ds, &runs[i], o, path))
			continue;
		known = entry_of(ds, runs[i].uuid);
		ds->n_again += known->steps > 0;
		if (known->steps >= runs[i].steps)
			continue;
		ds->data.part_seconds = charge(&runs[i], o);
		ds->data.picked = strcmp(runs[i].kind, "search") == 0;
		if (read_run(ds, db, database, &runs[i], known, o, &bar, &taken, err) < 0)
			goto out;
		ds->n_runs++;
		ds->n_samples += taken;
		ds->n_other += strcmp(runs[i].version, ds->version) != 0 ? taken : 0;
		describe_run(ds, &runs[i], taken);
		if (taken > 0)
			place_run(ds, &runs[i]);
	}
	progress_end(&bar);
	rc = 0;
out:
	run_infos_free(runs, n);
	store_close(db);
	return rc;
}

static bool has_program(const struct dataset *ds, const char *name)
{
	for (size_t i = 0; i < ds->data.n_graphs; i++)
		if (strcmp(ds->data.graph[i].name, name) == 0)
			return true;
	return false;
}

/* The name of a program that has other sites than those that were measured, told once; NULL otherwise. */
static const char *other_sites(const struct dataset *ds, size_t i)
{
	const char *name = ds->source[i]->other_sites;

	for (size_t k = 0; name && k < i; k++)
		if (ds->source[k]->other_sites && strcmp(ds->source[k]->other_sites, name) == 0)
			return NULL;
	return name;
}

/*
 * Tells in a line or two what was measured of other sites, because a version with more to decide sees others in nearly
 * every program. Of a program that was measured anew nothing is missing.
 */
static void note_other_sites(struct dataset *ds)
{
	struct buf lost = {0};
	uint32_t n_lost = 0, n_anew = 0;
	const char *name;

	for (size_t i = 0; i < ds->n_sources; i++) {
		if (!(name = other_sites(ds, i)))
			continue;
		if (has_program(ds, name))
			n_anew++;
		else if (n_lost++ < NAMED)
			buf_addf(&lost, "%s%s", n_lost > 1 ? ", " : "", name);
	}
	if (n_lost > NAMED)
		buf_addf(&lost, " and %u more", n_lost - NAMED);
	if (n_lost)
		note(ds, "left out, because this version sees other sites than the one that measured: %s", lost.data);
	if (n_anew)
		note(ds, "where a program was measured anew for its other sites, the old measurements are left out: "
			 "%u of the programs", n_anew);
	buf_release(&lost);
}

int dataset_finish(struct dataset *ds, struct err *err)
{
	uint64_t skipped = 0;
	uint32_t programs = 0;

	note_other_sites(ds);
	if (ds->n_again)
		note(ds, "runs that are in more than one store are learnt from once: %u were met again", ds->n_again);
	for (size_t i = 0; i < ds->data.n_graphs; i++) {
		skipped += ds->data.graph[i].n_skipped;
		programs += ds->data.graph[i].n_skipped > 0;
	}
	if (skipped)
		note(ds, "left out, because fewer than two of their costs can be compared: %llu samples of %u programs",
			(unsigned long long)skipped, programs);
	if (ds->data.n_examples == 0)
		return err_set(err, "there are no samples to learn from; run collect first%s%s", ds->notes.len ? ": "
			: "", ds->notes.len ? ds->notes.data : "");
	data_finish(&ds->data);
	return 0;
}
