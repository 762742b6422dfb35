# SPDX-License-Identifier: Apache-2.0
"""Take the network out of a released ONNX file, to train it further: the weights that the shipped small detector and
the shipped speaker model started from were not kept.

    python3 -m export.recover_weights --model detector-small-2026-11-22.onnx --size small --cache CACHE --out FOLDER

--size is that of a detector, or "speaker". Writes FOLDER/last.pt, for train/detector.py and train/speaker.py
--start-from. In the file, normalisation is folded into the convolutions: its statistics are measured again on crops of
CACHE, so that the function does not change, except for 8-bit rounding. Needs the Python package onnx.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from data.corpus_cache import CorpusCache
from export.quantise import training_windows
from features.recipe import FEATURES, WINDOW_SAMPLES
from features.speaker_recipe import FEATURES as SPEAKER_FEATURES
from networks.detector import SIZES, Detector
from networks.speaker import SpeakerNetwork

SPEAKER = "speaker"


def new_network(size):
    return SpeakerNetwork(SPEAKER_FEATURES["bands"]) if size == SPEAKER else Detector(**SIZES[size])


def module_of(node_name):
    """ "blocks.0.body.3" of "/blocks/blocks.0/body/body.3/Conv": in nested scopes the inner one has the whole name."""
    parts = node_name.strip("/").split("/")[:-1]
    return ".".join(part for part, following in zip(parts, [*parts[1:], ""]) if not following.startswith(f"{part}."))


def stored_tensors(graph):
    """Initialisers by name; 8-bit ones also as numbers, by the name of their dequantiser."""
    tensors = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    for node in graph.node:
        if node.op_type == "DequantizeLinear" and node.input[0] in tensors:
            values, scale, zero = (tensors[name].astype(np.float32) for name in node.input)
            axes = (-1,) + (1,) * (values.ndim - 1)
            tensors[node.output[0]] = (
                (values - zero.reshape(axes)) * scale.reshape(axes) if scale.ndim else (values - zero) * scale
            )
    return tensors


def parameters_of(path):
    """{"module.weight": tensor}, with biases from folded normalisation as "module.bias"."""
    graph = onnx.load(str(path)).graph
    tensors, found = stored_tensors(graph), {}
    names = {
        "Conv": ["weight", "bias"],
        "Gemm": ["weight", "bias"],
        "BatchNormalization": ["weight", "bias", "running_mean", "running_var"],
    }
    for node in graph.node:
        if node.op_type in names:
            for kind, name in zip(names[node.op_type], node.input[1:]):
                found[f"{module_of(node.name)}.{kind}"] = torch.from_numpy(np.array(tensors[name]))
    return found


def normalised_pairs(network):
    """[(convolution's name, its normalisation)] in the order of computation."""
    pairs, before = [], None
    for name, module in network.named_modules():
        if isinstance(module, nn.BatchNorm2d):
            pairs.append((before, module))
        elif isinstance(module, nn.Conv2d):
            before = name
    return pairs


@torch.no_grad()
def rebuild(size, parameters, windows):
    """A network with the same function. `windows`: [n, 1, bands, frames], for the normalisations' statistics."""
    network, parameters = new_network(size), dict(parameters)
    pairs = normalised_pairs(network)
    biases = [parameters.pop(f"{name}.bias", None) for name, _ in pairs]
    missing, unexpected = network.load_state_dict(parameters, strict=False)
    own = {f"{name}." for name, module in network.named_modules() if isinstance(module, nn.BatchNorm2d)}
    lacking = [
        name for name in missing if not any(name.startswith(start) for start in own) and "num_batches" not in name
    ]
    if lacking or unexpected:
        raise ValueError(f"lacking: {lacking}; unexpected: {unexpected}")
    sums = [[0.0, 0.0, 0] for _ in pairs]
    for (_, norm), bias, found in zip(pairs, biases, sums):
        norm.weight.fill_(float(np.sqrt(1 + norm.eps)))
        norm.bias.copy_(bias)

        def note(_, inputs, found=found):
            x = inputs[0].double()
            found[0] += x.sum((0, 2, 3))
            found[1] += x.square().sum((0, 2, 3))
            found[2] += x.numel() // x.shape[1]

        norm.hook = norm.register_forward_pre_hook(note)
    network.eval()
    for batch in torch.from_numpy(windows).split(16):
        network(batch)
    for (_, norm), bias, (total, squares, count) in zip(pairs, biases, sums):
        norm.hook.remove()
        del norm.hook
        mean = total / count
        variance = (squares / count - mean * mean).clamp_min(1e-8)
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)
        norm.weight.copy_((variance + norm.eps).sqrt())
        norm.bias.copy_(bias + mean)
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--size", choices=[*SIZES, SPEAKER], required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    recipe = SPEAKER_FEATURES if options.size == SPEAKER else FEATURES
    windows = np.concatenate(training_windows(CorpusCache(options.cache), recipe, WINDOW_SAMPLES))
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(rebuild(options.size, parameters_of(options.model), windows).state_dict(), options.out / "last.pt")


if __name__ == "__main__":
    main()
