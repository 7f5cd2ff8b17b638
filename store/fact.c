/*
 * fact.c - keeps environments, graphs, spaces and the region cache.
 *
 * Each has an identity, which is computed from its content and kept in a unique column. To add one we look it up, and
 * insert it if it is not there; it has the same identity in every file. Merging a file adds each of its facts so.
 */
#include "store/fact.h"
#include <math.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "store/blob.h"

/* Hashes a string with its length, so that different lists of strings have different hashes. */
static void hash_text(struct sha256 *h, const char *text)
{
	uint64_t n = strlen(text);

	sha256_add(h, &n, sizeof n);
	sha256_add(h, text, n);
}

static int machine_id(struct store *s, const char *description, int64_t *id, struct err *err)
{
	int rc = sql_int(s, err, id, "SELECT id FROM machine WHERE description = ?", "t", description);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (sql_run(s, err, "INSERT INTO machine (description) VALUES (?)", "t", description) < 0)
		return -1;
	*id = sql_last_id(s);
	return 0;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* Hashes what version 1 of the store knew, and the rest only if it is not empty: so hashes of version 1 stay valid. */
static void hash_environment(const struct environment *e, const char *device, const char *build, struct digest *out)
{
	const char *text[] = {e->machine, e->backend, e->platform, e->version, e->compile_options,
		cost_kind_name(e->kind), device, build, quantity_name(e->quantity)};
	size_t n = e->quantity != QUANTITY_SECONDS ? 9 : *device || *build ? 8 : 6;
	struct sha256 h;

	sha256_init(&h);
	for (size_t i = 0; i < n; i++)
		hash_text(&h, or_empty(text[i]));
	sha256_end(&h, out);
}

/* Takes over an environment of version 1 for this build. 1 done, 0 there is none, -1 error. */
static int adopt(struct store *s, const struct environment *e, const struct digest *hash, int64_t *id, struct err *err)
{
	struct digest old;
	int rc;

	if (*or_empty(e->device) || !*or_empty(e->build) || e->quantity != QUANTITY_SECONDS)
		return 0;
	hash_environment(e, "", "", &old);
	rc = sql_int(s, err, id, "SELECT id FROM environment WHERE hash = ?", "b", &old, sizeof old);
	if (rc <= 0)
		return rc;
	return sql_run(s, err, "UPDATE environment SET hash = ?, build = ? WHERE id = ?", "bti", hash, sizeof *hash,
		e->build,
		*id) < 0 ? -1 : 1;
}

int store_environment_find(struct store *s, const struct environment *e, int64_t *id, struct err *err)
{
	struct digest hash;

	hash_environment(e, or_empty(e->device), or_empty(e->build), &hash);
	return sql_int(s, err, id, "SELECT id FROM environment WHERE hash = ?", "b", &hash, sizeof hash);
}

int store_environment(struct store *s, const struct environment *e, int64_t *id, struct err *err)
{
	struct digest hash;
	int64_t machine;
	int rc;

	hash_environment(e, or_empty(e->device), or_empty(e->build), &hash);
	if (sql_write(s, err) < 0)
		return -1;
	rc = sql_int(s, err, id, "SELECT id FROM environment WHERE hash = ?", "b", &hash, sizeof hash);
	if (rc == 0)
		rc = adopt(s, e, &hash, id, err);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (machine_id(s, or_empty(e->machine), &machine, err) < 0 ||
		sql_run(s, err, "INSERT INTO environment (hash, machine, backend, "
		"platform, version, compile_options, kind, device,"
			" build, quantity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "bittttittt", &hash, sizeof hash,
			machine, or_empty(e->backend), or_empty(e->platform), or_empty(e->version),
			or_empty(e->compile_options), (int64_t)e->kind,
			or_empty(e->device), or_empty(e->build), quantity_name(e->quantity)) < 0)
		return -1;
	*id = sql_last_id(s);
	return 0;
}

int store_graph(struct store *s, const struct graph_facts *g, int64_t *id, struct err *err)
{
	int64_t blob;
	int rc;

	if (blob_put(s, g->bytes, g->n_bytes, 9, &blob, err) < 0)
		return err_prefix(err, "graph %s", g->name);
	rc = sql_int(s, err, id, "SELECT id FROM graph WHERE blob = ?", "i", blob);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (sql_run(s, err, "INSERT INTO graph (blob, name, nodes, computations, edges) VALUES (?, ?, ?, ?, ?)",
		"itiii", blob, g->name, (int64_t)g->n_nodes, (int64_t)g->n_comps, (int64_t)g->n_edges) < 0)
		return -1;
	*id = sql_last_id(s);
	return 0;
}

int store_space_begun(struct store *s, int64_t space, int64_t environment, struct err *err)
{
	int64_t any;

	return sql_int(s, err, &any,
		"SELECT 1 FROM chain JOIN run ON run.id = chain.run WHERE chain.space = ? AND run.environment = ?",
		"ii", space, environment);
}

int store_get_graph(struct store *s, int64_t id, struct stored_graph *out, struct err *err)
{
	sqlite3_stmt *q = sql_query(s, err, "SELECT blob, name, nodes, computations, edges FROM graph WHERE id = ?",
		"i", id);
	int64_t blob;
	int rc;

	memset(out, 0, sizeof *out);
	if (!q || (rc = sql_step(s, q, err)) < 0)
		return -1;
	if (rc == 0)
		return err_set(err, "%s has no graph %lld", s->path, (long long)id);
	blob = sqlite3_column_int64(q, 0);
	out->id = id;
	out->name = mem_strdup(sql_text(q, 1));
	out->n_nodes = (uint32_t)sqlite3_column_int64(q, 2);
	out->n_comps = (uint32_t)sqlite3_column_int64(q, 3);
	out->n_edges = (uint32_t)sqlite3_column_int64(q, 4);
	sql_done(q);
	rc = blob_get(s, blob, &out->bytes, &out->hash, err);
	if (rc < 0)
		stored_graph_release(out);
	return rc;
}

int store_next_graph(struct store *s, int64_t *id, struct buf *name, struct err *err)
{
	sqlite3_stmt *q = sql_query(s, err, "SELECT id, name FROM graph WHERE id > ? ORDER BY id LIMIT 1", "i", *id);
	int rc = q ? sql_step(s, q, err) : -1;

	if (rc != 1)
		return rc;
	*id = sqlite3_column_int64(q, 0);
	buf_reset(name);
	buf_adds(name, sql_text(q, 1));
	sql_done(q);
	return 1;
}

void stored_graph_release(struct stored_graph *g)
{
	mem_free(g->name);
	buf_release(&g->bytes);
	memset(g, 0, sizeof *g);
}

/* The identity of a space: a hash of its graph's hash and of all its facts. It is the same in every file. */
static int space_identity(struct store *s, const struct space_facts *f, struct digest *out, struct err *err)
{
	sqlite3_stmt *q = sql_query(s, err, "SELECT b.hash FROM graph g JOIN blob b ON b.id = g.blob WHERE g.id = ?",
		"i", f->graph);
	uint64_t number[] = {f->hash, f->n_sites, f->n_ties};
	struct sha256 h;
	int rc;

	if (!q || (rc = sql_step(s, q, err)) < 0)
		return -1;
	if (rc == 0)
		return err_set(err, "%s has no graph %lld to open a space on", s->path, (long long)f->graph);
	sha256_init(&h);
	sha256_add(&h, sqlite3_column_blob(q, 0), (size_t)sqlite3_column_bytes(q, 0));
	sql_done(q);
	hash_text(&h, f->kind);
	hash_text(&h, f->backend);
	sha256_add(&h, number, sizeof number);
	sha256_add(&h, f->choices, f->n_sites);
	sha256_add(&h, f->dflt, f->n_sites);
	sha256_add(&h, f->node, f->n_sites * sizeof *f->node);
	sha256_end(&h, out);
	return 0;
}

static int space_insert(struct store *s, const struct space_facts *f, const struct digest *identity,
	struct err *err)
{
	struct buf choices = {0}, dflt = {0}, node = {0}, raw = {0};
	int rc;

	for (uint32_t i = 0; i < f->n_sites; i++)
		buf_u32(&raw, f->node[i]);
	io_pack(f->choices, f->n_sites, 0, &choices);
	io_pack(f->dflt, f->n_sites, 0, &dflt);
	io_pack(raw.data, raw.len, 0, &node);
	rc = sql_run(s, err, "INSERT INTO space (identity, graph, kind, "
		"backend, hash, sites, ties, choices, dflt, node)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "bittiiibbb", identity, sizeof *identity, f->graph, f->kind,
		f->backend, (int64_t)f->hash, (int64_t)f->n_sites, (int64_t)f->n_ties, choices.data, choices.len,
		dflt.data, dflt.len, node.data, node.len);
	buf_release(&choices);
	buf_release(&dflt);
	buf_release(&node);
	buf_release(&raw);
	return rc;
}

int store_space(struct store *s, const struct space_facts *f, int64_t *id, struct err *err)
{
	struct digest identity;
	int rc;

	if (sql_write(s, err) < 0 || space_identity(s, f, &identity, err) < 0)
		return -1;
	rc = sql_int(s, err, id, "SELECT id FROM space WHERE identity = ?", "b", &identity, sizeof identity);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (space_insert(s, f, &identity, err) < 0)
		return -1;
	*id = sql_last_id(s);
	return 0;
}

#define SITES_LIMIT 50000000 /* a row with more sites is damaged */

/* Reads the three arrays of a space's row. */
static int space_arrays(struct store *s, sqlite3_stmt *q, struct stored_space *out, struct err *err)
{
	struct buf choices = {0}, dflt = {0}, node = {0};
	struct cursor c;
	size_t n = out->n_sites;
	int rc = -1;

	if (sql_unpack(s, q, 6, n, "the choices of a space", &choices, err) < 0 ||
		sql_unpack(s, q, 7, n, "the default of a space", &dflt, err) < 0 ||
		sql_unpack(s, q, 8, n * 4, "the nodes of a space", &node, err) < 0)
		goto out;
	out->choices = mem_alloc(n);
	out->dflt = mem_alloc(n);
	out->node = mem_alloc(n * sizeof *out->node);
	c = cursor_of(node.data, node.len);
	for (size_t i = 0; i < n; i++) {
		out->choices[i] = (uint8_t)choices.data[i];
		out->dflt[i] = (uint8_t)dflt.data[i];
		out->node[i] = cursor_u32(&c);
		if (out->dflt[i] >= out->choices[i]) {
			err_set(err, "%s: space %lld: site %zu has no choice %u: the file is damaged", s->path,
				(long long)out->id, i, out->dflt[i]);
			goto out;
		}
	}
	rc = 0;
out:
	buf_release(&choices);
	buf_release(&dflt);
	buf_release(&node);
	return rc;
}

/* Is the row the one that was written? All configurations of the space are read by it. */
static int check_identity(struct store *s, const struct stored_space *p, const struct digest *identity, struct err *err)
{
	struct space_facts f = {.graph = p->graph, .kind = p->kind, .backend = p->backend, .hash = p->hash,
		.n_sites = p->n_sites, .n_ties = p->n_ties, .choices = p->choices, .dflt = p->dflt, .node = p->node};
	struct digest d;

	if (space_identity(s, &f, &d, err) < 0)
		return -1;
	if (memcmp(&d, identity, sizeof d) != 0)
		return err_set(err, "%s: space %lld is not the one its identity is of: the file is damaged", s->path,
			(long long)p->id);
	return 0;
}

int store_get_space(struct store *s, int64_t id, struct stored_space *out, struct err *err)
{
	sqlite3_stmt *q = sql_query(s, err, "SELECT graph, kind, backend, "
		"hash, sites, ties, choices, dflt, node, identity"
		" FROM space WHERE id = ?", "i", id);
	struct digest identity = {{0}};
	int64_t sites;
	int rc;

	memset(out, 0, sizeof *out);
	if (!q || (rc = sql_step(s, q, err)) < 0)
		return -1;
	if (rc == 0)
		return err_set(err, "%s has no space %lld", s->path, (long long)id);
	out->id = id;
	out->graph = sqlite3_column_int64(q, 0);
	out->kind = mem_strdup(sql_text(q, 1));
	out->backend = mem_strdup(sql_text(q, 2));
	out->hash = (uint64_t)sqlite3_column_int64(q, 3);
	sites = sqlite3_column_int64(q, 4);
	out->n_ties = (uint32_t)sqlite3_column_int64(q, 5);
	if (sites < 0 || sites > SITES_LIMIT) {
		rc = err_set(err, "%s: space %lld says it has %lld sites: the file is damaged", s->path, (long long)id,
			(long long)sites);
	} else {
		out->n_sites = (uint32_t)sites;
		rc = space_arrays(s, q, out, err);
		if (rc == 0 && (size_t)sqlite3_column_bytes(q, 9) == sizeof identity)
			memcpy(&identity, sqlite3_column_blob(q, 9), sizeof identity);
	}
	sql_done(q);
	if (rc == 0)
		rc = check_identity(s, out, &identity, err);
	if (rc < 0)
		stored_space_release(out);
	return rc < 0 ? -1 : 0;
}

void stored_space_release(struct stored_space *p)
{
	mem_free(p->kind);
	mem_free(p->backend);
	mem_free(p->choices);
	mem_free(p->dflt);
	mem_free(p->node);
	memset(p, 0, sizeof *p);
}

int store_region_get(struct store *s, int64_t environment, const uint64_t key[2],
	struct region_cost *out, struct err *err)
{
	sqlite3_stmt *q = sql_query(s, err, "SELECT delta, se, seconds_a, seconds_b, pairs, kind, outcome, deadline,"
		" load, memory FROM region WHERE environment = ? AND key0 = ? AND "
		"key1 = ? ORDER BY outcome <> 0, at DESC LIMIT 1",
		"iii", environment, (int64_t)key[0], (int64_t)key[1]);
	int64_t kind, outcome;
	int rc;

	if (!q || (rc = sql_step(s, q, err)) < 0)
		return -1;
	if (rc == 0)
		return 0;
	out->delta = sql_real(q, 0);
	out->se = sql_real(q, 1);
	out->seconds_a = sql_real(q, 2);
	out->seconds_b = sql_real(q, 3);
	out->pairs = (uint32_t)sqlite3_column_int64(q, 4);
	kind = sqlite3_column_int64(q, 5);
	outcome = sqlite3_column_int64(q, 6);
	out->effort = (struct effort){sqlite3_column_double(q, 7), sqlite3_column_double(q, 8),
		(uint64_t)sqlite3_column_int64(q, 9)}; /* null is 0 */
	sql_done(q);
	if (kind < 0 || kind >= COST_KIND_COUNT || outcome < 0 || outcome >= OUTCOME_COUNT)
		return err_set(err, "%s: a cached region has kind %lld and outcome %lld: the file is damaged", s->path,
			(long long)kind, (long long)outcome);
	out->kind = (enum cost_kind)kind;
	out->outcome = (enum outcome)outcome;
	return 1;
}

int store_region_put(struct store *s, int64_t environment, const uint64_t key[2],
	const struct region_cost *c, struct err *err)
{
	bool ok = c->outcome == OUTCOME_OK;
	double nothing = (double)NAN; /* stored as null */

	if (sql_write(s, err) < 0)
		return -1;
	/* `at` must grow with every row, even if the clock stands still or goes back: readers take the newest row. */
	return sql_run(s, err, "INSERT INTO region VALUES (?1, ?2, ?3, "
		"max(?4, (SELECT coalesce(max(at), 0) + 1 FROM region WHERE environment = ?1 AND key0 = ?2 AND key1 = "
		"?3)), ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
		" ?12, ?13, nullif(?14, 0))", "iiiiddddiiiddi",
		environment, (int64_t)key[0], (int64_t)key[1], sql_now(), c->delta, c->se, c->seconds_a, c->seconds_b,
		(int64_t)c->pairs, (int64_t)c->kind, (int64_t)c->outcome, ok ? nothing : c->effort.deadline,
		ok ? nothing : c->effort.load, ok ? INT64_C(0) : (int64_t)c->effort.memory);
}
