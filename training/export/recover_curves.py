# SPDX-License-Identifier: Apache-2.0
"""Take the networks on curves out of a joined ONNX file, to train them further if their weights were not kept.

    python3 -m export.recover_curves --model ../models/detector-large-2026-11-25.onnx --part mean_spectrum --bank BANK
        --out FOLDER

Writes FOLDER/0/last.pt and so on, for window_curves/train.py --start-from. In the file, normalisation is folded into
the convolutions: its statistics are measured again on crops of BANK (window_curves/bank.py), so that the function does
not change. Needs the Python package onnx.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from export.join_curves import PARTS, parts_in
from window_curves.network import CurveNetwork
from window_curves.train import read_bank

CROPS = 512  # for the statistics


def numbers_of_networks(part):
    """The nodes with numbers of each network, in order: [{operator: [arrays of each node]}]."""
    numbers = {number.name: numpy_helper.to_array(number) for number in part.numbers}
    networks = {}
    for node in part.nodes:
        if node.op_type == "Identity" and node.input[0] in numbers:  # equal parts of two networks are stored once
            numbers[node.output[0]] = numbers[node.input[0]]
        if node.op_type in ("BatchNormalization", "Conv", "Gemm"):
            network = next(piece for piece in node.name.split("/") if piece.startswith("networks."))
            arrays = [numbers[name] for name in node.input if name in numbers]
            networks.setdefault(network, {}).setdefault(node.op_type, []).append(arrays)
    return [networks[name] for name in sorted(networks, key=lambda name: int(name.split(".")[1]))]


@torch.no_grad()
def recovered(kind, numbers, curves):
    """The network with these numbers, in `eval()`; `curves`: float32 [crops, curves, bins] of training."""
    network = CurveNetwork(kind).eval()
    copy = lambda tensor, array: tensor.copy_(torch.from_numpy(np.array(array)).reshape(tensor.shape))
    ((mean, variance),) = numbers["BatchNormalization"]
    copy(network.scale.running_mean, mean)
    copy(network.scale.running_var, variance)
    convolutions = iter(numbers["Conv"])
    said = network.scale(torch.from_numpy(curves))
    for layer in network.body:
        if isinstance(layer, nn.Conv1d):
            weights, bias = next(convolutions)
            copy(layer.weight, weights)
            copy(layer.bias, bias)
        elif isinstance(layer, nn.BatchNorm1d):
            layer.running_mean.copy_(said.mean((0, 2)))
            layer.running_var.copy_(said.var((0, 2)))
            layer.weight.copy_(torch.sqrt(layer.running_var + layer.eps))
            layer.bias.copy_(layer.running_mean)
        said = layer(said)
    ((weights, bias),) = numbers["Gemm"]
    copy(network.head[-1].weight, weights)
    copy(network.head[-1].bias, bias)
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--part", choices=PARTS, required=True)
    parser.add_argument("--bank", required=True)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    curves = read_bank(options.bank)[0][:CROPS].astype(np.float32)
    for index, numbers in enumerate(numbers_of_networks(parts_in(onnx.load(options.model))[options.part])):
        folder = options.out / str(index)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(recovered(options.part, numbers, curves).state_dict(), folder / "last.pt")


if __name__ == "__main__":
    main()
