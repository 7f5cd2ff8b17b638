/* agenda.c - the list of modules of a plan (device.h). Two hashes of a module's bytes identify it. */
#include "base/hash.h"
#include "base/mem.h"
#include "device/device.h"

void agenda_key(const void *module, size_t n, uint64_t key[2])
{
	key[0] = hash64(module, n, 0x706c616e);
	key[1] = hash64(module, n, key[0]);
}

void agenda_add_known(struct agenda *agenda, const uint64_t key[2], uint32_t copies)
{
	MEM_GROW(&agenda->v, &agenda->cap, agenda->n + 1);
	agenda->v[agenda->n++] = (struct agenda_item){{key[0], key[1]}, copies, {0}};
}

void agenda_add(struct agenda *agenda, struct buf *module, uint32_t copies)
{
	uint64_t key[2];

	agenda_key(module->data, module->len, key);
	agenda_add_known(agenda, key, copies);
	agenda->v[agenda->n - 1].module = *module;
	*module = (struct buf){0};
}

void agenda_release(struct agenda *agenda)
{
	for (size_t i = 0; i < agenda->n; i++)
		buf_release(&agenda->v[i].module);
	mem_free(agenda->v);
	*agenda = (struct agenda){0};
}
