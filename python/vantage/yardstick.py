"""How far two programs' results may be apart: ten times as far as the compiler's own program's are, or what rounding
does."""

YARDSTICK = 10  # times the distance of the compiler's own program from the results that are wanted
ROUNDING = 64   # units in the last place of an average result, at least


def distance(a, b):
    """The largest difference, and what rounding may do; infinite where NaNs or whole numbers differ."""
    import numpy
    if a.shape != b.shape or a.dtype != b.dtype:
        return numpy.inf, 0.0
    if a.dtype.kind in "biu":
        return (0.0 if numpy.array_equal(a, b) else numpy.inf), 0.0
    import jax
    step = float(jax.numpy.finfo(a.dtype).eps)
    wide = numpy.complex128 if a.dtype.kind == "c" else numpy.float64
    a, b = a.astype(wide), b.astype(wide)
    if not numpy.array_equal(numpy.isnan(a), numpy.isnan(b)):
        return numpy.inf, 0.0
    good = numpy.isfinite(a) & numpy.isfinite(b)
    if not numpy.array_equal(a[~good], b[~good], equal_nan=True):
        return numpy.inf, 0.0
    a, b = a[good], b[good]
    return float(numpy.max(numpy.abs(a - b), initial=0)), ROUNDING * step * float(numpy.mean(numpy.abs(b)) if b.size
                                                                                  else 0)


def apart(want, ours, own):
    """Of the results that are too far from those wanted: their numbers, how far they are, and the compiler's own."""
    for i, (w, o, d) in enumerate(zip(want, ours, own)):
        (far, rounding), (yard, _) = distance(o, w), distance(d, w)
        if not far <= max(YARDSTICK * yard, rounding):
            yield i, far, yard
