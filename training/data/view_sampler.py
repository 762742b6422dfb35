# SPDX-License-Identifier: Apache-2.0
"""Draws crops like CropSampler, each as published and once more after plausible processing."""

import numpy as np

from data.sampler import CODEC_SHARE, CropSampler, repeat_sound
from features.recipe import SAMPLE_RATE_HZ
from signals.laundering import launder

VIEWS = 2  # the published crop and one laundered; another one would cost as much as another crop
BABBLERS = 4
WINDOW_SECONDS, WINDOW_SHARES = [3.0, 5.0], [0.5, 0.5]
LEVELS_DB = (-40, -1)  # of the peak


class ViewSampler(CropSampler):
    """batch(i): (samples [VIEWS, batch, window], labels [batch]). The views of a crop show the same samples of the
    clip, with the same silence around them."""

    def _babble(self, count, rng):
        made = np.zeros(count, np.float32)
        for _ in range(BABBLERS):
            clip = self._humans.draw(rng)
            samples = self._cache.samples(clip, 0, 0, min(count, clip["samples"]))
            made += np.roll(np.resize(samples, count), int(rng.integers(count)))
        return made

    def _cut(self, clip, start, count, window_samples, rng):
        views = [self._cache.samples(clip, 0, start, count)]
        for _ in range(1, VIEWS):
            variant = int(rng.integers(1, self._cache.variants)) if rng.random() < CODEC_SHARE else 0
            babble = self._babble(count, rng) if rng.random() < 0.1 else None
            views.append(launder(self._cache.samples(clip, variant, start, count), rng, babble))
        if rng.random() < 0.15:
            silence = int(rng.uniform(0, 0.25) * count)
            views = [np.concatenate([np.zeros(silence, np.float32), view[: count - silence]]) for view in views]
        if rng.random() < 0.1:
            ending = int(rng.uniform(0, 0.3) * count)
            views = [np.concatenate([view[: count - ending], np.zeros(ending, np.float32)]) for view in views]
        made = []
        for view in views:
            peak = np.abs(view).max()
            if not np.isfinite(peak) or peak < 1e-7:
                view, peak = views[0], np.abs(views[0]).max()
            view = view * (10 ** (rng.uniform(*LEVELS_DB) / 20) / (peak + 1e-9))
            made.append(repeat_sound(np.rint(view * 32768).astype(np.float32) / 32768, window_samples))
        return np.stack(made)

    def batch(self, index):
        rng = np.random.default_rng([self._seed, index, 7])
        window_samples = int(rng.choice(WINDOW_SECONDS, p=WINDOW_SHARES) * SAMPLE_RATE_HZ)
        views, labels = super().batch(index, window_samples)
        return np.moveaxis(views, 1, 0), labels
