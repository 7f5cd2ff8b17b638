#!/bin/bash
# tests/deps on machines that lack something: a library whose header is there, headers of the right version, root, a
# network, pip. Each time one sentence says what is missing and why. Nothing is installed: cc, id, sudo, apt-get and
# python3 are small scripts here, in front of a PATH without the real ones.
set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS CC CFLAGS LDFLAGS VANTAGE_JAX
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin" "$tmp/fake" "$tmp/include"
ln -s /usr/local/bin/* /usr/bin/* /bin/* "$tmp/bin/" 2>/dev/null
rm -f "$tmp"/bin/{cc,id,sudo,apt-get,python3}
cc=$(command -v cc) with=()
# The files of the plugins; that of the first row of the table is fetched first.
mapfile -t files < <(grep '^PLUGIN("cpu"' schemas/plugin.def | cut -d'"' -f10)
newest=${files[0]} second=${files[1]}

script() { # NAME BODY: a command that only deps sees
	printf '#!/bin/bash\n%s\n' "$2" >"$tmp/fake/$1" && chmod +x "$tmp/fake/$1"
}
lacks() { script cc "exec $cc \"\${@/#$1/-lnot_on_this_machine}\""; } # FLAG: cc cannot link that library
plugin() { # there, or gone
	rm -rf "$tmp/deps"
	[ "$1" = there ] || return
	mkdir -p "$tmp/deps/xla_plugins/xla_cpu_pjrt/include" "$tmp/deps/jax/bin"
	: >"$tmp/deps/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"
	: >"$tmp/deps/xla_plugins/xla_cpu_pjrt/include/pjrt_c_api.h"
	mkdir -p "$(dirname "$tmp/deps/$newest")" && : >"$tmp/deps/$newest"
	script ../deps/jax/bin/python3 true
}
ask() { env PATH="$tmp/fake:$tmp/bin" DEPS="$tmp/deps" "${with[@]}" tests/deps "$@" >"$tmp/out" 2>&1 </dev/null; }
says() { # NAME PATTERN: the last answer has such a line
	if grep -qE -- "^deps: $2" "$tmp/out"; then
		echo "pass: deps_$1"
	else
		echo "FAIL: deps_$1: no line like '$2' in:"
		sed 's/^/   /' "$tmp/out"
	fi
}
ok() { # NAME CONDITION...
	local name=$1
	shift
	if "$@"; then echo "pass: deps_$name"; else echo "FAIL: deps_$name: $*: $(head -5 "$tmp/out")"; fi
}

script id 'echo 0'
script apt-get 'exit 0'
script python3 'exit 0'
plugin there

# The reference cblas.h, as Debian's libblas-dev has it: without OpenBLAS' own functions.
cat >"$tmp/include/cblas.h" <<'H'
enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 };
void cblas_sgemm(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, int, int, int, float, const float *,
	int, const float *, int, float, float *, int);
H
with=(CFLAGS=-I"$tmp/include")
script cc "exec $cc \"\$@\""
ask --missing
ok complete_machine_is_quiet test $? -eq 0 -a ! -s "$tmp/out"
$cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$tmp/include" -I. -c learn/blas.c -o "$tmp/blas.o" >"$tmp/out" 2>&1
ok reference_cblas_header_compiles test $? -eq 0
for row in 'openblas openblas' 'sqlite3 sqlite3' 'zstd zstd' 'pcre2-8 pcre2' 'protobuf-c protobuf-c'; do
	read -r flag package <<<"$row"
	lacks -l"$flag"
	ask --missing
	ok "stops_without_lib$package" test $? -eq 1
	says "header_without_lib$package" "this build lacks lib$package-dev \(make deps installs"
	says "reason_without_lib$package" "lib$package-dev: .*not_on_this_machine"
done

# Headers of an older version lie before those of the package that is installed.
script cc "exec $cc \"\$@\""
echo 'int ZSTD_compress(void);' >"$tmp/include/zstd.h"
ask
says old_header_is_missing 'still missing: libzstd-dev - as root: apt-get install libzstd-dev'
says old_header_reason 'libzstd-dev: .*ZSTD_compressStream2'
rm "$tmp/include/zstd.h"

with=(CC=no-such-compiler)
ask --missing
says no_compiler 'no compiler: no-such-compiler is not in the PATH'
with=()

# What can go wrong when packages are installed.
lacks -lopenblas
script apt-get 'echo "$*" >>"'"$tmp"'/asked"; exit 0'
ask
says installs 'installing libopenblas-dev $'
ok asks_for_what_lacks_only grep -q 'install -y --no-install-recommends libopenblas-dev$' "$tmp/asked"
script apt-get 'echo "E: Unable to locate package libopenblas-dev" >&2; exit 100'
ask
says apt_fails 'cannot install libopenblas-dev: E: Unable to locate package'
script id 'echo 1000'
ask
says no_root_no_sudo 'cannot install libopenblas-dev: this needs root, and there is no sudo here$'
script sudo 'echo "sudo: a password is required" >&2; exit 1'
ask
says sudo_refuses 'cannot install libopenblas-dev: sudo: a password is required$'
rm "$tmp/fake/apt-get"
ask
says no_apt 'cannot install libopenblas-dev: there is no apt-get here$'

# Versions: the first of the table that is there, each in its own folder, and no others.
script cc "exec $cc \"\$@\""
plugin there
ask --where
ok newest_is_the_default grep -qx "$tmp/deps/$newest" "$tmp/out"
rm "$tmp/deps/$newest"
mkdir -p "$(dirname "$tmp/deps/$second")" && : >"$tmp/deps/$second"
ask --where
ok another_one_does grep -qx "$tmp/deps/$second" "$tmp/out"
plugin gone
ask --where
ok none_is_none test $? -eq 1 -a ! -s "$tmp/out"
ask --plugin 7.7
says no_such_version 'there is no version "7.7" of the CPU plugin; known are .*0\.0\.1'

# Without a compiler nothing can be asked about libraries. Once it is installed, those that lack are installed, too.
plugin there
script id 'echo 0'
rm "$tmp/fake/cc"
printf '#!/bin/bash\nexec %s "${@/#-lzstd/-lnot_on_this_machine}"\n' "$cc" >"$tmp/compiler"
script apt-get "echo \"\$*\" >>'$tmp/asked'
case \"\$* \" in *' gcc '*) install -m 755 '$tmp/compiler' '$tmp/fake/cc' ;; esac"
ask
ok libraries_after_the_compiler grep -q ' libzstd-dev' "$tmp/asked"
script apt-get 'exit 0'
script id 'echo 1000'

# What can go wrong when plugins are fetched.
script cc "exec $cc \"\$@\""
plugin gone
ask
says wheel_without_plugin 'no XLA CPU plugin [0-9.]+ \(it cannot be unpacked\), its tests will be skipped'
script python3 '[ "$3" = --version ] && exit 0
echo "WARNING: Retrying after connection broken by NewConnectionError" >&2
echo "ERROR: No matching distribution found for xla-cpu-pjrt" >&2; exit 1'
ask --tests
says no_network 'no XLA CPU plugin [0-9.]+ \(the package index cannot be reached\), its tests will be skipped'
says no_jax 'no JAX \(.*\); its tests will be skipped'
script python3 '[ "$3" = --version ] && exit 0
echo "ERROR: No matching distribution found for xla-cpu-pjrt" >&2; echo "[notice] more" >&2; exit 1'
ask
says no_such_wheel 'no XLA CPU plugin [0-9.]+ \(ERROR: No matching distribution found'
script python3 'exit 1'
ask
says no_pip 'no XLA CPU plugin [0-9.]+ \(python3 has no pip; as root: apt-get install python3-pip\)'
rm "$tmp/fake/python3"
ask
says no_python 'no XLA CPU plugin [0-9.]+ \(there is no python3 here\)'
