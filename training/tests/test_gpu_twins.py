# SPDX-License-Identifier: Apache-2.0
"""Twins for GPUs of files in 8 bits."""

import importlib.util
import json
import shutil
import unittest

import numpy as np

from export.manifest_file import MODELS, get_entries
from tests.support import WithFolder

has_onnx = importlib.util.find_spec("onnx") is not None

if has_onnx:
    from onnx import TensorProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator

    from export.gpu_twins import without_rounding, write_twins


def rounded_product(outputs=("y",)):
    """y = relu(rounded x) W, with W in 8 bits, as an ONNX model."""
    weights = np.arange(-8, 8, dtype=np.int8).reshape(4, 4)
    tensors = {"w": weights, "scale": np.float32(0.5), "zero": np.uint8(0), "w_zero": np.int8(0)}
    nodes = [
        helper.make_node("Relu", ["x"], ["positive"]),
        helper.make_node("QuantizeLinear", ["positive", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["rounded"]),
        helper.make_node("DequantizeLinear", ["w", "scale", "w_zero"], ["weights"]),
        helper.make_node("MatMul", ["rounded", "weights"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 4]) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


@unittest.skipUnless(has_onnx, "needs the extra `quantise`")
class Twins(WithFolder):
    def test_a_twin_has_the_same_weights_and_no_rounding(self):
        twin = without_rounding(rounded_product())
        self.assertEqual([node.op_type for node in twin.graph.node], ["Relu", "DequantizeLinear", "MatMul"])
        self.assertEqual(list(twin.graph.node[2].input), ["positive", "weights"])
        self.assertEqual({tensor.name for tensor in twin.graph.initializer}, {"w", "scale", "w_zero"})
        x = np.array([[0.3, -1, 0.1, 1.2]], np.float32)
        found = ReferenceEvaluator(twin).run(None, {"x": x})[0]
        np.testing.assert_allclose(found, np.maximum(x, 0) @ (0.5 * np.arange(-8, 8).reshape(4, 4)), rtol=1e-6)

    def test_a_file_without_rounding_has_no_twin(self):
        self.assertIsNone(without_rounding(without_rounding(rounded_product())))

    def test_a_rounded_output_is_refused(self):
        with self.assertRaisesRegex(ValueError, "rounded"):
            without_rounding(rounded_product(outputs=("rounded",)))

    def test_the_shipped_twins_are_those_of_the_shipped_files(self):
        entries = get_entries()
        for file in [MODELS / "manifest.json", *(MODELS / entry["file"] for entry in entries)]:
            shutil.copy(file, self.folder)
        self.assertEqual(write_twins(self.folder), [entry["id"] for entry in entries if "gpu" in entry])
        self.assertEqual(get_entries(self.folder), json.loads((MODELS / "manifest.json").read_text())["models"])
        for entry in entries:
            if "gpu" in entry:
                name = entry["gpu"]["file"]
                self.assertEqual((self.folder / name).read_bytes(), (MODELS / name).read_bytes(), name)
