# SPDX-License-Identifier: Apache-2.0
"""The feature recipes of features/recipe.py in PyTorch, for windows that are already on a GPU. The native stage is what
serves: a test holds these numbers beside it."""

import math

import torch
from torch import nn

from features.recipe import FEATURES
from networks.ensemble import OwnFeatures

SMALLEST_POWER = 1e-20  # of a bin whose phase counts


def turned(bins, turns):
    """exp(2 pi i turns k) for k = 0 .. bins - 1, in float64 until it is made."""
    angles = 2 * math.pi * torch.remainder(turns * torch.arange(bins, dtype=torch.float64), 1)
    return torch.polar(torch.ones_like(angles), angles).to(torch.complex64)


class Spectrogram(nn.Module):
    """float32 samples [batch, n] to [batch, maps, bands, frames] by one of RECIPES."""

    def __init__(self, recipe=FEATURES):
        super().__init__()
        self.fft_size, self.length, self.hop = recipe["fft_size"], recipe["window_length"], recipe["hop_length"]
        self.log_floor, self.has_phase = recipe["log_floor"], recipe.get("phase", False)
        # Symmetric, as periodic_window=False says, and in float64 until it is made.
        window = torch.hann_window(self.length, periodic=recipe["periodic_window"], dtype=torch.float64)
        self.register_buffer("window", window.float(), persistent=False)
        bins = self.fft_size // 2 + 1
        # Without what a steady tone in the middle of the bin, and a click in the middle of the window would do.
        self.register_buffer("advance", turned(bins, -self.hop / self.fft_size), persistent=False)
        middle = (self.length - 1) / 2
        self.register_buffer("delay", turned(2, middle / self.fft_size)[1], persistent=False)
        self.own = OwnFeatures(recipe)

    def forward(self, samples):
        # Frames by hand: torch.stft would centre a window that is shorter than the transform inside it.
        frames = samples.unfold(1, self.length, self.hop) * self.window
        spectrum = torch.fft.rfft(frames, self.fft_size)
        power = torch.view_as_real(spectrum).square().sum(-1)
        # The bin of 0 Hz has no part, as in ENSEMBLE_FEATURES.
        log_power = power[..., 1:].clamp_min(self.log_floor).log()
        features = self.own(log_power.transpose(1, 2).unsqueeze(1))
        if not self.has_phase:
            return features
        unit = spectrum * power.clamp_min(SMALLEST_POWER).rsqrt()
        level = (1 + (log_power - log_power.amax((1, 2), keepdim=True)) / self.own.dynamic_range).clamp_min(0)
        over_time = torch.zeros_like(unit)
        over_time[:, 1:] = unit[:, 1:] * unit[:, :-1].conj() * self.advance
        over_frequency = unit[..., 1:] * unit[..., :-1].conj() * self.delay
        steps = torch.stack([over_time[..., 1:], over_frequency], 1) * level.unsqueeze(1)
        maps = torch.view_as_real(steps).permute(0, 1, 4, 3, 2).flatten(1, 2)
        return torch.cat([features, maps], 1)
