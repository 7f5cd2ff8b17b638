/*
 * sight.h - writes the features of sites and flips (learn/feature.h) for clients.
 *
 * So an optimiser that learns sees what our own models see, and need not parse programs. The names are those of
 * schemas/feature.def, or those that the kind of decision defines itself.
 */
#ifndef ARENA_SIGHT_H
#define ARENA_SIGHT_H

#include "base/json.h"
#include "learn/feature.h"

/* Writes "names" and "rows": a row of features of every site's node under `config`. */
void sight_sites(struct scene *g, const uint8_t *config, struct json *j);
/*
 * Writes "names", "sites" and "rows": for every site in which `to` differs from `from` a row of features of that flip
 * alone. `from` is left as it was.
 */
void sight_flips(struct scene *g, uint8_t *from, const uint8_t *to, struct json *j);

#endif
