/*
 * dataset.h - from databases to examples: every usable sample of every run, replayed.
 *
 * Graphs and spaces are rebuilt from what the store keeps, and compared with its hashes. What cannot be used is left
 * out, counted, and reported in `notes`: runs of another backend or kind of cost than the rest, a space in which this
 * version sees other decisions, samples without two comparable costs. If nothing is usable, that is an error. Single
 * flips that a search tried are samples, too; so are its larger moves, of kinds that can tell what these do.
 *
 * A run is known by its uuid. One that is in several databases, because they were merged or copied, is learnt from
 * once. A copy that went on adds the steps that it has beyond.
 *
 * A store outlives versions of the compiler. The model is for the version of the newest run in the first database. What
 * another version measured counts less: what costs time in one mostly does in the next, but not all of it.
 *
 *	struct dataset ds;
 *	dataset_init(&ds, radius);
 *	dataset_read(&ds, "runs.sqlite", &o, &err);  ...	// more databases
 *	dataset_finish(&ds, &err);
 *	train(&ds.data, ...);
 *	dataset_release(&ds);
 */
#ifndef LEARN_DATASET_H
#define LEARN_DATASET_H

#include "base/outcome.h"
#include "base/progress.h"
#include "learn/data.h"

struct dataset_options {
	const char *backend;	   /* only this one; NULL: that of the first usable run */
	const char *cost;	   /* name of a cost kind; NULL: that of the first usable run */
	uint64_t limit;		   /* samples per graph; 0: all */
	double part_seconds;	   /* for samples by region: see data.h; negative: what is known of the backend */
	double other_weight;	   /* what a sample counts that another version of the compiler measured; 0: nothing */
	enum progress_mode talk;
};
#define DATASET_DEFAULTS {.part_seconds = -1, .other_weight = 0.3, .talk = PROGRESS_QUIET}

struct dataset {
	struct data data;
	struct source **source; /* per graph of data: what keeps its space alive */
	size_t n_sources, cap_sources;
	char *backend, *space;	/* of what was read; NULL before */
	char *version;		/* of the compiler that the model is for; NULL before */
	enum cost_kind kind;
	enum quantity quantity;
	struct buf runs;	/* JSON array of the runs read */
	struct buf machines;	/* what the runs that gave samples were measured on, joined by "; " */
	double since, until;	/* Unix seconds: when the first of those began, when the last ended */
	struct buf notes;	/* lines for people: what was left out */
	uint32_t n_runs;
	struct run_read { char *uuid; uint32_t steps; } *read; /* runs, and how many steps of each were read so far */
	size_t n_read, cap_read;
	uint32_t n_again;	/* how often a run was met that was read before */
	uint64_t n_samples, n_other; /* of these by other versions */
};

void dataset_init(struct dataset *ds, uint32_t radius);
int dataset_read(struct dataset *ds, const char *path, const struct dataset_options *o, struct err *err);
int dataset_finish(struct dataset *ds, struct err *err);
void dataset_release(struct dataset *ds);

#endif
