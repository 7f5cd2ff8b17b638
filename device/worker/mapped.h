/*
 * mapped.h - whether the memory that a run gives back stays mapped for the next one.
 *
 * The system's allocator gives large blocks back to the kernel at once, so whatever a program keeps in them is mapped,
 * page by page, in every run: 2 us a page, 18 ms for 32 MB, on one virtual machine. A whole program pays that once a
 * run for all that it keeps, whichever of its parts is first to use a page. A part that is timed alone would pay it for
 * itself, as if it were the only one: a product that converts 32 MB of weights would, in each of 26 layers. So while
 * parts are timed memory stays mapped, and while whole programs are it does not, as their users have it.
 */
#ifndef DEVICE_WORKER_MAPPED_H
#define DEVICE_WORKER_MAPPED_H

#include <stdbool.h>

/* From now on, for the whole process. A process that never asks for it has the allocator as it is. */
void mapped_keep(bool keep);

#endif
