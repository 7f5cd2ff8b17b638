#!/usr/bin/env python3
"""How far a tuned program's results may be from the function's before it is refused."""
from door import check, end, inside, jax, jnp, np, same, through, vantage
from vantage import yardstick


def check_yardstick():
    """As much is allowed as three times what the function's own results move, where its arguments do in the last
    place; a wrong program is refused."""
    want = np.linspace(1, 2, 16, dtype=np.float32)
    tokens = np.arange(16)
    one, three, four = (np.where(tokens < n, 99, tokens) for n in (1, 3, 4))
    off = lambda far: want + np.float32(far)  # noqa: E731
    for name, w, ours, moves, allowed in (
            ("what rounding does", want, off(3e-6), [want, want], True),
            ("more than that", want, off(1e-3), [want, want], False),
            ("... where the function moves as much", want, off(1e-3), [want, off(-7e-4)], True),
            ("... where it does in a later run", want, off(1e-3), [want] * 5 + [off(-7e-4)], True),
            ("... where it moves less", want, off(1e-3), [off(1e-4), off(3e-4)], False),
            ("one integer of 16", tokens, one, [tokens, tokens], False),
            ("... where the function's own change", tokens, one, [tokens, one], True),
            ("three of 16, where one changes", tokens, three, [one, tokens], True),
            ("four of 16, where one changes", tokens, four, [one, tokens], False),
            ("half a number, where all move so far", want, off(0.5), [off(0.4), off(0.4)], False),
            ("all integers, where all change", tokens, tokens + 1, [tokens + 2] * 2, False),
            ("no number", want, want * np.float32("nan"), [want, want * np.float32("nan")], False)):
        again = lambda run: [moves[run % len(moves)]]  # noqa: E731
        said = [f"{far}, {others}" for _, far, others in yardstick.apart([w], [ours], [w], again)]
        check(f"{name}: {'allowed' if allowed else 'refused'}", bool(said) != allowed, str(said))
    said = list(yardstick.apart([tokens], [one], [tokens]))
    check("integers are counted", said == [(0, "in 1 of 16 integers", "the compiler's own in 0 of 16 integers")],
          str(said))
    for dtype in (jnp.float32, jnp.bfloat16, np.float64, np.complex64):
        x = np.asarray([0.0, 1.0, 0.3, -7.25, np.inf, 3.0], dtype)
        a, b = yardstick.moved(x, 0), yardstick.moved(x, 0)
        with np.errstate(all="ignore"):
            most = np.nanmax(np.abs(np.asarray(a - x, np.complex128)))
        check(f"numbers of {np.dtype(dtype)} are moved, but for whole ones", same(a, b) and
              list(a == x) == [True, True, False, False, True, True] and 0 < most < 16 * jnp.finfo(dtype).eps, str(a))


def check_magnified():
    """A function that magnifies rounding is not refused for it, and a program that computes something else is."""
    def logistic(x):
        return jax.lax.fori_loop(0, 16, lambda i, y: 3.9 * y * (1 - y), x)  # what is off grows a thousandfold

    x = jnp.float32([0.3, 0.41, 0.77])
    for name, other, allowed in (("off by rounding", lambda x: logistic(x * (1 + 2e-7)), True),
                                 ("another function", lambda x: jnp.sin(x), False)):
        fast, wrong = through(lambda x: logistic(x), (x,), {}), through(other, (x,), {})
        try:
            inside._check(wrong._call, fast._call, fast.jitted, (x,), {}, fast._lowered)
            why = ""
        except vantage.Refused as refused:
            why = str(refused)
        check(f"{name}, magnified", bool(why) != allowed, why)


check_yardstick()
check_magnified()
end()
