#!/bin/bash
# needs: space/shard
# The real partitioner lays a training step out over four devices. Layouts made by hand are priced, and compute the
# numbers of one device; a limit of memory is kept; and shardings.json is applied to the JAX function that the program
# came from, if there is a JAX (VANTAGE_JAX names a Python that has it, if python3 has none).
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=${BIN:-bin} python=${VANTAGE_JAX:-python3}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
[ -e "$(tests/deps --where)" ] || { echo "skip: shard: no plugin"; exit 0; }

cat >"$tmp/step.hlo" <<'END'
HloModule step
ENTRY main {
  w1 = f32[64,128] parameter(0)
  m1 = f32[64,128] parameter(1)
  w2 = f32[128,64] parameter(2)
  x = f32[256,64] parameter(3)
  rate = f32[] constant(0.001)
  h = f32[256,128] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a = f32[256,128] tanh(h)
  y = f32[256,64] dot(a, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  dw2 = f32[128,64] dot(a, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  dh = f32[256,128] dot(y, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  dw1 = f32[64,128] dot(x, dh), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  r1 = f32[64,128] broadcast(rate), dimensions={}
  r2 = f32[128,64] broadcast(rate), dimensions={}
  old = f32[64,128] multiply(m1, r1)
  m1n = f32[64,128] add(old, dw1)
  p1 = f32[64,128] multiply(m1n, r1)
  w1n = f32[64,128] subtract(w1, p1)
  p2 = f32[128,64] multiply(dw2, r2)
  w2n = f32[128,64] subtract(w2, p2)
  ROOT out = (f32[64,128], f32[64,128], f32[128,64]) tuple(w1n, m1n, w2n)
}
END

search() { "$BIN/search" --space shard --device pod:v5e --wait -q "$@"; }

bad=
for mesh in 4 2x2; do
	for start in data zero fsdp model data-model; do # the best by hand is none: the program is tiny
		search --mesh $mesh --graph "$tmp/step.hlo" --start $start --budget 0 --out "$tmp/o" \
			>"$tmp/said" 2>&1 ||
			bad="$bad; $mesh $start: $(tail -1 "$tmp/said")"
		grep -q "^Its numbers are those of the compiler's own program" "$tmp/said" ||
			bad="$bad; $mesh $start: $(head -2 "$tmp/said")"
	done
done
[ -z "$bad" ] && echo "pass: numbers_are_those_of_one_device" || echo "FAIL: numbers_are_those_of_one_device: $bad"

# On devices that are here, layouts are timed: those made by hand first, and the search begins at the fastest.
bad=
"$BIN/search" --space shard --mesh 2 --device cpu --cores all --wait -q --graph "$tmp/step.hlo" --budget 2 \
	--verdict-seconds 0.5 --json --out "$tmp/o" >"$tmp/json" 2>"$tmp/said" || bad="$(cat "$tmp/said")"
python3 - "$tmp/json" <<'END' || bad="$bad; $(head -c 2000 "$tmp/json")"
import json, sys
said = json.load(open(sys.argv[1]))
rows = [r for r in said["by_hand"] if r["name"] != "found"]
assert len(rows) > 5 and all(r["cost"] > 1e-6 for r in rows), rows
assert said["best_by_hand"] == min(rows, key=lambda r: r["cost"])["name"], said["best_by_hand"]
END
[ -z "$bad" ] && echo "pass: layouts_are_timed_on_devices" || echo "FAIL: layouts_are_timed_on_devices: $bad"

# Without the comparison, from any start, and it says so.
bad=
search --mesh 4 --graph "$tmp/step.hlo" --start fsdp --budget 0 --unverified --out "$tmp/o" >"$tmp/said" 2>&1 &&
	grep -q "^Its numbers were not compared, as --unverified asks" "$tmp/said" || bad="$(head -3 "$tmp/said")"
[ -z "$bad" ] && echo "pass: numbers_are_left_out_if_asked" || echo "FAIL: numbers_are_left_out_if_asked: $bad"

bad=
search --mesh 4 --graph "$tmp/step.hlo" --budget 40 --limit bytes:170KiB --json --out "$tmp/o" \
	>"$tmp/json" 2>"$tmp/said" ||
	bad="$(cat "$tmp/said")"
python3 - "$tmp/json" <<'END' || bad="$bad; $(cat "$tmp/json")"
import json, sys
rows = {r["name"]: r for r in json.load(open(sys.argv[1]))["by_hand"]}
assert rows["none"]["bytes_per_device"] > 170 * 1024 >= rows["found"]["bytes_per_device"], rows
assert rows["data"]["bytes_sent"]["all-reduce"] == 2 * 0.75 * 2 * 64 * 128 * 4, rows["data"]
END
python3 - "$tmp/o" <<'END' 2>"$tmp/said" || bad="$bad; what each is worth: $(cat "$tmp/said")"
import json, sys
folder = sys.argv[1]
found = json.load(open(folder + "/config.json"))
other = {i for i, x in enumerate(found["sites"]) if x["chosen"] != x["default"]}
assert other and {x["site"] for x in found["worth"]} == other, (other, found["worth"])
assert all(x["outcome"] == "ok" and x["cost"] < found["verdict"]["tuned_seconds"] for x in found["worth"])
assert any(x["cost"] for x in found["worth"]), found["worth"]
page = open(folder + "/report.html").read()
assert "What each is worth" in page and "exchanges" in page and "what a device sends in a run" in page
assert page.count("<svg viewBox=") >= 4 # two curves, and what a device does with either layout
END
if [ -z "$bad" ]; then echo "pass: limits_are_kept"; else echo "FAIL: limits_are_kept: $bad"; fi

# What changes nothing is taken back: the answer has few layouts of products, and costs what the search found.
bad=
search --mesh 4 --graph "$tmp/step.hlo" --budget 60 --start none --limit bytes:170KiB --out "$tmp/o" \
	>/dev/null 2>"$tmp/said" &&
	search --mesh 4 --graph "$tmp/step.hlo" --budget 0 --from "$tmp/o" --out "$tmp/p" >/dev/null 2>"$tmp/said" ||
	bad="$(cat "$tmp/said")"
python3 - "$tmp/o" "$tmp/p" <<'END' 2>"$tmp/said" || bad="$bad; $(cat "$tmp/said")"
import json, sys
first, again = (json.load(open(folder + "/config.json")) for folder in sys.argv[1:])
taken, cost = first["taken_back"], lambda x: {r["name"]: r for r in x["by_hand"]}["found"]["cost"]
left = [x for x in first["sites"] if x["chosen"] and x["name"] in ("h", "y", "dw2", "dh", "dw1")]
assert taken["all_asked"] and taken["changed_nothing"] > 0 and taken["prices"] > 0, taken
assert len(left) <= taken["asked"] - taken["changed_nothing"], (left, taken)
assert abs(cost(first) - cost(again)) < 1e-12, (cost(first), cost(again))
assert "changed nothing, and were taken back" in open(sys.argv[1] + "/report.html").read()
END
if [ -z "$bad" ]; then echo "pass: what_changes_nothing_is_taken_back"; else
	echo "FAIL: what_changes_nothing_is_taken_back: $bad"; fi

# A layout that costs more than the one by hand is taken back: afterwards each that is left is worth something.
bad=
sed 's/256/rows/g; s/128/2048/g; s/64/1024/g; s/rows/4096/g' "$tmp/step.hlo" >"$tmp/wide.hlo"
search --mesh 4 --graph "$tmp/wide.hlo" --start random --seed 2 --strategy random --budget 10 --unverified \
	--out "$tmp/o" >/dev/null 2>"$tmp/said" || bad="$(cat "$tmp/said")"
python3 - "$tmp/o" <<'END' 2>"$tmp/said" || bad="$bad; $(cat "$tmp/said")"
import json, sys
found = json.load(open(sys.argv[1] + "/config.json"))
assert found["taken_back"]["cost_more"] > 0 and found["taken_back"]["all_asked"], found["taken_back"]
assert found["worth"] and all(x["cost"] > 0 for x in found["worth"]), found["worth"]
assert "taken back, too" in open(sys.argv[1] + "/report.html").read()
END
if [ -z "$bad" ]; then echo "pass: what_costs_more_is_taken_back"; else
	echo "FAIL: what_costs_more_is_taken_back: $bad"; fi

# A loop that carries two constants and exchanges them, as JAX's random numbers do: with a few passes only the compiler
# aborts after it has shown what was asked for.
bad=
cat >"$tmp/swap.hlo" <<'END'
HloModule swap
%body (q: (s32[], u32[4], u32[4], f32[64,64])) -> (s32[], u32[4], u32[4], f32[64,64]) {
  %q = (s32[], u32[4], u32[4], f32[64,64]) parameter(0)
  %i = s32[] get-tuple-element(%q), index=0
  %a = u32[4] get-tuple-element(%q), index=1
  %b = u32[4] get-tuple-element(%q), index=2
  %x = f32[64,64] get-tuple-element(%q), index=3
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %s = u32[1] slice(%a), slice={[0:1]}
  %r = u32[] reshape(%s)
  %f = f32[] convert(%r)
  %w = f32[64,64] broadcast(%f), dimensions={}
  %y = f32[64,64] multiply(%x, %w)
  ROOT %t = (s32[], u32[4], u32[4], f32[64,64]) tuple(%j, %b, %a, %y)
}
%more (p: (s32[], u32[4], u32[4], f32[64,64])) -> pred[] {
  %p = (s32[], u32[4], u32[4], f32[64,64]) parameter(0)
  %k = s32[] get-tuple-element(%p), index=0
  %n = s32[] constant(5)
  ROOT %c = pred[] compare(%k, %n), direction=LT
}
ENTRY %main (u: f32[64,64], v: f32[64,64]) -> f32[64,64] {
  %u = f32[64,64] parameter(0)
  %v = f32[64,64] parameter(1)
  %d = f32[64,64] dot(%u, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %z = s32[] constant(0)
  %c1 = u32[4] constant({13, 15, 26, 6})
  %c2 = u32[4] constant({17, 29, 16, 24})
  %in = (s32[], u32[4], u32[4], f32[64,64]) tuple(%z, %c1, %c2, %d)
  %l = (s32[], u32[4], u32[4], f32[64,64]) while(%in), condition=%more, body=%body
  ROOT %o = f32[64,64] get-tuple-element(%l), index=3
}
END
search --mesh 4 --graph "$tmp/swap.hlo" --budget 5 --unverified --out "$tmp/o" >"$tmp/out" 2>"$tmp/said" ||
	bad="$(cat "$tmp/said")"
grep -q "^  data .* us" "$tmp/out" || bad="$bad; $(cat "$tmp/out")"
if [ -z "$bad" ]; then echo "pass: constants_that_a_loop_exchanges"; else
	echo "FAIL: constants_that_a_loop_exchanges: $bad"; fi

# StableHLO, which another device lowers: this one would generate code for all that it does not fuse.
bad=
search --mesh 4 --graph tests/text/step.mlir --budget 2 --unverified --out "$tmp/o" >"$tmp/out" 2>"$tmp/said" ||
	bad="$(cat "$tmp/said")"
grep -q "^[* ] none .* us" "$tmp/out" || bad="$bad; $(cat "$tmp/out")"
if [ -z "$bad" ]; then echo "pass: stablehlo"; else echo "FAIL: stablehlo: $bad"; fi

# The model that is shipped guides, unless it is told not to.
bad=
for model in "" none; do
	search --mesh 4 --graph "$tmp/wide.hlo" --budget 5 --unverified --json ${model:+--model $model} --out "$tmp/o" \
		>"$tmp/json.$model" 2>"$tmp/said" || bad="$bad; $(cat "$tmp/said")"
done
python3 - "$tmp/json." "$tmp/json.none" <<'END' 2>"$tmp/said" || bad="$bad; $(cat "$tmp/said")"
import json, sys
shipped, none = (json.load(open(f))["search"]["model"] for f in sys.argv[1:])
assert shipped and shipped.endswith("pod-v5e.vm") and none is None, (shipped, none)
END
if [ -z "$bad" ]; then echo "pass: a_model_guides_unless_told_not_to"; else
	echo "FAIL: a_model_guides_unless_told_not_to: $bad"; fi

# A program that no device can hold whole: the search begins at a layout that fits, also where none by hand does.
cat >"$tmp/big.hlo" <<'END'
HloModule big
ENTRY main {
  w = f32[65536,65536] parameter(0)
  x = f32[1024,65536] parameter(1)
  ROOT y = f32[1024,65536] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
END
cat >"$tmp/sums.hlo" <<'END'
HloModule sums
ENTRY main {
  w = f32[2,65536,65536] parameter(0)
  x = f32[64,2,65536] parameter(1)
  y = f32[2,64,65536] dot(x, w), lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={0},
    rhs_contracting_dims={1}
  ROOT t = f32[2,64,65536] tanh(y)
}
END
bad=
"$BIN/search" --space shard --device pod:v5e --wait --mesh 4 --graph "$tmp/big.hlo" --budget 20 --start none \
	--json --out "$tmp/o" >"$tmp/json" 2>"$tmp/said" &&
	grep -q "the start does not fit; the search begins at the first of [0-9]* others that does" "$tmp/said" ||
	bad="$(cat "$tmp/said")"
"$BIN/search" --space shard --device pod:v5e --wait --mesh 2x4 --graph "$tmp/sums.hlo" --budget 20 \
	--out "$tmp/p" >"$tmp/text" 2>"$tmp/said" &&
	grep -q "no layout made by hand fits; the search begins at the first of [0-9]* others that does" "$tmp/said" &&
	grep -q "first that fits" "$tmp/text" || bad="$bad; $(cat "$tmp/said" "$tmp/text")"
if [ -z "$bad" ]; then echo "pass: what_does_not_fit_is_split_first"; else
	echo "FAIL: what_does_not_fit_is_split_first: $bad"; fi

# What the partitioner refuses is no matter of memory: nothing else is tried, and its own words are told.
printf 'HloModule m\n\nENTRY e {\n  x = f32[8,8] parameter(0)\n' >"$tmp/manual.hlo"
printf '  ROOT y = f32[8,8] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", ' >>"$tmp/manual.hlo"
printf 'custom_call_has_side_effect=true\n}\n' >>"$tmp/manual.hlo"
if search --mesh 2 --graph "$tmp/manual.hlo" --out "$tmp/o" >"$tmp/said" 2>&1; then
	echo "FAIL: what_is_refused_is_told: $(head -3 "$tmp/said")"
elif grep -q "^search: no layout made by hand can be priced: .*GlobalToLocalShape" "$tmp/said"; then
	echo "pass: what_is_refused_is_told"
else
	echo "FAIL: what_is_refused_is_told: $(head -3 "$tmp/said")"
fi

# Nothing is timed here, so nobody waits for cores on which others measure: not to price, and not to compare numbers.
mkdir "$tmp/locks"
held=()
for core in $(seq 0 $(($(nproc --all) - 1))); do
	flock -F "$tmp/locks/vantage-cpu-core$core.lock" sleep 600 &
	held+=($!)
done
for core in $(seq 0 $(($(nproc --all) - 1))); do # until each is held
	while flock -n "$tmp/locks/vantage-cpu-core$core.lock" true; do sleep 0.1; done
done
if VANTAGE_LOCK_DIR=$tmp/locks "$BIN/search" --space shard --device pod:v5e -q --mesh 4 --graph "$tmp/step.hlo" \
	--start model --budget 0 --out "$tmp/o" >"$tmp/said" 2>&1 &&
	grep -q "^Its numbers are those of the compiler's own program" "$tmp/said"; then
	echo "pass: locked_cores_are_no_reason_to_wait"
else
	echo "FAIL: locked_cores_are_no_reason_to_wait: $(head -2 "$tmp/said")"
fi
kill "${held[@]}"

# Where a price takes long, our model says what is worth asking about, and the compiler's price decides.
if [ -e "${DEPS:-.deps}/libtpu/libtpu.so" ]; then
	if "$BIN/search" --space shard --device tpu:v5e:2x2 -q --wait --mesh 4 --graph "$tmp/step.hlo" --budget 2 \
		--json --out "$tmp/o" >"$tmp/json" 2>"$tmp/said" &&
		python3 - "$tmp/json" "$tmp/o" <<'END' 2>"$tmp/said"; then
import json, sys
told = json.load(open(sys.argv[1]))
rows, screen = {r["name"]: r for r in told["by_hand"]}, told["screen"]
asked = screen["asked"]
assert screen["by"] == "pod:v5e" and screen["turns"] > 0 and screen["looked_at"] >= 100, screen
assert all(w > 0 for w in screen["weights"].values()) and screen["weights"]["memory"] != 1, screen # of a tiny program
assert len(asked) <= 2 and all(r["promised"] > 0 for r in asked), asked
best = rows[told["best_by_hand"]]["cost"]
assert rows["found"]["cost"] == min([best] + [r["cost"] for r in asked if r["better"]]), (rows, asked)
page = open(sys.argv[2] + "/report.html").read()
assert "What was asked" in page
END
		echo "pass: the_compiler_decides_among_what_the_model_promises"
	else
		echo "FAIL: the_compiler_decides_among_what_the_model_promises: $(tail -3 "$tmp/said")"
	fi
else
	echo "skip: the_compiler_decides_among_what_the_model_promises: no libtpu (make deps-tpu)"
fi

"$python" -c 'import jax' 2>/dev/null || { echo "skip: jax_takes_layouts: no JAX"; exit 0; }
cat >"$tmp/try.py" <<'END'
import os, subprocess, sys
os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_force_host_platform_device_count=4")
import jax, numpy
search, out = sys.argv[1:]
sys.path.insert(0, "examples/run")
import shardings

def step(params, x):
    def loss(p):
        return (jax.numpy.tanh(x @ p["up"]) @ p["down"] ** 2).mean()
    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

r = numpy.random.default_rng(1)
normal = lambda *size: r.normal(size=size).astype("f4")
args = ({"up": normal(16, 32), "down": normal(32, 16)}, normal(64, 16))
open(out + ".pb", "wb").write(jax.jit(step).lower(*args).compiler_ir("hlo").as_serialized_hlo_module_proto())
subprocess.run([search, "-q", "--wait", "--space", "shard/arguments", "--mesh", "data=2,model=2", "--device", "pod:v5e",
                "--graph", out + ".pb", "--limit", "bytes:9KiB", "--budget", "30", "--out", out], check=True,
               stdout=subprocess.DEVNULL)
found = shardings.load(out + "/shardings.json")
assert set(found.arguments) == {"params['up']", "params['down']", "x"}, found.arguments
fast = found.jit(step, args)
placed = found.place(args)
assert any(len(x.sharding.device_set) == 4 and not x.sharding.is_fully_replicated for x in jax.tree.leaves(placed))
for x, y in zip(jax.tree.leaves(fast(*placed)), jax.tree.leaves(jax.jit(step)(*args))):
    numpy.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-6)
END
if "$python" "$tmp/try.py" "$BIN/search" "$tmp/jax" >"$tmp/said" 2>&1; then
	echo "pass: jax_takes_layouts"
else
	echo "FAIL: jax_takes_layouts: $(tail -3 "$tmp/said")"
fi
