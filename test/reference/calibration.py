# SPDX-License-Identifier: Apache-2.0
"""The reference numbers of test/cli/models-calibrate.test.ts: the output of training/judge/calibrate_detector.py for
clips.

    PYTHONPATH=training python3 -P test/reference/calibration.py

-P keeps this folder, which also has a module named features, off the path.
"""

import json

import numpy as np

from judge.calibrate_detector import IDENTITY, calibrate, describe
from judge.figures import equal_error_rate
from judge.measures import Measured, sigmoid


def draws(state):
    """Lehmer's generator: its numbers are exact in any language with doubles."""
    while True:
        state = state * 48271 % 2147483647
        yield state / 2147483647


def made_up(seed, count, groups, shift):
    """Clips of up to three windows; a third is human, and the first groups are the largest."""
    draw = draws(seed)
    clips, windows = [], []
    for i in range(count):
        spoof = i % 3 != 0
        group = int(next(draw) ** 2 * groups)
        centre = (1.5 if spoof else -1) + 0.4 * (group % 3) + shift
        own = [centre + 3 * (next(draw) + next(draw) - 1) for _ in range(1 + int(next(draw) * 3))]
        label, system = ("spoof", str(group)) if spoof else ("bonafide", "")
        clips.append({"label": label, "system": system, "source": str(group), "part": "calibration"})
        windows.append(sigmoid(np.array(own)))
    return Measured(clips, windows)


for arguments in [(7, 300, 9, 0), (11, 90, 14, 2.5), (5, 1000, 6, -4)]:
    raw = made_up(*arguments)
    calibration = calibrate(raw)
    fitted = raw.calibrated(IDENTITY, calibration)
    figures = describe(fitted)
    found = {
        **calibration,
        "fpr": figures["human_flagged_alike"],
        "fnr": figures["generated_passing_alike"],
        "eer": round(equal_error_rate(fitted.scores, fitted.spoof, fitted.weights), 4),
        "expectedCalibrationError": figures["expected_calibration_error_alike"],
    }
    print(arguments, json.dumps(found), "weights", raw.weights[:2].round(8).tolist())
