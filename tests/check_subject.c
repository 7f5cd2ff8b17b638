/*
 * check_subject.c - from the name that --graph takes to a space: toys, files, dump folders, and names that are none of
 * these.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/io.h"
#include "device/ops.h"
#include "ready/foreign.h"
#include "ready/subject.h"
#include "space/toy/toy.h"
#include "schemas/hlo.pb-c.h"
#include "tests/test.h"

static char folder[] = "/tmp/check_subject.XXXXXX";
static struct buf toy;

static const char *at(const char *name)
{
	static char path[200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const void *p, size_t n)
{
	struct err err = {0};
	if (io_write_file(at(name), p, n, &err) < 0)
		exit(err_exit(&err));
}

static void toys_are_generated(void)
{
	struct subject s;
	struct err err = {0};
	if (!CHECK(subject_open(&s, "toy:60:3:4", "fusion", NULL, &err) == 0)) {
		printf("\t%s\n", err.text);
		return;
	}
	CHECK_STR(s.space->kind, "toy:4:3");
	CHECK_INT(s.space->n_sites, 60);
	CHECK_STR(s.name, "toy:60:3:4");
	/* what a store keeps opens the same space again */
	struct graph g;
	CHECK(graph_parse(&g, s.bytes.data, s.bytes.len, "kept", &err) == 0);
	struct space *again = space_open(s.space->kind, "sim", &g, NULL, 0, &err);
	CHECK(again && again->hash == s.space->hash);
	space_free(again);
	graph_release(&g);
	subject_release(&s);
}

/* What the compiler does not have is named; any other refusal is passed on. */
static void foreign_calls_are_named(void)
{
	static const struct {
		enum outcome outcome;
		const char *detail, *wants, *lacks;
	} t[] = {
		{OUTCOME_REFUSED, "compiling: No FFI handler registered for lapack_spotrf_ffi on a platform Host",
			"it calls lapack_spotrf_ffi, which is no part of the compiler", "FFI"},
		{OUTCOME_REFUSED, "No registered implementation for untyped custom call to LuDecomposition for Host",
			"it calls LuDecomposition, which", "LAPACK"},
		{OUTCOME_REFUSED, "No registered implementation for custom call to \"mine\" for platform Host",
			"it calls mine, which", "\""},
		{OUTCOME_REFUSED, "Mismatched shapes", "Mismatched shapes", "it calls"},
		{OUTCOME_CRASHED, "No FFI handler registered for x on", "No FFI handler registered for x on",
			"it calls"}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct extracted e = {.outcome = t[i].outcome};
		struct err err = {0};
		snprintf(e.detail, sizeof e.detail, "%s", t[i].detail);
		CHECK_INT(refused_by_compiler("step", &e, &err), -1);
		if (!CHECK(strstr(err.text, "step cannot be compiled: ") == err.text) ||
			!CHECK(strstr(err.text, t[i].wants) && !strstr(err.text, t[i].lacks)))
			printf("\t%s\n", err.text);
	}
}

static void files_are_read(void)
{
	static const char *const names[] = {"big.pb", "big.pb.zst", "big.before_optimizations.hlo.pb", "big"};
	struct buf packed = {0};
	io_pack(toy.data, toy.len, 0, &packed);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct subject s;
		struct err err = {0};
		const struct buf *b = i == 1 ? &packed : &toy;
		put(names[i], b->data, b->len);
		if (!CHECK(subject_open(&s, at(names[i]), NULL, NULL, &err) == 0)) {
			printf("\t%s\n", err.text);
			continue;
		}
		CHECK_STR(s.name, "big");
		CHECK_STR(s.space->kind, "fusion");
		CHECK(s.space->n_sites > 20 && s.decoded[0] && s.bytes.len && s.original.len);
		subject_release(&s);
		unlink(at(names[i]));
	}
	buf_release(&packed);
}

static void dump_folders_are_searched(void)
{
	struct subject s;
	struct err err = {0};
	CHECK(subject_open(&s, folder, NULL, NULL, &err) < 0 && strstr(err.text, "before_optimizations"));
	put("module_0001.jit_f.before_optimizations.txt", "x", 1);
	put("module_0001.jit_f.cpu_after_optimizations.hlo.pb", "x", 1);
	put("module_0001.jit_f.before_optimizations.hlo.pb", toy.data, toy.len);
	if (!CHECK(subject_open(&s, folder, NULL, NULL, &err) == 0))
		printf("\t%s\n", err.text);
	CHECK_STR(s.name, "module_0001.jit_f");
	subject_release(&s);
	put("module_0002.jit_g.before_optimizations.hlo.pb", toy.data, toy.len);
	err.text[0] = 0;
	CHECK(subject_open(&s, folder, NULL, NULL, &err) < 0 && strstr(err.text, "jit_f") && strstr(err.text, "jit_g"));
}

/*
 * A compiler played by hand: before its fusion pass the program, after it what the space's own apply
 * makes of a configuration, which the defaults must then be. Or it refuses, shows nothing, is broken.
 */
struct compiler {
	struct device d;
	enum behaviour { SHOWS, SHOWS_NOTHING, REFUSES, BROKEN } does;
	const char *format;	 /* it was asked for */
	struct buf initial, before, after;
	uint64_t peak, memory;	 /* what its program needs, and what there is */
	uint64_t temporary;	 /* ... and what it dumps of temporary values before it generates code; 0: nothing */
	bool given_up;		 /* its compilation was */
};

/* Shows the veto, if there is one, what the compiler dumps: first a part of it. */
static bool screened(struct compiler *c, struct extracted *out)
{
	Hlo__BufferAllocationProto value = HLO__BUFFER_ALLOCATION_PROTO__INIT, *values[] = {&value};
	Hlo__BufferAssignmentProto all = HLO__BUFFER_ASSIGNMENT_PROTO__INIT;
	Hlo__ArrangedProto a = HLO__ARRANGED_PROTO__INIT;
	const struct veto *s = &c->d.veto;
	uint8_t bytes[200];
	size_t n;

	value.size = (int64_t)c->temporary;
	all.n_buffer_allocations = 1;
	all.buffer_allocations = values;
	a.buffer_assignment = &all;
	n = hlo__arranged_proto__pack(&a, bytes);
	if (!s->ask || !c->temporary)
		return false;
	CHECK_INT(s->ask(s->ctx, bytes, n / 2, out->detail, sizeof out->detail), VETO_WAIT);
	return s->ask(s->ctx, bytes, n, out->detail, sizeof out->detail) == VETO_STOP;
}

static int extract(struct device *d, const char *format, const void *p, size_t n, struct extracted *out,
	struct err *err)
{
	struct compiler *c = (struct compiler *)d;
	(void)p;
	(void)n;
	c->format = format;
	c->given_up = screened(c, out);
	if (c->given_up) {
		out->outcome = OUTCOME_OOM;
		return 0;
	}
	if (c->does == BROKEN)
		return err_set(err, "no plugin");
	if (c->does == REFUSES) {
		out->outcome = OUTCOME_REFUSED;
		strcpy(out->detail, "unsupported");
	} else if (c->does == SHOWS) {
		buf_add(&out->initial, c->initial.data, c->initial.len);
		buf_add(&out->before, c->before.data, c->before.len);
		buf_add(&out->after, c->after.data, c->after.len);
		out->peak_bytes = c->peak;
	}
	return 0;
}

static void effort(const struct device *d, struct effort *out)
{
	*out = (struct effort){.memory = ((const struct compiler *)d)->memory};
}

static const struct device_ops compiler_ops = {.extract = extract, .effort = effort};

/* What does not fit is refused, if it is to be run. */
static void memory_decides(struct compiler *c)
{
	struct subject s;

	c->peak = (uint64_t)5 << 30; /* known once it is compiled, and before it is compiled again */
	c->memory = (uint64_t)3 << 30;
	for (int runs = 0; runs < 2; runs++) {
		struct err err = {0};
		c->d.info.can_run = runs;
		if (CHECK_INT(subject_open(&s, at("program.pb"), NULL, &c->d, &err), -runs) && !runs)
			subject_release(&s);
		CHECK(!runs || strstr(err.text, "program needs 5.0 GiB of memory"));
	}
	c->peak = 0;
	for (int runs = 0; runs < 2; runs++)
		for (uint64_t gib = 2; gib < 8; gib += 5) { /* known before it is compiled, if it is to be run */
			struct err err = {0};
			bool refused = runs && gib > 3;
			c->d.info.can_run = runs;
			c->temporary = gib << 30;
			if (CHECK_INT(subject_open(&s, at("program.pb"), NULL, &c->d, &err), -refused) && !refused)
				subject_release(&s);
			CHECK_INT(c->given_up, refused);
			CHECK(!refused || strstr(err.text, "program needs 7.0 GiB of memory"));
		}
	c->temporary = 0;
}

static void compiler_decides_the_defaults(void)
{
	struct compiler c = {.d = {.ops = &compiler_ops, .info = {.backend = "cpu", .family = "cpu",
		.compiles = true, .can_run = true}}};
	struct subject plain, s;
	uint8_t want[60], got[60];
	struct rng r;
	put("program.pb", toy.data, toy.len);
	put("program.mlir", "module @m {}\n", 13);
	if (!CHECK(subject_open(&plain, at("program.pb"), NULL, NULL, NULL) == 0))
		return;
	rng_seed(&r, 3);
	for (int k = 0; k < 4; k++) {
		bool mlir = k == 3;
		space_random(plain.space, 0.5, &r, want);
		buf_reset(&c.after);
		buf_reset(&c.before);
		buf_reset(&c.initial);
		CHECK(plain.space->ops->apply(plain.space, want, &c.after, NULL) == 0);
		buf_add(&c.before, toy.data, toy.len);
		buf_add(&c.initial, toy.data, toy.len);
		struct err err = {0};
		if (!CHECK(subject_open(&s, at(mlir ? "program.mlir" : "program.pb"), NULL, &c.d, &err) == 0)) {
			printf("\t%s\n", err.text);
			continue;
		}
		CHECK_STR(c.format, mlir ? "mlir" : "hlo");
		space_default(s.space, got);
		CHECK(memcmp(got, want, s.space->n_sites) == 0);
		CHECK(s.original.len > 0 && strstr(s.decoded, "groups equal"));
		CHECK_INT(s.space->account.equal, s.space->account.parts);
		CHECK_INT(s.space->account.added, 0);
		subject_release(&s);
	}
	subject_release(&plain);
	memory_decides(&c);
	c.d.info.can_run = false;
	for (int does = SHOWS_NOTHING; does <= BROKEN; does++)
		for (int mlir = 0; mlir < 2; mlir++) {
			struct err err = {0};
			c.does = (enum behaviour)does;
			if (!CHECK(subject_open(&s, at(mlir ? "program.mlir" : "program.pb"), NULL, &c.d, &err) < 0) ||
				!CHECK(err.text[0]) || !CHECK(s.name == NULL))
				printf("\tdoes %d\n", does);
		}
	buf_release(&c.initial);
	buf_release(&c.before);
	buf_release(&c.after);
}

/* Files that are no plugins, by the names of the plugins we know: they are found first, and start no compiler. */
static void hide_plugins(void)
{
#define PLUGIN(backend, version, package, its_version, file, ...) file,
	static const char *const files[] = {
#include "schemas/plugin.def"
	};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		put(strrchr(files[i], '/') + 1, "no plugin", 9);
	setenv("VANTAGE_PLUGIN_DIR", folder, 1);
}

/* What a compiler says of the MLIR, where there is one: full_mlir.sh. */
static void bad_subjects_are_sentences(void)
{
	hide_plugins();
	put("empty.pb", "", 0);
	put("noise.pb", "\x08\x96\x01noise", 8);
	put("half.pb", toy.data, toy.len / 2);
	put("model.mlir", "module @m { what\n", 17);
	static const char *const bad[] = {"empty.pb", "noise.pb", "half.pb", "model.mlir", "absent.pb"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct subject s;
		struct err err = {0};
		if (!CHECK(subject_open(&s, at(bad[i]), NULL, NULL, &err) < 0) || !CHECK(err.text[0]))
			printf("\t%s\n", bad[i]);
		CHECK(!strstr(bad[i], "mlir") || strstr(err.text, "only a compiler's plugin can lower"));
		CHECK(s.name == NULL && s.space == NULL);
	}
	static const char *const kinds[] = {"placement", "toy", ""};
	put("good.pb", toy.data, toy.len);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct subject s;
		struct err err = {0};
		CHECK(subject_open(&s, at("good.pb"), kinds[i], NULL, &err) < 0 && err.text[0]);
	}
	struct subject s;
	struct err err = {0};
	CHECK(subject_open(&s, "toy:0", NULL, NULL, &err) < 0 && err.text[0]);
}

int main(void)
{
	struct toy_spec spec = {60, 3, 4};
	toy_graph(&spec, &toy);
	if (!mkdtemp(folder))
		return 1;
	RUN(toys_are_generated);
	RUN(foreign_calls_are_named);
	RUN(files_are_read);
	RUN(dump_folders_are_searched);
	RUN(compiler_decides_the_defaults);
	RUN(bad_subjects_are_sentences);
	io_remove_tree(folder, NULL);
	buf_release(&toy);
	return test_done();
}
