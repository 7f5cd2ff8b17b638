/*
 * check_lapack.c - the routines of LAPACK that the worker gives to a plugin: each decomposition is multiplied out,
 * and each solution put into its equation, for all four types, several sizes and a batch. What does not fit is refused
 * with a sentence, and empty matrices are nothing special. No plugin is needed.
 */
#include "tests/test.h"
#ifdef HAVE_PJRT
#include "tests/lapack_frame.h"

static void cholesky(unsigned type, int n)
{
	struct frame f;

	frame_begin(&f, type, BATCH, "potrf", "potrf");
	struct ffi_buffer *a = frame_in(&f, 'x', n, n), *l = frame_out(&f, 'x', n, n);
	struct ffi_buffer *info = frame_out(&f, 'i', NONE, NONE);
	fill_hermitian(&f, a, n);
	frame_letter(&f, "uplo", 'L');
	frame_runs(&f);
	info_is(info, 0);
	EACH_ENTRY(a)
		same(&f, product(l, lower, l, lower_adjoint, k, i, j, n), get(a, k, i, j));
	if (n > 2) { /* the second one is no more positive definite, and LAPACK says at which row */
		put(a, 1, 2, 2, -1);
		frame_runs(&f);
		CHECK_INT(creal(get(info, 0, 0, 0)), 0);
		CHECK_INT(creal(get(info, 1, 0, 0)), 3);
	}
	frame_end(&f);
}

static number triangle(const struct ffi_buffer *b, int64_t k, int row, int col, const char *how)
{
	bool turned = how[2] != 'N';
	int r = turned ? col : row, c = turned ? row : col;
	number x = r == c && how[3] == 'U' ? 1 : how[1] == 'L' ? lower(b, k, r, c) : upper(b, k, r, c);

	return how[2] == 'C' ? conj(x) : x;
}

/* `how`: side, which triangle, transposed, unit diagonal. */
static void triangular(unsigned type, int m, int n, const char *how)
{
	int side = how[0] == 'L' ? m : n;
	struct frame f;

	frame_begin(&f, type, BATCH, "trsm", "trsm");
	struct ffi_buffer *a = frame_in(&f, 'x', side, side), *b = frame_in(&f, 'x', m, n);
	struct ffi_buffer *x = frame_out(&f, 'x', m, n);
	fill(&f, a);
	fill(&f, b);
	EACH_ENTRY(a)
		put(a, k, i, j, i == j ? 1 + get(a, k, i, j) : get(a, k, i, j) / side);
	frame_letter(&f, "diag", how[3]);
	frame_letter(&f, "side", how[0]);
	frame_letter(&f, "trans_x", how[2]);
	frame_letter(&f, "uplo", how[1]);
	frame_runs(&f);
	EACH_ENTRY(b) {
		number sum = 0;
		for (int q = 0; q < side; q++)
			sum += how[0] == 'L' ? triangle(a, k, i, q, how) * get(x, k, q, j)
				: get(x, k, i, q) * triangle(a, k, q, j, how);
		same(&f, sum, get(b, k, i, j));
	}
	frame_end(&f);
}

static void lu(unsigned type, int m, int n)
{
	int few = m < n ? m : n;
	struct frame f;

	frame_begin(&f, type, BATCH, "getrf", "getrf");
	struct ffi_buffer *a = frame_in(&f, 'x', m, n), *x = frame_out(&f, 'x', m, n);
	struct ffi_buffer *pivot = frame_out(&f, 'i', few, NONE), *info = frame_out(&f, 'i', NONE, NONE);
	fill(&f, a);
	frame_runs(&f);
	info_is(info, 0);
	EACH_BATCH(a) {
		int row[64];
		for (int i = 0; i < m; i++)
			row[i] = i;
		for (int i = 0; i < few; i++) {
			int other = (int)creal(get(pivot, k, i, 0)) - 1, was = row[i];
			row[i] = row[other];
			row[other] = was;
		}
		for (int i = 0; i < m; i++)
			for (int j = 0; j < n; j++)
				same(&f, product(x, unit_lower, x, upper, k, i, j, few), get(a, k, row[i], j));
	}
	frame_end(&f);
}

static void tridiagonal(unsigned type, int n, int right)
{
	struct ffi_buffer *d[3], *b, *x;
	struct frame f;

	frame_begin(&f, type, BATCH, "gtsv", "gtsv");
	for (int i = 0; i < 3; i++) {
		d[i] = frame_in(&f, 'x', n, NONE);
		fill(&f, d[i]);
		frame_out(&f, 'x', n, NONE);
	}
	b = frame_in(&f, 'x', n, right);
	fill(&f, b);
	x = frame_out(&f, 'x', n, right);
	info_is(frame_out(&f, 'i', NONE, NONE), 0x7f7f7f7f);
	EACH_ENTRY(d[1])
		put(d[1], k, i, j, 3 + get(d[1], k, i, j));
	frame_runs(&f);
	EACH_ENTRY(b) {
		number sum = get(d[1], k, i, 0) * get(x, k, i, j);
		if (i > 0)
			sum += get(d[0], k, i, 0) * get(x, k, i - 1, j);
		if (i + 1 < n)
			sum += get(d[2], k, i, 0) * get(x, k, i + 1, j);
		same(&f, sum, get(b, k, i, j));
	}
	info_is(f.out[4], 0);
	frame_end(&f);
}

/* Q as a matrix, of the reflections in `x` and `tau`; or, if `by` is not 0, Q or its adjoint times the given matrix. */
static void reflections(struct frame *f, const struct frame *qr, int m, int n, int few, const char *by)
{
	struct ffi_buffer *a, *tau, *c = NULL;

	if (by)
		frame_begin(f, qr->type, BATCH, "ormqr", "unmqr");
	else
		frame_begin(f, qr->type, BATCH, "orgqr", "ungqr");
	a = frame_in(f, 'x', m, few);
	tau = frame_in(f, 'x', few, NONE);
	EACH_ENTRY(a)
		put(a, k, i, j, get(qr->out[0], k, i, j));
	EACH_ENTRY(tau)
		put(tau, k, i, j, get(qr->out[qr->f.out.n - 1], k, i, j));
	if (by) {
		c = by[0] == 'L' ? frame_in(f, 'x', m, n) : frame_in(f, 'x', n, m);
		fill(f, c);
		frame_attribute(f, "left", DT_PRED, by[0] == 'L');
		frame_attribute(f, "transpose", DT_PRED, by[1] != 'N');
		frame_out(f, 'x', (int)c->dims[1], (int)c->dims[2]);
	} else {
		frame_out(f, 'x', m, few);
	}
	frame_runs(f);
}

static void qr(unsigned type, int m, int n, bool pivoted)
{
	static const char *const by[] = {"LN", "LC", "RN", "RC"};
	int few = m < n ? m : n, wide = 4;
	struct frame f, q, p;

	frame_begin(&f, type, BATCH, pivoted ? "geqp3" : "geqrf", pivoted ? "geqp3" : "geqrf");
	struct ffi_buffer *a = frame_in(&f, 'x', m, n), *free_columns = pivoted ? frame_in(&f, 'i', n, NONE) : NULL;
	struct ffi_buffer *r = frame_out(&f, 'x', m, n), *columns = pivoted ? frame_out(&f, 'i', n, NONE) : NULL;
	frame_out(&f, 'x', few, NONE);
	fill(&f, a);
	if (pivoted)
		memset(free_columns->data, 0, BATCH * (size_t)n * sizeof(int32_t));
	frame_runs(&f);
	reflections(&q, &f, m, few, few, NULL);
	EACH_ENTRY(a)
		same(&f, product(q.out[0], whole, r, upper, k, i, j, few),
			get(a, k, i, columns ? (int)creal(get(columns, k, j, 0)) - 1 : j));
	for (int i = 0; i < few; i++)
		for (int j = 0; j < few; j++)
			same(&f, product(q.out[0], adjoint, q.out[0], whole, 0, i, j, m), i == j);
	/* The thin Q is the left part of the whole one, so some products with it are those of the whole one. */
	for (size_t b = 0; b < sizeof by / sizeof *by && m == few && !pivoted; b++) {
		reflections(&p, &f, m, wide, few, by[b]);
		entry *turned = by[b][1] == 'N' ? whole : adjoint;
		EACH_ENTRY(p.out[0])
			same(&f, by[b][0] == 'L' ? product(q.out[0], turned, p.in[2], whole, k, i, j, m)
				: product(p.in[2], whole, q.out[0], turned, k, i, j, m), get(p.out[0], k, i, j));
		frame_end(&p);
	}
	frame_end(&q);
	frame_end(&f);
}

static void cholesky_multiplies_out(void)
{
	each_square(cholesky);
}

static void triangular_systems_are_solved(void)
{
	char how[5] = {0};

	for (int h = 0; h < 24; h++) {
		how[0] = "LR"[h % 2];
		how[1] = "LU"[h / 2 % 2];
		how[2] = "NTC"[h / 4 % 3];
		how[3] = "NU"[h / 12];
		for (unsigned type = 0; type < 4; type++)
			for (int i = 0; i < 6; i++)
				triangular(type, (int[]){4, 5, 1, 0, 3, 20}[i], (int[]){4, 2, 1, 3, 0, 1}[i], how);
	}
}

static void lu_multiplies_out(void)
{
	each_size(lu);
}

static void tridiagonal_systems_are_solved(void)
{
	each_size(tridiagonal);
}

static void plain(unsigned type, int m, int n)
{
	qr(type, m, n, false);
}

static void pivoted(unsigned type, int m, int n)
{
	qr(type, m, n, true);
}

static void qr_multiplies_out(void)
{
	each_size(plain);
}

static void qr_with_pivots_multiplies_out(void)
{
	each_size(pivoted);
}

static void an_empty_batch_is_nothing(void)
{
	struct frame f;

	frame_begin(&f, 1, 0, "getrf", "getrf");
	frame_in(&f, 'x', 3, 3);
	frame_out(&f, 'x', 3, 3);
	frame_out(&f, 'i', 3, NONE);
	frame_out(&f, 'i', NONE, NONE);
	frame_runs(&f);
	frame_end(&f);
}

/* A Cholesky decomposition with one thing wrong. */
static const struct wrong {
	char in, out, info;
	int rows, cols, result;
	const char *attribute;
	int32_t letter;
	const char *said;
} wrongs[] = {
	{'i', 'x', 'i', 3, 3, 3, "uplo", 'L', "no type that LAPACK knows"},
	{'x', 'i', 'i', 3, 3, 3, "uplo", 'L', "another type"},
	{'x', 'x', 'x', 3, 3, 3, "uplo", 'L', "another type"},
	{'x', 'x', 0, 3, 3, 3, "uplo", 'L', "too few"},
	{'x', 'x', 'i', 3, 4, 3, "uplo", 'L', "do not fit together"},
	{'x', 'x', 'i', 3, 3, 2, "uplo", 'L', "do not fit together"},
	{'x', 'x', 'i', 3, NONE, 3, "uplo", 'L', "do not fit together"},
	{'x', 'x', 'i', 3, 3, 3, "uplo", 'X', "none of the letters"},
	{'x', 'x', 'i', 3, 3, 3, "uplo", 0, "none of the letters"},
	{'x', 'x', 'i', 3, 3, 3, "up", 'L', "none of the letters"},
};

static void what_does_not_fit_is_refused(void)
{
	for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
		const struct wrong *w = &wrongs[i];
		const char *why;
		struct frame f;
		frame_begin(&f, 0, BATCH, "potrf", "potrf");
		frame_in(&f, w->in, w->rows, w->cols);
		frame_out(&f, w->out, w->result, w->result);
		if (w->info)
			frame_out(&f, w->info, NONE, NONE);
		frame_letter(&f, w->attribute, (char)w->letter);
		why = frame_call(&f);
		if (!CHECK(why && strstr(why, w->said)))
			printf("\trow %zu: %s\n", i, why ? why : "taken");
		frame_end(&f);
	}
	CHECK(lapack_handler("lapack_spotri_ffi") == NULL);
	CHECK(lapack_handler("lapack_cormqr_ffi") == NULL); /* that is unmqr */
	CHECK(lapack_handler("lapack_cunmqr_ffi") != NULL);
}

/* A plugin asks first which version of the interface a routine was built for. */
static void routines_say_what_they_are(void)
{
	struct ffi_metadata m = {.struct_size = sizeof m, .traits = 7, .state_type = 7};
	struct ffi_metadata_extra extra = {{sizeof extra, FFI_METADATA, NULL}, &m};
	struct frame f;

	frame_begin(&f, 0, 0, "potrf", "potrf");
	f.f.extra = &extra.base;
	f.api.version.minor = 3;
	CHECK(frame_call(&f) == NULL);
	CHECK_INT(m.version.major, 0);
	CHECK_INT(m.version.minor, 3);
	CHECK_INT(m.traits, 0);
	CHECK_INT(m.state_type, 0);
}

int main(void)
{
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	RUN(cholesky_multiplies_out);
	RUN(triangular_systems_are_solved);
	RUN(lu_multiplies_out);
	RUN(tridiagonal_systems_are_solved);
	RUN(qr_multiplies_out);
	RUN(qr_with_pivots_multiplies_out);
	RUN(an_empty_batch_is_nothing);
	RUN(what_does_not_fit_is_refused);
	RUN(routines_say_what_they_are);
	return test_done();
}
#else
int main(void)
{
	printf("skip: lapack: built without the plugin's header\n");
	return 0;
}
#endif
