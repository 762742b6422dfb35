# SPDX-License-Identifier: Apache-2.0
"""Several detectors in one file."""

import torch
from torch import nn

from networks.detector import two_views


class Ensemble(nn.Module):
    """[batch, 1, bands, frames] -> [batch]: the mean of the logits of several detectors. `shares`: weights in the mean,
    equal by default."""

    def __init__(self, detectors, shares=None):
        super().__init__()
        self.detectors = nn.ModuleList(detectors)
        shares = torch.tensor(shares or [1.0] * len(detectors))
        if len(shares) != len(detectors):
            raise ValueError(f"{len(detectors)} networks need as many shares")
        self.register_buffer("shares", (shares / shares.sum()).unsqueeze(1))

    def forward(self, features):
        views = two_views(features)
        return (torch.stack([detector.decide(views) for detector in self.detectors]) * self.shares).sum(0)
