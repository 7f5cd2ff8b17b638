/*
 * memory.c - how much memory programs may have (machine.h).
 *
 * A container, or a job of a batch system, may have less than the machine has. Its group says so (cgroups, version 2 or
 * 1), and each group above it may have a limit of its own, so all of them are asked. What a group has of files that are
 * not in use goes away when it needs memory, so that counts as free, as it does in MemAvailable.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "device/machine.h"

static const struct version { /* of cgroups */
	const char *controller, *below, *limit, *usage, *stat;
} versions[] = {
	{"", "", "memory.max", "memory.current", "inactive_file %llu"},
	{"memory", "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file %llu"},
};

struct bounds { /* bytes; UINT64_MAX: none */
	unsigned long long all, free;
};

/* Reads the first line that has this form; false if none has. */
static bool read_line(const char *path, const char *form, unsigned long long *out)
{
	FILE *f = fopen(path, "re");
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f))
		found = sscanf(line, form, out) == 1;
	if (f)
		fclose(f);
	return found;
}

static bool read_in(const struct buf *folder, const char *file, const char *form, unsigned long long *out)
{
	struct buf path = {0};
	bool found;

	buf_addf(&path, "%s/%s", folder->data, file);
	found = read_line(path.data, form, out);
	buf_release(&path);
	return found;
}

/* Appends the group of this process, "" if it is in none. */
static void add_group(const struct version *v, struct buf *out)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[4096], *colon, *second;

	while (f && fgets(line, sizeof line, f)) { /* NUMBER:CONTROLLER,CONTROLLER:/GROUP */
		if (!(colon = strchr(line, ':')) || !(second = strchr(colon + 1, ':')))
			continue;
		line[strcspn(line, "\n")] = 0;
		*second = 0;
		if (strcmp(colon + 1, v->controller) == 0) {
			buf_adds(out, second + 1);
			break;
		}
	}
	if (f)
		fclose(f);
}

static void heed(const struct version *v, const struct buf *folder, struct bounds *least)
{
	unsigned long long limit, used, files = 0;

	if (!read_in(folder, v->limit, "%llu", &limit)) /* "max", or there is no such group */
		return;
	least->all = limit < least->all ? limit : least->all;
	if (!read_in(folder, v->usage, "%llu", &used))
		return;
	read_in(folder, "memory.stat", v->stat, &files);
	used -= files < used ? files : used;
	used = used < limit ? limit - used : 1; /* 0 is "unknown" */
	least->free = used < least->free ? used : least->free;
}

/* The least that a group allows, of ours and those above it. */
static struct bounds of_groups(void)
{
	const char *other = getenv("VANTAGE_CGROUP"), *root = other ? other : "/sys/fs/cgroup";
	struct bounds least = {UINT64_MAX, UINT64_MAX};

	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		struct buf folder = {0};
		buf_addf(&folder, "%s%s", root, versions[i].below);
		size_t top = folder.len;
		add_group(&versions[i], &folder);
		while (folder.len > top) {
			heed(&versions[i], &folder, &least);
			while (folder.data[--folder.len] != '/')
				;
			folder.data[folder.len] = 0;
		}
		heed(&versions[i], &folder, &least);
		buf_release(&folder);
	}
	return least;
}

unsigned long long machine_memory(void)
{
	unsigned long long all = (unsigned long long)sysconf(_SC_PHYS_PAGES) *
				 (unsigned long long)sysconf(_SC_PAGESIZE), most = of_groups().all;

	return most < all ? most : all;
}

unsigned long long machine_available(void)
{
	unsigned long long bytes, most = of_groups().free;

	if (!read_line("/proc/meminfo", "MemAvailable: %llu kB", &bytes))
		return 0;
	bytes <<= 10;
	return most < bytes ? most : bytes;
}

unsigned long long machine_resident(long pid)
{
	char path[64];
	unsigned long long all, resident = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/statm", pid);
	f = pid > 0 ? fopen(path, "re") : NULL;
	if (f && fscanf(f, "%llu %llu", &all, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (unsigned long long)sysconf(_SC_PAGESIZE);
}

unsigned long long machine_memory_kills(void)
{
	const char *path = getenv("VANTAGE_VMSTAT");
	unsigned long long n = 0;

	read_line(path ? path : "/proc/vmstat", "oom_kill %llu", &n);
	return n;
}
