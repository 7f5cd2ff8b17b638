/*
 * settings.h - what the user asked of `search` on its command line.
 */
#ifndef SEARCH_SETTINGS_H
#define SEARCH_SETTINGS_H

#include "base/opt.h"
#include "space/space.h"

#define SETTINGS_OWN 8
#define SETTINGS_BY_PARTS \
	"--unverified runs no whole program: it starts from the default, and measures by regions"
#define SETTINGS_BETTER "auto" /* --start: by a rule of the kind if that is much faster, else at the default */

struct settings { /* members have the names of the options */
	const char *cores, *graph, *model, *db, *cache, *out, *device, *space, *from, *start, *objective, *inputs;
	struct opt_list limits, given; /* given: the names of all options on the command line */
	int64_t budget, seed, hops, core, replicas, partitions, drift_checks, jobs, steps;
	double deadline, seconds, alpha, explore, verdict_seconds, kernel_us;
	int strategy, propose, measure, by, placing, goal;
	bool strategy_named, device_named; /* did the user name one? */
	bool kinds_chosen; /* by us, not by the user (lead.h) */
	bool kinds_open;   /* the program has to be opened before we can */
	bool json, quiet, quiet_pairs, resume, wait, force, tied, adapt, bundles, raw, unverified, codegen, weld;
	/* values of the options that kinds of decision add, in the order of space_option_next */
	const char *own[SETTINGS_OWN];
	char kind[SPACE_KIND_ROOM];    /* `space` with these, or as it was chosen */
};

bool settings_begin_elsewhere(const struct settings *s); /* does --start name anything but the default and auto? */

/* Refuses options that have no effect on the device, once it is settled. */
int settings_fit_device(const struct settings *s, struct err *err);

/* Fills the settings. 0: go on; 1: the user asked for help and has it; -1 with a sentence. */
int search_parse(struct settings *s, int argc, char **argv, struct err *err);
void search_settings_release(struct settings *s);
const char *search_strategy_name(int strategy); /* as in --strategy */

#endif
