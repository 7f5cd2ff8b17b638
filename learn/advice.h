/*
 * advice.h - what trees say of each flip, for a network that takes it as inputs and corrects it.
 *
 * A network must learn to correct trees as they err on programs that they never saw. So the advice on a flip that the
 * network is trained on comes from trees that were grown without its program: the programs are dealt into a few parts,
 * and for each part a forest is grown on the others. All other flips get the advice of the trees in the model.
 */
#ifndef LEARN_ADVICE_H
#define LEARN_ADVICE_H

#include "learn/boost.h"

#define ADVICE_PARTS 5

struct advice {	       /* all zero is none */
	size_t *first; /* per example of the data: its first flip in `out` */
	real *out;     /* OUT_COUNT for each flip */
};
void advice_release(struct advice *a);

static inline const real *advice_on(const struct advice *a, uint32_t example, uint8_t flip)
{
	return a->out + (a->first[example] + flip) * OUT_COUNT;
}

/* What `t` says of the listed examples; nothing is known of the others. */
void advice_by(const struct trees *t, const struct data *d, const uint32_t *example, size_t n, struct advice *out);

/* Advice to train with: `t` are the model's trees, grown with the same options on the graphs that are not held. */
int advice_crossed(const struct trees *t, const struct data *d, const bool *held, double unit,
	const struct boost_options *o, struct advice *out, struct err *err);

#endif
