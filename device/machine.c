/*
 * machine.c - the machine underneath: cores, and who measures on them.
 *
 * Two measurements on one core would time each other, so a device locks its core (lock.h).
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "device/machine.h"

#define CORES_LIMIT (1 << 20) /* no machine has more */

static void processor(char *out, size_t n)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256], *colon;
	snprintf(out, n, "unknown processor");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "model name", 10) == 0 && (colon = strchr(line, ':'))) {
			line[strcspn(line, "\n")] = 0;
			snprintf(out, n, "%s", colon + 1 + strspn(colon + 1, " "));
			break;
		}
	if (f)
		fclose(f);
}

void machine_describe(char *out, size_t n)
{
	char cpu[96];
	struct utsname u;
	processor(cpu, sizeof cpu);
	bool named = uname(&u) == 0;
	snprintf(out, n, "%s, %ld cores, %.20s %.40s", cpu, sysconf(_SC_NPROCESSORS_ONLN),
		named ? u.sysname : "", named ? u.release : "");
}

double machine_load(void)
{
	double average;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores > 0 && getloadavg(&average, 1) == 1 ? average / (double)cores : 0;
}

/*
 * Returns the cores that this process may use, as a set with room for *room of them, which the caller frees. The kernel
 * refuses a set that is smaller than its own, and its own may be larger than cpu_set_t.
 */
static cpu_set_t *allowed(int *room)
{
	for (*room = CPU_SETSIZE; *room <= CORES_LIMIT; *room *= 2) {
		cpu_set_t *set = CPU_ALLOC((size_t)*room);
		if (set && sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)*room), set) == 0)
			return set;
		CPU_FREE(set);
	}
	return NULL;
}

/* Reads the busy ticks of the first n cores so far; a core that is not listed stays 0. */
static void read_busy(unsigned long long *busy, int n)
{
	FILE *f = fopen("/proc/stat", "re");
	char line[512];
	while (f && fgets(line, sizeof line, f)) {
		unsigned long long user, nice, system, idle, io, irq, soft, steal;
		int core;
		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &core, &user,
			    &nice, &system, &idle, &io, &irq, &soft, &steal) == 9 &&
			core >= 0 && core < n)
			busy[core] = user + nice + system + irq + soft + steal;
	}
	if (f)
		fclose(f);
}

struct load {
	int core;
	unsigned long long busy;
};

static int by_load(const void *a, const void *b)
{
	const struct load *x = a, *y = b;
	return x->busy != y->busy ? (x->busy < y->busy ? -1 : 1) : x->core - y->core;
}

/*
 * Lists the *n cores that this process may use; with `look` those that were least loaded in the last 60 ms come first.
 * The caller frees the list. NULL with a sentence if the system does not say.
 */
static struct load *cores_by_load(size_t *n, bool look, struct err *err)
{
	const struct timespec nap = {0, 60000000};
	int room;
	cpu_set_t *set = allowed(&room);
	if (!set) {
		err_errno(err, "the system does not say which cores this process may use");
		return NULL;
	}
	unsigned long long *busy = MEM_NEW(2 * (size_t)room, unsigned long long);
	struct load *out = MEM_NEW(room, struct load);
	*n = 0;
	if (look) {
		read_busy(busy, room);
		nanosleep(&nap, NULL);
		read_busy(busy + room, room);
	}
	for (int c = 0; c < room; c++)
		if (CPU_ISSET_S((size_t)c, CPU_ALLOC_SIZE((size_t)room), set))
			out[(*n)++] = (struct load){c, busy[room + c] - busy[c]};
	qsort(out, *n, sizeof *out, by_load);
	mem_free(busy);
	CPU_FREE(set);
	return out;
}

/* The cores that this process keeps between two devices, and the locks of those that no device has at the moment. */
static struct {
	pthread_mutex_t guard;
	int *core;
	struct core_lock *idle;
	size_t n, n_idle, cap, cap_idle;
} kept = {.guard = PTHREAD_MUTEX_INITIALIZER};

/* Is it the lock of a core for this device? */
static bool is_of(const struct core_lock *l, const char *device, int core)
{
	char ending[160];
	size_t n = (size_t)snprintf(ending, sizeof ending, "/vantage-%s-core%d.lock", device, core);
	size_t len = strlen(l->lock.path);

	return l->core == core && len >= n && strcmp(l->lock.path + len - n, ending) == 0;
}

/* The place of the core's lock among those that are kept and idle; n_idle: it is not there. */
static size_t find_idle(const char *device, int core)
{
	size_t i = 0;

	while (i < kept.n_idle && !is_of(&kept.idle[i], device, core))
		i++;
	return i;
}

static bool take_kept(struct core_lock *l, const char *device, int core)
{
	pthread_mutex_lock(&kept.guard);
	size_t i = find_idle(device, core);
	bool found = i < kept.n_idle;

	if (found) {
		*l = kept.idle[i];
		kept.idle[i] = kept.idle[--kept.n_idle];
	}
	pthread_mutex_unlock(&kept.guard);
	return found;
}

/* Puts the lock where the next device finds it. False: its core is not kept. */
static bool put_kept(const struct core_lock *l)
{
	bool found = false;

	pthread_mutex_lock(&kept.guard);
	for (size_t i = 0; i < kept.n && !found; i++)
		found = kept.core[i] == l->core;
	if (found) {
		MEM_GROW(&kept.idle, &kept.cap_idle, kept.n_idle + 1);
		kept.idle[kept.n_idle++] = *l;
	}
	pthread_mutex_unlock(&kept.guard);
	return found;
}

/* Sorts the cores so that those that this process keeps for the device come first. */
static void put_kept_first(struct load *cores, size_t n, const char *device)
{
	size_t first = 0;

	pthread_mutex_lock(&kept.guard);
	for (size_t i = 0; i < n; i++)
		if (find_idle(device, cores[i].core) < kept.n_idle) {
			struct load l = cores[i];
			cores[i] = cores[first];
			cores[first++] = l;
		}
	pthread_mutex_unlock(&kept.guard);
}

void cores_keep(const int *core, size_t n)
{
	pthread_mutex_lock(&kept.guard);
	MEM_GROW(&kept.core, &kept.cap, kept.n + n);
	for (size_t i = 0; i < n; i++)
		kept.core[kept.n++] = core[i];
	pthread_mutex_unlock(&kept.guard);
}

void cores_give_back(void)
{
	pthread_mutex_lock(&kept.guard);
	while (kept.n_idle)
		core_release(&kept.idle[--kept.n_idle]);
	kept.n = 0;
	pthread_mutex_unlock(&kept.guard);
}

/* Takes the lock of a core (lock_take). */
static int try_core(struct core_lock *l, const char *device, int core, bool wait, struct err *err)
{
	char name[128], what[128];

	if (take_kept(l, device, core))
		return 1;
	snprintf(name, sizeof name, "%s-core%d", device, core);
	snprintf(what, sizeof what, "%s on core %d", device, core);
	l->core = core;
	return lock_take(&l->lock, name, what, wait, err);
}

int core_borrow(struct core_lock *l, int core, struct err *err)
{
	char name[32];

	snprintf(name, sizeof name, "beside%d", core);
	l->core = core;
	return lock_take(&l->lock, name, name, false, err);
}

bool core_claimed(int core)
{
	char ending[32];

	snprintf(ending, sizeof ending, "-core%d", core);
	return lock_claimed(ending);
}

int core_take(struct core_lock *l, const char *device, int wanted, bool wait, struct err *err)
{
	size_t n;
	struct load *cores = cores_by_load(&n, wanted == 0, err);
	int rc = 0;
	*l = (struct core_lock){0};
	if (!cores)
		return -1;
	if (wanted) {
		size_t k = 0;
		while (k < n && cores[k].core != wanted - 1)
			k++;
		if (k == n) {
			mem_free(cores);
			return err_set(err, "core %d is not among the cores this process may use",
				wanted - 1);
		}
		cores[0] = cores[k];
		n = 1;
	}
	put_kept_first(cores, n, device);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = try_core(l, device, cores[i].core, false, err);
	if (rc == 0 && wait)
		rc = try_core(l, device, cores[0].core, true, err);
	if (rc == 0)
		rc = err_set(err,
			"device %s is in use: process %ld measures on core %d; wait for it "
			"(--wait) or choose "
			"another core (--core)",
			device, lock_holder(&l->lock), cores[n - 1].core);
	mem_free(cores);
	return rc < 0 ? -1 : 0;
}

void core_release(struct core_lock *l)
{
	lock_release(&l->lock);
}

static int by_number(const void *a, const void *b)
{
	return ((const struct load *)a)->core - ((const struct load *)b)->core;
}

/* Locks the first `count` cores that are free, or as many as there are, and puts them into s. -1: error. */
static int take_free(struct core_set *s, const char *device, const struct load *cores, size_t n, size_t count,
	struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && s->n < count && rc >= 0; i++) {
		rc = try_core(&s->at[s->n], device, cores[i].core, false, err);
		s->n += rc == 1;
	}
	return rc < 0 ? -1 : 0;
}

static int take_waiting(struct core_set *s, const char *device, struct load *cores, size_t count, struct err *err)
{
	qsort(cores, count, sizeof *cores, by_number);
	for (; s->n < count; s->n++)
		if (try_core(&s->at[s->n], device, cores[s->n].core, true, err) < 0)
			return -1;
	return 0;
}

static void unlock_all(struct core_set *s)
{
	while (s->n)
		if (!put_kept(&s->at[--s->n]))
			core_release(&s->at[s->n]);
}

/* Sorts the list so that `wanted` and the cores after it come first. */
static int put_first(struct load *cores, size_t n, int wanted, struct err *err)
{
	struct load *turned = MEM_NEW(n, struct load);
	size_t k = 0;

	qsort(cores, n, sizeof *cores, by_number);
	while (k < n && cores[k].core != wanted - 1)
		k++;
	for (size_t i = 0; i < n && k < n; i++)
		turned[i] = cores[(k + i) % n];
	if (k < n)
		memcpy(cores, turned, n * sizeof *cores);
	mem_free(turned);
	return k < n ? 0 : err_set(err, "core %d is not among the cores this process may use", wanted - 1);
}

static int take_several(struct core_set *s, const char *device, int wanted, size_t count, bool wait, struct err *err)
{
	size_t n;
	struct load *cores = cores_by_load(&n, wanted == 0, err);
	int rc = cores ? 0 : -1;

	if (rc == 0 && count == 0)
		count = n;
	if (rc == 0 && count > n)
		rc = err_set(err, "%zu cores were asked for, and this process may use %zu", count, n);
	if (rc == 0 && wanted)
		rc = put_first(cores, n, wanted, err);
	if (rc == 0) {
		if (!wanted)
			put_kept_first(cores, n, device);
		s->at = MEM_NEW(count, struct core_lock);
		rc = take_free(s, device, cores, n, count, err);
	}
	if (rc == 0 && s->n < count) {
		unlock_all(s);
		rc = wait ? take_waiting(s, device, cores, count, err)
			  : err_set(err, "programs would run on %zu cores, and others measure on some of them; "
				"wait for them (--wait) or take fewer (--cores 1)", count);
	}
	mem_free(cores);
	return rc;
}

int core_set_take(struct core_set *s, const char *device, int wanted, int count, bool wait, struct err *err)
{
	int rc;

	*s = (struct core_set){0};
	if (count == 0 || count == 1) {
		s->at = MEM_NEW(1, struct core_lock);
		rc = core_take(s->at, device, wanted, wait, err);
		s->n = rc == 0;
	} else {
		rc = take_several(s, device, wanted, count < 0 ? 0 : (size_t)count, wait, err);
	}
	if (rc < 0)
		core_set_release(s);
	return rc;
}

int *cores_beside(const int *core, size_t n, size_t *n_out)
{
	struct err ignored;
	size_t all = 0;
	struct load *cores = cores_by_load(&all, false, &ignored);
	int *out = MEM_NEW(all + 1, int);

	*n_out = 0;
	for (size_t i = 0; cores && i < all; i++) {
		bool taken = false;
		for (size_t k = 0; k < n; k++)
			taken |= core[k] == cores[i].core;
		if (!taken)
			out[(*n_out)++] = cores[i].core;
	}
	mem_free(cores);
	return out;
}

void core_set_release(struct core_set *s)
{
	unlock_all(s);
	mem_free(s->at);
	*s = (struct core_set){0};
}

int cores_parse(const char *text, int *count, struct err *err)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (strcmp(text, "all") == 0) {
		*count = CORES_ALL;
		return 0;
	}
	if (end == text || *end || n < 1 || n > CORES_LIMIT)
		return err_set(err, "--cores takes a number of cores, or all; \"%.40s\" is neither", text);
	*count = (int)n;
	return 0;
}

int thread_pin(long thread, const int *core, size_t n, struct err *err)
{
	int last = 0, rc;
	size_t size;
	cpu_set_t *set;

	for (size_t i = 0; i < n; i++)
		last = core[i] > last ? core[i] : last;
	size = CPU_ALLOC_SIZE((size_t)last + 1);
	set = CPU_ALLOC((size_t)last + 1);
	rc = set ? 0 : -1;
	if (rc == 0) {
		CPU_ZERO_S(size, set);
		for (size_t i = 0; i < n; i++)
			CPU_SET_S((size_t)core[i], size, set);
		rc = sched_setaffinity((pid_t)thread, size, set);
	}
	if (rc < 0)
		err_errno(err, "the worker cannot be pinned to core %d", core[0]);
	CPU_FREE(set);
	return rc;
}

int core_pin(const int *core, size_t n, struct err *err)
{
	return thread_pin(0, core, n, err);
}
