# SPDX-License-Identifier: Apache-2.0
"""Calibrate the exported detector on the validation split, through onnxruntime-node.

    python3 -m judge.calibrate_detector --cache FOLDER --model-id ID --out CALIBRATION.json [--models FOLDER]

A clip's score is the mean of its windows' probabilities, as served; windows are not skipped for silence here. Clips
below 1 s, which the server refuses, do not count.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from data.corpus_cache import CorpusCache
from export.manifest_file import MODELS, get_entry
from features.recipe import SAMPLE_RATE_HZ
from judge.figures import alike, equal_error_point, fit_scale, group_of
from judge.serving_windows import score_clips


def probabilities(logits, calibration):
    return np.array(
        [np.mean(1 / (1 + np.exp(-(calibration["scale"] * clip + calibration["bias"])))) for clip in logits]
    )


def calibrate(logits, clips, spoof):
    """Scale by Platt; bias so that 0.5 is the equal-error point of the clips' scores with groups weighted alike."""
    weights = alike(clips, group_of)
    means = np.array([clip.mean() for clip in logits])
    scale, low, high = fit_scale(means, spoof, weights)[0], -20.0, 20.0
    for _ in range(40):
        bias = (low + high) / 2
        _, threshold = equal_error_point(probabilities(logits, {"scale": scale, "bias": bias}), spoof, weights)
        low, high = (bias, high) if threshold < 0.5 else (low, bias)
    return {"scale": round(float(scale), 4), "bias": round(float(bias), 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--model-id", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--models", default=MODELS)
    options = parser.parse_args()
    model = get_entry(options.model_id, options.models)
    cache = CorpusCache(options.cache)
    clips = [clip for clip in cache.clips if clip["split"] == "valid" and clip["samples"] >= SAMPLE_RATE_HZ]
    logits = score_clips(
        Path(options.models) / model["file"], (cache.samples(clip) for clip in clips), model["features"]
    )
    calibration = calibrate(logits, clips, np.array([clip["label"] == "spoof" for clip in clips]))
    Path(options.out).write_text(json.dumps(calibration) + "\n")
    print(calibration)


if __name__ == "__main__":
    main()
