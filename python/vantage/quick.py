"""The short way through a call of a tuned function, for calls that are just like those it was tuned for.

If jaxlib itself runs the tuned program (grafted.py), a call is one of a program of jaxlib's, and costs no more.

Else programs with small results become one operation of a program of jaxlib's (python/inside.c says how). Then
compiled code of jaxlib's compares trees, types and shapes, and makes the results, as in a call of jax.jit's. Results
are copied once. Where they are large, copying costs more than it saves, and the plugin's memory itself becomes an
array. But then each array passes through Python, which takes as long as copying some 32 KiB. So many arrays may have
more bytes: a training step with 456 arguments and 454 results of 1.2 MB took 10% less time than by jax.jit with arrays
made of the plugin's memory, and 31% less with copies.

All ways answer NO where a call is not so, or the long way might know better. An array that does not lie row by row goes
the long way, which copies it; one on another device goes to the function. A type that gives way to others', that of
Python's own numbers, is another type here: `2.0` times bfloat16 is bfloat16, a float32 times bfloat16 is float32.
jaxlib takes one for the other in compiled programs.
"""
from .lower import as_results, key_data, weak_of
from .native import Call, library
from .place import alone, as_bound, at_home, by_rows, here, home, layout, rows
from .programs import Refused

MOST_COPIED, EACH_COPIED = 1 << 18, 1 << 15  # bytes of all results, and more for each
NO = object()
_registered = []


def copied(known):
    """Are the results few enough bytes to be copied?"""
    import numpy
    import jax
    have = sum(int(numpy.prod(shape, dtype=numpy.int64)) * jax.numpy.dtype(dtype).itemsize
               for shape, dtype in known.outputs)
    return have <= MOST_COPIED + EACH_COPIED * len(known.outputs)


def quick(call, known, executable=None):
    """A function of (args, kwargs) that gives results or NO. None: this program's calls have no short way.
    `executable`: jaxlib's, of the same program."""
    if known.layout.fixed or not isinstance(call, Call):
        return None
    if executable:
        try:
            return _own(executable, call, known)
        except (ImportError, AttributeError, TypeError):  # a JAX without this interface, or with another one
            pass
    if copied(known):
        try:
            return _inside(call, known)
        except (ImportError, AttributeError, Refused):  # a JAX without this interface, or with another one
            pass
    return _lent(call, known) if known.inputs and not known.layout.keys else None


def _register(jax):
    if not _registered:
        jax.ffi.register_ffi_target("vantage_inside", jax.ffi.pycapsule(library().vantage_inside), platform="cpu")
        _registered.append(True)


def _results_of(known):
    import jax
    return [jax.ShapeDtypeStruct(shape, jax.numpy.dtype(dtype)) for shape, dtype in known.outputs]


def _shell(known, body):
    """A compiled program of JAX's that takes and gives what the function does; `body` gives the results."""
    import jax
    keys, arrays = known.layout.keys, iter(known.inputs)
    leaves = []
    for i in range(known.layout.tree.num_leaves):
        shape, dtype = next(arrays)
        x = jax.ShapeDtypeStruct(shape, jax.numpy.dtype(dtype))
        leaves.append(jax.eval_shape(lambda d, impl=keys[i]: jax.random.wrap_key_data(d, impl=impl), x) if i in keys
                      else x)

    def tuned(*args, **kwargs):
        return as_results(list(body([key_data(x) for x in jax.tree.leaves((args, kwargs))])), known)

    args, kwargs = jax.tree.unflatten(known.layout.tree, leaves)
    with jax.default_device(home()):
        return jax.jit(tuned, keep_unused=True).lower(*args, **kwargs).compile()


def _around(call, known):
    """A program of jaxlib's with our program as its one operation."""
    import jax
    import numpy
    _register(jax)
    results, address = _results_of(known), numpy.uint64(call.handle)
    return _shell(known, lambda given: jax.ffi.ffi_call("vantage_inside", results)(*given, call=address))


def _inside(call, known):
    # jaxlib may run its program after a call of it has returned, and nobody is told when. So ours is never freed: it
    # stays, with its 15 MB, when nobody can call it any more.
    call.lasting.append("jaxlib may be running it")
    return _guarded(_around(call, known), known.layout)


def _own(executable, call, known):
    """jaxlib's executable of our program, in the place of that of a program with the same form."""
    import dataclasses
    form = _around(call, known)
    put = dataclasses.replace(form._executable._unloaded_executable, xla_executable=executable).load()
    return _guarded(type(form)(put, [], form.args_info, form.out_tree, no_kwargs=form._no_kwargs), known.layout)


def _fits(leaves, like):
    """Are they as the program's layout says, in what jaxlib's code does not look at itself?"""
    return ((like.weak is None or weak_of(leaves) == like.weak) and here(like.x64) and
            all(by_rows(x) and at_home(x) for x in leaves))


class _Watched:
    """jaxlib's executable. Compiled code asks it about arguments of a form (type, layout, device, JAX's settings) that
    it has not met, and not again."""

    def __init__(self, executable, like):
        self.executable, self.like, self.asked = executable, like, False

    def __getattr__(self, name):
        return getattr(self.executable, name)

    def call(self, *leaves):
        if not _fits(leaves, self.like):
            raise TypeError("another kind of type, or another layout or device")
        self.asked = True
        return self.executable.call(*leaves)


def _guarded(compiled, like):
    """The compiled program, which looks at types that give way, at layouts and devices. jaxlib's code does so only by
    names that are not public. So until it has asked once they are looked at here, for a third of a call's price."""
    import jax
    watched, run = None, compiled
    try:
        watched = _Watched(compiled._executable, like)
        run = compiled._executable.create_cpp_call(compiled._params._replace(executable=watched)) or compiled
    except (AttributeError, TypeError, ValueError):  # another version of JAX
        pass

    def guarded(args, kwargs):
        if not (watched and watched.asked) and not _fits(jax.tree.leaves((args, kwargs)), like):
            return NO
        try:
            return run(*args, **kwargs)
        except (TypeError, ValueError):  # another tree, type, shape or device; a value that JAX traces
            return NO
        except Exception as e:
            if type(e).__name__ != "InternalFloatingPointError":
                raise
            return NO  # jax_debug_nans: the function knows where one came from

    return guarded


def _lent(call, known):
    import jax
    flatten, tree, weak, x64 = jax.tree_util.tree_flatten, known.layout.tree, known.layout.weak, known.layout.x64
    like = jax.numpy.zeros((), device=home())
    array, last = type(like), [like.sharding]  # the sharding that the last array had, for it is one object mostly
    lone, first = alone(), like.sharding
    wanted = [(shape, jax.numpy.dtype(dtype), rows(len(shape))) for shape, dtype in known.inputs]

    def run(args, kwargs):
        leaves, form = flatten((args, kwargs))
        if form != tree or weak is not None and weak_of(leaves) != weak or not here(x64):
            return NO
        found = []
        for x, (shape, dtype, lies) in zip(leaves, wanted):
            if type(x) is not array or x.shape != shape or x.dtype != dtype or layout(x) != lies:
                return NO
            at = x.sharding
            if at is not last[0]:
                if at != first:
                    return NO
                last[0] = at
            found.append(x.block_until_ready().unsafe_buffer_pointer())
        return as_results(call(found) if lone else as_bound(call(found), leaves), known)

    return run
