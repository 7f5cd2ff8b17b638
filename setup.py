"""pip install . : builds the programs with make and puts them, the model and the library that calls compiled programs into
the package `vantage`. The compiler's plugin comes as a package of its own; which one is the first row of schemas/plugin.def."""
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
PLUGIN = re.search(r'^PLUGIN\("cpu", "[^"]*", "([^"]*)", "([^"]*)"', (ROOT / "schemas/plugin.def").read_text(), re.M).groups()


class BuildPrograms(build_py):
    def run(self):
        super().run()
        subprocess.run(["make", "deps"], cwd=ROOT, check=True)
        subprocess.run(["make", f"-j{len(os.sched_getaffinity(0))}", "door"], cwd=ROOT, check=True)
        package = pathlib.Path(self.build_lib) / "vantage"
        for folder, names in (("bin", PROGRAMS), ("models", ["cpu.vm"])):
            (package / folder).mkdir(parents=True, exist_ok=True)
            for name in names:
                shutil.copy(ROOT / folder / name, package / folder / name)


class OfThisMachine(Distribution):
    def has_ext_modules(self):
        return True


setup(name="vantage", version=VERSION, description="JAX in, a faster function out: single compiler decisions, measured",
      package_dir={"": "python"}, packages=["vantage"], install_requires=["==".join(PLUGIN)], python_requires=">=3.9",
      cmdclass={"build_py": BuildPrograms}, distclass=OfThisMachine)
