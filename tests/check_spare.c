/*
 * check_spare.c - executables are kept, loaded, or taken from the device where they are already.
 */
#include <math.h>
#include "cost/spare.h"
#include "device/host.h"
#include "tests/device_fixture.h"

static struct compiled dear(double seconds, const char *bytes)
{
	struct compiled c = {.seconds = seconds};

	buf_adds(&c.serialised, bytes);
	return c;
}

static void put(struct spares *k, enum compile_how how, const char *module, double seconds)
{
	struct buf m = {0};
	struct compiled c = dear(seconds, module);

	buf_adds(&m, module);
	spare_put(k, how, &m, &c);
	compiled_release(&c);
	buf_release(&m);
}

static bool there(struct spares *k, enum compile_how how, const char *module)
{
	struct buf m = {0};
	const struct spare *p;

	buf_adds(&m, module);
	p = spare_get(k, how, &m);
	buf_release(&m);
	return p && strcmp(p->executable.data, module) == 0;
}

/* Where nothing is applied, both ways of compiling are one; and what one search has, it gives to the next. */
static void programs_are_shared(void)
{
	struct spares k = {.plain = true}, next = {0};
	struct buf m = {0};

	put(&k, COMPILE_APPLIED, "own", 60);
	CHECK(there(&k, COMPILE_DEFAULT, "own") && there(&k, COMPILE_APPLIED, "own"));
	buf_adds(&m, "own");
	spare_share(&k, COMPILE_DEFAULT, &m, &next);
	CHECK(there(&next, COMPILE_DEFAULT, "own") && !there(&next, COMPILE_APPLIED, "own"));
	buf_reset(&m);
	buf_adds(&m, "another");
	spare_share(&k, COMPILE_DEFAULT, &m, &next);
	CHECK(!there(&next, COMPILE_DEFAULT, "another"));
	buf_release(&m);
	spares_release(&k);
	spares_release(&next);
}

static void dear_programs_are_kept(void)
{
	struct spares k = {0};
	char name[16];

	put(&k, COMPILE_DEFAULT, "own", 60);
	put(&k, COMPILE_APPLIED, "cheap", 0.1);
	CHECK(there(&k, COMPILE_DEFAULT, "own"));
	CHECK(!there(&k, COMPILE_APPLIED, "own"));
	CHECK(!there(&k, COMPILE_APPLIED, "cheap"));
	for (int i = 0; i < 3 * SPARES; i++) { /* who is asked for stays */
		snprintf(name, sizeof name, "p%d", i);
		put(&k, COMPILE_APPLIED, name, 60);
		CHECK(there(&k, COMPILE_APPLIED, name));
		CHECK(there(&k, COMPILE_DEFAULT, "own"));
	}
	CHECK(!there(&k, COMPILE_APPLIED, "p0"));
	put(&k, COMPILE_DEFAULT, "own", 70);
	CHECK(there(&k, COMPILE_DEFAULT, "own"));
	spares_release(&k);
	CHECK(!there(&k, COMPILE_DEFAULT, "own"));
}

/* Sides of regions are many, and kept from a tenth of a second on. */
static void sides_are_kept_sooner(void)
{
	struct spares k = {.sides = true};
	struct compiled large = {.seconds = 1};
	struct buf module = {0};
	char name[16];

	buf_adds(&module, "large");
	buf_reserve(&large.serialised, SPARE_SIDES_BYTES - 3); /* "p0" has two bytes */
	large.serialised.len = SPARE_SIDES_BYTES - 3;

	put(&k, COMPILE_APPLIED, "cheap", SPARE_DEAR_SIDE / 2);
	CHECK(!there(&k, COMPILE_APPLIED, "cheap"));
	for (int i = 0; i < SPARE_SIDES; i++) {
		snprintf(name, sizeof name, "p%d", i);
		put(&k, COMPILE_APPLIED, name, 2 * SPARE_DEAR_SIDE);
	}
	CHECK(there(&k, COMPILE_APPLIED, "p0"));
	put(&k, COMPILE_APPLIED, "one more", SPARE_DEAR);
	CHECK(there(&k, COMPILE_APPLIED, "p0") && !there(&k, COMPILE_APPLIED, "p1"));
	spare_put(&k, COMPILE_APPLIED, &module, &large); /* there is room for it and one small one */
	CHECK(there(&k, COMPILE_APPLIED, "p0") && !there(&k, COMPILE_APPLIED, "one more"));
	compiled_release(&large);
	buf_release(&module);
	spares_release(&k);
}

/* On the fake plugin: a kept executable is loaded the second time; one that cannot be loaded is compiled. */
static void what_is_kept_is_loaded(void)
{
	struct device *d = fixture_open();
	struct spares k = {0};
	struct buf module = {0};
	struct compiled c = {0};
	struct err err = {{0}};

	if (!CHECK(d != NULL))
		return;
	fixture_program("us=10", &module);
	CHECK(spare_compile(&k, d, COMPILE_APPLIED, &module, 0, &c, &err) == 0 && c.outcome == OUTCOME_OK);
	CHECK(spare_get(&k, COMPILE_APPLIED, &module) == NULL); /* that was fast */
	CHECK(c.serialised.len > 0);
	c.seconds = 60;
	spare_put(&k, COMPILE_APPLIED, &module, &c);
	compiled_release(&c);
	CHECK(spare_compile(&k, d, COMPILE_APPLIED, &module, 0, &c, &err) == 0 && c.outcome == OUTCOME_OK);
	CHECK(c.seconds == 60 && c.handle != 0 && c.serialised.len == 0);
	CHECK(isinf(host_known(host_of(d), c.handle)->compile)); /* nobody compiles it anew */
	compiled_release(&c);
	buf_reset(&k.program[0].executable);
	buf_adds(&k.program[0].executable, "fake:reload=no");
	CHECK(spare_compile(&k, d, COMPILE_APPLIED, &module, 0, &c, &err) == 0 && c.outcome == OUTCOME_OK);
	CHECK(c.seconds < 60 && c.serialised.len > 0);
	compiled_release(&c);
	spares_release(&k);
	buf_release(&module);
	device_close(d);
}

/* What extraction left on the device is taken from there, once, and only on that device. */
static void what_is_there_is_not_loaded(void)
{
	struct device *d = fixture_open();
	struct spares k = {0};
	struct buf module = {0};
	struct extracted e = {0};
	struct compiled c = {0}, own = {.seconds = 60};
	struct err err = {{0}};
	uint32_t handle;

	if (!CHECK(d != NULL))
		return;
	fixture_program("us=10", &module);
	for (int round = 0; round < 3; round++) { /* 0: it is taken; 1: it is forgotten; 2: it is nothing to keep */
		CHECK(device_extract(d, "hlo", module.data, module.len, &e, &err) == 0 && e.outcome == OUTCOME_OK);
		handle = e.resident.handle;
		CHECK(handle != 0 && e.resident.generation == device_generation(d));
		buf_add(&own.serialised, e.own.data, e.own.len);
		if (round < 2)
			spare_put(&k, COMPILE_DEFAULT, &module, &own);
		spare_lend(&k, COMPILE_DEFAULT, &module, d, &e.resident);
		CHECK_INT(e.resident.handle, 0);
		if (round == 1)
			spares_forget(&k);
		CHECK(spare_compile(&k, d, COMPILE_APPLIED, &module, 0, &c, &err) == 0 && c.handle != handle);
		compiled_release(&c);
		CHECK(spare_compile(&k, d, COMPILE_DEFAULT, &module, 0, &c, &err) == 0 && c.outcome == OUTCOME_OK);
		CHECK((c.handle == handle) == (round == 0));
		if (round == 0) {
			struct timing t = {0};
			CHECK(c.seconds == 60 && device_run(d, &c, &(struct precision){0}, &t, &err) == 0);
			CHECK_INT(t.outcome, OUTCOME_OK);
			timing_release(&t);
		}
		compiled_release(&c);
		CHECK(spare_compile(&k, d, COMPILE_DEFAULT, &module, 0, &c, &err) == 0 && c.handle != handle);
		compiled_release(&c);
		compiled_release(&own);
		extracted_release(&e);
		spares_release(&k);
	}
	buf_release(&module);
	device_close(d);
}

/*
 * What took long to compile and cannot be written down is taken from the device, once; and it may be another program by
 * then, which the compiler makes the same of.
 */
static void what_cannot_be_kept_is_taken(void)
{
	struct device *d = fixture_open();
	struct spares k = {0};
	struct buf own = {0}, applied = {0};
	struct extracted e = {0};
	struct compiled c = {0};
	struct err err = {{0}};
	uint32_t handle;

	if (!CHECK(d != NULL))
		return;
	fixture_program("us=10;serial=no", &own);
	fixture_program("us=11;serial=no", &applied);
	CHECK(device_extract(d, "hlo", own.data, own.len, &e, &err) == 0 && e.outcome == OUTCOME_OK && !e.own.len);
	handle = e.resident.handle;
	e.resident.seconds = 60;
	spare_lend(&k, COMPILE_DEFAULT, &own, d, &e.resident);
	CHECK(spare_get(&k, COMPILE_DEFAULT, &own) == NULL); /* there are no bytes of it */
	spare_rename(&k, COMPILE_DEFAULT, &own, COMPILE_APPLIED, &applied);
	CHECK(spare_compile(&k, d, COMPILE_DEFAULT, &own, 0, &c, &err) == 0 && c.handle != handle);
	compiled_release(&c);
	for (int round = 0; round < 2; round++) {
		CHECK(spare_compile(&k, d, COMPILE_APPLIED, &applied, 0, &c, &err) == 0 && c.outcome == OUTCOME_OK);
		CHECK((c.handle == handle) == (round == 0) && (c.seconds == 60) == (round == 0));
		compiled_release(&c);
	}
	extracted_release(&e);
	spares_release(&k);
	buf_release(&own);
	buf_release(&applied);
	device_close(d);
}

int main(void)
{
	RUN(dear_programs_are_kept);
	RUN(programs_are_shared);
	RUN(sides_are_kept_sooner);
	if (fixture_begin()) {
		RUN(what_is_kept_is_loaded);
		RUN(what_is_there_is_not_loaded);
		RUN(what_cannot_be_kept_is_taken);
	} else {
		printf("skip: what_is_kept_is_loaded: no fake plugin without the plugin's header\n");
	}
	fixture_end();
	return test_done();
}
