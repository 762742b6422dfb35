# SPDX-License-Identifier: Apache-2.0
"""Draws crops like CropSampler, each as published and once more after a plausible change."""

import numpy as np

from data.sampler import CropSampler, repeat_sound
from signals.augmentation import augment, equalise_and_add_noise

NOISE_SHARE = 0.25  # of the copies; the rest are variants of the cache: rates and codecs
NOISE_SNR_DB = (5, 30)
NOISE_SPREAD_DB = [0, 3, 6]  # of the noise's colour and of the equaliser before it; 0: white noise alone
AUGMENTED_SHARE = 0.3  # of the copies: a room, noise, an equaliser, clipping on top
LEVELS_DB = (-36, -1)  # of the peak


class PairSampler(CropSampler):
    """batch(i): [batch, window]; the second half are copies of the first, in the same order. A pair has the same
    samples of the clip, the same silence around them and the same level before the copy's noise."""

    def __init__(self, cache, seed, batch_size, without=(), held_out=None):
        if batch_size % 4:
            raise ValueError(f"a batch of pairs is a multiple of 4, for both classes and copies of both: {batch_size}")
        if cache.variants < 2:
            raise ValueError("pairs need a cache with a coded variant: data.prepare_chains or data.add_variant")
        super().__init__(cache, seed, batch_size // 2, without, held_out)

    def _copy_of(self, published, clip, start, rng):
        if rng.random() < NOISE_SHARE:
            copy = equalise_and_add_noise(published, rng, float(rng.choice(NOISE_SPREAD_DB)), NOISE_SNR_DB)
        else:
            variant = int(rng.integers(1, self._cache.variants))
            copy = self._cache.samples(clip, variant, start, len(published))
        return augment(copy, rng, may_change_speed=False) if rng.random() < AUGMENTED_SHARE else copy

    def _cut(self, clip, start, count, window_samples, rng):
        published = self._cache.samples(clip, 0, start, count)
        pair = np.stack([published, self._copy_of(published, clip, start, rng)])
        pair *= 10 ** (rng.uniform(*LEVELS_DB) / 20) / (np.abs(pair).max(1, keepdims=True) + 1e-6)
        if rng.random() < 0.15:
            silence = int(rng.uniform(0, 0.25) * count)
            pair = np.roll(pair, silence, 1)
            pair[:, :silence] = 0
        if rng.random() < 0.1:
            pair[:, count - int(rng.uniform(0, 0.3) * count) :] = 0
        return np.stack([repeat_sound(samples, window_samples) for samples in pair])

    def batch(self, index):
        pairs, labels = super().batch(index)
        return np.concatenate([pairs[:, 0], pairs[:, 1]]), np.tile(labels, 2)
