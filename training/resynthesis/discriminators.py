# SPDX-License-Identifier: Apache-2.0
"""Discriminators: samples [batch, n] to the outputs of all layers, one list per network, the verdicts last."""

from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional

from resynthesis.spectra import stft


def _layers(convolutions, layer):
    outputs = []
    for depth, convolution in enumerate(convolutions):
        layer = convolution(layer)
        if depth + 1 < len(convolutions):
            layer = functional.leaky_relu(layer, 0.1)
        outputs.append(layer)
    return outputs


class PeriodDiscriminator(nn.Module):
    """Columns of samples a period apart (HiFi-GAN)."""

    def __init__(self, period, width):
        super().__init__()
        self.period = period
        widths = [1, width, 2 * width, 4 * width, 4 * width]
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, (5, 1), (3, 1), padding=(2, 0)) for before, after in pairwise(widths)
        )
        self.convolutions.append(nn.Conv2d(widths[-1], 1, (3, 1), padding=(1, 0)))

    def forward(self, samples):
        padded = functional.pad(samples[:, None], (0, -samples.shape[1] % self.period), "reflect")
        return _layers(self.convolutions, padded.view(len(samples), 1, -1, self.period))


class ScaleDiscriminator(nn.Module):
    """Samples at the rate divided by `factor` (MelGAN)."""

    def __init__(self, factor, width):
        super().__init__()
        self.factor = factor
        self.convolutions = nn.ModuleList(
            [
                nn.Conv1d(1, width, 15, padding=7),
                nn.Conv1d(width, 2 * width, 41, 4, padding=20, groups=4),
                nn.Conv1d(2 * width, 4 * width, 41, 4, padding=20, groups=8),
                nn.Conv1d(4 * width, 4 * width, 5, padding=2),
                nn.Conv1d(4 * width, 1, 3, padding=1),
            ]
        )

    def forward(self, samples):
        samples = samples[:, None]
        if self.factor > 1:
            samples = functional.avg_pool1d(samples, 2 * self.factor, self.factor, self.factor // 2)
        return _layers(self.convolutions, samples)


class SpectrumDiscriminator(nn.Module):
    """Complex spectrograms, quiet bins lifted and phases kept."""

    def __init__(self, fft_size, width):
        super().__init__()
        self.fft_size = fft_size
        wide = lambda inputs, outputs, stride: nn.Conv2d(inputs, outputs, (7, 3), stride, padding=(3, 1))
        self.convolutions = nn.ModuleList(
            [
                wide(2, width, (2, 1)),
                wide(width, 2 * width, (2, 2)),
                wide(2 * width, 2 * width, (2, 2)),
                nn.Conv2d(2 * width, 2 * width, 3, padding=1),
                nn.Conv2d(2 * width, 1, 3, padding=1),
            ]
        )

    def forward(self, samples):
        layer = torch.view_as_real(stft(samples, self.fft_size, self.fft_size // 4)).permute(0, 3, 1, 2)
        layer = layer * (layer.square().sum(1, keepdim=True) + 1e-6) ** -0.35
        return _layers(self.convolutions, layer.contiguous(memory_format=torch.channels_last))


class Discriminators(nn.Module):
    def __init__(self, periods=(2, 3, 5, 7, 11), scales=(1, 4), fft_sizes=(512, 1024, 2048), width=16):
        super().__init__()
        self.networks = nn.ModuleList(
            [
                *(PeriodDiscriminator(period, width) for period in periods),
                *(ScaleDiscriminator(factor, width) for factor in scales),
                *(SpectrumDiscriminator(fft_size, width) for fft_size in fft_sizes),
            ]
        )

    def forward(self, samples):
        return [network(samples) for network in self.networks]
