/*
 * learn_throughput.c - measures how fast the network is trained, and how fast it predicts.
 *
 *	learn_throughput [SECONDS [DUMP]]	from the root of the repository
 *
 * Training: steps of forward, loss, backward and optimiser on fusion decisions of two graphs of the zoo, whose
 * neighbourhoods have about 50 nodes, with width 64, 3 layers, one thread; and the share of the time in matrix
 * products. The costs are invented, because the speed does not depend on them. Prediction: a graph of about 21,000
 * sites, from scratch and after a change of sites up to two steps apart, by such a network with random weights and by
 * the model that is shipped. All times are processor times, which other work on the machine changes little. With DUMP,
 * some batches are written to a file, so that bench/pyg.py can use the same.
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "base/progress.h"
#include "base/stat.h"
#include "space/fusion/fusion.h"
#include "learn/blas.h"
#include "learn/infer.h"
#include "learn/pack.h"
#include "learn/train.h"

#define ZOO "examples/graphs/"

struct world {
	struct graph g;
	struct space *s;
};

static void die(const struct err *err)
{
	exit(err_exit(err));
}

static void world_open(struct world *w, const char *path)
{
	struct err err = {0};

	*w = (struct world){0};
	if (graph_read(&w->g, path, &err) < 0 || !(w->s = space_open("fusion", "cpu", &w->g, NULL, 0, &err)))
		die(&err);
}

static void world_release(struct world *w)
{
	space_free(w->s);
	graph_release(&w->g);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void made_up_samples(struct data *d, struct space *s, const char *name)
{
	uint32_t g = data_graph(d, name, s);
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	struct rng r;

	rng_seed(&r, 1);
	space_random(s, 0.3, &r, config);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		struct sample x = {.site = i, .n_choices = s->site[i].choices, .kind = COST_MODELLED};
		for (uint8_t k = 1; k < x.n_choices; k++)
			x.choice[k] = (struct choice_cost){.delta = 1e-6 * rng_normal(&r), .se = 1e-8};
		data_sample(d, g, config, &x);
	}
	mem_free(config);
}

static void training(const struct data *d, double seconds)
{
	struct train_options o = TRAIN_DEFAULTS;
	struct train_result r = {0};
	struct net net = {0};
	struct err err = {0};
	double start, spent, rings[4] = {0}, n = (double)d->n_examples, products = gemm_seconds();

	for (size_t i = 0; i < d->n_examples; i++)
		for (int k = 0; k < 4; k++)
			rings[k] += d->example[i].hood->n[k];
	o.epochs = 1e6;
	o.seconds = seconds;
	o.evaluations = 1;
	o.ramps = 0; /* as the peer */
	gemm_timed = true;
	start = cpu_seconds();
	if (train(d, NULL, &o, &net, &r, &err) < 0)
		die(&err);
	spent = cpu_seconds() - start;
	products = gemm_seconds() - products;
	gemm_timed = false;
	printf("training: %.0f samples/s of processor time (%.0f of wall time), one thread, width 64, 3 layers,\n"
	       "  neighbourhoods of %.1f nodes on average (%.1f, %.1f within 1, 2 steps), "
	       "%.0f%% of the time in matrix products (%s); features: %d %d\n",
		(double)r.draws / spent, (double)r.draws / r.seconds, rings[3] / n, rings[1] / n, rings[2] / n,
		100 * products / spent, gemm_name(), NODE_FEATURES, FLIP_FEATURES);
	train_result_release(&r);
	net_release(&net);
}

static void put(FILE *f, const void *p, size_t size, size_t n)
{
	if (fwrite(p, size, n, f) != n)
		exit(1);
}

/* Batches of 256 as one packed file: counts, features, edges, targets, labels. */
static void dump(const struct data *d, const char *path)
{
	FILE *f = fopen(path, "wb");
	struct net plain = {.size.flip_features = FLIP_FEATURES}; /* inputs without ramps or advice */
	struct pack p = {0};
	struct rng r;

	if (!f)
		exit(1);
	rng_seed(&r, 1);
	for (int b = 0; b < 40; b++) {
		uint32_t list[256], head[7];
		for (int i = 0; i < 256; i++)
			list[i] = (uint32_t)rng_below(&r, d->n_examples);
		pack_examples(&p, d, &plain, NULL, list, 256);
		head[0] = p.batch.n[3], head[1] = p.batch.n[2], head[2] = p.batch.n[1], head[3] = p.batch.n[0];
		head[4] = p.batch.op_first[p.batch.n[2]], head[5] = p.batch.user_first[p.batch.n[2]];
		head[6] = p.batch.n_flips;
		put(f, head, sizeof head, 1);
		put(f, p.batch.x, sizeof(real) * NODE_FEATURES, head[0]);
		put(f, p.batch.opcode, sizeof(uint16_t), head[0]);
		put(f, p.batch.op_first, sizeof(uint32_t), head[1] + 1);
		put(f, p.batch.op_to, sizeof(uint32_t), head[4]);
		put(f, p.batch.user_first, sizeof(uint32_t), head[1] + 1);
		put(f, p.batch.user_to, sizeof(uint32_t), head[5]);
		put(f, p.batch.flip_row, sizeof(uint32_t), p.batch.n_flips);
		put(f, p.batch.f, sizeof(real) * FLIP_FEATURES, p.batch.n_flips);
		for (uint32_t i = 0; i < p.batch.n_flips; i++) {
			double sigma = d->graph[d->example[list[p.owner[i]]].graph].sigma;
			float y[2] = {(float)log1p(fabs(p.label[i]->advantage) / sigma), p.label[i]->advantage < 0};
			put(f, y, sizeof y, 1);
		}
	}
	fclose(f);
	pack_release(&p);
}

/* Flips the site and what is within two steps downstream: what one step of a search mutates. */
static void mutate(struct space *s, uint8_t *config, struct rng *r)
{
	const struct graph *g = s->graph;
	uint32_t v = s->site[rng_below(r, s->n_sites)].node;

	config[s->site_of[v]] ^= 1;
	for (uint32_t k = 0; k < g->node[v].n_users && k < 4; k++) {
		uint32_t u = node_users(g, v)[k];
		if (s->site_of[u] == NONE)
			continue;
		config[s->site_of[u]] ^= 1;
		for (uint32_t j = 0; j < g->node[u].n_users && j < 4; j++)
			if (s->site_of[node_users(g, u)[j]] != NONE)
				config[s->site_of[node_users(g, u)[j]]] ^= 1;
	}
}

static void timed_moves(struct infer *f, struct space *s, uint8_t *config, int n, bool full, double *t)
{
	struct rng r;

	rng_seed(&r, 1);
	for (int i = 0; i < n; i++) {
		double start;
		mutate(s, config, &r);
		start = cpu_seconds();
		if (full)
			infer_full(f, config);
		else
			infer_move(f, config);
		t[i] = 1e3 * (cpu_seconds() - start);
	}
}

static void predict(const struct model *m, const char *what, const char *path)
{
	struct err err = {0};
	struct world w;
	struct infer *f;
	uint8_t *config;
	double full[5], moved[300];

	world_open(&w, path);
	config = MEM_NEW(w.s->n_sites, uint8_t);
	space_default(w.s, config);
	f = infer_new(m, w.s, &err);
	timed_moves(f, w.s, config, 5, true, full);
	timed_moves(f, w.s, config, 300, false, moved);
	printf("prediction, %s: %s, %u sites, %u nodes: all %.0f ms; after a mutation of two steps %.2f ms (median), "
	       "%.2f ms (95th percentile)\n",
		what, path, w.s->n_sites, w.s->graph->n_nodes, stat_median(full, 5), stat_median(moved, 300),
		stat_quantile(moved, 300, 0.95));
	infer_free(f);
	mem_free(config);
	world_release(&w);
}

static void prediction(const char *path, const char *shipped)
{
	struct net_size size = {.width = 64, .head = 64, .layers = 3, .opcodes = OP_COUNT + 1, .dtypes = FEATURE_DTYPES,
		.node_features = NODE_FEATURES, .flip_features = FLIP_FEATURES};
	char fusion[] = "fusion";
	struct model m = {.facts.space = fusion}, *read;
	struct err err = {0};
	struct rng r;

	rng_seed(&r, 1);
	net_init(&m.net, &size);
	net_randomise(&m.net, &r);
	predict(&m, "a random network", path);
	net_release(&m.net);
	read = model_read(shipped, &err);
	if (read)
		predict(read, shipped, path);
	else
		printf("%s\n", err.text);
	model_free(read);
}

int main(int argc, char **argv)
{
	static const char *const graphs[] = {ZOO "train/recommender.pb.zst", ZOO "train/shallow-water.pb.zst"};
	struct world w[2];
	struct data d;

	data_init(&d, 3);
	for (int i = 0; i < 2; i++) {
		world_open(&w[i], graphs[i]);
		made_up_samples(&d, w[i].s, graphs[i]);
	}
	data_finish(&d);
	if (argc > 2)
		dump(&d, argv[2]);
	training(&d, argc > 1 ? atof(argv[1]) : 5);
	data_release(&d);
	for (int i = 0; i < 2; i++)
		world_release(&w[i]);
	prediction(ZOO "held-out/ssd-mobilenet.pb.zst", "models/cpu.vm");
	return 0;
}
