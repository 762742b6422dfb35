# SPDX-License-Identifier: Apache-2.0
"""The same recording on several pages."""

import unittest

import numpy as np

from data.near_duplicates import fingerprint, group_duplicates
from data.prepare_chains import choose, is_for_calibration
from signals.channel_chain import (
    resample,
)
from tests.support import syllables


class Duplicates(unittest.TestCase):
    def test_the_same_sound_is_found_at_another_rate_and_level_and_in_other_silence(self):
        one, other = syllables(3, 24000, 1, 0.2), syllables(3, 24000, 2, 0.2)
        lower = resample(one, 24000, 16000, "long")
        padded = np.concatenate([np.zeros(9000, np.float32), 0.2 * lower, np.zeros(3000, np.float32)])
        prints = [
            fingerprint(one, 24000),
            fingerprint(other, 24000),
            fingerprint(padded, 16000),
            fingerprint(one[:12000], 24000),
        ]
        self.assertIsNone(prints[3])  # half a second is too little
        np.testing.assert_array_equal(group_duplicates(prints), [0, 1, 0, 3])

    def test_training_has_nothing_of_valid_and_each_recording_once(self):
        page = next(name for name in map(str, range(99)) if is_for_calibration(name))
        judged = next(name for name in map(str, range(99)) if not is_for_calibration(name))
        clip = lambda split, label, name, system="": {
            "split": split,
            "label": label,
            "repository": name,
            "system": system,
        }
        clips = [
            clip("train", "bonafide", "r"),
            clip("train", "bonafide", "s"),
            clip("train", "spoof", "s", "x"),
            clip("train", "bonafide", "t"),
            clip("valid", "bonafide", page),
            clip("valid", "bonafide", judged),
            clip("valid", "bonafide", page),
        ]
        training, calibration, left_out = choose(clips, [1, 1, 1, 2, 3, 2, 2])
        self.assertEqual((training, calibration), ([0, 2], [4]))
        self.assertEqual(sum(left_out.values()), 4)
