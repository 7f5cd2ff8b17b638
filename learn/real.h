/*
 * real.h - the number type of the network: float, because speed is bound by memory and the labels carry
 * a percent of noise at best. The gradient checks compile the same sources with REAL_DOUBLE, where
 * finite differences are good to ten digits and a wrong formula cannot hide behind rounding.
 */
#ifndef LEARN_REAL_H
#define LEARN_REAL_H

#ifdef REAL_DOUBLE
typedef double real;
#define REAL(x) x
#define real_sqrt sqrt
#else
typedef float real;
#define REAL(x) x##f
#define real_sqrt sqrtf
#endif

#endif
