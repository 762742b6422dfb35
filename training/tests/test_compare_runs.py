# SPDX-License-Identifier: Apache-2.0
"""Comparison of runs."""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

from judge.compare_runs import difference, figures_of_run, run_table

TRAINING = Path(__file__).parents[1]


def clips_of(count=240):
    return [
        {
            "path": str(place),
            "label": "spoof" if place % 2 else "bonafide",
            "system": f"system {place % 9}" if place % 2 else "",
            "source": f"page {place % 7}",
            "part": "judging",
        }
        for place in range(count)
    ]


def logits_of(clips, distance, seed):
    sides = np.array([1.0 if clip["label"] == "spoof" else -1.0 for clip in clips])
    return np.random.default_rng(seed).normal(sides * distance, 1.0)


class Runs(unittest.TestCase):
    def test_a_clearly_worse_run_is_below_the_first_and_an_equal_one_is_not(self):
        clips = clips_of()
        first = logits_of(clips, 1.2, 1)
        worse = difference(first, logits_of(clips, 0.3, 2), clips)
        self.assertLess(worse["interval_95"][1], 0)
        self.assertLess(worse["interval_95"][0], worse["value"])
        self.assertEqual(difference(first, 3 * first + 1, clips), {"value": 0.0, "interval_95": [0.0, 0.0]})

    def test_a_row_has_the_figures_of_its_run(self):
        clips = clips_of()
        certain = np.array([5.0 if clip["label"] == "spoof" else -5.0 for clip in clips])
        run = {**figures_of_run(certain, clips), "difference": None}
        self.assertEqual(run["all"], {"eer": 0.0, "auc": 1.0})
        self.assertEqual(run["inside_a_page"], 1.0)
        self.assertIsNone(run["modern_same_pages"])
        self.assertIn("| all | 0.0 % / 1.000 | 0.0 % / 1.000 |  | 1.000 |  |", run_table({"all": run}))

    def test_the_command_leaves_out_what_one_run_has_not_scored(self):
        with tempfile.TemporaryDirectory() as folder:
            clips, paths = clips_of(), []
            for name, distance in (("all", 1.2), ("without", 0.5)):
                paths.append(Path(folder, f"{name}.csv"))
                with open(paths[-1], "w", newline="") as file:
                    writer = csv.DictWriter(file, [*clips[0], "score"])
                    writer.writeheader()
                    for place, (clip, value) in enumerate(zip(clips, logits_of(clips, distance, 3))):
                        score = "" if name == "without" and place == 0 else 1 / (1 + np.exp(-value))
                        writer.writerow({**clip, "score": score})
            target = Path(folder, "runs.json")
            result = subprocess.run(
                [sys.executable, "-m", "judge.compare_runs", *paths, "--json", target],
                check=True,
                capture_output=True,
                text=True,
                cwd=TRAINING,
            )
            self.assertTrue(result.stdout.startswith("239 clips."))
            runs = json.loads(target.read_text())
            self.assertIsNone(runs["all"]["difference"])
            self.assertLess(runs["without"]["difference"]["value"], 0)


if __name__ == "__main__":
    unittest.main()
