/*
 * lapack_qr.c - LAPACK's routines for QR decompositions: reflections that make a matrix upper triangular, their product
 * as a matrix, and that product times another matrix.
 *
 * Each is asked first how much scratch memory it likes best, as jaxlib asks it.
 */
#include "device/worker/lapack_own.h"
#ifdef HAVE_PJRT
#include "hlo/op.h"

static const int ask = -1;

int lapack_geqrf(struct lapack_call *c)
{
	typedef void geqrf(const int *m, const int *n, void *a, const int *lda, void *tau, void *work, const int *lwork,
		int *info);
	geqrf *f = (geqrf *)c->code;
	int m = lapack_size(c, 'm'), n = lapack_size(c, 'n'), ld = lapack_leading(m), info = 0, lwork;
	union lapack_number best = {0};
	void *work;

	f(&m, &n, NULL, &ld, NULL, &best, &ask, &info);
	if (!(work = lapack_work(c, &best, &lwork)))
		return -1;
	for (size_t i = 0; i < c->batch; i++)
		f(&m, &n, lapack_out(c, 0, i), &ld, lapack_out(c, 1, i), work, &lwork, &info);
	return 0;
}

int lapack_geqp3(struct lapack_call *c)
{
	typedef void real(const int *m, const int *n, void *a, const int *lda, int *pivots, void *tau, void *work,
		const int *lwork, int *info);
	typedef void complex(const int *m, const int *n, void *a, const int *lda, int *pivots, void *tau, void *work,
		const int *lwork, void *rwork, int *info);
	int m = lapack_size(c, 'm'), n = lapack_size(c, 'n'), ld = lapack_leading(m), info = 0, lwork;
	union lapack_number best = {0};
	void *work, *rwork = lapack_scratch(c, 2 * (size_t)n, c->real);

	if (!rwork)
		return -1;
	if (c->complex)
		((complex *)c->code)(&m, &n, NULL, &ld, NULL, NULL, &best, &ask, rwork, &info);
	else
		((real *)c->code)(&m, &n, NULL, &ld, NULL, NULL, &best, &ask, &info);
	if (!(work = lapack_work(c, &best, &lwork)))
		return -1;
	for (size_t i = 0; i < c->batch; i++) {
		void *a = lapack_out(c, 0, i), *tau = lapack_out(c, 2, i);
		if (c->complex)
			((complex *)c->code)(&m, &n, a, &ld, lapack_out(c, 1, i), tau, work, &lwork, rwork, &info);
		else
			((real *)c->code)(&m, &n, a, &ld, lapack_out(c, 1, i), tau, work, &lwork, &info);
	}
	return 0;
}

int lapack_orgqr(struct lapack_call *c)
{
	typedef void orgqr(const int *m, const int *n, const int *k, void *a, const int *lda, const void *tau,
		void *work, const int *lwork, int *info);
	orgqr *f = (orgqr *)c->code;
	int m = lapack_size(c, 'm'), n = lapack_size(c, 'n'), k = lapack_size(c, 't'), ld = lapack_leading(m);
	union lapack_number best = {0};
	int info = 0, lwork;
	void *work;

	if (k > n || n > m)
		return lapack_wrong(c, "there are more reflections than columns, or more columns than rows");
	f(&m, &n, &k, NULL, &ld, NULL, &best, &ask, &info);
	if (!(work = lapack_work(c, &best, &lwork)))
		return -1;
	for (size_t i = 0; i < c->batch; i++)
		f(&m, &n, &k, lapack_out(c, 0, i), &ld, lapack_in(c, 1, i), work, &lwork, &info);
	return 0;
}

int lapack_ormqr(struct lapack_call *c)
{
	typedef void ormqr(const char *side, const char *trans, const int *m, const int *n, const int *k,
		const void *a, const int *lda, const void *tau, void *b, const int *ldb, void *work, const int *lwork,
		int *info, size_t, size_t);
	ormqr *f = (ormqr *)c->code;
	int m = lapack_size(c, 'm'), n = lapack_size(c, 'n'), k = lapack_size(c, 't'), a = lapack_size(c, 'a');
	int lda = lapack_leading(a), ldb = lapack_leading(m), info = 0, lwork;
	union lapack_number best = {0};
	int64_t left, transpose;
	char side, trans;
	void *work;

	if (ffi_attribute(c->frame, "left", DT_PRED, &left) < 0 ||
		ffi_attribute(c->frame, "transpose", DT_PRED, &transpose) < 0)
		return lapack_wrong(c, "its attributes left and transpose are missing");
	side = left ? 'L' : 'R';
	trans = !transpose ? 'N' : c->complex ? 'C' : 'T';
	if (a != (left ? m : n) || k > a || k > lapack_size(c, 'q'))
		return lapack_wrong(c, "the reflections and the matrix do not fit together");
	f(&side, &trans, &m, &n, &k, NULL, &lda, NULL, NULL, &ldb, &best, &ask, &info, 1, 1);
	if (!(work = lapack_work(c, &best, &lwork)))
		return -1;
	for (size_t i = 0; i < c->batch; i++)
		f(&side, &trans, &m, &n, &k, lapack_in(c, 0, i), &lda, lapack_in(c, 1, i), lapack_out(c, 0, i), &ldb,
			work, &lwork, &info, 1, 1);
	return 0;
}
#endif
