# SPDX-License-Identifier: Apache-2.0
"""Writes models as an operator might provide them, and onnxruntime's outputs for features computed by NumPy.

    python3 test/reference/imported_models.py       writes test/reference/imported-models/

Needs numpy, scipy, onnx, onnxruntime and ffmpeg. The folder becomes a models folder: manifest.json and ONNX files of a
few layers with random weights. expected.json holds the outputs of each model for each window of the two LJ Speech
fixtures, joined; test/analysis/imported-models.test.ts compares the server with them. Features come from features.py,
from the definitions in float64; windows and the positions inside them are computed here. This uses none of our own
code.
"""

import hashlib
import json
import os
import subprocess
from pathlib import Path

# Before onnxruntime, which otherwise reports to its vendor.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from features import DEFAULTS, KALDI, make_features

TESTS = Path(__file__).resolve().parents[1]
FOLDER = TESTS / "reference" / "imported-models"
CLIPS = ["human-lj-a.flac", "human-lj-b.flac"]
SAMPLE_RATE_HZ = 16000
WINDOW_SAMPLES = 5 * SAMPLE_RATE_HZ

random = np.random.default_rng(64600)


class Graph:
    """Layers one after another, with random weights."""

    def __init__(self, input_name, shape, batch="batch"):
        self.nodes, self.weights, self.outputs, self.batch = [], [], [], batch
        self.inputs = [helper.make_tensor_value_info(input_name, TensorProto.FLOAT, [batch, *shape])]
        self.last = input_name

    def weight(self, values, name):
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def add(self, operator, *more_inputs, name=None, **attributes):
        name = name or f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, [self.last, *more_inputs], [name], **attributes))
        self.last = name

    def convolve(self, channels_in, channels, kernel, stride):
        shape = (channels, channels_in, kernel)
        values = random.normal(0, (channels_in * kernel) ** -0.5, shape).astype(np.float32)
        self.add("Conv", self.weight(values, f"kernel{len(self.nodes)}"), strides=[stride], kernel_shape=[kernel])
        self.add("Relu")

    def multiply(self, size_in, size, name, scale=1.0):
        matrix = random.normal(0, scale * size_in**-0.5, (size_in, size)).astype(np.float32)
        bias = random.normal(0, 0.1, size).astype(np.float32)
        matrix_name, bias_name = self.weight(matrix, f"{name}_matrix"), self.weight(bias, f"{name}_bias")
        self.add("Gemm", matrix_name, bias_name, name=name)

    def multiply_by_value(self, size_in, size, name, scale):
        """Uses a matrix that the graph computes, as attention does: onnxruntime then sums in an order that depends on
        the size of the batch. (A constant is packed at loading, and summed in one order.)"""
        hidden = self.last
        self.add("ReduceMean", keepdims=0)
        self.add("Mul", self.weight(np.zeros((), np.float32), "nothing"))
        matrix = random.normal(0, scale * size_in**-0.5, (size_in, size)).astype(np.float32)
        self.add("Add", self.weight(matrix, f"{name}_matrix"))
        matrix_name, self.last = self.last, hidden
        self.add("MatMul", matrix_name)
        self.add("Add", self.weight(random.normal(0, 0.1, size).astype(np.float32), f"{name}_bias"), name=name)

    def output(self, name, *shape):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [self.batch, *shape]))

    def write(self, path):
        graph = helper.make_graph(self.nodes, "random", self.inputs, self.outputs, self.weights)
        model = helper.make_model(
            graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)], producer_name="imported_models.py"
        )
        onnx.checker.check_model(model)
        path.write_bytes(model.SerializeToString())


def waveform_graph(batch):
    """[batch, samples] to two numbers, plus an unused output of eight."""
    graph = Graph("waveform", [64600], batch)
    graph.add("Unsqueeze", graph.weight(np.array([1]), "channel_axis"))
    graph.convolve(1, 8, 250, 80)
    graph.convolve(8, 8, 5, 3)
    graph.add("ReduceMean", name="hidden", axes=[2], keepdims=0)
    graph.output("hidden", 8)
    return graph


def raw_logits():
    graph = waveform_graph("batch")
    graph.multiply_by_value(8, 2, "logits", scale=100.0)
    graph.output("logits", 2)
    return graph


def raw_probabilities():
    """The same kind of network for one input at a time."""
    graph = waveform_graph(1)
    graph.multiply(8, 2, "classes", scale=60.0)
    graph.add("Softmax", name="probabilities", axis=1)
    graph.output("probabilities", 2)
    return graph


def frames_graph(input_name, frames, bands, output_name, numbers, scale):
    """[batch, frames, bands] to the mean over the frames of a convolution, then a matrix."""
    graph = Graph(input_name, [frames, bands])
    graph.add("Transpose", perm=[0, 2, 1])
    graph.convolve(bands, 12, 3, 1)
    graph.add("ReduceMean", axes=[2], keepdims=0)
    graph.multiply(12, numbers, output_name, scale)
    graph.output(output_name, numbers)
    return graph


# The field may be absent.
KALDI_80 = (
    {name: value for name, value in DEFAULTS.items() if name != "edges"}
    | KALDI
    | dict(window="hamming", normalisation="mean", layout="frames_bands")
)
SLANEY_40 = DEFAULTS | dict(
    fft_size=400, periodic_window=True, centred=True, edges="zeros", bands=40, fmin_hz=0.0, mel_formula="slaney",
    mel_norm="slaney", log="none", layout="frames_bands",
)  # fmt: skip
WAVEFORM = dict(kind="waveform", input_gain=1.0, normalisation="none")


def entry(model_id, task, window_samples, hop_samples, features, graph, output, calibration=(1.0, 0.0)):
    path = FOLDER / f"{model_id}.onnx"
    graph.write(path)
    shape = [axis.dim_value for axis in graph.inputs[0].type.tensor_type.shape.dim]
    return {
        "id": model_id, "aliases": [], "task": task, "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "licence": "Apache-2.0",
        "sample_rate_hz": SAMPLE_RATE_HZ, "window_samples": window_samples, "hop_samples": hop_samples,
        "short_window": "repeat", "features": features,
        "input": {"name": graph.inputs[0].name, "shape": ["batch", *shape[1:]]}, "output": output,
        "calibration": {"scale": calibration[0], "bias": calibration[1]}, "operating_point": 0.5, "metrics": {},
    }  # fmt: skip


def output_of(name, kind, index=0):
    return {"name": name, "kind": kind, "index": index}


def make_models():
    """Four recipes with little in common, and every kind of output."""
    return [
        # 4.0375 s of samples, as for the detectors of the ASVspoof challenges.
        entry("random-waveform", "detection", 64600, 15400, WAVEFORM, raw_logits(), output_of("logits", "logit", 1)),
        entry("random-waveform-batch-1", "detection", 64600, 8000, WAVEFORM | dict(normalisation="mean_variance"),
              raw_probabilities(), output_of("probabilities", "probability"), calibration=(1.0, -12.0)),
        # Windows of 160 frames, half of them overlapping, and more numbers than needed.
        entry("random-partial-windows", "detection", 159 * 160, 80 * 160, SLANEY_40,
              frames_graph("mels", 160, 40, "embedding", 192, 20.0), output_of("embedding", "independent_logit", 7)),
        entry("random-kaldi-speaker", "speaker", WINDOW_SAMPLES, WINDOW_SAMPLES, KALDI_80,
              frames_graph("fbank", 498, 80, "voice", 256, 1.0), output_of("voice", "embedding")),
    ]  # fmt: skip


def read_clip(name):
    command = ["ffmpeg", "-v", "error", "-i", TESTS / "fixtures" / name, "-f", "s16le", "-"]
    return np.frombuffer(subprocess.run(command, check=True, capture_output=True).stdout, "<i2") / 32768


def windows_of(audio):
    """A residual of more than 0.1 s gets its own window, which slides back to end with the audio."""
    begins = list(range(0, len(audio) - WINDOW_SAMPLES + 1, WINDOW_SAMPLES))
    residual = len(audio) - begins[-1] - WINDOW_SAMPLES
    assert residual > SAMPLE_RATE_HZ / 10
    return [*begins, len(audio) - WINDOW_SAMPLES]


def inputs_of(window, model):
    """[inputs, ...]: one every hop, the last sliding back to end with the window."""
    size, last = model["window_samples"], len(window) - model["window_samples"]
    begins = [*range(0, last, model["hop_samples"]), last]
    return np.stack([make_features(window[b : b + size], model["features"]) for b in begins]).astype(np.float32)


def outputs_of(inputs, model):
    """[inputs, numbers]: one at a time, which every file accepts."""
    session = onnxruntime.InferenceSession(FOLDER / model["file"], providers=["CPUExecutionProvider"])
    run = lambda value: session.run([model["output"]["name"]], {model["input"]["name"]: value[None]})[0][0]
    return np.stack([run(value) for value in inputs]).astype(np.float64)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def scores_of(outputs, model):
    kind, index = model["output"]["kind"], model["output"]["index"]
    if kind == "logit":
        logit = outputs[:, 1] - outputs[:, 0] if index == 1 else outputs[:, 0] - outputs[:, 1]
    elif kind == "independent_logit":
        logit = outputs[:, index]
    else:
        logit = np.log(outputs[:, index] / (1 - outputs[:, index]))
    return sigmoid(model["calibration"]["scale"] * logit + model["calibration"]["bias"])


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def main():
    FOLDER.mkdir(exist_ok=True)
    models = make_models()
    audio = np.concatenate([read_clip(name) for name in CLIPS])
    begins = windows_of(audio)
    expected = {"clips": CLIPS, "starts_s": [b / SAMPLE_RATE_HZ for b in begins], "scores": {}, "embeddings": {}}
    for model in models:
        per_window = [outputs_of(inputs_of(audio[b : b + WINDOW_SAMPLES], model), model) for b in begins]
        if model["task"] == "detection":
            expected["scores"][model["id"]] = [scores_of(outputs, model).round(6).tolist() for outputs in per_window]
        else:
            embedding = unit(unit(np.concatenate(per_window)).mean(axis=0))
            expected["embeddings"][model["id"]] = embedding.round(6).tolist()
    (FOLDER / "manifest.json").write_text(json.dumps({"version": 1, "models": models}, indent=2) + "\n")
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


if __name__ == "__main__":
    main()
