/*
 * pjrt_drop.c - gives back what the plugin holds for an instance: its outputs, and the program as it was loaded.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include "base/mem.h"
#include "device/worker/pjrt_own.h"

static void destroy_loaded(struct pjrt *p, PJRT_LoadedExecutable *exe)
{
	struct refusal ignored;
	if (!exe)
		return;
	ARGS(LoadedExecutable_Destroy, d);
	d.executable = exe;
	pjrt_check(p, p->api->PJRT_LoadedExecutable_Destroy(&d), "", &ignored);
}

void instance_drop_outputs(struct instance *i)
{
	for (size_t k = 0; i->out && k < i->program->n_outputs * i->program->pjrt->n_devices; k++)
		pjrt_drop_buffer(i->program->pjrt, i->out[k]);
	mem_free(i->out);
	i->out = NULL;
}

void instance_release(struct instance *i)
{
	instance_drop_outputs(i);
	destroy_loaded(i->program->pjrt, i->exe);
}

void instance_free(struct instance *i)
{
	if (!i)
		return;
	instance_release(i);
	mem_free(i);
}
#endif
