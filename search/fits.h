/*
 * fits.h - finds a configuration that the device can hold, where the one to begin with is too large for it.
 *
 * A program that fits on no single device has to be split before anything can be priced against anything. The kind's
 * schemes (space_ops.scheme) are tried, first those of `from`, then those of the kind's starts, until one has a price.
 */
#ifndef SEARCH_FITS_H
#define SEARCH_FITS_H

#include "lab/lab.h"

#define FITS_MOST 200 /* prices that are asked for at most */

/* 1: `config` is the first that fits; 0: none does, or there are no schemes; -1. Adds to *prices what was asked. */
int fits_find(struct lab *lab, const uint8_t *from, uint8_t *config, uint32_t *prices, struct err *err);

#endif
