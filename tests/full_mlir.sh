#!/bin/bash
# Every command that takes a program takes StableHLO, as text and as bytecode, and a folder that --xla_dump_to wrote.
# tests/text/step.mlir and step.mlirbc come from one jax.export. If jax is installed (VANTAGE_JAX names another python),
# it exports and dumps anew.
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=${BIN:-bin} python=${VANTAGE_JAX:-python3} failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
ok() { # NAME, words the output must hold, --, command that must succeed
	local name=$1 words=() out w
	shift
	while [ "$1" != -- ]; do words+=("$1"); shift; done
	shift
	out=$("$@" 2>&1) || { echo "FAIL: $name: exit status $?: $(tail -3 <<<"$out")"; failed=1; return; }
	for w in "${words[@]}"; do
		grep -qE -- "$w" <<<"$out" && continue
		echo "FAIL: $name: no \"$w\" in: $(tail -5 <<<"$out")"
		failed=1
		return
	done
	echo "pass: $name"
}
refuses() { # NAME, words, --, command that must fail with them
	local name=$1 words=() out w
	shift
	while [ "$1" != -- ]; do words+=("$1"); shift; done
	shift
	out=$("$@" 2>&1) && { echo "FAIL: $name: taken: $(tail -3 <<<"$out")"; failed=1; return; }
	for w in "${words[@]}"; do
		grep -qE -- "$w" <<<"$out" || { echo "FAIL: $name: no \"$w\" in: $out"; failed=1; return; }
	done
	echo "pass: $name"
}
content() { "$BIN/inspect" --json "$1" 2>/dev/null | grep content_hash; }
same_content() { [ -n "$(content "$1")" ] && [ "$(content "$1")" = "$(content "$2")" ]; }

# The same commands alone in a folder, where no plugin is found.
mkdir -p "$tmp/alone/bin"
cp "$BIN/inspect" "$BIN/vantage-worker" "$tmp/alone/bin/"
alone() { env -u VANTAGE_PLUGIN_DIR -u VIRTUAL_ENV -u CONDA_PREFIX HOME="$tmp" "$tmp/alone/bin/inspect" "$@"; }
if alone --device cpu examples/graphs/tiny/chain.pb.zst >/dev/null 2>&1; then
	echo "skip: no_plugin: one is installed for all"
else
	for how in "" --space "--device sim"; do
		# shellcheck disable=SC2086
		refuses "no_plugin${how:+_${how##*[- ]}}" \
			"step.mlir is MLIR, which only a compiler's plugin can lower" "make deps" -- alone $how \
			tests/text/step.mlir
	done
fi

why=$("$BIN/inspect" --device cpu examples/graphs/tiny/chain.pb.zst 2>&1)
case $why in *"make deps"*) echo "skip: mlir: no plugin"; exit $failed ;; esac
for kind in mlir mlirbc; do
	f=tests/text/step.$kind
	ok "summary_$kind" "while +1" "tanh +1" -- "$BIN/inspect" "$f"
	ok "hlo_$kind" "^HloModule jit_step" "^ENTRY " -- "$BIN/inspect" --hlo "$f"
	ok "space_$kind" "sites found" -- "$BIN/inspect" --space "$f"
done
ok one_content "" -- same_content tests/text/step.mlir tests/text/step.mlirbc
# Both are lowered to one program, so what is done with it is tried once, on the text.
f=tests/text/step.mlir
ok device_mlir "^run .*measured" -- "$BIN/inspect" --device cpu "$f"
ok modelled_mlir "^run .*modelled" -- "$BIN/inspect" --device sim "$f"
ok collect_mlir "[1-9][0-9]* samples" -- "$BIN/collect" --wait --graph "$f" -d "$tmp/runs.sqlite" -n 3
ok search_mlir "default" -- "$BIN/search" --wait --graph "$f" -o "$tmp/mlir" --budget 3 --verdict-seconds 1
ok tuned_mlir "^jit_step" "tanh +[1-9]" -- "$BIN/inspect" "$tmp/mlir/tuned.pb"
# Which kinds are decided follows from the program as it was given, whatever its form, and not from what the compiler
# made of it, which may promise more or less.
cat >"$tmp/layer.mlir" <<'END'
module @jit_layer {
  func.func public @main(%x: tensor<4x32x32x16xf32>, %k: tensor<3x3x1x16xf32>) -> tensor<4x32x32x16xf32> {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64}
      : (tensor<4x32x32x16xf32>, tensor<3x3x1x16xf32>) -> tensor<4x32x32x16xf32>
    return %0 : tensor<4x32x32x16xf32>
  }
}
END
"$BIN/inspect" --hlo "$tmp/layer.mlir" >"$tmp/layer.hlo"
for form in mlir hlo; do
	ok "kinds_$form" "so --space rewrite,fusion" -- "$BIN/search" --wait --graph "$tmp/layer.$form" \
		-o "$tmp/$form.kinds" --budget 0
done
refuses bad_mlir "cannot be compiled" -- "$BIN/inspect" - <<<"module { what }"

# A dump folder, as XLA names its files.
mkdir "$tmp/dump"
"$BIN/inspect" --hlo tests/text/step.mlir >"$tmp/dump/module_0003.jit_step.before_optimizations.txt"
: >"$tmp/dump/module_0003.jit_step.cpu_after_optimizations.txt"
ok dump_space "sites found" -- "$BIN/inspect" --space "$tmp/dump"
ok dump_device "^run .*measured" -- "$BIN/inspect" --device cpu "$tmp/dump"
ok dump_collect "[1-9][0-9]* samples" -- "$BIN/collect" --wait --graph "$tmp/dump" -d "$tmp/runs.sqlite" -n 3
"$BIN/inspect" --hlo examples/graphs/tiny/chain.pb.zst >"$tmp/dump/module_0001.jit_f.before_optimizations.txt"
for program in search collect; do
	refuses "dump_$program" "holds 2 programs" "jit_step.*kB" "jit_f.*kB" -- "$BIN/$program" --wait \
		--graph "$tmp/dump" --seconds 5 \
		-d "$tmp/runs.sqlite"
done

if ! "$python" -c "import jax" 2>/dev/null; then
	echo "skip: mlir_jax: jax is not installed"
	exit $failed
fi
cat >"$tmp/export.py" <<'END'
import sys, jax, jax.numpy as jnp, jax.export as export
f = jax.jit(lambda w, x: jax.nn.softmax(jnp.tanh(x @ w)))
a, b = (jax.ShapeDtypeStruct(s, jnp.float32) for s in ((64, 64), (32, 64)))
e = export.export(f)(a, b)
open(sys.argv[1] + "/new.mlir", "w").write(e.mlir_module())
open(sys.argv[1] + "/new.mlirbc", "wb").write(e.mlir_module_serialized)
f(jnp.ones((64, 64)), jnp.ones((32, 64)))
END
XLA_FLAGS="--xla_dump_to=$tmp/run" JAX_PLATFORMS=cpu "$python" "$tmp/export.py" "$tmp"
for f in new.mlir new.mlirbc; do ok "jax_$f" "sites found" -- "$BIN/inspect" --space "$tmp/$f"; done
ok jax_one_content "" -- same_content "$tmp/new.mlir" "$tmp/new.mlirbc"
refuses jax_dump_several "programs; name one" "jit__lambda.before_optimizations.txt" -- "$BIN/inspect" "$tmp/run"
find "$tmp/run" -name '*before_optimizations.txt' ! -name '*lambda*' -delete
ok jax_dump_one "sites found" -- "$BIN/inspect" --space "$tmp/run"
exit $failed
