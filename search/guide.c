/*
 * guide.c - scores, the best alpha percent, and what was tried.
 *
 * For each site a row of flags says which choices were tried since the last move near it. The best alpha
 * percent are found by partial selection, and only after scores changed. A move changes a handful of scores,
 * and a move is kept every few dozen evaluations, so this is cheap even with tens of thousands of sites.
 *
 * With `tied`, the sites of a class that have the same choice move together. The first of them leads: its
 * score is what they would save together, and the others have no flip of their own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "search/guide.h"

#define EACH 4.0     /* evaluations that a site to pick from gets, if their number is by the evaluations; */
#define WIDEST 25.0 /* ... percent of the sites at most: more would be no choice */

/* The sites of a class that have the same choice. */
struct stand {
	uint32_t first, n;
};

struct guide {
	const struct space *s;
	struct scorer scorer;
	struct guide_options o;
	uint8_t *config;
	uint8_t *tried;	     /* per site: a row of bits, one a choice */
	size_t row;	     /* bytes of one */
	float *score;	     /* per site: of its best untried flip; -INFINITY: none left */
	uint8_t *choice;     /* ... that flip */
	uint32_t *rank;	     /* sites, the best alpha percent in front */
	uint32_t n_top, n_left; /* in that front; sites with any flip left */
	double *class_seconds;	/* per tie class and pair of choices: measured on a copy; NAN: not yet */
	double sum_score, sum_seconds;
	struct stand *stand; /* tied: per tie class and choice */
	uint8_t *touched;    /* tied: per class, scratch */
	bool stale, moved;
	struct supposed {
		uint32_t site;
		uint8_t choice, bits;
		float score;
		size_t at; /* where in `tried` the bits are */
	} *supposed;
	size_t n_supposed, cap_supposed;
};

static size_t n_classes(const struct guide *g)
{
	return (size_t)g->s->n_ties * g->s->stride * g->s->stride;
}

struct guide *guide_new(const struct space *s, const struct scorer *scorer, const struct guide_options *o)
{
	struct guide *g = MEM_NEW(1, struct guide);
	size_t classes;

	*g = (struct guide){.s = s, .o = *o, .stale = true};
	if (scorer)
		g->scorer = *scorer;
	g->config = MEM_NEW(s->n_sites, uint8_t);
	g->row = (s->stride + 7) / 8;
	g->tried = MEM_NEW(s->n_sites * g->row, uint8_t);
	g->score = MEM_NEW(s->n_sites, float);
	g->choice = MEM_NEW(s->n_sites, uint8_t);
	g->rank = MEM_NEW(s->n_sites, uint32_t);
	g->stand = MEM_NEW((size_t)s->n_ties * s->stride, struct stand);
	g->touched = MEM_NEW(s->n_ties, uint8_t);
	classes = n_classes(g);
	g->class_seconds = mem_alloc(classes * sizeof *g->class_seconds);
	for (size_t i = 0; i < classes; i++)
		g->class_seconds[i] = NAN;
	return g;
}

void guide_free(struct guide *g)
{
	if (!g)
		return;
	mem_free(g->config);
	mem_free(g->tried);
	mem_free(g->score);
	mem_free(g->choice);
	mem_free(g->rank);
	mem_free(g->stand);
	mem_free(g->touched);
	mem_free(g->class_seconds);
	mem_free(g->supposed);
	mem_free(g);
}

static double *class_slot(const struct guide *g, uint32_t site, uint8_t from, uint8_t to)
{
	return &g->class_seconds[((size_t)g->s->site[site].tie * g->s->stride + from) * g->s->stride + to];
}

static bool matters(const struct guide *g, uint32_t site)
{
	return space_matters(g->s, site, g->o.quantity);
}

/* The score of one flip: measured on a copy if it was, predicted otherwise. */
static float flip_score(const struct guide *g, uint32_t site, uint8_t choice)
{
	double seen = *class_slot(g, site, g->config[site], choice);

	if (g->o.adapt && !isnan(seen) && g->sum_seconds > 0)
		return (float)(-seen * g->sum_score / g->sum_seconds);
	return g->scorer.score ? g->scorer.score(g->scorer.ctx, site, choice) : 0;
}

static struct stand *stand_of(const struct guide *g, uint32_t site)
{
	return &g->stand[(size_t)g->s->site[site].tie * g->s->stride + g->config[site]];
}

bool guide_leads(const struct guide *g, uint32_t site)
{
	return matters(g, site) && (!g->o.tied || stand_of(g, site)->first == site);
}

static bool was_tried(const struct guide *g, uint32_t site, uint8_t choice)
{
	return g->tried[site * g->row + choice / 8] >> choice % 8 & 1;
}

/* The best untried flip of a site. */
static void rate(struct guide *g, uint32_t site)
{
	g->score[site] = -INFINITY;
	for (uint8_t k = 0; k < g->s->site[site].choices && guide_leads(g, site); k++) {
		float score;
		if (k == g->config[site] || (g->o.adapt && was_tried(g, site, k)))
			continue;
		score = flip_score(g, site, k);
		if (score > g->score[site]) {
			g->score[site] = score;
			g->choice[site] = k;
		}
	}
	if (g->o.tied && g->score[site] > -INFINITY)
		g->score[site] *= (float)stand_of(g, site)->n;
	g->stale = true;
}

/* Counts anew which sites of each class have which choice. */
static void take_stands(struct guide *g)
{
	memset(g->stand, 0, (size_t)g->s->n_ties * g->s->stride * sizeof *g->stand);
	for (uint32_t i = 0; i < g->s->n_sites; i++)
		if (matters(g, i) && stand_of(g, i)->n++ == 0)
			stand_of(g, i)->first = i;
}

/* Rates the sites of classes that were moved: another site may lead now, and another number of sites. */
static void rate_touched(struct guide *g)
{
	for (uint32_t i = 0; i < g->s->n_sites; i++)
		if (g->touched[g->s->site[i].tie])
			rate(g, i);
	memset(g->touched, 0, g->s->n_ties);
}

void guide_move(struct guide *g, const uint8_t *config)
{
	const uint32_t *changed = NULL;
	uint32_t n = 0;

	if (g->scorer.move)
		changed = g->scorer.move(g->scorer.ctx, config, &n);
	for (uint32_t i = 0; i < g->s->n_sites; i++) { /* a site that moved may move again */
		if (config[i] == g->config[i] && g->moved && changed)
			continue;
		g->touched[g->s->site[i].tie] |= g->o.tied && config[i] != g->config[i];
		g->config[i] = config[i];
		memset(g->tried + i * g->row, 0, g->row);
		if (!g->o.tied)
			rate(g, i);
	}
	if (g->o.tied) {
		take_stands(g);
		if (!g->moved || !changed)
			memset(g->touched, 1, g->s->n_ties);
		rate_touched(g);
	}
	for (uint32_t i = 0; i < n; i++) {
		memset(g->tried + changed[i] * g->row, 0, g->row);
		rate(g, changed[i]);
	}
	g->moved = true;
}

/* Puts the `want` best of rank[0 .. n) in front: quickselect, expected O(n). */
static void select_top(const float *score, uint32_t *rank, uint32_t n, uint32_t want)
{
	uint32_t low = 0, high = n;

	while (high - low > 1) {
		float pivot = score[rank[low + (high - low) / 2]];
		uint32_t i = low, j = high - 1;
		for (;;) {
			while (score[rank[i]] > pivot)
				i++;
			while (score[rank[j]] < pivot)
				j--;
			if (i >= j)
				break;
			uint32_t t = rank[i];
			rank[i++] = rank[j];
			rank[j--] = t;
		}
		if (want <= j + 1 && j + 1 < high)
			high = j + 1;
		else if (i > low)
			low = i;
		else
			break;
	}
}

double guide_moves(const struct space *s, bool tied)
{
	return tied ? s->n_ties : s->n_sites;
}

double guide_alpha(double evaluations, double moves, double least)
{
	return fmax(least, fmin(100 * evaluations / EACH / moves, WIDEST));
}

static void refresh(struct guide *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->s->n_sites; i++)
		if (g->score[i] > -INFINITY)
			g->rank[n++] = i;
	g->n_left = n;
	g->n_top = (uint32_t)ceil(guide_moves(g->s, g->o.tied) * g->o.alpha / 100);
	if (g->n_top < 1)
		g->n_top = 1;
	if (g->n_top > n)
		g->n_top = n;
	if (g->scorer.score && g->n_top < n)
		select_top(g->score, g->rank, n, g->n_top);
	g->stale = false;
}

void guide_focus(struct guide *g, double alpha)
{
	g->stale |= alpha != g->o.alpha;
	g->o.alpha = alpha;
}

/*
 * One of the first n in rank, all alike: the one whose hash with the draw is lowest. A place counted in rank would do
 * as well, but then any site that comes or goes moves all others, and what is picked could not be foreseen.
 */
static uint32_t draw_site(const struct guide *g, uint32_t n, struct rng *r)
{
	uint64_t draw = rng_u64(r), low = UINT64_MAX;
	uint32_t site = g->rank[0];

	for (uint32_t i = 0; i < n; i++) {
		uint64_t h = hash_mix(draw, g->rank[i]);
		if (h < low) {
			low = h;
			site = g->rank[i];
		}
	}
	return site;
}

bool guide_pick(struct guide *g, struct rng *r, uint32_t *site, uint8_t *choice)
{
	bool anywhere = !g->scorer.score || 100 * rng_unit(r) < g->o.explore;

	if (g->stale)
		refresh(g);
	if (g->n_left == 0)
		return false;
	*site = draw_site(g, anywhere ? g->n_left : g->n_top, r);
	*choice = g->choice[*site];
	if (!g->scorer.score) { /* nothing speaks for any: another choice at random */
		*choice = (uint8_t)rng_below(r, g->s->site[*site].choices - 1u);
		*choice = (uint8_t)(*choice + (*choice >= g->config[*site]));
	}
	return true;
}

bool guide_knows_all(const struct guide *g)
{
	return !g->stale && g->n_left == 0;
}

static int by_draw(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint32_t guide_pick_many(struct guide *g, struct rng *r, uint32_t want, uint32_t *site, uint8_t *choice)
{
	uint64_t draw = rng_u64(r);
	struct draw {
		uint64_t hash;
		uint32_t site;
	} *drawn;
	uint32_t front, n = 0;

	if (g->stale)
		refresh(g);
	if (!g->scorer.score || g->n_left == 0)
		return 0;
	front = want < g->n_left / 2 ? 2 * want : g->n_left;
	front = front > g->n_top ? front : g->n_top;
	select_top(g->score, g->rank, g->n_left, front);
	drawn = MEM_NEW(front, struct draw);
	for (uint32_t i = 0; i < front; i++)
		if (g->score[g->rank[i]] > 0)
			drawn[n++] = (struct draw){hash_mix(draw, g->rank[i]), g->rank[i]};
	select_top(g->score, g->rank, front, g->n_top);
	if (n)
		qsort(drawn, n, sizeof *drawn, by_draw);
	n = n < want ? n : want;
	for (uint32_t i = 0; i < n; i++) {
		site[i] = drawn[i].site;
		choice[i] = g->choice[drawn[i].site];
	}
	mem_free(drawn);
	return n;
}

double guide_worth(const struct guide *g, uint32_t site)
{
	return g->scorer.score ? (double)g->score[site] : 0;
}

bool guide_rates(const struct guide *g)
{
	return g->scorer.rate;
}

float guide_rate(const struct guide *g, const uint8_t *from, const uint8_t *to)
{
	return g->scorer.rate(g->scorer.ctx, from, to);
}

float guide_best(const struct guide *g)
{
	float best = -INFINITY;

	for (uint32_t i = 0; i < g->s->n_sites; i++)
		best = g->score[i] > best ? g->score[i] : best;
	return best;
}

void guide_tell(struct guide *g, uint32_t site, uint8_t choice, double seconds)
{
	g->tried[site * g->row + choice / 8] |= (uint8_t)(1u << choice % 8);
	if (!g->o.adapt)
		return;
	if (!isnan(seconds) && g->scorer.score) {
		double *slot = class_slot(g, site, g->config[site], choice);
		g->sum_score += fabs((double)g->scorer.score(g->scorer.ctx, site, choice));
		g->sum_seconds += fabs(seconds);
		*slot = seconds;
	}
	if (isnan(seconds) || !g->scorer.learn) {
		rate(g, site);
		return;
	}
	g->scorer.learn(g->scorer.ctx, site, choice, seconds);
	for (uint32_t i = 0; i < g->s->n_sites; i++)
		rate(g, i);
}

void guide_suppose(struct guide *g, uint32_t site, uint8_t choice)
{
	size_t at = site * g->row + choice / 8;

	MEM_GROW(&g->supposed, &g->cap_supposed, g->n_supposed + 1);
	g->supposed[g->n_supposed++] = (struct supposed){site, g->choice[site], g->tried[at], g->score[site], at};
	g->tried[at] |= (uint8_t)(1u << choice % 8);
	if (g->o.adapt)
		rate(g, site);
}

void guide_recall(struct guide *g)
{
	g->stale |= g->n_supposed > 0;
	while (g->n_supposed) {
		const struct supposed *s = &g->supposed[--g->n_supposed];
		g->tried[s->at] = s->bits;
		g->choice[s->site] = s->choice;
		g->score[s->site] = s->score;
	}
}

struct scored {
	float score;
	uint32_t site;
};

static int by_score(const void *a, const void *b)
{
	const struct scored *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return (x->site > y->site) - (x->site < y->site);
}

void guide_order(struct guide *g, uint32_t *sites)
{
	struct scored *v = MEM_NEW(g->s->n_sites, struct scored);

	for (uint32_t i = 0; i < g->s->n_sites; i++)
		v[i] = (struct scored){g->score[i], i};
	qsort(v, g->s->n_sites, sizeof *v, by_score);
	for (uint32_t i = 0; i < g->s->n_sites; i++)
		sites[i] = v[i].site;
	mem_free(v);
}

#define SUMS(F) F(f64, sum_score) F(f64, sum_seconds)

/* The few slots that were measured. */
static void save_classes(const struct guide *at, struct buf *out)
{
	uint32_t n = 0;

	for (size_t i = 0; i < n_classes(at); i++)
		n += isnan(at->class_seconds[i]) ? 0u : 1u;
	SUMS(FIELD_SAVE)
	buf_u32(out, n);
	for (size_t i = 0; i < n_classes(at); i++)
		if (!isnan(at->class_seconds[i])) {
			buf_u64(out, i);
			buf_f64(out, at->class_seconds[i]);
		}
}

static void load_classes(struct guide *at, struct cursor *in)
{
	SUMS(FIELD_LOAD)
	for (uint32_t n = cursor_count(in, 16); n--;) {
		uint64_t i = cursor_u64(in);
		double seconds = cursor_f64(in);
		if (in->bad || i >= n_classes(at))
			in->bad = true;
		else
			at->class_seconds[i] = seconds;
	}
}

/* Scores are saved too, because a site's score is from when it was rated; without a scorer they follow from `tried`. */
void guide_save(const struct guide *g, struct buf *out)
{
	buf_blob(out, g->tried, g->s->n_sites * g->row);
	if (!g->scorer.score)
		return;
	save_classes(g, out);
	buf_blob(out, g->choice, g->s->n_sites);
	for (uint32_t i = 0; i < g->s->n_sites; i++)
		buf_f64(out, (double)g->score[i]);
	if (g->scorer.save)
		g->scorer.save(g->scorer.ctx, out);
}

void guide_load(struct guide *g, struct cursor *in)
{
	const uint8_t *tried, *choice;
	size_t n;

	tried = cursor_blob(in, &n);
	if ((in->bad |= n != g->s->n_sites * g->row))
		return;
	memcpy(g->tried, tried, n);
	for (uint32_t i = 0; i < g->s->n_sites; i++)
		rate(g, i);
	if (!g->scorer.score)
		return;
	load_classes(g, in);
	choice = cursor_blob(in, &n);
	if ((in->bad |= n != g->s->n_sites))
		return;
	for (uint32_t i = 0; i < g->s->n_sites; i++) {
		in->bad |= choice[i] >= g->s->site[i].choices;
		g->choice[i] = choice[i];
		g->score[i] = (float)cursor_f64(in);
	}
	if (g->scorer.load)
		g->scorer.load(g->scorer.ctx, in);
}
