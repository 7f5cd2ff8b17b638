/*
 * check_trees.c - boosted trees: bins, the first cut against every possible cut, what they learn, and their part of the
 * model file.
 */
#include <stdlib.h>
#include "learn/boost.h"
#include "learn/eval.h"
#include "learn/grow.h"
#include "tests/lesson.h"

enum { ROWS = 600, COLUMNS = 5 };

/* Makes rows in which column 0 has two values, 1 has forty, 2 is nearly always 0, and the others are any number. */
static float *numbers(uint64_t seed)
{
	float *x = MEM_NEW(ROWS * COLUMNS, float);
	struct rng r;

	rng_seed(&r, seed);
	for (int i = 0; i < ROWS; i++) {
		x[i * COLUMNS] = (float)rng_below(&r, 2);
		x[i * COLUMNS + 1] = (float)rng_below(&r, 40) / 8;
		x[i * COLUMNS + 2] = rng_below(&r, 20) ? 0 : (float)rng_normal(&r);
		x[i * COLUMNS + 3] = (float)rng_normal(&r);
		x[i * COLUMNS + 4] = (float)(rng_normal(&r) * 1e-20);
	}
	return x;
}

static void values_fall_in_their_bins(void)
{
	float *x = numbers(1);
	struct bins b;

	bins_make(&b, x, ROWS, COLUMNS);
	CHECK_INT(b.n_edges[0], 1);
	CHECK_INT(b.n_edges[1], 39);
	for (uint32_t c = 0; c < COLUMNS; c++) {
		uint32_t rows[BINS_MOST] = {0}, most = 0;
		const float *edge = b.edge + c * BINS_MOST;
		CHECK(b.n_edges[c] < BINS_MOST);
		for (uint32_t i = 0; i < ROWS; i++) {
			uint8_t k = b.code[i * COLUMNS + c];
			float v = x[i * COLUMNS + c];
			CHECK(k <= b.n_edges[c] && (k == 0 || v > edge[k - 1]) && (k == b.n_edges[c] || v <= edge[k]));
			rows[k]++;
		}
		for (uint32_t k = 0; k <= b.n_edges[c]; k++) {
			CHECK(rows[k] > 0);
			most = rows[k] > most ? rows[k] : most;
		}
		CHECK(c < 3 || most < 3 * ROWS / BINS_MOST);
	}
	bins_release(&b);
	mem_free(x);
}

/* Returns what the rows on one side of a value are worth: half the squared sum of slopes over the sum of curvatures. */
static double worth(const float *x, const float *g, uint32_t column, float edge, bool right, uint32_t *n)
{
	double sum = 0;

	*n = 0;
	for (uint32_t i = 0; i < ROWS; i++)
		if ((x[i * COLUMNS + column] > edge) == right) {
			sum += (double)g[i];
			++*n;
		}
	return *n ? sum * sum / (*n + 0.5) : 0;
}

static void the_first_cut_is_the_best(void)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct grow_options o = {.leaves = 2, .least = 25, .lambda = 0.5, .columns = 1, .rate = 1};
		float *x = numbers(seed), g[ROWS], h[ROWS], predicted[ROWS] = {0};
		uint32_t row[ROWS], n;
		struct forest f = {0};
		struct bins b;
		struct grower *w;
		struct rng r;
		double best = 0, got;
		rng_seed(&r, seed);
		for (uint32_t i = 0; i < ROWS; i++) {
			row[i] = i;
			h[i] = 1;
			g[i] = (float)rng_normal(&r) + (x[i * COLUMNS + 3] > 0.7F ? 1.0F : 0);
		}
		bins_make(&b, x, ROWS, COLUMNS);
		w = grower_new(&b, &o);
		grow_tree(w, &(struct grow_rows){g, h, row, ROWS}, &r, &f, predicted);
		for (uint32_t c = 0; c < COLUMNS; c++)
			for (uint32_t k = 0; k < b.n_edges[c]; k++) {
				uint32_t left, right;
				double gain = worth(x, g, c, b.edge[c * BINS_MOST + k], false, &left) +
					worth(x, g, c, b.edge[c * BINS_MOST + k], true, &right);
				if (left >= 25 && right >= 25 && gain > best)
					best = gain;
			}
		if (CHECK_INT(f.n_nodes, 3)) {
			got = worth(x, g, f.node[0].column, f.node[0].value, false, &n) +
				worth(x, g, f.node[0].column, f.node[0].value, true, &n);
			CHECK_NEAR(got, best, 1e-6 * best);
		}
		grower_free(w);
		forest_release(&f);
		bins_release(&b);
		mem_free(x);
	}
}

/* A product of two columns is learnt, which no single cut shows; and walking by values equals walking by codes. */
static void a_product_is_learnt(void)
{
	struct grow_options o = {.leaves = 8, .least = 5, .lambda = 1, .columns = 1, .rate = 0.2};
	float *x = numbers(3), g[ROWS], h[ROWS], y[ROWS], predicted[ROWS] = {0};
	double before = 0, after = 0;
	uint32_t row[ROWS];
	struct forest f = {0};
	struct bins b;
	struct grower *w;
	struct rng r;

	rng_seed(&r, 3);
	for (uint32_t i = 0; i < ROWS; i++) {
		row[i] = i;
		h[i] = 1;
		y[i] = (x[i * COLUMNS] - 0.5F) * x[i * COLUMNS + 3];
		before += (double)(y[i] * y[i]);
	}
	bins_make(&b, x, ROWS, COLUMNS);
	w = grower_new(&b, &o);
	for (int t = 0; t < 60; t++) {
		for (uint32_t i = 0; i < ROWS; i++)
			g[i] = predicted[i] - y[i];
		grow_tree(w, &(struct grow_rows){g, h, row, ROWS}, &r, &f, predicted);
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		after += (double)((predicted[i] - y[i]) * (predicted[i] - y[i]));
		CHECK_NEAR(forest_predict(&f, x + i * COLUMNS), (double)predicted[i], 1e-5);
	}
	CHECK_INT(f.n_trees, 60);
	if (!CHECK(after < 0.05 * before))
		printf("%g of %g is left\n", after, before);
	grower_free(w);
	forest_release(&f);
	bins_release(&b);
	mem_free(x);
}

static void toys(struct lesson *t)
{
	char name[32];

	for (int i = 1; i <= 5; i++) {
		snprintf(name, sizeof name, "toy:60:3:%d", i);
		toy_samples(&t->d, toys_add(&t->toys, name), name, 2, (uint64_t)i);
	}
	data_finish(&t->d);
}

static void pack_trees(struct lesson *t, const bool *held, uint32_t threads, struct buf *out, struct trees *keep)
{
	struct boost_options o = BOOST_DEFAULTS;
	struct boost_result r = {0};
	struct trees trees;

	o.rounds = 60;
	o.threads = threads;
	CHECK(boost(&t->d, held, data_unit(&t->d, held), &o, &trees, &r, &t->err) == 0);
	trees_pack(&trees, out);
	if (keep)
		*keep = trees;
	else
		trees_release(&trees);
}

/* Precision and recall of what is said to improve, counted by hand; here all flips are clear of their error. */
static void signs_are_counted(const struct eval_graph *g)
{
	double said = 0, does = 0, both = 0;

	for (size_t i = 0; i < g->n; i++) {
		bool says = g->item[i].p_improve > 0.5, improves = g->item[i].advantage < 0;
		said += says;
		does += improves;
		both += says && improves;
	}
	CHECK(both > 0 && both < said && both < does);
	CHECK_NEAR(g->improving_precision, both / said, 1e-12);
	CHECK_NEAR(g->improving_recall, both / does, 1e-12);
}

/* Nothing is learnt from flips that are held out: wrong costs there change no byte of the model, and threads do not. */
static void toys_are_learnt_and_only_those(void)
{
	struct lesson t = lesson_new();
	bool held[5] = {[4] = true}, known[5] = {true, true, true, true};
	struct evaluation e = {0};
	struct buf a = {0}, b = {0};
	struct model m = {0};

	toys(&t);
	t.d.example[7].apart = true;
	pack_trees(&t, held, 1, &a, &m.trees);
	m.unit = data_unit(&t.d, held);
	evaluate(&t.d, held, known, &m, t.team, &e);
	if (!CHECK(e.graph[0].recall[BY_MODEL][AT_20] > 0.5 && e.graph[0].signs > 0.6))
		printf("recall %g, signs %g\n", e.graph[0].recall[BY_MODEL][AT_20], e.graph[0].signs);
	if (!CHECK(e.graph[0].gain[BY_MODEL][AT_20] > 0.5 && e.graph[0].spearman[BY_MODEL] > 0.8))
		printf("gain %g, Spearman %g\n", e.graph[0].gain[BY_MODEL][AT_20], e.graph[0].spearman[BY_MODEL]);
	signs_are_counted(&e.graph[0]);
	for (size_t i = 0; i < t.d.n_examples; i++)
		for (int k = 0; (i == 7 || t.d.example[i].graph == 4) && k < t.d.example[i].n_flips; k++)
			t.d.example[i].label[k].advantage *= -3;
	pack_trees(&t, held, 3, &b, NULL);
	CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
	for (size_t i = 8; i < 20; i++) /* and lies about the rest do */
		t.d.example[i].label[0].advantage *= -3;
	buf_reset(&b);
	pack_trees(&t, held, 1, &b, NULL);
	CHECK(a.len != b.len || memcmp(a.data, b.data, a.len) != 0);
	evaluation_release(&e);
	model_release(&m);
	buf_release(&a), buf_release(&b);
	lesson_release(&t);
}

/* What trees say before the first of them is grown. */
static double base(struct lesson *t, const bool *held)
{
	struct boost_options o = BOOST_DEFAULTS;
	struct boost_result r = {0};
	struct trees trees;
	double said;

	o.rounds = 1;
	CHECK(boost(&t->d, held, 1e-6, &o, &trees, &r, &t->err) == 0);
	said = (double)trees.forest[OUT_MAGNITUDE].base;
	trees_release(&trees);
	return said;
}

/* A graph of a small weight counts for little, as if it were held out, and half the weight of all changes nothing. */
static void graphs_count_by_their_weight(void)
{
	struct lesson t = lesson_new();
	bool held[5] = {[4] = true};
	double all, without;

	toys(&t);
	for (size_t i = 0; i < t.d.n_examples; i++)
		for (int k = 0; t.d.example[i].graph == 4 && k < t.d.example[i].n_flips; k++)
			t.d.example[i].label[k].advantage *= 30;
	all = base(&t, NULL);
	without = base(&t, held);
	CHECK(all > 1.1 * without);
	t.d.graph[4].weight = 1e-9;
	CHECK_NEAR(base(&t, NULL), without, 1e-5);
	for (int i = 0; i < 5; i++)
		t.d.graph[i].weight = 0.5;
	CHECK_NEAR(base(&t, NULL), all, 1e-5);
	lesson_release(&t);
}

/* However little time there is, each forest has a tree, whether they are grown side by side or in turn. */
static void time_ends_the_growing(void)
{
	struct lesson t = lesson_new();

	toys(&t);
	for (uint32_t threads = 1; threads <= 4; threads++) {
		struct boost_options o = BOOST_DEFAULTS;
		struct boost_result r = {0};
		struct trees trees;

		o.threads = threads;
		o.rounds = 100000;
		o.seconds = 1e-9;
		CHECK_INT(boost(&t.d, NULL, 1e-6, &o, &trees, &r, &t.err), 0);
		for (int k = 0; k < OUT_COUNT; k++)
			CHECK_INT(trees.forest[k].n_trees, 1);
		CHECK(!r.stopped);
		trees_release(&trees);
	}
	lesson_release(&t);
}

static void nothing_to_learn_is_refused(void)
{
	struct lesson t = lesson_new();
	struct boost_options o = BOOST_DEFAULTS;
	struct boost_result r = {0};
	struct trees trees;
	bool held[5] = {true, true, true, true, true};

	toys(&t);
	CHECK(boost(&t.d, held, 1, &o, &trees, &r, &t.err) < 0 && strstr(t.err.text, "nothing is left"));
	trees_release(&trees);
	lesson_release(&t);
}

static struct model *model_with_trees(struct lesson *t)
{
	struct model *m = MEM_NEW(1, struct model);
	struct buf ignored = {0};

	toys(t);
	m->facts = (struct model_facts){.backend = mem_strdup("sim"), .space = mem_strdup("toy"),
		.provenance = mem_strdup("{}"),
		.machine = mem_strdup(""), .apart = mem_strdup("")};
	m->unit = data_unit(&t->d, NULL);
	pack_trees(t, NULL, 1, &ignored, &m->trees);
	buf_release(&ignored);
	return m;
}

static void seal(struct buf *b)
{
	struct digest d;

	sha256_of(b->data, b->len - 32, &d);
	memcpy(b->data + b->len - 32, d.byte, 32);
}

/* The model file keeps trees, with and without a network beside them. */
static void the_file_keeps_trees(void)
{
	for (int with_net = 0; with_net < 2; with_net++) {
		struct lesson t = lesson_new();
		struct model *m = model_with_trees(&t), *back;
		struct net_size size = {.width = 8, .head = 8, .layers = 2, .opcodes = OP_COUNT + 1,
			.dtypes = FEATURE_DTYPES,
			.node_features = NODE_FEATURES, .flip_features = FLIP_FEATURES};
		struct buf a = {0}, b = {0};
		if (with_net)
			net_init(&m->net, &size);
		model_pack(m, &a);
		CHECK_INT(a.data[8], 4);
		back = model_parse(a.data, a.len, "test", &t.err);
		if (CHECK(back != NULL)) {
			model_pack(back, &b);
			CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
			CHECK(back->unit == m->unit && back->net.size.layers == m->net.size.layers);
		}
		model_free(back), model_free(m);
		buf_release(&a), buf_release(&b);
		lesson_release(&t);
	}
}

/* Nonsense under a correct checksum is refused, or gives a tree that can be walked to its end. */
static void nonsense_does_no_harm(void)
{
	struct lesson t = lesson_new();
	struct model *m = model_with_trees(&t);
	struct buf good = {0};
	struct rng r;
	uint32_t refused = 0;

	model_pack(m, &good);
	rng_seed(&r, 4);
	for (int i = 0; i < 400; i++) {
		struct buf b = {0};
		struct err err = {0};
		struct model *back;
		float row[ROW_COLUMNS] = {0};
		real out[OUT_COUNT];
		size_t at = 100 + rng_below(&r, good.len - 132);
		buf_add(&b, good.data, good.len);
		b.data[at] = (char)(b.data[at] ^ (char)(1 << rng_below(&r, 8)));
		seal(&b);
		back = model_parse(b.data, b.len, "bad.vm", &err);
		refused += !back;
		if (back)
			trees_predict(&back->trees, row, 1, out);
		else
			CHECK(strstr(err.text, "bad.vm") != NULL);
		model_free(back);
		buf_release(&b);
	}
	CHECK(refused > 50);
	model_free(m);
	buf_release(&good);
	lesson_release(&t);
}

int main(void)
{
	RUN(values_fall_in_their_bins);
	RUN(the_first_cut_is_the_best);
	RUN(a_product_is_learnt);
	RUN(toys_are_learnt_and_only_those);
	RUN(graphs_count_by_their_weight);
	RUN(time_ends_the_growing);
	RUN(nothing_to_learn_is_refused);
	RUN(the_file_keeps_trees);
	RUN(nonsense_does_no_harm);
	return test_done();
}
