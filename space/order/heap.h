/*
 * heap.h - where the compiler puts what is in no room (rooms.h), by XLA's rules, and how large a heap that takes.
 *
 * All is known in advance, so XLA sorts all blocks, by size or by how long they live, and puts each where it fits best:
 * into the smallest gap between those that are there already and live at some of the same time, else behind them. The
 * smaller of the two heaps is taken. Between the bytes that are alive together and the size of the heap lie the gaps
 * that are left: mostly none, a few percent in an order that was made for few live bytes.
 */
#ifndef SPACE_ORDER_HEAP_H
#define SPACE_ORDER_HEAP_H

#include "space/order/program.h"

struct heap;

/* Wants lives and rooms. */
uint64_t heap_bytes(struct program *p);
/* How many pairs of blocks heap_bytes has to hold against each other, about: what it costs. Wants the same. */
uint64_t heap_work(struct program *p);
void heap_free(struct heap *h); /* accepts NULL */

#endif
