# SPDX-License-Identifier: Apache-2.0
"""Small networks on the curves of a window."""

from dataclasses import dataclass

import torch
from torch import nn

from features.recipe import LONG_MEAN_SPECTRUM, LONG_PHASE_COHERENCE, MEAN_SPECTRUM, PHASE_COHERENCE
from window_curves.curves import SHAPES

PLACES = 8  # in frequency that the head distinguishes


@dataclass(frozen=True)
class Layers:
    """The first convolution's stride, the width of the max pooling, and whether curves are first scaled by their mean
    and deviation in training."""

    stride: int
    pooled: int
    scaled: bool


LAYERS = {
    MEAN_SPECTRUM: Layers(2, 4, True),
    LONG_MEAN_SPECTRUM: Layers(2, 4, True),
    PHASE_COHERENCE: Layers(2, 2, True),
    LONG_PHASE_COHERENCE: Layers(2, 4, True),
}


class CurveNetwork(nn.Module):
    """[batch, *SHAPES[kind]] -> [batch]: the logit of "spoof"."""

    def __init__(self, kind, widths=(24, 32, 48), dropout=0.3):
        super().__init__()
        curves, bins = SHAPES[kind]
        layers = LAYERS[kind]
        last_pooled, rest = divmod(bins, 4 * layers.stride * layers.pooled * PLACES)
        assert rest == 0
        first, second, third = widths
        self.scale = nn.BatchNorm1d(curves, affine=False) if layers.scaled else nn.Identity()
        self.body = nn.Sequential(
            *(nn.Conv1d(curves, first, 9, layers.stride, 4), nn.BatchNorm1d(first), nn.ReLU()),
            *(nn.Conv1d(first, second, 7, 2, 3), nn.BatchNorm1d(second), nn.ReLU(), nn.MaxPool1d(layers.pooled)),
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
