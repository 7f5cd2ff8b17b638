/*
 * cmd.h - the verbs of the program `store`, one function each, for main.c.
 *
 * A verb gets the words after it and the options that all verbs share. It returns 0, or -1 with a sentence, or
 * 1 if it did its work and the answer is "no" (verify found damage).
 */
#ifndef STORE_CMD_H
#define STORE_CMD_H

#include "base/opt.h"
#include "base/progress.h"
#include "store/emit.h"

struct request {
	char **word; /* after the store's name */
	int n_words;
	const char *path; /* of the store */
	struct store *s;
	enum emit_format format;
	struct store_options options;
	bool quiet;
	/* options of single verbs */
	const char *out, *run, *graph, *without, *models;
	int64_t every;
	int export_format;
};

enum export_format { EXPORT_JSONL, EXPORT_CSV, EXPORT_NPZ };

int cmd_info(struct request *r, struct err *err);
int cmd_ls(struct request *r, struct err *err);
int cmd_show(struct request *r, struct err *err);
int cmd_verify(struct request *r, struct err *err);
int cmd_merge(struct request *r, struct err *err); /* the words are the shards */
int cmd_merge_check(struct request *r, struct err *err); /* before the store is opened: are the shards stores? */
int cmd_export(struct request *r, struct err *err);
int cmd_functions(struct store *s, struct err *err); /* REGEXP and what else `query` adds to SQL */
int cmd_query(struct request *r, struct err *err);
int cmd_report(struct request *r, struct err *err);

/* Progress is shown only to a person. */
enum progress_mode cmd_talk(const struct request *r);

/* Finds the run whose uuid begins with the word, or whose number it is; there must be exactly one. */
int cmd_find_run(struct store *s, const char *word, int64_t *id, struct err *err); /* 1, 0 none, -1 */

#endif
