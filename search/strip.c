/*
 * strip.c - asks the estimator for the seconds of each instruction, and draws them.
 */
#include "search/strip.h"

#include <string.h>
#include "base/page.h"
#include "device/estimate.h"
#include "graph/collective.h"

#define WIDTH 700
#define HEIGHT 22

static const struct {
	const char *name, *colour;
} whats[STRIP_WHATS] = {{"products", PAGE_BLUE}, {"exchanges", "#b3372f"}, {"all else", PAGE_GREY}};

static enum strip_what what_of(const struct graph *g, uint32_t v, struct spread spread)
{
	struct exchange e;

	if (collective_read(g, v, spread, &e))
		return STRIP_EXCHANGE;
	return opcode_facts(g->node[v].opcode)->class == CLASS_HEAVY ? STRIP_PRODUCT : STRIP_REST;
}

double strip_seconds(const struct strip *s)
{
	double sum = 0;

	for (int k = 0; k < STRIP_WHATS; k++)
		sum += s->sum[k];
	return sum;
}

/* Adds what a span of time has to the pieces that it touches. */
static void spend(double share[STRIP_PIECES][STRIP_WHATS], double from, double to, double piece, enum strip_what what)
{
	for (uint32_t i = (uint32_t)(from / piece); i < STRIP_PIECES && (double)i * piece < to; i++) {
		double begin = (double)i * piece, end = begin + piece;
		share[i][what] += (to < end ? to : end) - (from > begin ? from : begin);
	}
}

void strip_read(struct strip *s, const struct graph *g, const struct device_info *device)
{
	const struct estimator *e = estimator_find(device->family, device->spread);
	const char *target = strchr(device->backend, ':');
	double (*share)[STRIP_WHATS], *seconds, at = 0;

	*s = (struct strip){{0}, {0}};
	if (!e || !e->each || !target)
		return;
	seconds = MEM_NEW(g->n_nodes + 1, double);
	share = mem_zalloc(STRIP_PIECES, sizeof *share);
	e->each(g, target + 1, device->spread, seconds);
	for (uint32_t v = 0; v < g->n_nodes; v++)
		s->sum[what_of(g, v, device->spread)] += seconds[v];
	for (uint32_t v = 0; v < g->n_nodes && strip_seconds(s) > 0; v++) {
		spend(share, at, at + seconds[v], strip_seconds(s) / STRIP_PIECES, what_of(g, v, device->spread));
		at += seconds[v];
	}
	for (uint32_t i = 0; i < STRIP_PIECES; i++)
		for (uint8_t k = 1; k < STRIP_WHATS; k++)
			if (share[i][k] > share[i][s->piece[i]])
				s->piece[i] = k;
	mem_free(share);
	mem_free(seconds);
}

void strip_draw(const struct strip *s, const char *name, double longest, struct buf *out)
{
	double wide = strip_seconds(s) / longest * WIDTH / STRIP_PIECES;
	char text[QUANTITY_TEXT];

	if (strip_seconds(s) <= 0)
		return;
	buf_addf(out, "<tr><td style=\"white-space:nowrap\">%s</td><td style=\"width:100%%\"><svg "
		"viewBox=\"0 0 %d %d\" preserveAspectRatio=none style=\"width:100%%;height:%dpx;display:block\">", name,
		WIDTH, HEIGHT, HEIGHT);
	for (uint32_t i = 0, from = 0; i < STRIP_PIECES; i++) {
		if (i + 1 < STRIP_PIECES && s->piece[i + 1] == s->piece[from])
			continue;
		buf_addf(out, "<rect x=%.1f y=0 width=%.1f height=%d fill=\"%s\"/>", from * wide, (i + 1 - from) * wide,
			HEIGHT, whats[s->piece[from]].colour);
		from = i + 1;
	}
	buf_adds(out, "</svg>");
	for (int k = 0; k < STRIP_WHATS; k++)
		buf_addf(out, "%s<span style=\"color:%s\">&#9632;</span> %s %s", k ? ", " : "", whats[k].colour,
			whats[k].name, quantity_text(QUANTITY_SECONDS, s->sum[k], text));
	buf_adds(out, "</td></tr>\n");
}
