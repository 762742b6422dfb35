# SPDX-License-Identifier: Apache-2.0
"""wav2vec 2.0 (Baevski et al., 2020; XLS-R and MMS are larger ones) and WavLM (Chen et al., 2022) in evaluation mode:
samples in, a vector per 20 ms out. Parameters are named as in fairseq.

Two variants of each exist. The small ones normalise per channel after the first convolution and after each sub-layer of
the transformer; the large ones normalise after every convolution and before each sub-layer. WavLM adds a bias by
distance to the attention, scaled by a gate that the current frame opens.
"""

import math
import re
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from imported.checkpoint import CheckpointError

STRIDES = (5, 2, 2, 2, 2, 2, 2)
KERNELS = (10, 3, 3, 3, 3, 2, 2)
PUBLISHED_HEADS = {768: 12, 1024: 16, 1280: 16, 1920: 16}
FARTHEST_FRAMES = 800  # of WavLM: distances from here on share a bucket


@dataclass(frozen=True)
class Structure:
    """Differences between encoders."""

    channels: int  # of the convolutions
    width: int
    inner_width: int
    layers: int
    heads: int
    has_conv_bias: bool
    is_large: bool
    position_kernel: int
    position_groups: int
    buckets: int = 0  # of distances; 0 in wav2vec 2.0

    @classmethod
    def of(cls, parameters, heads=None):
        """From the names and shapes of a checkpoint. `heads` is for widths other than those of published encoders."""

        def shape(name, axes):
            if name not in parameters:
                raise CheckpointError(f"The encoder lacks {name}, from which its size follows.")
            if parameters[name].ndim != axes:
                raise CheckpointError(f"{name} has {parameters[name].ndim} axes instead of {axes}.")
            return parameters[name].shape

        layers = {int(found[1]) for name in parameters if (found := re.match(r"encoder\.layers\.(\d+)\.", name))}
        if not layers:
            raise CheckpointError("The encoder has no transformer layers: expected encoder.layers.0 and so on.")
        width = shape("encoder.layer_norm.weight", 1)[0]
        gate = "encoder.layers.0.self_attn.grep_a"
        if gate in parameters:
            heads = shape(gate, 4)[1]
        heads = heads or PUBLISHED_HEADS.get(width)
        if not heads:
            raise CheckpointError(
                f"No published encoder has vectors of {width} numbers: say with --heads how many heads it has."
            )
        if width % heads:
            raise CheckpointError(f"{heads} heads do not divide vectors of {width} numbers.")
        bias = "encoder.layers.0.self_attn.relative_attention_bias.weight"
        position = shape("encoder.pos_conv.0.weight", 3)
        return cls(
            channels=shape("feature_extractor.conv_layers.0.0.weight", 3)[0],
            width=width,
            inner_width=shape("encoder.layers.0.fc1.weight", 2)[0],
            layers=max(layers) + 1,
            heads=heads,
            has_conv_bias="feature_extractor.conv_layers.0.0.bias" in parameters,
            is_large="feature_extractor.conv_layers.1.2.1.weight" in parameters,
            position_kernel=position[2],
            position_groups=max(1, width // position[1]),
            buckets=shape(bias, 2)[0] if bias in parameters else 0,
        )


class Transposed(nn.Module):
    def forward(self, x):
        return x.transpose(1, 2)


def convolutions(structure):
    blocks = []
    for index, (kernel, stride) in enumerate(zip(KERNELS, STRIDES)):
        conv = nn.Conv1d(
            structure.channels if index else 1, structure.channels, kernel, stride, bias=structure.has_conv_bias
        )
        parts = [conv, nn.Identity()]
        if structure.is_large:
            parts.append(nn.Sequential(Transposed(), nn.LayerNorm(structure.channels), Transposed()))
        elif index == 0:
            parts.append(nn.GroupNorm(structure.channels, structure.channels))
        blocks.append(nn.Sequential(*parts, nn.GELU()))
    return nn.ModuleList(blocks)


class FeatureExtractor(nn.Module):
    def __init__(self, structure):
        super().__init__()
        self.conv_layers = convolutions(structure)

    def forward(self, samples):
        """[batch, samples] -> [batch, frames, channels]"""
        x = samples.unsqueeze(1)
        # In half precision the first convolution still uses float32.
        precision = self.conv_layers[-1][0].weight.dtype
        for conv, *parts in self.conv_layers:
            x = conv(x).to(precision)
            for part in parts:
                x = part(x)
        return x.transpose(1, 2)


def distance_buckets(frames, buckets):
    """[frames, frames]: the bucket of each distance; half of them for earlier frames, half for later ones. Near ones
    have a bucket each, far ones share them logarithmically."""
    half, near = buckets // 2, buckets // 4
    position = torch.arange(frames)
    ahead = position[None, :] - position[:, None]
    distance = ahead.abs()
    far = torch.log(distance.clamp(min=1).float() / near) / math.log(FARTHEST_FRAMES / near) * (half - near)
    far = (near + far.long()).clamp(max=half - 1)
    return torch.where(distance < near, distance, far) + half * (ahead > 0).long()


class Attention(nn.Module):
    def __init__(self, structure, has_bias):
        super().__init__()
        width = structure.width
        self.heads, self.depth = structure.heads, width // structure.heads
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, width) for _ in range(3))
        self.out_proj = nn.Linear(width, width)
        if structure.buckets:
            self.grep_linear = nn.Linear(self.depth, 8)
            self.grep_a = nn.Parameter(torch.ones(1, self.heads, 1, 1))
        if has_bias:
            self.relative_attention_bias = nn.Embedding(structure.buckets, self.heads)

    def _by_head(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, self.depth).transpose(1, 2)

    def _gate(self, x):
        """[batch, heads, frames, 1] from the frame itself: two gates of four numbers each."""
        gates = self.grep_linear(self._by_head(x))
        first = torch.sigmoid(gates[..., :4].sum(-1, keepdim=True))
        second = torch.sigmoid(gates[..., 4:].sum(-1, keepdim=True))
        return first * (second * self.grep_a - 1) + 2

    def forward(self, x, bias):
        query = self._by_head(self.q_proj(x) * self.depth**-0.5)
        likeness = query @ self._by_head(self.k_proj(x)).transpose(2, 3)
        if bias is not None:
            likeness = likeness + self._gate(x) * bias
        mixed = torch.softmax(likeness, dim=-1) @ self._by_head(self.v_proj(x))
        return self.out_proj(mixed.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, structure, has_bias):
        super().__init__()
        self.norms_before = structure.is_large
        self.self_attn = Attention(structure, has_bias)
        self.self_attn_layer_norm = nn.LayerNorm(structure.width)
        self.fc1 = nn.Linear(structure.width, structure.inner_width)
        self.fc2 = nn.Linear(structure.inner_width, structure.width)
        self.final_layer_norm = nn.LayerNorm(structure.width)

    def _feed_forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))

    def forward(self, x, bias):
        if self.norms_before:
            x = x + self.self_attn(self.self_attn_layer_norm(x), bias)
            return x + self._feed_forward(self.final_layer_norm(x))
        x = self.self_attn_layer_norm(x + self.self_attn(x, bias))
        return self.final_layer_norm(x + self._feed_forward(x))


class Transformer(nn.Module):
    def __init__(self, structure):
        super().__init__()
        self.structure = structure
        kernel = structure.position_kernel
        self.pos_conv = nn.Sequential(
            nn.Conv1d(structure.width, structure.width, kernel, padding=kernel // 2, groups=structure.position_groups),
            nn.Identity(),
            nn.GELU(),
        )
        self.layers = nn.ModuleList(
            Layer(structure, has_bias=bool(structure.buckets) and index == 0) for index in range(structure.layers)
        )
        self.layer_norm = nn.LayerNorm(structure.width)

    def forward(self, x):
        """The last layer's vectors, and [the input of each layer]."""
        frames = x.shape[1]
        x = x + self.pos_conv(x.transpose(1, 2))[:, :, :frames].transpose(1, 2)
        if not self.structure.is_large:
            x = self.layer_norm(x)
        bias = None
        if self.structure.buckets:
            buckets = distance_buckets(int(frames), self.structure.buckets)
            bias = self.layers[0].self_attn.relative_attention_bias(buckets).permute(2, 0, 1)[None]
        given = []
        for layer in self.layers:
            given.append(x)
            x = layer(x, bias)
        return x, given


class Encoder(nn.Module):
    def __init__(self, structure):
        super().__init__()
        self.structure = structure
        self.feature_extractor = FeatureExtractor(structure)
        self.layer_norm = nn.LayerNorm(structure.channels)
        self.post_extract_proj = nn.Linear(structure.channels, structure.width)
        self.encoder = Transformer(structure)

    def forward(self, samples):
        """[batch, samples] -> (the encoder's answer, [outputs of the layers], [inputs of the layers and the answer]),
        each [batch, frames, width]."""
        x, given = self.encoder(self.post_extract_proj(self.layer_norm(self.feature_extractor(samples))))
        made = [*given[1:], x]
        answer = self.encoder.layer_norm(x) if self.structure.is_large else x
        return answer, made, [*given, answer]


def frames_of(samples):
    """Frames that the convolutions make of `samples`."""
    for kernel, stride in zip(KERNELS, STRIDES):
        samples = (samples - kernel) // stride + 1
    return samples
