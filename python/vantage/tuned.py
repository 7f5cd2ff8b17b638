"""tune, save and load: a function, and the program that was found for it.

A call of a tuned function runs its program if the arrays are like those that it was tuned for (types, shapes, trees,
static values). Otherwise it is one of jax.jit's (jitted.py), and that is said once. Before a program is used, its
results are compared with the function's own on the caller's arguments. The yardstick is how far the compiler's own
program is from the function, which another version of the same compiler compiled (yardstick.py).

Results are kept (kept.py). The next process that asks for the same does not search.
"""
import contextlib
import difflib
import functools
import inspect
import json
import os
import pathlib
import pickle
import re
import shutil
import warnings

from . import grafted, kept, programs
from .called import called, copies, holds, surely_slower
from .jitted import Jitted
from .lower import as_results, has_changed, is_other, is_weak, join, lower, refuse_changing, renamed, split, statics
from .native import refuse_type
from .place import as_bound, at_home, by_rows, here
from .programs import Refused
from .quick import NO, quick
from .report import Report
from .yardstick import apart, moved


OPTIONAL = "tuned.exe", "options.txt", "grafted.json"  # files that not every saved function has, and load() goes by
WRITTEN = 1 << 30  # bytes of arguments at most that a search is given: it makes up more by itself
# What `search` says of options that it cannot take.
MISTAKE = (r'--[a-z-]+ |unknown option|there is no (decision space|quantity) |the decision space .* is not of the form|'
           r'\d+ cores were asked for|decisions of the kind .* cannot be priced in|".*" is no option|'
           r'a limit is |the limit |there are two limits ')
OWN = "--graph", "-g", "--out", "-o", "--budget", "-b"  # options of `search` that tune() gives it
NEEDED = "xla_cpu_multi_thread_eigen", "xla_cpu_enable_fast_min_max"  # by both programs: schemas/codegen.def


class Tuned:
    """A function and, where there is one, the program found for it. Made by tune() and load()."""

    def __init__(self, function, report, call=None, lowered=None, jitted=None, folder=None, executable=None):
        self.function, self.report, self.folder = function, report, folder
        self.jitted = jitted or Jitted(function)
        self._call, self._static, self._said = call, self.jitted.static, False
        self._lowered, self._quick = lowered, quick(call, lowered, executable) if call else None
        if function is not None:
            functools.update_wrapper(self, function, updated=())

    def __repr__(self):
        return f"<{getattr(self, '__name__', 'function')}: {self.report.sentence}>"

    @property
    def tuned(self):
        return self._call is not None

    def __copy__(self):
        return self  # as functions are their own copies

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError("a tuned function cannot be pickled, as its program is bound to this process: vantage.save() "
                        "writes it down, and another process reads that by vantage.load()")

    def __call__(self, *args, **kwargs):
        if self._call is None:
            return self._plain(args, kwargs, None)
        if self._quick:
            results = self._quick(args, kwargs)
            if results is not NO:
                return results
        known = self._lowered
        values, layout = split(args, kwargs, *self._static)
        if not here(known.layout.x64):
            return self._plain(args, kwargs, "another default device, jax_enable_x64 changed, or jax_debug_nans")
        if layout != known.layout:
            other = renamed(self.function, args, kwargs, known.layout.tree)
            if other:
                return self(*other[0], **other[1])
            return self._plain(args, kwargs, "arguments of another form")
        arrays = []
        for x, (shape, dtype) in zip(values, known.inputs):
            a = _memory(x, shape, dtype)
            if a is None:
                return self._plain(args, kwargs, _unlike(x, shape, dtype))
            arrays.append(a)
        return as_results(as_bound(self._call([a[0] for a in arrays]), values), known)

    def lower(self, *args, **kwargs):
        """What jax.jit(f).lower gives, for what takes functions that are jitted: the function's own program."""
        self._refuse_without("be lowered")
        return self.jitted.lowered(args, kwargs)

    def _refuse_without(self, what):
        if self.function is None:
            raise Refused(f"this function was loaded without its original, and cannot {what}: give load() the "
                          "function, too")

    def _plain(self, args, kwargs, why):
        self._refuse_without(f"take {why}")
        if why and not self._said:
            self._said = True
            warnings.warn(f"vantage: {why}: such calls go to jax.jit's program", stacklevel=3)
        return self.jitted(*args, **kwargs)


def _traced(x):
    import jax
    return isinstance(x, jax.core.Tracer)


def _unlike(x, shape, dtype):
    """In what this is not the array that the program takes."""
    if _traced(x):
        return "values that JAX traces (jit, grad, vmap and the like)"
    given = f"{getattr(x, 'dtype', type(x).__name__)}{list(getattr(x, 'shape', ()))}"
    return f"{given} for {dtype}{list(shape)}" if at_home(x) else f"{given} on another device"


def _memory(x, shape, dtype):
    """An address, and what keeps it alive; None where this is not the array that the program takes."""
    import jax
    import numpy
    if isinstance(x, jax.Array):
        if _traced(x) or x.shape != shape or x.dtype.name != dtype or len(x.devices()) != 1 or not at_home(x):
            return None
        if next(iter(x.devices())).platform != "cpu":
            x = jax.device_put(x, jax.local_devices(backend="cpu")[0])
        if not by_rows(x):
            x = numpy.ascontiguousarray(x)
            return x.ctypes.data, x
        return x.block_until_ready().unsafe_buffer_pointer(), x
    if isinstance(x, (bool, int, float, complex)):
        kind = numpy.asarray(x).dtype.kind
        like = {"bool": "b", "int": "iu", "uint": "iu", "float": "f", "bfloat": "f", "complex": "c"}
        if shape or kind not in like[dtype.rstrip("0123456789")]:
            return None
        a = numpy.asarray(x, dtype=jax.numpy.dtype(dtype))
    else:
        a = numpy.ascontiguousarray(x).reshape(numpy.shape(x))
        if a.shape != shape or jax.dtypes.canonicalize_dtype(a.dtype).name != dtype:
            return None
        a = a.astype(jax.numpy.dtype(dtype), copy=False)
    return a.ctypes.data, a


def _refuse_uncalled(values, known):
    """Refuses, before a search, a call that the program would not be used for."""
    import jax
    for _, dtype in known.inputs + known.outputs:
        refuse_type(dtype)
    if any(isinstance(x, jax.ShapeDtypeStruct) for x in values):
        raise Refused("an argument is a shape without numbers, and programs are run on the arguments")
    if not here(None):
        raise Refused("JAX's default device is not the first processor, on which tuned programs run; there they do "
                      "under jax.default_device(jax.devices('cpu')[0])")
    for x, (shape, dtype) in zip(values, known.inputs):
        if not at_home(x):
            raise Refused(f"{_unlike(x, shape, dtype)} than the first processor, on which tuned programs run")


def _leaves(x):
    import jax
    import numpy
    return [numpy.asarray(jax.random.key_data(a) if jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key) else a)
            for a in map(jax.numpy.asarray, jax.tree.leaves(x))]


def _again(jitted, values, known, run):
    """The function's results on its arguments moved in the last place. Types that give way cannot be made, and stay."""
    import jax
    import numpy
    values = [x if is_weak(x) else jax.numpy.asarray(moved(numpy.asarray(x).astype(jax.numpy.dtype(dtype)), run))
              for x, (_, dtype) in zip(values, known.inputs)]
    args, kwargs = copies(join(values, known.layout))
    return _leaves(jitted(*args, **kwargs))


def _check(call, default, jitted, args, kwargs, known):
    """Refuses a program whose results are not the function's, on these arguments."""
    import numpy
    values, _ = split(args, kwargs, *jitted.static)
    arrays = [_memory(x, *a) for x, a in zip(values, known.inputs)]
    mine = copies((args, kwargs))  # what is jitted, or calls what is, may overwrite its arguments
    want = _leaves(jitted(*mine[0], **mine[1]))
    ours, own = ([numpy.array(r) for r in c([a[0] for a in arrays])] for c in (call, default))
    for i, far, others in apart(want, ours, own, lambda run: _again(jitted, values, known, run)):
        raise Refused(f"result {i} of the tuned program differs from the function's {far}, {others}")


def _given(values, known, path, extra):
    """Options of a search that runs the program on these arguments; none where they are too large to be written down,
    or nothing is run."""
    import jax
    import numpy
    if any(str(option).startswith(("--device", "--inputs", "--unverified")) for option in extra):
        return []
    arrays = [numpy.asarray(numpy.asarray(x).astype(jax.numpy.dtype(dtype), copy=False), order="C").reshape(shape)
              for x, (shape, dtype) in zip(values, known.inputs)]
    if not arrays or sum(a.nbytes for a in arrays) > WRITTEN:
        return []
    numpy.savez(path, *arrays)
    return ["--inputs", path]


def _search(path, out, budget, seconds, space, objective, cores, extra, progress):
    arguments = ["--graph", path, "--out", out, "--budget", budget, "--json", "--wait"]
    for name, value in (("--seconds", seconds), ("--space", space), ("--objective", objective), ("--cores", cores)):
        arguments += [name, value] if value is not None else []
    status, printed, said, stopped = programs.run("search", *arguments, *extra, progress=progress)
    if status or not printed.strip():
        why = programs.last_words(said)
        raise ValueError(why) if re.match(MISTAKE, why) else Refused(why)
    try:
        result = json.loads(printed)
    except ValueError:
        raise ValueError(f"with {list(extra)} `search` gives no result: {printed.splitlines()[0]}") from None
    return dict(result, asked=0 if stopped else budget)  # who asks again after Ctrl-C wants a whole search


def _found(lowered, folder, budget, seconds, values, extra, **how):
    """A search's result for this program, made now, on these arguments, or kept from before; and its files in the
    folder."""
    result = kept.result_in(folder, budget, seconds)
    if result:
        return result
    models = kept.learnt()
    with contextlib.ExitStack() as stack:
        with kept.writable():
            folder.mkdir(parents=True, exist_ok=True)
            scratch = stack.enter_context(kept.scratch(folder))
            path, out = scratch / "program.pb", scratch / "tuned"
            path.write_bytes(lowered.module)
            inputs = _given(values, lowered, scratch / "inputs.npz", extra)
        result = _search(path, out, budget, seconds=seconds, extra=[*extra, *inputs], **how)
        if out.exists():
            shutil.rmtree(folder / "tuned", ignore_errors=True)
            out.rename(folder / "tuned")
    result.update(asked_seconds=seconds, models=models)
    kept.keep(folder, result)
    return result


def _sentence(result, budget, seconds):
    """What the search says, unless that is about nothing."""
    if not kept.untried(result):
        return kept.verdict(result)["sentence"]
    if not budget:
        return "Nothing was tried, as the budget is none."
    if not result["asked"]:
        return "Nothing was tried before the search was stopped."
    return f"Nothing was tried in {seconds:g} s: give more seconds."


def _options(folder, needed=""):
    text = folder / "options.txt"
    lines = text.read_text().splitlines() if text.exists() else []
    return dict(line.split("=", 1) for line in lines if line and line.startswith(needed))


def _open(folder, known):
    """The tuned program, ready to be called. Where it could not be written down, it is compiled again."""
    from .native import Call
    if (folder / "tuned.exe").exists():
        return Call((folder / "tuned.exe").read_bytes(), known.inputs, known.outputs)
    return Call((folder / "tuned.pb").read_bytes(), known.inputs, known.outputs, _options(folder))


def _open_default(folder, known):
    """The compiler's own program, which is compiled for that, with the options that both need."""
    from .native import Call
    return Call((folder / "default.pb").read_bytes(), known.inputs, known.outputs, _options(folder, NEEDED))


def _time_calls(result, fast, args, kwargs, by):
    """Adds what calls cost to the result, which holds without that: where they cannot be timed, nothing is said."""
    result.pop("called", None)
    try:
        result["called"] = {**called(fast, args, kwargs), **by}
    except Exception as why:  # the function is the caller's, and so are its errors
        warnings.warn(f"vantage: calls of jax.jit's and of the tuned program could not be timed: {why}", stacklevel=3)


def _raise_mistakes(function, args, kwargs, search_options):
    """Raises what a call of the function would, and says of a word that is nearly one of tune's what it may be."""
    if not callable(function):
        raise TypeError(f"tune() takes a function and its arguments, and {function!r} is no function")
    if isinstance(search_options, str):
        raise TypeError("search_options is a list of words, such as ['--seed', '2']")
    for word in map(str, search_options):
        if word.split("=")[0] in OWN:
            raise ValueError(f"search_options cannot have {word}: tune() says that itself")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a function that does not tell
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as e:
        words = [*signature.parameters, *inspect.signature(tune).parameters]
        near = [word for name in kwargs for word in difflib.get_close_matches(name, words, 1) if word != name]
        hint = f"; did you mean {near[0]}?" if near else "; all but tune's own options goes to the function"
        raise TypeError(f"{getattr(function, '__name__', 'the function')}(): {e}{hint}") from None


def tune(function, *args, budget=300, seconds=None, space=None, objective=None, cores=None, static_argnums=(),
         static_argnames=(), cache=True, progress=programs.show, search_options=(), **kwargs):
    """A callable with the function's signature that is faster on arguments like these. Where nothing faster was found,
    or nothing could be tuned, it is the function, jitted; where no program can be made of it, the function as it is.

    The search runs the program on these very arguments, up to a GiB of them: which branches are taken, and how often
    loops turn, may hang on them.
    `budget` is how many changes are tried, `seconds` how long at most (0 or None: as long as that takes). Opening the
    program before, and the verdict and the comparisons after, come on top of that: seconds for a small program, minutes
    for a large one. Ctrl-C ends the search with the best so far; afterwards it only ends a trial of jaxlib, or raises
    KeyboardInterrupt, and then the next call finds what was kept.
    `space` is what may be changed, as `search --space` says; None: which operations are fused, and before that how they
    are computed, where that promises something.
    `cores` is how many the program is tuned for; None, or "all": all that this process may use, as jax.jit's programs
    do.
    `progress` takes lines of text; None: silence. `search_options` go to the program `search` as they are.
    Options that it cannot take raise ValueError, and arguments that the function cannot, TypeError.
    """
    _raise_mistakes(function, args, kwargs, search_options)
    static, seconds = statics(function, static_argnums, static_argnames), seconds or None
    jitted = Jitted(function, static)
    try:
        lowered = lower(function, args, kwargs, *static)
        if lowered.foreign:
            raise Refused(lowered.foreign)
        values, _ = split(args, kwargs, *static)
        refuse_changing(lowered.layout)
        _refuse_uncalled(values, lowered)
        mine = len(os.sched_getaffinity(0))
        how = {"space": space, "objective": objective, "cores": mine if cores in (None, "all") else cores,
               "extra": list(map(str, search_options))}
        folder = kept.folder_of(lowered, how)
        if not cache:
            shutil.rmtree(folder, ignore_errors=True)
        result = _found(lowered, folder, budget, seconds, values, progress=progress, **how)
        report = Report(_sentence(result, budget, seconds), result, folder / "tuned" / "report.html")
        if not report.tuned:
            return Tuned(function, report, jitted=jitted)
        call, default = _open(folder / "tuned", lowered), _open_default(folder / "tuned", lowered)
        _check(call, default, jitted, args, kwargs, lowered)
    except Refused as why:
        report = Report(f"Nothing was tuned: {why}")
        if progress:
            progress(f"vantage: {report.sentence}")
        return Tuned(function, report, jitted=jitted)
    lowered.module = b""
    executable = grafted.chosen(folder / "tuned", lowered, call, default, args, kwargs, progress)
    del default  # and its memory
    fast = Tuned(function, report, call, lowered, jitted, folder / "tuned", executable)
    by = {"by": "jaxlib" if executable else "plugin", "jaxlib": grafted.version()}
    if not holds(result.get("called", {}), by) and kept.verdict(result).get("quantity") == "seconds":
        _time_calls(result, fast, args, kwargs, by)
        kept.keep(folder, result)
    report.called = result.get("called")
    if report.called and how["cores"] >= mine and surely_slower(report.called):  # of fewer cores this says nothing
        report.tuned, report.kept_out = False, True
        return Tuned(function, report, jitted=jitted)
    return fast


def save(tuned, path):
    """Writes a folder that load() reads: the program, what it takes and gives, the page."""
    if not isinstance(tuned, Tuned):
        raise TypeError(f"save() takes what tune() or load() gave, and {tuned!r} is not that")
    if not tuned.tuned:
        raise Refused(f"there is nothing to save. {tuned.report.says()}")
    path = pathlib.Path(path)
    try:
        meta = pickle.dumps((tuned._lowered, tuned._static))
    except Exception as e:
        raise Refused(f"what this function takes or gives cannot be written down: {e}") from e
    if b"__main__" in meta:
        warnings.warn("vantage: what this function takes or gives is of classes of this script (__main__), and only a "
                      "script that has them, too, can load it: put them into a module", stacklevel=2)
    if path.resolve() != tuned.folder.resolve():  # who saves what was loaded from there has it
        for name in OPTIONAL:  # of what another function left there
            (path / name).unlink(missing_ok=True)
        shutil.copytree(tuned.folder, path, dirs_exist_ok=True)
    (path / "signature.pickle").write_bytes(meta)
    (path / "python.json").write_text(json.dumps({"machine": kept.machine(), "result": tuned.report.result}))


def _untuned(function, why, jitted=None):
    """What load() gives where the program cannot be used."""
    if function is None:
        raise Refused(str(why))
    warnings.warn(f"vantage: {why}; calls go to jax.jit's program", stacklevel=3)
    return Tuned(function, Report(f"Nothing is tuned here: {why}"), jitted=jitted)


def load(path, function=None):
    """What save() wrote. Read only folders that you trust: a signature may hold any Python object.

    On another machine, or with another plugin, the callable is `function` and says so; without one this raises Refused.
    So it is where the function computes something else now, or with other values that it closes over.
    """
    path = pathlib.Path(path).absolute()  # the caller may go to another folder
    try:
        about = json.loads((path / "python.json").read_text())
        lowered, static = pickle.loads((path / "signature.pickle").read_bytes())
        about["machine"], kept.verdict(about["result"])["sentence"]
    except (AttributeError, ImportError) as e:
        return _untuned(function, f"what it takes or gives is of a class that is not here: {e}")
    except Exception as e:  # of what is damaged, pickle raises anything
        raise Refused(f"{path} holds no saved function: {e}") from e
    report = Report(kept.verdict(about["result"])["sentence"], about["result"], path / "report.html")
    if function is not None and is_other(function, lowered):
        raise ValueError(f"{getattr(function, '__name__', 'this')} is not the function that was saved in {path}: it "
                         "takes other arguments, or gives other results")
    jitted = Jitted(function, static)
    try:
        here = kept.machine()
        for k, v in about["machine"].items():
            if here[k] != v:
                raise Refused(f"it was tuned for another {k}: {v}, here: {here[k]}")
        if function is not None and has_changed(function, lowered):
            raise Refused("JAX makes another program of the function than when it was tuned: it was changed, or closes "
                          "over other values")
        return Tuned(function, report, _open(path, lowered), lowered, jitted, path, grafted.kept(path, lowered))
    except (Refused, OSError) as why:
        return _untuned(function, why, jitted)
