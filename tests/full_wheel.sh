#!/bin/bash
# The wheel is made from a fresh checkout, in which nothing was fetched yet, and installed into a fresh environment. It
# works away from the checkout: its programs are its own, find the libraries that came with them, and open, price and
# show programs.
set -u
python3 -m pip --version >/dev/null 2>&1 || { echo "skip: wheel: python3 has no pip"; exit 0; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
graphs=$(realpath examples/graphs)
git clone -q . "$dir/checkout" 2>"$dir/log" || { echo "skip: wheel: $(tail -1 "$dir/log")"; exit 0; }
python3 -m venv "$dir/builder" >"$dir/log" 2>&1 ||
	{ echo "skip: wheel: python3 makes no environment with pip"; exit 0; }
if ! (unset DEPS && cd "$dir/checkout" && "$dir/builder/bin/pip" wheel --no-deps -w "$dir" .) >"$dir/log" 2>&1; then
	if grep -qE 'NewConnectionError|ProxyError|ConnectTimeout|name resolution|index cannot be reached' "$dir/log" ||
		grep -q 'No matching distribution found for setuptools' "$dir/log"; then
		echo "skip: wheel: what builds it cannot be fetched"
	else
		echo "FAIL: wheel: $(tail -3 "$dir/log")"
	fi
	exit 0
fi
echo "pass: wheel_is_made"
python3 -m venv --without-pip "$dir/env" >"$dir/log" 2>&1 &&
	python3 -m pip --python "$dir/env/bin/python3" install -q --no-deps --disable-pip-version-check "$dir"/*.whl \
		>>"$dir/log" 2>&1 ||
	{ echo "FAIL: wheel_is_installed: $(tail -3 "$dir/log")"; exit 0; }
echo "pass: wheel_is_installed"
cd / || exit 1
says() { # NAME CODE
	local out code="import os, subprocess, vantage
from vantage import programs
home = os.path.dirname(vantage.__file__)
$2"
	out=$(env -u PYTHONPATH PATH=/usr/bin:/bin VANTAGE_LOCK_DIR="$dir" "$dir/env/bin/python3" -c "$code" 2>&1)
	if [ $? -eq 0 ]; then
		echo "pass: $1"
	else
		echo "FAIL: $1: $(tail -2 <<<"$out")"
	fi
}
says programs_are_those_of_the_wheel "
assert home.startswith('$dir/'), home
for name in ('search', 'inspect', 'collect', 'learn', 'store', 'arena', 'vantage-worker'):
	assert programs.find(name) == f'{home}/bin/{name}', programs.find(name)
	if name != 'vantage-worker':
		subprocess.run([programs.find(name), '--version'], check=True, stdout=subprocess.DEVNULL)"
says libraries_come_along "
linked = subprocess.run(['ldd', f'{home}/bin/search'], check=True, stdout=subprocess.PIPE, text=True).stdout
for name in ('libsqlite3', 'libzstd', 'libopenblas', 'libpcre2', 'libprotobuf-c'):
	assert any(name in line and '$dir/' in line for line in linked.splitlines()), linked"
says it_works_there "
assert vantage.inspect('$graphs/train/vae.pb.zst')['opcodes']['dot'] == 24
with vantage.Arena('$graphs/tiny/convolution.pb.zst', device='sim', budget=2) as arena:
	assert arena.sites and arena.price(arena.ask('flip', seed=1))['outcome'] == 'ok'
	assert 'modelled' in arena.verdict()['sentence'] or arena.about['kind'] == 'modelled'"
