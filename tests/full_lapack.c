/*
 * full_lapack.c - programs that call LAPACK run on the real plugin, and get what LAPACK promises. Each row is a program
 * with two values that have to be equal, `got` and `want`. It is compiled once with either as its result, and the
 * plugin compares them. A routine that we do not have is still refused by its name. Plugins that are not here are
 * skipped.
 */
#include <unistd.h>
#include "base/io.h"
#include "ready/subject.h"
#include "tests/test.h"

#define M "f64[2,6,6]"
#define BY_COLUMN M "{1,2,0}"
#define V "f64[2,6]"
#define BATCHED "lhs_batch_dims={0}, rhs_batch_dims={0}"
#define CALL(operands, target, layouts, config) \
	" custom-call(" operands "), custom_call_target=\"lapack_" target "_ffi\", " \
	"operand_layout_constraints={" layouts "}, api_version=API_VERSION_TYPED_FFI, backend_config={" config "}\n"
#define LETTER(name, code) name " = " #code " : ui8" /* MLIR's way to write a byte */
#define PART(name, type, tuple, index) \
	"  " name " = " type " get-tuple-element(" tuple "), index=" #index "\n"
/* A product of two batches of matrices, the second one transposed if `by` is 2. */
#define DOT(name, a, b, by) \
	"  " name " = " M " dot(" a ", " b "), " BATCHED ", lhs_contracting_dims={2}, rhs_contracting_dims={" #by "}\n"
#define TRIANGLE(name, which, of) "  " name " = " M " select(" which ", " of ", zeros)\n"
#define SUM(name, of, dimensions) \
	"  " name " = f64[2] reduce(" of ", zero), dimensions={" dimensions "}, to_apply=plus\n"

/* p is anything, a is symmetric with a heavy diagonal. */
static const char beginning[] =
	"HloModule calls\n"
	"plus {\n  x = f64[] parameter(0)\n  y = f64[] parameter(1)\n  ROOT s = f64[] add(x, y)\n}\n"
	"ENTRY main {\n"
	"  p = " M " parameter(0)\n"
	"  zero = f64[] constant(0)\n  six = f64[] constant(6)\n  one = f64[] constant(1)\n  none = s32[] constant(0)\n"
	"  zeros = " M " broadcast(zero), dimensions={}\n  sixes = " M " broadcast(six), dimensions={}\n"
	"  ones = " M " broadcast(one), dimensions={}\n"
	"  row = s32[2,6,6] iota(), iota_dimension=1\n  col = s32[2,6,6] iota(), iota_dimension=2\n"
	"  diagonal = pred[2,6,6] compare(row, col), direction=EQ\n"
	"  lower = pred[2,6,6] compare(row, col), direction=GE\n"
	"  upper = pred[2,6,6] compare(row, col), direction=LE\n"
	DOT("square", "p", "p", 2) TRIANGLE("heavy", "diagonal", "sixes")
	"  a = " M " add(square, heavy)\n";

static const struct row {
	const char *what, *text;
} rows[] = {
	{"potrf", "  t = (" BY_COLUMN ", s32[2])" CALL("a", "dpotrf", BY_COLUMN, LETTER("uplo", 76))
		PART("l", M, "t", 0) TRIANGLE("low", "lower", "l") DOT("got", "low", "low", 2)
		"  want = " M " copy(a)\n"},
	{"trsm", "  x = " BY_COLUMN CALL("a, p", "dtrsm", BY_COLUMN ", " BY_COLUMN, LETTER("diag", 78) ", "
		LETTER("side", 76) ", " LETTER("trans_x", 78) ", " LETTER("uplo", 76))
		TRIANGLE("low", "lower", "a") DOT("got", "low", "x", 1) "  want = " M " copy(p)\n"},
	{"getrf", "  t = (" BY_COLUMN ", s32[2,6], s32[2])" CALL("a", "dgetrf", BY_COLUMN, "")
		PART("x", M, "t", 0) TRIANGLE("up", "upper", "x") TRIANGLE("low", "lower", "x")
		"  unit = " M " select(diagonal, ones, low)\n" DOT("got", "unit", "up", 1) "  want = " M " copy(a)\n"},
	/* on the diagonal 6, and beside it 1 */
	{"gtsv", "  side = " V " broadcast(one), dimensions={}\n  middle = " V " broadcast(six), dimensions={}\n"
		"  t = (" V ", " V ", " V ", " BY_COLUMN ", s32[2])" CALL("side, middle, side, p", "dgtsv",
		V "{1,0}, " V "{1,0}, " V "{1,0}, " BY_COLUMN, "") PART("x", M, "t", 3)
		"  away = s32[2,6,6] subtract(row, col)\n  far = s32[2,6,6] abs(away)\n  next = s32[] constant(1)\n"
		"  nexts = s32[2,6,6] broadcast(next), dimensions={}\n"
		"  beside = pred[2,6,6] compare(far, nexts), direction=EQ\n"
		TRIANGLE("sides", "beside", "ones") "  all = " M " add(sides, heavy)\n"
		DOT("got", "all", "x", 1) "  want = " M " copy(p)\n"},
	{"geqrf, orgqr", "  t = (" BY_COLUMN ", " V ")" CALL("p", "dgeqrf", BY_COLUMN, "")
		PART("x", M, "t", 0) PART("tau", V, "t", 1) TRIANGLE("r", "upper", "x")
		"  q = " BY_COLUMN CALL("x, tau", "dorgqr", BY_COLUMN ", " V "{1,0}", "")
		DOT("got", "q", "r", 1) "  want = " M " copy(p)\n"},
	{"ormqr", "  t = (" BY_COLUMN ", " V ")" CALL("p", "dgeqrf", BY_COLUMN, "")
		PART("x", M, "t", 0) PART("tau", V, "t", 1) TRIANGLE("want", "upper", "x")
		"  got = " BY_COLUMN CALL("x, tau, p", "dormqr", BY_COLUMN ", " V "{1,0}, " BY_COLUMN,
		"left = true, transpose = true")},
	{"geqp3", "  any = s32[2,6] broadcast(none), dimensions={}\n"
		"  t = (" BY_COLUMN ", s32[2,6], " V ")" CALL("p, any", "dgeqp3", BY_COLUMN ", s32[2,6]{1,0}", "")
		PART("x", M, "t", 0) TRIANGLE("r", "upper", "x") DOT("s", "r", "r", 2) DOT("u", "p", "p", 2)
		TRIANGLE("d", "diagonal", "s") TRIANGLE("e", "diagonal", "u") SUM("got", "d", "1,2")
		SUM("want", "e", "1,2")},
	{"syevd", "  t = (" BY_COLUMN ", " V ", s32[2])" CALL("a", "dsyevd", BY_COLUMN, LETTER("mode", 86) ", "
		LETTER("uplo", 76)) PART("v", M, "t", 0) PART("w", V, "t", 1)
		"  wide = " M " broadcast(w), dimensions={0,2}\n  scaled = " M " multiply(v, wide)\n"
		DOT("got", "scaled", "v", 2) "  want = " M " copy(a)\n"},
	{"sytrd", "  t = (" BY_COLUMN ", " V ", f64[2,5], f64[2,5], s32[2])" CALL("a", "dsytrd", BY_COLUMN,
		LETTER("uplo", 76)) PART("d", V, "t", 1) SUM("got", "d", "1")
		TRIANGLE("e", "diagonal", "a") SUM("want", "e", "1,2")},
	{"gehrd", "  t = (" BY_COLUMN ", f64[2,5], s32[2])" CALL("p", "dgehrd", BY_COLUMN,
		"high = 6 : i32, low = 1 : i32")
		PART("h", M, "t", 0) TRIANGLE("d", "diagonal", "h") SUM("got", "d", "1,2")
		TRIANGLE("e", "diagonal", "p") SUM("want", "e", "1,2")},
	{"geev", "  t = (" V ", " V ", c128[2,6,6]{1,2,0}, c128[2,6,6]{1,2,0}, s32[2])" CALL("p", "dgeev", BY_COLUMN,
		LETTER("compute_left", 78) ", " LETTER("compute_right", 86)) PART("w", V, "t", 0) SUM("got", "w", "1")
		TRIANGLE("e", "diagonal", "p") SUM("want", "e", "1,2")},
	{"gees", "  t = (" BY_COLUMN ", " BY_COLUMN ", " V ", " V ", s32[2], s32[2])" CALL("p", "dgees", BY_COLUMN,
		LETTER("mode", 86) ", " LETTER("sort", 78)) PART("s", M, "t", 0) PART("z", M, "t", 1)
		DOT("zs", "z", "s", 1) DOT("got", "zs", "z", 2) "  want = " M " copy(p)\n"},
#define SVD(routine) \
	{routine, "  t = (" BY_COLUMN ", " V ", " BY_COLUMN ", " BY_COLUMN ", s32[2])" CALL("p", "d" routine, \
		BY_COLUMN, LETTER("mode", 83)) PART("s", V, "t", 1) PART("u", M, "t", 2) PART("v", M, "t", 3) \
		"  wide = " M " broadcast(s), dimensions={0,2}\n  scaled = " M " multiply(u, wide)\n" \
		DOT("got", "scaled", "v", 1) "  want = " M " copy(p)\n"},
	SVD("gesdd")
	SVD("gesvd")
};

static struct device *device;

/* Compiles the row's program with one of its values as the result. */
static bool compile(const struct row *r, const char *value, struct compiled *out)
{
	struct buf text = {0}, bytes = {0};
	struct graph g = {0};
	struct err err = {0};
	const char *at, *type = M;
	char line[64];
	bool ok;

	snprintf(line, sizeof line, "  %s = ", value);
	if ((at = strstr(r->text, line)))
		type = at + strlen(line);
	buf_addf(&text, "%s%s  ROOT out = %.*s copy(%s)\n}\n", beginning, r->text, (int)strcspn(type, " {"), type,
		value);
	ok = graph_parse(&g, text.data, text.len, r->what, &err) == 0;
	if (ok)
		graph_write(&g, &bytes);
	ok = ok && device_compile(device, COMPILE_DEFAULT, "hlo", bytes.data, bytes.len, WANT_RESIDENT, out, &err) == 0;
	if (!CHECK(ok && out->outcome == OUTCOME_OK))
		printf("\t%s: %s\n", r->what, ok ? out->detail : err.text);
	graph_release(&g);
	buf_release(&text);
	buf_release(&bytes);
	return ok && out->outcome == OUTCOME_OK;
}

static void routines_keep_their_promises(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct compiled got = {0}, want = {0};
		struct comparison c = {0};
		struct err err = {0};
		if (compile(&rows[i], "got", &got) && compile(&rows[i], "want", &want) &&
			CHECK(device_compare(device, &got, &want, NULL, &c, &err) == 0) &&
			!CHECK(c.outcome == OUTCOME_OK && c.all.max_rel < 1e-10 && c.all.unlike == 0 &&
				c.all.finite > 0))
			printf("\t%s: %g apart, %s\n", rows[i].what, c.all.max_rel, c.detail);
		comparison_release(&c);
		device_drop(device, &got, &err);
		device_drop(device, &want, &err);
		compiled_release(&got);
		compiled_release(&want);
	}
}

static const char unknown[] = "HloModule calls\nENTRY main {\n  x = f64[4,4] parameter(0)\n"
	"  ROOT y = f64[4,4]{0,1}" CALL("x", "dpotri", "f64[4,4]{0,1}", "") "}\n";

static void other_routines_are_refused(void)
{
	char path[] = "/tmp/vantage-lapack-XXXXXX";
	struct err err = {0};
	struct subject s;
	int fd = mkstemp(path);

	if (!CHECK(fd >= 0 && io_write_file(path, unknown, sizeof unknown - 1, &err) == 0))
		return;
	if (!CHECK(subject_open(&s, path, "fusion", device, &err) < 0))
		subject_release(&s);
	else if (!CHECK(strstr(err.text, "it calls lapack_dpotri_ffi") != NULL))
		printf("\t%s\n", err.text);
	close(fd);
	unlink(path);
}

/* The default, and the oldest one, whose XLA is a year older. */
static const char *const plugins[] = {"cpu", "cpu@0.0.1"};

int main(void)
{
	for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
		struct device_options o = {.backend = plugins[i], .wait = true, .deadline = PATIENT, .seed = 1};
		struct err err = {0};

		device = device_open(&o, &err);
		if (!device) {
			printf("skip: lapack: %s: %s\n", plugins[i], err.text);
			continue;
		}
		RUN(routines_keep_their_promises);
		RUN(other_routines_are_refused);
		device_close(device);
	}
	return test_done();
}
