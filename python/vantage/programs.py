"""Finds our programs and the plugin, and runs the programs.

The programs are beside this file if pip installed vantage, in bin/ of a checkout, or else in the PATH. The plugin is in
VANTAGE_PLUGIN_DIR, in the Python package that pip installed with it, or in .deps. If several versions are there, it is
the first that plugin.def lists.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent


class Refused(Exception):
    """A sentence that says why a function cannot be tuned, loaded or run here."""


def find(name):
    """The path of one of our programs, or of the library that calls compiled programs."""
    for folder in (HERE / "bin", CHECKOUT / "bin"):
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    if not found:
        raise Refused(f"the program {name} is not here: run `make` in the checkout, or `pip install .`")
    return found


def known_plugins():
    """Of each version of XLA:CPU: the package with its version, and the plugin's file below the packages' folder."""
    table = next(p for p in (HERE / "plugin.def", CHECKOUT / "schemas/plugin.def") if p.exists()).read_text()
    rows = re.findall(r'^PLUGIN\("cpu", "[^"]*", "([^"]*)", "([^"]*)",\s*"([^"]*)"', table, re.M)
    return [(f"{package}=={version}", pathlib.PurePath(file)) for package, version, file in rows]


def find_plugin():
    """The folder below which the plugin lies, and its path."""
    known, named = known_plugins(), os.environ.get("VANTAGE_PLUGIN_DIR")
    for package, file in known if named else []:
        if (pathlib.Path(named) / file).exists():
            return pathlib.Path(named), pathlib.Path(named) / file
    for package, file in known:
        spec = importlib.util.find_spec(file.parts[0])
        packages = [pathlib.Path(p).parent for p in spec.submodule_search_locations] if spec else []
        for folder in packages + [CHECKOUT / ".deps"]:
            if (folder / file).exists():
                return folder, folder / file
    raise Refused(f"the compiler's plugin is not here: pip install {known[0][0]}")


def environment(plugin=True):
    """For our programs. Those that need no plugin run without one."""
    try:
        return dict(os.environ, VANTAGE_PLUGIN_DIR=str(find_plugin()[0]))
    except Refused:
        if plugin:
            raise
        return dict(os.environ)


def last_words(text):
    """Of what a program said, the sentence that matters."""
    lines = [line for line in text.replace("\r", "\n").splitlines() if line.strip()]
    return lines[-1].split(": ", 1)[-1] if lines else "it said nothing"


def run(name, *arguments, progress=None, plugin=True):
    """The exit status, what the program prints, what it says, and whether it was asked to stop. Its talk goes to
    `progress`, line by line.

    `plugin`: whether the program needs one.

    The first Ctrl-C, wherever it arrives, asks the program to stop with what it has; the second ends it. No program is
    left running: if this process is killed, the program is asked to stop (base/stop.h).
    """
    said, stops = [], 0
    text = {"encoding": "utf-8", "errors": "replace"}  # a path may be cut anywhere in what they say
    with tempfile.TemporaryFile("w+", **text) as out:
        child = subprocess.Popen([find(name), *map(str, arguments)], stdout=out, stderr=subprocess.PIPE, **text,
                                 env={**environment(plugin), "VANTAGE_PARENT": str(os.getpid())},
                                 start_new_session=True)
        try:
            line = None
            while line != "":
                try:
                    line = child.stderr.readline()
                    said.append(line)
                    if progress and line:
                        progress(line.rstrip("\n"))
                except KeyboardInterrupt:
                    stops += 1
                    if stops > 1:
                        raise
                    child.send_signal(signal.SIGINT)
            status = child.wait()
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
            child.stderr.close()
        out.seek(0)
        return status, out.read(), "".join(said), stops > 0


def show(line):
    """Progress for people, in terminals and notebooks alike."""
    print(line, file=sys.stderr, flush=True)
