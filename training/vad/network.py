# SPDX-License-Identifier: Apache-2.0
"""The network of native/vad/speech_network.h in PyTorch, and its export to C++."""

import numpy as np
import torch
from torch import nn

BANDS = 24
STEP_FRAMES = 2
UNITS = 32
DELAY_STEPS = 4
_NUMBERS_PER_LINE = 8


class SpeechNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrence = nn.GRU(STEP_FRAMES * BANDS, UNITS, batch_first=True)
        self.output = nn.Linear(UNITS, STEP_FRAMES)

    def forward(self, features):
        """features: [batch, frames, 24], frames even. Returns log odds [batch, frames - 8], without the last 8 frames,
        of which the network has not heard enough."""
        batch, frames, _ = features.shape
        states, _ = self.recurrence(features.reshape(batch, frames // STEP_FRAMES, STEP_FRAMES * BANDS))
        return self.output(states[:, DELAY_STEPS:]).reshape(batch, -1)


def _braces(tensor):
    if tensor.dim() > 1:
        return "{" + ",\n".join(map(_braces, tensor)) + "}"
    numbers = [f"{value:.6g}" for value in tensor.tolist()]
    numbers = [n + ("f" if "." in n or "e" in n else ".0f") for n in numbers]
    lines = [", ".join(numbers[i : i + _NUMBERS_PER_LINE]) for i in range(0, len(numbers), _NUMBERS_PER_LINE)]
    return "{" + ",\n ".join(lines) + "}"


def cpp_weights(network):
    """The text of native/vad/speech_network_weights.inc. The order of the gates is PyTorch's: reset, update and
    candidate."""
    gru = network.recurrence
    bias = gru.bias_ih_l0.detach().clone()
    bias[: 2 * UNITS] += gru.bias_hh_l0.detach()[: 2 * UNITS]
    parts = [
        gru.weight_ih_l0.detach().T,
        gru.weight_hh_l0.detach().T,
        bias,
        gru.bias_hh_l0.detach()[2 * UNITS :],
        network.output.weight.detach(),
        network.output.bias.detach(),
    ]
    return (
        "// Written by training/vad/train.py. Fields of Weights in speech_network.cc.\n"
        + ",\n".join(_braces(part) for part in parts)
        + "\n"
    )


def cpp_reference(network, steps=60):
    """The text of native/test/speech_network_reference.inc: outputs, step by step, for inputs made by the test's
    formula."""
    step, index = np.arange(1, steps + 1)[:, None], np.arange(1, STEP_FRAMES * BANDS + 1)[None]
    inputs = torch.from_numpy((3 * np.sin(0.1 * step * index)).astype(np.float32))
    with torch.no_grad():
        outputs = network.output(network.recurrence(inputs[None])[0][0])
    return "// Written by training/vad/train.py.\n" + ",\n".join(map(_braces, outputs)) + "\n"
