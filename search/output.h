/*
 * output.h - writes what a search leaves behind: a folder with all that is needed to use and to check the result.
 *
 *	tuned.pb	the program to compile: HloModuleProto with the decisions in it, or the original
 *			where the default is the answer
 *	default.pb	the program as it was given, HloModuleProto too
 *	options.txt	the compile options to use with it, name=value lines; empty for the default
 *	tuned.exe	the compiled program, where the plugin can write one
 *	config.json	every site by name with default and chosen, hash, environment, verdict
 *	report.html	the story for people, self-contained
 *	state		to go on from; gone once the search has used up its budget
 *
 * Before any of them is written, those that an earlier search left go away, also of other kinds of decision.
 * config.json comes last: a folder with it holds all of one answer. Files are written beside and renamed, so no file is
 * half a one. The state goes after that, so that a search killed while it writes can write all of them again.
 */
#ifndef SEARCH_OUTPUT_H
#define SEARCH_OUTPUT_H

#include "search/advisor.h"
#include "search/hunt.h"
#include "search/by_hand.h"
#include "search/screen.h"
#include "search/form.h"
#include "search/rival.h"
#include "search/trim.h"
#include "search/worth.h"
#include "search/verdict.h"

struct result { /* everything there is to tell */
	const struct hunt *hunt;
	const struct verdict *verdict;
	const struct device_info *device; /* NULL: a formula */
	const char *graph, *strategy;
	const struct advisor *advisor;
	const char *before; /* the folder of the kind that decided first, or NULL */
	const struct hunt *first; /* of a kind that was searched first, whether it found anything or not; or NULL */
	const struct by_hand *by_hand; /* made by hand, and what was found beside them */
	const struct worths *worth;     /* of each decision of that */
	const struct screen *screen;	/* what another device said to ask about */
	const struct rival_answer *rival; /* what it believes, if one chose */
	const struct trim *trim;	/* what was taken back for changing nothing */
	const struct form *form;	/* how its code is generated, and what is welded */
	double opening, judging; /* seconds that came before the search, and that the verdict took */
};

/*
 * Makes the folder, and keeps other searches out of it until what it returns is closed or the process ends, in whatever
 * way; -1 with a sentence, if there is another already.
 */
int output_hold(const char *dir, struct err *err);
/* Makes the folder and proves that it can be written. */
int output_prepare(const char *dir, struct err *err);
/* Removes what an earlier search left, but its state. */
int output_clear(const char *dir, struct err *err);
/*
 * Removes what a kind that others followed left in its folder in `dir`, and the folder, unless something else is in it.
 * Leaves the folder as it is if it holds an answer of its own, or the program `graph`, which somebody may search again.
 */
int output_drop_kind(const char *dir, const char *kind, const char *graph, struct err *err);
/* Writes the compiled program. It is only a convenience, so there is a warning if that fails. */
void output_executable(const char *dir, const struct buf *executable);
/* Writes only decisions.json and the page, for a kind after which another kind goes on. */
int output_write_decisions(const char *dir, const struct result *r, struct err *err);
int output_write(const char *dir, const struct result *r, struct device *d, struct err *err);

/* The summary on standard output: JSON, or lines for people. */
void output_summary(const struct result *r, const char *dir, bool json, struct buf *out);

/* For programs (output_json.c): of the whole result, of its decisions alone, of the summary. */
void output_json_config(const struct result *r, struct buf *out);
void output_json_decisions(const struct result *r, struct buf *out);
void output_json_summary(const struct result *r, const char *dir, struct buf *out);

/* The page (report.c). */
void report_write(const struct result *r, struct buf *out);

struct state_of { /* what must be the same for a search to go on */
	const char *settings; /* JSON */
	const char *where;    /* the machine with its cores, the compiler and its options: what figures are true of */
};
#define OUTPUT_DECIDED "made other decisions in this program, or started from another default"
int output_save_state(const char *dir, const struct hunt *h, const struct state_of *of, struct err *err);
/*
 * 1 loaded, 0 there is none to go on from, -1 it is of another search or damaged. `unlike`: there is one, but it is not
 * known to be about the same; this says why, as what follows its name.
 */
int output_load_state(const char *dir, struct hunt *h, const struct state_of *of, const char **unlike,
	struct err *err);
/* The value of a string among the settings that the state was saved under; false: there is no such. */
bool output_saved_setting(const char *dir, const char *key, struct buf *out);
int output_drop_state(const char *dir, struct err *err);

#endif
