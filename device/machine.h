/*
 * machine.h - the machine underneath: cores, and who measures on them.
 */
#ifndef DEVICE_MACHINE_H
#define DEVICE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "device/lock.h"

/* "AMD EPYC 9654, 2 cores, Linux 6.1.0": what makes timings comparable. */
void machine_describe(char *out, size_t n);
/*
 * memory.c: bytes of the machine, or of the control group that this process is in, if that may have less.
 * VANTAGE_CGROUP names another folder to look for groups in than /sys/fs/cgroup, for tests.
 */
unsigned long long machine_memory(void);
unsigned long long machine_available(void); /* bytes that programs could still get; 0: unknown */
unsigned long long machine_resident(long pid); /* bytes of memory that a process has; 0: none, or unknown */
/*
 * How many processes the kernel has killed so far because memory ran out, in the whole machine; 0 if it does not say.
 * VANTAGE_VMSTAT names another file to read than /proc/vmstat, for tests.
 */
unsigned long long machine_memory_kills(void);
double machine_load(void);		    /* programs that want to run, per core, over the last minute; 0: unknown */

/* A core nobody else measures on. */
struct core_lock { /* all zero is empty; core_release accepts it */
	struct lock lock;
	int core;
};

/*
 * Takes the core `wanted` - 1, or with 0 the least loaded of those that are allowed and free. If another program has
 * it, waits, or returns -1 with a sentence that names that program. `device` is part of the lock's name.
 */
int core_take(struct core_lock *l, const char *device, int wanted, bool wait, struct err *err);
void core_release(struct core_lock *l);

#define CORES_ALL (-1)

/*
 * Takes a core for a helper, which only other helpers heed: 1. Or 0: one of them has it. It is no claim, so a program
 * that measures may have the core at any time.
 */
int core_borrow(struct core_lock *l, int core, struct err *err);
/* Does another process measure on the core, on whichever device? */
bool core_claimed(int core);

/* Several of them, taken together. */
struct core_set { /* all zero is empty; core_set_release accepts it */
	struct core_lock *at;
	size_t n;
};
/*
 * Takes `count` cores (0 or 1: one; CORES_ALL: all that this process may use): core `wanted` - 1 and the ones after it,
 * or with 0 the least loaded. It takes all of them or none. It waits for several cores in the order of their numbers,
 * so no two programs wait for each other.
 */
int core_set_take(struct core_set *s, const char *device, int wanted, int count, bool wait, struct err *err);
void core_set_release(struct core_set *s);
/*
 * From now on core_set_release keeps the locks of these cores, for the next core_set_take of this process. So a search
 * that closes its device to judge with fresh ones does not lose its core to somebody who waits for it. Until
 * cores_give_back, or the end of the process.
 */
void cores_keep(const int *core, size_t n);
void cores_give_back(void);
/* The cores that this process may use and that are not among these n; the caller frees the list. */
int *cores_beside(const int *core, size_t n, size_t *n_out);
/* Turns "3" or "all" into the count for core_set_take; -1 with a sentence if it is neither. */
int cores_parse(const char *text, int *count, struct err *err);

/* Pins the calling process to n cores; before any thread is started. */
int core_pin(const int *core, size_t n, struct err *err);
/* Pins one thread, by its number in /proc; 0: the calling one. */
int thread_pin(long thread, const int *core, size_t n, struct err *err);

#endif
