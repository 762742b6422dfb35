# SPDX-License-Identifier: Apache-2.0
"""Nes2Net-X (Liu et al., 2025): splits the encoder's vector into parts and processes each with the sum of the results
of earlier parts, by a network that does the same with parts of the part. Parameters are named as in the published
checkpoints."""

import torch
from torch import nn
from torch.nn import functional as F

VARIANCE_FLOOR = 1e-10


class Squeeze(nn.Module):
    """A factor per channel, from the means of all."""

    def __init__(self, channels, reduced):
        super().__init__()
        self.se = nn.Sequential(
            nn.AdaptiveAvgPool1d(1),
            nn.Conv1d(channels, reduced, 1),
            nn.ReLU(),
            nn.Conv1d(reduced, channels, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return x * self.se(x)


class InnerNetwork(nn.Module):
    """Res2Net with a weighted sum: each part is convolved with all earlier results, which are then added up."""

    def __init__(self, channels, parts, kernel, dilation, reduced):
        super().__init__()
        self.width = channels // parts
        inside = self.width * parts
        self.conv1, self.bn1 = nn.Conv1d(channels, inside, 1), nn.BatchNorm1d(inside)
        self.convs = nn.ModuleList(
            nn.Conv2d(self.width, self.width, (kernel, 1), dilation=(dilation, 1), padding=(kernel // 2 * dilation, 0))
            for _ in range(parts - 1)
        )
        self.bns = nn.ModuleList(nn.BatchNorm2d(self.width) for _ in range(parts - 1))
        self.weighted_sum = nn.ParameterList(
            nn.Parameter(torch.full((1, 1, 1, count), 1 / count)) for count in range(2, parts + 1)
        )
        self.conv3, self.bn3 = nn.Conv1d(inside, channels, 1), nn.BatchNorm1d(channels)
        self.se = Squeeze(channels, reduced)

    def forward(self, x):
        parts = self.bn1(F.relu(self.conv1(x))).unsqueeze(-1).split(self.width, dim=1)
        results, beside = [], parts[-1]
        for part, conv, norm, weights in zip(parts, self.convs, self.bns, self.weighted_sum):
            beside = norm(F.relu(conv(torch.cat([beside, part], dim=-1))))
            results.append((beside * weights).sum(-1))
        results.append(parts[-1].squeeze(-1))
        return x + self.se(self.bn3(F.relu(self.conv3(torch.cat(results, dim=1)))))


class AttentiveStatistics(nn.Module):
    def __init__(self, channels, bottleneck):
        super().__init__()
        self.linear1, self.linear2 = nn.Conv1d(channels, bottleneck, 1), nn.Conv1d(bottleneck, channels, 1)

    def forward(self, x):
        shares = torch.softmax(self.linear2(torch.tanh(self.linear1(x))), dim=2)
        mean = (shares * x).sum(2)
        variance = (shares * x**2).sum(2) - mean**2
        return torch.cat([mean, variance.clamp(min=VARIANCE_FLOOR).sqrt()], dim=1)


class OuterNetwork(nn.Module):
    def __init__(self, width, parts, inner_parts, kernel, dilation, reduced, pooling_bottleneck):
        super().__init__()
        self.width = width // parts
        self.Build_in_Res2Nets = nn.ModuleList(
            InnerNetwork(self.width, inner_parts, kernel, dilation, reduced) for _ in range(parts - 1)
        )
        self.bns = nn.ModuleList(nn.BatchNorm1d(self.width) for _ in range(parts - 1))
        self.bn = nn.BatchNorm1d(width)
        self.pooling = AttentiveStatistics(width, pooling_bottleneck) if pooling_bottleneck else None
        self.fc = nn.Linear(width if self.pooling is None else 2 * width, 2)

    def forward(self, x):
        *parts, last = x.split(self.width, dim=1)
        results, so_far = [], None
        for part, network, norm in zip(parts, self.Build_in_Res2Nets, self.bns):
            so_far = norm(F.relu(network(part if so_far is None else so_far + part)))
            results.append(so_far)
        made = F.relu(self.bn(torch.cat([*results, last], dim=1)))
        return self.fc(made.mean(-1) if self.pooling is None else self.pooling(made))


class Nes2Net(nn.Module):
    def __init__(self, **sizes):
        super().__init__()
        self.Nested_Res2Net_TDNN = OuterNetwork(**sizes)

    def forward(self, answer, made, given):
        del made, given
        return self.Nested_Res2Net_TDNN(answer.transpose(1, 2))
