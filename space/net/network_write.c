/*
 * network_write.c - a net and its answers in the contest's form.
 */
#include "base/json.h"
#include "base/scan.h"
#include "space/net/network.h"

static void write_pair(struct json *j, int64_t a, int64_t b)
{
	json_array(j, NULL);
	json_int(j, NULL, a);
	json_int(j, NULL, b);
	json_end(j);
}

static void write_list(struct json *j, const int64_t *v, size_t n)
{
	json_array(j, NULL);
	for (size_t i = 0; i < n; i++)
		json_int(j, NULL, v[i]);
	json_end(j);
}

static void write_nodes(const struct network *net, struct json *j)
{
	json_object(j, "nodes");
	json_array(j, "intervals");
	for (uint32_t i = 0; i < net->n_nodes; i++)
		write_pair(j, net->begin[i], net->end[i]);
	json_end(j);
	json_array(j, "costs");
	for (uint32_t i = 0; i < net->n_nodes; i++)
		write_list(j, net->cost + net->first[i], network_choices(net, i));
	json_end(j);
	json_array(j, "usages");
	for (uint32_t i = 0; i < net->n_nodes; i++)
		write_list(j, net->usage + net->first[i], network_choices(net, i));
	json_end(j);
	json_end(j);
}

static void write_edges(const struct network *net, struct json *j)
{
	json_object(j, "edges");
	json_array(j, "nodes");
	for (uint32_t e = 0; e < net->n_edges; e++)
		write_pair(j, net->edge[e].a, net->edge[e].b);
	json_end(j);
	json_array(j, "costs");
	for (uint32_t e = 0; e < net->n_edges; e++)
		write_list(j, net->pair + net->edge[e].cost,
			(size_t)network_choices(net, net->edge[e].a) * network_choices(net, net->edge[e].b));
	json_end(j);
	json_end(j);
}

void network_write(const struct network *net, struct buf *out)
{
	struct json j = {.out = out};

	json_object(&j, NULL);
	json_object(&j, "problem");
	json_str(&j, "name", net->name);
	write_nodes(net, &j);
	write_edges(net, &j);
	if (net->limited)
		json_int(&j, "usage_limit", net->limit);
	json_end(&j);
	json_end(&j);
	buf_addch(out, '\n');
}

void network_write_answer(const struct network *net, const uint32_t *choice, struct buf *out)
{
	buf_addch(out, '[');
	for (uint32_t i = 0; i < net->n_nodes; i++)
		buf_addf(out, "%s%u", i ? ", " : "", choice[i]);
	buf_adds(out, "]\n");
}
