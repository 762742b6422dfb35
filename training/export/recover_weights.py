# SPDX-License-Identifier: Apache-2.0
"""Take the networks out of a shipped ONNX file, to train them further if their weights were not kept.

    python3 -m export.recover_weights --model ../models/detector-small-2026-11-25.onnx --sizes small --cache CACHE
        --out FOLDER

--sizes names the detectors inside, in their order, or is "speaker" for a speaker model. Writes FOLDER/0/last.pt and
settings.json, and so on, for train/detector.py --start-from, train/teach.py, export/detector.py and train/speaker.py.
In the file, normalisation is folded into the convolutions: its statistics are measured again on crops of CACHE, so that
the function does not change, except for 8-bit rounding. Linear bands only; skips the networks on curves from
export/join_curves.py. Needs the Python package onnx.
"""

import argparse
import json
import re
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from data.corpus_cache import CorpusCache
from export.join_curves import PARTS
from export.quantise import training_windows
from features.recipe import FEATURES, WINDOW_SAMPLES
from features.speaker_recipe import FEATURES as SPEAKER_FEATURES
from networks.detector import SIZES, Detector
from networks.speaker import SpeakerNetwork

SPEAKER = "speaker"
ADDED = tuple(f"{name}/" for name in PARTS)  # prefixes of nodes that are not part of the detector


def new_network(size):
    return SpeakerNetwork(SPEAKER_FEATURES["bands"]) if size == SPEAKER else Detector(**SIZES[size])


def module_of(node_name):
    """("blocks.0.body.3", 1) of "/blocks/blocks.0/body/body.3_1/Conv", its second use: in nested scopes the inner one
    has the whole name."""
    parts = node_name.strip("/").split("/")[:-1]
    member = re.fullmatch(r"(.*?)(?:_(\d+))?", parts[-1])
    parts[-1] = member[1]
    kept = [part for part, following in zip(parts, [*parts[1:], ""]) if not following.startswith(f"{part}.")]
    return ".".join(kept), int(member[2] or 0)


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


def parameters_of(path, sizes):
    """Per detector {"module.weight": tensor}, with biases from folded normalisation as "module.bias"."""
    graph = onnx.load(str(path)).graph
    tensors, found = stored_tensors(graph), [{} for _ in sizes]
    modules = [dict(new_network(size).named_modules()) for size in sizes]
    names = {
        "Conv": ["weight", "bias"],
        "Gemm": ["weight", "bias"],
        "BatchNormalization": ["weight", "bias", "running_mean", "running_var"],
    }
    for node in graph.node:
        if node.op_type in names and not node.name.startswith(ADDED):
            module, use = module_of(node.name)
            # Only the larger detector has the later blocks.
            owners = [parameters for parameters, own in zip(found, modules) if module in own]
            if use >= len(owners):
                raise ValueError(f"{path} has more of {module} than {' '.join(sizes)}")
            for kind, name in zip(names[node.op_type], node.input[1:]):
                owners[use][f"{module}.{kind}"] = torch.from_numpy(np.array(tensors[name]))
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
    biases = [parameters.pop(f"{name}.bias") for name, _ in pairs]
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
    parser.add_argument("--sizes", nargs="+", choices=[*SIZES, SPEAKER], required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    recipe = SPEAKER_FEATURES if SPEAKER in options.sizes else FEATURES
    windows = np.concatenate(training_windows(CorpusCache(options.cache), recipe, WINDOW_SAMPLES))
    found = parameters_of(options.model, options.sizes)
    for member, (size, parameters) in enumerate(zip(options.sizes, found)):
        folder = Path(options.out) / str(member)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(rebuild(size, parameters, windows).state_dict(), folder / "last.pt")
        (folder / "settings.json").write_text(
            json.dumps({"size": size, "recovered_from": Path(options.model).name, "features": recipe}, indent=1)
        )


if __name__ == "__main__":
    main()
