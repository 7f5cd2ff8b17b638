/*
 * train.c - see train.h: drawing, the step over all shards, evaluations, the loop.
 *
 * Every draw comes from one stream of random numbers on the calling thread, so a batch is decided before
 * the work on it is shared out.
 */
#include "learn/train.h"

#include <math.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "learn/pack.h"
#include "learn/row.h"
#include "learn/team.h"

#define SHARD 32	  /* examples with one gradient */
#define CALIBRATION 20000 /* examples that the sign is calibrated on, at most */

struct member { /* scratch of one thread */
	struct pack pack;
	struct pass pass;
	real *d_out;
	size_t cap_d_out;
};

struct pool { /* the training examples of one graph, split for drawing */
	uint32_t *all, *top, *gain;
	uint32_t n_all, n_top, n_gain;
};

struct trainer {
	const struct data *data;
	const struct train_options *options;
	struct net *net;
	struct adam adam;
	struct team *team;
	struct member *member;
	struct rng rng;
	struct pool *pool; /* of graph[i] */
	uint32_t *graph, n_graphs;
	double *weight;	   /* of graph[i] */
	uint32_t *batch, n_shards;
	real *grad;	   /* n_shards x n_weights */
	double *loss;	   /* per shard */
	uint32_t *held;
	size_t n_held, n_train;
};

static bool wanted(const struct train_options *o, const struct example *e)
{
	return !e->apart && (!o->current_only || e->label[0].measured);
}

static struct pool pool_of(const struct data *d, const struct train_options *o, const struct data_graph *g)
{
	struct pool p = {.all = MEM_NEW(g->n_examples, uint32_t), .gain = MEM_NEW(g->n_gains, uint32_t)};

	for (uint32_t i = 0; i < g->n_examples; i++)
		if (wanted(o, &d->example[g->by_size[i]]))
			p.all[p.n_all++] = g->by_size[i];
	for (uint32_t i = 0; i < g->n_gains; i++)
		if (wanted(o, &d->example[g->gains[i]]))
			p.gain[p.n_gain++] = g->gains[i];
	p.top = p.all; /* they are in order of size */
	p.n_top = (uint32_t)ceil(o->top_part * p.n_all);
	return p;
}

static void make_pools(struct trainer *t, const bool *held)
{
	const struct data *d = t->data;

	t->pool = MEM_NEW(d->n_graphs, struct pool);
	t->graph = MEM_NEW(d->n_graphs, uint32_t);
	t->weight = MEM_NEW(d->n_graphs, double);
	t->held = MEM_NEW(d->n_examples, uint32_t);
	for (uint32_t i = 0; i < d->n_graphs; i++) {
		bool all = held && held[i];
		for (uint32_t k = 0; k < d->graph[i].n_examples; k++) {
			const struct example *e = &d->example[d->graph[i].by_size[k]];
			if ((all || e->apart) && e->label[0].measured)
				t->held[t->n_held++] = d->graph[i].by_size[k];
		}
		if (all)
			continue;
		t->pool[t->n_graphs] = pool_of(d, t->options, &d->graph[i]);
		t->graph[t->n_graphs] = i;
		t->weight[t->n_graphs] = d->graph[i].weight * sqrt(t->pool[t->n_graphs].n_all);
		t->n_train += t->pool[t->n_graphs].n_all;
		t->n_graphs++;
	}
}

static uint32_t draw(struct trainer *t)
{
	const struct train_options *o = t->options;
	const struct pool *p = &t->pool[rng_pick(&t->rng, t->weight, t->n_graphs)];
	double u = rng_unit(&t->rng), v = rng_unit(&t->rng);

	if (u >= o->top_draws || p->n_top == 0)
		return p->all[rng_below(&t->rng, p->n_all)];
	if (v < o->gain_draws && p->n_gain > 0)
		return p->gain[rng_below(&t->rng, p->n_gain)];
	return p->top[rng_below(&t->rng, p->n_top)];
}

static void shard_step(void *ctx, uint32_t item, uint32_t member)
{
	struct trainer *t = ctx;
	struct member *m = &t->member[member];
	size_t n = t->net->n_weights;
	real *grad = t->grad + item * n;
	uint32_t from = item * SHARD, count = t->options->batch - from;
	double loss = 0;

	count = count < SHARD ? count : SHARD;
	memset(grad, 0, n * sizeof *grad);
	pack_examples(&m->pack, t->data, t->net, t->options->advice, t->batch + from, count);
	net_forward(t->net, &m->pack.batch, &m->pass);
	MEM_GROW(&m->d_out, &m->cap_d_out, (size_t)m->pack.batch.n_flips * OUT_COUNT);
	for (uint32_t i = 0; i < m->pack.batch.n_flips; i++) {
		const struct example *e = &t->data->example[t->batch[from + m->pack.owner[i]]];
		real *d = m->d_out + (size_t)i * OUT_COUNT, share = 1 / (real)(t->options->batch * e->n_flips);
		loss += (double)share * flip_loss(t->options, m->pack.label[i],
			label_unit(t->data, e, t->options->unit), m->pass.out + (size_t)i * OUT_COUNT, d);
		for (int k = 0; k < OUT_COUNT; k++)
			d[k] *= share;
	}
	net_backward(t->net, &m->pack.batch, &m->pass, m->d_out, grad);
	t->loss[item] = loss;
}

/* The gradients of all shards into the first one, in order. */
static void add_shards(struct trainer *t)
{
	size_t n = t->net->n_weights;

	for (uint32_t s = 1; s < t->n_shards; s++)
		rows_add(t->grad, n, t->grad + s * n, n, 1, n);
}

static double step(struct trainer *t, double done, double *norm)
{
	double loss = 0;

	for (uint32_t i = 0; i < t->options->batch; i++)
		t->batch[i] = draw(t);
	team_run(t->team, shard_step, t, t->n_shards);
	add_shards(t);
	for (uint32_t s = 0; s < t->n_shards; s++)
		loss += t->loss[s];
	*norm = adam_step(&t->adam, t->net->weight, t->grad, done);
	return loss;
}

struct predicting {
	const struct net *net;
	const struct data *data;
	const struct advice *advice;
	const uint32_t *example;
	size_t n;
	size_t *first; /* per shard: the first flip */
	struct member *member;
	real *out;
};

static void shard_predict(void *ctx, uint32_t item, uint32_t member)
{
	struct predicting *p = ctx;
	struct member *m = &p->member[member];
	size_t from = (size_t)item * SHARD, count = p->n - from < SHARD ? p->n - from : SHARD;

	pack_examples(&m->pack, p->data, p->net, p->advice, p->example + from, (uint32_t)count);
	net_forward(p->net, &m->pack.batch, &m->pass);
	memcpy(p->out + p->first[item] * OUT_COUNT, m->pass.out,
		(size_t)m->pack.batch.n_flips * OUT_COUNT * sizeof *p->out);
}

static void members_free(struct member *m, uint32_t n)
{
	for (uint32_t i = 0; m && i < n; i++) {
		pack_release(&m[i].pack);
		pass_release(&m[i].pass);
		mem_free(m[i].d_out);
	}
	mem_free(m);
}

void train_predict(const struct net *net, const struct data *d, const struct advice *a, const uint32_t *example,
	size_t n, struct team *team, real *out)
{
	size_t shards = (n + SHARD - 1) / SHARD, flips = 0;
	struct predicting p = {net, d, a, example, n, MEM_NEW(shards + 1, size_t),
		MEM_NEW(team_size(team), struct member), out};

	for (size_t i = 0; i < n; i++) {
		if (i % SHARD == 0)
			p.first[i / SHARD] = flips;
		flips += d->example[example[i]].n_flips;
	}
	team_run(team, shard_predict, &p, (uint32_t)shards);
	members_free(p.member, team_size(team));
	mem_free(p.first);
}

static size_t count_flips(const struct data *d, const uint32_t *example, size_t n)
{
	size_t flips = 0;

	for (size_t i = 0; i < n; i++)
		flips += d->example[example[i]].n_flips;
	return flips;
}

/* Mean loss over the held-out examples, each graph with the same weight. */
static double held_loss(const struct trainer *t, const struct net *net)
{
	const struct data *d = t->data;
	double *sum = MEM_NEW(d->n_graphs, double), *n = MEM_NEW(d->n_graphs, double), total = 0, graphs = 0;
	real *out = MEM_NEW(count_flips(d, t->held, t->n_held) * OUT_COUNT + 1, real), ignored[OUT_COUNT], *at = out;

	train_predict(net, d, t->options->advice, t->held, t->n_held, t->team, out);
	for (size_t i = 0; i < t->n_held; i++) {
		const struct example *e = &d->example[t->held[i]];
		for (uint8_t k = 0; k < e->n_flips; k++, at += OUT_COUNT) {
			sum[e->graph] += flip_loss(t->options, &e->label[k], label_unit(d, e, t->options->unit), at,
				ignored);
			n[e->graph]++;
		}
	}
	for (size_t g = 0; g < d->n_graphs; g++)
		if (n[g] > 0) {
			total += sum[g] / n[g];
			graphs++;
		}
	mem_free(sum);
	mem_free(n);
	mem_free(out);
	return graphs > 0 ? total / graphs : NAN;
}

static struct train_point *add_point(struct train_result *r)
{
	MEM_GROW(&r->point, &r->cap_points, r->n_points + 1);
	return &r->point[r->n_points++];
}

void train_result_release(struct train_result *r)
{
	mem_free(r->point);
	*r = (struct train_result){0};
}

static int check_options(const struct trainer *t, struct err *err)
{
	if (t->n_train == 0)
		return err_set(err, "nothing is left to train on: %s",
			t->n_held ? "every graph with samples is held out" : "no graph has usable samples");
	return 0;
}

/* Training examples as they were measured, evenly from all; returns how many. */
static size_t measured_examples(const struct trainer *t, uint32_t *out, size_t most)
{
	size_t every = t->n_train / most + 1, n = 0, seen = 0;

	for (uint32_t g = 0; g < t->n_graphs; g++)
		for (uint32_t i = 0; i < t->pool[g].n_all; i++)
			if (t->data->example[t->pool[g].all[i]].label[0].measured && seen++ % every == 0)
				out[n++] = t->pool[g].all[i];
	return n;
}

/* Cuts every column by what was measured of the programs that are trained on. */
static void cut_ramps(const struct trainer *t, struct ramps *out)
{
	uint32_t *example = MEM_NEW(t->n_train + 1, uint32_t), rows = 0;
	size_t n = measured_examples(t, example, t->n_train + 1);
	float *x;

	for (size_t i = 0; i < n; i++)
		rows += t->data->example[example[i]].n_flips;
	x = MEM_NEW((size_t)rows * ROW_COLUMNS + 1, float);
	rows = 0;
	for (size_t i = 0; i < n; i++) {
		const struct example *e = &t->data->example[example[i]];
		for (uint8_t k = 0; k < e->n_flips; k++)
			example_row(t->data, e, k, x + (size_t)rows++ * ROW_COLUMNS);
	}
	ramps_make(out, x, rows, ROW_COLUMNS, t->options->ramps);
	mem_free(example);
	mem_free(x);
}

static void trainer_init(struct trainer *t, const struct data *d, const bool *held, const struct train_options *o,
	struct net *net)
{
	struct net_size size = o->size;
	struct ramps ramps = {0};

	size.opcodes = OP_COUNT + 1;
	size.dtypes = FEATURE_DTYPES;
	size.node_features = NODE_FEATURES;
	size.advised = o->advice ? OUT_COUNT : 0;
	size.layers = d->radius;
	*t = (struct trainer){.data = d, .options = o, .net = net};
	make_pools(t, held);
	if (o->ramps)
		cut_ramps(t, &ramps);
	size.ramped = ramps.width;
	size.flip_features = FLIP_FEATURES + size.advised + size.ramped;
	rng_seed2(&t->rng, o->seed, 1);
	net_init(net, &size);
	net->ramps = ramps;
	net_randomise(net, &t->rng);
	adam_init(&t->adam, net, &o->adam);
	t->team = team_new(o->threads);
	t->member = MEM_NEW(team_size(t->team), struct member);
	t->batch = MEM_NEW(o->batch, uint32_t);
	t->n_shards = (o->batch + SHARD - 1) / SHARD;
	t->grad = MEM_NEW(t->n_shards * net->n_weights, real);
	t->loss = MEM_NEW(t->n_shards, double);
}

static void trainer_release(struct trainer *t)
{
	for (uint32_t i = 0; t->pool && i < t->n_graphs; i++) {
		mem_free(t->pool[i].all);
		mem_free(t->pool[i].gain);
	}
	members_free(t->member, team_size(t->team));
	team_free(t->team);
	adam_release(&t->adam);
	mem_free(t->pool);
	mem_free(t->graph);
	mem_free(t->weight);
	mem_free(t->held);
	mem_free(t->batch);
	mem_free(t->grad);
	mem_free(t->loss);
}

/* How the training stands, for pacing and for the curve. */
struct course {
	uint64_t step, steps;
	double start, spent_evaluating, loss, norm;
	uint64_t since; /* steps since the last point */
	uint32_t worse;
	double best;
};

static double share_done(const struct trainer *t, const struct course *c)
{
	double done = (double)c->step / (double)c->steps, limit = t->options->seconds;

	return limit > 0 ? fmax(done, (now_seconds() - c->start) / limit) : done;
}

/* Evaluates the averaged weights; keeps them in `kept` if they are to be kept. */
static void evaluate(struct trainer *t, struct course *c, struct train_result *r, real *kept)
{
	struct net averaged = *t->net;
	struct train_point *p = add_point(r);
	double start = now_seconds(), n = c->since ? (double)c->since : 1;

	averaged.weight = t->adam.averaged;
	*p = (struct train_point){.step = c->step, .done = share_done(t, c), .loss = c->loss / n, .norm = c->norm / n};
	p->held_loss = t->n_held ? held_loss(t, &averaged) : NAN;
	p->best = !t->options->patience || !t->n_held || p->held_loss < c->best;
	c->worse = p->best ? 0 : c->worse + 1;
	c->best = p->best ? p->held_loss : c->best;
	if (p->best)
		memcpy(kept, averaged.weight, averaged.n_weights * sizeof *kept);
	c->loss = c->norm = 0;
	c->since = 0;
	c->spent_evaluating += now_seconds() - start;
	p->seconds = now_seconds() - c->start;
	averaged.weight = kept;
	if (t->options->progress)
		t->options->progress(t->options->ctx, &averaged, p);
}

static bool are_numbers(const real *w, size_t n)
{
	size_t i = 0;

	while (i < n && isfinite(w[i]))
		i++;
	return i == n;
}

static int run(struct trainer *t, struct train_result *r, struct err *err)
{
	const struct train_options *o = t->options;
	struct course c = {.steps = (uint64_t)ceil(o->epochs * (double)t->n_train / o->batch),
		.start = now_seconds(), .best = INFINITY};
	real *kept = MEM_NEW(t->net->n_weights, real);
	uint32_t points = 0, wanted_points = o->evaluations ? o->evaluations : 1;
	double done, norm, loss;
	bool wild = false;

	for (size_t i = 0; i < t->net->n_weights; i++)
		kept[i] = (real)NAN; /* nothing is kept yet */
	c.steps = c.steps > o->least_steps ? c.steps : o->least_steps ? o->least_steps : 1;
	while ((done = share_done(t, &c)) < 1) {
		if (stop_asked()) {
			r->stopped = true;
			break;
		}
		loss = step(t, done, &norm);
		wild = !isfinite(loss) || !isfinite(norm);
		if (wild)
			break;
		c.loss += loss;
		c.norm += norm;
		c.step++;
		c.since++;
		if (share_done(t, &c) * wanted_points >= points + 1) {
			points++;
			evaluate(t, &c, r, kept);
			if (o->patience && c.worse >= o->patience)
				break;
		}
	}
	if (!wild && (c.since > 0 || r->n_points == 0))
		evaluate(t, &c, r, kept);
	wild |= !are_numbers(kept, t->net->n_weights);
	memcpy(t->net->weight, kept, t->net->n_weights * sizeof *kept);
	r->steps = c.step;
	r->draws = c.step * o->batch;
	r->seconds = now_seconds() - c.start - c.spent_evaluating;
	mem_free(kept);
	return !wild ? 0 : err_set(err, "the weights of the network grew beyond all numbers, after %llu steps: "
		"learn with a lower --rate, or with --clip", (unsigned long long)c.step);
}

/* Moves the sign's bias until the mean probability is that of the labels; it falls with the shift. */
static void calibrate(struct trainer *t)
{
	uint32_t *example = MEM_NEW(t->n_train + 1, uint32_t);
	size_t n = measured_examples(t, example, CALIBRATION), flips = 0;
	real *out = MEM_NEW(count_flips(t->data, example, n) * OUT_COUNT + 1, real), *bias;
	double want = 0, low = -20, high = 20;

	train_predict(t->net, t->data, t->options->advice, example, n, t->team, out);
	for (size_t i = 0; i < n; i++) {
		const struct example *e = &t->data->example[example[i]];
		for (uint8_t k = 0; k < e->n_flips; k++, flips++)
			want += (double)label_improves(&e->label[k]);
	}
	for (int round = 0; round < 40 && flips > 0; round++) {
		double shift = (low + high) / 2, sum = 0;
		for (size_t i = 0; i < flips; i++)
			sum += (double)logistic(out[i * OUT_COUNT + OUT_SIGN] + (real)shift);
		*(sum < want ? &low : &high) = shift;
	}
	bias = net_param(t->net, t->net->weight, "out.bias");
	bias[OUT_SIGN] += (real)((low + high) / 2);
	mem_free(out);
	mem_free(example);
}

int train(const struct data *d, const bool *held, const struct train_options *o, struct net *net,
	struct train_result *out, struct err *err)
{
	struct trainer t;
	int rc;

	trainer_init(&t, d, held, o, net);
	out->n_train = t.n_train;
	out->n_held = t.n_held;
	rc = check_options(&t, err);
	if (rc == 0)
		rc = run(&t, out, err);
	if (rc == 0)
		calibrate(&t);
	trainer_release(&t);
	return rc;
}
