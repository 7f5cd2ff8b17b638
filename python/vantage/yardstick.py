"""How far two programs' results may be apart.

Numbers: ten times as far as the compiler's own program's are, or what rounding does. Whole numbers: equal.

Some functions magnify rounding. A sampler's image moves by 7e-4 if its weights are moved in the last place, and in half
precision the likeliest of many words may be another one. There the compiler's own program is right by luck, and says
nothing. So where results are farther apart, the function itself is run on numbers moved in the last place, and three
times as much as its own results move is allowed: the largest difference of numbers, and the share of whole numbers that
differ. Where its own whole numbers stay as they are, none may differ. A function that moves by more than its results
are large says nothing about a program, so this allows a tenth of an average number, and half of the whole numbers, at
most. Zero, and arguments that are whole, stay: they may be marks or places, and a last place less leads elsewhere.

Each of these runs moves the arguments in another way. There are at most eight, and no more than explain the difference.
(Two are too few where an optimizer divides a gradient that is next to nothing by its own size. Of a language model's
step one result of 400 was 5.2 times as far from the function's as that moved in two runs, 1.6 times as far as it moved
in six. The difference was 2.6e-5 of an update.)
"""

YARDSTICK = 10  # times the distance of the compiler's own program from the results that are wanted
ROUNDING = 64   # units in the last place of an average result, at least
MOVED = 3       # times what the function's own results move
RUNS = 8        # of the function on numbers that are moved, at most
MOST, SHARE = 0.1, 0.5  # of an average number, and of all whole numbers, that moves allow


def distance(a, b):
    """The largest difference, and what rounding may do; of whole numbers the share that differs; infinite where forms
    or NaNs differ."""
    import numpy
    if a.shape != b.shape or a.dtype != b.dtype:
        return numpy.inf, 0.0
    if a.dtype.kind in "biu":
        return float(numpy.mean(a != b)) if a.size else 0.0, 0.0
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


def moved(x, run):
    """The array with each float up or down by about a last place, drawn anew for each run, and always alike."""
    import jax
    import numpy
    if x.dtype.kind == "c":
        return moved(x.reshape(-1).view(x.real.dtype), run).view(x.dtype).reshape(x.shape)
    if not jax.numpy.issubdtype(x.dtype, jax.numpy.floating):
        return x
    wide = numpy.asarray(x, numpy.float64)
    up = numpy.random.default_rng(run).integers(0, 2, x.shape) * 2 - 1
    with numpy.errstate(all="ignore"):  # of what is not finite, or at the end of its type
        new = (wide * (1 + up * float(jax.numpy.finfo(x.dtype).eps))).astype(x.dtype)
    return numpy.where((wide == numpy.rint(wide)) | ~numpy.isfinite(new), x, new)


def told(far, like):
    """A distance from this result, for people."""
    import numpy
    if like.dtype.kind in "biu" and far <= 1:
        return f"in {round(far * like.size)} of {like.size} integers"
    return "in its form, or in where it is no number" if far == numpy.inf else f"by {far:.3g}"


def _allowed(move, like):
    """What is allowed where the function's own result moves so far."""
    import numpy
    if like.dtype.kind in "biu":
        return min(MOVED * move, SHARE) if move <= 1 else 0.0
    wide = numpy.abs(like.astype(numpy.complex128 if like.dtype.kind == "c" else numpy.float64))
    good = wide[numpy.isfinite(wide)]
    return min(MOVED * move, MOST * float(numpy.mean(good)) if good.size else 0.0) if numpy.isfinite(move) else 0.0


def _moves(moves, again, i, like, far):
    """How far the function's own result moves, in as many runs as explain that another is so far, or in all."""
    move = 0.0
    for run in range(RUNS):
        if run == len(moves):
            moves.append(again(run))
        move = max(move, distance(moves[run][i], like)[0])
        if far <= _allowed(move, like):
            break
    return move


def apart(want, ours, own, again=None):
    """Of the results that are too far from those wanted: their numbers, how far they are, and how far others are, in
    words. `again`: gives the results of the function's run on numbers that are moved, by its number."""
    moves = []
    for i, (w, o, d) in enumerate(zip(want, ours, own)):
        (far, rounding), (yard, _) = distance(o, w), distance(d, w)
        if far <= max((MOVED if w.dtype.kind in "biu" else YARDSTICK) * yard, rounding):
            continue
        others = f"the compiler's own {told(yard, w)}"
        if again:
            move = _moves(moves, again, i, w, far)
            if far <= _allowed(move, w):
                continue
            others += f", and the function's on arguments that are moved in the last place {told(move, w)}"
        yield i, told(far, w), others
