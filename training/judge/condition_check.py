# SPDX-License-Identifier: Apache-2.0
"""Errors of a network in training under a few conditions, at the threshold of clean clips: CONDITIONS of
`judge.make_conditions --part calibration`.

One window from the middle of each clip, as in the validation of train.detector. The judging clips are refused.
"""

import tempfile
from pathlib import Path

import numpy as np

from data.originals_cache import read_table
from data.prepare_corpus import ffmpeg
from data.sampler import repeat_sound
from features.native import FeatureExtractor
from features.recipe import SAMPLE_RATE_HZ, WINDOW_SAMPLES
from judge.figures import area_under_curve, equal_error_point

CLEAN = "clean"
CHECKED = [CLEAN, "opus 16 kbit/s", "gsm", "noise 15 dB"]
FILES = 40  # files per ffmpeg


def decoded(paths):
    """float32 at 16 kHz of each file."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, outputs = [], []
        for index, path in enumerate(paths):
            inputs += ["-i", path]
            outputs += ["-map", f"{index}:a", "-ac", 1, "-ar", SAMPLE_RATE_HZ, "-f", "f32le", f"{folder}/{index}"]
        ffmpeg(*inputs, *outputs)
        return [np.fromfile(f"{folder}/{index}", np.float32) for index in range(len(paths))]


def middle_window(samples):
    start = max(0, (len(samples) - WINDOW_SAMPLES) // 2)
    return repeat_sound(samples[start : start + WINDOW_SAMPLES], WINDOW_SAMPLES)


def errors_by_condition(logits, spoof, conditions):
    """{"eer", "auc", "threshold": of clean clips; flagged and passed of each condition at that threshold}"""
    clean = conditions == CLEAN
    eer, threshold = equal_error_point(logits[clean], spoof[clean])
    made = {"eer": eer, "auc": area_under_curve(logits[clean], spoof[clean]), "threshold": threshold}
    for name in dict.fromkeys(conditions):
        of_name, flagged = conditions == name, logits > threshold
        made[f"flagged: {name}"] = float(np.mean(flagged[of_name & ~spoof]))
        made[f"passed: {name}"] = float(np.mean(~flagged[of_name & spoof]))
    return made


def mean_error(figures):
    """Mean over the conditions, weighing both kinds of error equally."""
    return float(np.mean([value for name, value in figures.items() if name.startswith(("flagged", "passed"))]))


class ConditionCheck:
    def __init__(self, folder, recipe, names=CHECKED):
        folder = Path(folder)
        rows = [row for row in read_table(folder / "list.csv") if row["condition"] in names]
        if missing := set(names) - {row["condition"] for row in rows}:
            raise ValueError(f"{folder}/list.csv lacks {', '.join(sorted(missing))}")
        if any(row["part"] != "calibration" for row in rows):
            raise ValueError(f"{folder}/list.csv has clips that judge: make it with --part calibration")
        self._spoof = np.array([row["label"] == "spoof" for row in rows])
        self._conditions = np.array([row["condition"] for row in rows])
        extractor, windows = FeatureExtractor(recipe), []
        for first in range(0, len(rows), FILES):
            clips = decoded([folder / row["path"] for row in rows[first : first + FILES]])
            windows += [extractor.compute(middle_window(samples)).astype(np.float16) for samples in clips]
        self._windows = np.stack(windows)

    def figures(self, score):
        """`score`: [windows, bands, frames] -> logits."""
        return errors_by_condition(score(self._windows), self._spoof, self._conditions)
