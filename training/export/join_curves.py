# SPDX-License-Identifier: Apache-2.0
"""Join a detector and networks on curves of windows into one file.

    python3 -m export.join_curves --detector FOLDER/ID.onnx --model-id NEW_ID
        --phase-coherence RUN/last.pt .. --phase-coherence-share 0.25
        [--long-phase-coherence RUN/last.pt .. --long-phase-coherence-share 0.55]
        [--calibration CALIBRATION.json] [--operating-point 0.5] [--models FOLDER]

The answer is the detector's logit plus, for each kind of curves, that share of the mean of the networks' logits; the
detector's 8-bit weights stay unchanged.

Convolutions over curves become two-dimensional ones over a single row, which onnxruntime computes in three quarters of
the time. Writes NEW_ID.onnx and its manifest entry into --models (default: models/). The entry of ID in FOLDER's
manifest gives the features; without CALIBRATION.json from judge/calibrate_detector.py the calibration is the identity.
Needs the Python package onnx.
"""

import argparse
import tempfile
from math import prod
from pathlib import Path
from typing import NamedTuple

import onnx
import torch
from onnx import TensorProto, helper

from export.manifest_file import add_entry_options, calibration_in, get_entry, new_entry, put_entry
from features.recipe import curve_fields
from networks.onnx_export import OPSET, write_onnx
from window_curves.curves import SHAPES
from window_curves.network import MeanOfNetworks, load_trained

PARTS = list(SHAPES)


class Part(NamedTuple):
    """The networks on a kind of curves in a joined file: from the tensor `kind/curves`, [batch, curves, 1, bins], to
    `kind/said`, with `kind/` before all their own names."""

    nodes: list
    numbers: list
    share: float


def part_of(kind, network, share):
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "network.onnx"))
        write_onnx(network, torch.zeros(1, *SHAPES[kind]), path, "curves", "said")
        model = onnx.load(path)
    graph = onnx.compose.add_prefix(model, f"{kind}/").graph
    convolve_over_a_row(graph)
    return Part(list(graph.node), list(graph.initializer), share)


def convolve_over_a_row(graph):
    """Makes convolutions and poolings over [batch, curves, bins] two-dimensional, over [batch, curves, 1, bins]."""
    weights = {node.input[1] for node in graph.node if node.op_type == "Conv"}
    for node in graph.node:
        if node.op_type in ("Conv", "MaxPool"):
            for attribute in node.attribute:
                if attribute.name in ("kernel_shape", "strides", "dilations"):
                    attribute.ints[:] = [1, *attribute.ints]
                elif attribute.name == "pads":
                    before, after = attribute.ints
                    attribute.ints[:] = [0, before, 0, after]
    for number in graph.initializer:
        if number.name in weights:
            maps, channels, taps = number.dims
            number.dims[:] = [maps, channels, 1, taps]


def constant(name, values, kind=TensorProto.INT64):
    return helper.make_tensor(name, kind, [len(values)], values)


def joined(detector, parts):
    """The detector's ONNX model with a flat input: its own features, then the curves. `parts`: {kind: Part} in the
    order of PARTS."""
    graph = detector.graph
    (own_input,), (own_output,) = graph.input, graph.output
    own_shape = [axis.dim_value for axis in own_input.type.tensor_type.shape.dim][1:]
    own_size = prod(own_shape)
    names = {own_input.name: "bands", own_output.name: "detector_logit"}
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    sizes = [own_size, *(prod(SHAPES[kind]) for kind in parts)]
    before = [
        helper.make_node("Split", ["features", "sizes"], ["flat_bands", *(f"{kind}/flat" for kind in parts)], axis=1),
        helper.make_node("Reshape", ["flat_bands", "bands_shape"], ["bands"]),
        *(helper.make_node("Reshape", [f"{k}/flat", f"{k}/shape"], [f"{k}/curves"]) for k in parts),
    ]
    after = [
        *(helper.make_node("Mul", [f"{k}/said", f"{k}/share"], [f"{k}/shared"]) for k in parts),
        helper.make_node("Sum", ["detector_logit", *(f"{k}/shared" for k in parts)], ["logit"]),
    ]
    numbers = [
        constant("sizes", sizes),
        constant("bands_shape", [-1, *own_shape]),
        *(constant(f"{kind}/shape", [-1, curves, 1, bins]) for kind, (curves, bins) in SHAPES.items() if kind in parts),
        *(constant(f"{kind}/share", [part.share], TensorProto.FLOAT) for kind, part in parts.items()),
    ]
    of_batch = lambda name, *axes: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *axes])
    made = helper.make_graph(
        [*before, *graph.node, *(node for part in parts.values() for node in part.nodes), *after],
        "detector",
        [of_batch("features", sum(sizes))],
        [of_batch("logit")],
        [*graph.initializer, *(number for part in parts.values() for number in part.numbers), *numbers],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=detector.ir_version)
    onnx.checker.check_model(model)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detector", required=True, type=Path)
    for kind in PARTS:
        option = f"--{kind.replace('_', '-')}"
        parser.add_argument(option, nargs="+", metavar="WEIGHTS", default=[])
        parser.add_argument(f"{option}-share", type=float, default=1.0)
    add_entry_options(parser)
    options = parser.parse_args()
    parts = {}
    for kind in PARTS:
        if weights := getattr(options, kind):
            networks = MeanOfNetworks([load_trained(kind, path) for path in weights])
            parts[kind] = part_of(kind, networks, getattr(options, f"{kind}_share"))
    if not parts:
        parser.error("no networks are given")
    path = Path(options.models) / f"{options.model_id}.onnx"
    onnx.save(joined(onnx.load(str(options.detector)), parts), str(path))
    detector = get_entry(options.detector.stem, options.detector.parent)
    features = {**detector["features"], **curve_fields(parts)}
    entry = new_entry(
        options.model_id,
        "detection",
        path,
        features,
        detector["short_window"],
        "logit",
        calibration=calibration_in(options),
        operating_point=options.operating_point,
        metrics={},
    )
    put_entry({**entry, "aliases": detector["aliases"]}, options.models)


if __name__ == "__main__":
    main()
