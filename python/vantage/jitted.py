"""The function as jax.jit runs it: what a tuned program is compared with, and what all other calls are.

One jax.jit serves all calls, so each form is traced and compiled once. Arguments that cannot be traced (strings,
functions, what is named as static) are part of the program, as in lower.py. A function that is jitted already stays as
it is, with its own static and donated arguments. What jax.jit makes no program of, runs as it was, and that is said
once: it may be many times slower.
"""
import functools
import warnings

from .lower import is_value, join, refuse_changing, split


class Form:
    """What a program depends on besides its arrays, in a way that jax.jit can look up."""

    def __init__(self, layout):
        refuse_changing(layout)
        self.layout = layout

    def __eq__(self, other):
        return isinstance(other, Form) and self.layout == other.layout

    def __hash__(self):
        return hash((self.layout.tree, *self.layout.fixed))


class Jitted:
    """Called as the function is. `static` is what lower.statics() gave."""

    def __init__(self, function, static=((), ())):
        self.function, self.static, self.asis = function, static, False
        self.jits = hasattr(function, "lower") and hasattr(function, "trace")  # tuned functions have no `trace`
        self.kinds = set()  # types that are known to be values, as asking each leaf takes as long as the call

    @functools.cached_property
    def program(self):
        import jax
        try:
            hash(self.function)
        except TypeError:  # a callable tree, such as a layer
            return jax.jit(lambda *args, **kwargs: self.function(*args, **kwargs))
        return jax.jit(self.function)

    @functools.cached_property
    def formed(self):
        import jax

        def call(form, *leaves):
            args, kwargs = join(leaves, form.layout)
            return self.function(*args, **kwargs)

        return jax.jit(call, static_argnums=0)

    def way(self, args, kwargs):
        """jax.jit's program for such a call, and the arguments that this takes."""
        import jax
        if self.jits:
            return self.function, (args, kwargs)
        leaves = jax.tree.leaves((args, kwargs))
        kinds = set(map(type, leaves))
        if not any(self.static) and (kinds <= self.kinds or all(map(is_value, leaves))):
            self.kinds |= kinds
            return self.program, (args, kwargs)
        values, layout = split(args, kwargs, *self.static)
        return self.formed, ((Form(layout), *values), {})

    def lowered(self, args, kwargs):
        """What jax.jit's own `lower` gives."""
        import jax
        if self.jits:
            return self.function.lower(*args, **kwargs)
        if not any(self.static):
            return self.program.lower(*args, **kwargs)
        places, names = self.static
        return jax.jit(self.function, static_argnums=[i for i in places if i < len(args)],
                       static_argnames=[n for n in names if n in kwargs]).lower(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        if self.jits:
            return self.function(*args, **kwargs)
        if not self.asis:
            try:
                program, given = self.way(args, kwargs)
                return program(*given[0], **given[1])
            except Exception as e:  # the function's own errors come again below
                why = str(e).splitlines()[0] if str(e) else type(e).__name__
        results = self.function(*args, **kwargs)
        if not self.asis:
            self.asis = True
            warnings.warn(f"vantage: jax.jit makes no program of such a call ({why}): it runs the function as it was",
                          stacklevel=4)
        return results
