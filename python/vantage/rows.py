"""Writes into a program that its arguments and results lie row by row, as JAX's arrays do.

JAX asks the compiler for that whenever it compiles. The program that it hands out says something else of some results:
one that is transposed last lies column by column, so that nothing has to move. Compiled by its own word, that would be
a faster program, whose results every reader takes for other numbers.

A program is a message of XLA's in protobuf's form, and here only what lies on the way to a layout is taken apart: of
the module the shape of the program, of that the shapes of parameters and results, of a shape its parts and its layout.
"""
PROGRAM, RESULT, PARAMETERS, DIMENSIONS, PARTS, LAYOUT, ORDER = 4, 2, 1, 3, 4, 5, 1  # numbers of fields
NUMBER, LONG, BYTES, INT = 0, 1, 2, 5  # wire types


def _number(data, at):
    """A number of protobuf's, and where it ends."""
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return n, at


def _written(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def _fields(data):
    """(number of the field, its bytes with what introduces them, its content if it has bytes, else its number)."""
    at = 0
    while at < len(data):
        start = at
        tag, at = _number(data, at)
        if tag & 7 == BYTES:
            size, at = _number(data, at)
            at += size
            content = data[at - size:at]
        elif tag & 7 == NUMBER:
            content, at = _number(data, at)
        else:
            at += {LONG: 8, INT: 4}[tag & 7]
            content = None
        yield tag >> 3, data[start:at], content


def _with(data, change):
    """The message with the fields named in `change` written by its functions."""
    parts = []
    for number, whole, content in _fields(data):
        if number in change:
            content = change[number](content)
            whole = _written(number << 3 | BYTES) + _written(len(content)) + content
        parts.append(whole)
    return b"".join(parts)


def _rank(shape):
    rank = 0
    for number, _, content in _fields(shape):
        if number == DIMENSIONS:
            rank += sum(byte < 128 for byte in content) if isinstance(content, bytes) else 1
    return rank


def _shape(shape):
    order = b"".join(map(_written, reversed(range(_rank(shape)))))
    new = _written(ORDER << 3 | BYTES) + _written(len(order)) + order if order else b""
    return _with(shape, {PARTS: _shape,
                         LAYOUT: lambda layout: new + b"".join(w for n, w, _ in _fields(layout) if n != ORDER)})


def by_rows(module):
    """The module (an HloModuleProto, as bytes) with these layouts."""
    return _with(module, {PROGRAM: lambda program: _with(program, {PARAMETERS: _shape, RESULT: _shape})})
