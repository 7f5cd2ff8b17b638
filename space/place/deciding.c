/*
 * deciding.c - placement as decisions: opening a problem, and what a configuration costs.
 *
 * A site is a group of nodes that stay together, at its first node; its choices are the devices. The default is the
 * best of the placements that need no search: all on one device, contiguous stretches, list scheduling.
 *
 * A placement that is not allowed costs more than every other: as much as the slowest one could take, and more the more
 * memory is missing and the more nodes are where they cannot run. A figure of a file, which has no unit, counts as a
 * millisecond.
 */
#include "space/place/deciding.h"

#include <math.h>
#include <string.h>
#include "base/io.h"
#include "base/json.h"
#include "space/made.h"
#include "space/place/page.h"
#include "space/place/place_own.h"
#include "space/place/placing.h"
#include "space/place/placing_quick.h"
#include "space/place/program.h"
#include "space/place/schedule.h"

#define MILLI 1e-3

/* How far memory is exceeded, as shares of what there is, and how many nodes are where they cannot run. */
static double excess(const struct place *p, const uint32_t *device, const double *peak)
{
	double sum = place_misplaced(p, device);

	for (uint32_t d = 0; d < p->n_devices; d++)
		if (peak[d] > p->room[d])
			sum += 1 + (peak[d] - p->room[d]) / fmax(p->room[d], 1);
	return sum;
}

static double formula(struct space *s, const uint8_t *config, enum quantity q)
{
	const struct place_space *o = place_own(s);
	const struct place *p = &o->p;
	const uint32_t *device = place_devices(s, config);
	double peak[PLACE_DEVICES], load[PLACE_DEVICES], cost, most = 0;
	struct schedule made = {0};

	if (o->goal == PLACE_TIME) {
		schedule_make(p, device, NULL, &made);
		schedule_peaks(p, &made, peak);
		cost = made.finish;
		schedule_release(&made);
	} else {
		place_used(p, device, peak);
		cost = o->goal == PLACE_LOAD ? place_busy(p, device, load) : fmin(place_piecewise(p, device),
			2 * o->worst);
	}
	for (uint32_t d = 0; d < p->n_devices; d++)
		most = fmax(most, peak[d]);
	return q == QUANTITY_BYTES ? most : (cost + o->worst * excess(p, device, peak)) * o->second;
}

static int apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	(void)config;
	(void)err;
	graph_write(s->graph, module);
	return 0;
}

static int check(struct space *s, const uint8_t *config, const void *optimised, size_t n, struct check_result *out,
	struct err *err)
{
	(void)config, (void)optimised, (void)n, (void)err;
	*out = (struct check_result){.asked = s->n_sites, .found = s->n_sites, .equal = s->n_sites};
	return 0;
}

/* Loads are of all that a device does, so every move changes what is seen everywhere. */
static void touched(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed, uint32_t n_changed,
	uint32_t **nodes, size_t *n, size_t *cap)
{
	uint32_t *all = mem_alloc((s->graph->n_nodes + (size_t)1) * sizeof *all);

	(void)a, (void)b, (void)changed;
	for (uint32_t v = 0; v < s->graph->n_nodes; v++)
		all[v] = v;
	space_touched_nodes(all, n_changed ? s->graph->n_nodes : 0, nodes, n, cap);
	mem_free(all);
}

static void device_name(const struct place_space *o, uint32_t device, struct buf *out)
{
	if (o->p.machine)
		machine_device_name(o->p.machine, device, out);
	else if (device < o->p.n_accelerators)
		buf_addf(out, "accelerator %u", device);
	else
		buf_addf(out, "processor %u", device - o->p.n_accelerators);
}

static void words(struct space *s, uint32_t site, uint8_t choice, struct buf *out)
{
	const struct place_space *o = place_own(s);
	uint32_t group = o->group[site], n = o->p.group_first[group + 1] - o->p.group_first[group];

	device_name(o, choice, out);
	if (n > 1)
		buf_addf(out, " runs it, and %u that %s with it", n - 1, n == 2 ? "stays" : "stay");
	else
		buf_adds(out, " runs it");
}

static void summary(struct space *s, const uint8_t *config, struct buf *out)
{
	const struct place_space *o = place_own(s);
	const uint32_t *device = place_devices(s, config);
	uint32_t used = 0;
	uint64_t seen = 0;

	for (uint32_t v = 0; v < o->p.n_nodes; v++)
		seen |= (uint64_t)1 << device[v];
	for (uint32_t d = 0; d < o->p.n_devices; d++)
		used += seen >> d & 1;
	buf_addf(out, "%u nodes on %u of %u devices%s", o->p.n_nodes, used, o->p.n_devices,
		isfinite(place_cost(&o->p, o->goal, device)) ? "" : "; not allowed");
}

static void answer(struct space *s, const uint8_t *config, struct buf *out)
{
	const struct place_space *o = place_own(s);
	const uint32_t *device = place_devices(s, config);
	struct json j = {.out = out, .pretty = true};
	struct buf name = {0};

	if (!o->p.machine) {
		place_write(&o->p, o->goal, device, out);
		return;
	}
	json_object(&j, NULL);
	for (uint32_t t = 0; t < o->p.n_nodes; t++) {
		buf_reset(&name);
		device_name(o, device[t], &name);
		json_str(&j, s->graph->node[o->node_of[t]].proto->name, name.data);
	}
	json_end(&j);
	buf_addch(out, '\n');
	buf_release(&name);
}

static void page(struct space *s, const uint8_t *before, const uint8_t *after, struct buf *out)
{
	const struct place_space *o = place_own(s);
	uint32_t *first = mem_alloc((o->p.n_nodes + (size_t)1) * sizeof *first);

	memcpy(first, place_devices(s, before), o->p.n_nodes * sizeof *first);
	place_page(&o->p, o->goal, first, place_devices(s, after), out);
	mem_free(first);
}

static void take(const struct space *s, const uint32_t *by_group, uint8_t *config)
{
	for (uint32_t i = 0; i < s->n_sites; i++)
		config[i] = (uint8_t)by_group[place_own(s)->group[i]];
}

static int solve(struct space *s, const struct space_effort *e, uint8_t *config, struct err *err)
{
	const struct place_space *o = place_own(s);
	struct placing_options po = {.goal = o->goal, .seconds = e->seconds, .steps = e->steps, .seed = e->seed,
		.stop = e->stop};
	struct placing_result r;

	placing_solve(&o->p, &po, &r);
	for (uint32_t i = 0; i < s->n_sites; i++)
		config[i] = (uint8_t)r.device[o->p.member[o->p.group_first[o->group[i]]]];
	int rc = isfinite(r.cost) ? 0 : err_set(err, "no placement that fits was found in %.1f s", r.seconds);
	placing_result_release(&r);
	return rc;
}

static void fill_one(struct space *s, uint8_t *config)
{
	placing_one(&place_own(s)->p, place_own(s)->by_group);
	take(s, place_own(s)->by_group, config);
}

static void fill_contiguous(struct space *s, uint8_t *config)
{
	placing_contiguous(&place_own(s)->p, NULL, place_own(s)->by_group);
	take(s, place_own(s)->by_group, config);
}

static void fill_heft(struct space *s, uint8_t *config)
{
	placing_heft(&place_own(s)->p, place_own(s)->by_group);
	take(s, place_own(s)->by_group, config);
}

static const struct space_start starts[] = {{"one", fill_one}, {"contiguous", fill_contiguous}, {"heft", fill_heft},
	{0}};

static void release(struct space *s)
{
	struct place_space *o = place_own(s);

	standing_load_release(&o->now);
	place_release(&o->p);
}

static const struct space_ops place_ops = {
	.kind = &place_kind,
	.apply = apply,
	.region = space_region_formula,
	.check = check,
	.context = place_context,
	.touched = touched,
	.formula = formula,
	.undecided = "the best of all on one device, contiguous stretches, and list scheduling",
	.summary = summary,
	.starts = starts,
	.effect = place_effect,
	.grain = place_grain,
	.words = words,
	.answer = answer,
	.page = page,
	.release = release,
};

static int read_problem(struct space *s, const char *goal, struct err *err)
{
	const struct graph *g = s->graph;
	struct place_space *o = place_own(s);
	uint32_t root = made_problem(g, PLACE_PROBLEM);
	size_t length;
	const char *text = made_text(g, root, &length);

	o->goal = strcmp(goal, "latency") == 0 ? PLACE_LATENCY : strcmp(goal, "time") == 0 ? PLACE_TIME : PLACE_LOAD;
	o->second = MILLI;
	if (o->goal == PLACE_LOAD && *goal && strcmp(goal, "load") != 0)
		return err_set(err, "the goal of a placement is load, latency or time, not %.60s", goal);
	if (place_parse(&o->p, text, length, err) < 0)
		return err_prefix(err, "%s", g->name);
	o->node_of = ARENA_NEW(&s->mem, o->p.n_nodes + 1, uint32_t);
	if (!made_nodes(g, PLACE_TARGET, o->node_of, o->p.n_nodes)) {
		place_release(&o->p);
		return err_set(err, "%s: its nodes are not those of the problem it holds", g->name);
	}
	for (uint32_t t = 0; t < o->p.n_nodes; t++)
		o->task_of[o->node_of[t]] = t;
	return 0;
}

static int read_program(struct space *s, const char *machine, struct err *err)
{
	struct place_space *o = place_own(s);

	if (!*machine)
		return err_set(err, "to place %s, say on which machine: --machine FILE (schemas/machine.md)",
			s->graph->name);
	if (machine_from_short(&o->machine, machine, err) < 0)
		return -1;
	o->goal = PLACE_TIME;
	o->second = 1;
	if (place_of_program(&o->p, s->graph, &o->machine, o->task_of, err) < 0) {
		place_release(&o->p);
		return -1;
	}
	o->node_of = ARENA_NEW(&s->mem, o->p.n_nodes + 1, uint32_t);
	for (uint32_t v = 0; v < s->graph->n_nodes; v++)
		if (o->task_of[v] != NONE)
			o->node_of[o->task_of[v]] = v;
	return 0;
}

static void find_sites(struct space *s)
{
	const struct graph *g = s->graph;
	struct place_space *o = place_own(s);
	bool *seen = MEM_NEW(o->p.n_groups + 1, bool);

	s->site = ARENA_NEW(&s->mem, o->p.n_groups + 1, struct site);
	s->site_of = ARENA_NEW(&s->mem, g->n_nodes + 1, uint32_t);
	o->group = ARENA_NEW(&s->mem, o->p.n_groups + 1, uint32_t);
	o->by_group = ARENA_NEW(&s->mem, o->p.n_groups + 1, uint32_t);
	o->device = ARENA_NEW(&s->mem, o->p.n_nodes + 1, uint32_t);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		uint32_t t = o->task_of[v];
		s->site_of[v] = NONE;
		if (t == NONE || seen[o->p.group[t]] || o->p.n_devices < 2)
			continue;
		seen[o->p.group[t]] = true;
		o->group[s->n_sites] = o->p.group[t];
		s->site_of[v] = s->n_sites;
		s->site[s->n_sites++] = (struct site){.node = v, .choices = (uint8_t)o->p.n_devices};
	}
	mem_free(seen);
}

/* A bound on what any placement takes: everything where it is slowest, every value sent to whoever reads it. */
static void find_worst(struct place_space *o)
{
	const struct place *p = &o->p;

	for (uint32_t v = 0; v < p->n_nodes; v++) {
		double slowest = 0, send = p->transfer[v];
		for (uint32_t d = 0; d < p->n_devices; d++)
			slowest = fmax(slowest, p->on[d][v]);
		for (uint32_t a = 0; p->machine && a < p->n_devices; a++)
			for (uint32_t b = 0; b < p->n_devices; b++)
				send = fmax(send, schedule_transfer(p, v, a, b));
		o->worst += slowest + 2 * send * (1 + p->out_first[v + 1] - p->out_first[v]);
	}
	o->worst = fmax(o->worst, 1e-12);
}

/*
 * Ties: of the same time, size and value, and as many neighbours. Choices are names of devices, and alike layers want
 * different devices, so to move ties together would be wrong: each site is a class of its own.
 */
static void find_ties(struct space *s)
{
	uint64_t *own = MEM_NEW(s->n_sites + 1, uint64_t);

	for (uint32_t i = 0; i < s->n_sites; i++)
		own[i] = hash_mix(i, 0x706c);
	space_tie(s, own);
	mem_free(own);
}

static void find_default(struct space *s)
{
	uint8_t *config = mem_alloc(s->n_sites + 1), *best = mem_alloc(s->n_sites + 1);
	double least = INFINITY;

	for (const struct space_start *x = starts; x->name; x++) {
		double cost;
		x->fill(s, config);
		cost = formula(s, config, QUANTITY_SECONDS);
		if (cost < least)
			memcpy(best, config, s->n_sites);
		least = fmin(least, cost);
	}
	for (uint32_t i = 0; i < s->n_sites; i++)
		s->site[i].dflt = best[i];
	mem_free(config), mem_free(best);
}

static int open_place(struct space *s, const char *backend, struct err *err)
{
	struct place_space *o = ARENA_NEW(&s->mem, 1, struct place_space);
	const char *rest = s->kind + strlen(place_kind.name);
	int rc;

	(void)backend;
	s->own = o;
	rest += *rest == ':' || *rest == '/';
	o->task_of = ARENA_NEW(&s->mem, s->graph->n_nodes + 1, uint32_t);
	for (uint32_t v = 0; v < s->graph->n_nodes; v++)
		o->task_of[v] = NONE;
	rc = made_problem(s->graph, PLACE_PROBLEM) == NONE ? read_program(s, rest, err) : read_problem(s, rest, err);
	if (rc < 0)
		return -1;
	s->ops = &place_ops; /* from here on it is released */
	find_sites(s);
	find_worst(o);
	find_default(s);
	find_ties(s);
	place_begin_features(s);
	return 0;
}

static int add_machine(const char *kind, const char *value, char out[SPACE_KIND_ROOM], struct err *err)
{
	struct buf text = {0}, brief = {0};
	struct machine m;
	int rc = io_read_file(value, IO_FILE_LIMIT, &text, err);

	if (rc == 0)
		rc = machine_parse(&m, text.data ? text.data : "", text.len, value, err);
	if (rc == 0) {
		machine_short(&m, &brief);
		rc = space_kind_extend(kind, ":", brief.data, out, err);
	}
	buf_release(&text);
	buf_release(&brief);
	return rc;
}

static const struct space_option options[] = {
	{"machine", "FILE", "the machine on which a program is placed (schemas/machine.md)", add_machine}, {0}};
static const struct space_price prices[] = {{QUANTITY_SECONDS, PRICING_FORMULA}, {QUANTITY_BYTES, PRICING_FORMULA},
	{0}};

const struct space_kind place_kind = {
	.name = "place",
	.answer_file = "placement.json",
	.forms = "place (with --machine)",
	.about = "which device of a machine runs what, in a program or a public problem, place:FILE.json",
	.choices = "The number of a choice is the number of a device, in the order of the machine's description.",
	.prices = prices,
	.features = &place_features,
	.open = open_place,
	.make = place_make,
	.solve = solve,
	.options = options,
};
