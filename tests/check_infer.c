/*
 * check_infer.c - predictions of a whole graph that are updated step by step are those made from scratch; on the toy
 * (three choices) and on fusion. The weights are random: the test is that nothing stale is left behind.
 */
#include "learn/feature.h"
#include "learn/infer.h"
#include "space/fusion/fusion.h"
#include "space/toy/toy.h"
#include "tests/test.h"

static struct model *random_model(const char *space, bool blind)
{
	struct model *m = MEM_NEW(1, struct model);
	struct net_size size = {.width = 16, .head = 16, .layers = 3, .opcodes = OP_COUNT + 1,
		.dtypes = FEATURE_DTYPES, .node_features = NODE_FEATURES, .flip_features = FLIP_FEATURES,
		.blind = blind};
	struct rng r;

	m->facts.space = mem_strdup(space);
	rng_seed(&r, 5);
	net_init(&m->net, &size);
	net_randomise(&m->net, &r);
	return m;
}

/* Adds trees of one question each about a random column, alone or beside the network. */
static void add_trees(struct model *m)
{
	struct rng r;

	rng_seed(&r, 6);
	m->trees.n_columns = ROW_COLUMNS;
	m->unit = 1e-6;
	for (int k = 0; k < OUT_COUNT; k++) {
		struct forest *f = &m->trees.forest[k];
		for (uint32_t t = 0; t < 300; t++) {
			MEM_GROW(&f->node, &f->cap_nodes, f->n_nodes + 3);
			MEM_GROW(&f->root, &f->cap_trees, t + 1);
			f->root[f->n_trees++] = (uint32_t)f->n_nodes;
			f->node[f->n_nodes] = (struct tree_node){(float)rng_unit(&r), (uint32_t)f->n_nodes + 1,
				(uint16_t)rng_below(&r, ROW_COLUMNS)};
			f->node[f->n_nodes + 1] = (struct tree_node){0, 0, FOREST_LEAF};
			f->node[f->n_nodes + 2] = (struct tree_node){(float)rng_normal(&r) / 10, 0, FOREST_LEAF};
			f->n_nodes += 3;
		}
	}
}

struct world {
	struct graph g;
	struct space *s;
	struct err err;
};

static void toy_world(struct world *w, const char *name)
{
	struct toy_spec spec;
	struct buf module = {0};
	char kind[64];

	*w = (struct world){0};
	CHECK(toy_parse(name, &spec, &w->err) == 0);
	toy_graph(&spec, &module);
	CHECK(graph_parse(&w->g, module.data, module.len, name, &w->err) == 0);
	toy_kind_name(&spec, kind);
	w->s = space_open(kind, "sim", &w->g, NULL, 0, &w->err);
	CHECK(w->s != NULL);
	buf_release(&module);
}

static void release(struct world *w)
{
	space_free(w->s);
	graph_release(&w->g);
}

static bool near(float a, float b)
{
	return fabsf(a - b) <= 1e-6f * (1 + fabsf(a));
}

/* Is the site the first of its class with its choice? */
static bool leads(const struct space *s, const uint8_t *config, uint32_t site)
{
	for (uint32_t i = 0; i < site; i++)
		if (s->site[i].tie == s->site[site].tie && config[i] == config[site])
			return false;
	return true;
}

/*
 * Walks `steps` random moves of 1 to 4 sites. After each, every prediction is compared with a full pass. With `tied`
 * only the first site of each class and choice is predicted and compared.
 */
static void walk_as(struct world *w, const struct model *m, int steps, bool tied)
{
	struct space *s = w->s;
	struct infer *moved = infer_new(m, s, &w->err), *full = infer_new(m, s, &w->err);
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	uint32_t n_changed, least = s->n_sites;
	struct rng r;

	if (tied)
		infer_tied(moved);
	rng_seed(&r, 9);
	space_default(s, config);
	infer_move(moved, config);
	for (int t = 0; t < steps && !test_failed; t++) {
		for (uint64_t k = 1 + rng_below(&r, 4); k > 0; k--) {
			uint32_t site = (uint32_t)rng_below(&r, s->n_sites);
			config[site] = (uint8_t)rng_below(&r, s->site[site].choices);
		}
		infer_move(moved, config);
		infer_changed(moved, &n_changed);
		least = n_changed < least ? n_changed : least;
		infer_full(full, config);
		for (uint32_t i = 0; i < s->n_sites; i++)
			for (uint8_t k = 0; k < s->site[i].choices && (!tied || leads(s, config, i)); k++) {
				const struct prediction *a = &infer_site(moved, i)[k], *b = &infer_site(full, i)[k];
				CHECK(near(a->magnitude, b->magnitude) && near(a->p_improve, b->p_improve) &&
					near(a->gain, b->gain));
				CHECK((k == config[i]) <= (b->gain == 0 && b->magnitude == 0));
			}
	}
	CHECK(least < s->n_sites); /* it was incremental at all */
	mem_free(config);
	infer_free(moved);
	infer_free(full);
}

static void walk(struct world *w, const struct model *m, int steps)
{
	walk_as(w, m, steps, false);
	walk_as(w, m, steps, true);
}

static void moving_equals_starting_anew_on_the_toy(void)
{
	for (int blind = 0; blind < 2; blind++) {
		struct model *m = random_model("toy", blind);
		struct world w;
		toy_world(&w, "toy:120:3:4");
		walk(&w, m, 60);
		release(&w);
		model_free(m);
	}
}

static void moving_equals_starting_anew_with_trees(void)
{
	for (int alone = 0; alone < 2; alone++) {
		struct model *m = random_model("toy", false);
		struct world w;
		add_trees(m);
		if (alone)
			net_release(&m->net);
		toy_world(&w, "toy:120:3:4");
		walk(&w, m, 60);
		release(&w);
		model_free(m);
	}
}

static bool same_predictions(const struct space *s, const struct infer *a, const struct infer *b, const uint8_t *config)
{
	bool same = true;

	for (uint32_t i = 0; i < s->n_sites; i++)
		for (uint8_t k = 0; k < s->site[i].choices; k++)
			same &= k == config[i] ||
				memcmp(&infer_site(a, i)[k], &infer_site(b, i)[k], sizeof(struct prediction)) == 0;
	return same;
}

/*
 * A measured value moves the prediction towards it, and the predictions of similar flips. A saved state goes on with
 * the same bits, also after moves.
 */
static void what_is_told_is_learnt(void)
{
	struct model *m = random_model("toy", false);
	struct world w;
	struct infer *f, *again, *plain;
	struct buf state = {0};
	struct cursor in;
	uint8_t *config;

	add_trees(m);
	net_release(&m->net);
	toy_world(&w, "toy:120:3:4");
	config = MEM_NEW(w.s->n_sites, uint8_t);
	f = infer_new(m, w.s, &w.err), again = infer_new(m, w.s, &w.err), plain = infer_new(m, w.s, &w.err);
	CHECK(infer_adapt(f) && infer_adapt(again));
	infer_move(f, config), infer_move(plain, config);
	CHECK(same_predictions(w.s, f, plain, config));
	for (uint32_t i = 0; i < 20; i++) {
		uint8_t to = (uint8_t)(config[i] == 1 ? 2 : 1);
		float before = infer_site(f, i)[to].p_improve, after;
		infer_learn(f, i, to, i % 2 ? 1e-5 : -1e-5);
		after = infer_site(f, i)[to].p_improve;
		CHECK(i % 2 ? after < before : after > before);
		if (i % 5 == 0) {
			config[i + 40] = (uint8_t)(1 - (config[i + 40] == 1));
			infer_move(f, config);
		}
	}
	infer_move(plain, config);
	CHECK(!same_predictions(w.s, f, plain, config));
	infer_save(f, &state);
	infer_move(again, config);
	in = cursor_of(state.data, state.len);
	infer_load(again, &in);
	CHECK(cursor_done(&in) && same_predictions(w.s, f, again, config));
	in = cursor_of(state.data, state.len - 1);
	infer_load(again, &in);
	CHECK(in.bad);
	infer_free(f), infer_free(again), infer_free(plain);
	buf_release(&state);
	mem_free(config);
	release(&w);
	model_free(m);
}

static void only_trees_with_a_unit_learn(void)
{
	struct model *m = random_model("toy", false);
	struct world w;
	struct infer *f;

	toy_world(&w, "toy:120:3:4");
	f = infer_new(m, w.s, &w.err);
	CHECK(!infer_adapt(f));
	infer_free(f);
	release(&w);
	model_free(m);
}

static void moving_equals_starting_anew_on_fusion(void)
{
	static const char *const kinds[] = {"fusion", "fusion/binary"};

	for (int i = 0; i < 2; i++) {
		struct model *m = random_model("fusion", false);
		struct world w;
		toy_world(&w, "toy:150:3:2"); /* its graph; and a space of fusion over it */
		space_free(w.s);
		w.s = space_open(kinds[i], "cpu", &w.g, NULL, 0, &w.err);
		CHECK(w.s != NULL);
		walk(&w, m, 60);
		release(&w);
		model_free(m);
	}
}

static void nothing_changed_costs_nothing(void)
{
	struct model *m = random_model("toy", false);
	struct world w;
	struct infer *f;
	uint8_t *config;
	uint32_t n = 7;

	toy_world(&w, "toy:30:3:1");
	config = MEM_NEW(w.s->n_sites, uint8_t);
	f = infer_new(m, w.s, &w.err);
	infer_move(f, config);
	infer_changed(f, &n);
	CHECK_INT(n, w.s->n_sites);
	infer_move(f, config);
	infer_changed(f, &n);
	CHECK_INT(n, 0);
	mem_free(config);
	infer_free(f);
	release(&w);
	model_free(m);
}

static void wrong_space_is_refused(void)
{
	struct model *m = random_model("fusion", false);
	struct world w;

	toy_world(&w, "toy:30:3:1");
	CHECK(infer_new(m, w.s, &w.err) == NULL);
	CHECK(strstr(w.err.text, "fusion") != NULL);
	release(&w);
	model_free(m);
}

int main(void)
{
	RUN(moving_equals_starting_anew_on_the_toy);
	RUN(moving_equals_starting_anew_with_trees);
	RUN(what_is_told_is_learnt);
	RUN(only_trees_with_a_unit_learn);
	RUN(moving_equals_starting_anew_on_fusion);
	RUN(nothing_changed_costs_nothing);
	RUN(wrong_space_is_refused);
	return test_done();
}
