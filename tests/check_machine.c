/*
 * check_machine.c - the cores and the memory of other machines: the answers of the system are made up here, in place of
 * the C library's, or in a folder of groups.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "device/machine.h"
#include "tests/test.h"

static size_t kernel_cores; /* room the kernel wants for its set */
static int allowed_core, allowed_cores = 1, pinned_core, n_pinned;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	if (8 * size < kernel_cores) {
		errno = EINVAL;
		return -1;
	}
	CPU_ZERO_S(size, set);
	for (int i = 0; i < allowed_cores; i++)
		CPU_SET_S((size_t)(allowed_core + i), size, set);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	(void)pid;
	n_pinned = CPU_COUNT_S(size, set);
	pinned_core = CPU_ISSET_S((size_t)allowed_core, size, set) && CPU_COUNT_S(size, set) == 1 ? allowed_core : -1;
	return 0;
}

static void takes(size_t cores, int core, int wanted, int rc)
{
	struct core_lock l = {0};
	struct err err = {0};

	kernel_cores = cores;
	allowed_core = core;
	if (!CHECK_INT(core_take(&l, "check-machine", wanted, false, &err), rc) || rc < 0)
		CHECK(rc < 0 && err.text[0]);
	else
		CHECK_INT(l.core, core);
	core_release(&l);
}

static void a_core_is_found_among_many(void)
{
	takes(2, 1, 0, 0);
	takes(2, 1, 2, 0);
	takes(4096, 3000, 0, 0);
	takes(4096, 3000, 3001, 0);
	takes(4096, 3000, 1, -1);
	takes((size_t)1 << 30, 0, 0, -1); /* a kernel that takes no set at all */
	takes((size_t)1 << 30, 0, 1, -1);
}

/* Several cores are taken together or not at all, beginning with the one that was named. */
static void cores_are_taken_together(void)
{
	static const struct {
		int wanted, count, rc, n, first;
	} t[] = {{0, 0, 0, 1, -1}, {0, 1, 0, 1, -1}, {0, 4, 0, 4, -1}, {0, CORES_ALL, 0, 4, -1}, {13, 2, 0, 2, 12},
		{14, 2, 0, 2, 13}, {0, 5, -1, 0, -1}, {99, 2, -1, 0, -1}};
	struct core_set s, other;
	struct err err = {0};

	kernel_cores = 1024;
	allowed_core = 10;
	allowed_cores = 4;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		int want = t[i].wanted ? t[i].wanted : 0;
		if (!CHECK_INT(core_set_take(&s, "check-machine", want, t[i].count, false, &err), t[i].rc) ||
			!CHECK_INT(s.n, t[i].n))
			printf("  row %zu: %s\n", i, err.text);
		for (size_t k = 0; k < s.n; k++)
			CHECK(s.at[k].core >= 10 && s.at[k].core < 14);
		for (size_t k = 1; k < s.n; k++)
			CHECK(s.at[k].core != s.at[0].core);
		if (t[i].first >= 0)
			CHECK_INT(s.at[0].core, t[i].first);
		core_set_release(&s);
	}
	CHECK(core_set_take(&s, "check-machine", 11, 3, false, &err) == 0);
	CHECK(core_set_take(&other, "check-machine", 0, 2, false, &err) < 0 && other.n == 0);
	CHECK(core_set_take(&other, "check-machine", 0, 1, false, &err) == 0 && other.at[0].core == 13);
	core_set_release(&s);
	CHECK(core_set_take(&s, "check-machine", 0, 3, false, &err) == 0); /* what was refused holds nothing */
	core_set_release(&s);
	core_set_release(&other);
	allowed_cores = 1;
}

/* Could another process take the core? */
static bool free_for_others(int core)
{
	struct lock l;
	struct err err = {0};
	char name[64];
	bool taken;

	snprintf(name, sizeof name, "check-machine-core%d", core);
	taken = lock_take(&l, name, name, false, &err) == 1;
	lock_release(&l);
	return taken;
}

/* A core that is kept goes from one device of a process to the next, and to no other process between. */
static void a_kept_core_is_not_lost(void)
{
	struct core_set s, other;
	struct err err = {0};
	int core;

	kernel_cores = 1024;
	allowed_core = 20;
	allowed_cores = 3;
	CHECK_INT(core_set_take(&s, "check-machine", 22, 1, false, &err), 0);
	core_set_release(&s);
	CHECK(free_for_others(21)); /* unless it is kept */
	CHECK_INT(core_set_take(&s, "check-machine", 22, 1, false, &err), 0);
	core = s.at[0].core;
	cores_keep(&core, 1);
	core_set_release(&s);
	CHECK(!free_for_others(21));
	CHECK(free_for_others(20));
	CHECK_INT(core_set_take(&s, "check-machine", 0, 1, false, &err), 0); /* whichever it likes: the one it has */
	CHECK_INT(s.at[0].core, 21);
	CHECK(core_set_take(&other, "check-machine", 22, 1, false, &err) < 0); /* two devices never have one core */
	core_set_release(&s);
	CHECK_INT(core_set_take(&s, "check-machine", 0, 2, false, &err), 0);
	CHECK_INT(s.at[0].core, 21);
	core_set_release(&s);
	CHECK(!free_for_others(21));
	CHECK(free_for_others(20) && free_for_others(22)); /* only the core that was named is kept */
	cores_give_back();
	CHECK(free_for_others(21));
	allowed_cores = 1;
}

static void counts_of_cores_are_read(void)
{
	static const struct {
		const char *text;
		int rc, count;
	} t[] = {{"1", 0, 1}, {"12", 0, 12}, {"all", 0, CORES_ALL}, {"0", -1, 0}, {"-1", -1, 0}, {"", -1, 0},
		{"2x", -1, 0},
		{"every", -1, 0}, {"99999999999999999999", -1, 0}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct err err = {0};
		int count = 0;
		CHECK_INT(cores_parse(t[i].text, &count, &err), t[i].rc);
		CHECK_INT(count, t[i].count);
		CHECK(t[i].rc == 0 || strstr(err.text, "--cores"));
	}
}

static void several_cores_are_pinned(void)
{
	static const int core[] = {4, 900, 2000};
	struct err err = {0};

	allowed_core = 900;
	CHECK_INT(core_pin(core, 3, &err), 0);
	CHECK_INT(n_pinned, 3);
}

static void a_far_core_is_pinned(void)
{
	struct err err = {0};

	for (allowed_core = 0; allowed_core < 5000; allowed_core += 1023) {
		CHECK_INT(core_pin(&allowed_core, 1, &err), 0);
		CHECK_INT(pinned_core, allowed_core);
	}
}

/* As a container sees its own group: at the top of the folder, in either version. */
static void a_group_may_have_less_memory(void)
{
	static const char *const file[2][4] = {{"", "memory.max", "memory.current", "inactive_file"},
		{"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}};
	unsigned long long all;

	for (int v = 0; v < 2; v++) {
		char root[] = "/tmp/check_machine-XXXXXX", folder[80], text[80];
		CHECK(mkdtemp(root) != NULL);
		setenv("VANTAGE_CGROUP", root, 1);
		all = machine_memory();
		snprintf(folder, sizeof folder, "%s%s", root, file[v][0]);
		CHECK(io_make_dir(folder, NULL) == 0);
		CHECK(io_write_in(folder, file[v][1], "max\n", 4, NULL) == 0);
		CHECK_INT(machine_memory(), all);
		CHECK(io_write_in(folder, file[v][1], "64000000\n", 9, NULL) == 0);
		CHECK_INT(machine_memory(), 64000000);
		CHECK(machine_available() > 64000000); /* what is used is not known */
		CHECK(io_write_in(folder, file[v][2], "60000000\n", 9, NULL) == 0);
		CHECK_INT(machine_available(), 4000000);
		int n = snprintf(text, sizeof text, "cache 7\n%s 20000000\nanon 3\n", file[v][3]);
		CHECK(io_write_in(folder, "memory.stat", text, (size_t)n, NULL) == 0);
		CHECK_INT(machine_available(), 24000000);
		CHECK(io_write_in(folder, file[v][2], "99000000\n", 9, NULL) == 0);
		CHECK_INT(machine_available(), 1);
		io_remove_tree(root, NULL);
	}
	unsetenv("VANTAGE_CGROUP");
}

int main(void)
{
	RUN(a_group_may_have_less_memory);
	RUN(a_core_is_found_among_many);
	RUN(cores_are_taken_together);
	RUN(a_kept_core_is_not_lost);
	RUN(counts_of_cores_are_read);
	RUN(several_cores_are_pinned);
	RUN(a_far_core_is_pinned);
	return test_done();
}
