"""What the program `inspect` says of a file, or of the program that JAX makes of a function."""
import json
import pathlib
import tempfile

from .lower import lower
from .programs import Refused, last_words, run, show


def look(options, path_or_function, args, kwargs):
    """What `inspect --json` says with further options."""
    if callable(path_or_function):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.pb"
            path.write_bytes(lower(path_or_function, args, kwargs).module)
            return look(options, path, (), {})
    status, out, said, _ = run("inspect", path_or_function, "--json", *options, plugin=False, progress=_show_waiting)
    if status:
        raise Refused(last_words(said))
    return json.loads(out)


def _show_waiting(line):
    if line.startswith("waiting for"):
        show(line)
