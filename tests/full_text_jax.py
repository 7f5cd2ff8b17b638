#!/usr/bin/env python3
"""Our reader and printer of HLO text against XLA's own, where jaxlib is installed.

Each program of hlo_corpus.py goes through `inspect --hlo`; XLA reads what comes out, and what went in, and
must find the same program in both. The graphs of examples/ and the real ones beside the project are tried as well:
our text of a message must mean what the message means.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
INSPECT = os.path.join(ROOT, os.environ.get("BIN", "bin"), "inspect")
sys.path.insert(0, HERE)


def in_child(work):
	"""What work() returns, or what it raised as "!..."; a crash of XLA is an empty string."""
	r, w = os.pipe()
	pid = os.fork()
	if pid == 0:
		os.close(r)
		os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
		try:
			said = work()
		except Exception as e:
			said = "!" + str(e)
		with os.fdopen(w, "w") as f:
			f.write(said)
		os._exit(0)
	os.close(w)
	with os.fdopen(r) as f:
		said = f.read()
	os.waitpid(pid, 0)
	return said


def main():
	try:
		import jaxlib._hlo as hlo
		read = hlo.hlo_module_from_text
	except (ImportError, AttributeError):
		print("skip: text: no jaxlib here that reads HLO text")
		return 0
	import hlo_corpus
	failed = 0

	def through_message(text):
		"""What is left of a text in the message: replica counts and the like are no part of it."""
		data = read(text).as_serialized_hlo_module_proto()
		return hlo.HloModule.from_serialized_hlo_module_proto(data).to_string()

	def ours(path):
		r = subprocess.run([INSPECT, "--hlo", path], capture_output=True, text=True)
		return r.stdout if r.returncode == 0 else "!" + r.stderr

	def compare(name, path, wanted):
		if wanted.startswith("!") or not wanted:
			return None  # this jaxlib does not know it
		text = ours(path)
		got = text if text.startswith("!") else in_child(lambda: read(text).to_string())
		if got == wanted:
			return True
		lines = [(a, b) for a, b in zip(got.split("\n"), wanted.split("\n")) if a != b]
		told = " | ".join(lines[0]) if lines and got[:1] != "!" else got[:300].replace("\n", " ")
		print("FAIL: %s: %s" % (name, told))
		return False

	same = unknown = 0
	with tempfile.TemporaryDirectory() as tmp:
		path = os.path.join(tmp, "program.hlo")
		for name, text in hlo_corpus.programs():
			with open(path, "w") as f:
				f.write(text)
			if name == "unbounded":  # a size without a bound is not for us
				continue
			if re.search(r"[({ ]-0[)},]", text):  # XLA's reader takes it for 0
				continue
			said = compare(name, path, in_child(lambda: through_message(text)))
			failed += said is False
			same += said is True
			unknown += said is None
		if same > 400 and not failed:
			print("pass: corpus")
		elif not failed:
			failed += 1
			print("FAIL: corpus: only %d programs compared, %d unknown to this jaxlib" % (same, unknown))
		graphs = glob.glob(ROOT + "/examples/graphs/*/*.pb*") + glob.glob(ROOT + "/../shared/hlo/*.pb")
		for path in sorted(graphs):
			name = os.path.basename(path)
			plain = path
			if path.endswith(".zst"):
				if not shutil.which("zstd"):
					print("skip: %s: no zstd command" % name)
					continue
				plain = os.path.join(tmp, "plain.pb")
				subprocess.run(["zstd", "-qdf", path, "-o", plain], check=True)
			with open(plain, "rb") as f:
				data = f.read()
			theirs = in_child(lambda: hlo.HloModule.from_serialized_hlo_module_proto(data).to_string())
			said = compare(name, path, theirs)
			failed += said is False
			if said:
				print("pass: " + name)
	return 1 if failed else 0


if __name__ == "__main__":
	sys.exit(main())
