#!/usr/bin/env python3
"""Times products and convolutions as XLA:CPU computes them, and as calls of oneDNN.

    taskset -c 0 bench/onednn.py

Each is a program of its own, which `bin/inspect --flip` measures in pairs. Printed are microseconds by default, and the
share of these that the call takes. A row whose interval of 95% is wider than a tenth of that is marked with a ~.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRODUCTS = {  # dimensions of both sides and the result, and what is summed over and shared of each side
    "512 x 2,048 x 512": ("512,2048", "2048,512", "512,512", ([1], [0], [], [])),
    "... first side turned": ("2048,512", "2048,512", "512,512", ([0], [0], [], [])),
    "... second side turned": ("512,2048", "512,2048", "512,512", ([1], [1], [], [])),
    "128 x 512 x 512": ("128,512", "512,512", "128,512", ([1], [0], [], [])),
    "1 x 1,024 x 4,096": ("1,1024", "1024,4096", "1,4096", ([1], [0], [], [])),
    "48 of 128 x 64 x 128": ("48,128,64", "48,64,128", "48,128,128", ([2], [1], [0], [0])),
    "32 heads of 256 x 64 x 256": ("4,256,8,64", "4,256,8,64", "4,8,256,256", ([3], [3], [0, 2], [0, 2])),
}
TYPES = (("f32", "f32"), ("bf16", "bf16"), ("bf16", "f32"), ("s8", "s32"))
WINDOWS = {  # pictures, side, features in and out, window, stride
    "1 x 1, 64 to 64": (8, 56, 64, 64, 1, 1),
    "3 x 3, 64 to 64": (8, 28, 64, 64, 3, 1),
    "3 x 3, 256 to 256": (8, 14, 256, 256, 3, 1),
    "3 x 3, 64 to 128, every second": (8, 28, 64, 128, 3, 2),
    "7 x 7, 3 to 32, every second": (8, 112, 3, 32, 7, 2),
    "3 x 3, each of 128": (8, 28, 128, 0, 3, 1),
}


def product(sides, kind, result):
    a, b, y, (sum_a, sum_b, share_a, share_b) = sides
    dims = {"lhs_contracting_dims": sum_a, "rhs_contracting_dims": sum_b, "lhs_batch_dims": share_a,
            "rhs_batch_dims": share_b}
    named = ", ".join(f"{key}={{{','.join(map(str, v))}}}" for key, v in dims.items())
    return (f"  x = {kind}[{a}] parameter(0)\n  w = {kind}[{b}] parameter(1)\n"
            f"  ROOT y = {result}[{y}] dot(x, w), {named}\n")


def window(n, side, inner, outer, size, stride, kind):
    out, low = -(-side // stride), (size - stride + 1) // 2
    high = max((out - 1) * stride + size - side - low, 0)
    groups, inner_each, outer = (inner, 1, inner) if not outer else (1, inner, outer)
    pad = f"{low}_{high}"
    return (f"  x = {kind}[{n},{side},{side},{inner}] parameter(0)\n"
            f"  w = {kind}[{size},{size},{inner_each},{outer}] parameter(1)\n"
            f"  ROOT y = {kind}[{n},{out},{out},{outer}] convolution(x, w), "
            f"window={{size={size}x{size} stride={stride}x{stride} pad={pad}x{pad}}}, "
            f"dim_labels=b01f_01io->b01f, feature_group_count={groups}\n")


def measure(body):
    """Seconds by default, the share that the call takes, and how wide half of its interval is."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.hlo"
        path.write_text(f"HloModule m\n\nENTRY e {{\n{body}}}\n")
        done = subprocess.run([ROOT / "bin/inspect", "--space", "--space-kind", "rewrite", "--flip", "y", "--json",
                               path], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    call = [c for c in told["choices_measured"] if "-by-library" in c["what"]]
    if not call or call[0]["whole_outcome"] != "ok":
        return None
    seconds = told["default_seconds"]
    return seconds, 1 + call[0]["whole"] / seconds, 1.96 * call[0]["whole_se"] / seconds


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    cases = [(f"{name}, {a}" + (f" to {b}" if a != b else ""), product(sides, a, b))
             for name, sides in PRODUCTS.items() for a, b in TYPES]
    cases += [(f"{name}, {kind}", window(*sizes, kind)) for name, sizes in WINDOWS.items() for kind in ("f32", "bf16")]
    for name, body in cases:
        found = measure(body)
        if found:
            seconds, share, half = found
            print(f"| {name} | {1e6 * seconds:,.0f} | {share:.2f}{' ~' if half > 0.1 * share else ''} |", flush=True)


if __name__ == "__main__":
    main()
