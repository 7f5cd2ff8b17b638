/*
 * edit.c - finds the entry of a module, and has it changed.
 */
#include "hlo/edit.h"

#include "hlo/pack.h"

/* Old modules do not name their entry; it is the last computation then. */
static Hlo__HloComputationProto *entry_of(const Hlo__HloModuleProto *m)
{
	for (size_t i = 0; i < m->n_computations; i++)
		if (m->computations[i]->id == m->entry_computation_id)
			return m->computations[i];
	return m->n_computations ? m->computations[m->n_computations - 1] : NULL;
}

static const char *edit(struct edit *e, hlo_change *change)
{
	e->entry = entry_of(e->module);
	return e->entry ? change(e) : "has no computations";
}

int hlo_edit(const void *p, size_t n, const char *name, hlo_change *change, const void *arg, struct buf *out,
	struct err *err)
{
	struct arena mem = {0};
	struct edit e = {.mem = &mem, .module = hlo_unpack(&mem, p, n, name, err), .arg = arg};
	const char *lacks = e.module ? edit(&e, change) : NULL;
	int rc = e.module && !lacks ? 0 : -1;

	if (lacks)
		err_set(err, "%s %s", name, lacks);
	if (rc == 0)
		pack_message(&e.module->base, out);
	arena_release(&mem);
	return rc;
}
