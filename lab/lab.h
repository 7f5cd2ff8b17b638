/*
 * lab.h - one program, ready to be measured, with everything measured going into a store.
 *
 * A lab is a subject (the program and its decision space) and its cost, wired to the store: prices
 * of regions are looked up there first and kept there, failures and raw times are added to the run.
 * `collect` and `search` both work in labs.
 *
 * Several labs, each used by a thread of its own, may share a store through `lock`, which every
 * access to the store holds; NULL when there is one thread. Without a store (db NULL) nothing is kept.
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include <pthread.h>
#include "cost/cost.h"
#include "ready/subject.h"
#include "store/run.h"

struct archive { /* where a program's measurements go; all zero: nowhere */
	struct store *db;
	struct run *run;	/* set once begun; failures and raw times go there */
	int64_t environment;	/* named by the first lab; 0 before */
	enum quantity quantity; /* its costs' */
	pthread_mutex_t *lock;
	bool raw;		/* keep raw times */
};

struct lab { /* all zero is empty */
	struct subject subject;
	struct space *space; /* the subject's */
	struct cost *cost;
	struct device *device; /* as given to lab_open; NULL: a formula */
	enum cost_kind kind; /* of its costs */
	bool derived; /* the subject is what other decisions made of the user's program, which is its `original` */
	struct archive *archive;
	int64_t graph_id, space_id; /* in the store */
};

/*
 * `archive` may be NULL; it is borrowed and must outlive the lab, as must the device (NULL: a formula). All labs of an
 * archive are on devices that are alike, and their costs of one quantity: the first names them in the store.
 */
int lab_open(struct lab *l, const char *path, const char *space_kind, struct device *d,
	const struct cost_options *o, struct archive *archive, struct err *err);
void lab_release(struct lab *l);

/* Keeps what the first comparison of the compiler's own program with the default as read back said, where runs are long. */
void lab_remember(struct lab *l, const struct timing *t);

void archive_lock(struct archive *a);
void archive_unlock(struct archive *a);

#endif
