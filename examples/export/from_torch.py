#!/usr/bin/env python3
"""HLO out of PyTorch/XLA: a training step, or the forward pass alone as StableHLO.

    pip install torch==2.9.0 torch_xla==2.9.0
    from_torch.py step.pb           a training step, as HloModuleProto
    from_torch.py forward.mlir      a module's forward pass, as StableHLO

Only the two `save` functions matter: copy the one you need.
"""
import os
import pathlib
import sys

os.environ.setdefault("PJRT_DEVICE", "CPU")
import torch
import torch_xla
import torch_xla.stablehlo


def save_step(path, results):
    """What computes these tensors and has not run yet: call it instead of torch_xla.sync(). Name all
    that the step changes (loss, weights, the optimiser's state), or what makes it is left out."""
    import _XLAC  # comes with torch_xla
    pathlib.Path(path).write_bytes(_XLAC._get_xla_tensors_hlo_proto(list(results)))


def save_forward(path, module, *examples):
    program = torch_xla.stablehlo.exported_program_to_stablehlo(torch.export.export(module, examples))
    pathlib.Path(path).write_bytes(program.get_stablehlo_bytecode())


def network():
    return torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 8))


def training_step(path):
    device = torch_xla.device()
    model = network().to(device)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.zeros(128, 64, device=device), torch.zeros(128, 8, device=device)

    def step():
        optimiser.zero_grad()
        loss = torch.mean((model(x) - y) ** 2)
        loss.backward()
        optimiser.step()
        return loss

    step()  # the first also makes the optimiser's state
    torch_xla.sync()
    loss = step()
    state = [s["momentum_buffer"] for s in optimiser.state.values()]
    save_step(path, [loss, *model.parameters(), *state])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: from_torch.py FILE.pb | FILE.mlir")
    if sys.argv[1].endswith(".mlir"):
        save_forward(sys.argv[1], network(), torch.zeros(128, 64))
    else:
        training_step(sys.argv[1])
