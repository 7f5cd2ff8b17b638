"""Writes into a program that its arguments and results lie row by row, as JAX's arrays do.

JAX asks the compiler for that whenever it compiles. The program that it hands out says something else of some results:
one that is transposed last lies column by column, so that nothing has to move. Compiled by its own word, that would be
a faster program, whose results every reader takes for other numbers.

A program is a message of XLA's in protobuf's form, and here only what lies on the way to a layout is taken apart: of
the module the shape of the program, of that the shapes of parameters and results, of a shape its parts and its layout.
"""
from .wire import fields, piece, written

PROGRAM, RESULT, PARAMETERS, DIMENSIONS, PARTS, LAYOUT, ORDER = 4, 2, 1, 3, 4, 5, 1  # numbers of fields


def _with(data, change):
    """The message with the fields named in `change` written by its functions."""
    parts = []
    for number, whole, content in fields(data):
        if number in change:
            whole = piece(number, change[number](content))
        parts.append(whole)
    return b"".join(parts)


def _rank(shape):
    rank = 0
    for number, _, content in fields(shape):
        if number == DIMENSIONS:
            rank += sum(byte < 128 for byte in content) if isinstance(content, bytes) else 1
    return rank


def _shape(shape):
    order = b"".join(map(written, reversed(range(_rank(shape)))))
    new = piece(ORDER, order) if order else b""
    return _with(shape, {PARTS: _shape,
                         LAYOUT: lambda layout: new + b"".join(w for n, w, _ in fields(layout) if n != ORDER)})


def by_rows(module):
    """The module (an HloModuleProto, as bytes) with these layouts."""
    return _with(module, {PROGRAM: lambda program: _with(program, {PARAMETERS: _shape, RESULT: _shape})})
