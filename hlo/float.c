/*
 * float.c - converts small floating-point types, each described by a row of schemas/dtype.def.
 *
 * A value is a sign, an exponent with a bias, and m bits of mantissa; an exponent of zero means no
 * hidden bit. The class of the type says what the largest codes mean.
 */
#include "hlo/float.h"

#include <math.h>
#include <string.h>
#include "hlo/op.h"

static const struct format {
	enum dtype_class kind;
	int bits, exponent, mantissa, bias;
} formats[256] = {
#define DTYPE(id, number, name, bits, kind, e, m, bias) [number] = {DTYPE_##kind, bits, e, m, bias},
#include "schemas/dtype.def"
#undef DTYPE
};

bool float_known(uint8_t dtype)
{
	return formats[dtype].kind >= DTYPE_IEEE && formats[dtype].bits <= 32;
}

int float_exponent_bits(uint8_t dtype)
{
	return formats[dtype].exponent;
}

int float_mantissa_bits(uint8_t dtype)
{
	return formats[dtype].mantissa;
}

int float_payload_bits(uint8_t dtype)
{
	return float_known(dtype) && formats[dtype].kind == DTYPE_IEEE ? formats[dtype].mantissa : 0;
}

/* The code of the largest finite magnitude. */
static uint64_t largest(const struct format *f)
{
	uint64_t all = (UINT64_C(1) << (f->exponent + f->mantissa)) - 1;
	return f->kind == DTYPE_IEEE ? all - (UINT64_C(1) << f->mantissa) : f->kind == DTYPE_FN ? all - 1 : all;
}

static uint64_t encode_bare(double v, bool *fits)
{
	int e;
	if (isnan(v) || isinf(v))
		return 255;
	*fits = v >= ldexp(1, -133); /* rounds to something near 2^-127 */
	double m = frexp(v, &e) * 2; /* 1 <= m < 2 */
	e = e - 1 + 127;
	e += m > 1.5 || (m == 1.5 && e >= 0); /* halfway goes up */
	*fits &= v > 0 && e < 255;
	return !(v > 0) ? 255 : e < 0 ? 0 : e > 254 ? 255 : (uint64_t)e;
}

static uint64_t encode_special(const struct format *f, bool minus, bool nan)
{
	uint64_t sign = (uint64_t)minus << (f->exponent + f->mantissa), top = (UINT64_C(1) << f->exponent) - 1;
	switch (f->kind) {
	case DTYPE_IEEE:
		return sign | top << f->mantissa | (uint64_t)nan << (f->mantissa - 1);
	case DTYPE_FN:
		return sign | (largest(f) + 1);
	case DTYPE_FNUZ:
		return UINT64_C(1) << (f->exponent + f->mantissa);
	default: /* no NaN: minus zero stands for it in XLA */
		return nan ? (sign ? 0 : UINT64_C(1) << (f->exponent + f->mantissa)) : sign | largest(f);
	}
}

uint64_t float_encode(uint8_t dtype, double v, bool *fits)
{
	const struct format *f = &formats[dtype];
	bool minus = signbit(v), ok = true;
	if (!fits)
		fits = &ok;
	*fits = true;
	if (f->kind == DTYPE_BARE)
		return encode_bare(v, fits);
	if (isnan(v) || isinf(v))
		return encode_special(f, minus, isnan(v));
	if (dtype == DT_F16 || dtype == DT_BF16)
		v = (double)(float)v;
	int e = 0;
	frexp(v, &e);
	e = v == 0 || e - 1 < 1 - f->bias ? 1 - f->bias : e - 1;
	double q = isinf(v) ? HUGE_VAL : rint(ldexp(fabs(v), f->mantissa - e)); /* in units of the last bit */
	double whole = ldexp(1, f->mantissa);
	uint64_t sign = (uint64_t)minus << (f->exponent + f->mantissa);
	if (q >= 2 * whole) {
		q /= 2;
		e++;
	}
	if (isinf(q) || e + f->bias >= 1 << f->exponent)
		goto over;
	uint64_t bits = q < whole ? (uint64_t)q :
				    (uint64_t)(e + f->bias) << f->mantissa | ((uint64_t)q - (uint64_t)whole);
	if (bits > largest(f))
		goto over;
	return bits == 0 && f->kind == DTYPE_FNUZ ? 0 : sign | bits;
over:
	*fits = f->kind == DTYPE_FINITE;
	return f->kind == DTYPE_FINITE ? sign | largest(f) : encode_special(f, minus, false);
}

double float_decode(uint8_t dtype, uint64_t bits)
{
	const struct format *f = &formats[dtype];
	int width = f->exponent + f->mantissa;
	uint64_t magnitude = bits & ((UINT64_C(1) << width) - 1), m = bits & ((UINT64_C(1) << f->mantissa) - 1);
	int e = (int)(magnitude >> f->mantissa);
	double sign = bits >> width & 1 ? -1 : 1;
	if (f->kind == DTYPE_BARE)
		return bits == 255 ? NAN : ldexp(1, (int)bits - 127);
	if (f->kind == DTYPE_FNUZ && magnitude == 0 && sign < 0)
		return NAN;
	if (magnitude > largest(f))
		return f->kind == DTYPE_IEEE && m == 0 ? sign * HUGE_VAL : copysign(NAN, sign);
	if (e == 0)
		return sign * ldexp((double)m, 1 - f->bias - f->mantissa);
	return sign * ldexp((double)(m + (UINT64_C(1) << f->mantissa)), e - f->bias - f->mantissa);
}

bool float_of_literal(const Hlo__Literal *l, double *out)
{
	if (!l)
		return false;
	if (l->n_f32s)
		*out = (double)l->f32s[0];
	else if (l->n_f64s)
		*out = l->f64s[0];
	else if (l->bf16s.len >= 2)
		*out = float_decode(DT_BF16, l->bf16s.data[0] | (uint64_t)l->bf16s.data[1] << 8);
	else if (l->f16s.len >= 2)
		*out = float_decode(DT_F16, l->f16s.data[0] | (uint64_t)l->f16s.data[1] << 8);
	else
		return false;
	return true;
}
