# SPDX-License-Identifier: Apache-2.0
"""The network: a residual CNN that halves a spectrogram early, then pools over time with learnt attention."""

import json
from pathlib import Path

import torch
from torch import nn

from networks.onnx_export import write_onnx

# The arguments of Detector. detector-small-2026-11-25 is small, detector-medium-2026-11-25 is middle, and
# detector-large-2026-11-25 is a mean of both.
SIZES = {
    "middle": {"stem": 16, "widths": (32, 48, 64, 96), "depths": (1, 1, 2, 2), "pooled": 128},
    "small": {"stem": 8, "widths": (12, 32, 56, 88), "depths": (1, 1, 1, 1), "pooled": 112, "dropout": 0.1},
}


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, channels // 8, 1),
            nn.ReLU(),
            nn.Conv2d(channels // 8, channels, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return x * self.gate(x)


class ResidualBlock(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
            nn.BatchNorm2d(channels),
            SqueezeExcite(channels),
        )
        self.shortcut = nn.Identity()
        if stride != 1 or channels_in != channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


class AttentiveStatistics(nn.Module):
    """[batch, channels, frames] -> [batch, 2 * channels]: mean and deviation under learnt weights over the frames."""

    def __init__(self, channels):
        super().__init__()
        self.attention = nn.Sequential(
            nn.Conv1d(channels, channels // 2, 1), nn.Tanh(), nn.Conv1d(channels // 2, channels, 1)
        )

    def forward(self, x):
        weights = torch.softmax(self.attention(x), dim=2)
        mean = (weights * x).sum(dim=2)
        variance = (weights * x * x).sum(dim=2) - mean * mean
        return torch.cat([mean, variance.clamp_min(1e-4).sqrt()], dim=1)


def two_views(features):
    """[batch, 1, bands, frames] as features/recipe.py makes them -> [batch, 2, bands, frames]: the same, and once more
    without each band's mean, which removes the effect of a fixed microphone or equaliser."""
    # Digital silence lies on the recipe's floor, and must not count.
    heard = (features > features.amin((2, 3), keepdim=True)).to(features.dtype)
    means = (features * heard).sum(3, keepdim=True) / heard.sum(3, keepdim=True).clamp_min(1)
    return torch.cat([features, features - means], dim=1)


class Detector(nn.Module):
    """[batch, 1, bands, frames] -> [batch]: the logit of "spoof". `bands` is fixed, `frames` is free while
    training."""

    def __init__(self, stem, widths, depths, pooled, dropout=0.2, bands=256):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(2, stem, 5, 2, 2, bias=False), nn.BatchNorm2d(stem), nn.ReLU())
        blocks, channels = [], stem
        for width, depth in zip(widths, depths):
            blocks += [
                ResidualBlock(channels if index == 0 else width, width, 2 if index == 0 else 1)
                for index in range(depth)
            ]
            channels = width
        self.blocks = nn.Sequential(*blocks)
        # One kernel over all remaining bands: the network keeps track of positions in frequency.
        self.bands_to_vector = nn.Sequential(
            nn.Conv2d(channels, pooled, (bands // 32, 1), bias=False), nn.BatchNorm2d(pooled), nn.ReLU()
        )
        self.pooling = AttentiveStatistics(pooled)
        self.head = nn.Sequential(nn.BatchNorm1d(2 * pooled), nn.Dropout(dropout), nn.Linear(2 * pooled, 1))

    def decide(self, views):
        """The logits of two_views()'s output; training hides parts of the views in between."""
        x = self.bands_to_vector(self.blocks(self.stem(views)))
        # The statistics need float32 even when the convolutions run in bfloat16.
        return self.head(self.pooling(x.squeeze(2).float())).squeeze(1)

    def forward(self, features):
        return self.decide(two_views(features))


def load_trained(weights):
    """The network of a run of train/detector.py; the settings.json beside the weights has its size."""
    settings = json.loads((Path(weights).parent / "settings.json").read_text())
    network = Detector(**SIZES[settings["size"]])
    network.load_state_dict(torch.load(weights))
    return network


def export_onnx(model, path, bands, frames):
    write_onnx(model, torch.zeros(1, 1, bands, frames), path, "features", "logit")
