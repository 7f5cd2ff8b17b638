#!/usr/bin/env python3
"""Runs what a search left in its folder, in JAX.

    pip install jax
    taskset -c 0 run_tuned.py chain.tuned

`load` is all there is to it: copy it. It compiles tuned.pb with the options in options.txt, with the
compiler inside jaxlib, and gives a function from a list of arrays to a list of arrays: the program's
parameters and results in their order, what a jitted function takes and gives flattened. tuned.exe is
not used, for it is of the plugin's version of the compiler.

The rest makes inputs, runs default.pb beside it, alternating, and compares times and outputs.
"""
import pathlib
import statistics
import sys
import time

import jax
import numpy as np
from jaxlib import xla_client


def load(folder, program="tuned.pb", options="options.txt"):
    client = jax.devices("cpu")[0].client
    computation = xla_client.XlaComputation((pathlib.Path(folder) / program).read_bytes())
    how = xla_client.CompileOptions()
    if options:
        lines = (pathlib.Path(folder) / options).read_text().splitlines()
        how.env_option_overrides = [tuple(line.split("=", 1)) for line in lines if line]
    module = xla_client._xla.mlir.xla_computation_to_mlir_module(computation)
    if hasattr(client, "compile_and_load"):
        one = xla_client.DeviceList(tuple(client.local_devices()[:1]))
        executable = client.compile_and_load(module, one, how)
    else:
        executable = client.compile(module, how)

    def call(*arrays):
        results = executable.execute_sharded(list(arrays))
        return [shards[0] for shards in results.disassemble_into_single_device_arrays()]

    call.shapes = computation.program_shape().parameter_shapes()
    return call


def make_inputs(shapes):
    """Floats within +-0.5, whole numbers 0 or 1."""
    random = np.random.default_rng(1)
    device = jax.devices("cpu")[0]
    for s in shapes:
        x = random.random(s.dimensions(), dtype=np.float32) - np.float32(0.5)
        kind = s.numpy_dtype()
        x = x > 0 if np.dtype(kind).kind in "biu" else x
        yield jax.device_put(np.asarray(x).astype(kind), device)


def timed(function, arrays):
    start = time.perf_counter()
    results = function(*arrays)
    for r in results:
        r.block_until_ready()
    return time.perf_counter() - start, results


def difference(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "biu":
        return float(not np.array_equal(a, b))
    a, b = a.astype(np.float64), b.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return np.inf
    a, b = np.nan_to_num(a), np.nan_to_num(b)
    return float(np.max(np.abs(a - b), initial=0) / (np.mean(np.abs(a)) or 1)) if a.size else 0.0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: run_tuned.py FOLDER")
    jax.config.update("jax_enable_x64", True)  # as the program has it, 64 bits or 32
    default, tuned = load(sys.argv[1], "default.pb", None), load(sys.argv[1])
    inputs = list(make_inputs(default.shapes))
    times = {default: [], tuned: []}
    for n in range(106):
        for f in times:
            seconds, f.results = timed(f, inputs)
            if n >= 5:  # the first few warm up
                times[f].append(seconds)
    worst = max(map(difference, default.results, tuned.results))
    a, b = (1e6 * statistics.median(times[f]) for f in (default, tuned))
    print("jaxlib %s: default %.1f us, tuned %.1f us: %.1f%% less; outputs differ by %.2g"
          % (jax.lib.__version__, a, b, 100 * (1 - b / a), worst))
