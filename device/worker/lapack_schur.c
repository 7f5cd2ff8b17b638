/*
 * lapack_schur.c - LAPACK's routines for matrices without symmetry: eigenvalues with their vectors, Schur's form, and
 * the Hessenberg form that both start from.
 *
 * geev for real numbers writes a pair of conjugate vectors as one column of real parts and one of imaginary parts. JAX
 * wants complex numbers, and LAPACK says by the eigenvalues which columns are pairs. A matrix with a number that is not
 * finite gets the verdict -4, jaxlib's, and no results, because LAPACK might never end.
 */
#include "device/worker/lapack_own.h"
#ifdef HAVE_PJRT
#include <math.h>
#include <string.h>
#include "hlo/op.h"

static const int ask = -1;
#define NOT_FINITE (-4)

typedef void real_geev(const char *left, const char *right, const int *n, void *a, const int *lda, void *wr, void *wi,
	void *vl, const int *ldvl, void *vr, const int *ldvr, void *work, const int *lwork, int *info, size_t, size_t);
typedef void complex_geev(const char *left, const char *right, const int *n, void *a, const int *lda, void *w, void *vl,
	const int *ldvl, void *vr, const int *ldvr, void *work, const int *lwork, void *rwork, int *info, size_t,
	size_t);

static double number(const void *p, size_t bytes, size_t i)
{
	return bytes == sizeof(float) ? (double)((const float *)p)[i] : ((const double *)p)[i];
}

static void put(void *p, size_t bytes, size_t i, double re, double im)
{
	if (bytes == sizeof(float)) {
		((float *)p)[2 * i] = (float)re;
		((float *)p)[2 * i + 1] = (float)im;
	} else {
		((double *)p)[2 * i] = re;
		((double *)p)[2 * i + 1] = im;
	}
}

static bool finite_all(const void *p, size_t bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(number(p, bytes, i)))
			return false;
	return true;
}

/* Columns of v into complex ones; `wi` are the imaginary parts of the eigenvalues, and so of n of them. */
static void unpack(const void *v, const void *wi, size_t bytes, size_t n, void *out)
{
	for (size_t j = 0; j < n; j++) {
		bool pair = j + 1 < n && number(wi, bytes, j) != 0;
		for (size_t i = 0; i < n; i++) {
			double re = number(v, bytes, j * n + i), im = pair ? number(v, bytes, (j + 1) * n + i) : 0;
			put(out, bytes, j * n + i, re, im);
			if (pair)
				put(out, bytes, (j + 1) * n + i, re, -im);
		}
		j += pair;
	}
}

struct geev {
	char left, right;
	int n, ld, lwork;
	void *a, *vl, *vr, *work, *rwork;
};

static void geev_one(const struct lapack_call *c, const struct geev *g, size_t i)
{
	size_t n = (size_t)g->n;
	int *info;

	if (c->complex) {
		info = lapack_out(c, 3, i);
		((complex_geev *)c->code)(&g->left, &g->right, &g->n, g->a, &g->ld, lapack_out(c, 0, i),
			lapack_out(c, 1, i), &g->ld, lapack_out(c, 2, i), &g->ld, g->work, &g->lwork, g->rwork, info,
			1, 1);
		return;
	}
	info = lapack_out(c, 4, i);
	((real_geev *)c->code)(&g->left, &g->right, &g->n, g->a, &g->ld, lapack_out(c, 0, i), lapack_out(c, 1, i),
		g->vl, &g->ld, g->vr, &g->ld, g->work, &g->lwork, info, 1, 1);
	if (*info == 0 && g->left == 'V')
		unpack(g->vl, lapack_out(c, 1, i), c->bytes, n, lapack_out(c, 2, i));
	if (*info == 0 && g->right == 'V')
		unpack(g->vr, lapack_out(c, 1, i), c->bytes, n, lapack_out(c, 3, i));
}

int lapack_geev(struct lapack_call *c)
{
	struct geev g = {.n = lapack_size(c, 'n'), .ld = lapack_leading(lapack_size(c, 'n'))};
	size_t square = (size_t)g.n * (size_t)g.n;
	union lapack_number best = {0};
	int info = 0;

	if (lapack_letter(c, "compute_left", "NV", &g.left) < 0 ||
		lapack_letter(c, "compute_right", "NV", &g.right) < 0)
		return -1;
	if (!(g.a = lapack_scratch(c, square, c->bytes)) || !(g.vl = lapack_scratch(c, square, c->bytes)) ||
		!(g.vr = lapack_scratch(c, square, c->bytes)) ||
		!(g.rwork = lapack_scratch(c, 2 * (size_t)g.n, c->real)))
		return -1;
	if (c->complex)
		((complex_geev *)c->code)(&g.left, &g.right, &g.n, NULL, &g.ld, NULL, NULL, &g.ld, NULL, &g.ld, &best,
			&ask, g.rwork, &info, 1, 1);
	else
		((real_geev *)c->code)(&g.left, &g.right, &g.n, NULL, &g.ld, NULL, NULL, NULL, &g.ld, NULL, &g.ld,
			&best, &ask, &info, 1, 1);
	if (!(g.work = lapack_work(c, &best, &g.lwork)))
		return -1;
	for (size_t i = 0; i < c->batch; i++) {
		memcpy(g.a, lapack_in(c, 0, i), square * c->bytes);
		if (finite_all(g.a, c->real, square * c->bytes / c->real))
			geev_one(c, &g, i);
		else
			*(int *)lapack_out(c, c->complex ? 3 : 4, i) = NOT_FINITE;
	}
	return 0;
}

typedef void real_gees(const char *job, const char *sort, void *select, const int *n, void *a, const int *lda,
	int *selected, void *wr, void *wi, void *vs, const int *ldvs, void *work, const int *lwork, int *bwork,
	int *info, size_t, size_t);
typedef void complex_gees(const char *job, const char *sort, void *select, const int *n, void *a, const int *lda,
	int *selected, void *w, void *vs, const int *ldvs, void *work, const int *lwork, void *rwork, int *bwork,
	int *info, size_t, size_t);

int lapack_gees(struct lapack_call *c)
{
	int n = lapack_size(c, 'n'), ld = lapack_leading(n), info = 0, selected = 0, lwork;
	union lapack_number best = {0};
	void *work, *rwork = lapack_scratch(c, (size_t)n, c->real);
	char job, sort;

	if (!rwork || lapack_letter(c, "mode", "NV", &job) < 0)
		return -1;
	if (lapack_letter(c, "sort", "N", &sort) < 0) /* jaxlib does not sort either */
		return -1;
	if (c->complex)
		((complex_gees *)c->code)(&job, &sort, NULL, &n, NULL, &ld, &selected, NULL, NULL, &ld, &best, &ask,
			rwork, NULL, &info, 1, 1);
	else
		((real_gees *)c->code)(&job, &sort, NULL, &n, NULL, &ld, &selected, NULL, NULL, NULL, &ld, &best, &ask,
			NULL, &info, 1, 1);
	if (!(work = lapack_work(c, &best, &lwork)))
		return -1;
	for (size_t i = 0; i < c->batch; i++) {
		void *a = lapack_out(c, 0, i), *vs = lapack_out(c, 1, i), *w = lapack_out(c, 2, i);
		if (c->complex)
			((complex_gees *)c->code)(&job, &sort, NULL, &n, a, &ld, lapack_out(c, 3, i), w, vs, &ld, work,
				&lwork, rwork, NULL, lapack_out(c, 4, i), 1, 1);
		else
			((real_gees *)c->code)(&job, &sort, NULL, &n, a, &ld, lapack_out(c, 4, i), w,
				lapack_out(c, 3, i), vs, &ld, work, &lwork, NULL, lapack_out(c, 5, i), 1, 1);
	}
	return 0;
}

int lapack_gehrd(struct lapack_call *c)
{
	typedef void gehrd(const int *n, const int *low, const int *high, void *a, const int *lda, void *tau,
		void *work, const int *lwork, int *info);
	gehrd *f = (gehrd *)c->code;
	int n = lapack_size(c, 'n'), ld = lapack_leading(n), info = 0, lwork, from, to;
	union lapack_number best = {0};
	int64_t low, high;
	void *work;

	if (ffi_attribute(c->frame, "low", DT_S32, &low) < 0 || ffi_attribute(c->frame, "high", DT_S32, &high) < 0 ||
		low < 1 || low > ld || high > n || high < (low < n ? low : n))
		return lapack_wrong(c, "its attributes low and high are not rows of the matrix");
	from = (int)low;
	to = (int)high;
	f(&n, &from, &to, NULL, &ld, NULL, &best, &ask, &info);
	if (!(work = lapack_work(c, &best, &lwork)))
		return -1;
	for (size_t i = 0; i < c->batch; i++)
		f(&n, &from, &to, lapack_out(c, 0, i), &ld, lapack_out(c, 1, i), work, &lwork, lapack_out(c, 2, i));
	return 0;
}
#endif
