#!/usr/bin/env python3
"""Trains the network of learn_throughput in PyTorch Geometric, on the same neighbourhoods, with one thread.

    bench/pyg.py [SECONDS]        from the root of the repository, after `make benches`

Makes a virtual environment with torch and torch_geometric from the package index (some gigabytes; kept in
build/pyg), lets learn_throughput write its batches, and trains on them: forward, loss, backward, Adam.
Batches are ready-made tensors, so packing them costs nothing here; it does in learn_throughput. There are two ways:
`trimmed` computes a layer only for the nodes that are still needed, as ours does; `plain` computes all of them. All
times are processor times.
"""
import os
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, "build", "pyg")
DUMP = os.path.join(ROOT, "build", "pyg-batches.tmp")


def ensure_environment():
    python = os.path.join(VENV, "bin", "python")
    if not os.path.exists(python):
        subprocess.check_call([sys.executable, "-m", "venv", VENV])
        subprocess.check_call([python, "-m", "pip", "install", "-q", "torch", "torch_geometric", "numpy"])
    if os.path.realpath(sys.prefix) != os.path.realpath(VENV):
        os.execv(python, [python] + sys.argv)


def read_batches(path, node_features, flip_features):
    import numpy as np
    import torch

    data = open(path, "rb").read()
    at, batches = 0, []

    def take(kind, *shape):
        nonlocal at
        n = int(np.prod(shape))
        v = np.frombuffer(data, kind, n, at).reshape(shape)
        at += v.nbytes
        return v

    def edges(first, to):
        rows = np.repeat(np.arange(len(first) - 1), np.diff(first))
        return torch.from_numpy(np.stack([to.astype(np.int64), rows.astype(np.int64)]))

    while at < len(data):
        n3, n2, n1, n0, e_op, e_user, flips = struct.unpack_from("7I", data, at)
        at += 28
        b = {"n": [n3, n2, n1, n0]}
        b["x"] = torch.from_numpy(take(np.float32, n3, node_features).copy())
        b["op"] = torch.from_numpy(take(np.uint16, n3).astype(np.int64))
        first, to = take(np.uint32, n2 + 1), take(np.uint32, e_op)
        b["operands"] = edges(first, to)
        first, to = take(np.uint32, n2 + 1), take(np.uint32, e_user)
        b["users"] = edges(first, to)
        b["row"] = torch.from_numpy(take(np.uint32, flips).astype(np.int64))
        b["f"] = torch.from_numpy(take(np.float32, flips, flip_features).copy())
        b["y"] = torch.from_numpy(take(np.float32, flips, 2).copy())
        # Per layer: the edges that end in a row still needed.
        b["layers"] = [[e[:, e[1] < n] for e in (b["operands"], b["users"])] for n in (n2, n1, n0)]
        batches.append(b)
    return batches


def make_network(node_features, flip_features, width, trimmed):
    import torch
    from torch import nn
    from torch_geometric.nn import SAGEConv

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.op = nn.Embedding(256, width)
            self.input = nn.Linear(node_features, width)
            self.norm = nn.LayerNorm(width)
            self.operands = nn.ModuleList(SAGEConv(width, width, bias=False) for _ in range(3))
            self.users = nn.ModuleList(SAGEConv(width, width, root_weight=False, bias=False) for _ in range(3))
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
            self.head1, self.head2 = nn.Linear(width + flip_features, width), nn.Linear(width, width)
            self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.out, self.skip = nn.Linear(width, 3), nn.Linear(flip_features, 3, bias=False)

        def forward(self, b):
            h = torch.relu(self.norm(self.input(b["x"]) + self.op(b["op"])))
            for l in range(3):
                n = b["n"][l + 1] if trimmed else b["n"][0]
                operands, users = b["layers"][l] if trimmed else (b["operands"], b["users"])
                z = self.operands[l]((h, h[:n]), operands) + self.users[l]((h, h[:n]), users)
                h = h[:n] + torch.relu(self.norms[l](z))
            u = torch.relu(self.n1(self.head1(torch.cat([h[b["row"]], b["f"]], 1))))
            u = u + torch.relu(self.n2(self.head2(u)))
            return self.out(u) + self.skip(b["f"])

    return Network()


def rate(batches, seconds, sizes, trimmed):
    import torch
    from torch.nn import functional as F

    torch.manual_seed(1)
    net = make_network(*sizes, 64, trimmed)
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3)

    def step(b):
        out, y = net(b), b["y"]
        loss = F.huber_loss(out[:, 0], y[:, 0]) + F.binary_cross_entropy_with_logits(out[:, 1], y[:, 1])
        loss = loss + (y[:, 1] * F.huber_loss(out[:, 2], y[:, 0], reduction="none")).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1)
        optimiser.step()

    for b in batches[:3]:
        step(b)
    start, steps = time.process_time(), 0
    while time.process_time() - start < seconds:
        step(batches[steps % len(batches)])
        steps += 1
    return steps * 256 / (time.process_time() - start)


def main():
    ensure_environment()
    import torch
    import torch_geometric

    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    bench = os.path.join(ROOT, "build", "release", "bench", "learn_throughput")
    ours = subprocess.check_output([bench, str(seconds), DUMP], cwd=ROOT, text=True)
    print(ours.strip())
    mine = float(ours.split()[1])
    sizes = [int(x) for x in ours.split("features: ")[1].split()[:2]]
    batches = read_batches(DUMP, *sizes)
    os.remove(DUMP)
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}, one thread:")
    for name, trimmed in (("trimmed", True), ("plain", False)):
        theirs = rate(batches, seconds, sizes, trimmed)
        print(f"  {name}: {theirs:.0f} samples/s; ours is {mine / theirs:.1f} times as fast")


if __name__ == "__main__":
    main()
