# SPDX-License-Identifier: Apache-2.0
"""Small networks on the curves of a window."""

import torch
from torch import nn

from features.recipe import LONG_PHASE_COHERENCE, PHASE_COHERENCE
from window_curves.curves import SHAPES

PLACES = 8  # in frequency that the head distinguishes


POOLED = {PHASE_COHERENCE: 2, LONG_PHASE_COHERENCE: 4}  # width of the first max pooling


class CurveNetwork(nn.Module):
    """[batch, *SHAPES[kind]] -> [batch]: the logit of "spoof"."""

    def __init__(self, kind, widths=(24, 32, 48), dropout=0.3):
        super().__init__()
        curves, bins = SHAPES[kind]
        last_pooled, rest = divmod(bins, 8 * POOLED[kind] * PLACES)
        assert rest == 0
        first, second, third = widths
        self.scale = nn.BatchNorm1d(curves, affine=False)
        self.body = nn.Sequential(
            *(nn.Conv1d(curves, first, 9, 2, 4), nn.BatchNorm1d(first), nn.ReLU()),
            *(nn.Conv1d(first, second, 7, 2, 3), nn.BatchNorm1d(second), nn.ReLU(), nn.MaxPool1d(POOLED[kind])),
            *(nn.Conv1d(second, third, 5, 2, 2), nn.BatchNorm1d(third), nn.ReLU(), nn.MaxPool1d(last_pooled)),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(PLACES * third, 1))

    def forward(self, curves):
        return self.head(self.body(self.scale(curves))).squeeze(1)


def load_trained(kind, weights):
    network = CurveNetwork(kind)
    network.load_state_dict(torch.load(weights))
    return network


class MeanOfNetworks(nn.Module):
    """The mean of the logits of several networks."""

    def __init__(self, networks):
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, curves):
        return torch.stack([network(curves) for network in self.networks]).mean(0)
