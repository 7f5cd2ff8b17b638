/*
 * answer.c - shardings.json: the layouts by the names that a JAX user knows.
 *
 * A program that comes from JAX names its parameters by their path among the arguments ("params['layers'][0]['q']"), in
 * the metadata. Each gets its PartitionSpec as a list with an entry for each dimension: null, an axis, or several. So
 * does each part of the result that takes a parameter's place. Values inside are listed by the operation that computes
 * them.
 */
#include "space/shard/own.h"

#include "base/json.h"

static void add_spec(struct json *j, const struct mesh *m, const struct layout *l, uint32_t rank)
{
	uint32_t axis[MESH_AXES];

	json_array(j, "spec");
	for (uint32_t d = 0; d < rank; d++) {
		uint32_t n = layout_axes(m, l, d, axis);
		if (n > 1)
			json_array(j, NULL);
		for (uint32_t i = 0; i < n; i++)
			json_str(j, NULL, m->axis[axis[i]].name);
		if (n > 1)
			json_end(j);
		if (n == 0)
			json_str(j, NULL, NULL);
	}
	json_end(j);
}

const char *shard_name(const struct graph *g, uint32_t v)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;

	return in->metadata && in->metadata->op_name && *in->metadata->op_name ? in->metadata->op_name : in->name;
}

static void add_tensor(struct json *j, const struct space *s, uint32_t v, const struct layout *l)
{
	const struct graph *g = s->graph;

	json_object(j, NULL);
	json_str(j, "name", shard_name(g, v));
	json_str(j, "instruction", g->node[v].proto->name);
	if (g->node[v].opcode == OP_PARAMETER) {
		json_int(j, "parameter", g->node[v].proto->parameter_number);
		if (g->node[v].comp == g->entry && purpose_of(s, v)->out != NONE)
			json_uint(j, "result", purpose_of(s, v)->out);
	}
	json_array(j, "shape");
	for (size_t d = 0; d < shape_of(s, v)->n_dimensions; d++)
		json_int(j, NULL, shape_of(s, v)->dimensions[d]);
	json_end(j);
	add_spec(j, &shard_of(s)->mesh, l, g->node[v].rank);
	json_end(j);
}

static void add_tensors(struct json *j, const struct space *s, const uint8_t *config, bool parameters)
{
	const struct graph *g = s->graph;
	struct layout l;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		bool parameter = g->node[v].opcode == OP_PARAMETER && g->node[v].comp == g->entry;
		uint32_t site = s->site_of[v];
		if (parameter != parameters || g->node[v].dtype == DT_TUPLE)
			continue;
		bool said = site != NONE && shard_layout(s, site, config[site], &l);
		if (site == NONE || !said)
			l = layout_whole;
		if (said || (parameter && !g->node[v].proto->sharding))
			add_tensor(j, s, v, &l);
	}
}

void shard_answer(struct space *s, const uint8_t *config, struct buf *out)
{
	const struct mesh *m = &shard_of(s)->mesh;
	struct json j = {.out = out, .pretty = true};

	json_object(&j, NULL);
	json_str(&j, "kind", s->kind);
	json_array(&j, "mesh");
	for (uint32_t a = 0; a < m->n; a++) {
		json_object(&j, NULL);
		json_str(&j, "name", m->axis[a].name);
		json_uint(&j, "size", m->axis[a].size);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "arguments");
	add_tensors(&j, s, config, true);
	json_end(&j);
	json_array(&j, "values");
	add_tensors(&j, s, config, false);
	json_end(&j);
	json_end(&j);
}
