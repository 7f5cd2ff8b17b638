/*
 * together.c - tells which tensors had better change their layout together.
 *
 * The partitioner moves a value between two layouts wherever its maker and its reader disagree. So many layouts are
 * good only together: one tensor alone gains nothing, because what it saves is paid at its neighbours. A search that
 * tries one tensor at a time would never get there. Two groups follow from what the tensors are for:
 *
 *	the moments of a weight are laid out as the weight, because its update reads all of them element by element;
 *	data that are split by examples are all split so, because examples stay together.
 *
 * They follow only in this direction: a moment may still be split alone, as people do who keep weights whole.
 */
#include "space/shard/own.h"

static bool is_moment_of(const struct space *s, uint32_t i, uint32_t weight)
{
	const struct purpose *p = purpose_of(s, s->site[i].node);

	return p->role == FOR_MOMENT && s->site_of[p->owner] == weight;
}

/* Are both data for the same examples? */
static bool is_data_beside(const struct space *s, uint32_t i, uint32_t data)
{
	return purpose_of(s, s->site[i].node)->role == FOR_DATA &&
	       shape_of(s, s->site[i].node)->dimensions[0] == shape_of(s, s->site[data].node)->dimensions[0];
}

/* Leaves only the axes that split the first dimension. */
static void keep_examples(struct layout *l)
{
	for (int a = 0; a < MESH_AXES; a++)
		if (l->dim[a] > 0)
			l->dim[a] = -1;
}

uint32_t shard_together(struct space *s, const uint8_t *config, uint32_t site, uint8_t choice, uint32_t *sites,
	uint8_t *choices, uint32_t most)
{
	const struct shard *h = shard_of(s);
	struct layout l;
	enum role role;
	uint32_t n = 0;

	if (!h->place[site].parameter)
		return 0;
	shard_layout(s, site, choice, &l);
	role = purpose_of(s, s->site[site].node)->role;
	if (role == FOR_DATA)
		keep_examples(&l);
	for (uint32_t i = 0; i < s->n_sites && n < most; i++) {
		if (i == site || !h->place[i].parameter || h->place[i].written)
			continue;
		if (role == FOR_WEIGHT ? !is_moment_of(s, i, site) : role != FOR_DATA || !is_data_beside(s, i, site))
			continue;
		if (!layout_fits(&h->mesh, shape_of(s, s->site[i].node), &l) || shard_choice(s, i, &l) == config[i])
			continue;
		sites[n] = i;
		choices[n++] = shard_choice(s, i, &l);
	}
	return n;
}
