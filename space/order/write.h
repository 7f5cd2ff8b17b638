/*
 * write.h - writes a program's order as a module to compile, and reads what the compiler made of it.
 *
 * XLA ignores a schedule that comes with a module, but it obeys control dependencies. So in every computation that is
 * compiled as such, each instruction is made to wait for the one before it. That leaves its scheduler no choice.
 */
#ifndef SPACE_ORDER_WRITE_H
#define SPACE_ORDER_WRITE_H

#include "base/buf.h"
#include "space/order/program.h"

/* Appends the module with its instructions in the program's orders, each waiting for the one before. */
void order_write(const struct program *p, struct buf *module);
/*
 * Gives the program the orders of a scheduled module. Instructions are found by name, or else by what they do; those of
 * the module that the program does not have are left out. Fails if that is no legal order of the program. Unless they
 * are NULL, `all` gets the number of the program's instructions, and `same` how many of them are where they were
 * before. XLA:GPU takes copies out and puts new ones in, in places of its own; they do not count.
 */
int order_read(struct program *p, const Hlo__HloModuleProto *m, uint32_t *same, uint32_t *all, struct err *err);
/*
 * Reads the bytes of temporary memory that the compiler states for an arranged program. `proto` holds the n bytes of an
 * HloProto. Fails if it does not say.
 */
int order_figure(const void *proto, size_t n, uint64_t *bytes, struct err *err);

#endif
