/*
 * shard.c - reads which device has what: shardings and groups of devices.
 *
 *	{devices=[2,2]0,1,2,3}  {devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}  {maximal device=0}
 *	{{replicated}, {manual}}				a tuple
 *	{mesh['x'=4,'y'=2], [{'x'}, {'y':(1)2, ?}]}		by names of axes
 *	{{0,1},{2,3}}   [2,4]<=[8]   mesh['x'=4] {'x'}		groups
 *
 * They are kept as written. XLA brings them into a normal form whenever it reads them.
 */
#include <stdio.h>
#include <string.h>
#include "hlo/text/own.h"

/* Returns the product; one that does not fit is an offence. */
static int64_t product(struct text *p, const int64_t *v, size_t n, const char *at)
{
	int64_t total = 1;
	for (size_t i = 0; i < n; i++)
		if (v[i] < 0 || __builtin_mul_overflow(total, v[i], &total)) {
			text_wrong_at(p, at, "there are not so many devices");
			return 0;
		}
	return total;
}

/* [2,4]T(1,0): the sizes go to `dims`, and the order of the dimensions to `perm`. */
static void iota(struct text *p, int64_t **dims, size_t *n, int64_t **perm)
{
	const char *at = p->tok.at;
	text_ints(p, '[', ']');
	*n = p->ints.n;
	*dims = text_keep_ints(p, &p->ints);
	if (*n == 0)
		text_wrong_at(p, at, "expected at least one dimension");
	p->ints.n = 0;
	if (*n == 1) {
		int_list_add(&p->ints, 0);
	} else if (text_accept_word(p, "T")) {
		text_ints(p, '(', ')');
	} else {
		text_expected(p, "T(, the order of these dimensions");
	}
	uint64_t seen = 0;
	for (size_t i = 0; i < p->ints.n && !p->bad; i++) {
		int64_t d = p->ints.v[i];
		if (d < 0 || d >= (int64_t)*n || d >= 64 || seen >> d & 1 || p->ints.n != *n)
			text_wrong_at(p, at, "an order names each of the %zu dimensions once", *n);
		else
			seen |= UINT64_C(1) << d;
	}
	*perm = text_keep_ints(p, &p->ints);
}

static int32_t *narrow(struct text *p, const int64_t *v, size_t n)
{
	int32_t *out = arena_alloc(p->mem, n * sizeof(*out));
	for (size_t i = 0; i < n; i++)
		out[i] = (int32_t)v[i];
	return out;
}

struct assignment { /* [2,2]<=[4] or [2,2]0,1,2,3 */
	int64_t *dims, *devices, *reshape, *perm;
	size_t n_dims, n_devices, n_reshape;
};

static struct assignment assignment(struct text *p, bool listed)
{
	struct assignment a = {0};
	const char *at = p->tok.at;
	text_ints(p, '[', ']');
	a.n_dims = p->ints.n;
	a.dims = text_keep_ints(p, &p->ints);
	if (a.n_dims == 0)
		text_wrong_at(p, at, "expected at least one dimension");
	int64_t want = product(p, a.dims, a.n_dims, at), got;
	if (text_accept(p, T_ATMOST)) {
		iota(p, &a.reshape, &a.n_reshape, &a.perm);
		got = product(p, a.reshape, a.n_reshape, at);
	} else {
		p->ints.n = 0;
		if (!listed)
			text_expected(p, "\"<=[\"");
		do
			int_list_add(&p->ints, text_int(p));
		while (text_accept(p, ','));
		a.n_devices = p->ints.n;
		a.devices = text_keep_ints(p, &p->ints);
		got = (int64_t)a.n_devices;
	}
	if (!p->bad && want != got)
		text_wrong_at(p, at, "these dimensions have room for %lld devices, but %lld are given", (long long)want,
			(long long)got);
	return a;
}

/* One metadata={...}, or a list of them. */
static Hlo__OpMetadata **metadata(struct text *p, size_t *n)
{
	struct ptr_list list = {0};
	bool many = text_is(p, '{') && text_peek(p) == '{';
	if (many) {
		for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
			ptr_list_add(&list, text_message(p, &hlo__op_metadata__descriptor));
			text_metadata(p, list.v[list.n - 1]);
		}
	} else {
		ptr_list_add(&list, text_message(p, &hlo__op_metadata__descriptor));
		text_metadata(p, list.v[0]);
	}
	*n = list.n;
	Hlo__OpMetadata **out = (Hlo__OpMetadata **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	return out;
}

/* ---- by names of axes ---- */

static void mesh_devices(struct text *p, Hlo__Mesh *m)
{
	text_expect(p, '(');
	if (text_is(p, '[')) {
		m->iota_transform = text_message(p, &hlo__iota_transform__descriptor);
		iota(p, &m->iota_transform->reshape_dims, &m->iota_transform->n_reshape_dims,
			&m->iota_transform->transpose_perm);
		m->iota_transform->n_transpose_perm = m->iota_transform->n_reshape_dims;
		text_expect(p, ')');
		return;
	}
	p->ints.n = 0;
	if (!text_is(p, ')'))
		do
			int_list_add(&p->ints, text_int(p));
		while (text_accept(p, ','));
	m->n_device_ids = p->ints.n;
	m->device_ids = text_keep_ints(p, &p->ints);
	text_expect(p, ')');
}

static bool device_ids_follow(const struct text *p)
{
	const char *s = p->at;
	while (s < p->end && (*s == ' ' || *s == '\n' || *s == '\t' || *s == '\r'))
		s++;
	return text_is(p, ',') && p->end - s > 11 && memcmp(s, "device_ids=", 11) == 0;
}

static Hlo__Mesh *mesh(struct text *p, bool *maximal)
{
	Hlo__Mesh *m = text_message(p, &hlo__mesh__descriptor);
	struct ptr_list axes = {0};
	*maximal = text_word_is(p, "maximal_mesh");
	text_next(p);
	if (*maximal) {
		text_expect(p, '[');
		if (!text_accept_attr(p, "device_id"))
			text_expected(p, "device_id=");
		p->ints.n = 0;
		int_list_add(&p->ints, text_int(p));
		m->n_device_ids = 1;
		m->device_ids = text_keep_ints(p, &p->ints);
		text_expect(p, ']');
		return m;
	}
	for (bool more = text_first(p, '[', ']'); more; more = text_again(p, ']')) {
		Hlo__MeshAxis *a = text_message(p, &hlo__mesh_axis__descriptor);
		a->name = text_string(p, NULL);
		text_expect(p, '=');
		a->size = text_int(p);
		ptr_list_add(&axes, a);
	}
	m->n_axes = axes.n;
	m->axes = (Hlo__MeshAxis **)text_keep_ptrs(p, &axes);
	mem_free(axes.v);
	if (device_ids_follow(p)) {
		text_next(p);
		text_next(p);
		mesh_devices(p, m);
	}
	return m;
}

/* 'x' or 'x':(2)4 */
static Hlo__AxisRef *axis(struct text *p, const Hlo__Mesh *m)
{
	Hlo__AxisRef *r = text_message(p, &hlo__axis_ref__descriptor);
	const char *at = p->tok.at;
	char *name = text_string(p, NULL);
	size_t i = 0;
	while (i < m->n_axes && strcmp(m->axes[i]->name, name) != 0)
		i++;
	for (size_t k = 0; i == m->n_axes && k < m->n_axes; k++) {
		char digits[24];
		snprintf(digits, sizeof(digits), "%zu", k);
		if (strcmp(digits, name) == 0)
			i = k;
	}
	if (i == m->n_axes)
		text_wrong_at(p, at, "the mesh has no axis of this name");
	r->mesh_axis_index = (int64_t)i;
	if (text_accept(p, ':')) {
		r->sub_axis_info = text_message(p, &hlo__sub_axis__descriptor);
		text_expect(p, '(');
		r->sub_axis_info->pre_size = text_int(p);
		text_expect(p, ')');
		r->sub_axis_info->size = text_int(p);
	}
	return r;
}

/* {'x', 'y', ?}: a question mark at the end says that more may follow; it is allowed if `open` is not NULL. */
static Hlo__AxisRef **axes(struct text *p, const Hlo__Mesh *m, size_t *n, bool *open)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		if (open && *open)
			text_wrong_at(p, p->tok.at, "nothing may stand behind \"?\"");
		if (open && text_accept(p, '?'))
			*open = true;
		else
			ptr_list_add(&list, axis(p, m));
	}
	*n = list.n;
	Hlo__AxisRef **out = (Hlo__AxisRef **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	return out;
}

static void all_axes(struct text *p, Hlo__NamedSharding *s, Hlo__AxisRef ***to, size_t *n)
{
	struct ptr_list list = {0};
	for (size_t i = 0; i < s->mesh->n_axes; i++) {
		Hlo__AxisRef *r = text_message(p, &hlo__axis_ref__descriptor);
		r->mesh_axis_index = (int64_t)i;
		ptr_list_add(&list, r);
	}
	*n = list.n;
	*to = (Hlo__AxisRef **)text_keep_ptrs(p, &list);
	mem_free(list.v);
}

static void reduction(struct text *p, Hlo__NamedSharding *s)
{
	int v = text_is(p, T_WORD) || text_is(p, T_ATTR) ? hlo_word_number(WORDS_REDUCTION, p->tok.s, p->tok.n) : -1;
	if (v < 0)
		return;
	s->reduction_op = v;
	text_next(p);
}

static void dimension_list(struct text *p, Hlo__NamedSharding *s)
{
	struct ptr_list list = {0};
	for (bool more = text_first(p, '[', ']'); more; more = text_again(p, ']')) {
		Hlo__DimensionSharding *d = text_message(p, &hlo__dimension_sharding__descriptor);
		bool open = false;
		d->axes = axes(p, s->mesh, &d->n_axes, &open);
		d->is_closed = !open;
		ptr_list_add(&list, d);
	}
	s->n_dim_shardings = list.n;
	s->dim_shardings = (Hlo__DimensionSharding **)text_keep_ptrs(p, &list);
	mem_free(list.v);
}

static void named_part(struct text *p, Hlo__NamedSharding *s)
{
	if (text_accept_attr(p, "replicated")) {
		s->replicated_axes = axes(p, s->mesh, &s->n_replicated_axes, NULL);
	} else if (text_accept_attr(p, "unreduced")) {
		reduction(p, s);
		s->unreduced_axes = axes(p, s->mesh, &s->n_unreduced_axes, NULL);
	} else if (text_accept_attr(p, "manual")) {
		s->manual_axes = axes(p, s->mesh, &s->n_manual_axes, NULL);
	} else if (text_accept_attr(p, "metadata")) {
		s->metadata = metadata(p, &s->n_metadata);
	} else {
		text_expected(p, "replicated=, unreduced=, manual= or metadata=");
	}
}

/* Reads what follows "{", and the "}". */
static Hlo__NamedSharding *named(struct text *p)
{
	Hlo__NamedSharding *s = text_message(p, &hlo__named_sharding__descriptor);
	bool maximal;
	s->mesh = mesh(p, &maximal);
	if (!maximal) {
		text_accept(p, ',');
		if (text_accept_word(p, "replicated")) {
		} else if (text_accept_word(p, "manual")) {
			all_axes(p, s, &s->manual_axes, &s->n_manual_axes);
		} else if (text_attr_is(p, "unreduced") || text_word_is(p, "unreduced")) {
			text_next(p);
			reduction(p, s);
			if (text_is(p, '{'))
				s->unreduced_axes = axes(p, s->mesh, &s->n_unreduced_axes, NULL);
			else
				all_axes(p, s, &s->unreduced_axes, &s->n_unreduced_axes);
		} else {
			dimension_list(p, s);
		}
	}
	while (text_accept(p, ','))
		named_part(p, s);
	text_expect(p, '}');
	return s;
}

/* ---- by device ---- */

enum { REPLICATED, MAXIMAL, TUPLE, OTHER };

static void subgroups(struct text *p, Hlo__OpSharding *s)
{
	p->ints.n = 0;
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		int type = text_is(p, T_WORD) ? hlo_word_number(WORDS_SHARDING, p->tok.s, p->tok.n) : -1;
		if (type < 0)
			text_expected(p, "replicated, manual, maximal or unreduced");
		int_list_add(&p->ints, type);
		text_next(p);
	}
	s->n_last_tile_dims = p->ints.n;
	s->last_tile_dims = narrow(p, p->ints.v, p->ints.n);
}

static void devices(struct text *p, Hlo__OpSharding *s)
{
	struct assignment a = assignment(p, true);
	s->n_tile_assignment_dimensions = a.n_dims;
	s->tile_assignment_dimensions = a.dims;
	s->n_tile_assignment_devices = a.n_devices;
	s->tile_assignment_devices = a.devices;
	s->n_iota_reshape_dims = s->n_iota_transpose_perm = a.n_reshape;
	s->iota_reshape_dims = a.reshape;
	s->iota_transpose_perm = p->bad ? NULL : narrow(p, a.perm, a.n_reshape);
	if (p->bad)
		s->n_iota_transpose_perm = 0;
}

static bool sharding_part(struct text *p, Hlo__OpSharding *s)
{
	int type = text_is(p, T_WORD) ? hlo_word_number(WORDS_SHARDING, p->tok.s, p->tok.n) : -1;
	bool as = text_word_is(p, "shard_as");
	if (type >= 0) {
		s->type = type;
		text_next(p);
		return true;
	}
	if (text_accept_attr(p, "devices")) {
		devices(p, s);
	} else if (text_accept_attr(p, "device")) {
		p->ints.n = 0;
		int_list_add(&p->ints, text_int(p));
		s->n_tile_assignment_devices = 1;
		s->tile_assignment_devices = text_keep_ints(p, &p->ints);
	} else if (text_accept_attr(p, "metadata")) {
		s->metadata = metadata(p, &s->n_metadata);
	} else if (text_accept_attr(p, "last_tile_dims")) {
		subgroups(p, s);
	} else if (text_accept_word(p, "last_tile_dim_replicate")) {
		s->replicate_on_last_tile_dim = true;
	} else if (as || text_word_is(p, "shard_like")) {
		text_next(p);
		s->is_shard_group = true;
		s->shard_group_type = !as;
		s->shard_group_id = text_int(p);
	} else {
		text_expected(p, "devices=, replicated, maximal device=, manual or another sharding");
	}
	return false;
}

/* Reads what follows "{", and the "}". */
static Hlo__OpSharding *single(struct text *p)
{
	Hlo__OpSharding *s = text_message(p, &hlo__op_sharding__descriptor);
	const char *at = p->tok.at;
	bool typed = false;
	if (text_word_is(p, "mesh") || text_word_is(p, "maximal_mesh")) {
		s->named_sharding = named(p);
		return s;
	}
	while (!p->bad && !text_is(p, '}'))
		typed |= sharding_part(p, s);
	if (!typed)
		s->type = OTHER;
	bool listed = s->n_tile_assignment_devices || s->n_iota_reshape_dims;
	if (!p->bad && s->type == OTHER && !s->n_tile_assignment_dimensions)
		text_wrong_at(p, at, "this sharding needs devices=[dimensions]...");
	if (!p->bad && s->type == MAXIMAL && s->n_tile_assignment_devices != 1)
		text_wrong_at(p, at, "a maximal sharding has one device=");
	if (!p->bad && s->type != MAXIMAL && s->type != OTHER && listed)
		text_wrong_at(p, at, "only tiled and maximal shardings list devices");
	text_expect(p, '}');
	return s;
}

Hlo__OpSharding *text_sharding(struct text *p)
{
	struct ptr_list list = {0};
	text_expect(p, '{');
	if (!text_is(p, '{') && !text_is(p, '}'))
		return single(p);
	Hlo__OpSharding *s = text_message(p, &hlo__op_sharding__descriptor);
	s->type = TUPLE;
	if (!text_is(p, '}'))
		do {
			text_expect(p, '{');
			ptr_list_add(&list, single(p));
		} while (text_accept(p, ','));
	text_expect(p, '}');
	s->n_tuple_shardings = list.n;
	s->tuple_shardings = (Hlo__OpSharding **)text_keep_ptrs(p, &list);
	mem_free(list.v);
	return s;
}

/* ---- groups ---- */

static void listed_groups(struct text *p, Hlo__HloInstructionProto *in)
{
	struct ptr_list list = {0};
	Hlo__CollectiveDeviceList *l = in->collective_device_list;
	for (bool more = text_first(p, '{', '}'); more; more = text_again(p, '}')) {
		Hlo__ReplicaGroup *g = text_message(p, &hlo__replica_group__descriptor);
		text_ints(p, '{', '}');
		g->n_replica_ids = p->ints.n;
		g->replica_ids = text_keep_ints(p, &p->ints);
		ptr_list_add(&list, g);
	}
	l->n_replica_groups = list.n;
	l->replica_groups = (Hlo__ReplicaGroup **)text_keep_ptrs(p, &list);
	mem_free(list.v);
}

void text_devices(struct text *p, Hlo__HloInstructionProto *in)
{
	bool maximal;
	if (text_is(p, '{')) {
		listed_groups(p, in);
		return;
	}
	in->collective_device_list = NULL;
	if (text_word_is(p, "mesh") || text_word_is(p, "maximal_mesh")) {
		Hlo__MeshAxesReplicaGroupList *l = text_message(p, &hlo__mesh_axes_replica_group_list__descriptor);
		l->mesh = mesh(p, &maximal);
		l->axes = axes(p, l->mesh, &l->n_axes, NULL);
		in->mesh_axes_replica_group_list = l;
		return;
	}
	const char *at = p->tok.at;
	Hlo__IotaReplicaGroupList *l = text_message(p, &hlo__iota_replica_group_list__descriptor);
	in->iota_collective_device_list = l;
	struct assignment a = assignment(p, false);
	if (!p->bad && a.n_dims != 2)
		text_wrong_at(p, at, "groups have two dimensions, [groups,devices of each]");
	if (p->bad)
		return;
	l->num_replica_groups = a.dims[0];
	l->num_devices_per_group = a.dims[1];
	l->n_iota_reshape_dims = l->n_iota_transpose_perm = a.n_reshape;
	l->iota_reshape_dims = a.reshape;
	l->iota_transpose_perm = narrow(p, a.perm, a.n_reshape);
}
