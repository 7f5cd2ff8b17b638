/*
 * infer.c - see infer.h.
 *
 * We keep the state of every node after every layer (width x (layers + 1) numbers per node) and the prediction of every
 * flip. When the configuration moves, the space names the nodes whose context can have changed. Those whose features
 * did change are the first set. Layer by layer the set grows by its neighbours, and only the rows of the set are
 * gathered, multiplied as one packed matrix, and put back. A full pass is the same code with the set of all nodes, so
 * the two can only differ by rounding in the last bits of a product.
 *
 * A flip's own features depend on the contexts of its node, operands and users (space.h), so they are computed anew for
 * sites around changed nodes. Its prediction is computed anew also for sites in the last set.
 */
#include "learn/infer.h"

#include <string.h>
#include "base/mem.h"
#include "base/sort.h"
#include "learn/feature.h"
#include "learn/inputs.h"
#include "learn/predict.h"
#include "learn/residual.h"
#include "learn/set.h"

#define CHUNK 2048 /* rows multiplied at once: bounds the scratch memory of a full pass */

struct infer {
	const struct model *model;
	struct scene scene;
	struct arena mem;
	uint8_t *config, *scratch;   /* where predictions stand; a copy for the space to flip in */
	double grain;		     /* what costs of this program count in (space.h) */
	bool fresh;		     /* nothing predicted yet */
	real *x;		     /* n_nodes x NODE_FEATURES */
	real *h[NET_LAYERS + 1];     /* n_nodes x width */
	uint32_t *first;	     /* per site: its first place in f and at */
	real *f;		     /* places x FLIP_FEATURES */
	struct prediction *at;	     /* places */
	struct set nodes, sites, flips; /* nodes to recompute; sites to predict, to describe anew */
	struct pass pass;	     /* scratch */
	uint8_t *lead;	     /* per site: is it the first of its tie class with its choice? NULL: all are predicted */
	uint8_t *described;  /* per site, with `lead`: do its flips' features still hold? */
	uint8_t *met;	     /* scratch, per tie class and choice */
	struct residual *residual;   /* NULL: it does not learn */
	struct lesson *lesson;	     /* places, with the residual */
	uint16_t *mark;		     /* places x residual_marks */
};

/* The model's own outputs for a flip, and what was learnt about it since. */
struct lesson {
	real out[OUT_COUNT];
	struct residual_sums sums;
};

struct infer *infer_new(const struct model *m, struct space *s, struct err *err)
{
	struct infer *f;
	size_t family = strcspn(s->kind, "/:"), w = m->net.size.width;
	uint32_t n = s->graph->n_nodes;

	if (strlen(m->facts.space) != family || strncmp(m->facts.space, s->kind, family) != 0) {
		err_set(err, "the model was trained on decisions of kind %s, not %s", m->facts.space, s->kind);
		return NULL;
	}
	f = MEM_NEW(1, struct infer);
	f->model = m;
	f->fresh = true;
	f->grain = space_grain(s, m->facts.quantity);
	feature_open(&f->scene, s);
	f->config = ARENA_NEW(&f->mem, s->n_sites, uint8_t);
	f->scratch = ARENA_NEW(&f->mem, s->n_sites, uint8_t);
	f->x = ARENA_NEW(&f->mem, (size_t)n * NODE_FEATURES, real);
	for (uint32_t l = 0; l <= m->net.size.layers && w; l++)
		f->h[l] = ARENA_NEW(&f->mem, n * w, real);
	f->first = ARENA_NEW(&f->mem, s->n_sites + 1, uint32_t);
	for (uint32_t i = 0; i < s->n_sites; i++)
		f->first[i + 1] = f->first[i] + s->site[i].choices;
	f->f = ARENA_NEW(&f->mem, (size_t)f->first[s->n_sites] * FLIP_FEATURES, real);
	f->at = ARENA_NEW(&f->mem, f->first[s->n_sites], struct prediction);
	f->nodes = set_new(&f->mem, n);
	f->sites = set_new(&f->mem, s->n_sites);
	f->flips = set_new(&f->mem, s->n_sites);
	for (uint32_t v = 0; v < n; v++)
		memcpy(f->x + (size_t)v * NODE_FEATURES, f->scene.fixed + (size_t)v * NODE_FIXED,
			NODE_FIXED * sizeof(real));
	return f;
}

void infer_free(struct infer *f)
{
	if (!f)
		return;
	pass_release(&f->pass);
	residual_free(f->residual);
	mem_free(f->lesson);
	mem_free(f->mark);
	feature_release(&f->scene);
	arena_release(&f->mem);
	mem_free(f);
}

static real *room(struct infer *f, size_t rows, size_t cols)
{
	return arena_alloc(&f->pass.mem, (rows * cols + 1) * sizeof(real));
}

/* h0 of the listed nodes. */
static void input_rows(struct infer *f, const uint32_t *v, uint32_t n)
{
	const struct net *net = &f->model->net;
	size_t w = net->size.width;
	uint16_t *op, *dt;
	real *x, *h, *xhat, *rstd;

	arena_reset(&f->pass.mem);
	op = arena_alloc(&f->pass.mem, n * sizeof *op);
	dt = arena_alloc(&f->pass.mem, n * sizeof *dt);
	x = room(f, n, NODE_FEATURES), h = room(f, n, w), xhat = room(f, n, w), rstd = room(f, n, 1);
	for (uint32_t i = 0; i < n; i++) {
		op[i] = f->scene.opcode[v[i]];
		dt[i] = f->scene.dtype[v[i]];
		memcpy(x + (size_t)i * NODE_FEATURES, f->x + (size_t)v[i] * NODE_FEATURES, NODE_FEATURES * sizeof *x);
	}
	net_input(net, op, dt, x, n, h, xhat, rstd);
	for (uint32_t i = 0; i < n; i++)
		memcpy(f->h[0] + v[i] * w, h + i * w, w * sizeof *h);
}

/* The neighbour lists of the listed nodes, packed. */
static void pick_lists(struct infer *f, const uint32_t *v, uint32_t n, const uint32_t *first, const uint32_t *to,
	uint32_t **out_first, uint32_t **out_to)
{
	uint32_t total = 0, *at;

	*out_first = at = arena_alloc(&f->pass.mem, (n + 1) * sizeof **out_first);
	for (uint32_t i = 0; i < n; i++)
		total += first[v[i] + 1] - first[v[i]];
	*out_to = arena_alloc(&f->pass.mem, (total + 1) * sizeof **out_to);
	at[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t deg = first[v[i] + 1] - first[v[i]];
		if (deg)
			memcpy(*out_to + at[i], to + first[v[i]], deg * sizeof *to);
		at[i + 1] = at[i] + deg;
	}
}

/* h[l] of the listed nodes from h[l - 1]. */
static void layer_rows(struct infer *f, uint32_t l, const uint32_t *v, uint32_t n)
{
	const struct net *net = &f->model->net;
	const struct scene *g = &f->scene;
	size_t w = net->size.width, ld = (net->size.blind ? 2 : 3) * w;
	uint32_t *op_first, *op_to, *user_first, *user_to;
	real *cat, *act, *xhat, *rstd, *h;

	arena_reset(&f->pass.mem);
	pick_lists(f, v, n, g->op_first, g->op_to, &op_first, &op_to);
	pick_lists(f, v, n, g->user_first, g->user_to, &user_first, &user_to);
	cat = room(f, n, ld), act = room(f, n, w), xhat = room(f, n, w), rstd = room(f, n, 1), h = room(f, n, w);
	for (uint32_t i = 0; i < n; i++)
		memcpy(cat + i * ld, f->h[l - 1] + v[i] * w, w * sizeof *cat);
	net_gather(net, cat, f->h[l - 1], op_first, op_to, user_first, user_to, n);
	net_layer(net, l - 1, cat, n, act, xhat, rstd, h);
	for (uint32_t i = 0; i < n; i++)
		memcpy(f->h[l] + v[i] * w, h + i * w, w * sizeof *h);
}

static real *flip_of(const struct infer *f, uint32_t place)
{
	return f->f + (size_t)place * FLIP_FEATURES;
}

static void row_at(const struct infer *f, uint32_t node, uint32_t place, float *row)
{
	const real *v = f->x + (size_t)node * NODE_FEATURES;
	row_fill(v, v + NODE_FIXED, flip_of(f, place), row);
}

/* The model's outputs for n flips, given by their nodes and their places; in the scratch memory of the pass. */
static const real *predict_places(struct infer *f, const uint32_t *node, const uint32_t *place, uint32_t n)
{
	const struct model *m = f->model;
	size_t width = m->net.size.flip_features;
	real *x = room(f, n, width), *out = room(f, n, OUT_COUNT);
	float row[ROW_COLUMNS];

	for (uint32_t i = 0; i < n; i++) {
		row_at(f, node[i], place[i], row);
		if (m->trees.n_columns)
			trees_predict(&m->trees, row, 1, out + (size_t)i * OUT_COUNT);
		if (m->net.size.layers)
			inputs_fill(&m->net, row, out + (size_t)i * OUT_COUNT, x + i * width);
	}
	if (!m->net.size.layers)
		return out;
	net_head(&m->net, f->h[m->net.size.layers], node, x, n, &f->pass);
	if (model_mixes(m))
		predict_mix(f->pass.out, out, n);
	return f->pass.out;
}

/* How often a node runs, times the program's grain, if the model predicts single executions; else 1. */
static double times_of(const struct infer *f, uint32_t node)
{
	const struct graph *g = f->scene.space->graph;

	return f->model->unit > 0 ? f->grain * g->comp[g->node[node].comp].trips : 1;
}

/* Sets the prediction of a flip: the model's outputs, corrected by what was learnt. */
static void say(struct infer *f, uint32_t node, uint32_t place, const real *out)
{
	real corrected[OUT_COUNT];
	struct guess g;

	memcpy(corrected, out, sizeof corrected);
	if (f->residual)
		residual_correct(&f->lesson[place].sums, corrected);
	g = guess_of(corrected, times_of(f, node));
	f->at[place] = (struct prediction){g.magnitude, g.p_improve, g.gain};
}

/* After a flip's features changed: finds the measured flips that it is like, and what those have shown. */
static void take_lesson(struct infer *f, uint32_t node, uint32_t place, const real *out)
{
	struct lesson *l = &f->lesson[place];
	uint16_t *mark = f->mark + (size_t)place * residual_marks(f->residual);
	float row[ROW_COLUMNS];

	row_at(f, node, place, row);
	residual_mark(f->residual, row, mark);
	memcpy(l->out, out, sizeof l->out);
	l->sums = (struct residual_sums){0};
	residual_add(f->residual, 0, mark, &l->sums);
}

/* The flips of the listed sites: at most CHUNK of them have room for all their choices. */
static void predict_sites(struct infer *f, const uint32_t *sites, uint32_t n)
{
	const struct space *s = f->scene.space;
	const struct site *site = s->site;
	uint32_t *row, *place, flips = 0;
	const real *raw;

	arena_reset(&f->pass.mem);
	row = arena_alloc(&f->pass.mem, (size_t)n * f->scene.space->stride * sizeof *row);
	place = arena_alloc(&f->pass.mem, (size_t)n * f->scene.space->stride * sizeof *place);
	for (uint32_t i = 0; i < n; i++)
		for (uint8_t k = 0; k < site[sites[i]].choices; k++) {
			f->at[f->first[sites[i]] + k] = (struct prediction){0};
			if (k == f->config[sites[i]])
				continue;
			row[flips] = site[sites[i]].node;
			place[flips++] = f->first[sites[i]] + k;
		}
	raw = predict_places(f, row, place, flips);
	for (uint32_t i = 0; i < flips; i++) {
		const real *out = raw + (size_t)i * OUT_COUNT;
		if (f->residual)
			take_lesson(f, row[i], place[i], out);
		say(f, row[i], place[i], f->residual ? f->lesson[place[i]].out : out);
	}
}

static void in_chunks(struct infer *f, uint32_t layer, const uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += CHUNK) {
		uint32_t k = n - i < CHUNK ? n - i : CHUNK;
		if (layer == 0)
			input_rows(f, v + i, k);
		else
			layer_rows(f, layer, v + i, k);
	}
}

static void describe_flips(struct infer *f)
{
	const struct site *site = f->scene.space->site;

	for (uint32_t i = 0; i < f->flips.n; i++) {
		uint32_t s = f->flips.v[i];
		if (f->lead) {
			f->described[s] = f->lead[s];
			if (!f->lead[s])
				continue;
		}
		for (uint8_t k = 0; k < site[s].choices; k++)
			if (k != f->config[s])
				feature_flip(&f->scene, f->scratch, s, k, flip_of(f, f->first[s] + k));
	}
}

/* Runs all layers over the set of nodes, which grows on the way, then the head. */
static void propagate(struct infer *f)
{
	const struct scene *g = &f->scene;
	const struct space *s = g->space;

	if (f->model->net.size.layers)
		in_chunks(f, 0, f->nodes.v, f->nodes.n);
	for (uint32_t l = 1; l <= f->model->net.size.layers; l++) {
		for (uint32_t i = 0, n = f->nodes.n; i < n && f->nodes.n < g->n_nodes; i++) {
			uint32_t v = f->nodes.v[i];
			for (uint32_t e = g->op_first[v]; e < g->op_first[v + 1]; e++)
				set_add(&f->nodes, g->op_to[e]);
			for (uint32_t e = g->user_first[v]; e < g->user_first[v + 1]; e++)
				set_add(&f->nodes, g->user_to[e]);
		}
		in_chunks(f, l, f->nodes.v, f->nodes.n);
	}
	for (uint32_t i = 0; i < f->nodes.n; i++)
		if (s->site_of[f->nodes.v[i]] != NONE)
			set_add(&f->sites, s->site_of[f->nodes.v[i]]);
	for (uint32_t i = 0; i < f->flips.n; i++)
		set_add(&f->sites, f->flips.v[i]);
	sort_u32(f->sites.v, f->sites.n);
	describe_flips(f);
	for (uint32_t i = 0; i < f->sites.n; i += CHUNK)
		predict_sites(f, f->sites.v + i, f->sites.n - i < CHUNK ? f->sites.n - i : CHUNK);
}

static void set_config(struct infer *f, const uint8_t *config)
{
	memcpy(f->config, config, f->scene.space->n_sites);
	memcpy(f->scratch, config, f->scene.space->n_sites);
	set_clear(&f->nodes);
	set_clear(&f->sites);
	set_clear(&f->flips);
}

/* Finds the sites that lead now; those that were not described as they stand are described with this move. */
static void find_leads(struct infer *f)
{
	const struct space *s = f->scene.space;

	if (!f->lead)
		return;
	memset(f->met, 0, (size_t)s->n_ties * s->stride);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		uint8_t *met = &f->met[(size_t)s->site[i].tie * s->stride + f->config[i]];
		f->lead[i] = !*met;
		*met = 1;
		if (f->lead[i] && !f->described[i])
			set_add(&f->flips, i);
	}
}

void infer_full(struct infer *f, const uint8_t *config)
{
	set_config(f, config);
	for (uint32_t v = 0; v < f->scene.n_nodes; v++)
		set_add(&f->nodes, v);
	for (uint32_t i = 0; i < f->scene.space->n_sites; i++)
		set_add(&f->flips, i);
	find_leads(f);
	feature_context(&f->scene, config, f->nodes.v, f->nodes.n, f->x + NODE_FIXED, NODE_FEATURES);
	propagate(f);
	f->fresh = false;
}

static void mark_site_of(struct infer *f, uint32_t v)
{
	uint32_t site = f->scene.space->site_of[v];

	if (site != NONE)
		set_add(&f->flips, site);
}

/* Sites whose flips the touched node can concern: itself, its operands, its users. All of them, not only
 * the learner's neighbours. */
static void mark_around(struct infer *f, uint32_t v)
{
	const struct graph *g = f->scene.space->graph;

	mark_site_of(f, v);
	for (uint32_t i = 0; i < g->node[v].n_operands; i++)
		mark_site_of(f, node_operands(g, v)[i]);
	for (uint32_t i = 0; i < g->node[v].n_users; i++)
		mark_site_of(f, node_users(g, v)[i]);
}

/* Takes over the touched nodes' contexts; those that differ from before are the first set. */
static void update_contexts(struct infer *f, const uint32_t *touched, uint32_t n)
{
	real *now = MEM_NEW((size_t)n * NODE_CONTEXT + 1, real);

	feature_context(&f->scene, f->config, touched, n, now, NODE_CONTEXT);
	for (uint32_t i = 0; i < n; i++) {
		real *old = f->x + (size_t)touched[i] * NODE_FEATURES + NODE_FIXED;
		if (memcmp(old, now + (size_t)i * NODE_CONTEXT, NODE_CONTEXT * sizeof *old) == 0)
			continue;
		memcpy(old, now + (size_t)i * NODE_CONTEXT, NODE_CONTEXT * sizeof *old);
		set_add(&f->nodes, touched[i]);
	}
	mem_free(now);
}

void infer_move(struct infer *f, const uint8_t *config)
{
	struct space *s = f->scene.space;
	uint32_t *changed, *touched = NULL, n = 0;
	size_t n_touched = 0, cap = 0;

	if (f->fresh) {
		infer_full(f, config);
		return;
	}
	changed = MEM_NEW(s->n_sites, uint32_t);
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (config[i] != f->config[i])
			changed[n++] = i;
	s->ops->touched(s, f->config, config, changed, n, &touched, &n_touched, &cap);
	set_config(f, config);
	for (size_t i = 0; i < n_touched; i++)
		mark_around(f, touched[i]);
	for (uint32_t i = 0; i < n; i++)
		set_add(&f->flips, changed[i]);
	find_leads(f);
	update_contexts(f, touched, (uint32_t)n_touched);
	propagate(f);
	mem_free(changed);
	mem_free(touched);
}

const struct prediction *infer_site(const struct infer *f, uint32_t site)
{
	return f->at + f->first[site];
}

const uint32_t *infer_changed(const struct infer *f, uint32_t *n)
{
	*n = f->sites.n;
	return f->sites.v;
}

void infer_tied(struct infer *f)
{
	const struct space *s = f->scene.space;

	f->lead = ARENA_NEW(&f->mem, s->n_sites, uint8_t);
	f->described = ARENA_NEW(&f->mem, s->n_sites, uint8_t);
	f->met = ARENA_NEW(&f->mem, (size_t)s->n_ties * s->stride, uint8_t);
}

bool infer_adapt(struct infer *f)
{
	uint32_t places = f->first[f->scene.space->n_sites];

	f->residual = residual_new(f->model);
	if (!f->residual)
		return false;
	f->lesson = MEM_NEW(places + 1, struct lesson);
	f->mark = MEM_NEW((size_t)places * residual_marks(f->residual) + 1, uint16_t);
	return true;
}

/* Corrects all predictions by the measurements from number `from` on. */
static void heed(struct infer *f, uint32_t from)
{
	const struct space *s = f->scene.space;
	size_t marks = residual_marks(f->residual);

	for (uint32_t i = 0; i < s->n_sites; i++)
		for (uint8_t k = 0; k < s->site[i].choices; k++) {
			uint32_t place = f->first[i] + k;
			if (k == f->config[i])
				continue;
			residual_add(f->residual, from, f->mark + place * marks, &f->lesson[place].sums);
			say(f, s->site[i].node, place, f->lesson[place].out);
		}
}

void infer_learn(struct infer *f, uint32_t site, uint8_t choice, double advantage)
{
	uint32_t place = f->first[site] + choice, node = f->scene.space->site[site].node;
	double unit = f->model->unit * times_of(f, node);
	float row[ROW_COLUMNS];

	if (!f->residual || !(unit > 0))
		return;
	row_at(f, node, place, row);
	if (residual_tell(f->residual, row, f->lesson[place].out, advantage / unit))
		heed(f, residual_count(f->residual) - 1);
}

void infer_save(const struct infer *f, struct buf *out)
{
	if (f->residual)
		residual_save(f->residual, out);
}

void infer_load(struct infer *f, struct cursor *in)
{
	if (!f->residual)
		return;
	residual_load(f->residual, in);
	for (uint32_t i = 0; i < f->first[f->scene.space->n_sites]; i++)
		f->lesson[i].sums = (struct residual_sums){0};
	heed(f, 0);
}
