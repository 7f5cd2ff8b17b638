/*
 * export_npz.c - writes samples in the layout of TpuGraphs, so that programs for that data set can read them.
 *
 * There is one file per space and environment, so numbers of different hardware are not mixed. It holds
 *	node_feat		float32 [nodes, features]; the columns are named in node_feat_names
 *	node_opcode		uint8   [nodes]		   index into opcode_names
 *	edge_index		int64   [edges, 2]	   [u, v]: u consumes the output of v
 *	node_config_ids		int64   [sites]		   the nodes that are sites
 *	node_config_feat	uint8   [configs, sites, 1] the choice of each site
 *	config_runtime		float64 [configs]	   seconds of one run
 * A configuration is that of a chain after a step; its runtime is the default's plus the running sum (sum.h).
 * Steps whose runtime is not known are left out, and counted. There are two passes, because the arrays'
 * shapes stand before their data, and the data need not fit into memory. The first counts for all files at once; the
 * second reads for each file the runs that are in it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "graph/graph.h"
#include "store/export.h"
#include "store/npz.h"

struct target { /* of one file */
	struct selection *x;
	int64_t space, environment;
	uint64_t configs, unknown;
	uint8_t *config;
	double *runtime;
	struct npz z;
};

struct targets { /* by space and environment, ascending */
	struct target *v;
	size_t n, cap;
};

static int by_key(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	return (x->environment > y->environment) - (x->environment < y->environment);
}

/* The seconds of the configuration after the step; NaN if unknown. */
static double runtime_after(const struct step *t, const struct sum *before)
{
	struct sum chain = *before;
	struct sums one = {.chain = &chain, .n_chains = 1};
	struct step copy = *t;

	copy.chain = 0;
	sums_take(&one, &copy);
	return chain.known && chain.base > 0 ? chain.base + chain.value : (double)NAN;
}

static int count_step(void *ctx, const struct run_info *run, const struct step *t, const struct sum *before,
	struct err *err)
{
	const struct targets *all = ctx;
	const struct target key = {.space = t->space, .environment = run->environment};
	struct target *a = bsearch(&key, all->v, all->n, sizeof *all->v, by_key);
	bool known = !isnan(runtime_after(t, before));

	(void)err;
	BUG_ON(!a);
	a->configs += known;
	a->unknown += !known;
	return 0;
}

static int write_step(void *ctx, const struct run_info *run, const struct step *t, const struct sum *before,
	struct err *err)
{
	struct target *a = ctx;
	double seconds;

	(void)run;
	seconds = t->space == a->space ? runtime_after(t, before) : (double)NAN;
	if (isnan(seconds))
		return 0;
	a->runtime[a->configs++] = seconds;
	step_after(t, a->config);
	return npz_data(&a->z, a->config, t->n_sites, err);
}

/* The features of a node, in the order of the columns. */
#define FEATURE_NAME 16
static const char feature_names[][FEATURE_NAME] = {"rank", "dtype_bits", "elements", "bytes", "flops", "operands",
	"users", "calls", "trips", "root", "side_effect", "entry"};
#define N_FEATURES (sizeof feature_names / sizeof *feature_names)

static void node_features(const struct graph *g, uint32_t v, float *out)
{
	const struct node *n = &g->node[v];
	const double f[N_FEATURES] = {n->rank, dtype_bits(n->dtype), (double)n->elements, (double)n->bytes, n->flops,
		n->n_operands, n->n_users, n->n_called, g->comp[n->comp].trips, (n->flags & NODE_ROOT) != 0,
		(n->flags & NODE_SIDE_EFFECT) != 0, n->comp == g->entry};

	for (size_t i = 0; i < N_FEATURES; i++)
		out[i] = (float)f[i];
}

static int write_opcodes(struct npz *z, const struct graph *g, struct err *err)
{
	char name[32];
	int rc = npz_array(z, "node_opcode", "|u1", (uint64_t[]){g->n_nodes}, 1, err);

	for (uint32_t v = 0; v < g->n_nodes && rc == 0; v++)
		rc = npz_data(z, &(uint8_t){(uint8_t)g->node[v].opcode}, 1, err);
	if (rc == 0)
		rc = npz_array(z, "opcode_names", "|S32", (uint64_t[]){OP_COUNT + 1}, 1, err);
	for (uint16_t k = 0; k <= OP_COUNT && rc == 0; k++) {
		memset(name, 0, sizeof name);
		strncpy(name, k < OP_COUNT ? opcode_name(k) : "unknown", sizeof name - 1);
		rc = npz_data(z, name, sizeof name, err);
	}
	return rc;
}

static int write_edges(struct npz *z, const struct graph *g, struct err *err)
{
	int rc = npz_array(z, "edge_index", "<i8", (uint64_t[]){g->n_edges, 2}, 2, err);

	for (uint32_t v = 0; v < g->n_nodes; v++)
		for (uint32_t i = 0; i < g->node[v].n_operands && rc == 0; i++) {
			int64_t edge[2] = {v, node_operands(g, v)[i]};
			rc = npz_data(z, edge, sizeof edge, err);
		}
	return rc;
}

static int write_graph(struct npz *z, const struct graph *g, struct err *err)
{
	float f[N_FEATURES];
	int rc = npz_array(z, "node_feat", "<f4", (uint64_t[]){g->n_nodes, N_FEATURES}, 2, err);

	for (uint32_t v = 0; v < g->n_nodes && rc == 0; v++) {
		node_features(g, v, f);
		rc = npz_data(z, f, sizeof f, err);
	}
	if (rc == 0)
		rc = npz_array(z, "node_feat_names", "|S16", (uint64_t[]){N_FEATURES}, 1, err);
	if (rc == 0)
		rc = npz_data(z, feature_names, sizeof feature_names, err);
	return rc < 0 || write_opcodes(z, g, err) < 0 || write_edges(z, g, err) < 0 ? -1 : 0;
}

/* Writes the node arrays. A graph that cannot be read is left out, with a note to the user. */
static int write_nodes(struct target *a, const struct stored_space *p, struct err *err)
{
	struct stored_graph sg;
	struct graph g = {0};
	struct err why = {0};
	int64_t *ids = MEM_NEW(p->n_sites, int64_t);
	int rc = store_get_graph(a->x->r->s, p->graph, &sg, err);

	if (rc == 0 && graph_parse(&g, sg.bytes.data, sg.bytes.len, sg.name, &why) == 0 && g.n_nodes != sg.n_nodes)
		err_set(&why, "this version sees %u nodes in it, and the one that measured it saw %u", g.n_nodes,
			sg.n_nodes);
	if (rc == 0 && !why.text[0])
		rc = write_graph(&a->z, &g, err);
	else if (rc == 0)
		fprintf(stderr, "store: %s has no node arrays: %s\n", a->z.path, why.text);
	for (uint32_t i = 0; i < p->n_sites; i++)
		ids[i] = p->node[i];
	if (rc == 0)
		rc = npz_array(&a->z, "node_config_ids", "<i8", (uint64_t[]){p->n_sites}, 1, err);
	if (rc == 0)
		rc = npz_data(&a->z, ids, p->n_sites * sizeof *ids, err);
	graph_release(&g);
	stored_graph_release(&sg);
	mem_free(ids);
	return rc;
}

static int write_configs(struct target *a, const struct stored_space *p, struct err *err)
{
	uint64_t n = a->configs;
	int rc;

	a->config = mem_alloc(p->n_sites);
	a->runtime = MEM_NEW(n, double);
	a->configs = 0;
	rc = npz_array(&a->z, "node_config_feat", "|u1", (uint64_t[]){n, p->n_sites, 1}, 3, err);
	if (rc == 0)
		rc = selection_walk_space(a->x, a->space, a->environment, write_step, a, err);
	if (rc == 0)
		rc = npz_array(&a->z, "config_runtime", "<f8", (uint64_t[]){n}, 1, err);
	if (rc == 0)
		rc = npz_data(&a->z, a->runtime, n * sizeof *a->runtime, err);
	mem_free(a->config);
	mem_free(a->runtime);
	return rc;
}

/* FOLDER/GRAPH.KIND.ENVIRONMENT.npz, of harmless characters. */
static void name_file(struct buf *out, const struct target *a, const struct stored_space *p)
{
	const char *folder = a->x->r->out ? a->x->r->out : ".";
	size_t start;

	buf_addf(out, "%s/", folder);
	start = out->len;
	buf_addf(out, "%s.%s.%lld.%lld.npz", a->x->space[selection_space(a->x, a->space)].graph, p->kind,
		(long long)a->space, (long long)a->environment);
	for (size_t i = start; i < out->len; i++)
		if (out->data[i] == '/' || (unsigned char)out->data[i] <= ' ')
			out->data[i] = '_';
}

static int write_target(struct target *a, struct err *err)
{
	struct stored_space p;
	struct buf path = {0};
	int rc;

	if (store_get_space(a->x->r->s, a->space, &p, err) < 0)
		return -1;
	name_file(&path, a, &p);
	rc = npz_open(&a->z, path.data, err);
	if (rc == 0)
		rc = write_nodes(a, &p, err) < 0 || write_configs(a, &p, err) < 0 || npz_close(&a->z, err) < 0 ? -1 : 0;
	npz_abandon(&a->z);
	buf_addf(&path, ": %llu configurations of %u sites", (unsigned long long)a->configs, p.n_sites);
	if (a->unknown)
		buf_addf(&path, "; %llu left out, their runtime not being known", (unsigned long long)a->unknown);
	buf_addch(&path, '\n');
	if (rc == 0)
		rc = io_print(&path, err);
	buf_release(&path);
	stored_space_release(&p);
	return rc;
}

/* Lists the files to be written, of all spaces that were asked for. */
static int list_targets(struct selection *x, struct targets *all, struct err *err)
{
	sqlite3_stmt *q = sql_query(x->r->s, err, "SELECT DISTINCT c.space, r.environment FROM chain c JOIN run r"
		" ON r.id = c.run ORDER BY 1, 2", "");
	int rc = q ? 0 : -1;

	while (q && (rc = sql_step(x->r->s, q, err)) == 1) {
		struct target a = {.x = x, .space = sqlite3_column_int64(q, 0),
			.environment = sqlite3_column_int64(q, 1)};

		if (selection_space(x, a.space) < 0)
			continue;
		MEM_GROW(&all->v, &all->cap, all->n + 1);
		all->v[all->n++] = a;
	}
	return rc;
}

int export_npz(struct selection *x, struct err *err)
{
	struct targets all = {0};
	int rc = -1;

	if (x->r->out && io_make_dir(x->r->out, err) < 0)
		return -1;
	if (list_targets(x, &all, err) == 0)
		rc = selection_walk(x, count_step, &all, err);
	for (size_t i = 0; i < all.n && rc == 0; i++)
		rc = write_target(&all.v[i], err);
	mem_free(all.v);
	return rc;
}
