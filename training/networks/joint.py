# SPDX-License-Identifier: Apache-2.0
"""One network that hears the bands and the curves of a window together."""

import json
from pathlib import Path

import torch
from torch import nn

from features.recipe import FEATURES, SERVED_CURVES
from networks.detector import SIZES, Detector, two_views
from window_curves.curves import SHAPES
from window_curves.network import PLACES, CurveNetwork

CURVE_WIDTHS = (24, 32, 48)
HIDDEN = 96
CURVE_NUMBERS = [SHAPES[kind][0] * SHAPES[kind][1] for kind in SERVED_CURVES]


class JointDetector(nn.Module):
    """[batch, numbers] by features/recipe.py's WITH_CURVES, bands before curves -> [batch]: the logit of
    "spoof". `frames` is free while training."""

    def __init__(self, size="small", hidden=HIDDEN, dropout=0.2):
        super().__init__()
        self.bands = Detector(FEATURES["bands"], **SIZES[size])
        pooled = self.bands.head[0].num_features
        self.bands.head = nn.Identity()
        self.curves = nn.ModuleList(CurveNetwork(kind, CURVE_WIDTHS) for kind in SERVED_CURVES)
        for network in self.curves:
            network.head = nn.Identity()
        heard = PLACES * CURVE_WIDTHS[-1]
        self.sizes = [pooled, *[heard] * len(self.curves)]
        self.scale = nn.BatchNorm1d(sum(self.sizes))
        self.dropout = nn.Dropout(dropout)
        self.direct = nn.Linear(sum(self.sizes), 1)
        self.hidden = nn.Sequential(
            nn.Linear(sum(self.sizes), hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, 1)
        )
        # So a network whose parts come from shipped ones (export/recover_joint.py) begins with their sum.
        nn.init.zeros_(self.hidden[-1].weight)
        nn.init.zeros_(self.hidden[-1].bias)

    def split(self, numbers):
        """([batch, 1, bands, frames], [[batch, curves, bins] ..])"""
        own = int(numbers.shape[1]) - sum(CURVE_NUMBERS)  # a number, so that an ONNX file has fixed shapes
        bands, *curves = numbers.split([own, *CURVE_NUMBERS], 1)
        shaped = [part.unflatten(1, SHAPES[kind]) for part, kind in zip(curves, SERVED_CURVES)]
        return bands.unflatten(1, (1, FEATURES["bands"], own // FEATURES["bands"])), shaped

    def vectors(self, views, curves):
        """Outputs of the parts for two_views() and split(); training hides parts of both in between."""
        x = self.bands.bands_to_vector(self.bands.blocks(self.bands.stem(views)))
        said = [self.bands.pooling(x.squeeze(2).float())]
        said += [network.body(network.scale(part)).flatten(1).float() for network, part in zip(self.curves, curves)]
        return said

    def decide(self, vectors, kept=None):
        """`kept`: [batch, parts], 0 for parts that training hides."""
        scaled = self.scale(torch.cat(vectors, 1))
        if kept is not None:
            scaled = scaled * kept.repeat_interleave(torch.tensor(self.sizes), 1)
        scaled = self.dropout(scaled)
        return (self.direct(scaled) + self.hidden(scaled)).squeeze(1)

    def forward(self, numbers):
        bands, curves = self.split(numbers)
        return self.decide(self.vectors(two_views(bands), curves))


def load_trained(weights):
    """The network of a run of train/joint.py, from the settings.json beside the weights."""
    settings = json.loads((Path(weights).parent / "settings.json").read_text())
    network = JointDetector(settings["size"])
    network.load_state_dict(torch.load(weights))
    return network.eval()
