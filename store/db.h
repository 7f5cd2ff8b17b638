/*
 * db.h - a store: the file in which everything measured is kept.
 *
 * It is one SQLite file (schemas/store.sql says what is in it), in WAL mode with full sync. One program
 * writes at a time, and holds a lock for as long as it has the file open. Any number of programs read
 * beside it and never block it. The first put opens a transaction; store_commit ends it, and so does
 * appending a sample. So what was measured for a sample (regions, failures, raw times) is on disk together
 * with it or not at all, and a run that was killed goes on from exactly the last sample.
 *
 *	struct store *s = store_open("runs.sqlite", STORE_CREATE, NULL, &err);
 *	... fact.h: environments, graphs, spaces, regions; run.h: writing runs; replay.h: reading them
 *	if (store_commit(s, &err) < 0) ...
 *	store_close(s);
 *
 * After an error of a put or commit the transaction is rolled back. What was committed is safe, the rest is
 * gone, and the caller gives up. One store is used by one thread.
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
	bool force;	   /* open it even on a network file system, at the user's own risk */
	bool wait;	   /* wait for another writer to end, instead of failing with a sentence */
	double busy;	   /* seconds to wait for locks of other programs (sqlite3 shell); 0: 5 */
};

/*
 * NULL with a sentence if the file is newer than this program, not ours, locked, damaged, on a network file system ...
 */
struct store *store_open(const char *path, enum store_mode mode, const struct store_options *o,
	struct err *err);
int store_commit(struct store *s, struct err *err); /* does nothing when nothing was put */
void store_close(struct store *s);		    /* drops what was not committed; accepts NULL */
/* Closes a store that this program has just made. Its file goes as well, unless a run was committed to it. */
void store_abandon(struct store *s);
const char *store_path(const struct store *s);

/* 32 hex digits and dashes, random (version 4): the name of a run everywhere. */
void store_uuid(char uuid[37]);

/* Is the file packed, as measurements are shipped? A file that cannot be read counts as not packed. */
bool store_packed(const char *path);

/* The name of the network file system with this number of statfs, or NULL for a local file system. */
const char *store_network_name(long type);

#endif
