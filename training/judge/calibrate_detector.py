# SPDX-License-Identifier: Apache-2.0
"""Calibrate a detector on the part of `valid` kept only for that, by its scores from the pipeline that serves.

    python3 -m judge.calibrate_detector MEASURES.csv --model-id ID --out CALIBRATION.json [--models FOLDER]
        [--passing-as OTHER-ID]

MEASURES.csv: of bench/clip-measures.ts, with the model's calibration as it now stands in the manifest of --models.
The scale is Platt's, with both classes alike; 0.5 becomes the equal-error point. Systems and sources do not weigh
alike: both figures would hang on few clips, and the standard error over pages would be half as large again. Prints what
comes of them there and on the part that judges. With --passing-as it also prints the score below which as many
generated clips of the part for calibration pass as by the other detector of MEASURES.csv at 0.5: an operating point for
voice identity that lets no more of them through than its predecessor and refuses fewer people.
"""

import json
from pathlib import Path

import numpy as np

from export.manifest_file import get_entry
from judge.figures import calibration_error, equal_error_point, fit_scale, rounded
from judge.measures import THRESHOLD, Measured, logit, options_parser

IDENTITY = {"scale": 1.0, "bias": 0.0}


def calibrate(raw, threshold_of):
    """Of scores without a calibration. `threshold_of(measured)`: the score that is to become THRESHOLD."""
    means = np.array([logit(windows).mean() for windows in raw.windows])
    # Newton's steps go astray from a start that is far away.
    spread = means.std()
    scale = fit_scale((means - means.mean()) / spread, raw.spoof, np.ones(len(means)))[0] / spread
    low, high = -20.0, 20.0
    for _ in range(40):
        bias = (low + high) / 2
        threshold = threshold_of(raw.calibrated(IDENTITY, {"scale": scale, "bias": bias}))
        low, high = (bias, high) if threshold < THRESHOLD else (low, bias)
    return {"scale": rounded(scale), "bias": rounded(bias)}


def equal_error_threshold(measured):
    return equal_error_point(measured.scores, measured.spoof)[1]


def generated_passing(measured):
    """At THRESHOLD, with systems alike."""
    spoof = measured.spoof
    return float(np.average(measured.is_wrong[spoof], weights=measured.weights[spoof]))


def threshold_passing(share, measured):
    """The highest score below which at most this share of generated clips lies, systems alike."""
    spoof = measured.spoof
    order = np.argsort(measured.scores[spoof])
    scores, weights = measured.scores[spoof][order], measured.weights[spoof][order]
    first_over = int(np.argmax(np.cumsum(weights) / weights.sum() > share + 1e-9))
    return float(scores[first_over])


def describe(measured):
    rate, threshold = equal_error_point(measured.scores, measured.spoof, measured.weights)
    wrong = measured.is_wrong
    return {
        "equal_error_threshold": rounded(equal_error_threshold(measured)),
        "eer_alike": rounded(rate),
        "equal_error_threshold_alike": rounded(threshold),
        "expected_calibration_error_alike": rounded(measured.calibration_error()),
        "expected_calibration_error_classes_alike": rounded(calibration_error(measured.scores, measured.spoof)),
        "human_flagged": rounded(wrong[~measured.spoof].mean()),
        "generated_passing": rounded(wrong[measured.spoof].mean()),
    }


def main():
    parser = options_parser(__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--passing-as", metavar="OTHER-ID")
    options = parser.parse_args()
    measured = Measured.read(options.measures, options.model_id)
    raw = measured.calibrated(get_entry(options.model_id, options.models)["calibration"], IDENTITY)
    calibration = calibrate(raw.of_part("calibration"), equal_error_threshold)
    Path(options.out).write_text(json.dumps(calibration) + "\n")
    print(calibration)
    after = raw.calibrated(IDENTITY, calibration)
    for part in ("calibration", "judging"):
        print(part, json.dumps(describe(after.of_part(part))))
    if options.passing_as:
        other = Measured.read(options.measures, options.passing_as).of_part("calibration")
        print("operating point", rounded(threshold_passing(generated_passing(other), after.of_part("calibration"))))


if __name__ == "__main__":
    main()
