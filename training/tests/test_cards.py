# SPDX-License-Identifier: Apache-2.0
"""What stands in a model card."""

import tempfile
import unittest
from pathlib import Path

from judge.detector_card import learning_curve, percent, score_shifts, table


class Cards(unittest.TestCase):
    def test_shifts_are_taken_clip_by_clip_from_the_clean_score(self):
        row = lambda condition, clip, score: {"condition": condition, "clip": clip, "score": score}
        rows = [
            row("clean", "x", "0.5"),
            row("clean", "y", "0.1"),
            row("clean", "z", ""),
            row("flac", "y", "0.13"),
            row("flac", "x", "0.4"),
            row("flac", "z", "0.9"),
            row("mp3", "x", ""),
        ]
        self.assertEqual(score_shifts(rows), {"flac": {"clips": 2, "mean": 0.065, "largest": 0.1, "within_0.05": 0.5}})

    def test_a_table_in_markdown(self):
        self.assertEqual(table(["a", "b"], [["1", percent(0.0456)]]), "| a | b |\n| --- | --- |\n| 1 | 4.6 % |\n")

    def test_the_learning_curve_has_few_points_and_ends_with_the_last(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log.csv")
            log.write_text("crops,loss,eer,auc\n" + "".join(f"{step}000,0.5,0.2,0.9\n" for step in range(1, 30)))
            lines = learning_curve(log).splitlines()
        self.assertLessEqual(len(lines), 9)
        self.assertEqual(lines[-1], "| 29,000 | 0.5 | 20.0 % | 0.900 |")
