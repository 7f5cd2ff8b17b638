"""What searches found, kept under $XDG_CACHE_HOME/vantage for the next process that asks for the same: by the program's
content, the machine, the plugin, and what was to be changed.

Who asks for more than was asked for then gets a search of its own: for more changes, or for more seconds if those were
what ended the search. So does everybody after `learn` has put another model in place, since a model guides searches.
"""
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import platform
import shutil
import tempfile
import time

from . import programs


def machine():
    """What a compiled program is bound to."""
    model = ""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        pass
    _, plugin = programs.find_plugin()
    return {"processor": f"{platform.machine()} {model}", "plugin": f"{plugin.name} of {plugin.stat().st_size} bytes"}


FORMAT = 2  # in 1 results lay as JAX's export has them, and could not be used where that is not row by row


def cache_folder():
    """Its whole path: the caller may go to another folder."""
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home).absolute() / "vantage"


def folder_of(lowered, how):
    """Where the result for this program is kept, searched in this way."""
    asked = json.dumps([FORMAT, lowered.content, machine(), how], sort_keys=True)
    return cache_folder() / hashlib.sha256(asked.encode()).hexdigest()[:32]


def learnt():
    """The models that `learn` put in place, as [name, size, time]. Without any, the shipped one guides."""
    home = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share") / "vantage/models"
    found = [(path, path.stat()) for path in sorted(home.glob("*/*/*.vm"))]
    return [[str(path.relative_to(home)), about.st_size, about.st_mtime_ns] for path, about in found]


def verdict(result):
    """Of what `search --json` printed; earlier versions had none of its own for orders."""
    return result.get("verdict") or result


def _parts(result):
    return [result[name] for name in ("first", "search") if name in result]


def untried(result):
    """Was the search ended, by time or by hand, before it tried the first change of those that there are?"""
    parts, given = _parts(result), result.get("asked_seconds")
    by_itself = result.get("asked") and (given is None or sum(part.get("seconds", 0) for part in parts) < given * 0.9)
    tried = any(part.get("evaluations", 1) for part in parts)
    return bool(parts) and not tried and not by_itself and result.get("sites") != 0 and not verdict(result).get("tuned")


def _ended_by_time(result):
    """Did a search with a limit of time leave changes untried? One part or both parts of it may have."""
    parts = _parts(result)
    return not parts or any(part.get("evaluations", 0) < result["asked"] for part in parts)


def _long_enough(result, seconds):
    """Would no search of so many seconds (None: of any length) have come further?"""
    given = result.get("asked_seconds", 0)  # older results do not say: they had some
    return given is None or seconds is not None and seconds <= given or not _ended_by_time(result)


def result_in(folder, budget, seconds):
    """What was found before, if it answers this question, too; else None."""
    try:
        kept = json.loads((folder / "result.json").read_text())
    except (OSError, ValueError):
        return None
    if untried(kept) or verdict(kept).get("tuned") and not (folder / "tuned/default.pb").exists():
        return None
    if not verdict(kept).get("sentence"):
        return kept
    good = kept["asked"] >= budget and _long_enough(kept, seconds) and kept.get("models", learnt()) == learnt()
    return kept if good else None


def keep(folder, result):
    """What a search came to try nothing of is no result. One that cannot be written down holds for this process."""
    if untried(result):
        return
    half = folder / "result.part"
    with contextlib.suppress(OSError):
        half.write_text(json.dumps(result, default=float))  # numbers of numpy's
        half.rename(folder / "result.json")


@contextlib.contextmanager
def writable():
    """Refuses, in here, what fails because the cache cannot be written."""
    try:
        yield
    except OSError as e:
        raise programs.Refused(f"nothing can be kept in {cache_folder()} ({e.strerror}): XDG_CACHE_HOME names the "
                               "folder that results are kept in") from e


@contextlib.contextmanager
def _locked(folder):
    """Whether the folder is ours meanwhile. A lock ends with its process, however that ends."""
    at = os.open(folder, os.O_RDONLY)
    try:
        yield _lock(at)
    finally:
        os.close(at)


def _lock(at):
    try:
        fcntl.flock(at, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False


def _sweep():
    """Removes the scratch folders of processes that were killed. A folder of this minute may not be locked yet."""
    for left in cache_folder().glob("*/tmp*"):
        with contextlib.suppress(OSError):  # another process may be removing it
            if left.stat().st_mtime < time.time() - 60:
                with _locked(left) as dead:
                    if dead:
                        shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def scratch(folder):
    """A new folder in this one. It is removed at the end, or, if this process is killed, by a later one."""
    _sweep()
    with tempfile.TemporaryDirectory(dir=folder) as path, _locked(path):
        yield pathlib.Path(path)
