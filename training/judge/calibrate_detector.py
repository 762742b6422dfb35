# SPDX-License-Identifier: Apache-2.0
"""Calibrate a detector on `valid`, by its scores from the serving pipeline.

    python3 -m judge.calibrate_detector MEASURES.csv --model-id ID --out CALIBRATION.json [--models FOLDER]
        [--json CALIBRATION-FIGURES.json] [--passing-as OTHER-ID]

MEASURES.csv: from bench/clip-measures.ts, with the model's current calibration in the manifest of --models. The scale
is Platt's, and 0.5 becomes the equal-error point; both classes, and within them systems and sources, weigh alike. All
pages take part, because a threshold found on few pages varies. So the result is also measured with each page calibrated
by all others: `cross_fitted`, in addition to `fitted`. With --passing-as it also gives the score below which as many
generated clips pass as with the other detector of MEASURES.csv at 0.5: an operating point for voice identity that
passes no more of them than its predecessor and refuses fewer people.
"""

import json
from pathlib import Path

import numpy as np

from export.manifest_file import get_entry
from judge.figures import calibration_error, equal_error_point, fit_scale, rounded
from judge.measures import THRESHOLD, Measured, logit, options_parser

IDENTITY = {"scale": 1.0, "bias": 0.0}


def calibrate(raw):
    """For scores without a calibration."""
    means = raw.mean(logit)
    # Newton's steps diverge from a distant start.
    spread = means.std()
    scale = fit_scale((means - means.mean()) / spread, raw.spoof, raw.weights)[0] / spread
    low, high = -20.0, 20.0
    for _ in range(40):
        bias = (low + high) / 2
        threshold = equal_error_threshold(raw.calibrated(IDENTITY, {"scale": scale, "bias": bias}))
        low, high = (bias, high) if threshold < THRESHOLD else (low, bias)
    return {"scale": rounded(scale), "bias": rounded(bias)}


def cross_calibrated(raw):
    """Each page under the calibration of all others."""
    return raw.page_by_page(lambda page, own: own.calibrated(IDENTITY, calibrate(raw.only(raw.pages != page))))


def equal_error_threshold(measured):
    """Systems and sources alike."""
    return equal_error_point(measured.scores, measured.spoof, measured.weights)[1]


def generated_passing(measured):
    """At THRESHOLD, weighing systems equally."""
    spoof = measured.spoof
    return float(np.average(measured.is_wrong[spoof], weights=measured.weights[spoof]))


def threshold_passing(share, measured):
    """The highest score below which at most this share of generated clips lies, weighing systems equally."""
    spoof = measured.spoof
    order = np.argsort(measured.scores[spoof])
    scores, weights = measured.scores[spoof][order], measured.weights[spoof][order]
    first_over = int(np.argmax(np.cumsum(weights) / weights.sum() > share + 1e-9))
    return float(scores[first_over])


def describe(measured):
    wrong, alike = measured.is_wrong, measured.weights
    return {
        "equal_error_threshold": rounded(equal_error_point(measured.scores, measured.spoof)[1]),
        "equal_error_threshold_alike": rounded(equal_error_threshold(measured)),
        "expected_calibration_error_alike": rounded(measured.calibration_error()),
        "expected_calibration_error_classes_alike": rounded(calibration_error(measured.scores, measured.spoof)),
        "human_flagged": rounded(wrong[~measured.spoof].mean()),
        "generated_passing": rounded(wrong[measured.spoof].mean()),
        "human_flagged_alike": rounded(np.average(wrong[~measured.spoof], weights=alike[~measured.spoof])),
        "generated_passing_alike": rounded(generated_passing(measured)),
    }


def main():
    parser = options_parser(__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--json")
    parser.add_argument("--passing-as", metavar="OTHER-ID")
    options = parser.parse_args()
    measured = Measured.read(options.measures, options.model_id)
    raw = measured.calibrated(get_entry(options.model_id, options.models)["calibration"], IDENTITY)
    calibration = calibrate(raw)
    Path(options.out).write_text(json.dumps(calibration) + "\n")
    fitted = raw.calibrated(IDENTITY, calibration)
    found = {
        "calibration": calibration,
        **{
            name: {"all": describe(of), **{part: describe(of.of_part(part)) for part in ("calibration", "judging")}}
            for name, of in (("fitted", fitted), ("cross_fitted", cross_calibrated(raw)))
        },
    }
    if options.passing_as:
        other = Measured.read(options.measures, options.passing_as)
        found["operating_point"] = rounded(threshold_passing(generated_passing(other), fitted))
    text = json.dumps(found, indent=1)
    print(text)
    if options.json:
        Path(options.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
