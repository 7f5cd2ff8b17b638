/*
 * write.h - a program's order as a module to compile, and what a compiler made of it.
 *
 * XLA ignores a schedule that a module brings along, but keeps to control dependencies. So each instruction is made to
 * wait for the one before it, in every computation that is compiled as such, and nothing is left to the scheduler.
 */
#ifndef SPACE_ORDER_WRITE_H
#define SPACE_ORDER_WRITE_H

#include "base/buf.h"
#include "space/order/program.h"

/* Appends the module with its instructions in the program's orders, each waiting for the one before. */
void order_write(const struct program *p, struct buf *module);
/*
 * Reads the orders of a scheduled module: of the instructions that it shares with the program by name, what comes
 * before what. 0, or -1 with a sentence where that is no order of the program; `same`, if given, gets how many of the
 * program's instructions stand where they stood, `all` how many there are.
 */
int order_read(struct program *p, const Hlo__HloModuleProto *m, uint32_t *same, uint32_t *all, struct err *err);
/*
 * What the compiler says of memory in an arranged program (HloProto bytes): bytes of temporary memory. -1 with a
 * sentence where it says nothing.
 */
int order_figure(const void *proto, size_t n, uint64_t *bytes, struct err *err);

#endif
