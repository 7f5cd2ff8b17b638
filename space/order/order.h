/*
 * order.h - a space of decisions (space/space.h): in which order a program's instructions run.
 *
 * A site is an instruction that makes or reads a value in temporary memory. Its choice is a shift against a base order.
 * Choice 0 leaves the instruction where the base has it; the others shift it to the front or to the back by a share of
 * its computation (order_shift). A list scheduler (list.h) makes a legal order of every configuration.
 *
 * One more site, the root of the entry, says which base that is: the compiler's own order, a depth-first order, or an
 * order that was found by other means and set with order_set_base. A configuration with a found base means nothing
 * without that base.
 *
 * The cost of a configuration is a formula: bytes of temporary memory by our model of the compiler's memory
 * (program.h). To learn what the compiler itself says of an order, ask device_arrange, and read the answer with
 * order_figure.
 */
#ifndef SPACE_ORDER_ORDER_H
#define SPACE_ORDER_ORDER_H

#include "space/order/program.h"
#include "space/space.h"

enum order_base { ORDER_COMPILER, ORDER_DEPTH_FIRST, ORDER_FOUND, ORDER_BASES };

extern const struct space_kind order_kind;

/* Per choice: the share of its computation by which it shifts a step. Negative: to the front; beyond 1: all the way. */
extern const double order_shift[];
#define ORDER_CHOICES 9

/*
 * Returns the space's program, which the caller may change. It has the orders of the configuration that was asked for
 * last.
 */
struct program *order_program(struct space *s);
/* Gives the program the orders of a configuration. */
void order_set(struct space *s, const uint8_t *config);
/* Returns the program in the orders of a configuration. The caller must not change it. */
const struct program *order_of_config(struct space *s, const uint8_t *config);
/* Returns the bytes of temporary memory that a configuration needs, by our model. */
uint64_t order_bytes(struct space *s, const uint8_t *config);
/* Makes a base of the orders that the program has now. */
void order_set_base(struct space *s, enum order_base base);
/* Returns the orders of a base, one for each computation. */
uint32_t *const *order_base_orders(const struct space *s, enum order_base base);
/* Writes the configuration that is a base without any shift. */
void order_base_set(const struct space *s, uint8_t *config, enum order_base base);
/* Returns the base of a configuration. */
enum order_base order_base_of(const struct space *s, const uint8_t *config);
/* Returns the site that says which base it is; NONE if the space has no such site. */
uint32_t order_base_site(const struct space *s);
/* What search and inspect need of orders; in arranging.c. */
extern const struct space_arranging order_arranging;

#endif
