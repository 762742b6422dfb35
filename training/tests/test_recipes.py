# SPDX-License-Identifier: Apache-2.0
"""The recipes of training equal those in the manifest for the shipped models."""

import unittest
from math import prod

from export.manifest_file import get_entry
from features.recipe import (
    SAMPLE_RATE_HZ,
    WINDOW_SAMPLES,
    WITH_CURVES,
    frames_of,
)
from features.speaker_recipe import FEATURES as SPEAKER_FEATURES
from window_curves.curves import SHAPES

SHIPPED = {
    "detector-small-2026-11-25": WITH_CURVES,
    "detector-large-2026-11-25": WITH_CURVES,
    "detector-medium-2026-11-25": WITH_CURVES,
    "voiceprint-1-2026-11-22": SPEAKER_FEATURES,
}


class Recipes(unittest.TestCase):
    def test_what_is_served_is_what_was_trained(self):
        for model_id, features in SHIPPED.items():
            entry = get_entry(model_id)
            self.assertEqual(entry["features"], features, model_id)
            self.assertEqual((entry["sample_rate_hz"], entry["window_samples"]), (SAMPLE_RATE_HZ, WINDOW_SAMPLES))
            shape = [1, features["bands"], frames_of(WINDOW_SAMPLES)]
            if features is WITH_CURVES:
                shape = [shape[1] * shape[2] + sum(map(prod, SHAPES.values()))]
            self.assertEqual(entry["input"]["shape"], ["batch", *shape], model_id)
