"""pip install . : builds the programs with make. They, the models, and the library that calls compiled programs become
the package `vantage`. The compiler's plugin comes as a package of its own: the first row of schemas/plugin.def. That
package asks for a jax that is no newer than itself, so pip installs such a jax; programs of a newer jax run as well.

The libraries that our programs are linked with go into the package, too, and the programs look for them there first. So
a wheel (`make wheel`) works on machines that have none of them. It only needs a C library as new as that of the machine
it was made on. The programs of the checkout, in bin/, are left alone.
"""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent
PROGRAMS = ["search", "inspect", "collect", "learn", "store", "arena", "vantage-worker", "vantage-call.so"]
VERSION = re.search(r"^VERSION = (\S+)", (ROOT / "Makefile").read_text(), re.M).group(1)
PLUGINS = (ROOT / "schemas/plugin.def").read_text()
PLUGIN = re.search(r'^PLUGIN\("cpu", "[^"]*", "([^"]*)", "([^"]*)"', PLUGINS, re.M).groups()
MODELS = ["cpu.vm", "cpu.rewrite.vm"]  # what searches on XLA:CPU take if none is named
BIN = "build/package"
# Programs look for libraries in ../lib of the package, and so do the libraries found there (RPATH, not RUNPATH).
LINK = r"-s -Wl,--disable-new-dtags,-rpath,\$$ORIGIN/../lib"
OF_EVERY_SYSTEM = ("linux-vdso", "ld-linux", "libc.", "libm.", "libgcc_s.", "libpthread.", "libdl.", "librt.")


def libraries(programs):
    """The files that the programs are linked with, without those that every system has."""
    found = {}
    for program in programs:
        listed = subprocess.run(["ldd", program], check=True, stdout=subprocess.PIPE, text=True).stdout
        found.update(re.findall(r"^\s*(\S+) => (/\S+)", listed, re.M))
    return {name: path for name, path in found.items() if not name.startswith(OF_EVERY_SYSTEM)}


class BuildPrograms(build_py):
    def run(self):
        super().run()
        lacks = [name for name in ("make", os.environ.get("CC", "cc").split()[0]) if not shutil.which(name)]
        if lacks:
            raise SystemExit(f"building vantage needs {' and '.join(lacks)}; as root: apt-get install make gcc libc6-dev")
        subprocess.run(["make", "deps"], cwd=ROOT, check=True)
        jobs = len(os.sched_getaffinity(0))
        subprocess.run(["make", f"-j{jobs}", f"BIN={BIN}", f"LDFLAGS={LINK}", "door"], cwd=ROOT, check=True)
        package = pathlib.Path(self.build_lib) / "vantage"
        files = {f"bin/{name}": ROOT / BIN / name for name in PROGRAMS}
        files |= {f"lib/{name}": path for name, path in libraries(files.values()).items()}
        files |= {f"models/{name}": ROOT / "models" / name for name in MODELS}
        files["plugin.def"] = ROOT / "schemas/plugin.def"
        for name, path in files.items():
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, package / name)


class OfThisMachine(Distribution):
    def has_ext_modules(self):
        return True


setup(name="vantage", version=VERSION, description="JAX in, a faster function out: single compiler decisions, measured",
      package_dir={"": "python"}, packages=["vantage"], install_requires=["==".join(PLUGIN)], python_requires=">=3.9",
      cmdclass={"build_py": BuildPrograms}, distclass=OfThisMachine)
