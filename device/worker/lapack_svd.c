/*
 * lapack_svd.c - LAPACK's two routines for singular values: gesdd divides and conquers, gesvd is made of QR steps.
 *
 * The vectors on the left and on the right are all of them (mode A), as many as there are singular values (S), or none
 * (N). Without vectors the program has room for some all the same, and it stays as it is. The mode that overwrites the
 * matrix (O) is not offered: jaxlib does not offer it.
 */
#include "device/worker/lapack_own.h"
#ifdef HAVE_PJRT

static const int ask = -1;

typedef void real_gesdd(const char *job, const int *m, const int *n, void *a, const int *lda, void *s, void *u,
	const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, int *iwork, int *info, size_t);
typedef void complex_gesdd(const char *job, const int *m, const int *n, void *a, const int *lda, void *s, void *u,
	const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, void *rwork, int *iwork, int *info,
	size_t);
typedef void real_gesvd(const char *job_u, const char *job_v, const int *m, const int *n, void *a, const int *lda,
	void *s, void *u, const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, int *info, size_t,
	size_t);
typedef void complex_gesvd(const char *job_u, const char *job_v, const int *m, const int *n, void *a, const int *lda,
	void *s, void *u, const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, void *rwork,
	int *info, size_t, size_t);

struct svd {
	char job;
	int m, n, lda, ldvt, lwork;
	void *work, *rwork, *iwork;
};

/* The dimensions and the mode. */
static int begin(struct lapack_call *c, struct svd *s)
{
	int k = lapack_size(c, 'k'), u = lapack_size(c, 'u'), v = lapack_size(c, 'v');

	s->m = lapack_size(c, 'm');
	s->n = lapack_size(c, 'n');
	s->lda = lapack_leading(s->m);
	s->ldvt = lapack_leading(v);
	if (lapack_letter(c, "mode", "ASN", &s->job) < 0)
		return -1;
	if ((s->job == 'A' && (u != s->m || v != s->n)) || (s->job == 'S' && (u != k || v != k)))
		return lapack_wrong(c, "its results have no room for the vectors, or too much");
	return 0;
}

static size_t real_work(const struct svd *s)
{
	size_t m = (size_t)s->m, n = (size_t)s->n, few = m < n ? m : n, many = m < n ? n : m;
	size_t a = 5 * few * few + 5 * few, b = 2 * many * few + 2 * few * few + few;

	return s->job == 'N' ? 7 * few : a > b ? a : b;
}

/* What LAPACK is given: the i-th of the batch; or NULL, with the question how much memory it likes best. */
struct operands {
	void *a, *s, *u, *vt, *work;
	const int *lwork;
	int *info, ignored;
};

static struct operands operands_of(struct lapack_call *c, const struct svd *s, size_t i)
{
	return (struct operands){lapack_out(c, 0, i), lapack_out(c, 1, i), lapack_out(c, 2, i), lapack_out(c, 3, i),
		s->work, &s->lwork, lapack_out(c, 4, i), 0};
}

typedef void svd_one(const struct lapack_call *c, const struct svd *s, const struct operands *o);

static void gesdd_one(const struct lapack_call *c, const struct svd *s, const struct operands *o)
{
	if (c->complex)
		((complex_gesdd *)c->code)(&s->job, &s->m, &s->n, o->a, &s->lda, o->s, o->u, &s->lda, o->vt, &s->ldvt,
			o->work, o->lwork, s->rwork, s->iwork, o->info, 1);
	else
		((real_gesdd *)c->code)(&s->job, &s->m, &s->n, o->a, &s->lda, o->s, o->u, &s->lda, o->vt, &s->ldvt,
			o->work, o->lwork, s->iwork, o->info, 1);
}

static void gesvd_one(const struct lapack_call *c, const struct svd *s, const struct operands *o)
{
	if (c->complex)
		((complex_gesvd *)c->code)(&s->job, &s->job, &s->m, &s->n, o->a, &s->lda, o->s, o->u, &s->lda, o->vt,
			&s->ldvt, o->work, o->lwork, s->rwork, o->info, 1, 1);
	else
		((real_gesvd *)c->code)(&s->job, &s->job, &s->m, &s->n, o->a, &s->lda, o->s, o->u, &s->lda, o->vt,
			&s->ldvt, o->work, o->lwork, o->info, 1, 1);
}

static int run(struct lapack_call *c, struct svd *s, svd_one *one)
{
	union lapack_number best = {0};
	struct operands question = {.work = &best, .lwork = &ask};

	question.info = &question.ignored;
	one(c, s, &question);
	if (!(s->work = lapack_work(c, &best, &s->lwork)))
		return -1;
	for (size_t i = 0; i < c->batch; i++) {
		struct operands o = operands_of(c, s, i);
		one(c, s, &o);
	}
	return 0;
}

int lapack_gesdd(struct lapack_call *c)
{
	struct svd s = {0};

	if (begin(c, &s) < 0 || !(s.iwork = lapack_scratch(c, 8 * (size_t)lapack_size(c, 'k'), sizeof(int))) ||
		(c->complex && !(s.rwork = lapack_scratch(c, real_work(&s), c->real))))
		return -1;
	return run(c, &s, gesdd_one);
}

int lapack_gesvd(struct lapack_call *c)
{
	struct svd s = {0};

	if (begin(c, &s) < 0 ||
		(c->complex && !(s.rwork = lapack_scratch(c, 5 * (size_t)lapack_size(c, 'k'), c->real))))
		return -1;
	return run(c, &s, gesvd_one);
}
#endif
