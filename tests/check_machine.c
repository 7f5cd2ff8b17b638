/*
 * check_machine.c - cores of machines that are not this one: the system's answers are made up here, in
 * place of the C library's.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include "device/machine.h"
#include "tests/test.h"

static size_t kernel_cores; /* room the kernel wants for its set */
static int allowed_core, pinned_core;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	if (8 * size < kernel_cores) {
		errno = EINVAL;
		return -1;
	}
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)allowed_core, size, set);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	(void)pid;
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

static void a_far_core_is_pinned(void)
{
	struct err err = {0};

	for (allowed_core = 0; allowed_core < 5000; allowed_core += 1023) {
		CHECK_INT(core_pin(allowed_core, &err), 0);
		CHECK_INT(pinned_core, allowed_core);
	}
}

int main(void)
{
	RUN(a_core_is_found_among_many);
	RUN(a_far_core_is_pinned);
	return test_done();
}
