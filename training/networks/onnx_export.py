# SPDX-License-Identifier: Apache-2.0
"""A PyTorch model as an ONNX file for the server: one float32 input, any batch, the weights inside."""

import inspect

import torch

OPSET = 17


def write_onnx(model, example, path, input_name, output_name):
    # From 2.9 on PyTorch would use another exporter, which needs a further package and puts the weights into a second
    # file.
    has_other = "dynamo" in inspect.signature(torch.onnx.export).parameters
    torch.onnx.export(
        model.eval(), example, path, opset_version=OPSET, input_names=[input_name], output_names=[output_name],
        dynamic_axes={input_name: {0: "batch"}, output_name: {0: "batch"}}, **({"dynamo": False} if has_other else {}),
    )  # fmt: skip
