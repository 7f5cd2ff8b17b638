/*
 * check_lapack_eigen.c - the routines of LAPACK for eigenvalues and singular values that the worker gives to a plugin:
 * what they return is multiplied out again, for all four types, several sizes and a batch. No plugin is needed.
 */
#include "tests/test.h"
#ifdef HAVE_PJRT
#include "device/worker/lapack.h" /* full_valgrind leaves it out: OpenBLAS reads past the ends of arrays */
#include "tests/lapack_frame.h"

static void hermitian(unsigned type, int n)
{
	struct frame f, few;

	frame_begin(&f, type, BATCH, "syevd", "heevd");
	struct ffi_buffer *a = frame_in(&f, 'x', n, n), *v = frame_out(&f, 'x', n, n), *w = frame_out(&f, 'r', n, NONE);
	struct ffi_buffer *info = frame_out(&f, 'i', NONE, NONE);
	fill_hermitian(&f, a, 0);
	frame_letter(&f, "mode", 'V');
	frame_letter(&f, "uplo", 'L');
	frame_runs(&f);
	info_is(info, 0);
	EACH_ENTRY(a)
		same(&f, product(a, whole, v, whole, k, i, j, n), get(v, k, i, j) * get(w, k, j, 0));
	EACH_ENTRY(a)
		same(&f, product(v, adjoint, v, whole, k, i, j, n), i == j);
	frame_begin(&few, type, BATCH, "syevd", "heevd");
	struct ffi_buffer *again = frame_in(&few, 'x', n, n);
	frame_out(&few, 'x', n, n);
	struct ffi_buffer *values = frame_out(&few, 'r', n, NONE);
	info = frame_out(&few, 'i', NONE, NONE);
	EACH_ENTRY(a)
		put(again, k, i, j, get(a, k, i, j));
	frame_letter(&few, "mode", 'N');
	frame_letter(&few, "uplo", 'U');
	frame_runs(&few);
	info_is(info, 0);
	EACH_ENTRY(w) {
		same(&f, get(values, k, i, j), get(w, k, i, j));
		CHECK(i == 0 || creal(get(w, k, i, 0)) >= creal(get(w, k, i - 1, 0)));
	}
	frame_end(&few);
	frame_end(&f);
}

/* The tridiagonal matrix has the trace of the original, and the sum of all squares. */
static void tridiagonal(unsigned type, int n)
{
	struct frame f;

	frame_begin(&f, type, BATCH, "sytrd", "hetrd");
	struct ffi_buffer *a = frame_in(&f, 'x', n, n);
	int less = n > 0 ? n - 1 : 0;
	frame_out(&f, 'x', n, n);
	struct ffi_buffer *d = frame_out(&f, 'r', n, NONE), *e = frame_out(&f, 'r', less, NONE);
	frame_out(&f, 'x', less, NONE);
	struct ffi_buffer *info = frame_out(&f, 'i', NONE, NONE);
	fill_hermitian(&f, a, 0);
	frame_letter(&f, "uplo", 'L');
	frame_runs(&f);
	info_is(info, 0);
	EACH_BATCH(a) {
		number trace = 0, squares = 0;
		for (int i = 0; i < n; i++) {
			trace += get(a, k, i, i) - get(d, k, i, 0);
			squares -= get(d, k, i, 0) * get(d, k, i, 0);
			for (int j = 0; j < n; j++)
				squares += get(a, k, i, j) * conj(get(a, k, i, j));
		}
		for (int i = 0; i < less; i++)
			squares -= 2 * get(e, k, i, 0) * get(e, k, i, 0);
		CHECK_NEAR(cabs(trace), 0, n * tolerance(&f));
		CHECK_NEAR(cabs(squares), 0, n * n * tolerance(&f));
	}
	frame_end(&f);
}

/* The traces of the matrix and of its square stay what they are. */
static void hessenberg(unsigned type, int n)
{
	struct frame f;

	frame_begin(&f, type, BATCH, "gehrd", "gehrd");
	struct ffi_buffer *a = frame_in(&f, 'x', n, n), *h = frame_out(&f, 'x', n, n);
	frame_out(&f, 'x', n > 0 ? n - 1 : 0, NONE);
	struct ffi_buffer *info = frame_out(&f, 'i', NONE, NONE);
	fill(&f, a);
	frame_attribute(&f, "high", DT_S32, n);
	frame_attribute(&f, "low", DT_S32, 1);
	frame_runs(&f);
	info_is(info, 0);
	EACH_ENTRY(h)
		if (i > j + 1)
			put(h, k, i, j, 0); /* reflections are kept there */
	EACH_BATCH(a) {
		number trace = 0, squares = 0;
		for (int i = 0; i < n; i++) {
			trace += get(a, k, i, i) - get(h, k, i, i);
			squares += product(a, whole, a, whole, k, i, i, n) - product(h, whole, h, whole, k, i, i, n);
		}
		CHECK_NEAR(cabs(trace), 0, n * tolerance(&f));
		CHECK_NEAR(cabs(squares), 0, n * n * tolerance(&f));
	}
	frame_attribute(&f, "more", DT_S32, 1);
	f.value[0] = n + 1;
	CHECK(strstr(frame_call(&f), "low and high") != NULL);
	frame_end(&f);
}

static void eigenvalues(unsigned type, int n)
{
	bool real = !frame_complex(type);
	struct frame f;

	frame_begin(&f, type, BATCH, "geev", "geev");
	struct ffi_buffer *a = frame_in(&f, 'x', n, n), *w = frame_out(&f, 'x', n, NONE);
	struct ffi_buffer *wi = real ? frame_out(&f, 'x', n, NONE) : NULL, *l = frame_out(&f, 'z', n, n);
	struct ffi_buffer *r = frame_out(&f, 'z', n, n), *info = frame_out(&f, 'i', NONE, NONE);
	fill(&f, a);
	frame_letter(&f, "compute_left", 'V');
	frame_letter(&f, "compute_right", 'V');
	frame_runs(&f);
	info_is(info, 0);
	EACH_ENTRY(a) {
		number value = get(w, k, j, 0) + (real ? I * get(wi, k, j, 0) : 0), left = 0;
		same(&f, product(a, whole, r, whole, k, i, j, n), get(r, k, i, j) * value);
		for (int q = 0; q < n; q++) /* the j-th row of the adjoint of l, times a */
			left += conj(get(l, k, q, j)) * get(a, k, q, i);
		same(&f, left, conj(get(l, k, i, j)) * value);
	}
	if (n > 1) {
		put(a, 1, 1, 0, NAN);
		frame_runs(&f);
		CHECK_INT(creal(get(info, 0, 0, 0)), 0);
		CHECK_INT(creal(get(info, 1, 0, 0)), -4);
	}
	frame_end(&f);
}

static void schur(unsigned type, int n)
{
	struct frame f;

	frame_begin(&f, type, BATCH, "gees", "gees");
	struct ffi_buffer *a = frame_in(&f, 'x', n, n), *t = frame_out(&f, 'x', n, n), *z = frame_out(&f, 'x', n, n);
	frame_out(&f, 'x', n, NONE);
	if (!frame_complex(type))
		frame_out(&f, 'x', n, NONE);
	struct ffi_buffer *sorted = frame_out(&f, 'i', NONE, NONE), *info = frame_out(&f, 'i', NONE, NONE);
	fill(&f, a);
	frame_letter(&f, "mode", 'V');
	frame_letter(&f, "sort", 'N');
	frame_runs(&f);
	info_is(info, 0);
	info_is(sorted, 0);
	EACH_ENTRY(a)
		same(&f, product(a, whole, z, whole, k, i, j, n), product(z, whole, t, whole, k, i, j, n));
	EACH_ENTRY(a)
		same(&f, product(z, adjoint, z, whole, k, i, j, n), i == j);
	frame_end(&f);
}

static void singular(unsigned type, int m, int n, const char *routine, char mode)
{
	int few = m < n ? m : n, u_cols = mode == 'A' ? m : few, vt_rows = mode == 'A' ? n : few;
	struct frame f;

	frame_begin(&f, type, BATCH, routine, routine);
	struct ffi_buffer *a = frame_in(&f, 'x', m, n);
	frame_out(&f, 'x', m, n);
	struct ffi_buffer *s = frame_out(&f, 'r', few, NONE), *u = frame_out(&f, 'x', m, u_cols);
	struct ffi_buffer *vt = frame_out(&f, 'x', vt_rows, n), *info = frame_out(&f, 'i', NONE, NONE);
	fill(&f, a);
	frame_letter(&f, "mode", mode);
	frame_runs(&f);
	info_is(info, 0);
	EACH_ENTRY(s)
		CHECK(creal(get(s, k, i, j)) >= 0 && (i == 0 || creal(get(s, k, i - 1, j)) >= creal(get(s, k, i, j))));
	if (few == 0)
		goto out;
	if (mode == 'N') /* the sum of all squares */
		EACH_BATCH(a) {
			number squares = 0;
			for (int i = 0; i < few; i++)
				squares -= get(s, k, i, 0) * get(s, k, i, 0);
			for (int i = 0; i < m; i++)
				for (int j = 0; j < n; j++)
					squares += get(a, k, i, j) * conj(get(a, k, i, j));
			CHECK_NEAR(cabs(squares), 0, m * n * tolerance(&f));
		}
	else
		EACH_ENTRY(a) {
			number sum = 0;
			for (int q = 0; q < few; q++)
				sum += get(u, k, i, q) * get(s, k, q, 0) * get(vt, k, q, j);
			same(&f, sum, get(a, k, i, j));
		}
	if (mode == 'A')
		EACH_ENTRY(vt)
			same(&f, product(vt, whole, vt, adjoint, k, i, j, n), i == j);
out:
	frame_end(&f);
}

static void each_mode(unsigned type, int m, int n)
{
	for (int i = 0; i < 3; i++) {
		singular(type, m, n, "gesdd", "ASN"[i]);
		singular(type, m, n, "gesvd", "ASN"[i]);
	}
}

static void hermitian_vectors_are_orthogonal(void)
{
	each_square(hermitian);
}

static void tridiagonal_form_keeps_traces(void)
{
	each_square(tridiagonal);
}

static void hessenberg_form_keeps_traces(void)
{
	each_square(hessenberg);
}

static void vectors_belong_to_eigenvalues(void)
{
	each_square(eigenvalues);
}

static void schurs_form_multiplies_out(void)
{
	each_square(schur);
}

static void singular_values_multiply_out(void)
{
	each_size(each_mode);
}

int main(void)
{
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	RUN(hermitian_vectors_are_orthogonal);
	RUN(tridiagonal_form_keeps_traces);
	RUN(hessenberg_form_keeps_traces);
	RUN(vectors_belong_to_eigenvalues);
	RUN(schurs_form_multiplies_out);
	RUN(singular_values_multiply_out);
	return test_done();
}
#else
int main(void)
{
	printf("skip: lapack_eigen: built without the plugin's header\n");
	return 0;
}
#endif
