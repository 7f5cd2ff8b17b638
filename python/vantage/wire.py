"""The form of protobuf's messages: numbers, and fields one after the other."""
NUMBER, LONG, BYTES, INT = 0, 1, 2, 5  # wire types


def number(data, at):
    """A number of protobuf's, and where it ends."""
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return n, at


def written(n):
    """A number in that form."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def piece(field, content):
    """A field that has bytes."""
    return written(field << 3 | BYTES) + written(len(content)) + content


def fields(data):
    """(number of the field, its bytes with what introduces them, its content if it has bytes, else its number)."""
    at = 0
    while at < len(data):
        start = at
        tag, at = number(data, at)
        if tag & 7 == BYTES:
            size, at = number(data, at)
            at += size
            content = data[at - size:at]
        elif tag & 7 == NUMBER:
            content, at = number(data, at)
        else:
            at += {LONG: 8, INT: 4}[tag & 7]
            content = None
        yield tag >> 3, data[start:at], content
