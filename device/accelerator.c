/*
 * accelerator.c - describes an accelerator, and takes its lock.
 *
 * Memory is given in whole GiB. What a runtime leaves to programs varies a little from start to start, and that must
 * not make another environment each time.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/accelerator.h"

static const struct host_facts {
	const char *platform, *driver, *visible;
} known[] = {
#define ACCELERATOR(platform, driver, visible) {platform, driver, visible},
#include "schemas/accelerator.def"
#undef ACCELERATOR
};

static const struct host_facts *facts_of(const char *platform)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].platform, platform) == 0)
			return &known[i];
	return NULL;
}

#define FIELDS(F) F(u8, on_host) F(u32, count) F(u64, memory)

void accelerator_save(const struct accelerator *at, struct buf *out)
{
	buf_str(out, at->kind);
	buf_u32(out, (uint32_t)at->number);
	FIELDS(FIELD_SAVE)
}

void accelerator_load(struct accelerator *at, struct cursor *in)
{
	char *kind = cursor_str(in);

	snprintf(at->kind, sizeof at->kind, "%s", kind);
	mem_free(kind);
	at->number = (int32_t)cursor_u32(in);
	FIELDS(FIELD_LOAD)
}

/* The first word of a file; "" if there is none. */
static void read_word(const char *path, char *out, size_t n)
{
	FILE *f = fopen(path, "re");

	out[0] = 0;
	if (f && fgets(out, (int)n, f))
		out[strcspn(out, " \n")] = 0;
	if (f)
		fclose(f);
}

void accelerator_describe(const struct accelerator *a, const char *platform, char *out, size_t n)
{
	const struct host_facts *f = facts_of(platform);
	char driver[48] = "", memory[32] = "";

	out[0] = 0;
	if (a->on_host || a->count == 0)
		return;
	if (f)
		read_word(f->driver, driver, sizeof driver);
	if (a->memory)
		snprintf(memory, sizeof memory, ", %llu GiB", (unsigned long long)((a->memory + (1u << 29)) >> 30));
	snprintf(out, n, "%s, %u device%s%s%s%s", a->kind[0] ? a->kind : "unnamed", a->count, a->count == 1 ? "" : "s",
		memory, driver[0] ? ", driver " : "", driver);
}

/* The accelerator's name on this host: its entry in the list of those that the program may see, or its number. */
static void name_on_host(const struct accelerator *a, const struct host_facts *f, char *out, size_t n)
{
	const char *list = f ? getenv(f->visible) : NULL;

	snprintf(out, n, "%d", a->number);
	for (int32_t i = 0; list && *list && i < a->number; i++) {
		list += strcspn(list, ",");
		list += *list == ',';
	}
	if (list && *list && *list != ',')
		snprintf(out, n, "%.*s", (int)strcspn(list, ","), list);
}

int accelerator_lock(const struct accelerator *a, const char *platform, bool wait, struct lock *l, struct err *err)
{
	char which[64], name[160], what[240];

	name_on_host(a, facts_of(platform), which, sizeof which);
	snprintf(name, sizeof name, "%.60s-device%s", platform, which);
	snprintf(what, sizeof what, "%.60s device %s (%.60s)", platform, which, a->kind);
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '-')
			*p = '-';
	int rc = lock_take(l, name, what, wait, err);
	if (rc == 0)
		err_set(err, "%s is in use: process %ld measures on it; wait for it (--wait)", what, lock_holder(l));
	return rc;
}
