#!/bin/bash
# Follows examples/run in an empty folder: builds the C program by its own command line, and runs the Python one with a
# Python that has jax (VANTAGE_JAX names it, if python3 has none). Both run the default and the tuned program, whose
# outputs must agree. The gain is not judged here; bench/again.py does that.
set -u
. tests/script.sh
bin=$(realpath "${BIN:-bin}") root=$(realpath .) core=${CORE:-0}
search=$bin/search plugin=$(DEPS=$(realpath -m "${DEPS:-.deps}") tests/deps --where)
headers=$(realpath -m "${DEPS:-.deps}")/xla_plugins
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir
[ -e "$plugin" ] && [ -x "$search" ] || { echo "skip: run_tuned: no plugin"; exit 0; }
cd "$dir" || exit 1
# A program whose result lies column by column, as JAX's export has it where it is transposed last.
"$bin/inspect" --hlo "$root/examples/graphs/tiny/chain.pb.zst" |
	sed 's/->f32\[128,128\]{1,0}}/->f32[128,128]{0,1}}/; s/ROOT %add.1 = \(.*\)/%add.1 = \1\
  ROOT %turned = f32[128,128]{0,1} transpose(%add.1), dimensions={1,0}/' >turned.hlo
for g in chain loop nothing turned; do
	from=$root/examples/graphs/tiny/$g.pb.zst tries=20 also=
	[ $g != turned ] || from=turned.hlo
	[ $g != nothing ] || tries=0 also=--no-codegen # whether its one product is faster by other code is luck
	"$search" -q --core "$core" --graph "$from" --out $g.tuned --budget $tries $also \
		--verdict-seconds 1 --json >$g.json 2>talk || fail "$g: $(cat talk)"
done
tuned=$(grep -c '"tuned":true' chain.json) # where nothing is surely faster, the default is its own tuned program
cmp -s nothing.tuned/default.pb nothing.tuned/tuned.pb && [ ! -s nothing.tuned/options.txt ] ||
	fail "the default is not itself"
done_ search_for_something_to_run

agree() { # what was said
	local differ
	differ=$(sed -n 's/.*outputs differ by \(.*\)/\1/p' "$1")
	awk "BEGIN {exit !(\"$differ\" != \"\" && ${differ:-1} < 1e-5)}" ||
		fail "$1: outputs differ by \"$differ\": $(tail -3 "$1")"
	sed -n "s/^default .*/$1: &/p" "$1"
}

if command -v protoc-c >/dev/null; then
	mkdir schemas && cp "$root"/schemas/{hlo,compile_options}.proto "$root/schemas/dtype.def" schemas &&
		mkdir -p examples .deps &&
		cp -r "$root/examples/run" examples && ln -s "$headers" .deps/xla_plugins
	sed -n 's/^ \*\t\(protoc-c .*\)/\1/p; /^ \*\tcc /,/-lm/s/^ \*//p' examples/run/run_tuned.c >build
	[ "$(wc -l <build)" -eq 3 ] || fail "no commands in run_tuned.c"
	bash -e build >log 2>&1 && [ ! -s log ] || fail "building: $(head -3 log)"
	for g in chain loop nothing turned; do
		taskset -c "$core" ./run_tuned "$plugin" $g.tuned >$g.c 2>&1 || fail "$g: status $?"
		agree $g.c
	done
	[ "$tuned" -eq 0 ] || grep -q 'loaded from tuned.exe' chain.c || fail "tuned.exe is no good: $(cat chain.c)"
	mkdir bare && cp chain.tuned/{default.pb,tuned.pb,options.txt} bare && echo noise >bare/tuned.exe
	taskset -c "$core" ./run_tuned "$plugin" bare >bare.c 2>&1
	grep -q 'compiled from tuned.pb' bare.c || fail "$(cat bare.c)"
	agree bare.c
	done_ from_c

	# Every type that a buffer can have: x + x against x + x + x, which is about what inputs and outputs must differ
	# by.
	sum() { # TYPE OPERATION TERMS
		printf 'HloModule m\nENTRY e {\n  x1 = %s[3,5]{1,0} parameter(0)\n' "$1"
		for ((i = 2; i <= $3; i++)); do
			printf '  %sx%d = %s[3,5]{1,0} %s(x%d, x1)\n' "$([ $i -eq "$3" ] && echo 'ROOT ')" $i "$1" \
				"$2" $((i - 1))
		done
		echo '}'
	}
	types=$(sed -n 's/^HOST_DTYPE(.*"\(.*\)".*/\1/p' schemas/dtype.def)
	[ "$(wc -w <<<"$types")" -ge 28 ] || fail "only these types: $types"
	for t in $types; do
		mkdir "$t" && : >"$t/options.txt"
		for terms in 2 3; do
			sum "$t" "$([ "$t" = pred ] && echo xor || echo add)" $terms >sum.hlo
			"$search" -q --device sim --graph sum.hlo --out sum --budget 0 >log 2>&1 ||
				fail "$t: $(cat log)"
			mv sum/default.pb "$t/$([ $terms -eq 2 ] && echo default || echo tuned).pb" && rm -r sum
		done
		timeout 60 ./run_tuned "$plugin" "$t" >"$t.c" 2>&1
		differ=$(sed -n 's/.*outputs differ by \(.*\)/\1/p' "$t.c")
		case $t in f* | bf* | c*) low=0.5 ;; *) low=1 ;; esac
		awk "BEGIN {exit !(${differ:-0} >= $low && ${differ:-0} <= 1.5)}" || fail "$t: $(tail -1 "$t.c")"
	done
	done_ from_c_every_type
else
	echo "skip: from_c: no protoc-c"
fi

python=${VANTAGE_JAX:-python3}
if "$python" -c 'import jax' 2>/dev/null; then
	for g in chain loop; do # of nothing to decide C has shown it
		taskset -c "$core" "$python" "$root/examples/run/run_tuned.py" $g.tuned >$g.py 2>&1 ||
			fail "$g: $(tail -1 $g.py)"
		agree $g.py
		taskset -c "$core" "$python" "$root/examples/run/run_tuned.py" $g.tuned "$plugin" >$g.so 2>&1 ||
			fail "$g with the plugin: $(tail -1 $g.so)"
		agree $g.so
	done
	done_ from_python

	# The plugin gets jaxlib's LAPACK; without it the program cannot run, and with jaxlib alone it forgets layouts.
	"$search" -q --core "$core" --graph "$root/tests/solve.hlo" --out solve.tuned --space fusion --budget 2 \
		--verdict-seconds 0.5 >solve.log 2>&1 || fail "$(cat solve.log)"
	taskset -c "$core" "$python" "$root/examples/run/run_tuned.py" solve.tuned "$plugin" >solve.so 2>&1 ||
		fail "solve: $(tail -1 solve.so)"
	agree solve.so
	if [ -x ./run_tuned ]; then
		taskset -c "$core" ./run_tuned "$plugin" solve.tuned >solve.c 2>&1 && fail "has LAPACK: $(cat solve.c)"
		grep -q 'lapack_spotrf_ffi' solve.c || fail "not named: $(cat solve.c)"
	fi
	done_ lapack_is_lent

	# A layout that jaxlib loses on its way through MLIR, so that it computes something else.
	cat >columns.hlo <<-'END'
		HloModule columns
		ENTRY e {
		  p = f32[4,8]{1,0} parameter(0)
		  t = f32[8,4]{0,1} transpose(p), dimensions={1,0}
		  ROOT c = f32[8,4]{1,0} copy(t)
		}
	END
	"$search" -q --core "$core" --graph columns.hlo --out columns --budget 0 >columns.log 2>&1 ||
		fail "$(cat columns.log)"
	echo xla_disable_hlo_passes=fusion >columns/options.txt
	"$python" "$root/examples/run/run_tuned.py" columns >columns.py 2>&1 && fail "took it: $(cat columns.py)"
	grep -q 'name the plugin' columns.py || fail "$(cat columns.py)"
	done_ from_python_layouts_are_not_forgotten

	# Results that differ in their imaginary parts only, and a program without results.
	program() { # FILE RESULT
		printf 'HloModule m\nENTRY e {\n  p = c64[8]{0} parameter(0)\n  a = f32[8]{0} real(p)\n' >odd.hlo
		printf '  b = f32[8]{0} imag(p)\n  n = f32[8]{0} negate(b)\n  ROOT r = %s\n}\n' "$2" >>odd.hlo
		"$search" -q --device sim --graph odd.hlo --out odd --budget 0 >log 2>&1 || fail "$1: $(cat log)"
		mkdir -p "${1%/*}" && : >"${1%/*}/options.txt" && mv odd/default.pb "$1" && rm -r odd
	}
	program imaginary/default.pb 'c64[8]{0} complex(a, b)'
	program imaginary/tuned.pb 'c64[8]{0} complex(a, n)'
	program none/default.pb '() tuple()'
	cp none/default.pb none/tuned.pb
	for g in imaginary none; do
		taskset -c "$core" "$python" "$root/examples/run/run_tuned.py" $g >$g.py 2>&1 ||
			fail "$g: $(tail -1 $g.py)"
	done
	differ=$(sed -n 's/.*outputs differ by \(.*\)/\1/p' imaginary.py)
	awk "BEGIN {exit !(${differ:-0} > 0.5)}" || fail "imaginary parts differ by ${differ:-nothing}"
	grep -q 'outputs differ by 0$' none.py || fail "$(cat none.py)"
	done_ from_python_odd_results
else
	echo "skip: from_python: no Python with jax (VANTAGE_JAX may name one)"
fi
exit $failed
