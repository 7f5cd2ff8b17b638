/*
 * mesh.c - reads meshes, and counts the layouts that a shape can have.
 *
 * A layout is like a number with a digit for each axis: the dimension that the axis splits. We count through these
 * numbers, the last axis fastest, and skip layouts that do not divide evenly. A tensor has few dimensions and a mesh
 * few axes, so counting anew each time costs nothing.
 */
#include "space/shard/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct layout layout_whole = {{-1, -1, -1, -1}};

static const char *const plain_names[MESH_AXES] = {"x", "y", "z", "w"};

static int bad_mesh(const char *text, struct err *err)
{
	return err_set(err, "\"%.60s\" is no mesh of devices; one is written 4, 2x2, "
		"or data=2,model=2, with at most %d axes and %u devices", text, MESH_AXES, MESH_DEVICES);
}

/* Reads the name before an '=', if there is one; NULL: that is no name. */
static const char *read_name(const char *p, char name[MESH_NAME])
{
	size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	if (p[n] != '=')
		return p;
	if (n == 0 || n >= MESH_NAME)
		return NULL;
	snprintf(name, MESH_NAME, "%.*s", (int)n, p);
	return p + n + 1;
}

int mesh_parse(struct mesh *m, const char *text, struct err *err)
{
	const char *p = text;

	*m = (struct mesh){.devices = 1};
	for (;;) {
		char *end;
		unsigned long size;
		if (m->n == MESH_AXES)
			return bad_mesh(text, err);
		snprintf(m->axis[m->n].name, MESH_NAME, "%s", plain_names[m->n]);
		p = read_name(p, m->axis[m->n].name);
		size = p && *p >= '1' && *p <= '9' ? strtoul(p, &end, 10) : 0;
		if (size == 0 || size > MESH_DEVICES || m->devices * size > MESH_DEVICES)
			return bad_mesh(text, err);
		for (uint32_t i = 0; i < m->n; i++)
			if (strcmp(m->axis[i].name, m->axis[m->n].name) == 0)
				return err_set(err, "two axes of the mesh \"%.60s\" are called %s", text,
					m->axis[i].name);
		m->axis[m->n++].size = (uint32_t)size;
		m->devices *= (uint32_t)size;
		p = end;
		if (*p == 0)
			return 0;
		if (!strchr(",:x", *p++))
			return bad_mesh(text, err);
	}
}

bool layout_fits(const struct mesh *m, const Hlo__ShapeProto *shape, const struct layout *l)
{
	for (uint32_t a = 0; a < m->n; a++) {
		int64_t parts = 1;
		if (l->dim[a] < 0)
			continue;
		if ((size_t)l->dim[a] >= shape->n_dimensions)
			return false;
		for (uint32_t b = 0; b < m->n; b++)
			parts *= l->dim[b] == l->dim[a] ? m->axis[b].size : 1;
		if (shape->dimensions[l->dim[a]] == 0 || shape->dimensions[l->dim[a]] % parts)
			return false;
	}
	return true;
}

/* Makes l the next layout, whether it fits or not; false: l was the last. */
static bool next_layout(const struct mesh *m, size_t rank, struct layout *l)
{
	for (uint32_t a = m->n; a-- > 0;) {
		if (m->axis[a].size > 1 && (size_t)(l->dim[a] + 1) < rank) {
			l->dim[a]++;
			return true;
		}
		l->dim[a] = -1;
	}
	return false;
}

/* Goes through the layouts of a tensor until the k-th; returns how many it passed. */
static uint32_t walk(const struct mesh *m, const Hlo__ShapeProto *shape, uint32_t k, struct layout *out)
{
	struct layout l = layout_whole;
	uint32_t n = 0;

	do {
		if (!layout_fits(m, shape, &l))
			continue;
		if (n == k)
			*out = l;
		n++;
	} while (n <= k && n < LAYOUT_LIMIT && next_layout(m, shape->n_dimensions, &l));
	return n;
}

uint32_t layout_count(const struct mesh *m, const Hlo__ShapeProto *shape)
{
	struct layout l;

	return walk(m, shape, LAYOUT_LIMIT, &l);
}

void layout_at(const struct mesh *m, const Hlo__ShapeProto *shape, uint32_t k, struct layout *out)
{
	*out = layout_whole;
	walk(m, shape, k, out);
}

uint32_t layout_number(const struct mesh *m, const Hlo__ShapeProto *shape, const struct layout *l)
{
	uint32_t n = layout_count(m, shape);
	struct layout x;

	for (uint32_t k = 0; k < n; k++) {
		layout_at(m, shape, k, &x);
		if (memcmp(&x, l, sizeof x) == 0)
			return k;
	}
	return 0;
}

uint32_t layout_parts(const struct mesh *m, const struct layout *l)
{
	uint32_t parts = 1;

	for (uint32_t a = 0; a < m->n; a++)
		parts *= l->dim[a] >= 0 ? m->axis[a].size : 1;
	return parts;
}

uint32_t layout_axes(const struct mesh *m, const struct layout *l, uint32_t dim, uint32_t axis[MESH_AXES])
{
	uint32_t n = 0;

	for (uint32_t a = 0; a < m->n; a++)
		if (l->dim[a] >= 0 && (uint32_t)l->dim[a] == dim)
			axis[n++] = a;
	return n;
}

/* Returns the device at a place of the tile assignment. `order` are the axes, the outermost first. */
static int64_t device_at(const struct mesh *m, const uint32_t *order, uint32_t place)
{
	uint32_t at[MESH_AXES] = {0};
	int64_t device = 0;

	for (uint32_t i = m->n; i-- > 0;) {
		at[order[i]] = place % m->axis[order[i]].size;
		place /= m->axis[order[i]].size;
	}
	for (uint32_t a = 0; a < m->n; a++)
		device = device * m->axis[a].size + at[a];
	return device;
}

enum { TYPE_REPLICATED = 0, TYPE_OTHER = 3 }; /* of XLA's OpSharding */

Hlo__OpSharding *layout_sharding(const struct mesh *m, const struct layout *l, uint32_t rank, struct arena *mem)
{
	Hlo__OpSharding *s = ARENA_NEW(mem, 1, Hlo__OpSharding);
	uint32_t order[MESH_AXES], n = 0, axis[MESH_AXES];

	hlo__op_sharding__init(s);
	s->type = TYPE_REPLICATED;
	if (layout_parts(m, l) == 1)
		return s;
	s->type = TYPE_OTHER;
	s->tile_assignment_dimensions = ARENA_NEW(mem, rank + 1, int64_t);
	for (uint32_t d = 0; d < rank; d++) {
		uint32_t k = layout_axes(m, l, d, axis);
		s->tile_assignment_dimensions[d] = 1;
		for (uint32_t i = 0; i < k; i++) {
			s->tile_assignment_dimensions[d] *= m->axis[axis[i]].size;
			order[n++] = axis[i];
		}
	}
	s->n_tile_assignment_dimensions = rank;
	if (layout_parts(m, l) < m->devices) {
		s->replicate_on_last_tile_dim = true;
		s->tile_assignment_dimensions[s->n_tile_assignment_dimensions++] = m->devices / layout_parts(m, l);
	}
	for (uint32_t a = 0; a < m->n; a++)
		if (l->dim[a] < 0)
			order[n++] = a;
	s->n_tile_assignment_devices = m->devices;
	s->tile_assignment_devices = ARENA_NEW(mem, m->devices, int64_t);
	for (uint32_t i = 0; i < m->devices; i++)
		s->tile_assignment_devices[i] = device_at(m, order, i);
	return s;
}

void layout_words(const struct mesh *m, const struct layout *l, uint32_t rank, struct buf *out)
{
	uint32_t axis[MESH_AXES];

	if (layout_parts(m, l) == 1) {
		buf_adds(out, "whole on every device");
		return;
	}
	buf_adds(out, "split ");
	for (uint32_t d = 0; d < rank; d++) {
		uint32_t n = layout_axes(m, l, d, axis);
		buf_adds(out, d ? ", " : "");
		for (uint32_t i = 0; i < n; i++)
			buf_addf(out, "%s%s", i ? " and " : "", m->axis[axis[i]].name);
		if (n == 0)
			buf_adds(out, "-");
	}
}
