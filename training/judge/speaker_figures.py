# SPDX-License-Identifier: Apache-2.0
"""Embeddings as served, recordings with their own channels, and figures of verification trials."""

import numpy as np

from data.prepare_corpus import GAP_SAMPLES, MEASURED_CODECS, through_codec
from data.sampler import repeat_to_length
from features.native import speech_decisions
from features.speaker_recipe import EMBEDDING_SIZE, FEATURES
from judge.figures import equal_error_rate, error_rates, rounded
from judge.serving_windows import run_model, voiced_windows_of, windows_of
from signals.augmentation import equalise_and_add_noise

ROUNDS = 500


def embed(model_path, recordings_samples):
    """float32 [recordings, 256] of length 1, as served. A recording whose windows all lack speech is embedded whole."""
    counts = []

    def windows():
        for samples in recordings_samples:
            cut = voiced_windows_of(samples, speech_decisions(samples)) or windows_of(samples, repeat_to_length)
            counts.append(len(cut))
            yield from cut

    each = run_model(model_path, windows(), FEATURES)
    assert each.shape[1] == EMBEDDING_SIZE
    each = each / np.linalg.norm(each, axis=1, keepdims=True)
    means = np.add.reduceat(each, np.cumsum([0, *counts[:-1]]), axis=0)
    return means / np.linalg.norm(means, axis=1, keepdims=True)


def code_clips(samples_of_clips, condition):
    """All clips as one stream through an encoder and back."""
    arguments, container, rate_hz = condition
    gap = np.zeros(GAP_SAMPLES, np.int16)
    stream = np.concatenate(
        [part for samples in samples_of_clips for part in ((samples * 32768).astype(np.int16), gap)]
    )
    coded = through_codec(stream, ("", arguments, container, None), rate_hz).astype(np.float32) / 32768
    starts = np.cumsum([0] + [len(samples) + GAP_SAMPLES for samples in samples_of_clips])
    return [coded[start : start + len(samples)] for start, samples in zip(starts, samples_of_clips)]


def through_own_channels(recordings, rng):
    """The samples of each recording through its own equaliser, noise and one of MEASURED_CODECS."""
    changed = [equalise_and_add_noise(recording.samples, rng) for recording in recordings]
    conditions = rng.integers(len(MEASURED_CODECS), size=len(recordings))
    for number, condition in enumerate(MEASURED_CODECS.values()):
        chosen = np.flatnonzero(conditions == number)
        for index, samples in zip(chosen, code_clips([changed[index] for index in chosen], condition)):
            changed[index] = samples
    return changed


def min_detection_cost(cosines, same, weights=None, prior=0.01):
    """Minimum of prior * misses + (1 - prior) * false accepts over all thresholds, relative to accepting nobody."""
    accepts, misses, _ = error_rates(-cosines, ~same, weights)
    # With the sign inverted, a "false alarm" is a rejected speaker and a "miss" an accepted impostor.
    return float(np.min(prior * accepts + (1 - prior) * misses) / prior)


def speaker_interval(figure, trials, enrolments, tests, rng):
    """95 % interval by resampling speakers: a trial weighs as often as both of its speakers were drawn."""
    names = sorted({recording.speaker for recording in enrolments + tests})
    number = {name: index for index, name in enumerate(names)}
    first = np.array([number[recording.speaker] for recording in enrolments])[trials.enrolled]
    second = np.array([number[recording.speaker] for recording in tests])[trials.tested]
    values = []
    for _ in range(ROUNDS):
        drawn = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))
        weights = np.where(trials.same, drawn[first], drawn[first] * drawn[second]).astype(float)
        if weights[trials.same].any() and weights[~trials.same].any():
            values.append(figure(weights))
    return rounded([float(value) for value in np.percentile(values, [2.5, 97.5])])


def summary(cosines, trials, enrolments, tests, rng=None):
    """Counts, EER and minDCF of some trials; with `rng` also the EER's interval."""
    figures = {
        "speakers_enrolled": len({enrolments[index].speaker for index in np.unique(trials.enrolled)}),
        "same_speaker_trials": int(trials.same.sum()),
        "different_speaker_trials": int((~trials.same).sum()),
    }
    if trials.same.any() and (~trials.same).any():
        figures["eer"] = rounded(equal_error_rate(-cosines, ~trials.same))
        if rng is not None:
            figures["eer_interval_95"] = speaker_interval(
                lambda weights: equal_error_rate(-cosines, ~trials.same, weights), trials, enrolments, tests, rng
            )
        figures["min_dcf_0.01"] = rounded(min_detection_cost(cosines, trials.same))
    return figures


def similarity(cosines, calibration):
    return 1 / (1 + np.exp(-(calibration["scale"] * cosines + calibration["bias"])))
