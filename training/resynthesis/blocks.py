# SPDX-License-Identifier: Apache-2.0
"""Layers shared by several networks."""

import math

import torch
from torch import nn
from torch.nn import functional


class Norm(nn.LayerNorm):
    """Runs in float32, whatever the surrounding precision."""

    def forward(self, frames):
        return super().forward(frames.float())


class FrameBlock(nn.Module):
    """Depthwise convolution over time, then two layers per frame, with a skip connection (ConvNeXt)."""

    def __init__(self, width, scale, dilation=1, conditions=0):
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, 7, padding=3 * dilation, dilation=dilation, groups=width)
        self.norm = Norm(width)
        self.wide, self.narrow = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)
        self.scale = nn.Parameter(torch.full((width,), scale))
        self.shift = nn.Linear(conditions, width) if conditions else None

    def forward(self, frames, condition=None):
        """[batch, frames, width]; condition [batch, conditions]"""
        inner = self.norm(self.depthwise(frames.transpose(1, 2)).transpose(1, 2))
        if self.shift is not None:
            inner = inner + self.shift(condition)[:, None]
        return frames + self.scale * self.narrow(functional.gelu(self.wide(inner)))


class Body(nn.Module):
    """[batch, inputs, frames] to [batch, frames, width]. Each frame sees 3 * (1 + the sum of the dilations) to either
    side."""

    def __init__(self, inputs, width, blocks, dilations=(1,), conditions=0):
        super().__init__()
        self.embed = nn.Conv1d(inputs, width, 7, padding=3)
        self.first_norm, self.last_norm = Norm(width), Norm(width)
        self.dilations = [dilations[index % len(dilations)] for index in range(blocks)]
        self.blocks = nn.ModuleList(FrameBlock(width, 1 / blocks, each, conditions) for each in self.dilations)

    @property
    def reach_frames(self):
        return 3 * (1 + sum(self.dilations))

    def forward(self, inputs, condition=None):
        frames = self.first_norm(self.embed(inputs).transpose(1, 2))
        for block in self.blocks:
            frames = block(frames, condition)
        return self.last_norm(frames)


class Snake(nn.Module):
    """x + sin(a x)^2 / a, with an `a` per channel (Ziyin, Hartwig, Ueda: Neural networks fail to learn periodic
    functions, 2020)."""

    def __init__(self, channels):
        super().__init__()
        self.log_a = nn.Parameter(torch.zeros(channels, 1))

    def forward(self, samples):
        a = self.log_a.exp()
        return samples + torch.sin(a * samples).square() / (a + 1e-6)


class SmoothSnake(Snake):
    """At twice the rate, so that its overtones do not fold back (as in BigVGAN)."""

    def __init__(self, channels):
        super().__init__(channels)
        positions = torch.arange(12) - 5.5
        taps = torch.sinc(positions / 2) * torch.hann_window(14, periodic=False)[1:-1]
        self.register_buffer("taps", (taps / taps.sum())[None, None], persistent=False)

    def forward(self, samples):
        channels = samples.shape[1]
        taps = self.taps.expand(channels, 1, -1).to(samples.dtype)
        padded = functional.pad(samples, (3, 3), "replicate")
        doubled = functional.conv_transpose1d(padded, 2 * taps, stride=2, groups=channels)[..., 11:-11]
        shaped = super().forward(doubled)
        return functional.conv1d(functional.pad(shaped, (5, 5), "replicate"), taps, stride=2, groups=channels)


ACTIVATIONS = {"leaky-relu": lambda _: nn.LeakyReLU(0.1), "snake": Snake, "smooth-snake": SmoothSnake}


def step_embedding(steps, size):
    """[batch] in 0..1 to [batch, size]: sines and cosines of it."""
    hz = torch.exp(torch.arange(size // 2, device=steps.device) * (math.log(1000.0) / (size // 2 - 1)))
    angles = steps[:, None] * hz
    return torch.cat([angles.sin(), angles.cos()], 1)
