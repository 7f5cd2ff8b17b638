/*
 * shard.h - how the tensors of a program lie over several devices, as a space of decisions.
 *
 * The full name says over which mesh: "shard:4", "shard:2x2", "shard:data=2:model=2"; "shard/arguments:MESH" decides
 * about parameters only, which is what a JAX user can say from outside. Without a mesh it is two devices. A site is a
 * tensor (or all that are alike, sites.c); choice 0 leaves it as the program has it: a parameter whole on every device,
 * a value to the partitioner. The others are the layouts that the tensor can have (mesh.h).
 *
 * What is written is the program with annotations; the compiler's partitioner makes of it what each device runs.
 * Nothing smaller than the program has its price, for a layout decides what its neighbours have to exchange.
 */
#ifndef SPACE_SHARD_SHARD_H
#define SPACE_SHARD_SHARD_H

#include "space/space.h"

extern const struct space_kind shard_kind;

#endif
