/*
 * content.c - one hash for what a program is, whatever file it came in.
 *
 * The content hash must be the same for the text and the binary form of a program, and for both
 * after any renumbering; so it may depend on no name, id, metadata or order of listing. Every node
 * gets a hash from what it does (with layout: layouts are part of the program), what it reads and
 * what it calls, computations callees first; a computation is the sorted list of its nodes' hashes
 * and its root's. The SHA-256 is over the entry computation's list, the shapes promised at the
 * boundary, and which inputs may be overwritten by which outputs.
 */
#include <stdlib.h>
#include <string.h>
#include "graph/graph_own.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t bytes_hash(uint64_t h, const void *p, size_t n)
{
	return n ? hash_mix(h, hash64(p, n, 0)) : h;
}

static uint64_t node_content(const struct graph *g, uint32_t v, const uint64_t *hash, const uint64_t *comp)
{
	const struct node *n = &g->node[v];
	uint64_t h = node_local_hash(g, v, true);

	for (uint32_t k = 0; k < n->n_operands; k++)
		h = hash_mix(h, hash[node_operands(g, v)[k]]);
	for (uint32_t k = 0; k < n->n_called; k++)
		h = hash_mix(h, comp[node_calls(g, v)[k]]);
	h = bytes_hash(h, n->proto->backend_config.data, n->proto->backend_config.len);
	return bytes_hash(h, n->proto->fusion_kind, strlen(n->proto->fusion_kind));
}

/* Callees first: a computation waits until all that it calls are known. */
static void hash_comps(const struct graph *g, uint64_t *hash, uint64_t *comp)
{
	uint8_t *done = MEM_NEW(g->n_comps, uint8_t);
	uint64_t *sorted = MEM_NEW(g->n_nodes, uint64_t);
	bool progress = true;

	while (progress) { /* files list callees first: one round, as a rule */
		progress = false;
		for (uint32_t c = 0; c < g->n_comps; c++) {
			const struct comp *p = &g->comp[c];
			bool ready = !done[c] && p->role != ROLE_DEAD;
			for (uint32_t v = p->first; v < p->first + p->n_nodes && ready; v++)
				for (uint32_t k = 0; k < g->node[v].n_called; k++)
					ready &= done[node_calls(g, v)[k]];
			if (!ready)
				continue;
			for (uint32_t v = p->first; v < p->first + p->n_nodes; v++)
				hash[v] = node_content(g, v, hash, comp);
			memcpy(sorted, hash + p->first, p->n_nodes * sizeof *sorted);
			qsort(sorted, p->n_nodes, sizeof *sorted, by_value);
			comp[c] = hash_mix(hash64(sorted, p->n_nodes * sizeof *sorted, 0), hash[p->root]);
			done[c] = 1;
			progress = true;
		}
	}
	mem_free(done);
	mem_free(sorted);
}

static void add_u64(struct sha256 *s, uint64_t v)
{
	struct buf b = {0};

	buf_u64(&b, v);
	sha256_add(s, b.data, b.len);
	buf_release(&b);
}

static void add_boundary(struct sha256 *s, const Hlo__HloModuleProto *m)
{
	for (size_t i = 0; m->input_output_alias && i < m->input_output_alias->n_entries; i++) {
		const Hlo__AliasEntry *e = m->input_output_alias->entries[i];
		add_u64(s, (uint64_t)e->parameter_number);
		add_u64(s, (uint64_t)e->kind);
		for (size_t k = 0; k < e->n_output_shape_index; k++)
			add_u64(s, (uint64_t)e->output_shape_index[k]);
	}
	for (size_t i = 0; m->buffer_donor && i < m->buffer_donor->n_entries; i++)
		add_u64(s, (uint64_t)m->buffer_donor->entries[i]->parameter_number);
}

void graph_content(struct graph *g)
{
	uint64_t *hash = MEM_NEW(g->n_nodes, uint64_t), *comp = MEM_NEW(g->n_comps, uint64_t);
	const struct comp *entry = &g->comp[g->entry];
	struct sha256 s;

	hash_comps(g, hash, comp);
	qsort(hash + entry->first, entry->n_nodes, sizeof *hash, by_value);
	sha256_init(&s);
	sha256_add(&s, "vantage program 1", 17);
	add_u64(&s, comp[g->entry]);
	for (uint32_t i = 0; i < entry->n_nodes; i++)
		add_u64(&s, hash[entry->first + i]);
	add_boundary(&s, g->module);
	sha256_end(&s, &g->content);
	mem_free(hash);
	mem_free(comp);
}
