/*
 * shard.h - a space of decisions (space/space.h): how the tensors of a program are laid out over several devices.
 *
 * The full name says over which mesh: "shard:4", "shard:2x2", "shard:data=2:model=2". "shard/arguments:MESH" decides
 * about parameters only, because a JAX user can lay out only these from outside. Without a mesh there are two devices.
 * A site is a tensor, or all tensors that are alike (sites.c). Choice 0 leaves it as the program has it: a parameter is
 * whole on every device, a value is left to the partitioner. The other choices are the layouts that the tensor can have
 * (mesh.h).
 *
 * We write the program with annotations; the compiler's partitioner then makes the program that each device runs. A
 * price is always that of the whole program, because a layout decides what its neighbours must exchange.
 */
#ifndef SPACE_SHARD_SHARD_H
#define SPACE_SHARD_SHARD_H

#include "space/space.h"

extern const struct space_kind shard_kind;

#endif
