"""The tuned program, run by the caller's own jaxlib: then a call of it is a call of one of jax.jit's programs.

A call through the plugin passes through a second interface, which costs something for each array. The plugin and jaxlib
hold the same compiler, and write down what they compiled in the same form, before which jaxlib puts a preface about the
results. So jaxlib is given the plugin's program behind the preface of a small program of its own with such results. It
runs the very machine code that the search measured.

The two are often of different versions. So nothing is taken on trust: a process of its own, which may crash or never
end, runs the program first by both, and compares the results; then the two are timed here in turns. The faster one is
kept for calls. Nothing here is public in JAX; where a name is missing, calls go as before.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

from .called import in_turns
from .kept import scratch
from .lower import split
from .native import Call
from .place import home
from .programs import Refused
from .quick import NO, quick
from .yardstick import apart

CALL, EACH = 30e-6, 3e-6   # seconds that a call through the plugin costs at least, and more for each array
WORTH = 0.01               # of the time of a call; less cannot be seen
START, RUNS = 120.0, 100.0 # seconds until the process of its own has loaded the program, and how many runs it may take
WRITTEN = 1 << 30          # bytes of arguments at most that this process is given
NUDGE = 1 - 2 ** -6        # smaller, so that what is in an interval stays there; all types of floats can tell it from 1
PR_SET_PDEATHSIG = 1


def version():
    import jaxlib
    return jaxlib.__version__


def _preface(outputs):
    """What jaxlib writes before a compiled program with these results: a message with its length before it."""
    import jax
    device = home()
    results = [jax.ShapeDtypeStruct(shape, jax.numpy.dtype(dtype)) for shape, dtype in outputs]
    with jax.default_device(device):
        small = jax.jit(lambda *r: jax.lax.optimization_barrier(r), keep_unused=True).lower(*results).compile()
    written = device.client.serialize_executable(small._executable.xla_executable)
    length = end = 0
    while end == 0 or written[end - 1] & 128:
        length |= (written[end] & 127) << 7 * end
        end += 1
    return written[:end + length]


def graft(code, outputs):
    """jaxlib's executable of a program that the plugin compiled and wrote down."""
    import jax
    from jax._src.lib import _jax
    device = home()
    return device.client.deserialize_executable(_preface(outputs) + code, _jax.DeviceList((device,)), None)


def results_of(made, arrays):
    return [a[0] for a in made.execute_sharded(arrays).disassemble_into_single_device_arrays()]


def attempt():
    """What the process of its own does, on what _tried wrote down. It prints why jaxlib cannot be used, if so."""
    folder, path, parent, inputs, outputs = json.load(sys.stdin)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a program that never ends must not stay alone
    if os.getppid() != parent:
        return
    import jax
    import numpy
    folder = pathlib.Path(folder)
    made = graft(pathlib.Path(path).read_bytes(), outputs)
    call, default = (Call(at.read_bytes(), inputs, outputs) for at in (pathlib.Path(path), folder / "default.exe"))
    with numpy.load(folder / "inputs.npz") as kept:
        values = [kept[f"arr_{i}"].view(jax.numpy.dtype(dtype)) for i, (_, dtype) in enumerate(inputs)]
    try:
        _agree(made, call, default, values)
        _agree(made, call, default, [_nudged(x) for x in values])
    except Refused as why:
        print(why)


def _agree(made, call, default, values):
    """Refuses an executable whose results are not the plugin's, on these arguments."""
    import jax
    import numpy
    arrays = [jax.device_put(x, home()) for x in values]
    addresses = [x.block_until_ready().unsafe_buffer_pointer() for x in arrays]
    want, own = ([numpy.array(r) for r in c(addresses)] for c in (call, default))
    ours = [numpy.array(r) for r in results_of(made, arrays)]
    for i, far, others in apart(want, ours, own):
        raise Refused(f"result {i} of jaxlib's differs from the plugin's {far}, {others}")


def _nudged(x):
    """Numbers near these. Any others might never let a loop end that waits for numbers to be small. Scalars, which say
    how small, stay as they are, and so do whole numbers, which may be places in another array."""
    float_ = x.dtype.kind in "fc" or x.dtype.name == "bfloat16"
    return (x * NUDGE).astype(x.dtype) if x.ndim and float_ else x


def _write(folder, default, values, known):
    """What attempt() reads, but for the tuned program: the plugin writes down only what it compiled itself."""
    import jax
    import numpy
    arrays = [numpy.asarray(numpy.asarray(x).astype(jax.numpy.dtype(dtype), copy=False), order="C").reshape(shape)
              for x, (shape, dtype) in zip(values, known.inputs)]
    if sum(a.nbytes for a in arrays) > WRITTEN:
        raise Refused("its arguments are too large to be tried in another process")
    numpy.savez(folder / "inputs.npz", *arrays)
    (folder / "default.exe").write_bytes(default.written())


def _tried(path, known, default, values, seconds):
    """Refuses a program that jaxlib cannot load and run without harm and to the plugin's numbers, seen in another
    process."""
    code = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from vantage.grafted import attempt; attempt()"
    with scratch(path.parent.parent) as folder:
        _write(folder, default, values, known)
        told = json.dumps([str(folder), str(path), os.getpid(), known.inputs, known.outputs])
        try:
            done = subprocess.run([sys.executable, "-c", code, json.dumps(sys.path)], input=told, text=True,
                                  env={**os.environ, "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"},
                                  capture_output=True, timeout=START + RUNS * seconds)
        except subprocess.TimeoutExpired:
            raise Refused(f"jaxlib {version()} did not come back from it") from None
    if done.returncode:
        last = ([line for line in done.stderr.splitlines() if line.strip()] or [f"status {done.returncode}"])[-1]
        raise Refused(f"jaxlib {version()} cannot run it: {last}")
    if done.stdout.strip():
        raise Refused(done.stdout.strip())


def _seconds(call, values):
    """Of a run through the plugin, its arrays' way included."""
    import jax
    arrays = [jax.numpy.asarray(x) for x in values]
    times = []
    for _ in range(3):
        start = time.perf_counter()
        call([x.block_until_ready().unsafe_buffer_pointer() for x in arrays])
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _faster(made, call, known, args, kwargs):
    """Refuses what is not faster for its caller."""
    import jax
    sides = [quick(call, known), quick(call, known, made)]
    if not all(side and jax.block_until_ready(side(args, kwargs)) is not NO for side in sides):
        raise Refused("calls of this form have no short way")
    plugin, own = in_turns([lambda *a, _side=side, **k: _side(a, k) for side in sides], [lambda: (args, kwargs)] * 2)
    call.lasting.clear()  # all runs were waited for
    if statistics.median(own) >= statistics.median(plugin):
        raise Refused("it is not faster")


def _said(folder):
    """What was found out about each version of jaxlib: "" if it runs the program faster, or why it does not run it."""
    try:
        return dict(json.loads((folder / "grafted.json").read_text()))
    except (OSError, ValueError, TypeError):
        return {}


def kept(folder, known):
    """jaxlib's executable, if that was found to be the faster one with this version; None: calls go through the
    plugin."""
    if _said(folder).get(version()) != "":
        return None
    try:
        return graft((folder / "tuned.exe").read_bytes(), known.outputs)
    except Exception:  # the interface is not public
        return None


def chosen(folder, known, call, default, args, kwargs, progress=None):
    """What `kept` gives, found out now if it was not before. Ctrl-C gives it up for this time."""
    if version() in _said(folder):
        return kept(folder, known)
    made, why = None, ""
    try:
        values = split(args, kwargs)[0]
        if known.layout.fixed:
            raise Refused("some arguments are part of the program")
        if not (folder / "tuned.exe").exists():
            raise Refused("the plugin cannot write it down")
        seconds = _seconds(call, values)
        if CALL + EACH * (len(known.inputs) + len(known.outputs)) <= WORTH * seconds:
            raise Refused("it runs for so long that the way to it is nothing")
        if progress:
            progress(f"vantage: trying whether jaxlib {version()} runs the program, too, for faster calls")
        _tried(folder / "tuned.exe", known, default, values, seconds)
        made = graft((folder / "tuned.exe").read_bytes(), known.outputs)
        _faster(made, call, known, args, kwargs)
    except KeyboardInterrupt:
        return None
    except Exception as e:  # the interface is not public, and its errors are many
        made, why = None, str(e).splitlines()[0] if str(e) else type(e).__name__
    with contextlib.suppress(OSError):  # then it is found out again
        (folder / "grafted.json").write_text(json.dumps({**_said(folder), version(): why}))
    return made
