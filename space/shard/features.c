/*
 * features.c - what a learner sees of layouts: the loads of a device (guess.h), before a move and after it.
 *
 * Loads are relative to what the program would take if all of it were divided evenly and nothing were sent (the grain).
 * So what is learnt on small programs and few devices says something about large programs and many. A move may be one
 * flip or a scheme of a hundred; to the learner both are the same: loads before, loads after.
 */
#include "space/shard/guess.h"

#include <math.h>

static const struct space_feature contexts[] = {
	{"part", "1 a weight, 2 a moment, 3 data, 4 a product, 0 anything else", SCALE_PLAIN},
	{"parts", "log2 of how many parts it is in", SCALE_PLAIN},
	{"alike", "tensors that are laid out with it", SCALE_SIZE},
	{"bytes", "seconds that a device reads its part, in thousandths of the grain", SCALE_SIZE},
	{"table", "1 if rows are looked up in it", SCALE_PLAIN},
};
static const struct space_feature effects[] = {
	{"work", "log2 of what products take over the grain", SCALE_PLAIN},
	{"summed", "sums over devices, in hundredths of the grain", SCALE_SIZE},
	{"moved", "what is moved between layouts, in hundredths of the grain", SCALE_SIZE},
	{"weights", "reading and replacing weights, in hundredths of the grain", SCALE_SIZE},
	{"moments", "likewise", SCALE_SIZE},
	{"tables", "likewise", SCALE_SIZE},
	{"data", "reading data, in hundredths of the grain", SCALE_SIZE},
	{"sent", "log2 of 1 plus all that is sent over the grain", SCALE_PLAIN},
	{"whole", "log2 of everything over the grain", SCALE_PLAIN},
	{"laid", "the work of products with layouts of their own, in hundredths of the grain", SCALE_SIZE},
};
#define N_CONTEXTS (sizeof contexts / sizeof *contexts)
#define N_EFFECTS (sizeof effects / sizeof *effects)
const struct space_features shard_features = {contexts, effects, N_CONTEXTS, N_EFFECTS};

static double sum_of(const struct loads *g)
{
	double sum = 0;

	for (int k = 0; k < LOAD_COUNT; k++)
		sum += g->of[k];
	return sum;
}

double shard_grain(const struct space *s, enum quantity q)
{
	struct shard *h = shard_of(s);

	if (h->grain <= 0) {
		uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
		struct loads g;
		shard_guess(s, config, &g);
		h->grain = fmax(sum_of(&g) / h->mesh.devices, 1e-9);
		mem_free(config);
	}
	return q == QUANTITY_SECONDS ? h->grain : 1;
}

void shard_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out)
{
	const struct shard *h = shard_of(s);
	double grain = shard_grain(s, QUANTITY_SECONDS);

	for (uint32_t k = 0; k < n; k++, out += N_CONTEXTS) {
		uint32_t i = s->site_of[nodes[k]];
		double bytes = (double)s->graph->node[nodes[k]].bytes, parts = 1;
		struct layout l;
		out[0] = out[2] = out[4] = 0;
		if (i != NONE) {
			enum role role = shard_role(s, i);
			shard_layout(s, i, config[i], &l);
			parts = layout_parts(&h->mesh, &l);
			out[0] = !h->place[i].parameter ? 4 : role == FOR_WEIGHT ? 1 : role == FOR_MOMENT ? 2 : role ==
				FOR_DATA ? 3 : 0;
			out[2] = (float)h->place[i].n;
			out[4] = h->place[i].parameter && purpose_of(s, nodes[k])->table;
		}
		out[1] = (float)log2(parts);
		out[3] = (float)(1000 * bytes / parts / 800e9 / grain);
	}
}

static void write_effect(const struct space *s, const uint8_t *config, float *out)
{
	double grain = shard_grain(s, QUANTITY_SECONDS), sent;
	struct loads g;

	shard_guess(s, config, &g);
	sent = g.of[LOAD_SUMMED] + g.of[LOAD_MOVED];
	out[0] = (float)log2(fmax(g.of[LOAD_WORK] / grain, 1e-6));
	out[1] = (float)(100 * g.of[LOAD_SUMMED] / grain);
	out[2] = (float)(100 * g.of[LOAD_MOVED] / grain);
	out[3] = (float)(100 * g.of[LOAD_WEIGHTS] / grain);
	out[4] = (float)(100 * g.of[LOAD_MOMENTS] / grain);
	out[5] = (float)(100 * g.of[LOAD_TABLES] / grain);
	out[6] = (float)(100 * g.of[LOAD_DATA] / grain);
	out[7] = (float)log2(1 + sent / grain);
	out[8] = (float)log2(fmax(sum_of(&g) / grain, 1e-6));
	out[9] = (float)(100 * g.laid / grain);
}

void shard_effect_of(struct space *s, const uint8_t *from, const uint8_t *to, float *out)
{
	write_effect(s, from, out);
	write_effect(s, to, out + N_EFFECTS);
}

void shard_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out)
{
	uint8_t was = config[site];

	write_effect(s, config, out);
	config[site] = choice;
	write_effect(s, config, out + N_EFFECTS);
	config[site] = was;
}
