"""Makes a program from a function and its arguments, and puts its results back into the function's form.

Arrays, numbers and random keys among the arguments become the program's parameters, in the order in which JAX flattens
them. Anything else (strings, functions, None), and arguments that are named as static, are part of the program. A
random key is passed as the numbers that it consists of.
"""
import dataclasses
import hashlib
import inspect
import numbers
import re
import types

from .programs import Refused
from .rows import by_rows


@dataclasses.dataclass
class Lowered:
    module: bytes    # HloModuleProto
    content: str     # a hash that is the same whenever the program is
    inputs: list     # (shape, dtype name) of each parameter
    outputs: list    # likewise of each result
    layout: "Layout"
    out_tree: object
    out_keys: dict   # result number: the implementation of the random key that it is
    out_weak: tuple = ()  # numbers of the results whose type gives way to others', as that of Python's numbers does
    foreign: str = ""     # why no program for one device, outside of JAX, can do what it does, if so
    name: str = ""        # what the function is called in it
    version: str = ""     # of JAX, which made it; "", in old files: neither is known


@dataclasses.dataclass
class Layout:
    """How a call's arguments are told apart. Two calls of equal layouts may go to the same program."""
    tree: object
    fixed: dict      # leaf number: a value that is part of the program
    keys: dict       # leaf number: the implementation of the random key that it is
    weak: list = None  # numbers of the leaves whose type gives way to others'; None, in old files: not known
    x64: bool = None   # whether jax_enable_x64 is set; None: as weak

    def __eq__(self, other):
        return (self.tree == other.tree and self.keys == other.keys and self.fixed.keys() == other.fixed.keys() and
                all(alike(x, other.fixed[i]) for i, x in self.fixed.items()) and
                (self.weak == other.weak or None in (self.weak, other.weak)) and
                (self.x64 == other.x64 or None in (self.x64, other.x64)))


def is_key(x):
    import jax
    return hasattr(x, "dtype") and jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)


def key_data(x):
    """What a program is given for it: a random key's numbers, or the value itself."""
    import jax
    return jax.random.key_data(x) if is_key(x) else x


def is_weak(x):
    """Is its type one of Python's numbers, which gives way to the types of arrays?"""
    return type(x) in (int, float, complex) or getattr(x, "weak_type", False)


def weak_of(leaves):
    return [i for i, x in enumerate(leaves) if is_weak(x)]


def weakened(x):
    """The array with a type that gives way. JAX has no public name for this."""
    try:
        from jax._src.lax.lax import _convert_element_type
    except ImportError as e:
        raise Refused("a result has the type of Python's numbers, which this version of JAX cannot be given back: "
                      "turn it into an array of a type of its own") from e
    return _convert_element_type(x, x.dtype, weak_type=True)


NONE = str, bytes, type, types.ModuleType  # numpy's strings and types, and jax.numpy itself, have a shape and a dtype


def is_value(x):
    """Is it what a program can be given? Strings, functions and the like are not."""
    return isinstance(x, (int, float, complex)) or (hasattr(x, "shape") and hasattr(x, "dtype") and
                                                    not isinstance(x, NONE))


def statics(function, places=(), names=()):
    """Of the arguments that are named as static, here or to jax.jit, their numbers and their names: an argument may be
    named by either, and passed as either. Numbers and names of no argument are ignored."""
    told = getattr(function, "_jit_info", None)  # not public: without it, they are to be named here
    places = {places} if isinstance(places, numbers.Integral) else set(places)
    names = {names} if isinstance(names, str) else set(names)
    places |= set(getattr(told, "static_argnums", ()))
    names |= set(getattr(told, "static_argnames", ()))
    try:
        known = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function that does not tell
        return tuple(sorted(places)), tuple(sorted(names))
    ordered = [p for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not any(p.kind is p.VAR_POSITIONAL for p in known):
        places = {i + len(ordered) if i < 0 else i for i in places}
    for i, p in enumerate(ordered):
        if p.kind is p.POSITIONAL_OR_KEYWORD and (i in places or p.name in names):
            places.add(i)
            names.add(p.name)
    return tuple(sorted(places)), tuple(sorted(names))


def split(args, kwargs, static_argnums=(), static_argnames=()):
    """The leaves that are parameters, and the layout of the call. The last two are what statics() gave; numbers below
    zero count from the last argument given."""
    import jax
    fixed_args = {i + len(args) if i < 0 else i for i in static_argnums}
    args = tuple(_Fixed(a) if i in fixed_args else a for i, a in enumerate(args))
    kwargs = {k: _Fixed(v) if k in static_argnames else v for k, v in kwargs.items()}
    leaves, tree = jax.tree.flatten((args, kwargs))
    fixed, keys, values = {}, {}, []
    for i, x in enumerate(leaves):
        if isinstance(x, _Fixed) or not is_value(x):
            fixed[i] = x
        else:
            if is_key(x):
                keys[i] = str(jax.random.key_impl(x))
            values.append(key_data(x))
    return values, Layout(tree, fixed, keys, [i for i in weak_of(leaves) if i not in fixed], jax.config.jax_enable_x64)


def _passed(tree):
    """How many arguments a call of this tree passes by place, and the names of the others."""
    by_place, by_name = tree.children()
    return len(by_place.children()), set(by_name.node_data()[1])


def is_other(function, known):
    """Is this surely another function than the one that this program was made of: one that takes other arguments, or
    gives other results? What cannot be traced is not known to be so."""
    import jax
    places, names = _passed(known.layout.tree)
    try:
        inspect.signature(function).bind(*[None] * places, **dict.fromkeys(names))
    except TypeError:
        return True
    except ValueError:  # a function that does not tell
        pass
    if known.layout.x64 != jax.config.jax_enable_x64:
        return False

    def flat(*leaves):
        args, kwargs = join(leaves, known.layout)
        return function(*args, **kwargs)

    try:
        gives = jax.eval_shape(flat, *(jax.ShapeDtypeStruct(shape, jax.numpy.dtype(x)) for shape, x in known.inputs))
    except Exception:  # the function is the caller's, and so are its errors
        return False
    shapes = [x.shape for x in jax.tree.leaves(gives)]  # trees may hold what is never equal to a copy of it
    return len(shapes) != len(known.outputs) or any(
        mine != shape for i, (mine, (shape, _)) in enumerate(zip(shapes, known.outputs)) if i not in known.out_keys)


def renamed(function, args, kwargs, tree):
    """The same arguments, passed by place and by name as in a call of this tree; None where they are so already, or
    cannot be."""
    places, names = _passed(tree)
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):  # a call of another function, or one that does not tell
        return None
    known, given = bound.signature.parameters.values(), dict(bound.arguments)
    for p in known:
        if p.kind is p.VAR_KEYWORD:
            given.update(given.pop(p.name, {}))
    first = [p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:places]
    alike = len(args) == places and kwargs.keys() == names
    if alike or len(first) < places or set(first) & names or set(first) | names != given.keys():
        return None
    return tuple(given[name] for name in first), {name: given[name] for name in names}


class _Fixed:
    """An argument that is named as static, trees and all."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, _Fixed) and alike(self.value, other.value)

    __hash__ = None


def alike(a, b):
    """Do two values make the same program? 2 and 2.0 are equal, and do not."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, (float, complex)):
        return repr(a) == repr(b)  # a NaN is like itself, and 0.0 is not like -0.0
    try:
        return a is b or bool(a == b)
    except Exception:  # whatever they are, they compare as they like
        return False


def refuse_changing(layout):
    """Refuses calls with a value in the program that has no hash: it may be changed, and the program would not know.
    jax.jit refuses them, too."""
    for x in layout.fixed.values():
        value = x.value if isinstance(x, _Fixed) else x
        try:
            hash(value)
        except TypeError as e:
            raise Refused(f"an argument that is part of the program may change, as it has no hash ({e}): pass what "
                          "does not, such as a tuple, or arrays") from e


def join(values, layout):
    """The arguments again."""
    import jax
    values, leaves = iter(values), []
    for i in range(layout.tree.num_leaves):
        if i in layout.fixed:
            x = layout.fixed[i]
            leaves.append(x.value if isinstance(x, _Fixed) else x)
            continue
        x = next(values)
        leaves.append(jax.random.wrap_key_data(x, impl=layout.keys[i]) if i in layout.keys else x)
    return jax.tree.unflatten(layout.tree, leaves)


def as_results(results, known):
    """Of the program's results, those of the function: in its tree, keys as keys."""
    import jax
    for i, impl in known.out_keys.items():
        results[i] = jax.random.wrap_key_data(results[i], impl=impl)
    for i in known.out_weak:
        results[i] = weakened(results[i])
    return jax.tree.unflatten(known.out_tree, results)


def foreign(text):
    """Why a program, as StableHLO, cannot run outside of JAX on one device. Empty: it can, as far as this tells."""
    devices = re.search(r"mhlo\.num_(?:partitions|replicas) = (?!1 )(\d+)", text)
    if devices:
        return (f"it is written for {devices.group(1)} devices (shard_map, pmap, or arrays that lie over several), and "
                "what is tuned here runs on one")
    if not re.search(r"custom_call @\w*python_cpu_callback", text):
        return ""
    return ("it calls back into Python while it runs (jax.debug.print, jax.pure_callback, io_callback), which a "
            "program outside of JAX cannot do")


FORM = "Non-hashable static arguments", "Shapes must be 1D sequences of concrete values"  # JAX's words for that


def _refusal(e):
    """What JAX says of a function that it makes no program of, as a sentence."""
    import jax
    first = str(e).splitlines()[0] if str(e) else type(e).__name__
    decides = (jax.errors.ConcretizationTypeError, jax.errors.TracerBoolConversionError,
               jax.errors.TracerIntegerConversionError, jax.errors.NonConcreteBooleanIndexError)
    if isinstance(e, decides) or first.startswith(FORM):
        return Refused("an argument decides the program's form: name it in static_argnums or static_argnames "
                       f"({first.split('. ')[0]})")
    return Refused(f"JAX makes no program of it: {first}")


def _flattened(function, layout):
    """The function as one of leaves alone. Once it was called, it knows the tree of its results, and which of these are
    random keys, or of a type that gives way."""
    import jax

    def flat(*leaves):
        a, k = join(leaves, layout)
        out = function(*a, **k)
        results, flat.tree = jax.tree.flatten(out)
        flat.keys = {i: str(jax.random.key_impl(x)) for i, x in enumerate(results) if is_key(x)}
        flat.weak = tuple(weak_of(results))
        if flat.weak:
            weakened(jax.numpy.zeros(()))  # refuses where it cannot
        return [key_data(x) if is_key(x) else jax.numpy.asarray(x) for x in results]

    flat.__name__ = getattr(function, "__name__", flat.__name__)
    return flat


def _content(text):
    """The module itself numbers things anew each time; its text does not."""
    return hashlib.sha256(text.encode()).hexdigest()


def _unbound(x):
    """Of an array on one device what it is like: that it is bound to be there makes no other program."""
    import jax
    if not isinstance(x, jax.Array) or isinstance(x, jax.core.Tracer) or len(x.devices()) > 1:
        return x
    return jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak_type)


def lower(function, args, kwargs, static_argnums=(), static_argnames=()):
    """The program that JAX makes of the function for these arguments."""
    import jax
    values, layout = split(args, kwargs, *statics(function, static_argnums, static_argnames))
    flat = _flattened(function, layout)
    try:
        lowered = jax.jit(flat, keep_unused=True).lower(*map(_unbound, values))
        module = by_rows(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
    except Refused:
        raise
    except Exception as e:
        raise _refusal(e) from e
    like = [(tuple(a.shape), str(a.dtype)) for a in jax.tree.leaves(lowered.args_info)]
    outputs = [(tuple(a.shape), str(a.dtype)) for a in jax.tree.leaves(lowered.out_info)]
    text = lowered.as_text()
    return Lowered(module, _content(text), like, outputs, layout, flat.tree, flat.keys, flat.weak, foreign(text),
                   flat.__name__, jax.__version__)


def has_changed(function, known):
    """Does JAX make another program of the function now? Where another version of it, or another x64, made the known
    one, this does not tell."""
    import jax
    layout = known.layout
    if known.version != jax.__version__ or layout.x64 != jax.config.jax_enable_x64:
        return False
    places = [i for i in range(layout.tree.num_leaves) if i not in layout.fixed]
    like = [jax.ShapeDtypeStruct(shape, jax.numpy.dtype(dtype), weak_type=i in layout.weak)
            for i, (shape, dtype) in zip(places, known.inputs)]
    flat = _flattened(function, layout)
    flat.__name__ = known.name
    try:
        return _content(jax.jit(flat, keep_unused=True).lower(*like).as_text()) != known.content
    except Exception:  # the function is the caller's, and so are its errors
        return False
