/*
 * check_account.c - what happens to groups of the compiler that no choice can express: the program is restated where
 * that helps; the others are counted by cause.
 *
 * The test plays the compiler, with the programs of decode_text.h before and after its fusion pass.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/io.h"
#include "device/ops.h"
#include "inspect/space.h"
#include "ready/subject.h"
#include "tests/decode_text.h"
#include "tests/test.h"

struct compiler {
	struct device d;
	const struct decode_case *shows;
};

static int extract(struct device *d, const char *format, const void *p, size_t n, struct extracted *out,
	struct err *err)
{
	const struct decode_case *c = ((struct compiler *)d)->shows;

	(void)format;
	(void)p;
	(void)n;
	(void)err;
	buf_adds(&out->before, c->before);
	buf_adds(&out->after, c->after);
	return 0;
}

/* Refuses every program, so that loops are not counted. */
static int compile(struct device *d, enum compile_how how, const char *format, const void *p, size_t n, unsigned want,
	struct compiled *out, struct err *err)
{
	(void)d;
	(void)how;
	(void)format;
	(void)p;
	(void)n;
	(void)want;
	(void)err;
	*out = (struct compiled){.outcome = OUTCOME_REFUSED};
	return 0;
}

static const struct device_ops ops = {.extract = extract, .compile = compile};
static struct compiler compiler = {
	.d = {.ops = &ops, .info = {.backend = "cpu", .family = "cpu", .compiles = true}}};
static char path[] = "/tmp/check_account.XXXXXX";

/* A stored graph must open the same space again, by its bytes alone. */
static void check_bytes(const struct subject *s)
{
	struct graph g = {0};
	struct err err = {0};
	struct space *again = NULL;

	if (CHECK(graph_parse(&g, s->bytes.data, s->bytes.len, "bytes", &err) == 0))
		again = space_open("fusion", "cpu", &g, NULL, 0, &err);
	if (CHECK(again != NULL))
		CHECK(again->hash == s->space->hash);
	for (uint32_t v = 0; v < s->graph.n_nodes; v++)
		CHECK_INT(graph_find(&s->graph, s->graph.node[v].proto->name), v);
	space_free(again);
	graph_release(&g);
}

static void subjects_are_restated(void)
{
	for (size_t i = 0; i < N_DECODE_CASES; i++) {
		const struct decode_case *c = compiler.shows = &decode_cases[i];
		struct subject s;
		struct err err = {0};
		int failed = test_failed;
		if (CHECK(subject_open(&s, path, "fusion", &compiler.d, &err) == 0)) {
			const struct space_account *a = &s.space->account;
			CHECK_INT(a->added, c->added);
			CHECK_INT(a->parts - a->equal, c->left);
			CHECK(!strstr(s.decoded, "copies that differ") == !c->added);
			CHECK(!strstr(s.decoded, "the rest") == !c->left);
			CHECK(!strchr(s.decoded, '\n') && !strchr(s.decoded, '.'));
			check_bytes(&s);
			subject_release(&s);
		}
		if (test_failed > failed)
			printf("\t%s: %s\n", c->name, err.text);
	}
}

/* The binary space keeps the program as it is, and counts what its choices cannot express. */
static void binary_spaces_are_not(void)
{
	uint32_t told = 0;

	for (size_t i = 0; i < N_DECODE_CASES; i++) {
		struct subject s;
		struct err err = {0};
		compiler.shows = &decode_cases[i];
		if (!CHECK(subject_open(&s, path, "fusion/binary", &compiler.d, &err) == 0))
			continue;
		CHECK_INT(s.space->account.added, 0);
		CHECK_INT(s.space->account.cause[CAUSE_OTHER].parts, 0);
		told += s.space->account.cause[CAUSE_COPIES].parts + s.space->account.cause[CAUSE_CONSUMERS].parts;
		subject_release(&s);
	}
	CHECK(told >= 3);
}

static void causes_are_shown(void)
{
	struct inspect_space o = {.path = path, .device = &compiler.d};
	struct buf text = {0}, json = {0};
	struct err err = {0};

	for (size_t i = 0; i < N_DECODE_CASES; i++) {
		const struct decode_case *c = compiler.shows = &decode_cases[i];
		int failed = test_failed;
		buf_reset(&text);
		buf_reset(&json);
		o.json = false;
		CHECK(inspect_space(&o, &text, &err) == 0);
		CHECK(!strstr(text.data, "\ndiffer ") == !c->left);
		o.json = true;
		CHECK(inspect_space(&o, &json, &err) == 0);
		CHECK(strstr(json.data, "\"causes\""));
		if (c->cause == CAUSE_RULES) {
			CHECK(strstr(json.data, "\"against_rules\": 1"));
			CHECK(strstr(text.data, "absorbed against our rules, first "));
		}
		if (test_failed > failed)
			printf("\t%s: %s\n", c->name, err.text);
	}
	buf_release(&text);
	buf_release(&json);
}

int main(void)
{
	struct err err = {0};
	int fd = mkstemp(path);

	if (fd < 0 || io_write_file(path, decode_cases[0].before, strlen(decode_cases[0].before), &err) < 0)
		return 1;
	close(fd);
	RUN(subjects_are_restated);
	RUN(binary_spaces_are_not);
	RUN(causes_are_shown);
	unlink(path);
	return test_done();
}
