#!/bin/bash
# The examples in Python, each to its end, with small budgets and verdicts of a second: what they assert holds, and they
# say what came out. They run cell by cell, as a notebook does, and what a cell ends with must be able to draw itself.
# LONG_TESTS=1 gives the dearest two more evaluations and samples, which take the same paths again.
set -u
jax=${VANTAGE_JAX:-python3}
"$jax" -c 'import jax' 2>/dev/null || { echo "skip: examples: $jax has no jax"; exit 0; }
PYTHONPATH=python "$jax" -c 'from vantage.native import library; library()' 2>/dev/null ||
	{ echo "skip: examples: there is no plugin"; exit 0; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$dir/cache XDG_DATA_HOME=$dir/data TMPDIR=$dir
short='import ast, sys, vantage
tune = vantage.tune
def quick(*args, seconds=None, **how):
    return tune(*args, seconds=seconds and min(seconds, 5), search_options=["--verdict-seconds", "1"], **how)
vantage.tune = quick
sys.argv[:] = sys.argv[1:]
cells, names = open(sys.argv[0]).read().split("\n# %%"), {"__name__": "__main__"}
wanted = 1 if sys.argv[0].endswith("first.py") else 5
assert len(cells) >= wanted, f"{len(cells)} cells"
for cell in cells:
    if cell.startswith(" [markdown]\n"):
        assert not ast.parse(cell.partition("\n")[2]).body, f"a cell of text has code: {cell}"
        continue
    body = ast.parse(cell if cell is cells[0] else cell.partition("\n")[2]).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), sys.argv[0], "exec"), names)
    if last:
        shown = eval(compile(ast.Expression(last.value), sys.argv[0], "eval"), names)
        assert shown is None or isinstance(shown, str) or shown._repr_html_().startswith("<"), shown'
example() { # NAME WANTED [ARGUMENT]: a line of what it prints matches
	if ! timeout 1800 "$jax" -c "$short" "examples/python/$1.py" ${3:+"$3"} >"$dir/out" 2>"$dir/err"; then
		echo "FAIL: $1: $(tail -2 "$dir/err")"
	elif ! grep -qE "$2" "$dir/out"; then
		echo "FAIL: $1: no \"$2\" in: $(cat "$dir/out")"
	else
		echo "pass: $1"
	fi
}
example first '^largest difference: (0\.0|[0-9.]+e-0[6-9])$' # as far as rounding takes numbers of about 1
evaluations=$([ -n "${LONG_TESTS:-}" ] && echo 3 || echo 1) samples=$([ -n "${LONG_TESTS:-}" ] && echo 24 || echo 10)
example transformer 'loss after 5 steps' "$evaluations"
example memory '(needs .* less temporary memory|default is the answer|[Nn]othing)' 1
example night "^normal: $samples measured decisions" "$samples"
