/*
 * mesh.h - devices in a grid (a mesh), and layouts, which say how the dimensions of a tensor are split over it.
 *
 * A mesh has a few axes, each with a name and a size. The number of devices is the product of the sizes; devices are
 * numbered with the last axis fastest. A layout says for each axis which dimension of a tensor it splits. An axis that
 * splits none holds copies. An axis splits at most one dimension. Several axes may split the same dimension, the
 * earlier axis outside. A dimension is split only if it divides evenly, so every device holds as much as any other.
 *
 *	mesh_parse(&m, "data=2,model=2", &err)
 *	for (k = 0; k < layout_count(&m, shape); k++)
 *		layout_at(&m, shape, k, &layout);	// 0: copies everywhere
 */
#ifndef SPACE_SHARD_MESH_H
#define SPACE_SHARD_MESH_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "schemas/hlo.pb-c.h"

#define MESH_AXES 4
#define MESH_NAME 24
#define MESH_DEVICES 1024u

struct mesh {
	uint32_t n, devices;
	struct {
		char name[MESH_NAME];
		uint32_t size;
	} axis[MESH_AXES];
};

/* Reads a mesh: "4", "2x2", "data=2,model=2". ':' may stand in place of ','. */
int mesh_parse(struct mesh *m, const char *text, struct err *err);

struct layout {
	int8_t dim[MESH_AXES]; /* per axis: the dimension that it splits, or -1 */
};
extern const struct layout layout_whole; /* copies everywhere */

/* How many layouts a tensor can have, at most LAYOUT_LIMIT; the first is layout_whole. */
uint32_t layout_count(const struct mesh *m, const Hlo__ShapeProto *shape);
#define LAYOUT_LIMIT 254u
void layout_at(const struct mesh *m, const Hlo__ShapeProto *shape, uint32_t k, struct layout *out);
/* The number of a layout, or 0 if the tensor cannot have it. */
uint32_t layout_number(const struct mesh *m, const Hlo__ShapeProto *shape, const struct layout *l);
/* Can the tensor be split so? */
bool layout_fits(const struct mesh *m, const Hlo__ShapeProto *shape, const struct layout *l);
/* Returns into how many parts the layout cuts a tensor. */
uint32_t layout_parts(const struct mesh *m, const struct layout *l);

/* Returns the layout as XLA writes it; it lives in `mem`. */
Hlo__OpSharding *layout_sharding(const struct mesh *m, const struct layout *l, uint32_t rank, struct arena *mem);
/* The axes that split a dimension, outermost first; returns how many. */
uint32_t layout_axes(const struct mesh *m, const struct layout *l, uint32_t dim, uint32_t axis[MESH_AXES]);
/* For people: "data and model, -, -", a word for each dimension; "whole" where nothing is split. */
void layout_words(const struct mesh *m, const struct layout *l, uint32_t rank, struct buf *out);

#endif
