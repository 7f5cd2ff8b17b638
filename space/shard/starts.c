/*
 * starts.c - lays programs out as people do by hand, by rules.
 *
 *	none		     every device does everything
 *	data		     data are split by examples, over all axes; every device has all weights
 *	zero		     the same, and moments are split: each device updates its part
 *	fsdp		     the same, and weights as well: they are gathered where they are used
 *	model		     weights are split in pairs (pairs.c) over all axes; every device has all data
 *	data-model	     data over all axes but the last, pairs over the last
 *	data-model-fsdp	     the same, and what is left of weights and moments is split over the other axes
 *	tables-rows	     data split over all axes, and tables in which rows are looked up: by rows,
 *	tables-columns	     ... or by columns
 *	experts		     data split over all axes, and weights that hold one matrix for each expert, by experts;
 *			     what is left of weights and moments is split, as for fsdp
 *
 * Products are left to the partitioner. If the program itself says how a site is laid out, it keeps that layout.
 */
#include "space/shard/own.h"

#include <string.h>

/* Splits one dimension over the axes from `from` to before `to`. */
static struct layout split(int8_t dim, uint32_t from, uint32_t to)
{
	struct layout l = layout_whole;

	for (uint32_t a = from; a < to && a < MESH_AXES; a++)
		l.dim[a] = dim;
	return l;
}

void shard_set(struct space *s, uint8_t *config, uint32_t site, const struct layout *l)
{
	if (!shard_of(s)->place[site].written && layout_fits(&shard_of(s)->mesh, shape_of(s, s->site[site].node), l))
		config[site] = shard_choice(s, site, l);
}

enum role shard_role(const struct space *s, uint32_t site)
{
	return shard_of(s)->place[site].parameter ? purpose_of(s, s->site[site].node)->role : FOR_NOTHING;
}

/* Splits data by examples over the axes before `to`, or over fewer of them if they do not divide the examples. */
static void split_data(struct space *s, uint8_t *config, uint32_t to)
{
	memset(config, 0, s->n_sites);
	for (uint32_t i = 0; i < s->n_sites; i++)
		for (uint32_t n = to; shard_role(s, i) == FOR_DATA && n > 0 && config[i] == 0; n--) {
			struct layout l = split(0, 0, n);
			shard_set(s, config, i, &l);
		}
}

void shard_split_largest(struct space *s, uint8_t *config, uint32_t site, uint32_t from, uint32_t to)
{
	const struct mesh *m = &shard_of(s)->mesh;
	const Hlo__ShapeProto *shape = shape_of(s, s->site[site].node);
	struct layout l, best = layout_whole;
	int64_t largest = 0;

	shard_layout(s, site, config[site], &l);
	for (size_t d = 0; d < shape->n_dimensions; d++) {
		struct layout try = l;
		uint32_t axis[MESH_AXES];
		if (layout_axes(m, &l, (uint32_t)d, axis))
			continue;
		for (uint32_t a = from; a < to; a++)
			try.dim[a] = (int8_t)d;
		if (shape->dimensions[d] > largest && layout_fits(m, shape, &try)) {
			largest = shape->dimensions[d];
			best = try;
		}
	}
	if (largest)
		shard_set(s, config, site, &best);
}

/* Splits weights by a rule of pairs.c over the axes from `from` on; a moment is laid out as its weight. */
static void split_weights(struct space *s, uint8_t *config, uint32_t from,
	void (*rule)(const struct space *s, int8_t *dim, uint32_t parts))
{
	const struct mesh *m = &shard_of(s)->mesh;
	int8_t *dim = MEM_NEW(s->graph->n_nodes + 1, int8_t);
	uint32_t parts = 1;

	for (uint32_t a = from; a < m->n; a++)
		parts *= m->axis[a].size;
	rule(s, dim, parts);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		uint32_t v = s->site[i].node;
		enum role role = shard_role(s, i);
		uint32_t weight = role == FOR_MOMENT ? purpose_of(s, v)->owner : v;
		if ((role != FOR_WEIGHT && role != FOR_MOMENT) || dim[weight] < 0)
			continue;
		struct layout l = split(dim[weight], from, m->n);
		shard_set(s, config, i, &l);
	}
	mem_free(dim);
}

static void fill_none(struct space *s, uint8_t *config)
{
	memset(config, 0, s->n_sites);
}

static void fill_data(struct space *s, uint8_t *config)
{
	split_data(s, config, shard_of(s)->mesh.n);
}

static void fill_zero(struct space *s, uint8_t *config)
{
	fill_data(s, config);
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (shard_role(s, i) == FOR_MOMENT)
			shard_split_largest(s, config, i, 0, shard_of(s)->mesh.n);
}

static void fill_fsdp(struct space *s, uint8_t *config)
{
	fill_zero(s, config);
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (shard_role(s, i) == FOR_WEIGHT)
			shard_split_largest(s, config, i, 0, shard_of(s)->mesh.n);
}

static void fill_model(struct space *s, uint8_t *config)
{
	fill_none(s, config);
	split_weights(s, config, 0, shard_pairs);
}

static void fill_data_model(struct space *s, uint8_t *config)
{
	split_data(s, config, shard_of(s)->mesh.n - 1);
	split_weights(s, config, shard_of(s)->mesh.n - 1, shard_pairs);
}

static void fill_data_model_fsdp(struct space *s, uint8_t *config)
{
	uint32_t others = shard_of(s)->mesh.n - 1;

	fill_data_model(s, config);
	for (uint32_t i = 0; i < s->n_sites && others; i++)
		if (shard_role(s, i) == FOR_WEIGHT || shard_role(s, i) == FOR_MOMENT)
			shard_split_largest(s, config, i, 0, others);
}

/* Splits tables and their moments, by rows or by columns. */
static void split_tables(struct space *s, uint8_t *config, bool rows)
{
	fill_data(s, config);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		uint32_t v = s->site[i].node;
		enum role role = shard_role(s, i);
		const struct purpose *p = role == FOR_NOTHING ? NULL : purpose_of(s, v);
		if (!p || !(p->table || (role == FOR_MOMENT && purpose_of(s, p->owner)->table)))
			continue;
		struct layout l = split(rows ? 0 : (int8_t)(s->graph->node[v].rank - 1), 0, shard_of(s)->mesh.n);
		shard_set(s, config, i, &l);
	}
}

static void fill_tables_rows(struct space *s, uint8_t *config)
{
	split_tables(s, config, true);
}

static void fill_tables_columns(struct space *s, uint8_t *config)
{
	split_tables(s, config, false);
}

static void fill_experts(struct space *s, uint8_t *config)
{
	fill_data(s, config);
	split_weights(s, config, 0, shard_experts);
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (config[i] == 0 && (shard_role(s, i) == FOR_WEIGHT || shard_role(s, i) == FOR_MOMENT))
			shard_split_largest(s, config, i, 0, shard_of(s)->mesh.n);
}

/* Keeps what the program says itself; where it says nothing, splits data by examples. */
void shard_default(struct space *s, uint8_t *config)
{
	for (uint32_t v = 0; v < s->graph->n_nodes; v++)
		if (s->graph->node[v].proto->sharding) {
			fill_none(s, config);
			return;
		}
	fill_data(s, config);
}

const struct space_start shard_starts[] = {{"none", fill_none}, {"data", fill_data}, {"zero", fill_zero},
	{"fsdp", fill_fsdp}, {"model", fill_model}, {"data-model", fill_data_model},
	{"data-model-fsdp", fill_data_model_fsdp},
	{"tables-rows", fill_tables_rows}, {"tables-columns", fill_tables_columns},
	{"experts", fill_experts}, {0}};
