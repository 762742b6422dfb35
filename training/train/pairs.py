# SPDX-License-Identifier: Apache-2.0
"""The additional losses of `train.detector --pairs`. A batch is [crops as published, copies of them in the same
order]."""

import torch
from torch.nn import functional

from networks.detector import Detector


def hide_alike(hide, views, rng):
    """`hide` (hide_parts of train.detector) with the same bands and frames in both halves: hidden parts must not count
    as a difference of a pair."""
    both = hide(torch.cat(views.chunk(2), 1), rng)
    return torch.cat(both.chunk(2, 1))


def pair_loss(published, copies):
    """Squared difference of logits, without a gradient for the published crop: copies must score like their originals.
    Otherwise both would meet half-way, and clean clips would pay for coded ones."""
    return functional.mse_loss(copies, published.detach())


class StartingNetwork:
    """The weights at the start of training, kept unchanged."""

    def __init__(self, weights, bands, size, device):
        self._network = Detector(bands, **size)
        self._network.load_state_dict(torch.load(weights, map_location=device))
        self._network = self._network.eval().to(device, memory_format=torch.channels_last)

    @torch.no_grad()
    def logits(self, views):
        """Sees whole views, with nothing hidden."""
        with torch.autocast(views.device.type, dtype=torch.bfloat16):
            return self._network.decide(views.to(memory_format=torch.channels_last)).float()


class PairLosses:
    """Differences of pairs, and of the published crops from the starting network's logits, by weight."""

    def __init__(self, start, pair_weight, keep_weight):
        self._start, self._pair_weight, self._keep_weight = start, pair_weight, keep_weight
        self._sums, self._steps = [0.0, 0.0], 0

    def heard_by_start(self, views):
        """Logits of the published half of `views`, before parts of them are hidden."""
        return self._start.logits(views.chunk(2)[0])

    def loss(self, predicted, said):
        published, copies = predicted.chunk(2)
        losses = pair_loss(published, copies), functional.mse_loss(published, said)
        self._sums = [total + loss.item() for total, loss in zip(self._sums, losses)]
        self._steps += 1
        return self._pair_weight * losses[0] + self._keep_weight * losses[1]

    def means(self):
        """Means of both since the last call, unweighted."""
        means = [total / max(1, self._steps) for total in self._sums]
        self._sums, self._steps = [0.0, 0.0], 0
        return {"pair_loss": means[0], "keep_loss": means[1]}
