/*
 * check_model.c - the model file: written, read, and refused in every way it can be wrong.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/io.h"
#include "learn/facts.h"
#include "learn/feature.h"
#include "learn/row.h"
#include "tests/test.h"

static struct model *some_model(void)
{
	struct model *m = MEM_NEW(1, struct model);
	struct net_size size = {.width = 8, .head = 8, .layers = 2, .opcodes = OP_COUNT + 1, .dtypes = FEATURE_DTYPES,
		.node_features = NODE_FEATURES, .flip_features = FLIP_FEATURES};
	struct rng r;

	m->facts = (struct model_facts){.backend = mem_strdup("cpu"), .space = mem_strdup("fusion"),
		.kind = COST_MEASURED, .provenance = mem_strdup("{\"graphs\": []}"), .seed = 3, .samples = 17,
		.steps = 5,
		.since = 1763000000, .until = 1763100000, .machine = mem_strdup("a machine"),
		.apart = mem_strdup("a rule"),
		.program = MEM_NEW(2, struct model_program), .n_programs = 2};
	m->facts.program[0] = (struct model_program){mem_strdup("one"), {{1, 2, 3}}, 12, false};
	m->facts.program[1] = (struct model_program){mem_strdup("two"), {{4}}, 5, true};
	rng_seed(&r, 5);
	net_init(&m->net, &size);
	net_randomise(&m->net, &r);
	return m;
}

/* Corrects the checksum after something was changed on purpose. */
static void seal(struct buf *b)
{
	struct digest d;

	sha256_of(b->data, b->len - 32, &d);
	memcpy(b->data + b->len - 32, d.byte, 32);
}

static void comes_back_as_it_went(void)
{
	struct model *m = some_model(), *back;
	struct buf a = {0}, b = {0};
	struct err err = {0};

	model_pack(m, &a);
	back = model_parse(a.data, a.len, "test", &err);
	if (!CHECK(back != NULL))
		return;
	CHECK_STR(back->facts.backend, "cpu");
	CHECK_STR(back->facts.provenance, "{\"graphs\": []}");
	CHECK_INT(back->facts.samples, 17);
	CHECK_INT(back->facts.until, 1763100000);
	CHECK_STR(back->facts.apart, "a rule");
	CHECK_INT(back->facts.n_programs, 2);
	CHECK_STR(back->facts.program[1].name, "two");
	CHECK(back->facts.program[1].held_out && !back->facts.program[0].held_out);
	CHECK(memcmp(back->net.weight, m->net.weight, m->net.n_weights * sizeof(real)) == 0);
	model_pack(back, &b);
	CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
	model_free(back), model_free(m);
	buf_release(&a), buf_release(&b);
}

/* A file of format 1, which lacks what format 2 added. It is read, and these facts are unknown. */
static void format_1_is_read(void)
{
	struct model *m = some_model(), *back;
	struct model_facts *f = &m->facts;
	struct buf b = {0}, old = {0}, text = {0};
	struct err err = {0};
	size_t from, added;

	model_pack(m, &b);
	from = 8 + 4 + 8 + 4 + 3 + 4 + 6 + 4 + 8 + 4 + strlen(f->provenance) + 24;
	added = 16 + 4 + strlen(f->machine) + 4 + strlen(f->apart) + 4 + 2 * (4 + 3 + 32 + 8 + 1);
	buf_add(&old, b.data, from);
	buf_add(&old, b.data + from + added, b.len - from - added);
	old.data[8] = 1;
	seal(&old);
	back = model_parse(old.data, old.len, "test", &err);
	if (!CHECK(back != NULL)) {
		printf("%s\n", err.text);
		return;
	}
	CHECK_STR(back->facts.backend, "cpu");
	CHECK_INT(back->facts.steps, 5);
	CHECK_STR(back->facts.apart, "");
	CHECK_INT(back->facts.n_programs, 0);
	CHECK(facts_seen(&back->facts, &f->program[0].content) == SEEN_UNKNOWN);
	CHECK(memcmp(back->net.weight, m->net.weight, m->net.n_weights * sizeof(real)) == 0);
	facts_text(&back->facts, &text);
	CHECK(strstr(text.data, "does not say") != NULL);
	model_free(back), model_free(m);
	buf_release(&b), buf_release(&old), buf_release(&text);
}

/* The file says which programs a model has seen, for people and for judging. */
static void programs_seen(void)
{
	struct model *m = some_model();
	struct digest other = {{9}};
	struct buf text = {0};
	uint64_t decisions;

	CHECK(facts_seen(&m->facts, &m->facts.program[0].content) == SEEN);
	CHECK(facts_seen(&m->facts, &m->facts.program[1].content) == SEEN_NOT); /* held out */
	CHECK(facts_seen(&m->facts, &other) == SEEN_NOT);
	facts_text(&m->facts, &text);
	CHECK_STR(text.data, "12 decisions of 1 program, measured 2025-11-13 to 2025-11-14 on a machine");
	m->facts.program[1].held_out = false;
	CHECK_INT(facts_trained_on(&m->facts, &decisions), 2);
	CHECK_INT(decisions, m->facts.program[0].samples + m->facts.program[1].samples);
	mem_free(m->facts.program[1].name);
	m->facts.program[1].name = mem_strdup(m->facts.program[0].name); /* as it was on another day */
	CHECK_INT(facts_trained_on(&m->facts, &decisions), 1);
	model_free(m);
	buf_release(&text);
}

/* A model of seconds has the same file as before there were quantities; other models name their quantity. */
static void quantities_are_kept(void)
{
	struct model *m = some_model(), *back;
	struct buf b = {0}, other = {0};
	struct err err = {0};

	model_pack(m, &b);
	CHECK_INT(b.data[8], 2);
	m->facts.quantity = QUANTITY_BYTES;
	model_pack(m, &other);
	CHECK_INT(other.data[8], 3);
	CHECK_INT(other.len, b.len + 4 + strlen("bytes"));
	back = model_parse(other.data, other.len, "test", &err);
	if (CHECK(back != NULL))
		CHECK_INT(back->facts.quantity, QUANTITY_BYTES);
	model_free(back), model_free(m);
	back = model_parse(b.data, b.len, "test", &err);
	if (CHECK(back != NULL))
		CHECK_INT(back->facts.quantity, QUANTITY_SECONDS);
	model_free(back);
	CHECK_STR(err.text, "");
	buf_release(&b), buf_release(&other);
}

static void expect_refusal(const void *p, size_t n, const char *word)
{
	struct err err = {0};
	struct model *m = model_parse(p, n, "bad.vm", &err);

	if (!CHECK(m == NULL) || !CHECK(strstr(err.text, word) != NULL))
		printf("for %zu bytes: \"%s\" should speak of %s\n", n, err.text, word);
	model_free(m);
}

static void every_truncation_is_refused(void)
{
	struct model *m = some_model();
	struct buf b = {0};

	model_pack(m, &b);
	for (size_t n = 0; n < b.len; n += n < 200 ? 1 : 997)
		expect_refusal(b.data, n, "bad.vm");
	buf_addch(&b, 0);
	expect_refusal(b.data, b.len, "damaged");
	model_free(m);
	buf_release(&b);
}

static void every_flipped_bit_is_refused(void)
{
	struct model *m = some_model();
	struct buf b = {0};

	model_pack(m, &b);
	for (size_t i = 0; i < b.len; i += i < 300 ? 1 : 1009) {
		b.data[i] ^= 4;
		expect_refusal(b.data, b.len, "bad.vm");
		b.data[i] ^= 4;
	}
	model_free(m);
	buf_release(&b);
}

/* Nonsense under a correct checksum is refused with a sentence that says where it is. */
static void sealed_nonsense_is_refused(void)
{
	struct model *m = some_model();
	struct buf good = {0};
	size_t sizes;

	model_pack(m, &good);
	sizes = 8 + 4 + 8 + 4 + 3 + 4 + 6 + 4 + 8 + 4 + strlen(m->facts.provenance) + 24 + 16 + 4 +
		strlen(m->facts.machine) + 4 + strlen(m->facts.apart) + 4 + 2 * (4 + 3 + 32 + 8 + 1);
	for (int i = 0; i < 6; i++) {
		static const char *const word[] = {"features", "newer", "sizes", "sizes", "parameters", "not a number"};
		struct buf b = {0};
		buf_add(&b, good.data, good.len);
		if (i == 0)
			b.data[12] ^= 1;
		if (i == 1)
			b.data[8] = 9;
		if (i == 2) /* width beyond all bounds */
			b.data[sizes + 2] = 1;
		if (i == 3) /* no layers */
			b.data[sizes + 8] = 0;
		if (i == 4) /* one layer less than the table has */
			b.data[sizes + 8] = 1;
		if (i == 5)
			memset(b.data + b.len - 40, 0xff, 4);
		seal(&b);
		expect_refusal(b.data, b.len, word[i]);
		buf_release(&b);
	}
	model_free(m);
	buf_release(&good);
}

/* An opcode that this program does not know is left out; one that the model does not know gets zeros. */
static void opcodes_are_matched_by_name(void)
{
	struct model *m = some_model(), *back;
	struct buf b = {0};
	struct err err = {0};
	char *name;
	real *old = net_param(&m->net, m->net.weight, "opcode"), *now;

	model_pack(m, &b);
	name = memmem(b.data, b.len, "\004\0\0\0tanh", 8);
	if (!CHECK(name != NULL))
		return;
	memcpy(name + 4, "xanh", 4);
	seal(&b);
	back = model_parse(b.data, b.len, "test", &err);
	if (!CHECK(back != NULL))
		return;
	now = net_param(&back->net, back->net.weight, "opcode");
	for (size_t k = 0; k < 8; k++) {
		CHECK(now[OP_TANH * 8 + k] == 0);
		CHECK(now[OP_ADD * 8 + k] == old[OP_ADD * 8 + k]);
		CHECK(now[OP_COUNT * 8 + k] == old[OP_COUNT * 8 + k]);
	}
	model_free(back), model_free(m);
	buf_release(&b);
}

static void another_world_is_refused(void)
{
	static const struct {
		const char *backend, *space;
		enum cost_kind kind;
		const char *word; /* NULL: fits */
		enum quantity quantity;
	} cases[] = {
		{"cpu", "fusion", COST_MEASURED, NULL, QUANTITY_SECONDS},
		{"cpu", "fusion/binary", COST_MEASURED, NULL, QUANTITY_SECONDS},
		{"tpu", "fusion", COST_MEASURED, "tpu", QUANTITY_SECONDS},
		{"cpu", "toy:1", COST_MEASURED, "toy", QUANTITY_SECONDS},
		{"cpu", "fus", COST_MEASURED, "decisions", QUANTITY_SECONDS},
		{"cpu", "fusion", COST_MODELLED, "modelled", QUANTITY_SECONDS},
		{"cpu", "fusion", COST_MEASURED, "costs in seconds, not in bytes", QUANTITY_BYTES},
	};
	struct model *m = some_model();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err = {0};
		int rc = model_fits(m, cases[i].backend, cases[i].space, cases[i].kind, cases[i].quantity, &err);
		CHECK_INT(rc, cases[i].word ? -1 : 0);
		CHECK(!cases[i].word || strstr(err.text, cases[i].word));
	}
	mem_free(m->facts.backend);
	m->facts.backend = mem_strdup("cuda:h100");
	m->facts.kind = COST_ESTIMATED;
	CHECK_INT(model_fits(m, "cuda", "fusion", COST_MEASURED, QUANTITY_SECONDS, NULL), 0);
	CHECK_INT(model_fits(m, "cuda:b200", "fusion", COST_ESTIMATED, QUANTITY_SECONDS, NULL), -1);
	CHECK_INT(model_fits(m, "cuda", "fusion", COST_MEASURED, QUANTITY_BYTES, NULL), -1);
	CHECK_INT(model_fits(m, "cpu", "fusion", COST_MEASURED, QUANTITY_SECONDS, NULL), -1);
	model_free(m);
}

static void files_are_whole_or_not_at_all(void)
{
	char dir[] = "/tmp/vantage-model-XXXXXX", path[64];
	struct model *m = some_model(), *back;
	struct err err = {0};

	if (!CHECK(mkdtemp(dir) != NULL))
		return;
	snprintf(path, sizeof path, "%s/a.vm", dir);
	CHECK(model_read(path, &err) == NULL);
	CHECK(strstr(err.text, path) != NULL);
	CHECK(model_write(m, path, &err) == 0);
	for (long n = 0; n < 4; n++) { /* a later failing write leaves the earlier file */
		io_fail_at(n, 28 /* no space */);
		CHECK(model_write(m, path, &err) < 0 || n > 2);
		io_fail_at(-1, 0);
		back = model_read(path, &err);
		CHECK(back != NULL);
		model_free(back);
	}
	CHECK(io_remove_tree(dir, &err) == 0);
	model_free(m);
}

/* The model as one of an older table of features would be read; NULL if it is refused. */
static struct model *as_of_table(const struct model *m, uint64_t hash)
{
	struct buf b = {0};
	struct err err = {0};
	struct model *back;

	model_pack(m, &b);
	memcpy(b.data + 12, &hash, sizeof hash);
	seal(&b);
	back = model_parse(b.data, b.len, "test", &err);
	if (!CHECK(back != NULL))
		printf("%s\n", err.text);
	buf_release(&b);
	return back;
}

static void ramps_come_back(void)
{
	struct model *m = some_model(), *back;
	struct net_size size = m->net.size;
	struct buf a = {0}, b = {0};
	struct err err = {0};
	static float x[5 * ROW_COLUMNS];
	struct rng r;

	for (size_t i = 0; i < sizeof x / sizeof *x; i++)
		x[i] = (float)(i / ROW_COLUMNS * (i % ROW_COLUMNS)); /* column 0 never changes */
	net_release(&m->net);
	ramps_make(&m->net.ramps, x, 5, ROW_COLUMNS, 3);
	size.ramped = m->net.ramps.width;
	size.flip_features += size.ramped;
	CHECK_INT(size.ramped, 3 * (ROW_COLUMNS - 1));
	struct ramps ramps = m->net.ramps;
	net_init(&m->net, &size);
	m->net.ramps = ramps;
	rng_seed(&r, 5);
	net_randomise(&m->net, &r);
	model_pack(m, &a);
	CHECK_INT(a.data[8], 6);
	back = model_parse(a.data, a.len, "test", &err);
	if (!CHECK(back != NULL))
		return;
	CHECK_INT(back->net.size.ramped, size.ramped);
	model_pack(back, &b);
	CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
	for (size_t n = 0; n < a.len; n += 997) { /* no part of it is taken for the whole */
		buf_release(&b);
		buf_add(&b, a.data, n);
		if (n > 44)
			seal(&b);
		CHECK(model_parse(b.data, b.len, "test", &err) == NULL);
	}
	buf_release(&a), buf_release(&b);
	model_free(back), model_free(m);
}

/* A network that was trained on the first table of features is read, and gives later features no weight. */
static void older_tables_are_read(void)
{
	struct model *m = some_model(), *back;
	uint32_t map[NODE_FEATURES + FLIP_FEATURES];
	struct net_size size = m->net.size;
	uint64_t hash = feature_hash(1, NULL);
	struct rng r;
	real *old, *now;
	size_t row;

	size.node_features = feature_map(1, false, map);
	size.flip_features = feature_map(1, true, map);
	CHECK(size.flip_features < FLIP_FEATURES && feature_table(hash, NULL) == 1 &&
		feature_table(hash + 1, NULL) == 0);
	net_release(&m->net);
	net_init(&m->net, &size);
	rng_seed(&r, 5);
	net_randomise(&m->net, &r);
	back = as_of_table(m, hash);
	if (!back)
		return;
	CHECK_INT(back->net.size.flip_features, FLIP_FEATURES);
	old = net_param(&m->net, m->net.weight, "head1.weight") + size.width * size.head;
	now = net_param(&back->net, back->net.weight, "head1.weight") + size.width * size.head;
	row = size.head * sizeof *old;
	for (uint32_t i = 0, k = 0; i < FLIP_FEATURES; i++) {
		bool known = k < size.flip_features && map[k] == i;
		CHECK(memcmp(now + i * size.head, known ? old + k * size.head : (real[LAYER_WIDTH]){0}, row) == 0);
		k += known;
	}
	model_free(back), model_free(m);
}

/* The same of trees: they go on asking about the columns that they were grown on. */
static void older_trees_are_read(void)
{
	struct model *m = some_model(), *back;
	uint32_t map[ROW_COLUMNS], nodes = feature_map(1, false, map), flips = feature_map(1, true, map);
	uint64_t hash = feature_hash(1, NULL);

	CHECK(nodes < NODE_FEATURES && flips < FLIP_FEATURES);
	net_release(&m->net);
	trees_release(&m->trees);
	m->trees.n_columns = nodes + flips;
	for (int k = 0; k < OUT_COUNT; k++) {
		struct forest *f = &m->trees.forest[k];
		f->node = MEM_NEW(3, struct tree_node);
		f->node[0] = (struct tree_node){0.5f, 1, (uint16_t)(nodes + flips - 1)}; /* a tree of one question */
		f->node[1] = (struct tree_node){-1, 0, FOREST_LEAF};
		f->node[2] = (struct tree_node){1, 0, FOREST_LEAF};
		f->root = MEM_NEW(1, uint32_t);
		f->n_nodes = 3;
		f->n_trees = 1;
	}
	back = as_of_table(m, hash);
	if (!back)
		return;
	CHECK_INT(back->trees.n_columns, ROW_COLUMNS);
	for (int k = 0; k < OUT_COUNT; k++)
		CHECK_INT(back->trees.forest[k].node[0].column, NODE_FEATURES + map[flips - 1]);
	model_free(back), model_free(m);
}

int main(void)
{
	RUN(comes_back_as_it_went);
	RUN(format_1_is_read);
	RUN(programs_seen);
	RUN(quantities_are_kept);
	RUN(every_truncation_is_refused);
	RUN(every_flipped_bit_is_refused);
	RUN(sealed_nonsense_is_refused);
	RUN(opcodes_are_matched_by_name);
	RUN(ramps_come_back);
	RUN(older_tables_are_read);
	RUN(older_trees_are_read);
	RUN(another_world_is_refused);
	RUN(files_are_whole_or_not_at_all);
	return test_done();
}
