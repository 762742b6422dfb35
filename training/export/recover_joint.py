# SPDX-License-Identifier: Apache-2.0
"""Make of a shipped file with networks on curves the joint network of that function, to train it further.

    python3 -m export.recover_joint --model ../models/detector-medium-2026-11-25.onnx --size middle --cache CACHE
        --out FOLDER

Writes FOLDER/last.pt and settings.json, which train/joint.py --start-from and export/joint.py take. The file has one
network on bands, of --size, and one on each kind of curves. Statistics of normalisation are taken from crops of CACHE,
as export/recover_weights.py does. Needs the Python package onnx.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import torch

from data.corpus_cache import CorpusCache
from export.join_curves import parts_in
from export.quantise import training_windows
from export.recover_curves import numbers_of_networks, recovered
from export.recover_weights import normalised_pairs, parameters_of, rebuild
from features.recipe import SERVED_CURVES, WINDOW_SAMPLES, WITH_CURVES
from networks.detector import SIZES, two_views
from networks.joint import JointDetector


def take_body(network, found):
    """All weights of `found` but those of its head."""
    network.load_state_dict({name: of for name, of in found.state_dict().items() if not name.startswith("head.")})


def enlarge(detector):
    """Gives convolutions before a normalisation the size of new ones, which changes nothing that is said: decay has
    made the last ones so small that 175 steps of training at a rate of 4e-4 moved them by two thirds of their size."""
    for convolution, norm in normalised_pairs(detector):
        weights = dict(detector.named_modules())[convolution].weight
        factor = 1 / (weights.square().mean() * 3 * weights[0].numel()).sqrt()  # PyTorch draws from +-1 / sqrt(inputs)
        for numbers, power in ((weights, 1), (norm.running_mean, 1), (norm.running_var, 2)):
            numbers.mul_(factor**power)
        norm.weight.mul_(((norm.running_var + norm.eps) / (norm.running_var + norm.eps * factor**2)).sqrt())


@torch.no_grad()
def joint_of(path, size, numbers):
    """`numbers`: float32 [crops, numbers], as WITH_CURVES makes them of crops of training."""
    network = JointDetector(size).eval()
    bands, curves = network.split(torch.from_numpy(numbers))
    parts = parts_in(onnx.load(str(path)))
    (parameters,) = parameters_of(path, [size])
    detector = rebuild(size, parameters, bands.numpy())
    enlarge(detector)
    take_body(network.bands, detector)
    norm, _, linear = detector.head
    bias, weights = linear.bias, [linear.weight[0]]
    for kind, own, heard in zip(SERVED_CURVES, network.curves, curves):
        (layers,) = numbers_of_networks(parts[kind])
        found = recovered(kind, layers, heard.numpy())
        take_body(own, found)
        bias = bias + parts[kind].share * found.head[-1].bias
        weights.append(parts[kind].share * found.head[-1].weight[0])
    batches = zip(bands.split(16), *(heard.split(16) for heard in curves))
    said = zip(*(network.vectors(two_views(some), some_curves) for some, *some_curves in batches))
    _, *of_curves = (torch.cat(vectors) for vectors in said)
    # Of the bands the shipped normalisation stays. Curves had none there: the direct layer undoes theirs.
    scale, own = network.scale, network.sizes[0]
    scale.running_mean.copy_(torch.cat([norm.running_mean, *(vectors.mean(0) for vectors in of_curves)]))
    scale.running_var.copy_(torch.cat([norm.running_var, *(vectors.var(0) for vectors in of_curves)]))
    scale.weight[:own], scale.bias[:own] = norm.weight, norm.bias
    weights, deviation, mean = torch.cat(weights), (scale.running_var + scale.eps).sqrt(), scale.running_mean
    network.direct.weight[0] = torch.cat([weights[:own], weights[own:] * deviation[own:]])
    network.direct.bias.copy_(bias + weights[own:] @ mean[own:])
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--size", choices=SIZES, required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    numbers = np.concatenate(training_windows(CorpusCache(options.cache), WITH_CURVES, WINDOW_SAMPLES))
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(joint_of(options.model, options.size, numbers).state_dict(), options.out / "last.pt")
    settings = {"size": options.size, "recovered_from": Path(options.model).name}
    (options.out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")


if __name__ == "__main__":
    main()
