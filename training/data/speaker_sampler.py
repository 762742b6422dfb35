# SPDX-License-Identifier: Apache-2.0
"""Draws training crops of labelled speakers. A speaker who talks faster or slower, pitch included, is another
speaker."""

import csv
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import fft

from data.sampler import CODEC_SHARE, repeat_to_length
from features.recipe import SAMPLE_RATE_HZ
from signals.augmentation import augment

SPEEDS = [1.0, 0.9, 1.1]
DURATION_POWER = 0.6  # of a speaker's seconds: 0 would weigh all speakers alike, 1 all seconds
WINDOW_SECONDS, WINDOW_SHARES = [2.0, 3.0, 5.0], [0.65, 0.25, 0.1]
SHORTEST_CROP_S = 1.2
SHORT_CROP_SHARE = 0.4
LENGTH_STEP_SAMPLES = 1600  # lengths whose Fourier transforms are fast, also after a change of speed


def verified_speakers(cache, split, corpus=None):
    """{speaker: clips} of one split: the clips whose index row says speaker_verified = yes, which the cache's own table
    does not carry. `corpus` is the folder with index.csv, by default VERAVOX_CORPUS."""
    with open(Path(corpus or os.environ["VERAVOX_CORPUS"]) / "index.csv", newline="") as index:
        verified = {row["path"] for row in csv.DictReader(index) if row["speaker_verified"] == "yes"}
    speakers = defaultdict(list)
    for clip in cache.clips:
        if clip["path"] in verified and clip["split"] == split and clip["label"] == "bonafide":
            speakers[clip["speaker"]].append(clip)
    return {name: speakers[name] for name in sorted(speakers)}


def stretch(samples, count):
    """Plays `samples` in the time of `count` samples; pitch and formants move with the speed."""
    if len(samples) == count:
        return samples
    spectrum = fft.rfft(samples)
    return (fft.irfft(spectrum[: count // 2 + 1], count) * (count / len(samples))).astype(np.float32)


class SpeakerCropSampler:
    """batch(i) depends on the seed and i only."""

    def __init__(self, cache, seed, batch_size, corpus=None):
        self._cache, self._seed, self._batch_size = cache, seed, batch_size
        speakers = verified_speakers(cache, "train", corpus)
        self.names = list(speakers)
        self._clips = list(speakers.values())
        seconds = np.array([sum(clip["samples"] for clip in clips) / SAMPLE_RATE_HZ for clips in self._clips])
        self._shares = seconds**DURATION_POWER / np.sum(seconds**DURATION_POWER)

    @property
    def classes(self):
        return len(self.names) * len(SPEEDS)

    def _draw_speech(self, clips, count, rng):
        """Up to `count` samples of one speaker: a part of one clip, or several clips of one source joined."""
        variant = int(rng.integers(1, self._cache.variants)) if rng.random() < CODEC_SHARE else 0
        first = clips[rng.integers(len(clips))]
        if first["samples"] >= count:
            start = int(rng.integers(first["samples"] - count + 1))
            return self._cache.samples(first, variant, start, count)
        parts, missing = [self._cache.samples(first, variant)], count - first["samples"]
        for index in rng.permutation(len(clips)):
            if missing <= 0:
                break
            if clips[index] is not first and clips[index]["source"] == first["source"]:
                parts.append(self._cache.samples(clips[index], variant, 0, min(missing, clips[index]["samples"])))
                missing -= len(parts[-1])
        return np.concatenate([parts[index] for index in rng.permutation(len(parts))])

    def _draw_crop(self, speaker, speed, window_samples, rng):
        length = window_samples
        if rng.random() < SHORT_CROP_SHARE:
            length = int(rng.uniform(SHORTEST_CROP_S, window_samples / SAMPLE_RATE_HZ) * SAMPLE_RATE_HZ)
        length = length // LENGTH_STEP_SAMPLES * LENGTH_STEP_SAMPLES
        samples = self._draw_speech(self._clips[speaker], round(length * speed), rng)
        samples = stretch(samples, round(len(samples) / speed))
        return repeat_to_length(augment(samples, rng, may_change_speed=False), window_samples)

    def batch(self, index):
        """(samples [batch, window], classes [batch] of int64); the window's length differs between batches."""
        rng = np.random.default_rng([self._seed, index])
        window_samples = int(rng.choice(WINDOW_SECONDS, p=WINDOW_SHARES) * SAMPLE_RATE_HZ)
        speakers = rng.choice(len(self._clips), self._batch_size, p=self._shares)
        speeds = rng.integers(len(SPEEDS), size=self._batch_size)
        crops = [
            self._draw_crop(speaker, SPEEDS[speed], window_samples, rng) for speaker, speed in zip(speakers, speeds)
        ]
        return np.stack(crops), speakers * len(SPEEDS) + speeds
