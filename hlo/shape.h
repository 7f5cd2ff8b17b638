/*
 * shape.h - checks, measures and compares the shapes of values.
 *
 * A shape is an array, a tuple or a buffer (both hold other shapes), a token, or something opaque.
 */
#ifndef HLO_SHAPE_H
#define HLO_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "schemas/hlo.pb-c.h"

#define RANK_LIMIT 64			  /* dimensions of one array */
#define ELEMENT_LIMIT (UINT64_C(1) << 50) /* of one shape; also of any size that an instruction names */

/*
 * Says what is wrong with a shape, as the end of a sentence that begins "instruction X of computation Y "; NULL if
 * nothing is. A shape without offence has the ranks, sizes and layouts that graph/valid.h promises. A missing shape
 * (s is NULL) is an offence.
 */
const char *shape_offence(const Hlo__ShapeProto *s);

/* Adds the elements and bytes of all leaves to *elements and *bytes. The shape must be without offence. */
void shape_size(const Hlo__ShapeProto *s, uint64_t *elements, uint64_t *bytes);

bool shape_same(const Hlo__ShapeProto *a, const Hlo__ShapeProto *b); /* layouts are not compared */
size_t shape_leaves(const Hlo__ShapeProto *s);
/* Tuples in it, itself counted. */
uint32_t shape_tuples(const Hlo__ShapeProto *s);

#endif
