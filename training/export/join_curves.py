# SPDX-License-Identifier: Apache-2.0
"""Join a detector and networks on mean spectra to one file.

    python3 -m export.join_spectrum --detector FOLDER/ID.onnx --weights RUN/last.pt .. --share 0.8
        --model-id NEW_ID [--calibration CALIBRATION.json] [--operating-point 0.5] [--models FOLDER]

The answer is the detector's logit plus --share times the mean of the networks'; the detector's 8-bit weights stay as
they are. Writes NEW_ID.onnx and its manifest entry into --models (default: models/). The entry of ID in FOLDER's
manifest gives the features; without CALIBRATION.json of judge/calibrate_detector.py the calibration is the identity.
Needs the Python package onnx.
"""

import argparse
import json
import tempfile
from pathlib import Path

import onnx
import torch
from onnx import TensorProto, helper

from export.manifest_file import MODELS, get_entry, new_entry, put_entry
from features.recipe import MEAN_SPECTRUM_FFT_SIZE
from mean_spectrum.network import MeanOfNetworks, load_trained
from mean_spectrum.spectra import BINS, CURVES
from networks.onnx_export import OPSET, write_onnx

IDENTITY = {"scale": 1.0, "bias": 0.0}
PREFIX = "mean_spectrum/"  # of the names of the networks' nodes and tensors


def network_graph(network):
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "network.onnx"))
        write_onnx(network, torch.zeros(1, CURVES, BINS), path, "spectra", "said")
        model = onnx.load(path)
    return onnx.compose.add_prefix(model, PREFIX).graph


def constant(name, values, kind=TensorProto.INT64):
    return helper.make_tensor(name, kind, [len(values)], values)


def joined(detector, network, share):
    """The detector's ONNX model with a flat input: its own features, then the mean spectrum."""
    graph, added = detector.graph, network_graph(network)
    (own_input,), (own_output,) = graph.input, graph.output
    own_shape = [axis.dim_value for axis in own_input.type.tensor_type.shape.dim][1:]
    own_size = own_shape[0] * own_shape[1] * own_shape[2]
    names = {own_input.name: "bands", own_output.name: "detector_logit"}
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    before = [
        helper.make_node("Split", ["features", "sizes"], ["flat_bands", "flat_spectra"], axis=1),
        helper.make_node("Reshape", ["flat_bands", "bands_shape"], ["bands"]),
        helper.make_node("Reshape", ["flat_spectra", "spectra_shape"], [PREFIX + "spectra"]),
    ]
    after = [
        helper.make_node("Mul", [PREFIX + "said", "share"], ["shared"]),
        helper.make_node("Add", ["detector_logit", "shared"], ["logit"]),
    ]
    numbers = [
        constant("sizes", [own_size, CURVES * BINS]),
        constant("bands_shape", [-1, *own_shape]),
        constant("spectra_shape", [-1, CURVES, BINS]),
        constant("share", [share], TensorProto.FLOAT),
    ]
    of_batch = lambda name, *axes: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *axes])
    made = helper.make_graph(
        [*before, *graph.node, *added.node, *after],
        "detector",
        [of_batch("features", own_size + CURVES * BINS)],
        [of_batch("logit")],
        [*graph.initializer, *added.initializer, *numbers],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=detector.ir_version)
    onnx.checker.check_model(model)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detector", required=True, type=Path)
    parser.add_argument("--weights", nargs="+", required=True)
    parser.add_argument("--share", required=True, type=float)
    parser.add_argument("--model-id", required=True)
    parser.add_argument("--calibration")
    parser.add_argument(
        "--operating-point", type=float, default=0.5, help="the score from which voice identity refuses a voice"
    )
    parser.add_argument("--models", default=MODELS)
    options = parser.parse_args()
    network = MeanOfNetworks(map(load_trained, options.weights))
    path = Path(options.models) / f"{options.model_id}.onnx"
    onnx.save(joined(onnx.load(str(options.detector)), network, options.share), str(path))
    detector = get_entry(options.detector.stem, options.detector.parent)
    features = {**detector["features"], "mean_spectrum_fft_size": MEAN_SPECTRUM_FFT_SIZE}
    entry = new_entry(
        options.model_id,
        "detection",
        path,
        features,
        detector["short_window"],
        "logit",
        calibration=json.loads(Path(options.calibration).read_text()) if options.calibration else IDENTITY,
        operating_point=options.operating_point,
        metrics={},
    )
    put_entry({**entry, "aliases": detector["aliases"]}, options.models)


if __name__ == "__main__":
    main()
