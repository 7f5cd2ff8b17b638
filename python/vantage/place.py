"""Where an array is: on which device, and how it lies in memory.

Tuned programs run on the first processor device of JAX, and their results are there. They take the addresses of arrays
that lie row by row, which is JAX's way too, unless somebody asks for another one (jax.experimental.layout). The name
that tells this in a tenth of a microsecond is not public; the public one takes three.
"""
import functools


def rows(rank):
    """The layout of an array of this rank that lies row by row, the fastest dimension first: "{1,0}"."""
    return "{" + ",".join(map(str, reversed(range(rank)))) + "}"


def layout(x):
    """That of an array of JAX. Asked of one whose memory was given away, jaxlib would end the process."""
    if x.is_deleted():
        raise RuntimeError(f"an argument was deleted or donated before: {x.aval.str_short()}")
    try:
        return str(x._pjrt_layout)
    except AttributeError:  # another version of JAX
        order = x.format.layout.major_to_minor
        return "{" + ",".join(map(str, reversed(order))) + "}"


def _is_anywhere(x):
    """Is it an array of JAX's, and no value that JAX traces?"""
    import jax
    return isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer)


def by_rows(x):
    """Does it lie row by row? Numbers and what else is no array of JAX's are no matter of this."""
    return not _is_anywhere(x) or x.ndim < 2 or layout(x) == rows(x.ndim)


@functools.cache
def home():
    import jax
    return jax.local_devices(backend="cpu")[0]


def at_home(x):
    """Is it not on another processor device? What is on an accelerator is copied to the first one."""
    return not _is_anywhere(x) or all(d == home() or d.platform != "cpu" for d in x.devices())


@functools.cache
def usual():
    """What JAX computes on if nobody says: "cpu", or an accelerator's name."""
    import jax
    return jax.default_backend()


def here(x64):
    """Does JAX compute on this device, with types of 64 bits if x64 says so (None: either way), and without a look at
    results for NaN or infinity?"""
    import jax
    where = jax.config.jax_default_device
    mine = usual() == "cpu" if where is None else where == home() or where == "cpu"
    looked = jax.config.jax_debug_nans or jax.config.jax_debug_infs
    return mine and x64 in (None, jax.config.jax_enable_x64) and not looked


@functools.cache
def alone():
    """Is this device the only one that JAX has here?"""
    import jax
    return len(jax.local_devices(backend="cpu")) == 1 and usual() == "cpu"


def _loose(x):
    import jax
    try:
        from jax._src.array import ArrayImpl
        return ArrayImpl(x.aval, x.sharding, [x], committed=False)
    except (ImportError, TypeError):  # another version of JAX
        import numpy
        return jax.device_put(numpy.asarray(x))


def as_bound(results, given):
    """The program's results, bound to their device if an argument is, as JAX does it. Of one device nobody can tell."""
    if alone() or any(getattr(x, "committed", False) for x in given):
        return results
    return [_loose(x) for x in results]
