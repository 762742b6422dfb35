# SPDX-License-Identifier: Apache-2.0
"""The probe uses the features by which the shipped networks decide."""

import importlib.util
import unittest

import numpy as np

from export.manifest_file import MODELS, get_entry
from features.native import FeatureExtractor
from features.recipe import SERVED_CURVES, WINDOW_SAMPLES
from tests.support import needs_onnx

MODEL_ID = "detector-large-2026-11-25"
NETWORKS = {"bands": 2, "phase_coherence": 1, "long_phase_coherence": 1}
needs_sklearn = unittest.skipUnless(importlib.util.find_spec("sklearn"), "needs scikit-learn")


@needs_onnx
@needs_sklearn
class Probe(unittest.TestCase):
    def test_the_last_layers_make_the_logit_of_the_penultimate_features(self):
        from export import telemetry_off  # noqa: F401, to be first

        # isort: split
        import onnx
        from onnx import numpy_helper
        from onnxruntime import InferenceSession

        from judge.probe import PenultimateFeatures

        path = str(MODELS / f"{MODEL_ID}.onnx")
        graph = onnx.load(path).graph
        numbers = {number.name: numpy_helper.to_array(number) for number in graph.initializer}
        window = np.random.default_rng(1).normal(0, 0.1, WINDOW_SAMPLES).astype(np.float32)
        penultimate = PenultimateFeatures(MODEL_ID)
        self.assertEqual({kind: penultimate.kinds.count(kind) for kind in NETWORKS}, NETWORKS)
        vectors, kind_of = (
            dict(zip(penultimate.names, values)) for values in (penultimate.of(window), penultimate.kinds)
        )
        said = {kind: [] for kind in NETWORKS}
        for node in graph.node:
            if node.op_type == "Gemm":
                said[kind_of[node.input[0]]].append(
                    (numbers[node.input[1]] @ vectors[node.input[0]] + numbers[node.input[2]]).item()
                )
        small, middle = said["bands"]  # order in the file
        expected = (2 * middle + small) / 3
        for kind in SERVED_CURVES:
            expected += float(numbers[f"{kind}/share"][0]) * np.mean(said[kind])
        features = FeatureExtractor(get_entry(MODEL_ID)["features"]).compute(window)
        (logit,) = InferenceSession(path).run(None, {"features": features[None]})
        self.assertAlmostEqual(logit.item(), expected, places=3)

    def test_recall_is_chance_for_noise_and_full_for_what_the_features_say(self):
        from judge.probe import recall_of

        rng = np.random.default_rng(2)
        labels = np.array(["8000", "16000", "48000"] * 100)
        noise = rng.standard_normal((300, 8))
        told = noise + 9 * (labels == "8000")[:, None] * np.eye(8)[0] + 9 * (labels == "16000")[:, None] * np.eye(8)[1]
        self.assertAlmostEqual(recall_of(noise, labels)[0], 1 / 3, delta=0.12)
        self.assertEqual(recall_of(told, labels), (1.0, 3))
        few = np.append(labels[:-1], "11025")
        self.assertEqual(recall_of(told, few)[1], 3)

    def test_knowing_the_source_does_not_help_where_sources_are_kept_apart(self):
        from judge.probe import recall_of

        sources = np.repeat(np.arange(30), 10)
        labels = np.array(["8000", "16000", "48000"])[sources % 3]
        says_source = np.eye(30)[sources] + np.random.default_rng(3).normal(0, 0.1, (300, 30))
        self.assertGreater(recall_of(says_source, labels)[0], 0.95)
        self.assertLess(recall_of(says_source, labels, sources)[0], 0.5)
