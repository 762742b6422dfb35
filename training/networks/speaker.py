# SPDX-License-Identifier: Apache-2.0
"""The speaker network: a residual CNN over a mel spectrogram, attentive statistics over time, 256 numbers of length
1."""

import math

import torch
from torch import nn
from torch.nn import functional

from features.speaker_recipe import EMBEDDING_SIZE
from networks.detector import AttentiveStatistics, ResidualBlock
from networks.onnx_export import write_onnx


class SpeakerNetwork(nn.Module):
    """[batch, 1, bands, frames] -> [batch, 256], L2-normalised. `bands` is fixed, `frames` is free while training."""

    def __init__(
        self,
        bands=80,
        stem=16,
        widths=(32, 64, 96, 128),
        depths=(1, 2, 2, 1),
        strides=((2, 1), (2, 2), (2, 1), (1, 1)),
        pooled=256,
    ):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, stem, 3, 2, 1, bias=False), nn.BatchNorm2d(stem), nn.ReLU())
        blocks, channels, bands_left = [], stem, bands // 2
        for width, depth, stride in zip(widths, depths, strides):
            blocks += [ResidualBlock(channels, width, stride)]
            blocks += [ResidualBlock(width, width, 1) for _ in range(depth - 1)]
            channels, bands_left = width, -(-bands_left // stride[0])
        self.blocks = nn.Sequential(*blocks)
        # One kernel over all remaining bands: the network keeps track of positions in frequency.
        self.bands_to_vector = nn.Sequential(
            nn.Conv2d(channels, pooled, (bands_left, 1), bias=False), nn.BatchNorm2d(pooled), nn.ReLU()
        )
        self.pooling = AttentiveStatistics(pooled)
        self.head = nn.Sequential(
            nn.BatchNorm1d(2 * pooled), nn.Linear(2 * pooled, EMBEDDING_SIZE), nn.BatchNorm1d(EMBEDDING_SIZE)
        )

    def forward(self, features):
        x = self.bands_to_vector(self.blocks(self.stem(features)))
        # The statistics need float32 even when the convolutions run in bfloat16.
        return functional.normalize(self.head(self.pooling(x.squeeze(2).float())).float())


class MarginClassifier(nn.Module):
    """Additive angular margin softmax (Deng et al., 2019): the loss adds `margin` radians to the angle to the own
    speaker's centre. Only for training."""

    def __init__(self, speakers, scale=30.0):
        super().__init__()
        self.scale = scale
        self.centres = nn.Parameter(functional.normalize(torch.randn(speakers, EMBEDDING_SIZE)))

    def forward(self, embeddings, speakers, margin):
        """embeddings: [batch, 256] of length 1, speakers: [batch] of int64; returns (loss, share correctly
        classified)."""
        cosines = embeddings @ functional.normalize(self.centres).t()
        own = cosines.gather(1, speakers[:, None])
        sines = (1 - own * own).clamp_min(1e-6).sqrt()
        moved = own * math.cos(margin) - sines * math.sin(margin)
        # Beyond the angle at which cos(angle + margin) would rise again, continues with a falling straight line.
        moved = torch.where(own > -math.cos(margin), moved, own - margin * math.sin(margin))
        right = (cosines.argmax(1) == speakers).float().mean().item()
        logits = self.scale * cosines.scatter(1, speakers[:, None], moved)
        return functional.cross_entropy(logits, speakers), right


def pair_loss(embeddings, speakers, scale=20.0, margin=0.1):
    """Embeddings i and i + half are one speaker's: each must be nearer to the other, by `margin`, than the batch's
    strangers are. Compares recordings with recordings, as verification does, where the classifier compares with
    centres."""
    first, second = embeddings.chunk(2)
    own = torch.eye(len(first), dtype=torch.bool)
    # A speaker drawn twice is not a stranger.
    again = (speakers[: len(first), None] == speakers[None, : len(first)]) & ~own
    logits = (scale * (first @ second.t() - margin * own)).masked_fill(again, -1e4)
    target = torch.arange(len(first))
    return (functional.cross_entropy(logits, target) + functional.cross_entropy(logits.t(), target)) / 2


def export_onnx(model, path, bands, frames):
    write_onnx(model, torch.zeros(1, 1, bands, frames), path, "features", "embedding")
