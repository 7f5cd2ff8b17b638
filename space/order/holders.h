/*
 * holders.h - finds what lives in temporary memory where a program needs most of it (space/arranging.h).
 */
#ifndef SPACE_ORDER_HOLDERS_H
#define SPACE_ORDER_HOLDERS_H

#include "space/arranging.h"
#include "space/order/program.h"

/* Finds the holders of the entry of a settled program, the largest first. */
void holders_find(struct holders *h, struct program *p);

#endif
