/*
 * float.h - the floating-point types of 16 bits and fewer (and float itself), to and from double.
 *
 * Encoding rounds to nearest, ties to even; 16-bit types go through float, as in XLA. `fits` is
 * false when a finite number becomes an infinity or a NaN. A NaN keeps its sign where the type has
 * signed NaNs.
 */
#ifndef HLO_FLOAT_H
#define HLO_FLOAT_H

#include <stdbool.h>
#include <stdint.h>
#include "hlo/module.h"

bool float_known(uint8_t dtype); /* DT_F16, DT_BF16, DT_F32 and all smaller ones */
uint64_t float_encode(uint8_t dtype, double v, bool *fits);
double float_decode(uint8_t dtype, uint64_t bits);
int float_exponent_bits(uint8_t dtype); /* as reduce-precision counts them */
int float_mantissa_bits(uint8_t dtype);
/* How many bits of payload a NaN of this type can carry; 0 where there is only one NaN. */
int float_payload_bits(uint8_t dtype);
/* Reads a constant of one number of 16, 32 or 64 bits. */
bool float_of_literal(const Hlo__Literal *l, double *out);

#endif
