# SPDX-License-Identifier: Apache-2.0
"""The other families' heads on an encoder: SLS (Zhang et al., 2024), the mean of the NII's anti-deepfake models (Ge
et al., 2025) and multi-head factorised attentive pooling (Peng et al., 2022). Parameters are named as in the published
checkpoints. Every head takes the result of Encoder.forward, and returns two logits."""

import torch
from torch import nn
from torch.nn import functional as F

COSINE_SCALE = 32.0


class Sls(nn.Module):
    """A gate per layer, learned from the layer's mean, on the sum of all layers; then a plain network on a picture of
    frames by numbers. It takes a fixed number of frames."""

    def __init__(self, width, frames, hidden):
        super().__init__()
        self.first_bn = nn.BatchNorm2d(1)
        self.fc0 = nn.Linear(width, 1)
        self.fc1 = nn.Linear((frames // 3) * (width // 3), hidden)
        self.fc3 = nn.Linear(hidden, 2)

    def forward(self, answer, made, given):
        del answer, given
        gated = sum(torch.sigmoid(self.fc0(layer.mean(1, keepdim=True))) * layer for layer in made)
        picture = F.max_pool2d(F.selu(self.first_bn(gated.unsqueeze(1))), 3)
        # The published network also has an activation after its logits.
        return torch.log_softmax(F.selu(self.fc3(F.selu(self.fc1(picture.flatten(1))))), dim=1)


class Mean(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj_fc = nn.Linear(width, 2)

    def forward(self, answer, made, given):
        del made, given
        return self.proj_fc(answer.mean(1))


class CosineClasses(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, size))

    def forward(self, embedding):
        return COSINE_SCALE * F.linear(F.normalize(embedding), F.normalize(self.weight))


class LinearClasses(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.trans = nn.Sequential(nn.BatchNorm1d(size), nn.ReLU(), nn.Linear(size, 2))

    def forward(self, embedding):
        return self.trans(embedding)


class FactorisedPooling(nn.Module):
    """Two weighted means of all layers, one for keys and one for values, made smaller; each head weighs the frames by
    the keys and takes the mean of the values. The classifier is the training tool's: linear, or by the cosine."""

    def __init__(self, width, layers, heads, reduced, embedding, by_cosine):
        super().__init__()
        self.weights_k, self.weights_v = nn.Parameter(torch.ones(layers)), nn.Parameter(torch.ones(layers))
        self.cmp_linear_k, self.cmp_linear_v = nn.Linear(width, reduced), nn.Linear(width, reduced)
        self.att_head = nn.Linear(reduced, heads)
        self.pooling_fc = nn.Linear(heads * reduced, embedding)
        self.projection = CosineClasses(embedding) if by_cosine else LinearClasses(embedding)

    @staticmethod
    def _mixed(layers, weights):
        shares = torch.softmax(weights, dim=0)
        return sum(shares[index] * layer for index, layer in enumerate(layers))

    def forward(self, answer, made, given):
        del answer, made
        keys = self.cmp_linear_k(self._mixed(given, self.weights_k))
        values = self.cmp_linear_v(self._mixed(given, self.weights_v))
        pooled = torch.softmax(self.att_head(keys), dim=1).transpose(1, 2) @ values
        return self.projection(self.pooling_fc(pooled.flatten(1)))
