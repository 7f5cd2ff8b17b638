/*
 * order.h - the order in which a program's instructions run, as a space of decisions.
 *
 * A site is an instruction that makes or reads a value in temporary memory; its choice is a shift against a base order.
 * Choice 0 leaves it where the base has it; the others pull it to the front or push it to the back by a share of its
 * computation (order_shift). What a pull needs comes along, what waits for a push waits longer: a list scheduler makes
 * every configuration a legal order.
 *
 * One more site, the root of the entry, says which base that is: the compiler's own order, its depth-first one, or one
 * that was found by other means and set with order_set_base. A configuration of a found base means nothing without it.
 *
 * The cost of a configuration is a formula: bytes of temporary memory by our model of the compiler's memory
 * (program.h). What the compiler itself says of an order is asked with device_arrange and read with order_figure.
 */
#ifndef SPACE_ORDER_ORDER_H
#define SPACE_ORDER_ORDER_H

#include "space/order/program.h"
#include "space/space.h"

enum order_base { ORDER_COMPILER, ORDER_DEPTH_FIRST, ORDER_FOUND, ORDER_BASES };

extern const struct space_kind order_kind;

/* Shares of a computation by which a choice moves a step; negative: to the front. Beyond 1: all the way. */
extern const double order_shift[];
#define ORDER_CHOICES 9

/* The space's program; its orders are those of the configuration asked for last. NULL: the space is of another kind. */
struct program *order_program(struct space *s);
/* Sets the program's orders to those of a configuration. */
void order_set(struct space *s, const uint8_t *config);
/* The program in the orders of a configuration, to be looked at only; and its bytes. */
const struct program *order_of_config(struct space *s, const uint8_t *config);
uint64_t order_bytes(struct space *s, const uint8_t *config);
/* The program's orders, as they are now, become a base. */
void order_set_base(struct space *s, enum order_base base);
/* Its orders, per computation. */
uint32_t *const *order_base_orders(const struct space *s, enum order_base base);
/* The configuration that is a base itself. */
void order_base_set(const struct space *s, uint8_t *config, enum order_base base);
/* The base of a configuration. */
enum order_base order_base_of(const struct space *s, const uint8_t *config);
/* The site that says which base it is. */
uint32_t order_base_site(const struct space *s);
/* arranging.c: what search and inspect need of orders. */
extern const struct space_arranging order_arranging;

#endif
