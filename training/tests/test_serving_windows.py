# SPDX-License-Identifier: Apache-2.0
"""Windows as the server cuts them."""

import unittest

import numpy as np

from data.sampler import repeat_sound, repeat_to_length
from judge.serving_windows import voiced_windows_of, window_starts, windows_of


class Windows(unittest.TestCase):
    def test_starts_follow_the_contract(self):
        seconds = lambda *values: [round(value * 16000) for value in values]
        self.assertEqual(window_starts(12 * 16000), seconds(0, 5, 7))
        self.assertEqual(window_starts(round(10.9 * 16000)), seconds(0, 5, 5.9))
        self.assertEqual(window_starts(round(5.39 * 16000)), seconds(0, 0.39))
        self.assertEqual(window_starts(160016), seconds(0, 5.001))
        self.assertEqual(window_starts(161600), seconds(0, 5.1))  # a rest of 0.1 s
        self.assertEqual(window_starts(161601), [0, 80000, 81601])
        self.assertEqual(window_starts(10 * 16000), seconds(0, 5))
        self.assertEqual(window_starts(3 * 16000), [0])

    def test_a_short_clip_is_repeated(self):
        samples = 1 - np.arange(30000, dtype=np.float32) / 60000
        repeated = np.concatenate([samples, samples, samples[:20000]])
        for fill in (repeat_to_length, repeat_sound):
            np.testing.assert_array_equal(windows_of(samples, fill)[0], repeated)

    def test_silence_around_a_sound_is_not_repeated_with_it(self):
        sound = 1 - np.arange(30000, dtype=np.float32) / 60000
        (expected,) = windows_of(sound)
        for silence in (0, 0.9e-3):
            padded = np.pad(sound, (8000, 42000), constant_values=silence)
            np.testing.assert_array_equal(windows_of(padded), [expected])
        self.assertTrue((windows_of(np.zeros(30000, np.float32))[0] == 0).all())

    def test_a_window_with_a_fifth_of_speech_is_kept_and_one_with_less_is_not(self):
        samples, decisions = np.zeros(160000, np.float32), np.zeros(1000, np.uint8)
        decisions[100:200] = 1  # 1.00 s of 5 s: exactly 80 % without speech
        decisions[700:799] = 1
        self.assertEqual(len(voiced_windows_of(samples, decisions)), 1)
