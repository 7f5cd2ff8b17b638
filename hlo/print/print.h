/*
 * print.h - prints the pieces of HLO text: attributes, shapes, constants. graph/print.c prints a program with them.
 *
 *	form.c    attributes, by the tables of hlo/words.h, in plain forms
 *	window.c  attributes about dimensions
 *	alias.c   attributes about buffers
 *	note.c    notes beside the program
 *	shard.c   shardings and device lists
 *	value.c   shapes, layouts, constants, strings
 */
#ifndef HLO_PRINT_PRINT_H
#define HLO_PRINT_PRINT_H

#include "base/buf.h"
#include "hlo/field.h"
#include "hlo/words.h"

struct printer {
	struct buf *out;
	const struct hlo_words *words;
	struct arena mem;
};

/* value.c */
void print_shape(struct buf *out, const Hlo__ShapeProto *s, bool with_layout);
void print_literal(struct buf *out, const Hlo__Literal *l);	   /* the value */
void print_shaped_literal(struct buf *out, const Hlo__Literal *l); /* shapes before all of it */
void print_string(struct buf *out, const char *s, size_t n);	   /* in quotes */
void print_string_or_json(struct buf *out, const char *s, size_t n);
void print_real(struct buf *out, double v, int digits);
void print_ints(struct buf *out, const int64_t *v, size_t n, const char *open, const char *close);

/* shard.c */
void print_sharding(struct printer *p, const Hlo__OpSharding *s);
void print_devices(struct printer *p, const Hlo__HloInstructionProto *in);
bool devices_given(const Hlo__HloInstructionProto *in);

/* window.c */
void print_slices(struct printer *p, const struct field *v);
void print_padding(struct printer *p, const Hlo__PaddingConfig *c);
void print_window(struct printer *p, const Hlo__Window *w);
void print_dim_labels(struct printer *p, const Hlo__ConvolutionDimensionNumbers *d);
bool sparsity_empty(const Hlo__SparsityConfig *c);
void print_sparsity(struct printer *p, const Hlo__SparsityConfig *c);

/* alias.c */
bool alias_empty(enum attr_form form, const void *message);
void print_aliasing(struct printer *p, const struct field *v);
void print_module_alias(struct printer *p, const Hlo__HloInputOutputAliasProto *m);
void print_donor(struct printer *p, const Hlo__HloBufferDonorProto *m);
void print_entry_layout(struct printer *p, const Hlo__ProgramShapeProto *s);

/* note.c */
bool metadata_empty(const Hlo__OpMetadata *m);
bool note_empty(enum attr_form form, const void *message);
void print_frontend(struct printer *p, const Hlo__FrontendAttributes *m);
void print_statistics(struct printer *p, const Hlo__StatisticsViz *m);
void print_origin(struct printer *p, const Hlo__OriginalValue *m);

/* form.c */
/* Prints ", name=value" for each attribute of the set that has to be written, except those that name instructions. */
void print_attrs(struct printer *p, const struct attr_set *set, const void *message);
/* The same as "{name=value name=value}". */
void print_braces(struct printer *p, const struct attr_set *set, const void *message);

#endif
