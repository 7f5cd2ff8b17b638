#!/usr/bin/env python3
"""Do found layouts compute the numbers of one device? Runs them as a JAX user would, on this machine's cores.

    bench/shard_numbers.py ANSWER...

ANSWER is a folder that a search of one of bench/shard_steps.py's programs wrote; its name begins with the program's.
The layouts of arguments in its shardings.json are applied by examples/run/shardings.py to the same step with small
tensors, because the large ones take minutes; a dimension that is too small to be divided stays whole. The step runs
on one device and on as many as the mesh has. Each output may differ by ten times as much as it does on one device if
every number that goes in is changed in its last bit, and by 1e-5 of the output's largest number in any case.
"""
import json
import os
import pathlib
import sys

MOST = 16
os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={MOST}")
root = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(root / "examples/run"), str(root / "bench")]
import jax
import numpy
import shard_steps
import shardings


class Smaller(shardings.Found):
    """The same layouts for smaller tensors."""
    split = 0

    def sharding(self, path, shape):
        mesh, spec = self._mesh or self.mesh(), []
        for size, axes in zip(shape, self.arguments[path]["spec"] if path in self.arguments else ()):
            parts = numpy.prod([dict(self.axes)[a] for a in numpy.atleast_1d(axes)]) if axes else 1
            spec.append(None if size % parts else tuple(axes) if isinstance(axes, list) else axes)
            self.split += parts > 1 and size % parts == 0
        return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))


def inputs(args):
    r = numpy.random.default_rng(1)

    def one(path, x):
        if x.dtype == numpy.int32:
            return r.integers(0, 16, x.shape).astype("i4")
        values = 0.1 * r.normal(size=x.shape).astype("f4")
        return abs(values) if "['v']" in jax.tree_util.keystr(path[1:2]) else values  # second moments

    return jax.tree_util.tree_map_with_path(one, args)


def last_bit(x):
    return numpy.nextafter(x, numpy.float32(9)) if x.dtype == numpy.float32 else x


def distances(a, b):
    """Of each output: the largest difference, as a share of its largest number."""
    out = []
    for x, y in zip(map(numpy.asarray, jax.tree.leaves(a)), map(numpy.asarray, jax.tree.leaves(b))):
        assert x.shape == y.shape and numpy.isfinite(x).all()
        out.append(numpy.abs(x.astype("f8") - y).max() / max(numpy.abs(x).max(), 1e-30))
    return numpy.array(out)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print("| answer | arguments' dimensions split | largest difference, share of what is allowed | the same numbers |")
    print("|---|---|---|---|")
    bad = 0
    for folder in map(pathlib.Path, sys.argv[1:]):
        step, args = getattr(shard_steps, folder.name.split(".")[0])(True)
        found = Smaller(json.loads((folder / "shardings.json").read_text()))
        found.mesh()
        fast = found.jit(step, args)
        values = inputs(args)
        split = found.split
        plain = jax.jit(step)
        one = plain(*values)
        allowed = 10 * distances(one, plain(*jax.tree.map(last_bit, values))) + 1e-5
        share = (distances(one, fast(*found.place(values))) / allowed).max()
        bad += share > 1
        print(f"| {folder.name} | {split} | {share:.3f} | {'no' if share > 1 else 'yes'} |", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
