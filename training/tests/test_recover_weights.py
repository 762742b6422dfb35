# SPDX-License-Identifier: Apache-2.0
"""Weights recovered from a shipped file."""

import tempfile
import unittest
from pathlib import Path

import numpy as np

from tests.support import has_torch, needs_onnx

if has_torch:
    import torch

    from networks.detector import SIZES, Detector, export_onnx


@needs_onnx
class Recovery(unittest.TestCase):
    def test_a_detector_taken_out_of_a_file_of_8_bits_computes_what_the_file_does(self):
        from export import telemetry_off  # noqa: F401, to be first

        # isort: split
        import onnxruntime

        from export.quantise import quantise_blocks
        from export.recover_weights import parameters_of, rebuild

        torch.manual_seed(1)
        windows = np.random.default_rng(1).standard_normal((24, 1, 256, 120)).astype(np.float32)
        network = Detector(**SIZES["small"]).train()
        with torch.no_grad():
            network(torch.from_numpy(windows))  # its own statistics
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.onnx")
            export_onnx(network, str(path), 256, 120)
            quantise_blocks(path, [window[None] for window in windows])
            session = onnxruntime.InferenceSession(str(path))
            expected = session.run(None, {"features": windows})[0]
            with self.assertRaisesRegex(RuntimeError, "size mismatch"):
                rebuild("middle", parameters_of(path), windows)
            rebuilt = rebuild("small", parameters_of(path), windows)
        with torch.no_grad():
            made = rebuilt.eval()(torch.from_numpy(windows)).numpy()
            training = rebuilt.train()(torch.from_numpy(windows)).numpy()
        self.assertLess(np.abs(made - expected).max(), 0.05 + 0.05 * np.ptp(expected))
        self.assertTrue(np.isfinite(training).all())
