/*
 * page.c - shows for the page of a search how each tensor is laid out, before and after, and how to say that in JAX.
 */
#include "base/page.h"
#include "space/shard/own.h"

static void add_mesh(const struct mesh *m, struct buf *out)
{
	buf_addf(out, "<h2>Layouts</h2>\n<p>%u devices in a mesh: ", m->devices);
	for (uint32_t a = 0; a < m->n; a++)
		buf_addf(out, "%s%u along %s", a ? ", " : "", m->axis[a].size, m->axis[a].name);
	buf_adds(out, ". A layout names for each dimension the axes that split it; &ldquo;-&rdquo;: the dimension is "
		"whole on each device. By propagation: XLA's partitioner decides.</p>\n");
}

static void add_layout(struct buf *out, const struct space *s, const uint8_t *config, uint32_t site)
{
	const struct place *p = &shard_of(s)->place[site];
	struct layout l;

	if (shard_layout(s, site, config[site], &l) || (p->parameter && !p->written))
		layout_words(&shard_of(s)->mesh, &l, s->graph->node[s->site[site].node].rank, out);
	else
		buf_adds(out, p->written ? "as the program says" : "by propagation");
}

static void add_tensor(struct buf *out, const struct space *s, uint32_t site, const uint8_t *before,
	const uint8_t *after)
{
	const struct place *p = &shard_of(s)->place[site];
	const Hlo__ShapeProto *shape = shape_of(s, s->site[site].node);

	buf_adds(out, "<tr><td><code>");
	page_text(out, shard_name(s->graph, s->site[site].node));
	buf_adds(out, "</code>");
	if (p->n > 1)
		buf_addf(out, " and %u like it", p->n - 1);
	buf_adds(out, "</td><td>");
	for (size_t d = 0; d < shape->n_dimensions; d++)
		buf_addf(out, "%s%lld", d ? " &times; " : "", (long long)shape->dimensions[d]);
	buf_adds(out, "</td><td>");
	add_layout(out, s, before, site);
	buf_adds(out, before[site] == after[site] ? "</td><td>" : "</td><td><b>");
	add_layout(out, s, after, site);
	buf_adds(out, before[site] == after[site] ? "</td></tr>\n" : "</b></td></tr>\n");
}

/* P("x", None, ("x", "y")) */
static void add_spec(struct buf *out, const struct mesh *m, const struct layout *l, uint32_t rank)
{
	uint32_t axis[MESH_AXES];

	buf_adds(out, "P(");
	for (uint32_t d = 0; d < rank; d++) {
		uint32_t n = layout_axes(m, l, d, axis);
		buf_adds(out, d ? ", " : "");
		buf_adds(out, n == 0 ? "None" : n > 1 ? "(" : "");
		for (uint32_t i = 0; i < n; i++)
			buf_addf(out, "%s\"%s\"", i ? ", " : "", m->axis[axis[i]].name);
		buf_adds(out, n > 1 ? ")" : "");
	}
	buf_adds(out, ")");
}

static void add_specs(struct buf *out, const struct space *s, const uint8_t *config)
{
	const struct graph *g = s->graph;
	const struct comp *c = &g->comp[g->entry];

	buf_adds(out, "<p>The layouts of arguments in JAX, by their paths; <code>examples/run/shardings.py</code> "
		"applies them from <code>shardings.json</code>:</p>\n<pre>\n"
		"from jax.sharding import PartitionSpec as P\n\nspecs = {\n");
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		struct buf line = {0};
		struct layout l = layout_whole;
		if (g->node[v].opcode != OP_PARAMETER || g->node[v].dtype == DT_TUPLE || g->node[v].proto->sharding)
			continue;
		if (s->site_of[v] != NONE)
			shard_layout(s, s->site_of[v], config[s->site_of[v]], &l);
		buf_addf(&line, "    \"%s\": ", shard_name(g, v));
		add_spec(&line, &shard_of(s)->mesh, &l, g->node[v].rank);
		buf_adds(&line, ",\n");
		page_text(out, line.data);
		buf_release(&line);
	}
	buf_adds(out, "}\n</pre>\n");
}

/* A product that the partitioner decides about, before and after: there is nothing to read in its row. */
static bool is_left(const struct space *s, uint32_t site, const uint8_t *before, const uint8_t *after)
{
	const struct place *p = &shard_of(s)->place[site];

	return !p->parameter && !p->written && before[site] == 0 && after[site] == 0;
}

void shard_page(struct space *s, const uint8_t *before, const uint8_t *after, struct buf *out)
{
	uint32_t left = 0;

	add_mesh(&shard_of(s)->mesh, out);
	buf_adds(out, "<table><tr><th>tensor</th><th>dimensions</th><th>best by hand</th><th>found</th></tr>\n");
	for (int same = 0; same < 2; same++) /* what changed comes first */
		for (uint32_t i = 0; i < s->n_sites; i++)
			if ((before[i] == after[i]) == same && !is_left(s, i, before, after))
				add_tensor(out, s, i, before, after);
	for (uint32_t i = 0; i < s->n_sites; i++)
		left += is_left(s, i, before, after) ? shard_of(s)->place[i].n : 0;
	buf_adds(out, "</table>\n");
	if (left)
		buf_addf(out, "<p>%u product%s left to the partitioner, before and after.</p>\n", left,
			left == 1 ? " is" : "s are");
	add_specs(out, s, after);
}
