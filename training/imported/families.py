# SPDX-License-Identifier: Apache-2.0
"""The families of detectors that can be imported: names of the encoder, head, input, and meaning of the logits."""

import contextlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from imported.aasist import Aasist
from imported.checkpoint import CheckpointError, split_checkpoint
from imported.encoder import Encoder, Structure, frames_of
from imported.heads import FactorisedPooling, Mean, Sls
from imported.nes2net import Nes2Net

FIVE_SECONDS = 80_000
FOUR_SECONDS = 64_600
LISTED = 20
VARIANCE_FLOOR = 1e-5  # as in layer_norm, with which these detectors were trained
CAN_ASSIGN = "assign" in inspect.signature(nn.Module.load_state_dict).parameters


@dataclass(frozen=True)
class Options:
    """Properties that do not follow from a checkpoint."""

    heads: int | None = None
    dilation: int = 2


@dataclass(frozen=True)
class Family:
    """`normalises`: whether samples are normalised to mean 0 and variance 1 per input, by the encoder's structure.
    `head` makes the head from (structure, the head's parameters, options). `spoof_index`: the logit of AI-generated
    voices."""

    encoder_name: str
    head: Callable
    window_samples: int
    spoof_index: int
    normalises: Callable


def _shape(parameters, name, axes):
    if name not in parameters:
        raise CheckpointError(f"The checkpoint lacks {name}, from which a size of its head follows.")
    if parameters[name].ndim != axes:
        raise CheckpointError(f"{name} has {parameters[name].ndim} axes instead of {axes}.")
    return parameters[name].shape


def _count(parameters, pattern):
    found = {int(match[1]) for name in parameters if (match := re.match(pattern, name))}
    return max(found, default=-1) + 1


def _aasist(structure, parameters, options):
    del parameters, options
    return Aasist(structure.width)


def _sls(structure, parameters, options):
    del options
    return Sls(structure.width, frames_of(FOUR_SECONDS), _shape(parameters, "fc3.weight", 2)[1])


def _mean(structure, parameters, options):
    del parameters, options
    return Mean(structure.width)


def _nes2net(structure, parameters, options):
    start = "Nested_Res2Net_TDNN."
    inner = start + "Build_in_Res2Nets.0."
    parts = _count(parameters, re.escape(start) + r"Build_in_Res2Nets\.(\d+)\.") + 1
    inner_parts = _count(parameters, re.escape(inner) + r"convs\.(\d+)\.") + 1
    if parts < 2 or inner_parts < 2 or structure.width % parts:
        raise CheckpointError(
            f"Expected the parts of a nested network under {inner}convs, but found {parts - 1} times {inner_parts - 1}."
        )
    pooling = start + "pooling.linear1.weight"
    return Nes2Net(
        width=structure.width,
        parts=parts,
        inner_parts=inner_parts,
        kernel=_shape(parameters, inner + "convs.0.weight", 4)[2],
        dilation=options.dilation,
        reduced=_shape(parameters, inner + "se.se.1.weight", 3)[0],
        pooling_bottleneck=_shape(parameters, pooling, 3)[0] if pooling in parameters else 0,
    )


def _factorised_pooling(structure, parameters, options):
    del options
    heads, reduced = _shape(parameters, "att_head.weight", 2)
    return FactorisedPooling(
        width=structure.width,
        layers=structure.layers + 1,
        heads=heads,
        reduced=reduced,
        embedding=_shape(parameters, "pooling_fc.weight", 2)[0],
        by_cosine="projection.weight" in parameters,
    )


def _never(structure):
    del structure
    return False


FAMILIES = {
    "xlsr-aasist": Family("ssl_model.model.", _aasist, FOUR_SECONDS, 0, _never),
    "xlsr-sls": Family("ssl_model.model.", _sls, FOUR_SECONDS, 0, _never),
    "xlsr-nes2net": Family("ssl_model.model.", _nes2net, FOUR_SECONDS, 0, _never),
    "nii-antideepfake": Family("m_ssl.model.", _mean, FIVE_SECONDS, 0, lambda structure: True),
    # WavLM-large was trained on normalised samples, the small ones were not.
    "wavlm-mhfa": Family(
        "frontend.upstream.upstream.model.",
        _factorised_pooling,
        FIVE_SECONDS,
        1,
        lambda structure: structure.is_large,
    ),
}


class Detector(nn.Module):
    """Samples between -1 and 1 [batch, samples] -> logits [batch, 2]."""

    def __init__(self, structure, head, normalises):
        super().__init__()
        self.encoder, self.head, self.normalises = Encoder(structure), head, normalises

    def forward(self, samples):
        if self.normalises:
            samples = samples - samples.mean(1, keepdim=True)
            samples = samples / torch.sqrt(samples.square().mean(1, keepdim=True) + VARIANCE_FLOOR)
        answer, made, given = self.encoder(samples)
        single = lambda vectors: [vector.float() for vector in vectors]
        return self.head(answer.float(), single(made), single(given))


def _listed(names):
    shown = ", ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED} more"


def _without_numbers():
    """Modules made inside get their numbers only from the checkpoint: random initialisation would take double the
    memory, and minutes. PyTorch 1 cannot avoid it."""
    return torch.device("meta") if CAN_ASSIGN else contextlib.nullcontext()


def _fill(module, parameters, prefix):
    """Puts parameters into a module; returns the mismatches in sentences, with the checkpoint's names."""
    wanted = {name: tensor for name, tensor in module.state_dict().items() if not name.endswith("num_batches_tracked")}
    missing = [prefix + name for name in wanted if name not in parameters]
    unexpected = [prefix + name for name in parameters if name not in wanted]
    misshaped = [
        f"{prefix}{name} {list(parameters[name].shape)} instead of {list(tensor.shape)}"
        for name, tensor in wanted.items()
        if name in parameters and parameters[name].shape != tensor.shape
    ]
    odd = [
        prefix + name for name in wanted if name in parameters and not torch.isfinite(parameters[name].float()).all()
    ]
    problems = [
        f"{len(names)} {what}: {_listed(names)}."
        for names, what in (
            (missing, "missing"),
            (unexpected, "unexpected"),
            (misshaped, "of another shape"),
            (odd, "with numbers that are not finite"),
        )
        if names
    ]
    if not problems:
        given = {name: parameters[name].float() for name in wanted}
        module.load_state_dict(given, strict=False, **({"assign": True} if CAN_ASSIGN else {}))
    return problems


def load(family_name, tensors, options):
    """A Detector with the parameters of a checkpoint; CheckpointError lists all mismatches."""
    family = FAMILIES[family_name]
    encoder_parameters, head_parameters = split_checkpoint(tensors, family.encoder_name)
    structure = Structure.of(encoder_parameters, options.heads)
    with _without_numbers():
        head = family.head(structure, head_parameters, options)
        detector = Detector(structure, head, family.normalises(structure))
    problems = _fill(detector.encoder, encoder_parameters, family.encoder_name)
    problems += _fill(detector.head, head_parameters, "")
    if problems:
        raise CheckpointError(f"The parameters are not those of {family_name}.", *problems)
    return detector.eval()
