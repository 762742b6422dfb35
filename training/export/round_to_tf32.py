# SPDX-License-Identifier: Apache-2.0
"""Copies a models folder into one whose matrices and convolutions round as in CUDA by default.

    python3 -m export.round_to_tf32 --models FOLDER --out FOLDER

CUDA's libraries round both factors of a product to TF32, 11 significant bits, and sum in float32. The copies do the
same on any CPU: bench/known-answers.ts uses them to measure how far answers move. Needs the onnx package.
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from export.manifest_file import sha256_of

PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
# Veltkamp's splitting: with c = (2^13 + 1) x, c - (c - x) is x with 24 - 13 = 11 bits.
SPLITTER = np.float32(2**13 + 1)


def rounded(values):
    scaled = values.astype(np.float32) * SPLITTER
    return scaled - (scaled - values)


def round_products(model):
    graph = model.graph
    weights = {weight.name: weight for weight in graph.initializer}
    graph.initializer.append(numpy_helper.from_array(SPLITTER, "tf32_splitter"))
    names, nodes = {}, []

    def name_of_rounded(name):
        if name not in names and name in weights:
            # Next to the weight itself, which other operators may use.
            names[name] = f"{name}_tf32"
            values = rounded(numpy_helper.to_array(weights[name]))
            graph.initializer.append(numpy_helper.from_array(values, names[name]))
        elif name not in names:
            names[name] = f"{name}_tf32"
            nodes.append(helper.make_node("Mul", [name, "tf32_splitter"], [f"{name}_scaled"]))
            nodes.append(helper.make_node("Sub", [f"{name}_scaled", name], [f"{name}_rest"]))
            nodes.append(helper.make_node("Sub", [f"{name}_scaled", f"{name}_rest"], [names[name]]))
        return names[name]

    for node in graph.node:
        if node.op_type in PRODUCTS:
            node.input[:2] = [name_of_rounded(name) for name in node.input[:2]]
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    for weight in [weight for weight in graph.initializer if weight.name not in used]:
        graph.initializer.remove(weight)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir()
    shutil.copytree(options.models / "known-answers", options.out / "known-answers")
    manifest = json.loads((options.models / "manifest.json").read_text())
    for entry in manifest["models"]:
        model = onnx.load(options.models / entry["file"])
        round_products(model)
        onnx.checker.check_model(model)
        onnx.save(model, options.out / entry["file"])
        entry["sha256"] = sha256_of(options.out / entry["file"])
    (options.out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
