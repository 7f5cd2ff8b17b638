/*
 * options.h - the command-line options that `collect` and `search` share.
 *
 * Both measure programs on a device into a store, so a user who knows one command knows the other.
 * `set` is the program's own settings, whose members have the options' names: const char *db, *device, *space,
 * *cores, *objective; int64_t core, seed; double deadline; int measure; bool wait, force, raw, quiet, json.
 */
#ifndef LAB_OPTIONS_H
#define LAB_OPTIONS_H

#include "base/opt.h"
#include "device/backend.h"
#include "device/machine.h"
#include "space/space.h"

#define LAB_DEFAULTS .device = backend_first(), .space = space_kind_find(NULL, NULL)->name, .seed = 1, .core = -1, .cores = "1", \
	.deadline = 0

#define LAB_OPT_SPACE(set) OPT_STR(0, "space", &(set).space, "KIND", space_kind_forms())

#define LAB_OPTS_WHERE(set) \
	OPT_STR(0, "device", &(set).device, "NAME", "cpu, sim, cuda, or none (programs with a formula); cpu@VERSION or a path for another plugin"), \
	OPT_INT(0, "core", &(set).core, -1, 1023, "core to measure on, the first of several; -1: the least loaded"), \
	OPT_STR(0, "cores", &(set).cores, "N|all", "cores that programs run on: as many as yours will; all: all that this process may use"), \
	OPT_NUM(0, "deadline", &(set).deadline, 0, 1e6, \
		"seconds the device may take for an answer at most; 0: many times as long as such answers took before"), \
	OPT_FLAG(0, "wait", &(set).wait, "wait for the device or the store instead of failing"), \
	OPT_FLAG(0, "force", &(set).force, "write the store on a network file system all the same")

#define LAB_OPTS_HOW(set) \
	OPT_STR(0, "objective", &(set).objective, "QUANTITY", "what costs are of: seconds, bytes, cycles, formula; default: what the kind of " \
		"decision is about"), \
	OPT_ENUM(0, "measure", &(set).measure, "region|whole", "price a change by its regions, or by whole programs"), \
	OPT_FLAG(0, "raw", &(set).raw, "keep raw times in the store"), \
	OPT_INT('s', "seed", &(set).seed, 0, INT64_MAX, "random seed")

#define LAB_OPTS_TALK(set) \
	OPT_FLAG('q', "quiet", &(set).quiet, "no progress"), \
	OPT_FLAG(0, "json", &(set).json, "summary as JSON")

#endif
