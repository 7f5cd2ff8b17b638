#!/usr/bin/env python3
"""Applies what `search --space shard` found to a JAX function.

    import shardings
    found = shardings.load("step.tuned/shardings.json")
    mesh = found.mesh()                         # over jax.devices(), the first so many
    step = found.jit(step, args)                # jax.jit with the layouts of arguments and results
    args = found.place(args)                    # puts arguments where they belong

A layout belongs to the path of an argument ("params['layers'][0]['q']"), as JAX writes it into a program. So the
layouts hold for each function whose arguments have the same names and shapes as those of the function that was tuned.
Results that take an argument's place in the next call are laid out like it; others are left to the compiler.
`found.values` has the layouts of values inside the program, by the operation that computes each; to use one, put
jax.lax.with_sharding_constraint there.
"""
import inspect
import json
import sys

import jax
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def spec_of(entry):
    return PartitionSpec(*(tuple(d) if isinstance(d, list) else d for d in entry["spec"]))


class Found:
    def __init__(self, told):
        self.axes = [(a["name"], a["size"]) for a in told["mesh"]]
        self.arguments = {a["name"]: a for a in told["arguments"]}
        self.values = told["values"]
        self._mesh = None

    def mesh(self, devices=None):
        """The mesh, over these devices or the first so many there are."""
        shape = [size for _, size in self.axes]
        want = int(numpy.prod(shape))
        devices = list(devices or jax.devices())
        if len(devices) < want:
            raise ValueError(f"the layouts are for {want} devices, and there are {len(devices)}")
        self._mesh = Mesh(numpy.array(devices[:want]).reshape(shape), [name for name, _ in self.axes])
        return self._mesh

    def sharding(self, path, shape):
        """Of the argument with this path; one that is not told of is whole on every device."""
        mesh = self._mesh or self.mesh()
        entry = self.arguments.get(path)
        if entry is None:
            return NamedSharding(mesh, PartitionSpec())
        if tuple(entry["shape"]) != tuple(shape):
            raise ValueError(f"{path} has the shape {tuple(shape)}, the layouts are for {tuple(entry['shape'])}")
        return NamedSharding(mesh, spec_of(entry))

    def of_arguments(self, args, names):
        """A tree of shardings like args; names: of the positional arguments."""
        def leaf(path, x):
            head, rest = path[0], path[1:]
            return self.sharding(names[head.idx] + jax.tree_util.keystr(rest), numpy.shape(x))

        return jax.tree_util.tree_map_with_path(leaf, tuple(args))

    def of_results(self, results):
        """A tree of shardings like the results (shapes will do); None where the compiler decides."""
        leaves, tree = jax.tree_util.tree_flatten(results)
        out = [None] * len(leaves)
        for path, entry in self.arguments.items():
            if entry.get("result") is not None and entry["result"] < len(leaves):
                out[entry["result"]] = self.sharding(path, leaves[entry["result"]].shape)
        return jax.tree_util.tree_unflatten(tree, out)

    def jit(self, function, args):
        """jax.jit of the function with the layouts; args: arguments, or their shapes."""
        self._names = list(inspect.signature(function).parameters)
        results = jax.eval_shape(function, *args)
        return jax.jit(function, in_shardings=self.of_arguments(args, self._names),
                       out_shardings=self.of_results(results))

    def place(self, args):
        """The arguments, each where the layouts have it; after jit."""
        return jax.tree.map(jax.device_put, tuple(args), self.of_arguments(args, self._names))


def load(path):
    with open(path) as f:
        return Found(json.load(f))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for path, entry in load(sys.argv[1]).arguments.items():
        print(f"{path}: {spec_of(entry)}")
