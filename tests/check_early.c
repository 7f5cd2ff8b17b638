/*
 * check_early.c - inputs that are made while their program is compiled: they are those that would have been made after
 * it, each is given out once, and none is made on cores on which others measure.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/device_fixture.h"
#ifdef HAVE_PJRT
#include "device/machine.h"
#include "device/worker/pjrt_own.h"

#define MANY ((int64_t)12 << 20) /* numbers of 4 bytes: enough to be worth it */

static struct type floats(int64_t *n)
{
	return (struct type){PJRT_Buffer_Type_F32, 1, n, NULL, (uint64_t)*n};
}

/* Begins to make the inputs of a program with one parameter, on the core of this machine that is named. */
static void begin(struct pjrt *p, int64_t n, int core)
{
	struct buf module = {0};

	fixture_program_of("us=10", n, &module);
	pjrt_begin_inputs(p, module.data, module.len, &core, 1);
	buf_release(&module);
}

static int own_core(void)
{
	cpu_set_t set;
	int core = 0;

	CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
	while (core < CPU_SETSIZE - 1 && !CPU_ISSET((size_t)core, &set))
		core++;
	return core;
}

static int threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static void early_inputs_are_the_usual_ones(void)
{
	struct pjrt p = {.client = (PJRT_Client *)&p, .facts.on_host = true, .seed = 7};
	int64_t n = MANY, few = 4;
	struct type t = floats(&n), small = floats(&few);
	uint64_t key = value_key(&t, 0);
	uint8_t *early = NULL, *usual = value_new(p.seed, key, t.dtype, t.elements, INPUTS_NORMAL, 0, NULL);
	int before = threads();

	begin(&p, n, own_core());
	if (CHECK(p.early != NULL)) {
		CHECK(pjrt_take_input(&p, value_key(&small, 1), small.dtype, small.elements) == NULL);
		while (threads() > before) /* whoever comes before it was begun makes it himself */
			sched_yield();
		early = pjrt_take_input(&p, key, t.dtype, t.elements);
		CHECK_INT(p.n_early, 1);
		CHECK(pjrt_take_input(&p, key, t.dtype, t.elements) == NULL);
		pjrt_end_inputs(&p);
		CHECK(p.early == NULL && p.n_early == 0);
	}
	CHECK(early && memcmp(early, usual, t.elements * sizeof(float)) == 0);
	mem_free(early);
	mem_free(usual);
	begin(&p, few, own_core()); /* not worth it */
	CHECK(p.early == NULL);
	p.facts.on_host = false;
	begin(&p, n, own_core());
	CHECK(p.early == NULL);
}

static void cores_of_others_make_nothing(void)
{
	struct pjrt p = {.client = (PJRT_Client *)&p, .facts.on_host = true, .seed = 7};
	struct core_lock other = {0};
	struct err err = {{0}};
	int64_t n = MANY;
	struct type t = floats(&n);
	int status = -1;
	pid_t child;

	if (!CHECK(core_take(&other, "another", own_core() + 1, false, &err) == 0)) {
		printf("\t%s\n", err.text);
		return;
	}
	child = fork();
	if (child == 0) {
		begin(&p, n, own_core());
		if (!p.early)
			_exit(2);
		while (threads() > 1) /* it ends when it has done what it will */
			sched_yield();
		_exit(pjrt_take_input(&p, value_key(&t, 0), t.dtype, t.elements) ? 1 : 0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
	core_release(&other);
}

int main(void)
{
	if (!fixture_begin()) {
		printf("skip: early inputs: no fake plugin without the plugin's header\n");
		return test_done();
	}
	RUN(early_inputs_are_the_usual_ones);
	RUN(cores_of_others_make_nothing);
	fixture_end();
	return test_done();
}
#else
int main(void)
{
	printf("skip: early inputs: this is built without the plugin's header\n");
	return test_done();
}
#endif
