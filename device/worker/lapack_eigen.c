/*
 * lapack_eigen.c - LAPACK's routines for eigenvalues of symmetric and Hermitian matrices, and for the tridiagonal
 * matrices that they are brought to.
 *
 * syevd is not asked how much scratch memory it likes best. It gets what jaxlib gives it, because without eigenvectors
 * that is less, and then it works in smaller blocks and takes longer. What we measure is what JAX's user waits for.
 */
#include "device/worker/lapack_own.h"
#ifdef HAVE_PJRT
#include <limits.h>

static const int ask = -1;

typedef void syevd(const char *job, const char *uplo, const int *n, void *a, const int *lda, void *w, void *work,
	const int *lwork, int *iwork, const int *liwork, int *info, size_t, size_t);
typedef void heevd(const char *job, const char *uplo, const int *n, void *a, const int *lda, void *w, void *work,
	const int *lwork, void *rwork, const int *lrwork, int *iwork, const int *liwork, int *info, size_t, size_t);

int lapack_syevd(struct lapack_call *c)
{
	int n = lapack_size(c, 'n'), ld = lapack_leading(n), lwork, lrwork = 0, liwork;
	int64_t square = (int64_t)n * n;
	void *work, *rwork = NULL, *iwork;
	char job, uplo;
	bool vectors;

	if (lapack_letter(c, "uplo", "LU", &uplo) < 0 || lapack_letter(c, "mode", "NV", &job) < 0)
		return -1;
	if (1 + 6 * (int64_t)n + 2 * square > INT_MAX)
		return lapack_wrong(c, "its work needs more memory than LAPACK can count");
	vectors = job == 'V';
	liwork = vectors ? 3 + 5 * n : 1;
	lrwork = (int)(vectors ? 1 + 5 * n + 2 * square : ld);
	if (c->complex)
		lwork = (int)(vectors ? 2 * n + square : n + 1);
	else
		lwork = (int)(vectors ? 1 + 6 * n + 2 * square : 2 * n + 1);
	lwork = lapack_leading(lwork);
	if (!(work = lapack_scratch(c, (size_t)lwork, c->bytes)) ||
		!(iwork = lapack_scratch(c, (size_t)liwork, sizeof(int))) ||
		(c->complex && !(rwork = lapack_scratch(c, (size_t)lrwork, c->real))))
		return -1;
	for (size_t i = 0; i < c->batch; i++) {
		void *a = lapack_out(c, 0, i), *w = lapack_out(c, 1, i), *info = lapack_out(c, 2, i);
		if (c->complex)
			((heevd *)c->code)(&job, &uplo, &n, a, &ld, w, work, &lwork, rwork, &lrwork, iwork, &liwork,
				info, 1, 1);
		else
			((syevd *)c->code)(&job, &uplo, &n, a, &ld, w, work, &lwork, iwork, &liwork, info, 1, 1);
	}
	return 0;
}

int lapack_sytrd(struct lapack_call *c)
{
	typedef void sytrd(const char *uplo, const int *n, void *a, const int *lda, void *d, void *e, void *tau,
		void *work, const int *lwork, int *info, size_t);
	sytrd *f = (sytrd *)c->code;
	int n = lapack_size(c, 'n'), ld = lapack_leading(n), lwork, info = 0;
	union lapack_number best = {0};
	void *work;
	char uplo;

	if (lapack_letter(c, "uplo", "LU", &uplo) < 0)
		return -1;
	f(&uplo, &n, NULL, &ld, NULL, NULL, NULL, &best, &ask, &info, 1);
	if (!(work = lapack_work(c, &best, &lwork)))
		return -1;
	for (size_t i = 0; i < c->batch; i++)
		f(&uplo, &n, lapack_out(c, 0, i), &ld, lapack_out(c, 1, i), lapack_out(c, 2, i), lapack_out(c, 3, i),
			work, &lwork, lapack_out(c, 4, i), 1);
	return 0;
}
#endif
