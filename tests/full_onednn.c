/*
 * full_onednn.c - calls of oneDNN compute what they are read as (hlo/library.h).
 *
 * Products and convolutions in all orders of their dimensions run on the real compiler, as they are and as calls. On
 * small whole numbers, of which all sums are exact, both give the same bits.
 *
 * The proof can fail: with another first operand it must.
 */
#include <string.h>
#include "device/device.h"
#include "hlo/library.h"
#include "space/space.h"
#include "space/rewrite/own.h"
#include "tests/rewrite_library.h"
#include "tests/test.h"

static struct device *device;
static uint32_t proven[2], tried, caught;
static bool kept; /* was a call written down? */

/* The largest difference of two programs; infinite if one does not run. */
static double apart(const struct buf *a, const struct buf *b)
{
	const struct buf *module[2] = {a, b};
	struct compiled c[2] = {{0}, {0}};
	struct comparison x = {0};
	struct err err = {0};
	double far = INFINITY;
	bool ok = true;

	for (int i = 0; i < 2; i++)
		ok = device_compile(device, COMPILE_APPLIED, "hlo", module[i]->data, module[i]->len, 0, &c[i],
			&err) == 0 &&
			c[i].outcome == OUTCOME_OK && ok;
	if (ok && device_compare(device, &c[0], &c[1], NULL, &x, &err) == 0 && x.outcome == OUTCOME_OK)
		far = x.all.unlike || x.all.elements == 0 ? INFINITY : x.all.max_abs;
	comparison_release(&x);
	for (int i = 0; i < 2; i++) {
		device_drop(device, &c[i], &err);
		compiled_release(&c[i]);
	}
	return far;
}

/* Writes a case of small whole numbers. */
static void of_whole_numbers(const char *text, bool half, struct buf *out)
{
	static const char given[] = " parameter(", *const times[] = {"one", "two", "four", "eight"};

	for (const char *line = text, *end; *line; line = end) {
		const char *at, *name;
		end = strchr(line, '\n') + 1;
		name = line + strspn(line, " ");
		at = memmem(line, (size_t)(end - line), given, strlen(given));
		if (at) {
			buf_addf(out, "  one_%.*s", (int)(end - name), name);
			for (size_t k = 0; k + 1 < sizeof times / sizeof *times; k++)
				buf_addf(out, "  %s_%.*s add(%s_%c, %s_%c)\n", times[k + 1], (int)(at - name), name,
					times[k], *name, times[k], *name);
			buf_addf(out, "%.*s round-nearest-even(eight_%c)\n", (int)(at - line), line, *name);
		} else {
			buf_add(out, line, (size_t)(end - line));
		}
	}
	for (char *p = out->data; half && (p = strstr(p, "f32[")) != NULL;) {
		struct buf rest = {0};
		size_t before = (size_t)(p - out->data);
		buf_adds(&rest, p + 3);
		out->len = before;
		buf_addf(out, "bf16%s", rest.data);
		p = out->data + before + 4;
		buf_release(&rest);
	}
}

/* Makes the first operand another one. */
static void negate(const struct buf *module, struct buf *out)
{
	struct graph g = {0};
	uint32_t v;

	CHECK(graph_parse(&g, module->data, module->len, "rewritten", NULL) == 0);
	v = graph_find(&g, "x");
	if (CHECK(v != NONE))
		g.node[v].proto->opcode = (char *)"negate";
	graph_write(&g, out);
	graph_release(&g);
}

/* XLA dies, or writes what cannot be loaded, if it is asked to write a call down; so it is not asked. */
static bool is_written_down(const struct buf *module)
{
	struct compiled c = {0};
	struct err err = {0};
	bool written = true;

	if (CHECK(device_compile(device, COMPILE_APPLIED, "hlo", module->data, module->len, WANT_SERIALISED, &c,
		&err) == 0) && CHECK(c.outcome == OUTCOME_OK))
		written = c.serialised.len > 0;
	device_drop(device, &c, &err);
	compiled_release(&c);
	return written;
}

/* Runs a case as it is, with the call in its place, and with a call of something else. */
static void prove(const char *text, bool half)
{
	struct buf whole = {0}, before = {0}, after = {0}, negated = {0};
	struct graph g = {0};
	struct err err = {0};
	struct space *s = NULL;
	uint8_t config[1] = {0};

	of_whole_numbers(text, half, &whole);
	if (CHECK(graph_parse(&g, whole.data, whole.len, "case", &err) == 0))
		s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
	for (uint8_t k = 1; s && s->n_sites == 1 && k < s->site[0].choices; k++) {
		const struct rule *r = rewrite_rule(s, rewrite_offer(s, 0, k));
		if (!r->onednn)
			continue;
		config[0] = k;
		graph_write(&g, &before);
		if (!CHECK(s->ops->apply(s, config, &after, &err) == 0) || !CHECK_NEAR(apart(&before, &after), 0, 0))
			printf("# %s: %s\n%s", r->name, err.text, whole.data);
		proven[g.node[s->site[0].node].opcode == OP_CONVOLUTION]++;
		kept |= is_written_down(&after);
		negate(&after, &negated);
		caught += apart(&before, &negated) > 0;
		tried++;
		break;
	}
	space_free(s);
	graph_release(&g);
	buf_release(&whole);
	buf_release(&before);
	buf_release(&after);
	buf_release(&negated);
}

static void visit(void *ctx, const char *text)
{
	prove(text, *(bool *)ctx);
}

static void calls_are_what_they_say(void)
{
	int kinds = 0;

#ifdef __x86_64__
	kinds = __builtin_cpu_supports("avx512f") ? 2 : 1; /* without, oneDNN computes nothing in bf16 */
#endif
	if (kinds == 0)
		SKIP("XLA:CPU has oneDNN on x86 only");
	for (int half = 0; half < kinds; half++) {
		bool ctx = half != 0;
		walk_called_products(visit, &ctx, 23, (uint32_t)half);
		walk_called_windows(visit, &ctx, 23, (uint32_t)half);
	}
	printf("# %u products, %u convolutions\n", proven[0], proven[1]);
	CHECK(proven[0] >= 20 && proven[1] >= 20);
	CHECK_INT(caught, tried);
	CHECK(!kept);
}

int main(void)
{
	struct err err = {0};

	device = device_open(&(struct device_options){.backend = "cpu", .wait = true, .untimed = true,
		.deadline = PATIENT, .kind = "rewrite"}, &err);
	if (!device) {
		printf("skip: calls of oneDNN: %s\n", err.text);
		return 0;
	}
	RUN(calls_are_what_they_say);
	device_close(device);
	return test_done();
}
