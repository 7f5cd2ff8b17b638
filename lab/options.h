/*
 * options.h - the command-line options that `collect` and `search` share.
 *
 * Both measure programs on a device into a store, so a user who knows one command knows the other.
 * `set` is the program's own settings, whose members have the options' names: const char *db, *device, *space,
 * *cores, *objective; int64_t core, seed, replicas, partitions; double deadline; int measure; bool wait, force, raw,
 * quiet, json.
 */
#ifndef LAB_OPTIONS_H
#define LAB_OPTIONS_H

#include "base/opt.h"
#include "device/backend.h"
#include "device/machine.h"
#include "space/space.h"

#define LAB_DEFAULTS .device = backend_first(), .space = space_kind_find(NULL, NULL)->name, .seed = 1, .core = -1, \
	.replicas = 1, .partitions = 1, .deadline = 0

#ifndef LAB_CORES_UNSAID
#define LAB_CORES_UNSAID "; default: all that this process may use, as the program itself would; with --core, one"
#endif

#ifndef LAB_JOBS_ZERO /* a command may do more with them */
#define LAB_JOBS_ZERO "none"
#endif

#ifndef LAB_SPACE_MORE
#define LAB_SPACE_MORE ""
#endif

#define LAB_OPT_SPACE(set) OPT_STR(0, "space", &(set).space, "KIND", space_kind_words(LAB_SPACE_MORE))

#define LAB_OPTS_SPREAD(set) \
	OPT_INT(0, "replicas", &(set).replicas, 1, 1024, \
		"how many copies of a program run together and exchange values, each on a device of its own; " \
		"for programs that reduce over replicas, as jax.pmap makes them"), \
	OPT_INT(0, "partitions", &(set).partitions, 1, 1024, \
		"into how many parts the compiler splits the program, each on a device of its own; " \
		"for programs that say how their values are sharded")

#define LAB_OPTS_WHERE(set) \
	OPT_STR(0, "device", &(set).device, "NAME", \
		backend_words("; none: no device, for problems that are priced by a formula; NAME@VERSION, or the " \
			"path of a plugin, for another version")), \
	OPT_INT(0, "core", &(set).core, -1, 1023, "the core to measure on, " \
		"or the first of several; -1: the least loaded"), \
	OPT_STR(0, "cores", &(set).cores, "N|all", \
		"how many cores programs run on: as many as your program will use, because gains differ; " \
		"all: all that this process may use" LAB_CORES_UNSAID), \
	LAB_OPTS_SPREAD(set), \
	OPT_NUM(0, "deadline", &(set).deadline, 0, 1e6, \
		"the most seconds that one compilation or measurement may take; 0: " \
		"many times as long as earlier ones took"), \
	OPT_FLAG(0, "wait", &(set).wait, "wait for the device and the store if others use them, instead of failing"), \
	OPT_FLAG(0, "force", &(set).force, \
		"use the store even on a network file system, whose locks may not work: at your own risk")

/* Of those who know what they will compile next: int64_t jobs, OPT_AUTO by default; bool quiet_pairs. */
#define LAB_OPTS_AHEAD(set) \
	OPT_INT_AUTO(0, "jobs", &(set).jobs, 0, 256, \
		"workers that compile and measure ahead on other cores, and how many of these a large program " \
		"is compiled on before that; auto: as many as the cores allow; 0: " LAB_JOBS_ZERO), \
	OPT_FLAG(0, "quiet-pairs", &(set).quiet_pairs, \
		"these workers only compile, and stand still while something is timed")

/* const char *cache */
#define LAB_OPT_CACHE(set) \
	OPT_STR(0, "cache", &(set).cache, "FILE", \
		"another store, which is only read: what was priced there on a machine like this one is not " \
		"measured again")

#define LAB_OPTS_HOW(set) \
	OPT_STR(0, "objective", &(set).objective, "QUANTITY", \
		"what costs are of: seconds, bytes, cycles, formula; default: what the kind of decision is about"), \
	OPT_ENUM(0, "measure", &(set).measure, "region|whole", \
		"price a change by small modules with what it changes, or by whole programs"), \
	OPT_FLAG(0, "raw", &(set).raw, "also keep every single timing in the store, not only their estimates"), \
	OPT_INT('s', "seed", &(set).seed, 0, INT64_MAX, "random seed")

#define LAB_OPTS_TALK(set) \
	OPT_FLAG('q', "quiet", &(set).quiet, "show no progress"), \
	OPT_FLAG(0, "json", &(set).json, "print the summary as JSON")

#endif
