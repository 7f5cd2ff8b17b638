#!/usr/bin/env python3
"""Runs what a search left in its folder, in JAX.

    pip install jax
    taskset -c 0 run_tuned.py chain.tuned                 with the compiler inside jaxlib
    taskset -c 0 run_tuned.py chain.tuned PLUGIN.so       with the plugin it was measured with (tests/deps --where)

`Tuned` is all there is to it: copy it. With a plugin it loads tuned.exe, the very program that was measured.
Without one it compiles tuned.pb, with the options in options.txt. jaxlib takes programs as MLIR only, which
loses the layouts in memory of values inside, so a program that depends on them is refused here.
A program that calls LAPACK needs both: the plugin, and the LAPACK of jaxlib, which `lend_lapack` gives to it.
Either way the result is a function from a list of arrays to a list of arrays: the program's parameters
and results in their order, as a jitted function takes and gives them when flattened.

The rest makes inputs, runs default.pb beside it, alternating, and compares times and outputs.
"""
import ctypes
import os
import pathlib
import re
import statistics
import sys
import time

if len(sys.argv) == 3:  # before JAX looks for its devices
    os.environ["PJRT_NAMES_AND_LIBRARY_PATHS"] = "plugin:" + os.path.realpath(sys.argv[2])
import jax
import numpy as np
from jaxlib import xla_client

TRUTH = {"true": True, "false": False}  # any other option is a text
NEEDED = ("xla_cpu_multi_thread_eigen",  # an option without which both programs might never end,
          "xla_cpu_enable_fast_min_max")  # ... and one by which both keep NaNs


class Tuned:
    """`executable`: tuned.exe, for the plugin that made it; else `program` is compiled with `options`."""

    def __init__(self, folder, device, program="tuned.pb", executable=None):
        folder, self.device = pathlib.Path(folder), device
        computation = xla_client.XlaComputation((folder / program).read_bytes())
        self.shapes = computation.program_shape().parameter_shapes()
        if executable and (folder / executable).exists():
            self.run = self.load(folder, (folder / executable).read_bytes())
            return
        how = xla_client.CompileOptions()
        lines = (folder / "options.txt").read_text().splitlines()
        if program == "default.pb":
            lines = [line for line in lines if line.startswith(NEEDED)]
        elif lines:
            self.refuse_layouts(computation)
        if lines:
            named = dict(line.split("=", 1) for line in lines if line)
            how.env_option_overrides = [(k, TRUTH.get(v, v)) for k, v in named.items()]
        module = xla_client._xla.mlir.xla_computation_to_mlir_module(computation)
        try:
            self.run = device.client.compile_and_load(module, xla_client.DeviceList((device,)), how)
        except jax.errors.JaxRuntimeError as e:
            if not lines:
                raise
            if executable:
                sys.exit("run_tuned: the folder has no %s, because XLA cannot write down a program that calls "
                         "oneDNN. Fused kernels do not pass through MLIR (%s). run_tuned.c compiles tuned.pb."
                         % (executable, str(e).splitlines()[0]))
            sys.exit("run_tuned: this compiler does not take what another version decided (%s): name the plugin "
                     "behind the folder" % str(e).splitlines()[0])

    def load(self, folder, code):
        client, one, how = self.device.client, xla_client.DeviceList((self.device,)), xla_client.CompileOptions()
        try:
            return client.deserialize_executable(code, one, how)
        except jax.errors.JaxRuntimeError:
            # A newer jaxlib wants a description of parameters and results before the code. The default has the same.
            like = client.serialize_executable(Tuned(folder, self.device, "default.pb").run)
            end = next(i for i, byte in enumerate(like) if byte < 128) + 1
            size = sum((byte & 127) << 7 * i for i, byte in enumerate(like[:end]))
            return client.deserialize_executable(like[:end + size] + code, one, how)

    @staticmethod
    def refuse_layouts(computation):
        for order in re.findall(r"\]\{([\d,]+)\}", computation.as_hlo_text()):
            if order.split(",") != sorted(order.split(","), key=int, reverse=True):
                sys.exit("run_tuned: this program has arrays laid out as {%s}, which MLIR forgets: "
                         "name the plugin behind the folder" % order)

    def __call__(self, *arrays):
        results = self.run.execute_sharded(list(arrays))
        return [shards[0] for shards in results.disassemble_into_single_device_arrays()]


class Extension(ctypes.Structure):  # of PJRT's API, in a list; of type 5, it registers routines
    pass


Extension._fields_ = [("size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.POINTER(Extension)),
                      ("others", ctypes.c_void_p * 2), ("register", ctypes.c_void_p)]


class Api(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extension", ctypes.POINTER(Extension))]


class Routine(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("name_size", ctypes.c_size_t),
                ("code", ctypes.c_void_p), ("platform", ctypes.c_char_p), ("platform_size", ctypes.c_size_t),
                ("traits", ctypes.c_int)]


def lend_lapack(plugin):
    """Gives jaxlib's LAPACK to the plugin, which has none."""
    from jaxlib.cpu import _lapack
    get_api = ctypes.CDLL(plugin).GetPjrtApi
    get_api.restype = ctypes.POINTER(Api)
    code_of = ctypes.pythonapi.PyCapsule_GetPointer
    code_of.restype, code_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    _lapack.initialize()
    extension = get_api().contents.extension
    while extension and extension.contents.type != 5:
        extension = extension.contents.next
    if not extension or extension.contents.size < ctypes.sizeof(Extension):
        sys.exit("run_tuned: this program calls LAPACK, and the plugin takes no routines")
    register = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Routine))(extension.contents.register)
    for name, capsule in _lapack.registrations().items():
        if name.startswith("lapack_") and name.endswith("_ffi"):
            name, code = name.encode(), code_of(capsule, b"xla._CUSTOM_CALL_TARGET")
            if register(Routine(ctypes.sizeof(Routine), name, len(name), code, b"Host", 4, 0)):
                sys.exit("run_tuned: the plugin does not take jaxlib's %s" % name.decode())


def make_inputs(shapes):
    """Floats within +-0.5, whole numbers 0 or 1."""
    random = np.random.default_rng(1)
    for s in shapes:
        x = random.random(s.dimensions(), dtype=np.float32) - np.float32(0.5)
        kind = s.numpy_dtype()
        x = x > 0 if np.dtype(kind).kind in "biu" else x
        x = x - 1j * x[..., ::-1] if x.ndim and np.dtype(kind).kind == "c" else x
        yield np.asarray(x).astype(kind)


def timed(function, inputs):
    arrays = [jax.device_put(a, function.device) for a in inputs]  # anew: what is donated is gone after a call
    jax.block_until_ready(arrays)
    start = time.perf_counter()
    results = function(*arrays)
    jax.block_until_ready(results)
    return time.perf_counter() - start, results


def difference(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "biu":
        return float(not np.array_equal(a, b))
    kind = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.ravel().astype(kind).view(np.float64), b.ravel().astype(kind).view(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return np.inf
    a, b = np.nan_to_num(a), np.nan_to_num(b)
    return float(np.max(np.abs(a - b), initial=0) / (np.mean(np.abs(a)) or 1)) if a.size else 0.0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: run_tuned.py FOLDER [PLUGIN.so]")
    jax.config.update("jax_enable_x64", True)  # as the program has it, 64 bits or 32
    folder, plugin = sys.argv[1], len(sys.argv) == 3
    if plugin and b"lapack_" in (pathlib.Path(folder) / "default.pb").read_bytes():
        lend_lapack(os.path.realpath(sys.argv[2]))
    device = jax.devices("plugin" if plugin else "cpu")[0]
    default = Tuned(folder, device, "default.pb")
    tuned = Tuned(folder, device, executable="tuned.exe" if plugin else None)
    inputs = list(make_inputs(default.shapes))
    times = {default: [], tuned: []}
    for n in range(106):
        for f in times:
            seconds, f.results = timed(f, inputs)
            if n >= 5:  # the first few warm up
                times[f].append(seconds)
    worst = max(map(difference, default.results, tuned.results), default=0)
    a, b = (1e6 * statistics.median(times[f]) for f in (default, tuned))
    print("%s: default %.1f us, tuned %.1f us: %.1f%% less; outputs differ by %.2g"
          % (sys.argv[2] if plugin else "jaxlib " + jax.lib.__version__, a, b, 100 * (1 - b / a), worst))
