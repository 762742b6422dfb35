# SPDX-License-Identifier: Apache-2.0
"""Evaluation of the speaker model on originals."""

import unittest

import numpy as np

from judge.emotions import emotion_of
from judge.speaker_figures import similarity
from judge.speaker_originals import FALSE_ACCEPT_TARGET, Pool, alike, decided, fold_of
from judge.speaker_trials import Recording, Trials


class Originals(unittest.TestCase):
    def test_emotions_are_read_from_file_names_and_calm_is_neutral(self):
        names = {
            "samples/EB0_anger_47.wav": "anger",
            "datasets/train/OAF_Sad/OAF_raid_sad.wav": "sad",
            "Angry/SM1_F11_A011.wav": "anger",
            "Sound Source/Calm/1234_sk_deve.wav": "neutral",
            "clips/unhappy.wav": None,
        }
        self.assertEqual({path: emotion_of({"path": path}) for path in names}, names)

    def test_a_large_campaign_weighs_as_much_as_a_small_one(self):
        labels, same = np.array(["a"] * 90 + ["b"] * 10), np.arange(100) % 2 == 0
        weights = alike(labels, same)
        for kind in (same, ~same):
            self.assertAlmostEqual(weights[kind & (labels == "a")].sum(), weights[kind & (labels == "b")].sum())

    def test_the_operating_point_keeps_to_its_target_and_half_is_the_equal_error_point(self):
        rng, pool = np.random.default_rng(1), Pool.__new__(Pool)
        pool.same = np.arange(20000) % 10 == 0
        pool.cosines = rng.normal(np.where(pool.same, 0.7, 0.2), 0.15)
        pool.labels, pool.folds = np.full(20000, "one"), np.arange(20000) % 2
        calibration, point = pool.fitted()
        accepted = lambda at: similarity(pool.cosines, calibration) >= at
        self.assertLessEqual(np.mean(accepted(point)[~pool.same]), FALSE_ACCEPT_TARGET)
        self.assertGreater(np.mean(accepted(point - 0.01)[~pool.same]), FALSE_ACCEPT_TARGET)
        self.assertAlmostEqual(np.mean(accepted(0.5)[~pool.same]), np.mean(~accepted(0.5)[pool.same]), delta=0.005)

    def test_each_half_of_the_people_is_judged_by_its_own_decision(self):
        people = [f"p{number}" for number in range(8)]
        enrolments = [Recording("c", person, 0, [], None) for person in people]
        self.assertEqual({fold_of(person) for person in people}, {0, 1})
        everyone = np.arange(8)
        trials = Trials(everyone, everyone, np.ones(8, bool), np.ones(8, bool))
        always, never = ({"scale": 1, "bias": 50}, 0.5), ({"scale": 1, "bias": -50}, 0.5)
        accepted = decided(np.zeros(8), trials, enrolments, [always, never])
        np.testing.assert_array_equal(accepted, [fold_of(person) == 0 for person in people])


if __name__ == "__main__":
    unittest.main()
