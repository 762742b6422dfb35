# SPDX-License-Identifier: Apache-2.0
"""The feature recipes of features/recipe.py in PyTorch, for windows that are already on a GPU. Serving uses the native
stage: a test compares these numbers with it."""

import torch
from torch import nn

from features.recipe import FEATURES
from networks.ensemble import OwnFeatures


class Spectrogram(nn.Module):
    """float32 samples [batch, n] by HEARD to [batch, 1, bands, frames] by one of RECIPES."""

    def __init__(self, recipe=FEATURES):
        super().__init__()
        self.fft_size, self.length, self.hop = recipe["fft_size"], recipe["window_length"], recipe["hop_length"]
        self.log_floor = recipe["log_floor"]
        # Symmetric, as for periodic_window=False, and computed in float64.
        window = torch.hann_window(self.length, periodic=recipe["periodic_window"], dtype=torch.float64)
        self.register_buffer("window", window.float(), persistent=False)
        self.own = OwnFeatures(recipe)

    def forward(self, samples):
        # Frames by hand: torch.stft would centre a window shorter than the transform inside it.
        frames = samples.unfold(1, self.length, self.hop) * self.window
        power = torch.view_as_real(torch.fft.rfft(frames, self.fft_size)).square().sum(-1)
        # The bin of 0 Hz is omitted, as in ENSEMBLE_FEATURES.
        log_power = power[..., 1:].clamp_min(self.log_floor).log()
        return self.own(log_power.transpose(1, 2).unsqueeze(1))
