# SPDX-License-Identifier: Apache-2.0
"""Twins of the 8-bit detectors for GPUs, which have no 8-bit convolutions. Needs the Python package onnx.

    python3 -m export.gpu_twins

For each file of 8 bits in a models folder, writes NAME.gpu.onnx beside it: the same graph without the rounding of
activations. Weights keep their 8 bits in the file, a third of the size of float32, and ONNX Runtime works them out in
float32 while it loads: no weight differs. Then names the twins in the manifest and has `veravox models record` write
the known answers of these models, on this CPU. Repeat the command whenever a detector changes.
"""

import argparse
import subprocess
from pathlib import Path

import onnx

from export.manifest_file import MODELS, get_entries, put_gpu, sha256_of

SUFFIX = ".gpu.onnx"
MAIN = MODELS.parent / "dist/cli/main.js"


def without_rounding(model):
    """A copy without pairs of QuantizeLinear and DequantizeLinear; None if the model has none."""
    twin = onnx.ModelProto()
    twin.CopyFrom(model)
    graph = twin.graph
    sources = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "QuantizeLinear"}
    exact = {
        node.output[0]: sources[node.input[0]]
        for node in graph.node
        if node.op_type == "DequantizeLinear" and node.input[0] in sources
    }
    if not exact:
        return None
    kept = [node for node in graph.node if node.output[0] not in sources and node.output[0] not in exact]

    def exact_name(name):
        while name in exact:
            name = exact[name]
        return name

    for node in kept:
        node.input[:] = [exact_name(name) for name in node.input]
    used = {name for node in kept for name in node.input}
    rounded = [output.name for output in graph.output if output.name in exact]
    if rounded or used & sources.keys():
        raise ValueError(f"8-bit activations are used as such: {rounded or sorted(used & sources.keys())}")
    tensors = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.node[:], graph.initializer[:], graph.value_info[:]
    graph.node.extend(kept)
    graph.initializer.extend(tensors)
    onnx.checker.check_model(twin)
    return twin


def write_twins(models):
    """Writes twins and their manifest entries; the ids of the models that have one."""
    made = []
    for entry in get_entries(models):
        path = Path(models) / entry["file"]
        twin = without_rounding(onnx.load(path))
        if twin is None:
            continue
        file = path.with_suffix(SUFFIX)
        # The serialisation of a message without maps is the same each time.
        file.write_bytes(twin.SerializeToString(deterministic=True))
        twin = {"file": file.name, "sha256": sha256_of(file), "source_sha256": sha256_of(path)}
        put_gpu(entry["id"], twin, models)
        made.append(entry["id"])
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=MODELS)
    options = parser.parse_args()
    made = write_twins(options.models)
    if made:
        subprocess.run(["node", MAIN, "models", "record", *made, "--models-dir", options.models], check=True)


if __name__ == "__main__":
    main()
