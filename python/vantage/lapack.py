"""Gives jaxlib's LAPACK to the plugin.

Where JAX lowers for a processor, decompositions and solutions of linear systems are calls of LAPACK by name. jaxlib
registers these names for itself. The plugin is another compiler in this process, with names of its own, and has none
of them. PJRT has an extension by which they are registered: what a name stands for is the address of a function, and
jaxlib tells that. So a tuned program calls the very routines that the function called.
"""
import ctypes
import functools

from .programs import Refused, find_plugin

FFI, PLATFORM, CAPSULE = 5, b"Host", b"xla._CUSTOM_CALL_TARGET"  # the extension's number in PJRT; XLA's names


class _Extension(ctypes.Structure):
    """Of PJRT's interface; they are in a list."""


_Extension._fields_ = [("size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.POINTER(_Extension)),
                       ("others", ctypes.c_void_p * 2), ("register", ctypes.c_void_p)]


class _Api(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extension", ctypes.POINTER(_Extension))]


class _Routine(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("name_size", ctypes.c_size_t),
                ("code", ctypes.c_void_p), ("platform", ctypes.c_char_p), ("platform_size", ctypes.c_size_t),
                ("traits", ctypes.c_int)]


def calls(code):
    """Does this program, as bytes, call LAPACK?"""
    return b"lapack_" in code


def _register():
    """The plugin's function that registers a routine. It returns an error, or nothing."""
    api = ctypes.CDLL(str(find_plugin()[1])).GetPjrtApi
    api.restype = ctypes.POINTER(_Api)
    at = api().contents.extension
    while at and at.contents.type != FFI:
        at = at.contents.next
    if not at or at.contents.size < ctypes.sizeof(_Extension) or not at.contents.register:
        raise Refused("it calls LAPACK, which this version of the plugin cannot be given")
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Routine))(at.contents.register)


@functools.lru_cache(None)
def lend():
    """Once is enough for a process."""
    register = _register()
    try:
        from jaxlib.cpu import _lapack
        _lapack.initialize()
        routines = _lapack.registrations()
    except (ImportError, AttributeError) as e:
        raise Refused(f"it calls LAPACK, which this version of jaxlib does not give away ({e})") from e
    address = ctypes.PyDLL(None).PyCapsule_GetPointer  # of our own: others set other types on pythonapi's
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for name, capsule in routines.items():
        if not name.startswith("lapack_") or not name.endswith("_ffi"):
            continue
        name = name.encode()
        if register(_Routine(ctypes.sizeof(_Routine), name, len(name), address(capsule, CAPSULE), PLATFORM,
                             len(PLATFORM), 0)):
            raise Refused(f"the plugin does not take jaxlib's {name.decode()}")
