/*
 * blas.c - see blas.h. OpenBLAS starts a pool of threads of its own when the library is loaded; the
 * constructor below sends it to sleep before anything is computed, so that n threads of ours are n
 * threads in all and a product is the same bytes whoever computes it.
 */
#include "learn/blas.h"

#include <stdint.h>
#include <string.h>
#include <time.h>
#include "base/err.h"

/*
 * The functions we call, declared here: cblas.h would be the reference library's on some systems, which
 * knows nothing of openblas_*, and others put it into a folder of its own.
 */
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };
void openblas_set_num_threads(int n);
char *openblas_get_corename(void);
#ifdef REAL_DOUBLE
#define cblas_gemm cblas_dgemm
#else
#define cblas_gemm cblas_sgemm
#endif
void cblas_gemm(int order, int ta, int tb, int m, int n, int k, real alpha, const real *a, int lda,
	const real *b, int ldb, real beta, real *c, int ldc);

bool gemm_timed;
static _Thread_local double seconds;

void gemm_plain(bool ta, bool tb, size_t m, size_t n, size_t k, real alpha, const real *a, const real *b,
	real beta, real *c)
{
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++) {
			real sum = 0;
			for (size_t q = 0; q < k; q++)
				sum += (ta ? a[q * m + i] : a[i * k + q]) * (tb ? b[j * k + q] : b[q * n + j]);
			c[i * n + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * n + j]);
		}
}

__attribute__((constructor)) static void one_thread(void)
{
	openblas_set_num_threads(1);
}

static void product(bool ta, bool tb, size_t m, size_t n, size_t k, real alpha, const real *a, const real *b,
	real beta, real *c)
{
	/* OpenBLAS takes leading dimensions of at least 1 and leaves C alone when k is 0. */
	if (k == 0) {
		gemm_plain(ta, tb, m, n, k, alpha, a, b, beta, c);
		return;
	}
	cblas_gemm(ROW_MAJOR, ta ? TRANS : NO_TRANS, tb ? TRANS : NO_TRANS, (int)m, (int)n,
		(int)k, alpha, a, (int)(ta ? m : k), b, (int)(tb ? k : n), beta, c, (int)n);
}

const char *gemm_name(void)
{
	static char name[64];
	if (!name[0]) {
		strcpy(name, "OpenBLAS (");
		strncat(name, openblas_get_corename(), sizeof name - 13);
		strcat(name, ")");
	}
	return name;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void gemm(bool ta, bool tb, size_t m, size_t n, size_t k, real alpha, const real *a, const real *b,
	real beta, real *c)
{
	double start;

	BUG_ON(m > INT32_MAX || n > INT32_MAX || k > INT32_MAX);
	if (m == 0 || n == 0)
		return;
	start = gemm_timed ? cpu_seconds() : 0;
	product(ta, tb, m, n, k, alpha, a, b, beta, c);
	if (gemm_timed)
		seconds += cpu_seconds() - start;
}

double gemm_seconds(void)
{
	return seconds;
}
