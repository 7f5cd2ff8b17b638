#!/usr/bin/env python3
"""Tuned functions in a process with several devices: they are called by the short ways for arrays on the device that
they were tuned for, and results are bound to a device where the function's are. And calls while JAX's settings are
others than they were."""
import os
import pickle
import warnings
from unittest import mock

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
from door import check, end, f32, found, jax, jnp, same, through, vantage  # noqa: E402
from vantage import place, quick  # noqa: E402

LARGE = (quick.MOST_COPIED + quick.EACH_COPIED) // 4 + 16
first, second = jax.devices()


def about(x):
    return f"{x.dtype} on {x.devices()}, {'bound' if x.committed else 'not bound'}"


def twice(a):
    return jnp.tanh(a) * 2 + jnp.arange(2.0)[1]


def ways():
    """A function that goes each way: its name, it, and how many numbers it takes."""
    for own in ("", "1"):
        os.environ["OWN"] = own
        for n in (8, LARGE):
            fast = through(twice, (f32(n),), {})
            yield f"{n} numbers by {'jaxlib' if own else 'the plugin'}", fast, n
        fast = through(twice, (f32(8),), {})
        fast._quick = None
        yield f"the long way by {'jaxlib' if own else 'the plugin'}", fast, 8


def check_devices():
    for name, fast, n in ways():
        for when in ("before", "after"):
            there = jax.device_put(f32(n), second)
            got = fast(there)
            check(f"{name}, on another device, {when} a usual call", same(got, twice(there)) and
                  about(got) == about(twice(there)), about(got))
            with jax.default_device(second):
                got = fast(f32(n))
                check("... while that is the default", about(got) == about(twice(f32(n))), about(got))
            usual = jax.device_put(f32(n))
            got = fast(usual)
            check("... and a usual call", same(got, twice(usual)) and about(got) == about(twice(usual)), about(got))
            check("... the result of which goes anywhere", (got + there).devices() == {second})
            check("... and so does one for an array that is bound", same(fast(jax.device_put(f32(n), first)), got))


def check_x64():
    for name, fast, n in ways():
        again = pickle.loads(pickle.dumps(fast._lowered))
        for when in ("before", "after"):
            with jax.enable_x64(True):
                got, wanted = fast(f32(n)), twice(f32(n))
                check(f"{name}, with 64 bits, {when} a usual call", about(got) == about(wanted), about(got))
            check("... and a usual call", about(fast(f32(n))) == about(twice(f32(n))))
        check("... which is known of what was saved", again.layout.x64 is False)
    with jax.enable_x64(True):
        fast = through(lambda a: a * 2, (jnp.arange(3.0),), {})
        check("tuned with 64 bits", fast(jnp.arange(3.0)).dtype == jnp.float64)


def check_refused():
    searches = []
    with found(searches):
        fast = vantage.tune(twice, jax.device_put(f32(8), second), progress=None)
        check("an argument elsewhere is refused before the search",
              not fast.tuned and "on another device" in fast.report.sentence and not searches, fast.report.sentence)
        with jax.default_device(second):
            fast = vantage.tune(twice, f32(8), progress=None)
        check("so is another default device", not fast.tuned and not searches, fast.report.sentence)


def check_accelerator():
    """Where JAX computes on an accelerator, a function is not brought to the processor unasked."""
    fast = through(twice, (f32(8),), {})
    place.usual.cache_clear()
    with mock.patch.object(jax, "default_backend", lambda: "gpu"):
        refused = vantage.tune(twice, f32(8), progress=None)
        check("beside an accelerator nothing is tuned", not refused.tuned and "jax.default_device(" in
              refused.report.sentence, refused.report.sentence)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fast._quick = None
            same(fast(f32(8)), twice(f32(8)))
        check("... and what was tuned goes to the function", any("default device" in str(w.message) for w in said))
        with jax.default_device(first):
            check("... unless the processor is asked for", same(fast(f32(8)), twice(f32(8))) and place.here(None))
    place.usual.cache_clear()


warnings.simplefilter("ignore")
for look in (check_devices, check_x64, check_refused, check_accelerator):
    look()
end()
