/*
 * mapped.h - whether the memory that a run gives back stays mapped for the next one.
 *
 * The system's allocator gives large blocks back to the kernel at once, so whatever a program keeps in them is mapped,
 * page by page, in every run: 2 us a page, 18 ms for 32 MB, on one virtual machine. A whole program pays that once a
 * run for all that it keeps, whichever of its parts is first to use a page. A part that is timed alone would pay it for
 * itself, as if it were the only one: a product that converts 32 MB of weights would, in each of 26 layers. So while
 * parts are timed memory stays mapped, and while whole programs are it does not, as their users have it.
 *
 * Once memory has stayed mapped, the allocator has large blocks of its own and takes these before it asks the kernel
 * again. So before each run of a whole program that keeps as much, all that is free is given back.
 */
#ifndef DEVICE_WORKER_MAPPED_H
#define DEVICE_WORKER_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

/* From now on, for the whole process. A process that never asks for it has the allocator as it is. */
void mapped_keep(bool keep);
/* Does a program that keeps so many bytes in memory of its own find it mapped anew in each run? */
bool mapped_anew(uint64_t bytes);
/* Gives back what is free, if memory stayed mapped before; takes time. */
void mapped_forget(void);

#endif
