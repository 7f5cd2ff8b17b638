/*
 * rewrite_complex.h - programs of a product of complex matrices, of all dimension numberings.
 *
 * Either side is given as complex numbers, or converted from real ones and reshaped, or made of real numbers and zeros
 * and transposed.
 */
#ifndef TESTS_REWRITE_COMPLEX_H
#define TESTS_REWRITE_COMPLEX_H

#include "tests/rewrite_cases.h"

enum complex_side { COMPLEX, CONVERTED, WITH_ZEROS, COMPLEX_SIDES };

static void complex_shape(struct buf *b, const char *type, const char *labels)
{
	struct buf shape = {0};

	shape_of(&shape, labels, 0, 0);
	buf_addf(b, "%s%s", type, strchr(shape.data, '['));
	buf_release(&shape);
}

static void complex_line(struct buf *b, const char *name, const char *type, const char *labels)
{
	buf_addf(b, "  %s = ", name);
	complex_shape(b, type, labels);
}

/* The labels from last to first. */
static void reversed(const char *labels, char *out)
{
	size_t n = strlen(labels);

	for (size_t i = 0; i < n; i++)
		out[i] = labels[n - 1 - i];
	out[n] = 0;
}

static void complex_operand(struct buf *b, const char *name, const char *labels, enum complex_side how, int number)
{
	char other[16], step[16];
	size_t n = strlen(labels);

	reversed(labels, other);
	if (how == COMPLEX) {
		complex_line(b, name, "c64", labels);
		buf_addf(b, " parameter(%d)\n", number);
		return;
	}
	snprintf(step, sizeof step, "r%s", name);
	complex_line(b, step, "f32", other);
	buf_addf(b, " parameter(%d)\n", number);
	if (how == WITH_ZEROS) {
		buf_addf(b, "  n%s = f32[] constant(0)\n", name);
		snprintf(step, sizeof step, "z%s", name);
		complex_line(b, step, "f32", other);
		buf_addf(b, " broadcast(n%s), dimensions={}\n", name);
	}
	snprintf(step, sizeof step, "c%s", name);
	complex_line(b, step, "c64", other);
	buf_addf(b, how == CONVERTED ? " convert(r%s)\n" : " complex(r%s, z%s)\n", name, name);
	complex_line(b, name, "c64", labels);
	buf_addf(b, " %s(c%s)", how == CONVERTED ? "reshape" : "transpose", name);
	for (size_t i = 0; i < n && how == WITH_ZEROS; i++)
		buf_addf(b, "%s%zu", i ? "," : ", dimensions={", n - 1 - i);
	buf_adds(b, how == WITH_ZEROS ? "}\n" : "\n");
}

static void complex_product(struct buf *b, const struct product_case *c, enum complex_side x, enum complex_side w)
{
	char out[16] = "";

	if (strchr(c->x, 'b'))
		strcat(out, "b");
	result_labels(c, c->x, out);
	result_labels(c, c->w, out);
	buf_adds(b, "HloModule m\n\nENTRY e {\n");
	complex_operand(b, "x", c->x, x, 0);
	complex_operand(b, "w", c->w, w, 1);
	buf_adds(b, "  ROOT y = ");
	complex_shape(b, "c64", out);
	buf_adds(b, " dot(x, w)");
	product_lists(b, c, c->x, "lhs");
	product_lists(b, c, c->w, "rhs");
	buf_adds(b, "\n}\n");
}

static void walk_complex(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const char *const labels[][2] = {{"mk", "kn"}, {"mkl", "kln"}, {"bmk", "bkn"}, {"mk", "k"}, {"m", "n"}};
	uint32_t n = first;

	for (size_t l = 0; l < sizeof labels / sizeof *labels; l++)
		for (uint32_t o = 0; o < 36; o++)
			for (int s = 0; s < COMPLEX_SIDES * COMPLEX_SIDES; s++) {
				struct product_case c = {.side = 0};
				struct buf b = {0};
				if (left_out(n++, each))
					continue;
				ordered(labels[l][0], o % 6, c.x);
				ordered(labels[l][1], o / 6, c.w);
				complex_product(&b, &c, (enum complex_side)(s % COMPLEX_SIDES),
					(enum complex_side)(s / COMPLEX_SIDES));
				visit(ctx, b.data);
				buf_release(&b);
			}
}

#endif
