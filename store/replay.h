/*
 * replay.h - reads runs back: every step with the configuration in which it was taken.
 *
 * A step stores only what changed. The configuration is replayed from the keyframes, and every hash on the
 * way is checked. A chain that does not replay is an error; it never gives wrong numbers.
 *
 *	struct run_info *runs; size_t n;
 *	store_runs(s, &runs, &n, &err);
 *	struct replay *p = replay_open(s, runs[i].id, &err);
 *	struct step t;
 *	while ((rc = replay_next(p, &t, &err)) == 1)
 *		if (!t.is_trial) use(t.space, t.config, &t.sample);
 *	replay_close(p);
 *	run_infos_free(runs, n);
 */
#ifndef STORE_REPLAY_H
#define STORE_REPLAY_H

#include "store/run.h"

struct run_info {
	int64_t id, environment;
	char *uuid, *kind, *policy, *settings, *program, *host, *backend, *machine;
	char *version;		 /* of what was measured on: a plugin's, for one */
	enum cost_kind cost_kind;
	enum quantity quantity;
	enum run_state state;
	uint64_t seed;
	uint32_t steps, chains;
	double started, last;	 /* Unix seconds; last: end, or start of the last stretch */
};
int store_runs(struct store *s, struct run_info **out, size_t *n, struct err *err);
void run_infos_free(struct run_info *v, size_t n);

struct step {
	uint32_t step, chain;
	int64_t space;
	uint32_t n_sites;
	const uint8_t *config; /* the chain's, BEFORE the draw; valid until the next call */
	uint64_t hash;		/* of config */
	bool is_trial;		/* else a sample */
	struct sample sample;
	struct trial trial;	/* its flips are valid until the next call */
};
struct replay;
struct replay *replay_open(struct store *s, int64_t run, struct err *err);
/* Opens a replay that gives the steps from `step` on; it starts at the keyframes before. */
struct replay *replay_open_at(struct store *s, int64_t run, uint32_t step, struct err *err);
int replay_next(struct replay *p, struct step *out, struct err *err); /* 1, 0 at the end, -1 */
/* A chain's configuration after the last step read; NULL before the chain began. The step is not valid afterwards. */
const uint8_t *replay_config(struct replay *p, uint32_t chain, uint64_t *hash);
void replay_close(struct replay *p); /* accepts NULL */

#endif
