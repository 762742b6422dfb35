# SPDX-License-Identifier: Apache-2.0
"""Write a checkpoint of random numbers in the form of a family's published ones, to try or measure an import.

    python3 -m imported.random_checkpoint --family xlsr-aasist --size 300m --out CHECKPOINT.pth

Such a detector knows nothing. Its size, its speed and the rounding of its numbers are those of a real one.
"""

import argparse

import torch
from torch import nn

from imported.aasist import Aasist
from imported.encoder import Encoder, Structure, frames_of
from imported.families import FAMILIES, FOUR_SECONDS
from imported.heads import FactorisedPooling, Mean, Sls
from imported.nes2net import Nes2Net

LARGE = {"channels": 512, "has_conv_bias": True, "is_large": True, "position_kernel": 128, "position_groups": 16}
SIZES = {
    "tiny": {
        **LARGE, "channels": 16, "width": 48, "inner_width": 64, "layers": 3, "heads": 4, "position_kernel": 8,
        "position_groups": 4,
    },
    "tiny-base": {
        **LARGE, "channels": 16, "width": 48, "inner_width": 64, "layers": 2, "heads": 4, "position_kernel": 8,
        "position_groups": 4, "has_conv_bias": False, "is_large": False,
    },
    "95m": {
        **LARGE, "width": 768, "inner_width": 3072, "layers": 12, "heads": 12, "has_conv_bias": False,
        "is_large": False,
    },
    "300m": {**LARGE, "width": 1024, "inner_width": 4096, "layers": 24, "heads": 16},
    "1b": {**LARGE, "width": 1280, "inner_width": 5120, "layers": 48, "heads": 16},
    "2b": {**LARGE, "width": 1920, "inner_width": 7680, "layers": 48, "heads": 16},
}  # fmt: skip
BUCKETS = 320


def structure_of(family, size):
    options = dict(SIZES[size])
    if family == "wavlm-mhfa":
        options.update(buckets=BUCKETS, has_conv_bias=False)
    return Structure(**options)


def head_of(family, structure):
    width = structure.width
    tiny = width < 100
    return {
        "xlsr-aasist": lambda: Aasist(width),
        "xlsr-sls": lambda: Sls(width, frames_of(FOUR_SECONDS), 32 if tiny else 1024),
        "xlsr-nes2net": lambda: Nes2Net(
            width=width, parts=4 if tiny else 8, inner_parts=3 if tiny else 8, kernel=3, dilation=2,
            reduced=width // 4 if tiny else width // 8, pooling_bottleneck=0,
        ),
        "nii-antideepfake": lambda: Mean(width),
        "wavlm-mhfa": lambda: FactorisedPooling(
            width, structure.layers + 1, 4 if tiny else 32, 16 if tiny else 128, 32 if tiny else 256, False
        ),
    }[family]()  # fmt: skip


@torch.no_grad()
def _shake(module):
    """Unlike those of an untrained normalisation, so that a missing one is noticed."""
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d)):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.8, 1.2)
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm)):
            part.weight.uniform_(0.8, 1.2)
            part.bias.normal_(0, 0.05)


def random_state(family, size, seed=1):
    """{name: tensor} as a family's training program saves it."""
    torch.manual_seed(seed)
    structure = structure_of(family, size)
    encoder, head = Encoder(structure), head_of(family, structure)
    _shake(encoder)
    _shake(head)
    state = {FAMILIES[family].encoder_name + name: tensor for name, tensor in encoder.state_dict().items()}
    position = FAMILIES[family].encoder_name + "encoder.pos_conv.0."
    weight = state.pop(position + "weight")
    state[position + "weight_g"] = weight.norm(dim=(0, 1), keepdim=True)
    state[position + "weight_v"] = weight
    state[FAMILIES[family].encoder_name + "mask_emb"] = torch.rand(structure.width)
    return {**state, **head.state_dict()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=FAMILIES, required=True)
    parser.add_argument("--size", choices=SIZES, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    torch.save(random_state(options.family, options.size, options.seed), options.out)


if __name__ == "__main__":
    main()
