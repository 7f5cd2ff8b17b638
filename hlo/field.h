/*
 * field.h - a field of a message by its name, for the reader and the printer of HLO text.
 *
 * A path names a field, or a field of a message inside: "precision_config.algorithm". Numbers are
 * passed as int64_t, whatever the width of the field.
 */
#ifndef HLO_FIELD_H
#define HLO_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/mem.h"
#include "schemas/hlo.pb-c.h"

struct field {
	const ProtobufCFieldDescriptor *f; /* NULL: a message on the path is missing */
	char *at;
	size_t *count; /* of a list, else NULL */
	bool set;      /* no other member of its oneof is */
};

void *message_new(struct arena *mem, const ProtobufCMessageDescriptor *d);
struct field field_find(const void *message, const char *path);
/* Makes the messages that are missing on the path, and selects the field in its oneof. */
struct field field_make(struct arena *mem, void *message, const char *path);
/* The list that holds a literal's elements; its f is NULL if no constants of this type exist. */
struct field field_of_literal(const Hlo__Literal *l, uint8_t dtype);
/* The bytes of one element in that list; a complex element counts with both parts. */
size_t literal_width(uint8_t dtype);

size_t field_count(const struct field *w); /* of a list */
int64_t field_number(const struct field *w, size_t i);
void field_set_number(const struct field *w, int64_t v);
void field_set_numbers(struct arena *mem, const struct field *w, const int64_t *v, size_t n);
void *field_pointer(const struct field *w); /* a message, a string, a list */
void field_set_pointer(const struct field *w, void *p);
const char *field_string(const struct field *w, size_t *n); /* also of bytes */
void field_set_string(const struct field *w, char *s, size_t n);

#endif
