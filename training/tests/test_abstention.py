# SPDX-License-Identifier: Apache-2.0
"""Calibration by measured scores, the bound on verdicts without a reason, and the selection of reasons."""

import re
import unittest
from pathlib import Path

import numpy as np

from judge.abstention import LEVEL, bound_by_clip, bound_by_page, describe, shares_of_pages
from judge.calibrate_detector import (
    IDENTITY,
    calibrate,
    cross_calibrated,
    equal_error_threshold,
    generated_passing,
    threshold_passing,
)
from judge.measures import Measured, sigmoid
from judge.reasons import by_condition, errors
from judge.served_reasons import SERVED, has_reason, with_reason


def clip(label, source="s", system="", **more):
    unknown = dict.fromkeys(("codec", "coded_bits_per_s", "high_band_drop_db", "noise_gap_db"), "")
    return {"label": label, "source": source, "system": system, "part": "calibration", **unknown, **more}


def made(logits, spoof, pages=40):
    clips = [
        clip(
            "spoof" if is_spoof else "bonafide", f"page {index % pages}", f"system {index % pages}" if is_spoof else ""
        )
        for index, is_spoof in enumerate(spoof)
    ]
    return Measured(clips, [sigmoid(np.array([value])) for value in logits])


def overlapping(seed, shift, count=1000):
    """Logits of both classes whose equal-error point is at `shift`."""
    rng, spoof = np.random.default_rng(seed), np.arange(count) % 2 == 0
    return rng.normal(np.where(spoof, 1.5, -1.5) + shift, 1.5), spoof


class Calibration(unittest.TestCase):
    def test_half_becomes_the_equal_error_point_and_scores_become_shares(self):
        logits, spoof = overlapping(1, shift=2.0)
        measured = made(3 * logits, spoof)
        self.assertGreater(measured.calibration_error(), 0.1)
        after = measured.calibrated(IDENTITY, calibrate(measured))
        self.assertAlmostEqual(equal_error_threshold(after), 0.5, 3)
        self.assertAlmostEqual(after.is_wrong[spoof].mean(), after.is_wrong[~spoof].mean(), delta=0.02)
        self.assertLess(after.calibration_error(), 0.03)

    def test_a_page_has_no_part_in_its_own_calibration(self):
        logits, spoof = overlapping(4, shift=1.0)
        measured = made(logits, spoof, pages=10)
        own = np.array([clip["source"] == "page 3" for clip in measured.clips])
        # A page with only wrong scores would move the threshold of a calibration that saw it.
        wrong = made(np.where(own, np.where(spoof, -9.0, 9.0), logits), spoof, pages=10)
        calibration = calibrate(measured.only(~own))
        for raw in (measured, wrong):
            expected = raw.only(own).calibrated(IDENTITY, calibration)
            np.testing.assert_allclose(cross_calibrated(raw).only(own).scores, expected.scores)

    def test_no_more_generated_clips_pass_than_the_share(self):
        measured = made(*overlapping(2, shift=1.0))
        for share in (0.02, 0.1, 0.4):
            passing = (measured.scores[measured.spoof] < threshold_passing(share, measured)).mean()
            self.assertLessEqual(passing, share)
            self.assertGreater(passing, share - 0.03)

    def test_its_own_share_gives_the_threshold_back(self):
        measured = made(*overlapping(3, shift=1.0))
        above = measured.scores[measured.spoof & (measured.scores >= 0.5)].min()
        self.assertEqual(threshold_passing(generated_passing(measured), measured), above)

    def test_a_source_of_few_clips_does_not_weigh_as_much_as_a_large_one(self):
        clips = [clip("bonafide", "large")] * 20 + [clip("bonafide", "single")] + [clip("spoof", system="x")] * 5
        measured = Measured(clips, [np.array([0.5])] * len(clips))
        few = Measured([*clips, clip("bonafide", "another")], [np.array([0.5])] * (len(clips) + 1))
        self.assertAlmostEqual(measured.weights[20], 0.25)
        self.assertAlmostEqual(few.weights[20], 0.125)


class Bounds(unittest.TestCase):
    def test_too_low_in_at_most_one_of_twenty_worlds(self):
        rng, risk, misses, worlds = np.random.default_rng(4), 0.2, 0, 200
        for _ in range(worlds):
            wrong = rng.beta(0.4, 1.6, 25)  # a mean of 0.2, most pages hardly any
            misses += bound_by_page(wrong, np.ones(25), LEVEL) < risk
        self.assertLessEqual(misses / worlds, LEVEL)

    def test_more_pages_make_it_narrower(self):
        few, many = (bound_by_page(np.tile([0, 0.2], n), np.ones(2 * n), LEVEL) for n in (10, 100))
        self.assertGreater(few, many)
        self.assertGreater(many, 0.1)

    def test_clips_of_clopper_and_pearson(self):
        self.assertAlmostEqual(bound_by_clip(0, 59, 0.05), 0.0495, 3)  # about 3 / n
        self.assertEqual(bound_by_clip(7, 7, 0.05), 1.0)

    def test_a_page_counts_its_classes_alike(self):
        clips = [clip("bonafide")] * 3 + [clip("spoof")] + [clip("spoof", "other")]
        measured = Measured(clips, [np.array([0.1])] * 5)
        np.testing.assert_allclose(shares_of_pages(measured, measured.is_wrong), [0.5, 1.0])

    def test_verdicts_without_a_reason_are_told_apart(self):
        clips = [clip("bonafide"), clip("spoof"), clip("spoof"), clip("bonafide")]
        measured = Measured(clips, [np.array(w) for w in ([0.1], [0.54], [0.9, 0.2], [0.9])])
        np.testing.assert_array_equal(has_reason(measured), [False, True, True, False])
        telephone = clip("bonafide", high_band_drop_db="60")
        opus = clip("bonafide", codec="opus", coded_bits_per_s="16000 16000")
        noisy, quiet = (clip("bonafide", noise_gap_db=gap) for gap in ("30.9", "31"))
        others = Measured([telephone, opus, noisy, quiet], [np.array([0.1])] * 4)
        np.testing.assert_array_equal(has_reason(others), [True, True, True, False])
        found = describe(measured)
        self.assertEqual((found["human_with_reason"], found["generated_with_reason"]), (0.0, 1.0))
        self.assertEqual(found["human_flagged_without_reason"], 0.5)

    def test_limits_are_those_of_the_server(self):
        served = Path(__file__).parents[2].joinpath("src/analysis/verdict/reasons.ts").read_text()
        limit = lambda name: float(re.search(rf"{name} = ([\d_]+);", served)[1].replace("_", ""))
        self.assertEqual(SERVED["band_limited"], limit("BAND_LIMITED_FROM_DB"))
        self.assertEqual(SERVED["low_snr"], limit("LOW_SNR_BELOW_DB"))
        self.assertEqual(SERVED["low_bit_rate"], limit("LOW_OPUS_RATE_BELOW_BITS_PER_S"))


class Reasons(unittest.TestCase):
    def test_a_low_bit_rate_is_one_of_most_windows_and_of_opus(self):
        rates = ["12000", "12000 32000", "12000 32000 12000", "12000 32000 12000 32000", "12000"]
        clips = [
            clip("spoof", codec=codec, coded_bits_per_s=rate) for codec, rate in zip(["opus"] * 4 + ["mp3"], rates)
        ] + [clip("spoof", codec="", coded_bits_per_s="")]
        measured = Measured(clips, [np.array([0.9])] * len(clips))
        np.testing.assert_array_equal(
            with_reason(measured, "low_bit_rate", 20_000), [True, False, True, False, False, False]
        )

    def test_the_times_that_errors_are_more_frequent(self):
        clips = [
            clip(label, f"page {n % 5}", "x", noise_gap_db=gap)
            for n in range(50)
            for label in ("bonafide", "spoof")
            for gap in ("3", "40", "")
        ]
        # Half of the noisy ones are wrong, and a tenth of the others.
        order, windows = {"3": 0, "40": 0, "": 0}, []
        for each in clips:
            order[each["noise_gap_db"]] += 1
            is_wrong = order[each["noise_gap_db"]] // 2 % (2 if each["noise_gap_db"] == "3" else 10) == 0
            windows.append(np.array([0.9 if (each["label"] == "spoof") != is_wrong else 0.1]))
        measured = Measured(clips, windows)
        noisy = with_reason(measured, "low_snr", 18)
        self.assertEqual(noisy.sum(), 100)
        self.assertAlmostEqual(errors(measured, noisy)["times"], 5, delta=0.6)

    def test_a_reason_of_few_clips_says_nothing(self):
        clips = [clip("bonafide", f"page {n}", clipped_ratio="0.5" if n < 5 else "0") for n in range(40)] + [
            clip("spoof", system="x", clipped_ratio="0")
        ] * 5
        measured = Measured(clips, [np.array([0.1])] * len(clips))
        self.assertNotIn("times", errors(measured, with_reason(measured, "clipped", 0.01)))

    def test_a_condition_is_compared_with_the_same_clips_clean(self):
        columns = {"speech_s": "3", "clipped_ratio": "0", "high_band_drop_db": "", "noise_gap_db": ""}
        of = lambda label, path, **more: clip(label, path=path, clip=f"repository/{path}", **columns, **more)
        clean = Measured(
            [of("bonafide", "a.wav"), of("bonafide", "other.wav"), of("spoof", "b.wav")],
            [np.array([0.1]), np.array([0.9]), np.array([0.9])],
        )
        changed = [
            {**of(label, f"gsm/{path}", condition="gsm"), "clip": path}
            for label, path in (("bonafide", "a.wav"), ("spoof", "b.wav"), ("spoof", "refused when clean.wav"))
        ]
        found = by_condition(clean, Measured(changed, [np.array([0.9]), np.array([0.2]), np.array([0.2])]))["gsm"]
        self.assertEqual(found["clips"], 2)
        self.assertEqual(found["human_flagged"], {"clean": 0, "through": 1})
        self.assertEqual(found["generated_passing"], {"clean": 0, "through": 1})


if __name__ == "__main__":
    unittest.main()
