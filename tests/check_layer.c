/*
 * check_layer.c - every layer's backward pass against central differences, in double precision; products against a
 * loop.
 */
#define REAL_DOUBLE
#include "learn/blas.c"
#include "learn/layer.c"
#include "base/mem.h"
#include "base/rng.h"
#include "tests/test.h"

#define STEP 1e-6

static struct rng rng;

static void fill(real *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = rng_normal(&rng);
}

/*
 * A layer under test: y = f(inputs). The loss is the sum of y, weighted by fixed random numbers c, so dy = c. The
 * gradient of each input is compared with the change of the loss, number by number.
 */
struct input {
	real *value, *grad;
	size_t n;
};
static real *out, *weigh;
static size_t n_out;

static real loss(void (*forward)(void))
{
	real total = 0;

	forward();
	for (size_t i = 0; i < n_out; i++)
		total += out[i] * weigh[i];
	return total;
}

static void compare(void (*forward)(void), const struct input *in, size_t n_in)
{
	for (size_t i = 0; i < n_in; i++)
		for (size_t k = 0; k < in[i].n; k++) {
			real keep = in[i].value[k], up, down, want, got = in[i].grad[k];
			in[i].value[k] = keep + STEP;
			up = loss(forward);
			in[i].value[k] = keep - STEP;
			down = loss(forward);
			in[i].value[k] = keep;
			want = (up - down) / (2 * STEP);
			if (!CHECK(fabs(got - want) <= 1e-5 * (fabs(want) + fabs(got) + 1e-2)))
				printf("input %zu [%zu]: backward says %.12g, differences %.12g\n", i, k, got, want);
		}
}

enum { N = 7, IN = 5, OUT = 11 };
static real x[N * OUT], w[IN * OUT], b[OUT], g[OUT], y[N * 3 * OUT], c[N * 3 * OUT];
static real dx[N * OUT], dw[IN * OUT], db[OUT], dg[OUT];

static void begin(size_t n)
{
	rng_seed(&rng, 7);
	fill(x, N * OUT), fill(w, IN * OUT), fill(b, OUT), fill(g, OUT), fill(c, N * 3 * OUT);
	memset(dx, 0, sizeof dx), memset(dw, 0, sizeof dw), memset(db, 0, sizeof db), memset(dg, 0, sizeof dg);
	out = y, weigh = c, n_out = n;
}

static void linear(void)
{
	linear_forward(y, x, w, b, N, IN, OUT);
}

static void gradient_of_linear(void)
{
	struct input in[] = {{x, dx, N * IN}, {w, dw, IN * OUT}, {b, db, OUT}};

	begin(N * OUT);
	linear_backward(dx, dw, db, c, x, w, N, IN, OUT);
	compare(linear, in, 3);
}

static const uint16_t ids[N] = {1, 0, 3, 3, 3, 0, 4};
static void embed(void)
{
	memset(y, 0, sizeof y);
	embed_forward(y, w, ids, N, OUT);
}

static void gradient_of_embedding(void)
{
	struct input in[] = {{w, dw, IN * OUT}};

	begin(N * OUT);
	embed_backward(dw, c, ids, N, OUT);
	compare(embed, in, 1);
}

static real hat[N * OUT], rstd[N];
static void norm_relu(void)
{
	memcpy(hat, x, sizeof hat);
	norm_relu_forward(y, hat, rstd, g, b, N, OUT);
}

static void gradient_of_norm_relu(void)
{
	struct input in[] = {{x, dx, N * OUT}, {g, dg, OUT}, {b, db, OUT}};

	begin(N * OUT);
	norm_relu();
	norm_relu_backward(dx, dg, db, c, y, hat, rstd, g, N, OUT);
	compare(norm_relu, in, 3);
}

static void norm_relu_is_what_it_says(void)
{
	begin(N * OUT);
	norm_relu();
	for (size_t i = 0; i < N; i++) {
		real mean = 0, var = 0;
		for (size_t k = 0; k < OUT; k++)
			mean += x[i * OUT + k] / OUT;
		for (size_t k = 0; k < OUT; k++)
			var += (x[i * OUT + k] - mean) * (x[i * OUT + k] - mean) / OUT;
		for (size_t k = 0; k < OUT; k++) {
			real z = g[k] * (x[i * OUT + k] - mean) / sqrt(var + 1e-5) + b[k];
			CHECK_NEAR(y[i * OUT + k], z > 0 ? z : 0, 1e-12);
		}
	}
}

/* Row 2 has no neighbour, row 4 names one twice; rows of y are 3 OUT apart. */
static const uint32_t first_a[N + 1] = {0, 2, 3, 3, 6, 8, 9, 10}, to_a[] = {1, 2, 0, 4, 5, 6, 1, 1, 3, 6};
static const uint32_t first_b[N + 1] = {0, 0, 1, 1, 2, 4, 4, 4}, to_b[] = {6, 6, 0, 2};
static void mean(void)
{
	mean_forward(y + OUT, 3 * OUT, x, first_a, to_a, N, OUT);
}
static void mean2(void)
{
	mean2_forward(y + OUT, 3 * OUT, x, first_a, to_a, first_b, to_b, N, OUT);
}

static void gradient_of_mean(void)
{
	struct input in[] = {{x, dx, N * OUT}};

	begin(N * 3 * OUT);
	memset(y, 0, sizeof y);
	mean_backward(dx, c + OUT, 3 * OUT, first_a, to_a, N, OUT);
	compare(mean, in, 1);
	CHECK(y[2 * 3 * OUT + OUT] == 0);
	CHECK_NEAR(y[OUT], (x[1 * OUT] + x[2 * OUT]) / 2, 1e-15);
}

static void gradient_of_mean_both_ways(void)
{
	struct input in[] = {{x, dx, N * OUT}};

	begin(N * 3 * OUT);
	memset(y, 0, sizeof y);
	mean2_backward(dx, c + OUT, 3 * OUT, first_a, to_a, first_b, to_b, N, OUT);
	compare(mean2, in, 1);
}

static void backward_accumulates(void)
{
	begin(N * OUT);
	linear_backward(dx, dw, db, c, x, w, N, IN, OUT);
	for (size_t i = 0; i < OUT; i++)
		dg[i] = db[i];
	linear_backward(NULL, dw, db, c, x, w, N, IN, OUT);
	for (size_t i = 0; i < OUT; i++)
		CHECK_NEAR(db[i], 2 * dg[i], 1e-12);
}

static void gradient_of_losses(void)
{
	static const real at[][2] = {{0.3, 0.1}, {3, 0.5}, {-4, 1}, {0.02, 0}, {30, 0.9}, {-30, 0.2}};

	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		real d, ignored, want, v = at[i][0], t = at[i][1];
		huber(v, t, 1.5, &d);
		want = (huber(v + STEP, t, 1.5, &ignored) - huber(v - STEP, t, 1.5, &ignored)) / (2 * STEP);
		CHECK_NEAR(d, want, 1e-6);
		cross_entropy(v, t, &d);
		want = (cross_entropy(v + STEP, t, &ignored) - cross_entropy(v - STEP, t, &ignored)) / (2 * STEP);
		CHECK_NEAR(d, want, 1e-6);
	}
	CHECK_NEAR(cross_entropy(0, 0.5, weigh), log(2), 1e-12);
}

static void product_is_the_plain_loop(void)
{
	static const size_t sizes[][3] = {{1, 1, 1}, {7, 5, 3}, {33, 64, 192}, {64, 192, 33}, {4, 4, 0}};
	real *a = MEM_NEW(64 * 192, real), *p = MEM_NEW(64 * 192, real), *q = MEM_NEW(64 * 192, real);
	real *r = MEM_NEW(64 * 192, real);

	rng_seed(&rng, 3);
	fill(a, 64 * 192), fill(p, 64 * 192);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int t = 0; t < 8; t++) {
			size_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
			real beta = t & 4 ? 0.5 : 0;
			for (size_t j = 0; j < m * n; j++)
				q[j] = r[j] = t & 4 ? (real)j : NAN;
			gemm(t & 1, t & 2, m, n, k, 2, a, p, beta, q);
			gemm_plain(t & 1, t & 2, m, n, k, 2, a, p, beta, r);
			for (size_t j = 0; j < m * n; j++)
				CHECK_NEAR(q[j], r[j], 1e-10 * (1 + fabs(r[j])));
		}
	mem_free(a), mem_free(p), mem_free(q), mem_free(r);
}

int main(void)
{
	RUN(product_is_the_plain_loop);
	RUN(gradient_of_linear);
	RUN(gradient_of_embedding);
	RUN(norm_relu_is_what_it_says);
	RUN(gradient_of_norm_relu);
	RUN(gradient_of_mean);
	RUN(gradient_of_mean_both_ways);
	RUN(backward_accumulates);
	RUN(gradient_of_losses);
	return test_done();
}
