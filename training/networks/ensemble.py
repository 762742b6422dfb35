# SPDX-License-Identifier: Apache-2.0
"""Several detectors in one file, each with the features of its training."""

import math

import torch
from torch import nn

from features.recipe import ENSEMBLE_FEATURES
from networks.detector import two_views
from signals.mel_filters import mel_triangles

VARIANCE_FLOOR = 1e-7  # of normalisation, as in native/features/normalisation.cc


def distinct(recipes):
    found = []
    for recipe in recipes:
        if recipe not in found:
            found.append(recipe)
    return found


class OwnFeatures(nn.Module):
    """The features of native/features/ by `recipe`, one of RECIPES, computed from those by ENSEMBLE_FEATURES:
    [batch, 1, 256, frames] -> [batch, 1, bands, frames]."""

    def __init__(self, recipe):
        super().__init__()
        self.dynamic_range = recipe["dynamic_range_db"] * math.log(10) / 10
        self.log_floor = recipe["log_floor"]
        self.triangles = None
        if recipe["scale"] == "mel":
            triangles = mel_triangles(recipe["bands"], recipe["fft_size"], recipe["fmin_hz"], recipe["fmax_hz"])
            # ENSEMBLE_FEATURES omits the bin of 0 Hz, which plays no part in them.
            self.triangles = nn.Parameter(torch.from_numpy(triangles[:, 1:]), requires_grad=False)

    def forward(self, log_power):
        if self.triangles is not None:
            power = log_power.exp()
            # Bins on the floor were below it; their sum would be above it.
            power = power * (power > 1.001 * self.log_floor)
            log_power = torch.matmul(self.triangles, power).clamp_min(self.log_floor).log()
        below_largest = log_power - log_power.amax((2, 3), keepdim=True)
        heard = (below_largest > -self.dynamic_range).to(log_power.dtype)
        count = heard.sum((2, 3), keepdim=True)
        centred = (
            below_largest.clamp_min(-self.dynamic_range) - (below_largest * heard).sum((2, 3), keepdim=True) / count
        )
        variance = (centred * centred * heard).sum((2, 3), keepdim=True) / count
        return centred * torch.rsqrt(variance + VARIANCE_FLOOR)


class Ensemble(nn.Module):
    """[batch, 1, bands, frames] by its `features` -> [batch]: the mean of the logits of several detectors. `members`:
    (Detector, recipe). Members of one recipe share its features, which native code computes faster; others derive
    theirs from ENSEMBLE_FEATURES. `shares`: weights in the mean, equal by default."""

    def __init__(self, members, shares=None):
        super().__init__()
        recipes = distinct(recipe for _, recipe in members)
        is_one = len(recipes) == 1
        self.features = recipes[0] if is_one else ENSEMBLE_FEATURES
        self.own_features = nn.ModuleList([nn.Identity()] if is_one else map(OwnFeatures, recipes))
        self.detectors = nn.ModuleList(detector for detector, _ in members)
        self.heard_by = [recipes.index(recipe) for _, recipe in members]
        shares = torch.tensor(shares or [1.0] * len(members))
        if len(shares) != len(members):
            raise ValueError(f"{len(members)} networks need as many shares")
        self.register_buffer("shares", (shares / shares.sum()).unsqueeze(1))

    def forward(self, features):
        views = [two_views(make(features)) for make in self.own_features]
        logits = torch.stack([detector.decide(views[index]) for detector, index in zip(self.detectors, self.heard_by)])
        return (logits * self.shares).sum(0)
