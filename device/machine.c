/*
 * machine.c - the machine underneath: cores, and who measures on them.
 *
 * Two measurements on one core would time each other, so a device locks its core (lock.h).
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "device/machine.h"

#define CORES CPU_SETSIZE

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

unsigned long long machine_memory(void)
{
	return (unsigned long long)sysconf(_SC_PHYS_PAGES) *
	       (unsigned long long)sysconf(_SC_PAGESIZE);
}

unsigned long long machine_available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	unsigned long long kib = 0;

	while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
		;
	if (f)
		fclose(f);
	return kib << 10;
}

double machine_load(void)
{
	double average;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores > 0 && getloadavg(&average, 1) == 1 ? average / (double)cores : 0;
}

/* Busy ticks of every core so far; those not listed stay 0. */
static void read_busy(unsigned long long *busy)
{
	FILE *f = fopen("/proc/stat", "re");
	char line[512];
	while (f && fgets(line, sizeof line, f)) {
		unsigned long long user, nice, system, idle, io, irq, soft, steal;
		int core;
		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &core, &user,
			    &nice, &system, &idle, &io, &irq, &soft, &steal) == 9 &&
			core >= 0 && core < CORES)
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

/* Cores this process may use, the least loaded of the last 60 ms first if that is of interest. */
static size_t cores_by_load(struct load *out, bool look)
{
	unsigned long long *busy = MEM_NEW(2 * CORES, unsigned long long);
	const struct timespec nap = {0, 60000000};
	cpu_set_t set;
	size_t n = 0;
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof set, &set);
	if (look) {
		read_busy(busy);
		nanosleep(&nap, NULL);
		read_busy(busy + CORES);
	}
	for (int c = 0; c < CORES; c++)
		if (CPU_ISSET((size_t)c, &set))
			out[n++] = (struct load){c, busy[CORES + c] - busy[c]};
	qsort(out, n, sizeof *out, by_load);
	mem_free(busy);
	return n;
}

/* lock_take for a core. */
static int try_core(struct core_lock *l, const char *device, int core, bool wait, struct err *err)
{
	char name[128], what[128];

	snprintf(name, sizeof name, "%s-core%d", device, core);
	snprintf(what, sizeof what, "%s on core %d", device, core);
	l->core = core;
	return lock_take(&l->lock, name, what, wait, err);
}

int core_take(struct core_lock *l, const char *device, int wanted, bool wait, struct err *err)
{
	struct load *cores = MEM_NEW(CORES, struct load);
	size_t n = cores_by_load(cores, wanted == 0);
	int rc = 0;
	*l = (struct core_lock){0};
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

int core_pin(int core, struct err *err)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		return err_errno(err, "the worker cannot be pinned to core %d", core);
	return 0;
}
