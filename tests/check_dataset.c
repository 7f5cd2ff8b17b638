/*
 * check_dataset.c - which samples of a store learning uses, and which it leaves out.
 */
#include "space/toy/toy.h"
#include "learn/dataset.h"
#include "tests/store_fixture.h"
#include "tests/test.h"

static char *folder;

/* Writes the facts of toy:12:2:1. With `lie` they give every site one choice more, under the same hash. */
static bool put_toy(struct store *s, bool lie, enum quantity quantity, const char *version, struct made *m,
	struct err *err)
{
	struct toy_spec spec;
	struct graph g = {0};
	struct buf module = {0};
	char kind[64];
	struct space *space;
	struct environment e = {"a machine", "toy", "formula", version, "", COST_MODELLED, NULL, NULL, quantity};
	struct graph_facts gf = {.name = "toy:12:2:1"};
	struct space_facts f = {.kind = kind, .backend = "toy"};
	int rc = -1;

	memset(m, 0, sizeof *m);
	if (toy_parse("toy:12:2:1", &spec, err) < 0)
		return false;
	toy_graph(&spec, &module);
	toy_kind_name(&spec, kind);
	if (graph_parse(&g, module.data, module.len, gf.name, err) == 0 &&
		(space = space_open(kind, "toy", &g, NULL, 0, err))) {
		m->n_sites = f.n_sites = space->n_sites;
		m->choices = mem_alloc(f.n_sites);
		m->dflt = mem_alloc(f.n_sites);
		m->node = mem_alloc(f.n_sites * sizeof *m->node);
		for (uint32_t i = 0; i < f.n_sites; i++) {
			m->choices[i] = (uint8_t)(space->site[i].choices + lie);
			m->dflt[i] = space->site[i].dflt;
			m->node[i] = space->site[i].node;
		}
		f.hash = space->hash;
		f.n_ties = space->n_ties;
		f.choices = m->choices;
		f.dflt = m->dflt;
		f.node = m->node;
		gf.bytes = module.data;
		gf.n_bytes = module.len;
		gf.n_nodes = g.n_nodes;
		rc = store_environment(s, &e, &m->environment, err) < 0 || store_graph(s, &gf, &m->graph, err) < 0 ? -1
			: 0;
		f.graph = m->graph;
		rc = rc < 0 ? -1 : store_space(s, &f, &m->space, err);
		space_free(space);
	}
	graph_release(&g);
	buf_release(&module);
	return rc == 0;
}

/* Reads a store of one run of 40 samples on the toy, into a dataset that is begun. */
static void read_toy(bool lie, enum quantity quantity, struct dataset *ds)
{
	struct err err = {0};
	struct dataset_options o = DATASET_DEFAULTS;
	char path[300];
	struct made m = {0};
	struct run *run;
	struct store *s;

	snprintf(path, sizeof path, "%s/%s-%s.sqlite", folder, lie ? "lie" : "truth", quantity_name(quantity));
	s = store_open(path, STORE_CREATE, NULL, &err);
	CHECK(s && put_toy(s, lie, quantity, "1", &m, &err));
	run = made_run(s, &m, 3, 40, &err);
	CHECK(run && run_end(run, RUN_STOPPED, NULL, &err) == 0);
	run_free(run);
	store_close(s);
	made_release(&m);
	CHECK_INT(dataset_read(ds, path, &o, &err), 0);
	CHECK_STR(err.text, "");
}

/* Said once, in a line for all: where nothing else is known of the program, by its name. */
static void other_sites_are_left_out(void)
{
	struct err err = {0};
	struct dataset ds;

	dataset_init(&ds, 1);
	read_toy(true, QUANTITY_SECONDS, &ds);
	CHECK_INT(ds.n_samples, 0);
	CHECK_INT(dataset_finish(&ds, &err), -1);
	CHECK(strstr(err.text, "this version sees other sites than the one that measured: toy"));
	dataset_release(&ds);
	dataset_init(&ds, 1);
	read_toy(true, QUANTITY_SECONDS, &ds);
	read_toy(false, QUANTITY_SECONDS, &ds);
	CHECK_INT(ds.n_samples, 40);
	CHECK_INT(dataset_finish(&ds, &err), 0);
	CHECK(ds.notes.len && strstr(ds.notes.data, "measured anew"));
	CHECK(ds.notes.len && !strstr(ds.notes.data, "this version sees"));
	dataset_release(&ds);
}

/* The first run sets the quantity; seconds and bytes are never fitted together. */
static void other_quantities_are_left_out(void)
{
	struct dataset ds;

	dataset_init(&ds, 1);
	read_toy(false, QUANTITY_BYTES, &ds);
	CHECK_INT(ds.quantity, QUANTITY_BYTES);
	read_toy(false, QUANTITY_CYCLES, &ds);
	CHECK_INT(ds.n_samples, 40);
	CHECK(ds.notes.len &&
		strstr(ds.notes.data, "its costs are modelled cycles on toy, the others' modelled bytes on toy"));
	dataset_release(&ds);
}

/* Writes 30 samples by version 1 and then 20 by version 2, and reads them with this weight of other versions. */
static void read_versions(const char *name, double weight, struct dataset *ds)
{
	struct dataset_options o = DATASET_DEFAULTS;
	const char *path = made_path(folder, name);
	struct err err = {0};
	struct store *s = store_open(path, STORE_CREATE, NULL, &err);

	for (int i = 0; i < 2; i++) {
		struct made m = {0};
		struct run *run;
		CHECK(s && put_toy(s, false, QUANTITY_SECONDS, i ? "2" : "1", &m, &err));
		run = made_run(s, &m, 3, i ? 20 : 30, &err);
		CHECK(run && run_end(run, RUN_STOPPED, NULL, &err) == 0);
		run_free(run);
		made_release(&m);
	}
	store_close(s);
	o.other_weight = weight;
	dataset_init(ds, 1);
	CHECK_INT(dataset_read(ds, path, &o, &err), 0);
}

/* The newest run says which version the model is for. What another version measured counts less, or nothing. */
static void other_versions_count_less(void)
{
	struct dataset ds;

	read_versions("less", 0.25, &ds);
	CHECK_STR(ds.version, "2");
	CHECK_INT(ds.n_samples, 50);
	CHECK_INT(ds.n_other, 30);
	if (CHECK_INT(ds.data.n_graphs, 2))
		for (int i = 0; i < 2; i++) {
			const struct data_graph *g = &ds.data.graph[i];
			CHECK(g->other == (g->n_samples == 30));
			CHECK_NEAR(g->weight, g->other ? 0.25 : 1, 0);
		}
	dataset_release(&ds);
	read_versions("nothing", 0, &ds);
	CHECK_INT(ds.n_samples, 20);
	CHECK_INT(ds.n_other, 0);
	dataset_release(&ds);
}

/* Makes a store of one run of 30 samples, and a copy of it in which the run went on for 12. */
static void make_copies(const char *first, const char *longer)
{
	struct err err = {0};
	struct made m = {0};
	struct buf file = {0};
	struct run *run = NULL;
	struct run_spec spec;
	struct store *s = store_open(first, STORE_CREATE, NULL, &err);
	char other[37];
	struct rng r;

	CHECK(s && put_toy(s, false, QUANTITY_SECONDS, "1", &m, &err));
	run = made_run(s, &m, 3, 30, &err);
	CHECK(run && run_end(run, RUN_STOPPED, NULL, &err) == 0);
	run_free(run);
	store_close(s);
	CHECK(io_read_file(first, IO_FILE_LIMIT, &file, &err) == 0 &&
		io_write_file(longer, file.data, file.len, &err) == 0);
	s = store_open(longer, STORE_WRITE, NULL, &err);
	spec = made_spec(&m, 3);
	rng_seed(&r, 9);
	if (CHECK(s && run_resume(s, &spec, &run, other, &err) == 1)) {
		for (int i = 0; i < 12; i++) {
			struct sample x = made_sample(&r, &m, 0, false);
			CHECK_INT(run_sample(run, &x, &r, sizeof r, &err), 0);
		}
		run_free(run);
	}
	store_close(s);
	made_release(&m);
	buf_release(&file);
	CHECK_STR(err.text, "");
}

static void a_run_in_two_stores_is_learnt_from_once(void)
{
	static const struct {
		const char *store[3];
		int samples, again;
	} table[] = {{{"first"}, 30, 0}, {{"first", "first"}, 30, 1}, {{"longer", "first"}, 42, 1},
		{{"first", "longer"}, 42, 1}, {{"first", "longer", "first"}, 42, 2}};

	make_copies(made_path(folder, "first"), made_path(folder, "longer"));
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct dataset_options o = DATASET_DEFAULTS;
		struct err err = {0};
		struct dataset ds;
		dataset_init(&ds, 1);
		for (int k = 0; k < 3 && table[i].store[k]; k++)
			CHECK_INT(dataset_read(&ds, made_path(folder, table[i].store[k]), &o, &err), 0);
		CHECK_INT(dataset_finish(&ds, &err), 0);
		CHECK_INT(ds.n_samples, table[i].samples);
		CHECK_INT(ds.n_again, table[i].again);
		CHECK((ds.notes.len && strstr(ds.notes.data, "learnt from once")) == (table[i].again > 0));
		CHECK_STR(err.text, "");
		dataset_release(&ds);
	}
}

int main(void)
{
	struct err err = {0};

	folder = made_folder();
	RUN(other_sites_are_left_out);
	RUN(other_quantities_are_left_out);
	RUN(other_versions_count_less);
	RUN(a_run_in_two_stores_is_learnt_from_once);
	io_remove_tree(folder, &err);
	mem_free(folder);
	return test_done();
}
