/*
 * pjrt_device.c - asks a plugin about its device: which one it is, and how much memory it has.
 *
 * All of it is optional in the API; what a plugin does not say stays unknown.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include <stdio.h>
#include <string.h>
#include "device/worker/pjrt_own.h"

/* XLA's own name of the plugin whose device is the machine. */
#define HOST_PLATFORM "cpu"

static void describe(struct pjrt *p, struct accelerator *a)
{
	struct refusal ignored;
	ARGS(Device_GetDescription, d);
	d.device = p->device[0];
	if (!HAS(p, Device_GetDescription) ||
		pjrt_check(p, p->api->PJRT_Device_GetDescription(&d), "asking for its device", &ignored) < 0)
		return;
	ARGS(DeviceDescription_Kind, k);
	k.device_description = d.device_description;
	if (HAS(p, DeviceDescription_Kind) &&
		pjrt_check(p, p->api->PJRT_DeviceDescription_Kind(&k), "asking for its kind", &ignored) == 0)
		snprintf(a->kind, sizeof a->kind, "%.*s", (int)(k.device_kind_size < 90 ? k.device_kind_size : 90),
			k.device_kind);
	ARGS(DeviceDescription_Id, i);
	i.device_description = d.device_description;
	if (HAS(p, DeviceDescription_Id) &&
		pjrt_check(p, p->api->PJRT_DeviceDescription_Id(&i), "asking for its number", &ignored) == 0)
		a->number = i.id;
	ARGS(Device_LocalHardwareId, h);
	h.device = p->device[0];
	if (HAS(p, Device_LocalHardwareId) &&
		pjrt_check(p, p->api->PJRT_Device_LocalHardwareId(&h), "asking for its number", &ignored) == 0 &&
		h.local_hardware_id >= 0)
		a->number = h.local_hardware_id;
}

/* Bytes that programs may have of it; 0 where it does not say. */
static uint64_t device_memory(struct pjrt *p)
{
	struct refusal ignored;
	ARGS(Device_MemoryStats, m);
	m.device = p->device[0];
	if (!HAS(p, Device_MemoryStats) ||
		pjrt_check(p, p->api->PJRT_Device_MemoryStats(&m), "asking for its memory", &ignored) < 0)
		return 0;
	return m.bytes_limit_is_set && m.bytes_limit > 0 ? (uint64_t)m.bytes_limit : 0;
}

void pjrt_ask_device(struct pjrt *p, uint32_t count)
{
	p->facts = (struct accelerator){.on_host = strcmp(p->platform, HOST_PLATFORM) == 0, .count = count};
	describe(p, &p->facts);
	p->facts.memory = device_memory(p);
}

const struct accelerator *pjrt_device(const struct pjrt *p)
{
	return &p->facts;
}

#endif
