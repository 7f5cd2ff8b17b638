/*
 * lab.c - ties a subject and its cost to the store.
 *
 * The store has struct region_cost, cost/ has struct price: the same facts in two rooms. They are copied
 * field by field here and nowhere else. All hooks take the lock, so a region that one worker priced is
 * there for the next.
 */
#include <math.h>
#include <string.h>
#include "device/machine.h"
#include "lab/lab.h"
#include "base/talk.h"

void archive_lock(struct archive *a)
{
	if (a && a->lock)
		pthread_mutex_lock(a->lock);
}

void archive_unlock(struct archive *a)
{
	if (a && a->lock)
		pthread_mutex_unlock(a->lock);
}

int lab_place(struct device_options *o, const char *cores, int64_t replicas, int64_t partitions, struct err *err)
{
	uint32_t decided;

	if (!space_kind_find(o->kind, err)) /* or a device would be asked first, which knows no kinds */
		return -1;
	decided = space_kind_devices(o->kind);
	if (decided > 1 && partitions > 1 && decided != (uint32_t)partitions)
		return err_set(err, "--partitions %u does not go with decisions about %u devices (%s)",
			(uint32_t)partitions, decided, o->kind);
	o->spread = (struct spread){(uint32_t)replicas, decided > 1 ? decided : (uint32_t)partitions};
	return cores_parse(cores ? cores : o->core ? "1" : "all", &o->cores, err);
}

static int lookup(void *ctx, const uint64_t key[2], struct price *out, struct err *err)
{
	const struct ledger *l = ctx;
	struct archive *a = l->archive;
	struct region_cost c;
	int rc;

	archive_lock(a);
	rc = a->db ? store_region_get(a->db, l->environment, key, &c, err) : 0;
	if (rc == 0 && l->cached)
		rc = store_region_get(a->cache, l->cached, key, &c, err);
	archive_unlock(a);
	if (rc == 1)
		*out = (struct price){c.delta, c.se, c.seconds_a, c.seconds_b, c.outcome, c.kind, c.pairs, c.effort};
	return rc;
}

static int insert(void *ctx, const uint64_t key[2], const struct price *p, struct err *err)
{
	const struct ledger *l = ctx;
	struct archive *a = l->archive;
	struct region_cost c = {p->delta, p->se, p->seconds_a, p->seconds_b, p->outcome, p->kind, p->pairs,
		p->effort};
	int rc;

	if (!a->db)
		return 0;
	archive_lock(a);
	rc = store_region_put(a->db, l->environment, key, &c, err);
	archive_unlock(a);
	return rc;
}

static int measured(void *ctx, const struct region *r, const struct timing *t, struct err *err)
{
	struct archive *a = ((const struct ledger *)ctx)->archive;
	struct measurement m = {.seconds_a = t->seconds_a, .seconds_b = t->seconds_b, .delta = t->delta,
		.se = t->delta_se, .pairs = t->pairs, .instances = t->instances, .outcome = t->outcome,
		.kind = t->kind, .raw = t->raw.data, .n_raw = t->raw.len};
	int rc = 0;

	if (!a->raw || !a->run || t->raw.len == 0)
		return 0;
	if (r)
		memcpy(m.key, r->key, sizeof m.key);
	archive_lock(a);
	rc = run_measured(a->run, &m, err);
	archive_unlock(a);
	return rc;
}

static int failed(void *ctx, enum outcome o, int signal, const char *detail, struct err *err)
{
	struct archive *a = ((const struct ledger *)ctx)->archive;
	struct failure f = {.outcome = o, .signal = signal, .detail = detail};
	int rc = 0;

	archive_lock(a);
	if (a->run)
		rc = run_failed(a->run, &f, err);
	archive_unlock(a);
	return rc;
}

/*
 * Adds the environment to the store, which names where costs come from and what they are of, and finds it in the cache.
 */
static int name_environment(const struct archive *a, const struct device *d, enum quantity q, struct ledger *l,
	struct err *err)
{
	struct environment e = {.backend = "formula", .kind = COST_MODELLED};

	if (d) {
		const struct device_info *i = device_info(d);
		e = (struct environment){i->machine, i->backend, i->platform, i->version, i->compile_options,
			i->kind, i->device, i->build, q};
	}
	e.quantity = q;
	if (a->cache && store_environment_find(a->cache, &e, &l->cached, err) < 0)
		return -1;
	return a->db ? store_environment(a->db, &e, &l->environment, err) : 0;
}

/* Names the environment of the run's costs; later labs must agree with the first. */
static int name_objective(struct lab *l, struct err *err)
{
	struct archive *a = l->archive;
	enum quantity q = cost_quantity(l->cost);

	if (a->environment && a->quantity != q)
		return err_set(err, "its costs are in %s, those of the programs before "
			"it in %s: one run holds costs of one quantity", quantity_name(q), quantity_name(a->quantity));
	a->quantity = q;
	if (name_environment(a, l->device, q, &l->ledger, err) < 0)
		return -1;
	a->environment = l->ledger.environment;
	if (a->cache && !l->ledger.cached)
		talk("the store to read prices from has none that were made "
			"like this: on such a machine, by this compiler");
	return 0;
}

static int put_facts(struct lab *l, struct store *db, const char *backend, struct err *err)
{
	const struct space *s = l->space;
	struct graph_facts g = {l->subject.name, l->subject.bytes.data, l->subject.bytes.len, s->graph->n_nodes,
		s->graph->n_comps, s->graph->n_edges};
	struct space_facts f = {.kind = s->kind, .backend = backend, .hash = s->hash, .n_sites = s->n_sites,
		.n_ties = s->n_ties};
	uint8_t *choices = mem_alloc(s->n_sites), *dflt = mem_alloc(s->n_sites);
	uint32_t *node = mem_alloc(s->n_sites * sizeof *node);
	int rc;

	for (uint32_t i = 0; i < s->n_sites; i++) {
		choices[i] = s->site[i].choices;
		dflt[i] = s->site[i].dflt;
		node[i] = s->site[i].node;
	}
	f.choices = choices;
	f.dflt = dflt;
	f.node = node;
	rc = store_graph(db, &g, &l->graph_id, err);
	f.graph = l->graph_id;
	if (rc == 0)
		rc = store_space(db, &f, &l->space_id, err);
	mem_free(choices);
	mem_free(dflt);
	mem_free(node);
	return rc;
}

void lab_remember(struct lab *l, const struct timing *t)
{
	struct opened *o = &l->subject.opened;

	if (!l->device || l->derived || t->outcome != OUTCOME_OK || t->seconds_b <= 0)
		return;
	o->run = t->seconds_b;
	o->run_se = t->seconds_b * t->ratio_se * M_SQRT1_2; /* a ratio has the error of two sides */
	o->more = t->delta;
	o->more_se = t->delta_se;
	opened_keep(o, &l->subject.original, l->device);
}

/* A program with at most this share of added instructions counts as the same. */
#define ADDED_MOST 1e-2

/*
 * If compiling is dear and every part of the compiler's own program was read back, the default as read back is taken to
 * be that program. To compile and run both would double what opening takes and tell next to nothing. Where a kind reads
 * nothing back, the default is that program.
 */
bool lab_own_stands(const struct lab *l)
{
	const struct space_account *a = &l->space->account;
	bool read_back = a->parts > 0 && a->equal == a->parts && a->added <= ADDED_MOST * l->space->graph->n_nodes;

	return (read_back || !l->space->ops->decode) && l->subject.extract_seconds >= SPARE_DEAR;
}

/* Keeps what the compiler made of the subject when it was opened, as what it makes of the default. */
static int keep_own(struct lab *l, struct err *err)
{
	struct spares *k = &l->subject.opened.spares;
	struct buf module = {0};
	int rc = space_apply_default(l->space, &module, err);

	if (rc == 0)
		spare_rename(k, COMPILE_DEFAULT, &l->subject.original, COMPILE_APPLIED, &module);
	buf_release(&module);
	return rc;
}

int lab_derive(struct lab *l, struct lab *from, struct err *err)
{
	struct subject *s = &l->subject, *own = &from->subject;

	if (lab_own_stands(l) && keep_own(l, err) < 0)
		return -1;
	spare_share(&own->opened.spares, COMPILE_DEFAULT, &own->original, &s->opened.spares);
	buf_reset(&s->original);
	buf_add(&s->original, own->original.data, own->original.len);
	mem_free(s->name);
	s->name = mem_strdup(own->name);
	l->derived = true;
	return 0;
}

int lab_objective(const char *name, int *quantity, struct err *err)
{
	enum quantity q = name ? quantity_find(name) : QUANTITY_COUNT;

	if (name && q == QUANTITY_COUNT)
		return err_set(err, "there is no quantity called %.40s; they are %s", name, quantity_names());
	*quantity = name ? 1 + (int)q : 0;
	return 0;
}

static bool keeps(const struct lab *l)
{
	return l->archive && (l->archive->db || l->archive->cache);
}

/* Opens a cost whose prices go through the ledger. */
static struct cost *new_cost(struct lab *l, int quantity, struct ledger *ledger, struct err *err)
{
	struct cost_options o = l->options;

	o.quantity = quantity;
	ledger->archive = l->archive;
	if (keeps(l)) {
		o.hooks = (struct cost_hooks){ledger, lookup, insert, measured, failed};
		o.region.raw = o.whole.raw = l->archive->db && l->archive->raw;
	}
	return cost_new(l->space, l->device, &o, err);
}

int lab_open(struct lab *l, const char *path, const char *space_kind, struct device *d,
	const struct cost_options *o, struct archive *archive, struct err *err)
{
	int rc = 0;

	*l = (struct lab){.archive = archive, .kind = d ? device_info(d)->kind : COST_MODELLED, .device = d,
		.options = *o, .how = COMPILE_APPLIED};
	l->options.original = &l->subject.original;
	l->parts_only = d && device_info(d)->kind == COST_MEASURED && !device_info(d)->can_run;
	if (subject_open(&l->subject, path, space_kind, d, err) < 0)
		return -1;
	l->space = l->subject.space;
	l->options.spares = &l->subject.opened.spares;
	l->cost = new_cost(l, o->quantity, &l->ledger, err);
	if (l->cost)
		l->quantity = cost_quantity(l->cost);
	if (l->cost && keeps(l)) {
		archive_lock(archive);
		rc = name_objective(l, err);
		if (rc == 0 && archive->db)
			rc = put_facts(l, archive->db, d ? device_info(d)->backend : "formula", err);
		archive_unlock(archive);
	}
	if (rc < 0 || !l->cost) {
		lab_release(l);
		return -1;
	}
	return 0;
}

int lab_answer(const struct lab *l, const uint8_t *config, struct buf *module, struct err *err)
{
	const struct buf *own = &l->subject.original;
	struct buf apart = {0};
	struct welded welded = {0};
	int rc;

	if (l->how == COMPILE_CODEGEN_OWN) {
		buf_add(module, own->data, own->len);
		return 0;
	}
	if (!l->weld.tag)
		return l->space->ops->apply(l->space, config, module, err);
	rc = l->space->ops->apply(l->space, config, &apart, err);
	if (rc == 0)
		rc = weld(apart.data, apart.len, &l->weld, module, &welded, err);
	if (rc == 0 && !welded.into)
		buf_add(module, apart.data, apart.len);
	buf_release(&apart);
	return rc;
}

static int add_limit(struct lab *l, const struct limit *limit, struct err *err)
{
	struct lab_limit *at = &l->limit[l->n_limits];
	int rc = 0;

	if (limit->quantity == cost_quantity(l->cost))
		return err_set(err, "%s are what the search makes small: they need no "
			"limit; for another objective there is --objective", quantity_name(limit->quantity));
	at->limit = *limit;
	at->cost = new_cost(l, 1 + (int)limit->quantity, &at->ledger, err);
	if (!at->cost)
		return -1;
	l->n_limits++;
	if (keeps(l)) {
		archive_lock(l->archive);
		rc = name_environment(l->archive, l->device, limit->quantity, &at->ledger, err);
		archive_unlock(l->archive);
	}
	return rc;
}

int lab_limits(struct lab *l, const struct limit *limits, uint32_t n, struct err *err)
{
	struct limit own[LIMITS_MOST];

	if (n == 0 && l->options.quantity == 0 && l->device) { /* without a device nothing else is known of a program */
		if (limits_read(l->space->ops->kind->limits, own, &n, err) < 0)
			return -1;
		limits = own;
	}
	for (uint32_t i = 0; i < n; i++)
		if (add_limit(l, &limits[i], err) < 0)
			return -1;
	return 0;
}

void lab_drop_costs(struct lab *l)
{
	cost_free(l->cost);
	l->cost = NULL;
	for (uint32_t i = 0; i < l->n_limits; i++) {
		cost_free(l->limit[i].cost);
		l->limit[i].cost = NULL;
	}
	l->device = NULL;
	spares_forget(&l->subject.opened.spares); /* the device will be closed */
}

void lab_release(struct lab *l)
{
	lab_drop_costs(l);
	subject_release(&l->subject);
	*l = (struct lab){0};
}
