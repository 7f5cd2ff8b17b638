/*
 * lab.h - one program, ready to be measured, with everything measured going into a store.
 *
 * A lab is a subject (the program and its decision space) and its cost, connected with a store. Prices of
 * regions are first looked up in the store, and new ones are kept there. Failures and raw times are added
 * to the run. `collect` and `search` both work in labs. The limits of a search are further costs of the same
 * program, each in its own quantity; the store keeps the prices of different quantities apart.
 *
 * Several labs may share a store, each used by a thread of its own. Every access to the store then holds
 * `lock`; it is NULL if there is one thread. Without a store (db NULL) nothing is kept. A second store, such as the
 * merged one of many machines, may be read besides: what was priced there, in the same environment, is not measured
 * again.
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include <pthread.h>
#include "base/limit.h"
#include "cost/cost.h"
#include "graph/weld.h"
#include "ready/subject.h"
#include "store/run.h"

struct archive { /* where a program's measurements go; all zero: nowhere */
	struct store *db;	/* NULL: nothing is kept */
	struct store *cache;	/* prices that others measured, which is only read; NULL: none */
	struct run *run;	/* set once begun; failures and raw times go there */
	int64_t environment;	/* named by the first lab; 0 before */
	enum quantity quantity; /* what its costs are of */
	pthread_mutex_t *lock;
	bool raw;		/* keep raw times */
};

struct ledger { /* where the store keeps the prices of one quantity; the hooks of a cost get it */
	struct archive *archive;
	int64_t environment;
	int64_t cached; /* the same environment in the cache; 0: it has none */
};

struct lab_limit {
	struct limit limit;
	struct cost *cost;
	struct ledger ledger;
};

struct lab { /* all zero is empty; not to be moved once open */
	struct subject subject;
	struct space *space; /* the subject's */
	struct device *device; /* as given to lab_open; NULL if the cost is a formula, or the device is closed */
	struct cost_options options;
	struct cost *cost; /* of the objective */
	struct ledger ledger;
	struct lab_limit limit[LIMITS_MOST];
	uint32_t n_limits;
	enum cost_kind kind; /* of its costs */
	enum quantity quantity; /* of the objective */
	const char *reference; /* where the default is what people do by hand: the name of that start; else NULL */
	enum compile_how how; /* the answer is compiled: COMPILE_APPLIED, or in a faster form (search/race.h), */
	struct welding weld; /* ... and its kernels are welded before (search/welding.h), if there is a tag */
	bool parts_only; /* its device measures, but does not run whole programs */
	bool derived; /* did other decisions make the subject from the user's program? That one is its `original` */
	struct archive *archive;
	int64_t graph_id, space_id; /* in the store */
};

/* Does the compiler's own program stand for the default as it was read back, because to compile both would be dear? */
bool lab_own_stands(const struct lab *l);

/* Other decisions made the subject from the program of `from`. From now on answers are compared with that program. */
int lab_derive(struct lab *l, struct lab *from, struct err *err);

/* Finds the value of --objective for cost_options.quantity; `name` is NULL if the user did not give it. */
int lab_objective(const char *name, int *quantity, struct err *err);

/*
 * Fills in the number of cores (--cores) and the spread over devices of what is opened for o->kind. Without --cores
 * (NULL) it is one core if o->core says which, or else all that this process may use, as the user's own program would.
 * A kind that decides how a program is partitioned says itself into how many parts; then `partitions` is 1 or the same.
 */
int lab_place(struct device_options *o, const char *cores, int64_t replicas, int64_t partitions, struct err *err);

/*
 * `archive` may be NULL. It must outlive the lab, and so must the device, which is NULL if the cost is a formula. All
 * labs of an archive must be on equal devices and have costs of one quantity: the first lab names them in the store.
 */
int lab_open(struct lab *l, const char *path, const char *space_kind, struct device *d,
	const struct cost_options *o, struct archive *archive, struct err *err);
/*
 * Adds the limits that a search has to keep. If the user gave neither an objective (cost_options.quantity) nor a limit,
 * they are the kind's own. A limit on the objective itself is refused.
 */
int lab_limits(struct lab *l, const struct limit *limits, uint32_t n, struct err *err);
/*
 * Writes the program to compile as lab.how says: the user's own (COMPILE_CODEGEN_OWN), or that of a configuration, with
 * its kernels welded as lab.weld says.
 */
int lab_answer(const struct lab *l, const uint8_t *config, struct buf *module, struct err *err);
/* Frees the costs, because their device will be closed; all else stays. */
void lab_drop_costs(struct lab *l);
void lab_release(struct lab *l);

/*
 * If runs are long, keeps the result of the first comparison of the compiler's own program with the default as read
 * back.
 */
void lab_remember(struct lab *l, const struct timing *t);

void archive_lock(struct archive *a);
void archive_unlock(struct archive *a);

#endif
