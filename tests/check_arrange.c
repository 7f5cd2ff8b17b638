/*
 * check_arrange.c - how often a search for an arrangement has programs compiled. The compiler is scripted, and the kind
 * has one other arrangement than the compiler's own.
 */
#include <stdlib.h>
#include "base/io.h"
#include "search/arrange.h"
#include "tests/script_device.h"

#define OWN_BYTES 1000 /* that the compiler's own program needs */

/* The compiler says how many bytes a program needs, and takes long to compile it. */
static struct compiler {
	struct device d;
	uint64_t found_bytes; /* what was found needs so many */
	uint32_t asked, compiles, loads, handle;
	double seconds;
} compiler;

static void close_it(struct device *d)
{
	(void)d;
}

static int arrange_it(struct device *d, enum compile_how how, const char *options, const void *p, size_t n,
	struct arranged *out, struct err *err)
{
	struct buf own = {0};

	(void)d;
	CHECK(space->ops->apply(space, dflt, &own, err) == 0);
	if (how == COMPILE_DEFAULT || options || (n == own.len && memcmp(p, own.data, n) == 0))
		buf_addf(&out->proto, "%d", OWN_BYTES);
	else
		buf_addf(&out->proto, "%llu", (unsigned long long)compiler.found_bytes);
	compiler.asked++;
	buf_release(&own);
	return 0;
}

static int compile_it(struct device *d, enum compile_how how, const char *format, const void *p, size_t n,
	unsigned want, struct compiled *out, struct err *err)
{
	(void)d, (void)how, (void)want, (void)err;
	if (strcmp(format, FORMAT_EXECUTABLE) == 0)
		compiler.loads++;
	else
		compiler.compiles++;
	out->handle = ++compiler.handle;
	out->seconds = compiler.seconds;
	buf_add(&out->serialised, p, n);
	return 0;
}

/* Other bits, so nothing is timed, for which another worker would be started. */
static int compare_them(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o,
	struct comparison *out, struct err *err)
{
	(void)d, (void)o, (void)err;
	CHECK(a != b);
	out->all.max_abs = 1;
	return 0;
}

static int figure(const void *proto, size_t n, uint64_t *bytes, struct err *err)
{
	(void)n, (void)err;
	*bytes = strtoull(proto, NULL, 10);
	return 0;
}

static int take(struct space *s, const void *proto, size_t n, uint8_t *config, struct err *err)
{
	(void)proto, (void)n, (void)err;
	memcpy(config, dflt, s->n_sites);
	return 0;
}

static int look(struct space *s, const struct space_look *o, uint8_t *config, struct space_looked *out, struct err *err)
{
	(void)o, (void)err;
	*out = (struct space_looked){0};
	memcpy(config, flip, s->n_sites);
	return 0;
}

static void find_course(struct space *s, const uint8_t *config, struct space_course *out)
{
	(void)s, (void)config;
	*out = (struct space_course){.alive = MEM_NEW(1, uint64_t), .n = 1};
}

static void find_holders(struct space *s, const uint8_t *config, struct holders *out)
{
	(void)s, (void)config;
	*out = (struct holders){.step = "nothing"};
}

static void write_it(struct space *s, const uint8_t *config, struct json *j, const char *name)
{
	(void)s, (void)config;
	json_str(j, name, "");
}

static const struct device_ops compiler_ops = {.close = close_it, .arrange = arrange_it, .compile = compile_it,
	.compare = compare_them};
static const struct space_arranging arranging = {.figure = figure, .take = take, .look = look, .course = find_course,
	.holders = find_holders, .write = write_it};
static char folder[] = "/tmp/check_arrange-XXXXXX";

static bool has(const char *file)
{
	char path[80];

	snprintf(path, sizeof path, "%s/%s", folder, file);
	return io_exists(path);
}

/* Whatever cannot be written, a folder with config.json holds all of the answer, and nothing of an earlier one. */
static void write_with_failures(struct arrange *a)
{
	bool reached = true;
	struct err err;
	int without = 0; /* the compiled program, with a warning */

	a->forgone = true;
	buf_adds(&a->executable, "compiled");
	for (long n = 0; reached; n++) {
		io_write_in(folder, "config.json", "", 0, NULL);
		io_write_in(folder, "prepare.pb", "", 0, NULL);
		io_fail_at(n, 28 /* no space */);
		int rc = arrange_write(a, &err);
		reached = io_fail_at(-1, 0) > n;
		bool whole = has("tuned.pb") && has("options.txt") && has("report.html") && !has("prepare.pb");
		CHECK(n == 0 || !has("config.json") || whole); /* at first what was there could not be removed */
		CHECK(rc < 0 || has("config.json"));
		CHECK(rc < 0 || has("tuned.exe") || reached);
		without += rc == 0 && !has("tuned.exe");
	}
	CHECK(without > 0 && has("tuned.exe"));
	a->forgone = false;
}

/* Searches; `known`: what the compiler said when the program was opened, or "". Keeps the lab's spares. */
static void search(struct lab *l, const char *known, struct buf *summary)
{
	struct arrange_settings set = {.dir = folder, .quiet = true, .json = true};
	struct arrange a = {.set = &set, .lab = l, .device = &compiler.d};
	struct err err = {{0}};

	compiler.asked = compiler.compiles = compiler.loads = 0;
	compiler.d = (struct device){.ops = &compiler_ops, .generation = 1,
		.info = {.family = "cpu", .kind = COST_MEASURED, .can_run = true}};
	buf_adds(&l->subject.opened.after, known);
	if (!CHECK_INT(arrange_search(&a, &err), 0))
		printf("  %s\n", err.text);
	CHECK(!a.tuned);
	write_with_failures(&a);
	arrange_summary(&a, summary);
	arrange_release(&a);
	buf_release(&l->subject.opened.after);
}

static struct lab open_lab(void)
{
	struct lab l = {.space = space, .subject = {.name = mem_strdup("toy")}};

	buf_add(&l.subject.original, module.data, module.len);
	buf_add(&l.subject.bytes, module.data, module.len);
	return l;
}

static void release(struct lab *l)
{
	spares_release(&l->subject.opened.spares);
	buf_release(&l->subject.original);
	buf_release(&l->subject.bytes);
	mem_free(l->subject.name);
}

static void what_took_long_is_kept_for_the_verdict(void)
{
	for (int is_long = 0; is_long < 2; is_long++) {
		struct lab l = open_lab();
		struct spares *spares = &l.subject.opened.spares;
		struct buf tuned = {0}, out = {0};
		struct err err = {{0}};
		compiler.found_bytes = OWN_BYTES - 1;
		compiler.seconds = is_long ? 2 * SPARE_DEAR : SPARE_DEAR / 2;
		search(&l, "", &out);
		CHECK_INT(compiler.compiles, 2);
		CHECK(strstr(out.data, "\"numbers_equal\": false"));
		CHECK(strstr(out.data, "could not be shown to compute exactly the same numbers"));
		CHECK(space->ops->apply(space, flip, &tuned, &err) == 0);
		CHECK_INT(spare_get(spares, COMPILE_DEFAULT, &l.subject.original) != NULL, is_long);
		CHECK_INT(spare_get(spares, COMPILE_APPLIED, &tuned) != NULL, is_long);
		search(&l, "", &out);
		CHECK_INT(compiler.compiles, is_long ? 0 : 2);
		CHECK_INT(compiler.loads, is_long ? 2 : 0);
		buf_release(&tuned);
		buf_release(&out);
		release(&l);
	}
}

static void what_is_no_gain_is_not_compiled(void)
{
	struct lab l = open_lab();
	struct buf out = {0};

	compiler.found_bytes = OWN_BYTES;
	search(&l, "", &out);
	CHECK_INT(compiler.compiles, 0);
	CHECK(strstr(out.data, "No arrangement was found") && !strstr(out.data, "numbers_equal"));
	buf_release(&out);
	release(&l);
}

/* The default, as it is applied, another way, and what was found: the compiler's own program was asked about before. */
static void what_opening_taught_is_not_asked_again(void)
{
	struct lab l = open_lab();
	struct buf out = {0};

	search(&l, "", &out);
	CHECK_INT(compiler.asked, 4);
	buf_reset(&out);
	search(&l, "1234", &out);
	CHECK_INT(compiler.asked, 3);
	CHECK(strstr(out.data, "\"default_bytes\": 1234"));
	buf_reset(&out);
	l.derived = true; /* opening asked about what other decisions made of it */
	compiler.found_bytes = OWN_BYTES + 1;
	search(&l, "1234", &out);
	CHECK_INT(compiler.asked, 4);
	CHECK(strstr(out.data, "\"default_bytes\": 1000"));
	buf_release(&out);
	release(&l);
}

int main(void)
{
	const struct space_ops *real;
	struct space_ops ops;
	struct space_kind kind;

	script_open(); /* all zero is the compiler's own arrangement, and flip is what is found */
	flip[0] = 1;
	real = space->ops;
	ops = *real;
	kind = *real->kind;
	kind.arranging = &arranging;
	ops.kind = &kind;
	space->ops = &ops;
	strcpy(space->kind, "order");
	if (CHECK(mkdtemp(folder) != NULL)) {
		RUN(what_took_long_is_kept_for_the_verdict);
		RUN(what_is_no_gain_is_not_compiled);
		RUN(what_opening_taught_is_not_asked_again);
		CHECK(io_remove_tree(folder, NULL) == 0);
	}
	space->ops = real;
	script_close();
	return test_done();
}
