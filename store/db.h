/*
 * db.h - the file everything measured is kept in: opening it, and when it is written.
 *
 * One SQLite file (schemas/store.sql says what is in it), in WAL mode with full sync. One program
 * writes at a time and holds a lock for as long as it has the file open; any number read beside it
 * and never block it. Everything put into the store joins one transaction, opened by the first put
 * and ended by store_commit; appending a sample commits. So what was measured for a sample (regions,
 * failures, raw times) is on disk together with it or not at all, and a run that was killed goes on
 * from exactly the last sample.
 *
 *	struct store *s = store_open("runs.sqlite", STORE_CREATE, NULL, &err);
 *	... fact.h: environments, graphs, spaces, regions; run.h: writing runs; replay.h: reading them
 *	if (store_commit(s, &err) < 0) ...
 *	store_close(s);
 *
 * After an error of a put or commit the transaction is rolled back: what had been committed is safe,
 * what had not is gone, and the caller gives up. One store is used by one thread.
 */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

struct store;

enum store_mode {
	STORE_READ,   /* must exist */
	STORE_WRITE,  /* must exist; older files are migrated */
	STORE_CREATE, /* as WRITE, and made if absent */
};

struct store_options { /* all zero is the default */
	bool force;	   /* also on a network file system, at your own risk */
	bool wait;	   /* for another writer to end, instead of failing with a sentence */
	double busy;	   /* seconds to wait for locks of other programs (sqlite3 shell); 0: 5 */
};

/* NULL with a sentence: newer than this program, not ours, locked, damaged, network file system ... */
struct store *store_open(const char *path, enum store_mode mode, const struct store_options *o,
	struct err *err);
int store_commit(struct store *s, struct err *err); /* fine when nothing was put */
void store_close(struct store *s);		    /* drops what was not committed; accepts NULL */
const char *store_path(const struct store *s);

/* 32 hex digits and dashes, random (version 4): the name of a run everywhere. */
void store_uuid(char uuid[37]);

/* The name of a network file system by the number statfs gives it, or NULL for a local one. */
const char *store_network_name(long type);

#endif
