/*
 * check_host_veto.c - compilations that are given up because of what they have written so far.
 */
#include "tests/device_fixture.h"

static int asked;

/* Is not content with the first three looks. */
static enum vetoed refuse_later(void *ctx, const void *proto, size_t n, char *why, size_t room)
{
	const struct buf *program = ctx;

	CHECK(memmem(proto, n, program->data, program->len) != NULL);
	snprintf(why, room, "it is too large");
	return ++asked <= 3 ? VETO_WAIT : VETO_STOP;
}

static enum vetoed let_go(void *ctx, const void *proto, size_t n, char *why, size_t room)
{
	(void)ctx;
	(void)proto;
	(void)n;
	snprintf(why, room, "nothing");
	asked++;
	return VETO_NONE;
}

/* Whoever only wants a program lowered does not wait for the compiler's passes and its code. */
static void lowering_ends_when_the_program_is_there(void)
{
	struct buf program = {0};
	struct veto look = {refuse_later, &program, true};
	struct device *d = fixture_open();
	struct extracted e;
	struct err err = {{0}};

	if (!CHECK(d != NULL))
		return;
	fixture_program("compile=hang", &program);
	fixture_deadline(d, PATIENT);
	device_veto(d, &look);
	asked = 0;
	CHECK(device_extract(d, "mlir", program.data, program.len, &e, &err) == 0);
	CHECK_STR(e.detail, "it is too large");
	CHECK_INT(asked, 4);
	extracted_release(&e);
	device_close(d);
	buf_release(&program);
	CHECK_INT(fixture_leftovers(), 0);
}

/* A compilation that would never end is given up as soon as the veto says so; the worker is then started anew. */
static void compiling_is_given_up(void)
{
	struct buf program = {0};
	struct veto stop = {refuse_later, &program, false}, go = {let_go, NULL, false};
	struct device *d = fixture_open();
	struct extracted e;
	struct err err = {{0}};

	if (!CHECK(d != NULL))
		return;
	fixture_program("arranged=1;compile=hang", &program);
	fixture_deadline(d, PATIENT);
	device_veto(d, &stop);
	asked = 0;
	CHECK(device_extract(d, "hlo", program.data, program.len, &e, &err) == 0);
	CHECK_INT(e.outcome, OUTCOME_OOM);
	CHECK_STR(e.detail, "it is too large");
	CHECK_INT(asked, 4);
	extracted_release(&e);
	device_veto(d, &go);
	fixture_deadline(d, 2 * SHORT);
	CHECK(device_extract(d, "hlo", program.data, program.len, &e, &err) == 0);
	CHECK_INT(e.outcome, OUTCOME_TIMEOUT);
	CHECK(asked <= 5);
	extracted_release(&e);
	device_veto(d, NULL);
	fixture_deadline(d, PATIENT);
	fixture_program("arranged=1", &program);
	CHECK(device_extract(d, "hlo", program.data, program.len, &e, &err) == 0 && e.outcome == OUTCOME_OK);
	extracted_release(&e);
	device_close(d);
	buf_release(&program);
}

int main(void)
{
	if (fixture_begin()) {
		RUN(lowering_ends_when_the_program_is_there);
		RUN(compiling_is_given_up);
	} else {
		printf("skip: veto: no fake plugin: it is built once the plugin's header is there (make deps)\n");
	}
	fixture_end();
	return test_done();
}
