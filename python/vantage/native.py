"""Calls compiled programs from Python, through python/call.c.

The plugin reads a program's inputs where they are, and its outputs become JAX arrays where the plugin left them.
Nothing is copied. The plugin is in the same process as JAX, and knows nothing of it.
"""
import ctypes
import os
import threading
import weakref

from . import lapack
from .place import home
from .programs import Refused, find, find_plugin
from .wire import piece, written

# Our name of a type is JAX's; PJRT's number, DLPack's code and bits.
TYPES = {
    "bool": (1, 6, 8), "int8": (2, 0, 8), "int16": (3, 0, 16), "int32": (4, 0, 32), "int64": (5, 0, 64),
    "uint8": (6, 1, 8), "uint16": (7, 1, 16), "uint32": (8, 1, 32), "uint64": (9, 1, 64), "float16": (10, 2, 16),
    "float32": (11, 2, 32), "float64": (12, 2, 64), "bfloat16": (13, 4, 16), "complex64": (14, 5, 64),
    "complex128": (15, 5, 128),
}
MOST_RANK = 64


class Array(ctypes.Structure):  # struct array in call.c
    _fields_ = [("type", ctypes.c_int32), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("dims", ctypes.c_int64 * MOST_RANK)]


def refuse_type(dtype):
    """Refuses a type that programs cannot be given or give."""
    if str(dtype) not in TYPES:
        raise Refused(f"arrays of {dtype} cannot be handed over; of these they can: {', '.join(TYPES)}")


def _array(shape, dtype):
    refuse_type(dtype)
    number, code, bits = TYPES[str(dtype)]
    return Array(number, len(shape), code, bits, (ctypes.c_int64 * MOST_RANK)(*shape))


_capsule = ctypes.PyDLL(None).PyCapsule_New  # of our own: others set other types on pythonapi's
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_lock = threading.Lock()
_library = None


def library():
    """call.c's functions, with the plugin loaded."""
    global _library
    with _lock:
        if _library is None:
            lib = ctypes.CDLL(find("vantage-call.so"))
            lib.vantage_call_new.restype = ctypes.c_void_p
            lib.vantage_call_free.argtypes = [ctypes.c_void_p]
            why = ctypes.create_string_buffer(4096)
            os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # else the first call of oneDNN is logged
            if lib.vantage_open(str(find_plugin()[1]).encode(), why, ctypes.c_size_t(len(why))):
                raise Refused(f"the plugin does not start: {why.value.decode()}")
            _library = lib
        return _library


def _packed_options(options):
    """CompileOptionsProto: one device, and options of the debugger by name, as truth values or text."""
    build = b"\x08" + written(2 ** 64 - 1) + b"\x20\x01\x28\x01"
    truth = {"true": b"\x10\x01", "false": b"\x10\x00"}
    entries = (piece(1, k.encode()) + piece(2, truth.get(v) or piece(1, v.encode())) for k, v in options.items())
    return piece(3, build) + b"".join(piece(7, e) for e in entries)


class _Tensor:
    """What jax.dlpack asks of a tensor's owner."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def _receiver():
    """How a DLPack capsule becomes a JAX array: jaxlib's own function where it is where we know it, in a few
    microseconds; else the public way, in a few dozen."""
    import jax
    device = home()
    try:
        from jaxlib._jax import dlpack_managed_tensor_to_buffer as take
        import numpy
        take(numpy.zeros(64, numpy.float32).__dlpack__(), device, None)
        return lambda capsule: take(capsule, device, None)
    except Exception:  # another version of jaxlib
        return lambda capsule: jax.dlpack.from_dlpack(_Tensor(capsule))


def _free(library, handle, lasting):
    if not lasting:
        library.vantage_call_free(handle)


class Call:
    """A program: `inputs` and `outputs` are lists of (shape, dtype). Called with addresses, it gives JAX arrays, which
    may outlive it. The plugin's program, of some 15 MB, is freed with it.

    `lasting` is empty, or says why the program is never freed.
    """

    def __init__(self, code, inputs, outputs, options=None):
        """`options`: None for what this very plugin serialised, else `code` is an HloModuleProto to compile."""
        self.handle, self.library = None, library()
        if lapack.calls(code):
            lapack.lend()
        self.why = ctypes.create_string_buffer(4096)
        packed = b"" if options is None else _packed_options(options)
        with_room = (self.why, ctypes.c_size_t(len(self.why)))
        self.handle = self.library.vantage_call_new(b"executable" if options is None else b"hlo", code,
                                                    ctypes.c_size_t(len(code)), packed, ctypes.c_size_t(len(packed)),
                                                    *with_room)
        if not self.handle:
            raise Refused(self.why.value.decode())
        self.lasting = []
        weakref.finalize(self, _free, self.library, self.handle, self.lasting).atexit = False
        takes, gives = [_array(*a) for a in inputs], [_array(*a) for a in outputs]
        if self.library.vantage_call_sign(ctypes.c_void_p(self.handle), ctypes.c_size_t(len(takes)),
                                          (Array * len(takes))(*takes),
                                          ctypes.c_size_t(len(gives)), (Array * len(gives))(*gives), *with_room):
            raise Refused(self.why.value.decode())
        self.takes, self.gives = ctypes.c_void_p * len(takes), ctypes.c_void_p * len(gives)
        run = self.library.vantage_call_run
        run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self.run, self.receive = run, _receiver()

    def written(self):
        """The compiled program as the plugin writes it down."""
        got = []
        take = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)
        with_room = (self.why, ctypes.c_size_t(len(self.why)))
        if self.library.vantage_call_save(ctypes.c_void_p(self.handle),
                                          take(lambda at, n: got.append(ctypes.string_at(at, n))), *with_room):
            raise Refused(self.why.value.decode())
        return got[0]

    def __call__(self, addresses):
        out = self.gives()
        why = ctypes.create_string_buffer(1024)
        if self.run(self.handle, self.takes(*addresses), out, why, 1024):
            raise RuntimeError(f"the tuned program did not run: {why.value.decode()}")
        receive = self.receive
        return [receive(_capsule(tensor, b"dltensor", None)) for tensor in out]
