# SPDX-License-Identifier: Apache-2.0
"""Clues in recordings apart from synthesis: boosting on level, band energies and duration.

    python3 -m judge.trivial_floor --cache FOLDER [--list JUDGE/list.csv --scores FLOOR.csv]

Prints EER and AUC on the validation clips of at least 1 s, trained on the training clips (no copies of ours) with
systems and sources weighted alike. With --list, the files of `judge.originals files` are scored instead;
`judge.originals figures FLOOR.csv SCORES.csv` then compares the floor with detectors. Only the part above this floor
counts for a detector. Needs python3-sklearn.
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from data.corpus_cache import CorpusCache
from data.originals_cache import read_table, write_table
from features.native import Resampler
from features.recipe import SAMPLE_RATE_HZ
from judge.figures import alike, group_of, inside_sources, overall
from judge.make_conditions import read_wave

BAND_EDGES_HZ = [0, 100, 300, 700, 1500, 2500, 3500, 5000, 6500, 8000]


def trivial_numbers(samples):
    """13 numbers: rms and peak in dB, duration in s, share of near-silent 20 ms frames, 9 relative band energies in
    dB."""
    decibel = lambda power: 10 * np.log10(power + 1e-10)
    power = np.abs(np.fft.rfft(samples)) ** 2
    edges = np.array(BAND_EDGES_HZ) * len(samples) // SAMPLE_RATE_HZ
    bands = np.array([power[low:high].sum() for low, high in pairwise(edges)]) / (power.sum() + 1e-10)
    frames = samples[: len(samples) // 320 * 320].reshape(-1, 320)
    quiet = np.mean(np.mean(frames**2, axis=1) < 1e-4 * np.max(samples**2))
    return [
        decibel(np.mean(samples**2)),
        decibel(np.max(samples**2)),
        len(samples) / SAMPLE_RATE_HZ,
        quiet,
        *decibel(bands),
    ]


def of_file(path):
    samples, rate_hz = read_wave(path)
    heard = samples if rate_hz == SAMPLE_RATE_HZ else Resampler(rate_hz, SAMPLE_RATE_HZ).resample(samples)
    return trivial_numbers(np.asarray(heard, np.float32))


def score_list(model, list_path, scores_path):
    """In the format of `veravox evaluate --scores`."""
    rows = read_table(list_path)
    numbers = np.array([of_file(Path(list_path).parent / row["path"]) for row in rows])
    for row, score in zip(rows, model.predict_proba(numbers)[:, 1]):
        row.update(score=f"{score:.6f}", model="trivial-floor", model_fingerprint="trivial-floor")
    write_table(scores_path, list(rows[0]), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--list")
    parser.add_argument("--scores")
    options = parser.parse_args()
    if (options.list is None) != (options.scores is None):
        parser.error("--list and --scores go together")
    cache = CorpusCache(options.cache)
    clips = [
        clip for clip in cache.clips if clip["category"] != "own-copy-synthesis" and clip["samples"] >= SAMPLE_RATE_HZ
    ]
    numbers = np.array([trivial_numbers(cache.samples(clip)) for clip in clips])
    spoof = np.array([clip["label"] == "spoof" for clip in clips])
    train = np.array([clip["split"] == "train" for clip in clips])
    weights = np.zeros(len(clips))
    for label in (True, False):
        chosen = np.flatnonzero(train & (spoof == label))
        weights[chosen] = alike([clips[index] for index in chosen], group_of)
        weights[chosen] /= weights[chosen].sum() / len(chosen)
    model = HistGradientBoostingClassifier(max_iter=200, learning_rate=0.05, random_state=0)
    model.fit(numbers[train], spoof[train], weights[train])
    if options.list:
        score_list(model, options.list, options.scores)
        return
    valid = [clip for clip, is_train in zip(clips, train) if not is_train]
    scores = model.predict_proba(numbers[~train])[:, 1]
    print(
        json.dumps(
            {
                "clip": overall(scores, valid, np.random.default_rng(20260326)),
                "auc_inside_one_source": inside_sources(scores, valid),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
