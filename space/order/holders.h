/*
 * holders.h - finds the values that are in temporary memory where a program needs most of it (space/arranging.h).
 */
#ifndef SPACE_ORDER_HOLDERS_H
#define SPACE_ORDER_HOLDERS_H

#include "space/arranging.h"
#include "space/order/program.h"

/* Finds the holders in the entry of a settled program (program.h), the largest first. */
void holders_find(struct holders *h, struct program *p);

#endif
