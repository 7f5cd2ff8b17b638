/*
 * collective.c - reads which devices a collective operation connects, and counts the bytes that each sends.
 */
#include "graph/collective.h"

#include <string.h>
#include "hlo/names.h"

static const struct {
	const char *opcode, *started;
} names[COLLECTIVES] = {{"all-reduce", "all-reduce-start"}, {"all-gather", "all-gather-start"}, {"reduce-scatter", ""},
	{"all-to-all", ""}, {"collective-permute", "collective-permute-start"}};

const char *collective_name(enum collective c)
{
	return names[c].opcode;
}

static bool find_kind(const char *opcode, enum collective *out)
{
	for (int c = 0; c < COLLECTIVES; c++)
		if (strcmp(opcode, names[c].opcode) == 0 ||
			(*names[c].started && strcmp(opcode, names[c].started) == 0)) {
			*out = (enum collective)c;
			return true;
		}
	return false;
}

/*
 * Finds how many devices are in a group. The instruction has a list of groups, or a grid of them; without either, all
 * are one group. Without a channel the numbers in it are replicas, and each partition exchanges with the same partition
 * of the other replicas. With a channel the numbers are devices; or replicas, all of whose partitions take part; or, in
 * an exchange of pieces, partitions.
 */
static uint32_t group_of(const Hlo__HloInstructionProto *in, enum collective kind, struct spread spread)
{
	uint32_t replicas = spread_replicas(spread), partitions = spread_partitions(spread),
		devices = replicas * partitions;
	bool pieces = kind == ALL_TO_ALL || kind == COLLECTIVE_PERMUTE;
	uint32_t all = !in->channel_id ? replicas : pieces ? partitions : devices;
	uint32_t each = in->channel_id && !pieces && !in->use_global_device_ids ? partitions : 1;
	const Hlo__CollectiveDeviceList *l = in->collective_device_list;
	const Hlo__IotaReplicaGroupList *iota = l && l->iota_replica_group_list ? l->iota_replica_group_list
		: in->iota_collective_device_list;
	int64_t n = 0;

	if (in->n_replica_groups && in->replica_groups[0]->n_replica_ids)
		n = (int64_t)in->replica_groups[0]->n_replica_ids;
	else if (l && l->n_replica_groups && l->replica_groups[0]->n_replica_ids)
		n = (int64_t)l->replica_groups[0]->n_replica_ids;
	else if (iota && iota->num_devices_per_group > 0)
		n = iota->num_devices_per_group;
	return n > 0 && n <= devices / each ? (uint32_t)n * each : all;
}

/* Is an all-reduce only read in parts, one for each device? Compilers make a reduce-scatter of it. */
static bool is_scattered(const struct graph *g, uint32_t v, uint32_t group)
{
	if (g->node[v].n_users == 0 || g->node[v].flags & NODE_ROOT)
		return false;
	for (uint32_t k = 0; k < g->node[v].n_users; k++) {
		const struct node *u = &g->node[node_users(g, v)[k]];
		if (u->opcode != OP_DYNAMIC_SLICE || u->elements * group > g->node[v].elements)
			return false;
	}
	return true;
}

bool collective_read(const struct graph *g, uint32_t v, struct spread spread, struct exchange *out)
{
	const struct node *n = &g->node[v];
	double given = 0, part;

	if (!find_kind(n->proto->opcode, &out->kind))
		return false;
	for (uint32_t k = 0; k < n->n_operands; k++)
		given += (double)g->node[node_operands(g, v)[k]].bytes;
	out->group = group_of(n->proto, out->kind, spread);
	part = (double)(out->group - 1) / out->group;
	if (out->kind == ALL_REDUCE && is_scattered(g, v, out->group))
		out->kind = REDUCE_SCATTER;
	out->bytes = out->kind == ALL_REDUCE ? 2 * part * given :
		     out->kind == ALL_GATHER ? (out->group - 1) * given :
		     out->kind == COLLECTIVE_PERMUTE ? given : part * given;
	return true;
}

/* Is there an earlier node with its channel? Compilers cut an exchange into a chain of fusions, which share it. */
static bool is_counted(const struct graph *g, uint32_t v, struct names *channels)
{
	const int64_t *channel = &g->node[v].proto->channel_id;

	return g->comp[g->node[v].comp].role == ROLE_FUSED && *channel &&
	       !names_put(channels, (const char *)channel, sizeof *channel, v);
}

void collective_sum(const struct graph *g, struct spread spread, struct exchanges *out)
{
	struct names channels = {0};
	struct exchange e;

	*out = (struct exchanges){{0}, {0}};
	for (uint32_t c = 0; c < g->n_comps; c++) {
		const struct comp *comp = &g->comp[c];
		if (comp->role > ROLE_FUSED)
			continue;
		for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++)
			if (collective_read(g, v, spread, &e) && !is_counted(g, v, &channels)) {
				out->bytes[e.kind] += comp->trips * e.bytes;
				out->count[e.kind] += comp->trips;
			}
	}
	names_release(&channels);
}
