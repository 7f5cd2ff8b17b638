/*
 * shard.c - prints shardings and groups of devices, in the forms that hlo/text/shard.c shows.
 */
#include <inttypes.h>
#include <string.h>
#include "hlo/print/print.h"

enum { MAXIMAL = 1, TUPLE = 2, OTHER = 3 };

static void narrow(struct buf *out, const int32_t *v, size_t n, const char *open)
{
	buf_adds(out, open);
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%d", i ? "," : "", v[i]);
	buf_addch(out, ')');
}

static void iota(struct buf *out, const int64_t *dims, size_t n, const int32_t *perm)
{
	print_ints(out, dims, n, "[", "]");
	if (n > 1)
		narrow(out, perm, n, "T(");
}

static void metadata(struct printer *p, Hlo__OpMetadata *const *m, size_t n, const char *before)
{
	if (n == 0)
		return;
	buf_adds(p->out, before);
	buf_adds(p->out, n > 1 ? "metadata={" : "metadata=");
	for (size_t i = 0; i < n; i++) {
		buf_adds(p->out, i ? ", " : "");
		print_braces(p, &p->words->metadata, m[i]);
	}
	buf_adds(p->out, n > 1 ? "}" : "");
}

/* ---- by names of axes ---- */

static void mesh(struct printer *p, const Hlo__Mesh *m)
{
	struct buf *out = p->out;
	if (!m->n_axes && m->n_device_ids == 1) {
		buf_addf(out, "maximal_mesh[device_id=%" PRId64 "]", m->device_ids[0]);
		return;
	}
	buf_adds(out, "mesh[");
	for (size_t i = 0; i < m->n_axes; i++) {
		buf_adds(out, i ? "," : "");
		print_string(out, m->axes[i]->name, strlen(m->axes[i]->name));
		buf_addf(out, "=%" PRId64, m->axes[i]->size);
	}
	buf_addch(out, ']');
	if (m->n_device_ids) {
		print_ints(out, m->device_ids, m->n_device_ids, ", device_ids=(", ")");
	} else if (m->iota_transform) {
		const Hlo__IotaTransform *t = m->iota_transform;
		print_ints(out, t->reshape_dims, t->n_reshape_dims, ", device_ids=([", "]");
		if (t->n_reshape_dims > 1)
			print_ints(out, t->transpose_perm, t->n_transpose_perm, "T(", ")");
		buf_addch(out, ')');
	}
}

static void axes(struct printer *p, const Hlo__Mesh *m, Hlo__AxisRef *const *v, size_t n, bool open)
{
	buf_addch(p->out, '{');
	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)v[i]->mesh_axis_index;
		const char *name = at < m->n_axes ? m->axes[at]->name : "";
		buf_adds(p->out, i ? ", " : "");
		print_string(p->out, name, strlen(name));
		if (v[i]->sub_axis_info)
			buf_addf(p->out, ":(%" PRId64 ")%" PRId64, v[i]->sub_axis_info->pre_size,
				v[i]->sub_axis_info->size);
	}
	buf_adds(p->out, open ? n ? ", ?}" : "?}" : "}");
}

static void named(struct printer *p, const Hlo__NamedSharding *s)
{
	if (!s->mesh)
		return;
	mesh(p, s->mesh);
	if (s->mesh->n_axes || s->mesh->n_device_ids != 1) {
		buf_adds(p->out, ", [");
		for (size_t i = 0; i < s->n_dim_shardings; i++) {
			buf_adds(p->out, i ? ", " : "");
			axes(p, s->mesh, s->dim_shardings[i]->axes, s->dim_shardings[i]->n_axes,
				!s->dim_shardings[i]->is_closed);
		}
		buf_addch(p->out, ']');
	}
	if (s->n_replicated_axes) {
		buf_adds(p->out, ", replicated=");
		axes(p, s->mesh, s->replicated_axes, s->n_replicated_axes, false);
	}
	if (s->n_unreduced_axes) {
		const char *op = hlo_word(WORDS_REDUCTION, s->reduction_op);
		buf_addf(p->out, ", unreduced=%s", s->reduction_op && op ? op : "");
		axes(p, s->mesh, s->unreduced_axes, s->n_unreduced_axes, false);
	}
	if (s->n_manual_axes) {
		buf_adds(p->out, ", manual=");
		axes(p, s->mesh, s->manual_axes, s->n_manual_axes, false);
	}
	metadata(p, s->metadata, s->n_metadata, ", ");
}

/* ---- by device ---- */

static void tiled(struct printer *p, const Hlo__OpSharding *s)
{
	print_ints(p->out, s->tile_assignment_dimensions, s->n_tile_assignment_dimensions, "devices=[", "]");
	if (s->n_iota_reshape_dims && s->n_iota_transpose_perm == s->n_iota_reshape_dims) {
		buf_adds(p->out, "<=");
		iota(p->out, s->iota_reshape_dims, s->n_iota_reshape_dims, s->iota_transpose_perm);
	} else {
		print_ints(p->out, s->tile_assignment_devices, s->n_tile_assignment_devices, "", "");
	}
	if (s->replicate_on_last_tile_dim)
		buf_adds(p->out, " last_tile_dim_replicate");
	if (s->n_last_tile_dims) {
		buf_adds(p->out, " last_tile_dims={");
		for (size_t i = 0; i < s->n_last_tile_dims; i++) {
			const char *word = hlo_word(WORDS_SHARDING, s->last_tile_dims[i]);
			buf_addf(p->out, "%s%s", i ? ", " : "", word ? word : "unknown");
		}
		buf_addch(p->out, '}');
	}
}

void print_sharding(struct printer *p, const Hlo__OpSharding *s)
{
	const char *word = hlo_word(WORDS_SHARDING, s->type);
	buf_addch(p->out, '{');
	if (s->type == TUPLE) {
		for (size_t i = 0; i < s->n_tuple_shardings; i++) {
			buf_adds(p->out, i ? ", " : "");
			print_sharding(p, s->tuple_shardings[i]);
		}
		buf_addch(p->out, '}');
		return;
	}
	if (s->named_sharding)
		named(p, s->named_sharding);
	else if (s->type == OTHER)
		tiled(p, s);
	else
		buf_adds(p->out, word ? word : "unknown");
	if (s->type == MAXIMAL && s->n_tile_assignment_devices)
		buf_addf(p->out, " device=%" PRId64, s->tile_assignment_devices[0]);
	if (s->is_shard_group)
		buf_addf(p->out, " shard_%s %" PRId64, s->shard_group_type ? "like" : "as", s->shard_group_id);
	metadata(p, s->metadata, s->n_metadata, " ");
	buf_addch(p->out, '}');
}

/* ---- groups ---- */

bool devices_given(const Hlo__HloInstructionProto *in)
{
	return in->collective_device_list || in->iota_collective_device_list || in->mesh_axes_replica_group_list ||
	       in->n_replica_groups;
}

static void groups(struct buf *out, Hlo__ReplicaGroup *const *g, size_t n)
{
	buf_addch(out, '{');
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? "," : "");
		print_ints(out, g[i]->replica_ids, g[i]->n_replica_ids, "{", "}");
	}
	buf_addch(out, '}');
}

void print_devices(struct printer *p, const Hlo__HloInstructionProto *in)
{
	const Hlo__CollectiveDeviceList *l = in->collective_device_list;
	const Hlo__IotaReplicaGroupList *i = in->iota_collective_device_list;
	if (!i && l && l->iota_replica_group_list)
		i = l->iota_replica_group_list; /* where older versions of XLA put it */
	if (in->mesh_axes_replica_group_list && in->mesh_axes_replica_group_list->mesh) {
		mesh(p, in->mesh_axes_replica_group_list->mesh);
		buf_addch(p->out, ' ');
		axes(p, in->mesh_axes_replica_group_list->mesh, in->mesh_axes_replica_group_list->axes,
			in->mesh_axes_replica_group_list->n_axes, false);
	} else if (i && i->n_iota_transpose_perm == i->n_iota_reshape_dims) {
		buf_addf(p->out, "[%" PRId64 ",%" PRId64 "]<=", i->num_replica_groups, i->num_devices_per_group);
		iota(p->out, i->iota_reshape_dims, i->n_iota_reshape_dims, i->iota_transpose_perm);
	} else if (l) {
		groups(p->out, l->replica_groups, l->n_replica_groups);
	} else {
		groups(p->out, in->replica_groups, in->n_replica_groups);
	}
}
