/*
 * lapack_solve.c - LAPACK's routines for systems of equations: Cholesky's and LU decompositions, and triangular and
 * tridiagonal systems.
 */
#include "device/worker/lapack_own.h"
#ifdef HAVE_PJRT

int lapack_potrf(struct lapack_call *c)
{
	typedef void potrf(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t);
	int n = lapack_size(c, 'n'), ld = lapack_leading(n);
	char uplo;

	if (lapack_letter(c, "uplo", "LU", &uplo) < 0)
		return -1;
	for (size_t i = 0; i < c->batch; i++)
		((potrf *)c->code)(&uplo, &n, lapack_out(c, 0, i), &ld, lapack_out(c, 1, i), 1);
	return 0;
}

int lapack_trsm(struct lapack_call *c)
{
	typedef void trsm(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
		const int *n, const void *alpha, const void *a, const int *lda, void *b, const int *ldb, size_t, size_t,
		size_t, size_t);
	static const float one_f[2] = {1, 0};
	static const double one_d[2] = {1, 0};
	int m = lapack_size(c, 'm'), n = lapack_size(c, 'n'), a = lapack_size(c, 'a');
	int lda = lapack_leading(a), ldb = lapack_leading(m);
	char side, uplo, trans, diag;

	if (lapack_letter(c, "side", "LR", &side) < 0 || lapack_letter(c, "uplo", "LU", &uplo) < 0 ||
		lapack_letter(c, "trans_x", "NTC", &trans) < 0 || lapack_letter(c, "diag", "NU", &diag) < 0)
		return -1;
	if (a != (side == 'L' ? m : n))
		return lapack_wrong(c, "the triangle and the other side of the equation do not fit together");
	for (size_t i = 0; i < c->batch; i++)
		((trsm *)c->code)(&side, &uplo, &trans, &diag, &m, &n, c->real == sizeof(float) ? (const void *)one_f
			: one_d, lapack_in(c, 0, i), &lda, lapack_out(c, 0, i), &ldb, 1, 1, 1, 1);
	return 0;
}

int lapack_getrf(struct lapack_call *c)
{
	typedef void getrf(const int *m, const int *n, void *a, const int *lda, int *pivots, int *info);
	int m = lapack_size(c, 'm'), n = lapack_size(c, 'n'), ld = lapack_leading(m);

	for (size_t i = 0; i < c->batch; i++)
		((getrf *)c->code)(&m, &n, lapack_out(c, 0, i), &ld, lapack_out(c, 1, i), lapack_out(c, 2, i));
	return 0;
}

/*
 * The three diagonals are equally long here: the lower one's first number is not used, nor the upper one's last.
 * Without a right side LAPACK's own code divides the last number of one all the same, so it is not called.
 */
int lapack_gtsv(struct lapack_call *c)
{
	typedef void gtsv(const int *n, const int *nrhs, void *dl, void *d, void *du, void *b, const int *ldb,
		int *info);
	int n = lapack_size(c, 'n'), right = lapack_size(c, 'w'), ld = lapack_leading(n);

	for (size_t i = 0; i < c->batch; i++)
		if (n == 0 || right == 0)
			*(int *)lapack_out(c, 4, i) = 0;
		else
			((gtsv *)c->code)(&n, &right, (char *)lapack_out(c, 0, i) + c->bytes, lapack_out(c, 1, i),
				lapack_out(c, 2, i), lapack_out(c, 3, i), &ld, lapack_out(c, 4, i));
	return 0;
}
#endif
