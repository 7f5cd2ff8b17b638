/*
 * pool.h - workers that compile and measure ahead of need, on cores of their own.
 *
 * Nearly all of an evaluation is compiling, on one core of many. So a caller that knows what will soon be needed says
 * so (a plan, in order), and other workers do it on other cores: they compile a module, which the device that measures
 * then loads, or compile and measure a pair of modules. This changes no result but by noise: what is done ahead would
 * have been done anyway, or is thrown away.
 *
 * Compilers cut parallel work by the cores that they may use, so a helper is pinned to as many as the measuring worker
 * is, to others. Where there are no others it shares them, and is stopped while something is timed. It begins nothing
 * on a core that another program has locked to measure on.
 *
 * On an accelerator one worker measures, and helpers only compile. Each is a client of the accelerator as well, which
 * has to have room for it, and whose compiler is itself parallel, so there are few.
 *
 * The device that measures is used by one thread, and so is its pool; the helpers are threads inside.
 */
#ifndef DEVICE_POOL_H
#define DEVICE_POOL_H

#include "device/device.h"

/* Executables of one program, compiled ahead. */
struct ahead { /* all zero is empty */
	struct buf executable[AGENDA_COPIES];
	uint32_t n;
	double seconds; /* that compiling one took */
};
void ahead_release(struct ahead *a);

struct pool;
/*
 * Helpers for a device that was opened by `o` and is pinned to these cores (n 0: to none). `beside`: it computes on an
 * accelerator, where the helpers must not. NULL: there are none.
 */
struct pool *pool_open(const struct device_options *o, const int *core, size_t n, bool beside);
void pool_close(struct pool *p); /* accepts NULL; ends what is being compiled */

uint32_t pool_helpers(const struct pool *p); /* accepts NULL: 0 */
/* What will be needed, in order; takes its modules. What was planned before and is not in it is forgotten. */
void pool_expect(struct pool *p, struct agenda *agenda);
/*
 * Returns when so many executables of each of these modules are there, as far as they are in the plan. Device `d`,
 * which would only wait, meanwhile compiles those that no helper has begun.
 */
void pool_gather(struct pool *p, struct device *d, const struct buf *const *module, size_t n, uint32_t copies);
/* Up to `most` executables of the module, as many as are there. */
void pool_take(struct pool *p, const void *module, size_t n, uint32_t most, struct ahead *out);
bool pool_measures(const struct pool *p); /* does it measure pairs, too? Accepts NULL */
/* device_measured: the pair with this key. */
bool pool_measured(struct pool *p, struct device *d, const uint64_t key[2], struct timing *out);
bool pool_foretells(struct pool *p, const uint64_t key[2], struct foretold *out); /* device_foretells */
bool pool_is_ahead(struct pool *p, const uint64_t key[2]); /* device_is_ahead */
void pool_account(struct pool *p, struct helped *out); /* device_helped */
/* Called with true before something is timed, and with false after it: helpers that would disturb it are stopped. */
void pool_hold(struct pool *p, bool hold);
/* The same where a helper times something: it waits until few others do, and nobody on its cores. */
struct helper;
void helper_hold(struct helper *h, bool hold);

#endif
