# SPDX-License-Identifier: Apache-2.0
"""Figures on held-out pages and their bootstrap, against SciPy and small cases worked out by hand."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy import stats

from judge.figures import calibration_error, percentile_interval, unit_weights
from judge.held_out import figures_of
from judge.markdown import held_out_table
from tests.support import WithFolder


def clip(label, source, system="", **more):
    return {"label": label, "source": source, "system": system if label == "spoof" else "", **more}


def logit(probability):
    return np.log(probability / (1 - probability))


def drawn_clips(pages=8, seed=0):
    """Pages with three clips of each class; their scores overlap."""
    rng, clips, logits = np.random.default_rng(seed), [], []
    for page in range(pages):
        for label in ("bonafide", "spoof"):
            clips += [clip(label, f"page {page}", f"system {page}", rate_hz="16000", language="en")] * 3
            logits += list(rng.normal(1 if label == "spoof" else -1, 1.5, 3))
    return np.array(logits), clips


class HeldOutFigures(WithFolder):
    def test_auc_is_that_of_the_rank_sum_and_its_interval_holds_it(self):
        logits, clips = drawn_clips()
        spoof = np.array([entry["label"] == "spoof" for entry in clips])
        figures = figures_of(logits, clips)
        wins = stats.mannwhitneyu(logits[spoof], logits[~spoof]).statistic
        self.assertAlmostEqual(figures["all"]["auc"]["value"], wins / (spoof.sum() * (~spoof).sum()), places=4)
        low, high = figures["all"]["auc"]["interval_95"]
        self.assertLess(low, figures["all"]["auc"]["value"])
        self.assertGreater(high, figures["all"]["auc"]["value"])
        inside = [
            stats.mannwhitneyu(logits[rows & spoof], logits[rows & ~spoof]).statistic / 9
            for page in range(8)
            for rows in [np.array([entry["source"] == f"page {page}" for entry in clips])]
        ]
        self.assertAlmostEqual(figures["inside_a_page"]["value"], np.mean(inside), places=4)

    def test_a_mean_of_fewer_than_five_pages_is_not_given_and_the_reason_is(self):
        logits, clips = drawn_clips(pages=4)
        figures = figures_of(logits, clips)
        self.assertIsNone(figures["inside_a_page"]["value"])
        self.assertEqual(len(figures["inside_a_page"]["pages"]), 4)
        self.assertIn("only 4 pages", held_out_table({"x": figures}))
        self.assertIsNone(figures["all"]["auc"]["interval_95"])
        self.assertIsNone(figures["human_flagged"]["interval_95"])

    def test_errors_on_a_page_are_taken_at_the_threshold_of_the_others(self):
        # On every page but one, scores of 0.2 and 0.4 are apart; on the last, all of them are higher.
        clips, scores = [], []
        for page in range(5):
            for label, score in (("bonafide", 0.2), ("spoof", 0.4)):
                clips.append(clip(label, f"page {page}", f"system {page}"))
                scores.append(score)
        for label, score in (("bonafide", 0.41), ("spoof", 0.9)):
            clips.append(clip(label, "another", "another"))
            scores.append(score)
        left_out = figures_of(logit(np.array(scores)), clips)["leave_one_page_out"]
        self.assertEqual(left_out["pages"], 6)
        self.assertEqual(left_out["human_flagged"]["value"], round(1 / 6, 4))
        self.assertEqual(left_out["generated_passing"]["value"], 0)

    def test_groups_with_few_clips_are_left_out_and_columns_that_a_list_lacks(self):
        clips = [clip("bonafide", f"s{place % 6}", language="en" if place else "xx") for place in range(31)]
        clips += [clip("spoof", "s0", "a", language="en")]
        scores = np.where(np.arange(32) % 2 == 0, 0.9, 0.1)
        figures = figures_of(logit(scores), clips)
        self.assertEqual(list(figures["human_flagged_by"]["language"]), ["en"])
        self.assertEqual(figures["human_flagged_by"]["language"]["en"]["value"], 0.5)
        self.assertEqual(figures["human_flagged_by"]["emotion"], {})
        self.assertIsNone(figures["reasons"])
        self.assertIn("no column `reason`", held_out_table({"x": figures}))

    def test_errors_with_and_without_a_reason(self):
        clips = [clip("bonafide", f"s{place}", reason="low_snr" if place < 4 else "") for place in range(12)]
        clips += [clip("spoof", "t", "a", reason="") for _ in range(4)]
        scores = np.array([0.9, 0.9, 0.9, 0.1] + [0.9] + [0.1] * 7 + [0.9] * 4)
        reasons = figures_of(logit(scores), clips)["reasons"]
        self.assertEqual(reasons["human_with_reason"]["value"], round(4 / 12, 4))
        self.assertEqual(reasons["errors_with"]["value"], 0.75)
        self.assertEqual(reasons["errors_without"]["value"], round(1 / 12, 4))
        self.assertEqual(reasons["by_reason"]["low_snr"]["clips"], 4)

    def test_a_list_of_one_class_has_its_errors_and_no_figure_that_needs_both(self):
        figures = figures_of(logit(np.array([0.9, 0.1])), [clip("bonafide", "a"), clip("bonafide", "b")])
        self.assertEqual(figures["human_flagged"]["value"], 0.5)
        self.assertIsNone(figures["all"]["eer"])
        self.assertIsNone(figures["generated_passing"])
        self.assertIn("human flagged at 0.5", held_out_table({"x": figures}))

    def test_the_short_table_lacks_the_rows_of_single_groups(self):
        clips = [{**clip("bonafide", f"page {place % 6}"), "language": "xy"} for place in range(30)]
        figures = figures_of(logit(np.full(30, 0.1)), clips, rounds=2)
        row = "human flagged, language: xy"
        self.assertIn(row, held_out_table({"x": figures}))
        self.assertNotIn(row, held_out_table({"x": figures}, with_groups=False))

    def test_the_command_prints_a_column_per_file_of_the_part_that_judges(self):
        columns = ["path", "label", "part", "source", "system", "score", "model", "model_fingerprint"]
        for name, shift in (("before", 0), ("after", 0.5)):
            logits, clips = drawn_clips()
            with open(self.folder / f"{name}.csv", "w", newline="") as file:
                writer = csv.DictWriter(file, columns, extrasaction="ignore")
                writer.writeheader()
                for place, (entry, value) in enumerate(zip(clips, logits)):
                    score = 1 / (1 + np.exp(-value - shift))
                    if name == "after" and place == 0:
                        score = ""  # not decoded: in neither column then
                    part = "calibration" if entry["source"] == "page 7" else "judging"
                    writer.writerow({**entry, "path": place, "part": part, "score": score, "model": name})
        target = self.folder / "figures.json"
        result = subprocess.run(
            [
                sys.executable,
                "-m",
                "judge.originals",
                "figures",
                *(self.folder / f"{name}.csv" for name in ("before", "after")),
                "--json",
                target,
            ],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        self.assertIn("|  | before | after |", result.stdout)
        self.assertIn("20 human clips of 7 sources", result.stdout)
        reports = json.loads(target.read_text())
        self.assertEqual(reports["before"]["all"], reports["after"]["all"])
        self.assertEqual(reports["before"]["all"]["human"], 20)
        self.assertGreater(reports["after"]["human_flagged"]["value"], reports["before"]["human_flagged"]["value"])


class Bootstrap(WithFolder):
    def test_units_are_drawn_whole_and_as_many_of_each_class_as_it_has(self):
        clips = [clip("bonafide", "a")] * 2 + [clip("bonafide", "b")] + [clip("spoof", "x", "s")] * 3
        weights = unit_weights(clips, rounds=2000)
        np.testing.assert_array_equal(weights[:, 0], weights[:, 1])
        np.testing.assert_array_equal(weights[:, 0] + weights[:, 2], 2)
        np.testing.assert_array_equal(weights[:, 3:], 1)
        # Of two draws of two units, neither is a: (1/2)^2.
        self.assertAlmostEqual(np.mean(weights[:, 0] == 0), 0.25, delta=0.04)

    def test_the_interval_of_a_mean_is_near_that_of_scipy(self):
        values = np.random.default_rng(3).normal(size=60)
        clips = [clip("bonafide", f"s{place}") for place in range(60)]
        weights = unit_weights(clips, rounds=4000)
        own = percentile_interval(weights @ values / 60)
        other = stats.bootstrap((values,), np.mean, method="percentile", random_state=1).confidence_interval
        np.testing.assert_allclose(own, [other.low, other.high], atol=0.03)

    def test_undefined_rounds_do_not_count(self):
        self.assertEqual(percentile_interval([np.nan, 0.5, 0.5]), [0.5, 0.5])
        self.assertIsNone(percentile_interval([np.nan]))

    def test_calibration_error_weighs_both_classes_alike(self):
        # Bin 0.1 to 0.2: two thirds of the human weight, half of the generated.
        probabilities = np.array([0.15, 0.15, 0.85, 0.15, 0.85])
        spoof = np.array([False, False, False, True, True])
        low = abs(0.15 * (1 / 3 + 1 / 4) - 1 / 4)
        high = abs(0.85 * (1 / 6 + 1 / 4) - 1 / 4)
        self.assertAlmostEqual(calibration_error(probabilities, spoof), low + high)
