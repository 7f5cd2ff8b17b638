/*
 * heap.h - computes how large the compiler's heap of temporaries is, by XLA's rules.
 *
 * The heap holds all values that are in no room (rooms.h). XLA knows all of them in advance. It sorts the blocks, once
 * by size and once by how long they live, and puts each where it fits best: into the smallest gap between the blocks
 * that have their place already and live at some of the same time, or else behind these. It takes the smaller of the
 * two heaps. A heap is larger than the bytes that are alive together by the gaps that remain: mostly there are none,
 * but a few percent in an order that was made for few live bytes.
 */
#ifndef SPACE_ORDER_HEAP_H
#define SPACE_ORDER_HEAP_H

#include "space/order/program.h"

struct heap;

/* Returns the size of the heap. The program must be settled (program.h), so that lives and rooms are known. */
uint64_t heap_bytes(struct program *p);
/* Estimates how many pairs of blocks heap_bytes would compare, which is its cost. The program must be settled. */
uint64_t heap_work(struct program *p);
void heap_free(struct heap *h); /* accepts NULL */

#endif
