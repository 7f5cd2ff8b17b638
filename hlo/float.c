/*
 * float.c - small floating-point types by their description.
 *
 * A value is sign, exponent with a bias, and m bits of mantissa; an exponent of zero means no hidden
 * bit. They differ in what the largest codes mean: IEEE has infinities and NaNs there, FN one NaN and
 * no infinity, FNUZ a single NaN in place of minus zero, FINITE neither, and E8M0 is a bare exponent.
 */
#include "hlo/float.h"

#include <math.h>
#include <string.h>
#include "hlo/op.h"

enum kind { NO_FLOAT, IEEE, FN, FNUZ, FINITE, BARE };

struct format {
	enum kind kind;
	int exponent, mantissa, bias;
};

static const struct format formats[256] = {
	[DT_F16] = {IEEE, 5, 10, 15},
	[DT_BF16] = {IEEE, 8, 7, 127},
	[DT_F32] = {IEEE, 8, 23, 127},
	[DT_F8E5M2] = {IEEE, 5, 2, 15},
	[DT_F8E4M3] = {IEEE, 4, 3, 7},
	[DT_F8E3M4] = {IEEE, 3, 4, 3},
	[DT_F8E4M3FN] = {FN, 4, 3, 7},
	[DT_F8E4M3FNUZ] = {FNUZ, 4, 3, 8},
	[DT_F8E5M2FNUZ] = {FNUZ, 5, 2, 16},
	[DT_F8E4M3B11FNUZ] = {FNUZ, 4, 3, 11},
	[DT_F4E2M1FN] = {FINITE, 2, 1, 1},
	[DT_F6E3M2FN] = {FINITE, 3, 2, 3},
	[DT_F6E2M3FN] = {FINITE, 2, 3, 1},
	[DT_F8E8M0FNU] = {BARE, 8, 0, 127},
};

bool float_known(uint8_t dtype)
{
	return formats[dtype].kind != NO_FLOAT;
}

int float_payload_bits(uint8_t dtype)
{
	return formats[dtype].kind == IEEE ? formats[dtype].mantissa : 0;
}

/* The code of the largest finite magnitude. */
static uint64_t largest(const struct format *f)
{
	uint64_t all = (UINT64_C(1) << (f->exponent + f->mantissa)) - 1;
	return f->kind == IEEE ? all - (UINT64_C(1) << f->mantissa) : f->kind == FN ? all - 1 : all;
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
	case IEEE:
		return sign | top << f->mantissa | (uint64_t)nan << (f->mantissa - 1);
	case FN:
		return sign | (largest(f) + 1);
	case FNUZ:
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
	if (f->kind == BARE)
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
	return bits == 0 && f->kind == FNUZ ? 0 : sign | bits;
over:
	*fits = f->kind == FINITE;
	return f->kind == FINITE ? sign | largest(f) : encode_special(f, minus, false);
}

double float_decode(uint8_t dtype, uint64_t bits)
{
	const struct format *f = &formats[dtype];
	int width = f->exponent + f->mantissa;
	uint64_t magnitude = bits & ((UINT64_C(1) << width) - 1), m = bits & ((UINT64_C(1) << f->mantissa) - 1);
	int e = (int)(magnitude >> f->mantissa);
	double sign = bits >> width & 1 ? -1 : 1;
	if (f->kind == BARE)
		return bits == 255 ? NAN : ldexp(1, (int)bits - 127);
	if (f->kind == FNUZ && magnitude == 0 && sign < 0)
		return NAN;
	if (magnitude > largest(f))
		return f->kind == IEEE && m == 0 ? sign * HUGE_VAL : copysign(NAN, sign);
	if (e == 0)
		return sign * ldexp((double)m, 1 - f->bias - f->mantissa);
	return sign * ldexp((double)(m + (UINT64_C(1) << f->mantissa)), e - f->bias - f->mantissa);
}
