# SPDX-License-Identifier: Apache-2.0
"""A small network on the mean spectrum of a window."""

import torch
from torch import nn

from mean_spectrum.spectra import BINS, CURVES

PLACES = 8  # in frequency that the head tells apart


class MeanSpectrumNetwork(nn.Module):
    """[batch, CURVES, BINS] -> [batch]: the logit of "spoof"."""

    def __init__(self, widths=(24, 32, 48), dropout=0.3):
        super().__init__()
        assert BINS % (32 * PLACES) == 0
        first, second, third = widths
        self.body = nn.Sequential(
            *(nn.Conv1d(CURVES, first, 9, 2, 4), nn.BatchNorm1d(first), nn.ReLU()),
            *(nn.Conv1d(first, second, 7, 2, 3), nn.BatchNorm1d(second), nn.ReLU(), nn.MaxPool1d(4)),
            *(nn.Conv1d(second, third, 5, 2, 2), nn.BatchNorm1d(third), nn.ReLU(), nn.AdaptiveMaxPool1d(PLACES)),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(PLACES * third, 1))

    def forward(self, spectra):
        return self.head(self.body(spectra)).squeeze(1)


def load_trained(weights):
    network = MeanSpectrumNetwork()
    network.load_state_dict(torch.load(weights))
    return network


class MeanOfNetworks(nn.Module):
    """The mean of the logits of several networks."""

    def __init__(self, networks):
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, spectra):
        return torch.stack([network(spectra) for network in self.networks]).mean(0)
