"""Where an array is: how it lies in memory.

Programs take the addresses of arrays that lie row by row, which is JAX's way too, unless somebody asks for another one
(jax.experimental.layout). The name that tells this in a tenth of a microsecond is not public; the public one takes
three.
"""


def rows(rank):
    """The layout of an array of this rank that lies row by row, the fastest dimension first: "{1,0}"."""
    return "{" + ",".join(map(str, reversed(range(rank)))) + "}"


def layout(x):
    """That of an array of JAX."""
    try:
        return str(x._pjrt_layout)
    except AttributeError:  # another version of JAX
        order = x.format.layout.major_to_minor
        return "{" + ",".join(map(str, reversed(order))) + "}"


def by_rows(x):
    """Does it lie row by row? Numbers and what else is no array of JAX's are no matter of this."""
    import jax
    return not isinstance(x, jax.Array) or x.ndim < 2 or layout(x) == rows(x.ndim)
