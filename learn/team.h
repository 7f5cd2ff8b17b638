/*
 * team.h - a few threads that share out numbered items of work.
 *
 *	struct team *t = team_new(4);
 *	team_run(t, shard, ctx, 8);	// shard(ctx, item, member) for items 0..7, in any order, then returns
 *	team_free(t);
 *
 * The caller is member 0 and works too, so team_new(1) starts no thread. Which member gets an item is a
 * matter of luck: results must not depend on it, so what an item produces has a place of its own, and
 * `member` is only for scratch memory.
 */
#ifndef LEARN_TEAM_H
#define LEARN_TEAM_H

#include <stdint.h>

struct team;
struct team *team_new(uint32_t members);
uint32_t team_size(const struct team *t);
void team_run(struct team *t, void (*work)(void *ctx, uint32_t item, uint32_t member), void *ctx, uint32_t items);
void team_free(struct team *t); /* accepts NULL */

#endif
