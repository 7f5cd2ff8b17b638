/* agenda.c - the list of a plan (device.h). Two hashes of its bytes identify a module, and two of these a pair. */
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
	agenda->v[agenda->n++] = (struct agenda_item){.key = {key[0], key[1]}, .copies = copies};
}

void agenda_add(struct agenda *agenda, struct buf *module, uint32_t copies)
{
	uint64_t key[2];

	agenda_key(module->data, module->len, key);
	agenda_add_known(agenda, key, copies);
	agenda->v[agenda->n - 1].of.module[0] = *module;
	*module = (struct buf){0};
}

void agenda_pair_key(const struct buf *a, const struct buf *b, uint64_t key[2])
{
	uint64_t x[2], y[2];

	agenda_key(a->data, a->len, x);
	agenda_key(b->data, b->len, y);
	key[0] = hash_mix(x[0], y[0]);
	key[1] = hash_mix(x[1], y[1]);
}

void agenda_add_pair(struct agenda *agenda, struct errand *e)
{
	struct agenda_item *item;
	uint64_t key[2];

	agenda_pair_key(&e->module[0], &e->module[1], key);
	agenda_add_known(agenda, key, 1);
	item = &agenda->v[agenda->n - 1];
	item->pair = true;
	item->of = *e;
	e->module[0] = e->module[1] = (struct buf){0};
}

void agenda_release(struct agenda *agenda)
{
	for (size_t i = 0; i < agenda->n; i++)
		for (int k = 0; k < 2; k++)
			buf_release(&agenda->v[i].of.module[k]);
	mem_free(agenda->v);
	*agenda = (struct agenda){0};
}
