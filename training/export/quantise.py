# SPDX-License-Identifier: Apache-2.0
"""Eight bits for the convolutions of the residual blocks, which take most of a detector's time. Needs the Python
packages onnx and onnxruntime.

Input layers and pooling stay in float32: there rounding costs more than it saves. Weights have seven bits and a scale
per channel, since sums of pairs of 8-bit products overflow 16 bits on processors without VNNI.
"""

import tempfile
from pathlib import Path

from export import telemetry_off  # noqa: F401, to be first

# isort: split
import onnx
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from data.sampler import CropSampler
from features.native import FeatureExtractor

CALIBRATION_WINDOWS = 320
SEED = 20261122
IN_FLOAT = ("stem", "gate", "pooling")


def training_windows(cache, features, window_samples):
    """[1, 1, bands, frames]: full-length crops drawn as for the detector's training."""
    sampler, extractor, windows, index = CropSampler(cache, SEED, 32), FeatureExtractor(features), [], 0
    while len(windows) < CALIBRATION_WINDOWS:
        crops = sampler.batch(index)[0]
        index += 1
        if crops.shape[1] == window_samples:
            windows += [extractor.compute(crop)[None, None] for crop in crops]
    return windows[:CALIBRATION_WINDOWS]


class _Windows(CalibrationDataReader):
    def __init__(self, windows):
        self._left = iter(windows)

    def get_next(self):
        window = next(self._left, None)
        return None if window is None else {"features": window}


def quantise_blocks(path, windows):
    """Replaces the ONNX file by one whose blocks compute in 8 bits, with ranges from `windows`."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = str(Path(folder, "prepared.onnx"))
        # Folds later layers into the convolution, so that its range is that of the result.
        quant_pre_process(str(path), prepared, skip_symbolic_shape=True)
        nodes = onnx.load(prepared).graph.node
        in_float = [
            node.name for node in nodes if node.op_type == "Conv" and any(part in node.name for part in IN_FLOAT)
        ]
        quantize_static(
            prepared,
            str(path),
            _Windows(windows),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,
            op_types_to_quantize=["Conv"],
            nodes_to_exclude=in_float,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
        )
