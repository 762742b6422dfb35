# SPDX-License-Identifier: Apache-2.0
"""Draws training crops of labelled speakers. A speaker at another speed, including pitch, is another speaker."""

import numpy as np
from scipy import fft

from data.sampler import CODEC_SHARE, repeat_to_length
from features.recipe import SAMPLE_RATE_HZ
from signals.augmentation import augment

SPEEDS = [1.0, 0.9, 1.1]
DURATION_POWER = 0.6  # of a speaker's seconds: 0 would weigh all speakers alike, 1 all seconds
WINDOW_SECONDS, WINDOW_SHARES = [2.0, 3.0, 5.0], [0.55, 0.3, 0.15]
CAMPAIGN_SPEAKERS = 6  # drawn together, so that a batch has strangers with the same microphone, language and words
SHORTEST_SPEAKER_S = 2.0
SHORTEST_CROP_S = 1.2
SHORT_CROP_SHARE = 0.4
LENGTH_STEP_SAMPLES = 1600  # lengths with fast Fourier transforms, even after a change of speed


def stretch(samples, count):
    """Plays `samples` in the time of `count` samples; pitch and formants move with the speed."""
    if len(samples) == count:
        return samples
    spectrum = fft.rfft(samples)
    return (fft.irfft(spectrum[: count // 2 + 1], count) * (count / len(samples))).astype(np.float32)


class SpeakerCropSampler:
    """Pairs of crops, each crop with its own channel. batch(i) depends only on the seed and i. `speakers`: {(campaign,
    person): clips} from data/speaker_labels.py."""

    def __init__(self, cache, speakers, seed, batch_size):
        self._cache, self._seed, self._batch_size = cache, seed, batch_size
        seconds_of = lambda clips: sum(clip["samples"] for clip in clips) / SAMPLE_RATE_HZ
        speakers = {owner: clips for owner, clips in speakers.items() if seconds_of(clips) >= SHORTEST_SPEAKER_S}
        self.names, self._clips = list(speakers), list(speakers.values())
        self._campaigns = np.unique([campaign for campaign, _ in self.names], return_inverse=True)[1]
        seconds = np.array([seconds_of(clips) for clips in self._clips])
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

    def _draw_crop(self, clips, speed, window_samples, rng):
        length = window_samples
        if rng.random() < SHORT_CROP_SHARE:
            length = int(rng.uniform(SHORTEST_CROP_S, window_samples / SAMPLE_RATE_HZ) * SAMPLE_RATE_HZ)
        length = length // LENGTH_STEP_SAMPLES * LENGTH_STEP_SAMPLES
        samples = self._draw_speech(clips, round(length * speed), rng)
        samples = stretch(samples, round(len(samples) / speed))
        return repeat_to_length(augment(samples, rng, may_change_speed=False), window_samples)

    def crop_of_class(self, number, window_samples, rng):
        return self._draw_crop(self._clips[number // len(SPEEDS)], SPEEDS[number % len(SPEEDS)], window_samples, rng)

    def _draw_speakers(self, count, rng):
        """Groups of one campaign; a small campaign is filled up from all."""
        chosen = []
        while len(chosen) < count:
            wanted = min(CAMPAIGN_SPEAKERS, count - len(chosen))
            first = rng.choice(len(self.names), p=self._shares)
            members = np.flatnonzero(self._campaigns == self._campaigns[first])
            shares = self._shares[members] / self._shares[members].sum()
            chosen += list(rng.choice(members, min(wanted, len(members)), replace=False, p=shares))
        return np.array(chosen[:count])

    def _draw_pair(self, speaker, speed, window_samples, rng):
        """Two crops of different clips, if possible."""
        order = rng.permutation(len(self._clips[speaker]))
        half = max(1, len(order) // 2)
        halves = order[:half], order[half:] if len(order) > 1 else order
        return [
            self._draw_crop([self._clips[speaker][index] for index in part], speed, window_samples, rng)
            for part in halves
        ]

    def batch(self, index):
        """(samples [batch, window], classes [batch] of int64): crop i and crop i + batch / 2 are a pair. Window lengths
        differ between batches."""
        rng = np.random.default_rng([self._seed, index])
        window_samples = int(rng.choice(WINDOW_SECONDS, p=WINDOW_SHARES) * SAMPLE_RATE_HZ)
        speakers = self._draw_speakers(self._batch_size // 2, rng)
        speeds = rng.integers(len(SPEEDS), size=len(speakers))
        pairs = [
            self._draw_pair(speaker, SPEEDS[speed], window_samples, rng) for speaker, speed in zip(speakers, speeds)
        ]
        classes = speakers * len(SPEEDS) + speeds
        return np.stack([first for first, _ in pairs] + [second for _, second in pairs]), np.tile(classes, 2)
