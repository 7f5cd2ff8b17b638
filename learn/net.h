/*
 * net.h - the network: from a graph in a configuration to three numbers per flip.
 *
 *	h0(v)	= relu(norm(x(v) W + opcode(v) + dtype(v)))		      every node
 *	hl(v)	= h(v) + relu(norm([h(v), mean h(operands), mean h(users)] W + b))  l = 1 .. layers
 *	u	= relu(norm([hL(v), f] W + b));  u' = u + relu(norm(u W + b))	  every flip of site v
 *	out	= u' W + f S + b
 *
 * x are the features of a node in the configuration, f those of a flip (feature.h). Three outputs:
 * the magnitude log(1 + |advantage| / sigma), the logit of "improves", and the size of the improvement
 * log(1 + gain / sigma) given that it improves.
 *
 * If f holds what trees say, S begins with 1 where their output meets ours. So an untrained network says what they say,
 * and training corrects it. The last of f may be ramps of all that is known of the target itself.
 *
 * A layer needs the layer below only for the neighbours of what it computes. Rows of a batch are
 * therefore ordered by distance from the targets, and layer l runs on the first n[layers - l] rows:
 * targets alone at the top, everything at the bottom. A whole graph is a batch in which all distances
 * are 0 and every n is the number of nodes: one code for training and for prediction.
 *
 * Parameters lie in one array, described by one table (net->param), so that gradients and the
 * optimiser's moments are arrays of the same length and a model file is that table and that array.
 */
#ifndef LEARN_NET_H
#define LEARN_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/mem.h"
#include "base/rng.h"
#include "learn/layer.h"
#include "learn/ramps.h"

#define NET_LAYERS 8	/* layers at most */

enum net_out { OUT_MAGNITUDE, OUT_SIGN, OUT_SIZE, OUT_COUNT };

struct net_size {
	uint32_t width, head; /* of a node's state; of a flip's; LAYER_WIDTH at most */
	uint32_t layers;
	uint32_t opcodes, dtypes;	  /* rows of the embedding tables */
	uint32_t node_features, flip_features;
	uint32_t advised; /* how many of the flip's features are the trees' outputs (advice.h); or 0 */
	uint32_t ramped;  /* how many of them, the last ones, are ramps (ramps.h); the trees' outputs stand before */
	bool blind; /* operands and users in one mean: only to show that direction matters */
};

struct param { /* rows x cols, row-major, at weights + at */
	char name[24];
	uint32_t rows, cols;
	size_t at;
	bool decays; /* weight decay applies: matrices, not biases, gains or tables */
};

#define NET_PARAMS (5 + 4 * NET_LAYERS + 12)
struct net { /* all zero is empty */
	struct net_size size;
	struct param param[NET_PARAMS];
	uint32_t n_params;
	size_t n_weights;
	real *weight;
	struct ramps ramps; /* not trained; whoever trains sets them, and `ramped` */
};

/* Lays out the table; weights are zero until net_randomise or a file fills them. */
void net_init(struct net *net, const struct net_size *size);
void net_randomise(struct net *net, struct rng *r);
void net_release(struct net *net);
real *net_param(const struct net *net, real *weights, const char *name); /* in any array of that layout */

struct batch { /* borrowed arrays; rows ordered by distance from the targets */
	uint32_t n[NET_LAYERS + 1];	     /* rows at distance <= r; n[0]: the targets */
	const uint16_t *opcode, *dtype;	     /* n[layers]: rows of the embedding tables */
	const real *x;			     /* n[layers] x node_features */
	const uint32_t *op_first, *op_to;    /* CSR of the first n[layers - 1] rows: operands, */
	const uint32_t *user_first, *user_to; /* ... users */
	uint32_t n_flips;
	const uint32_t *flip_row;	     /* n_flips: the row of its site, < n[0] */
	const real *f;			     /* n_flips x flip_features */
};

/* What a pass leaves for the way back; memory is kept and reused from batch to batch. */
struct pass {
	struct arena mem;
	/* Per layer: the state; [h, means]; relu(norm()); its input, normalised; 1 / deviation. */
	real *h[NET_LAYERS + 1], *cat[NET_LAYERS + 1], *act[NET_LAYERS + 1];
	real *xhat[NET_LAYERS + 1], *rstd[NET_LAYERS + 1];
	real *head_in, *u1, *x1, *r1, *a2, *x2, *r2, *u2;
	real *out; /* n_flips x OUT_COUNT */
};
void pass_release(struct pass *p);

void net_forward(const struct net *net, const struct batch *b, struct pass *p);
/*
 * The steps of net_forward, for callers that keep states and recompute some rows of them: h0 of n nodes; the means of
 * n rows' neighbours into cat (whose first columns the caller fills with their own h); one layer (0-based) from cat;
 * the head of n flips, h by row, into p->out. The caller resets the arena of p.
 */
void net_input(const struct net *net, const uint16_t *opcode, const uint16_t *dtype, const real *x, size_t n,
	real *h, real *xhat, real *rstd);
void net_gather(const struct net *net, real *cat, const real *h, const uint32_t *op_first, const uint32_t *op_to,
	const uint32_t *user_first, const uint32_t *user_to, size_t n);
void net_layer(const struct net *net, uint32_t l, const real *cat, size_t n, real *act, real *xhat, real *rstd,
	real *h);
void net_head(const struct net *net, const real *h, const uint32_t *row, const real *f, size_t n, struct pass *p);

/* What the outputs of one flip mean; see struct prediction in infer.h. */
struct guess {
	float magnitude, p_improve, gain;
};
/* `times`: executions, where the outputs are of one execution (model.h); else 1. */
struct guess guess_of(const real *out, double times);

/* d_out: n_flips x OUT_COUNT. Adds to grad (n_weights). Needs the pass of the same batch. */
void net_backward(const struct net *net, const struct batch *b, struct pass *p, const real *d_out, real *grad);

#endif
