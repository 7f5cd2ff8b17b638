/*
 * check_gnn.c - the whole network, in double precision: its gradient against central differences along every weight and
 * along random directions, and the two shapes of a batch (neighbourhood, whole graph) against each other.
 */
#define REAL_DOUBLE
#include "learn/blas.c"
#include "learn/layer.c"
#include "learn/net.c"
#include "tests/test.h"

enum { NODES = 13, FEATURES = 4, FLIP = 3, OPCODES = 5, DTYPES = 2 };

/*
 * Two targets (rows 0, 1), then rings: 1-hop rows 2..5, 2-hop 6..9, 3-hop 10..12. Every row within two
 * hops has all its neighbours in the batch.
 */
static const uint32_t op_first[] = {0, 2, 3, 4, 6, 6, 7, 9, 9, 10, 11, 11, 12, 12};
static const uint32_t op_to[] = {2, 3, 3, 6, 6, 7, 8, 10, 11, 11, 12, 9};
static const uint32_t user_first[] = {0, 1, 3, 3, 5, 6, 8, 10, 11, 11, 12, 12, 12, 13};
static const uint32_t user_to[] = {4, 4, 5, 0, 1, 0, 9, 1, 2, 3, 3, 5, 8};
static const uint16_t opcode[NODES] = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2};
static const uint16_t dtype[NODES] = {0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1};
static const uint32_t flip_row[] = {0, 0, 1};
static real x[NODES * FEATURES], f[3 * FLIP], c[3 * OUT_COUNT];
static struct rng rng;

static struct net make(uint32_t layers, bool blind)
{
	struct net_size size = {.width = 6, .head = 5, .layers = layers, .opcodes = OPCODES, .dtypes = DTYPES,
		.node_features = FEATURES, .flip_features = FLIP, .blind = blind};
	struct net net;

	rng_seed(&rng, 11);
	for (size_t i = 0; i < NODES * FEATURES; i++)
		x[i] = rng_normal(&rng);
	for (size_t i = 0; i < 3 * FLIP; i++)
		f[i] = rng_normal(&rng);
	for (size_t i = 0; i < 3 * OUT_COUNT; i++)
		c[i] = rng_normal(&rng);
	net_init(&net, &size);
	net_randomise(&net, &rng);
	for (size_t i = 0; i < net.n_weights; i++) /* biases and gains too */
		net.weight[i] += 0.1 * rng_normal(&rng);
	return net;
}

static struct batch batch_of(uint32_t layers, bool whole)
{
	static const uint32_t bound[] = {2, 6, 10, 13};
	struct batch b = {.opcode = opcode, .dtype = dtype, .x = x, .op_first = op_first, .op_to = op_to,
		.user_first = user_first, .user_to = user_to, .n_flips = 3, .flip_row = flip_row, .f = f};

	for (uint32_t r = 0; r <= layers; r++)
		b.n[r] = whole ? NODES : r == layers ? NODES : bound[r];
	return b;
}

static real loss(const struct net *net, const struct batch *b, struct pass *p)
{
	real total = 0;

	net_forward(net, b, p);
	for (size_t i = 0; i < 3 * OUT_COUNT; i++)
		total += c[i] * p->out[i];
	return total;
}

static void check_gradient(uint32_t layers, bool blind)
{
	struct net net = make(layers, blind);
	struct batch b = batch_of(layers, false);
	struct pass p = {0};
	real *grad = MEM_NEW(net.n_weights, real), h = 1e-6;

	loss(&net, &b, &p);
	net_backward(&net, &b, &p, c, grad);
	for (uint32_t k = 0; k < net.n_params; k++)
		for (size_t i = net.param[k].at, e = i + (size_t)net.param[k].rows * net.param[k].cols; i < e; i++) {
			real keep = net.weight[i], up, down, want;
			net.weight[i] = keep + h;
			up = loss(&net, &b, &p);
			net.weight[i] = keep - h;
			down = loss(&net, &b, &p);
			net.weight[i] = keep;
			want = (up - down) / (2 * h);
			if (!CHECK(fabs(grad[i] - want) <= 1e-5 * (fabs(want) + fabs(grad[i]) + 1e-2)))
				printf("%s[%zu]: backward %.12g, differences %.12g\n", net.param[k].name,
					i - net.param[k].at, grad[i], want);
		}
	mem_free(grad);
	pass_release(&p);
	net_release(&net);
}

static void gradient_of_every_weight(void)
{
	check_gradient(3, false);
}
static void gradient_of_one_and_two_layers(void)
{
	check_gradient(1, false);
	check_gradient(2, false);
}
static void gradient_when_direction_blind(void)
{
	check_gradient(3, true);
}

static void gradient_along_random_directions(void)
{
	struct net net = make(3, false);
	struct batch b = batch_of(3, false);
	struct pass p = {0};
	real *grad = MEM_NEW(net.n_weights, real), *keep = MEM_NEW(net.n_weights, real), h = 1e-6;

	loss(&net, &b, &p);
	net_backward(&net, &b, &p, c, grad);
	memcpy(keep, net.weight, net.n_weights * sizeof *keep);
	for (uint64_t t = 0; t < 20; t++) {
		real along = 0, side[2], want;
		for (int s = 0; s < 2; s++) {
			along = 0;
			rng_seed(&rng, t);
			for (size_t i = 0; i < net.n_weights; i++) {
				real d = rng_normal(&rng);
				along += d * grad[i];
				net.weight[i] = keep[i] + (s ? h : -h) * d;
			}
			side[s] = loss(&net, &b, &p);
		}
		want = (side[1] - side[0]) / (2 * h);
		CHECK_NEAR(along / want, 1, 1e-5);
	}
	mem_free(grad), mem_free(keep);
	pass_release(&p);
	net_release(&net);
}

/* The output of a target does not depend on how much is computed outside its neighbourhood. */
static void neighbourhood_equals_whole_graph(void)
{
	struct net net = make(3, false);
	struct batch part = batch_of(3, false), whole = batch_of(3, true);
	struct pass p = {0}, q = {0};

	net_forward(&net, &part, &p);
	net_forward(&net, &whole, &q);
	for (size_t i = 0; i < 3 * OUT_COUNT; i++)
		CHECK_NEAR(p.out[i], q.out[i], 1e-12);
	pass_release(&p), pass_release(&q);
	net_release(&net);
}

/* Swapping operands and users changes the output, unless the network is blind to direction. */
static void direction_matters(void)
{
	for (int blind = 0; blind < 2; blind++) {
		struct net net = make(2, blind);
		struct batch b = batch_of(2, true), swapped = b;
		struct pass p = {0}, q = {0};
		swapped.op_first = user_first, swapped.op_to = user_to;
		swapped.user_first = op_first, swapped.user_to = op_to;
		net_forward(&net, &b, &p);
		net_forward(&net, &swapped, &q);
		CHECK((fabs(p.out[0] - q.out[0]) < 1e-12) == (bool)blind);
		pass_release(&p), pass_release(&q);
		net_release(&net);
	}
}

int main(void)
{
	RUN(gradient_of_every_weight);
	RUN(gradient_of_one_and_two_layers);
	RUN(gradient_when_direction_blind);
	RUN(gradient_along_random_directions);
	RUN(neighbourhood_equals_whole_graph);
	RUN(direction_matters);
	return test_done();
}
