# SPDX-License-Identifier: Apache-2.0
"""AASIST (Jung et al., 2022) on the vectors of a self-supervised encoder, as Tak et al. (2022) use it: a residual
network over time and vector, then attention within and between two graphs, one of bands and one of moments.

Parameters are named as in the published checkpoints. Each residual block there has a first normalisation whose result
is unused; it is here only for its parameters.
"""

import torch
from torch import nn
from torch.nn import functional as F

REDUCED = 128
CHANNELS = ((1, 32), (32, 32), (32, 64), (64, 64), (64, 64), (64, 64))
NODE = 64
PAIR_NODE = 32
BANDS = REDUCED // 3
KEPT_SHARE = 0.5
TEMPERATURE = 2.0
PAIR_TEMPERATURE = 100.0


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, is_first):
        super().__init__()
        if not is_first:
            self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, (2, 3), padding=(1, 1))
        self.bn2 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, (2, 3), padding=(0, 1))
        self.conv_downsample = nn.Conv2d(inputs, outputs, (1, 3), padding=(0, 1)) if inputs != outputs else None

    def forward(self, x):
        kept = x if self.conv_downsample is None else self.conv_downsample(x)
        return kept + self.conv2(F.selu(self.bn2(self.conv1(x))))


def normalised_nodes(norm, nodes):
    return norm(nodes.transpose(1, 2)).transpose(1, 2)


def pairs(nodes):
    """[batch, i, j, numbers]: node i times node j."""
    return nodes.unsqueeze(2) * nodes.unsqueeze(1)


class GraphAttention(nn.Module):
    """Each node attends to the others, by a likeness learned from their products."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.att_proj = nn.Linear(inputs, outputs)
        self.att_weight = nn.Parameter(torch.empty(outputs, 1))
        nn.init.xavier_normal_(self.att_weight)
        self.proj_with_att = nn.Linear(inputs, outputs)
        self.proj_without_att = nn.Linear(inputs, outputs)
        self.bn = nn.BatchNorm1d(outputs)

    def forward(self, nodes):
        likeness = (torch.tanh(self.att_proj(pairs(nodes))) @ self.att_weight).squeeze(-1)
        taken = torch.softmax(likeness / TEMPERATURE, dim=-1) @ nodes
        return F.selu(normalised_nodes(self.bn, self.proj_with_att(taken) + self.proj_without_att(nodes)))


class PairAttention(nn.Module):
    """The same over the nodes of two graphs, with separate likenesses within each and between them, and a master node
    that attends to all."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.proj_type1, self.proj_type2 = nn.Linear(inputs, inputs), nn.Linear(inputs, inputs)
        self.att_proj, self.att_projM = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs)
        for name in ("11", "22", "12", "M"):
            weight = nn.Parameter(torch.empty(outputs, 1))
            nn.init.xavier_normal_(weight)
            setattr(self, f"att_weight{name}", weight)
        self.proj_with_att, self.proj_without_att = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs)
        self.proj_with_attM, self.proj_without_attM = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs)
        self.bn = nn.BatchNorm1d(outputs)

    def _likeness(self, nodes, count):
        made = torch.tanh(self.att_proj(pairs(nodes)))
        within_first = made[:, :count, :count] @ self.att_weight11
        within_second = made[:, count:, count:] @ self.att_weight22
        onward, backward = made[:, :count, count:] @ self.att_weight12, made[:, count:, :count] @ self.att_weight12
        upper, lower = torch.cat([within_first, onward], 2), torch.cat([backward, within_second], 2)
        return torch.cat([upper, lower], 1).squeeze(-1)

    def _listen(self, nodes, master):
        likeness = torch.tanh(self.att_projM(nodes * master)) @ self.att_weightM
        heard = torch.softmax(likeness / PAIR_TEMPERATURE, dim=1).transpose(1, 2) @ nodes
        return self.proj_with_attM(heard) + self.proj_without_attM(master)

    def forward(self, first, second, master):
        count = first.shape[1]
        nodes = torch.cat([self.proj_type1(first), self.proj_type2(second)], dim=1)
        taken = torch.softmax(self._likeness(nodes, count) / PAIR_TEMPERATURE, dim=-1) @ nodes
        master = self._listen(nodes, master)
        nodes = F.selu(normalised_nodes(self.bn, self.proj_with_att(taken) + self.proj_without_att(nodes)))
        return nodes[:, :count], nodes[:, count:], master


class GraphPool(nn.Module):
    """Keeps the nodes with the highest scores, weighted by them."""

    def __init__(self, numbers):
        super().__init__()
        self.proj = nn.Linear(numbers, 1)

    def forward(self, nodes):
        scores = torch.sigmoid(self.proj(nodes))
        kept = max(int(nodes.shape[1] * KEPT_SHARE), 1)
        best = torch.topk(scores, kept, dim=1).indices.expand(-1, -1, nodes.shape[2])
        return torch.gather(nodes * scores, 1, best)


class Aasist(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.LL = nn.Linear(width, REDUCED)
        self.first_bn, self.first_bn1 = nn.BatchNorm2d(1), nn.BatchNorm2d(NODE)
        self.encoder = nn.Sequential(
            *(nn.Sequential(ResidualBlock(*sizes, is_first=index == 0)) for index, sizes in enumerate(CHANNELS))
        )
        self.attention = nn.Sequential(
            nn.Conv2d(NODE, 2 * NODE, 1), nn.SELU(), nn.BatchNorm2d(2 * NODE), nn.Conv2d(2 * NODE, NODE, 1)
        )
        self.pos_S = nn.Parameter(torch.randn(1, BANDS, NODE))
        self.master1, self.master2 = (nn.Parameter(torch.randn(1, 1, NODE)) for _ in range(2))
        self.GAT_layer_S, self.GAT_layer_T = GraphAttention(NODE, NODE), GraphAttention(NODE, NODE)
        self.HtrgGAT_layer_ST11, self.HtrgGAT_layer_ST21 = (PairAttention(NODE, PAIR_NODE) for _ in range(2))
        self.HtrgGAT_layer_ST12, self.HtrgGAT_layer_ST22 = (PairAttention(PAIR_NODE, PAIR_NODE) for _ in range(2))
        self.pool_S, self.pool_T = GraphPool(NODE), GraphPool(NODE)
        self.pool_hS1, self.pool_hT1, self.pool_hS2, self.pool_hT2 = (GraphPool(PAIR_NODE) for _ in range(4))
        self.out_layer = nn.Linear(5 * PAIR_NODE, 2)

    @staticmethod
    def _branch(moments, bands, master, layers, pools):
        moments, bands, master = layers[0](moments, bands, master)
        moments, bands = pools[0](moments), pools[1](bands)
        more_moments, more_bands, more_master = layers[1](moments, bands, master)
        return moments + more_moments, bands + more_bands, master + more_master

    def forward(self, answer, made, given):
        del made, given
        x = F.max_pool2d(self.LL(answer).transpose(1, 2).unsqueeze(1), 3)
        x = F.selu(self.first_bn1(self.encoder(F.selu(self.first_bn(x)))))
        weights = self.attention(x)
        bands = (x * torch.softmax(weights, dim=-1)).sum(-1).transpose(1, 2) + self.pos_S
        moments = (x * torch.softmax(weights, dim=-2)).sum(-2).transpose(1, 2)
        bands, moments = self.pool_S(self.GAT_layer_S(bands)), self.pool_T(self.GAT_layer_T(moments))
        first = self._branch(
            moments,
            bands,
            self.master1,
            (self.HtrgGAT_layer_ST11, self.HtrgGAT_layer_ST12),
            (self.pool_hT1, self.pool_hS1),
        )
        second = self._branch(
            moments,
            bands,
            self.master2,
            (self.HtrgGAT_layer_ST21, self.HtrgGAT_layer_ST22),
            (self.pool_hT2, self.pool_hS2),
        )
        moments, bands, master = (torch.maximum(*both) for both in zip(first, second))
        found = [moments.abs().amax(1), moments.mean(1), bands.abs().amax(1), bands.mean(1), master.squeeze(1)]
        return self.out_layer(torch.cat(found, dim=1))
