/*
 * screen.c - see screen.h. The screen's device and its view of the program are opened anew in each turn, because its
 * prices change with the weights, and nothing that was priced before holds any more.
 */
#include "search/screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/page.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "device/estimate.h"
#include "search/asked.h"
#include "search/session.h"

#define EACH 150     /* candidates of a turn, by the screen */
#define DRY 3	     /* turns in a row that bring nothing end the search */
#define TRIES 3	     /* of a trail: its end, half of it, a quarter */

_Static_assert((int)ESTIMATE_PARTS == CALIBRATED_PARTS, "each part of a price has a weight");

struct turn { /* of the screen */
	struct device *device;
	struct archive archive; /* nothing is kept */
	struct lab lab;
	struct advisor advisor;
	struct model_scorer scoring;
	struct hunt hunt;
	uint8_t *trail; /* configurations, one after the other */
	size_t n_trail, cap_trail;
};

struct job {
	struct screen *sc;
	struct session *s;
	const char *name;   /* of the screen's device */
	struct calibration *known; /* what the device priced */
	size_t n_known, cap_known;
	struct asked asked;
	struct by_hand_row best; /* its price */
	uint8_t *config;	 /* the best so far */
	double began;
};

bool screen_find(const struct session *s, char *name, size_t n)
{
	const struct device_info *i = s->device ? device_info(s->device) : NULL;
	const char *screen = i ? estimate_screen(i->family) : NULL, *target = i ? strchr(i->backend, ':') : NULL;

	if (!screen || !target || !s->by_hand.n || s->set->strategy != STRATEGY_GUIDED || s->set->from ||
		s->set->budget == 0 || spread_devices(i->spread) < 2)
		return false;
	snprintf(name, n, "%s:%.*s", screen, (int)strcspn(target + 1, ":"), target + 1);
	return true;
}

static void close_turn(struct turn *t)
{
	hunt_release(&t->hunt);
	advisor_release(&t->advisor);
	lab_release(&t->lab);
	device_close(t->device);
	mem_free(t->trail);
	*t = (struct turn){0};
}

/* Opens the program on the screen's device, with the present weights; `from` is the default there. */
static int open_turn(struct job *j, struct turn *t, const uint8_t *from, struct err *err)
{
	struct session *s = j->s;
	const struct settings *set = s->set;
	struct device_options o = s->device_options;
	struct cost_options co = {.policy = (enum cost_policy)set->measure, .seed = (uint64_t)set->seed,
		.quantity = 1 + (int)s->lab.quantity};
	struct limit limit[LIMITS_MOST];

	o.backend = j->name;
	o.weights = j->sc->weight;
	o.jobs = o.crew = 0;
	if (!(t->device = device_open(&o, err)) ||
		lab_open(&t->lab, set->graph, set->space, t->device, &co, &t->archive, err) < 0)
		return -1;
	for (uint32_t i = 0; i < s->lab.n_limits; i++)
		limit[i] = s->lab.limit[i].limit;
	if (lab_limits(&t->lab, limit, s->lab.n_limits, err) < 0)
		return -1;
	if (t->lab.space->hash != s->lab.space->hash)
		return err_set(err, "%s has other decisions to make about this program than %s has, so it cannot "
			"screen", j->name, set->device);
	for (uint32_t i = 0; i < t->lab.space->n_sites; i++)
		t->lab.space->site[i].dflt = from[i];
	t->lab.reference = s->lab.reference;
	return 0;
}

struct seen { /* of a configuration, by the screen; all zero: it has no price */
	double part[ESTIMATE_PARTS];
	struct digest made; /* the partitioned program */
};

static int read_parts(struct turn *t, const uint8_t *config, struct seen *out, struct err *err)
{
	const struct device_info *i = device_info(t->device);
	const struct estimator *e = estimator_find(i->family, i->spread);
	struct buf module = {0};
	struct compiled c = {0};
	struct graph g = {0};
	struct priced p = {0};
	int rc = t->lab.space->ops->apply(t->lab.space, config, &module, err);

	if (rc == 0)
		rc = device_compile(t->device, COMPILE_APPLIED, "hlo", module.data, module.len, WANT_OPTIMISED, &c,
			err);
	*out = (struct seen){{0}, {{0}}};
	if (rc == 0 && c.outcome == OUTCOME_OK && c.optimised.len && e && e->read) {
		rc = graph_parse(&g, c.optimised.data, c.optimised.len, "the partitioned program", err);
		if (rc == 0)
			e->read(&g, strchr(i->backend, ':') + 1, i->spread, &p);
		memcpy(out->part, p.part, sizeof p.part);
		out->made = g.content;
		graph_release(&g);
	}
	if (c.handle && device_drop(t->device, &c, rc == 0 ? err : NULL) < 0)
		rc = -1;
	compiled_release(&c);
	buf_release(&module);
	return rc;
}

static double weighted(const struct screen *sc, const double part[ESTIMATE_PARTS])
{
	double sum = 0;

	for (int k = 0; k < ESTIMATE_PARTS; k++)
		sum += sc->weight[k] * part[k];
	return sum;
}

/* Takes in what the device said of a configuration. */
static void learn(struct job *j, const uint8_t *config, const struct seen *seen, double cost)
{
	struct calibration c = {{0}, cost};

	memcpy(c.part, seen->part, sizeof c.part);
	MEM_GROW(&j->known, &j->cap_known, j->n_known + 1);
	j->known[j->n_known++] = c;
	asked_add(&j->asked, config_hash(j->s->lab.space, config), &seen->made);
}

static bool was_asked(const struct job *j, const uint8_t *config)
{
	return asked_has(&j->asked, config_hash(j->s->lab.space, config));
}

/* What people do by hand was priced by the device before; the screen tells its parts. */
static int learn_by_hand(struct job *j, struct err *err)
{
	struct session *s = j->s;
	uint8_t *config = mem_alloc(s->lab.space->n_sites + 1);
	const struct space_start *p = s->lab.space->ops->starts;
	struct turn t = {0};
	struct seen seen;
	int rc = open_turn(j, &t, j->config, err);

	for (uint32_t i = 0; rc == 0 && i < s->by_hand.n && p[i].name; i++) {
		p[i].fill(s->lab.space, config);
		if (s->by_hand.row[i].outcome != OUTCOME_OK || was_asked(j, config))
			continue;
		if ((rc = read_parts(&t, config, &seen, err)) == 0)
			learn(j, config, &seen, s->by_hand.row[i].cost);
	}
	close_turn(&t);
	mem_free(config);
	return rc;
}

/* Asks the device, unless it knows the program already. `better`: it is the best so far. */
static int ask(struct job *j, struct turn *t, const uint8_t *config, bool *better, struct err *err)
{
	struct screen *sc = j->sc;
	struct screened r = {.turn = sc->turns};
	struct by_hand_row row = {.name = "found"};
	char promised[QUANTITY_TEXT], said[QUANTITY_TEXT];
	struct seen seen;

	*better = false;
	if (read_parts(t, config, &seen, err) < 0)
		return -1;
	if (asked_made(&j->asked, &seen.made)) {
		sc->same++;
		asked_add(&j->asked, config_hash(j->s->lab.space, config), &seen.made);
		return 0;
	}
	if (by_hand_row_price(&row, &j->s->lab, j->s->device, config, err) < 0)
		return -1;
	learn(j, config, &seen, row.outcome == OUTCOME_OK ? row.cost : 0);
	r.promised = weighted(sc, seen.part);
	r.cost = row.cost;
	r.outcome = row.outcome;
	r.better = *better = by_hand_is_better(&row, &j->best);
	MEM_GROW(&sc->row, &sc->cap, sc->n + 1);
	sc->row[sc->n++] = r;
	talk("turn %u: %s promises %s, asking says: %s%s", sc->turns, sc->by,
		quantity_text(sc->quantity, r.promised, promised), r.outcome == OUTCOME_OK ? quantity_text(sc->quantity,
			r.cost, said) : outcome_meaning(r.outcome), r.better ? ", the best so far" : "");
	if (r.better) {
		j->best = row;
		memcpy(j->config, config, j->s->lab.space->n_sites);
	}
	return 0;
}

static double seconds_left(const struct job *j)
{
	double all = j->s->set->seconds;

	return all > 0 ? all - (now_seconds() - j->began) : INFINITY;
}

static bool is_over(const struct job *j)
{
	return j->sc->n >= (uint64_t)j->s->set->budget || stop_asked() || seconds_left(j) <= 0;
}

static int open_hunt(struct job *j, struct turn *t, struct err *err)
{
	const struct settings *set = j->s->set;
	struct advisor_options ao = {.named = set->model, .at = {.backend = device_info(t->device)->backend,
		.space = t->lab.space->kind, .kind = cost_kind(t->lab.cost), .quantity = t->lab.quantity}};
	struct hunt_options ho = {.strategy = STRATEGY_GUIDED, .propose = set->propose, .start = HUNT_DEFAULT,
		.budget = EACH, .seed = (uint64_t)set->seed + j->sc->turns, .alpha = set->alpha,
		.explore = set->explore, .hops = (int32_t)set->hops, .tied = set->tied, .adapt = set->adapt};
	struct scorer scorer;

	if (isfinite(seconds_left(j)))
		ho.seconds = fmax(seconds_left(j), 1e-3);
	if (advisor_open(&t->advisor, &ao, t->lab.space, err) < 0)
		return -1;
	if (t->advisor.infer && set->tied)
		infer_tied(t->advisor.infer);
	t->scoring = advisor_scoring(&t->advisor, t->lab.space, (enum infer_by)set->by, set->adapt);
	if (t->advisor.infer)
		scorer = scorer_of_model(&t->scoring);
	else if (t->lab.space->ops->promise)
		scorer = scorer_of_space(t->lab.space);
	else
		ho.strategy = STRATEGY_RANDOM;
	return hunt_begin(&t->hunt, &ho, &t->lab, ho.strategy == STRATEGY_RANDOM ? NULL : &scorer, err);
}

static void add_to_trail(struct turn *t)
{
	size_t n = t->lab.space->n_sites;

	MEM_GROW(&t->trail, &t->cap_trail, (t->n_trail + 1) * n);
	memcpy(t->trail + t->n_trail++ * n, t->hunt.config, n);
}

/* Searches by the screen. */
static int hunt_on(struct job *j, struct turn *t, struct err *err)
{
	struct progress p = {0};
	struct trim trim;
	uint64_t kept = 0;
	char detail[80];
	int rc = open_hunt(j, t, err);

	if (rc < 0)
		return -1;
	progress_start(&p, "screen", EACH, j->s->set->quiet ? PROGRESS_QUIET : PROGRESS_AUTO);
	while ((rc = hunt_next(&t->hunt, err)) == 1) {
		snprintf(detail, sizeof detail, "turn %u, promised %.2f%%", j->sc->turns, 100 * hunt_gain(&t->hunt));
		progress_update(&p, t->hunt.evaluations, detail);
		if (t->hunt.kept > kept)
			add_to_trail(t);
		kept = t->hunt.kept;
	}
	progress_end(&p);
	j->sc->looked += t->hunt.evaluations;
	if (rc == 0 && kept)
		rc = trim_answer(&trim, &t->hunt, err);
	if (rc == 0 && kept)
		memcpy(t->trail + (t->n_trail - 1) * t->lab.space->n_sites, t->hunt.config, t->lab.space->n_sites);
	return rc;
}

/* One turn from a configuration: searches by the screen, and asks the device about some of the trail. */
static int take_turn(struct job *j, const uint8_t *from, bool *better, struct err *err)
{
	struct turn t = {0};
	struct seen seen;
	int rc;

	*better = false;
	j->sc->turns++;
	calibrate(j->known, j->n_known, j->sc->weight);
	rc = open_turn(j, &t, from, err);
	if (rc == 0)
		rc = read_parts(&t, from, &seen, err);
	if (rc == 0 && weighted(j->sc, seen.part) > 0)
		rc = hunt_on(j, &t, err);
	else if (rc == 0)
		talk("turn %u: %s has no price of where it would begin", j->sc->turns, j->name);
	for (int k = 0; rc == 0 && k < TRIES && t.n_trail >> k && !*better && !is_over(j); k++) {
		const uint8_t *config = t.trail + ((t.n_trail >> k) - 1) * t.lab.space->n_sites;
		if (!was_asked(j, config))
			rc = ask(j, &t, config, better, err);
	}
	close_turn(&t);
	return rc;
}

/*
 * Where to begin after so many turns without a gain: the best so far; the best by hand; the second best; ... But a
 * start that the user named comes first.
 */
static void choose_start(const struct job *j, uint32_t dry, uint8_t *config)
{
	const struct by_hand *l = &j->s->by_hand;
	uint32_t best = 0;
	bool used[BY_HAND_MOST] = {false};

	memcpy(config, j->config, j->s->lab.space->n_sites);
	if (j->sc->turns == 0 && j->s->start >= HUNT_NAMED) {
		j->s->lab.space->ops->starts[j->s->start - HUNT_NAMED].fill(j->s->lab.space, config);
		return;
	}
	for (; dry > 0; dry--) {
		best = l->best;
		for (uint32_t i = 0; i < l->n; i++)
			if (!used[i] && l->row[i].outcome == OUTCOME_OK && (used[best] || l->row[i].cost <
				l->row[best].cost))
				best = i;
		used[best] = true;
	}
	if (used[best] && j->s->lab.space->ops->starts[best].name)
		j->s->lab.space->ops->starts[best].fill(j->s->lab.space, config);
}

static int search(struct job *j, struct err *err)
{
	uint8_t *from = mem_alloc(j->s->lab.space->n_sites + 1);
	bool better;
	int rc = learn_by_hand(j, err);

	for (uint32_t dry = 0; rc == 0 && dry < DRY && !is_over(j); dry = better ? 0 : dry + 1) {
		choose_start(j, dry, from);
		rc = take_turn(j, from, &better, err);
	}
	mem_free(from);
	return rc;
}

int screen_search(struct screen *sc, struct session *s, const char *name, uint8_t *best, struct err *err)
{
	struct job j = {.sc = sc, .s = s, .name = name, .best = s->by_hand.row[s->by_hand.best], .config = best,
		.began = now_seconds()};
	struct err why = {{0}};
	int rc;

	*sc = (struct screen){.quantity = s->lab.quantity};
	snprintf(sc->by, sizeof sc->by, "%s", name);
	for (int k = 0; k < CALIBRATED_PARTS; k++)
		sc->weight[k] = 1;
	space_default(s->lab.space, best);
	talk("a price takes long here: %s says which layouts are worth asking about", name);
	rc = search(&j, &why);
	if (rc < 0 && err)
		*err = why;
	sc->seconds = now_seconds() - j.began;
	mem_free(j.known);
	asked_release(&j.asked);
	return rc;
}

void screen_release(struct screen *sc)
{
	mem_free(sc->row);
	*sc = (struct screen){0};
}

void screen_json(const struct screen *sc, struct json *j)
{
	static const char *const part[] = {"work", "memory", "exchanges", "starts"};

	if (!sc->turns)
		return;
	json_object(j, "screen");
	json_str(j, "by", sc->by);
	json_uint(j, "turns", sc->turns);
	json_uint(j, "looked_at", sc->looked);
	json_uint(j, "same_program", sc->same);
	json_num(j, "seconds", sc->seconds);
	json_object(j, "weights");
	for (int k = 0; k < CALIBRATED_PARTS; k++)
		json_num(j, part[k], sc->weight[k]);
	json_end(j);
	json_array(j, "asked");
	for (size_t i = 0; i < sc->n; i++) {
		json_object(j, NULL);
		json_uint(j, "turn", sc->row[i].turn);
		json_str(j, "outcome", outcome_name(sc->row[i].outcome));
		json_num(j, "promised", sc->row[i].promised);
		if (sc->row[i].outcome == OUTCOME_OK)
			json_num(j, "cost", sc->row[i].cost);
		json_bool(j, "better", sc->row[i].better);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void screen_page(const struct screen *sc, struct buf *out)
{
	char text[QUANTITY_TEXT];

	if (!sc->turns)
		return;
	buf_addf(out, "<h2>What was asked</h2>\n<p>A price takes long here, so %s looked at %llu candidates first, and "
		"these were asked about. Its parts were given weights by what had been asked before: work %.2f, memory "
		"%.2f, exchanges %.2f, starts %.2f in the end.</p>\n<table><tr><th class=n>turn</th>"
		"<th class=n>promised</th><th class=n>asked</th><th></th></tr>\n", sc->by,
		(unsigned long long)sc->looked, sc->weight[PART_WORK], sc->weight[PART_MEMORY],
		sc->weight[PART_EXCHANGES], sc->weight[PART_STARTS]);
	for (size_t i = 0; i < sc->n; i++) {
		const struct screened *r = &sc->row[i];
		buf_addf(out, "<tr><td class=n>%u</td><td class=n>%s</td>", r->turn,
			quantity_text(sc->quantity, r->promised, text));
		buf_addf(out, "<td class=n>%s</td><td>%s</td></tr>\n",
			r->outcome == OUTCOME_OK ? quantity_text(sc->quantity, r->cost, text)
						 : outcome_meaning(r->outcome),
			r->better ? "the best so far" : "");
	}
	buf_adds(out, "</table>\n");
	if (sc->same)
		buf_addf(out, "<p>%llu more became programs whose price was known: the partitioner makes the same of "
			"them.</p>\n", (unsigned long long)sc->same);
}
