# SPDX-License-Identifier: Apache-2.0
"""A detector as an ONNX file. PyTorch writes the graph without its weights, which are added here: so a file may exceed
the 2 GB of a protocol buffer, nothing is in memory twice, and all weights are in one further file, which the server
maps into memory once for all threads. Needs the Python package onnx, and PyTorch from 2.1 for float16."""

import hashlib
import inspect
import io
import warnings
from pathlib import Path

import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

OPSET = 17
# Smaller models are a single file.
MAX_INSIDE_BYTES = 200_000_000
# Alignment of weights in the further file, so that whole pages are mapped.
ALIGNMENT = 4096
INPUT, OUTPUT = "waveform", "logits"


class Halved(nn.Module):
    """The encoder in half precision. Normalisation of the samples, the first convolution and the head stay in float32:
    they take little time, and many differences between voices lie far below the loudest sample."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector
        detector.encoder.half()
        first = detector.encoder.feature_extractor.conv_layers[0]
        first[0].float()

    def forward(self, samples):
        return self.detector(samples)


def _graph_without_weights(module, window_samples):
    buffer = io.BytesIO()
    has_other = "dynamo" in inspect.signature(torch.onnx.export).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            torch.zeros(1, window_samples),
            buffer,
            export_params=False,
            do_constant_folding=False,
            keep_initializers_as_inputs=True,
            opset_version=OPSET,
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_axes={INPUT: {0: "batch"}, OUTPUT: {0: "batch"}},
            **({"dynamo": False} if has_other else {}),
        )
    return onnx.load_model_from_string(buffer.getvalue())


def _transposed_inputs(graph, weights):
    """Linear layers are exported as a transposition and a product. Transposes weights that have no other use, and
    removes the nodes."""
    uses = {}
    for node in graph.node:
        for name in node.input:
            uses.setdefault(name, []).append(node)
    results = {}
    for node in list(graph.node):
        if node.op_type != "Transpose" or node.input[0] not in weights or len(uses[node.input[0]]) > 1:
            continue
        order = next(attribute.ints for attribute in node.attribute if attribute.name == "perm")
        weights[node.input[0]] = weights[node.input[0]].permute(*order)
        results[node.output[0]] = node.input[0]
        graph.node.remove(node)
    for node in graph.node:
        for index, name in enumerate(node.input):
            node.input[index] = results.get(name, name)


def _bytes_of(tensor):
    return tensor.detach().contiguous().numpy().tobytes()


class _WeightsFile:
    """Weights one after another, and the SHA-256 of the file."""

    def __init__(self, path):
        self._path, self._file, self._hash, self._size = path, path.open("wb"), hashlib.sha256(), 0

    def _write(self, content):
        self._file.write(content)
        self._hash.update(content)
        self._size += len(content)

    def add(self, name, tensor):
        self._write(bytes(-self._size % ALIGNMENT))
        entry = TensorProto(
            name=name, dims=tensor.shape, data_type=helper.np_dtype_to_tensor_dtype(_numpy_type(tensor))
        )
        entry.data_location = TensorProto.EXTERNAL
        content = _bytes_of(tensor)
        for key, value in (("location", self._path.name), ("offset", self._size), ("length", len(content))):
            entry.external_data.add(key=key, value=str(value))
        self._write(content)
        return entry

    def close(self):
        self._file.close()
        return self._hash.hexdigest()


def _numpy_type(tensor):
    return torch.empty(0, dtype=tensor.dtype).numpy().dtype


def write_onnx(detector, window_samples, path, is_half=False, max_inside_bytes=MAX_INSIDE_BYTES):
    """Writes the detector to `path`, and its weights to `path` with `.data` at the end if they are large. Half
    precision changes the detector."""
    path = Path(path)
    module = Halved(detector) if is_half else detector
    with torch.no_grad():
        model = _graph_without_weights(module.eval(), window_samples)
    graph = model.graph
    weights = dict(module.state_dict())
    used = [value.name for value in graph.input if value.name in weights]
    inputs = [value for value in graph.input if value.name == INPUT]
    del graph.input[:]
    graph.input.extend(inputs)
    weights = {name: weights[name] for name in used}
    _transposed_inputs(graph, weights)
    total = sum(weight.numel() * weight.element_size() for weight in weights.values())
    outside = _WeightsFile(path.with_name(f"{path.name}.data")) if total > max_inside_bytes else None
    for name in used:
        weight = weights.pop(name)
        graph.initializer.append(
            outside.add(name, weight)
            if outside
            else numpy_helper.from_array(weight.detach().contiguous().numpy(), name)
        )
    if outside:
        # The graphs of a family are alike: this makes the graph's SHA-256 identify the weights too.
        helper.set_model_props(model, {"weights_sha256": outside.close()})
    onnx.save_model(model, str(path))
