/*
 * quantity.h - what a cost is of: seconds, bytes, cycles, a formula (schemas/quantity.def).
 *
 * A cost is a number of one quantity and of one kind (base/outcome.h: measured, estimated, modelled). The number's unit
 * is the quantity's base unit everywhere, in structs, stores and JSON: seconds, bytes, cycles; only what people read is
 * scaled (us, MiB). Costs of different quantities are never compared or added.
 */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

enum quantity {
#define QUANTITY(id, ...) QUANTITY_##id,
#include "schemas/quantity.def"
	QUANTITY_COUNT
};

const char *quantity_name(enum quantity q);
/* The words for the sentence "a program VERBs 3% less NOUN": "takes" and "time". */
const char *quantity_verb(enum quantity q);
const char *quantity_noun(enum quantity q);
bool quantity_deterministic(enum quantity q);
/* The quantity of a name; QUANTITY_COUNT where there is none. */
enum quantity quantity_find(const char *name);

#define QUANTITY_TEXT 40 /* bytes that always do */
/* A figure with its unit, as people read it: "12.3 us", "1.5 MiB", "12,345 cycles", "0.25". Returns `out`. */
const char *quantity_text(enum quantity q, double value, char out[QUANTITY_TEXT]);

/*
 * Reads a figure: a number in the base unit ("17e9"), or a number with a unit ("16GiB", "2.5 ms", "3 Gcycles"). The
 * error is a clause that names the units.
 */
int quantity_read(enum quantity q, const char *text, double *value, struct err *err);
/* The names of all quantities, for people; the text lasts as long as the process. */
const char *quantity_names(void);

/* For figures side by side, which must share a unit: the unit's name ("us"; "" if there is none), and a value in it. */
const char *quantity_unit(enum quantity q);
double quantity_in_unit(enum quantity q, double value);

#endif
