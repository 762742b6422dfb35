# SPDX-License-Identifier: Apache-2.0
"""Enrolments and samples of one speaker."""

import unittest

import numpy as np

from judge.speaker_trials import all_trials, divide
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
