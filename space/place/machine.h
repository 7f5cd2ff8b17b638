/*
 * machine.h - a machine as placement sees it: devices with memories, and links between them.
 *
 * People describe it in a file (schemas/machine.md). The name of a space has it in a short form, so that a store that
 * keeps the name keeps the machine.
 */
#ifndef SPACE_PLACE_MACHINE_H
#define SPACE_PLACE_MACHINE_H

#include "base/buf.h"
#include "space/place/place.h"

#define MACHINE_CLASSES 8
#define MACHINE_NAME 16

struct machine_class { /* devices that are alike */
	char name[MACHINE_NAME];
	uint32_t count;
	double flops, bandwidth; /* operations and bytes of its own memory, a second */
	double memory;		 /* bytes; infinite: no limit */
	double start;		 /* seconds that each kernel takes beside its work */
};

struct machine {
	struct machine_class class[MACHINE_CLASSES];
	uint32_t n_classes, n_devices;
	/* By class: bytes a second, 0: not connected; seconds before the first byte. */
	double rate[MACHINE_CLASSES][MACHINE_CLASSES], latency[MACHINE_CLASSES][MACHINE_CLASSES];
	bool synchronous; /* do devices wait while they send and receive? */
};

/* Reads the text of a description; `name` is used in sentences. */
int machine_parse(struct machine *m, const char *text, size_t n, const char *name, struct err *err);
/* Writes and reads the short form, which has neither spaces nor commas. */
void machine_short(const struct machine *m, struct buf *out);
int machine_from_short(struct machine *m, const char *text, struct err *err);

uint32_t machine_class_of(const struct machine *m, uint32_t device);
/* Appends the device's name for people: "gpu 1". */
void machine_device_name(const struct machine *m, uint32_t device, struct buf *out);
/* Seconds to send so many bytes from one device to another; 0 if they are the same. */
double machine_send(const struct machine *m, double bytes, uint32_t from, uint32_t to);

#endif
