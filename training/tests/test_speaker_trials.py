# SPDX-License-Identifier: Apache-2.0
"""Enrolments and samples of one speaker."""

import unittest

import numpy as np

from data.speaker_sampler import stretch
from judge.speaker_trials import all_trials, divide, is_same_recording, median_pitch_hz
from tests.support import babble


class FakeCache:
    def samples(self, clip):
        return clip["audio"]


class SpeakerTrials(unittest.TestCase):
    def test_no_clip_is_in_the_enrolment_and_in_a_sample_of_it(self):
        recordings = ([], [])
        for speaker in ("a", "b"):
            clips = [{"path": f"{speaker}{number}", "audio": babble(2.5, number)} for number in range(9)]
            enrolled, tests = divide(("source", speaker), clips, FakeCache(), 0, np.random.default_rng(1), (1.0,))
            self.assertGreaterEqual(len(enrolled.samples), 160000)
            self.assertTrue(tests[1.0])
            for test in tests[1.0]:
                self.assertFalse(set(enrolled.paths) & set(test.paths))
            recordings[0].append(enrolled)
            recordings[1].extend(tests[1.0])
        trials = all_trials(*recordings)
        self.assertEqual(int(trials.same.sum()), len(recordings[1]))
        self.assertEqual(len(trials.same), 2 * len(recordings[1]))

    def test_a_quieter_later_copy_is_the_same_recording_and_another_one_is_not(self):
        rng = np.random.default_rng(2)
        first, second = rng.standard_normal(32000).astype(np.float32), rng.standard_normal(32000).astype(np.float32)
        self.assertTrue(is_same_recording(first, 0.1 * first[5000:25000]))
        self.assertFalse(is_same_recording(first, second))

    def test_speed_moves_the_pitch(self):
        samples = babble(3.0, 3)
        before, after = median_pitch_hz(samples), median_pitch_hz(stretch(samples, round(len(samples) / 1.1)))
        self.assertAlmostEqual(before, 120, delta=20)
        self.assertAlmostEqual(after / before, 1.1, delta=0.03)
