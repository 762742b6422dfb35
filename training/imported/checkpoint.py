# SPDX-License-Identifier: Apache-2.0
"""The parameters in a checkpoint file, under fairseq's names.

Reads the output of `torch.save(model.state_dict())`, plain or inside a dictionary of a training tool, and safetensors.
Pickles are read with weights_only=True: code in a checkpoint never runs. Encoders are published under the names of
fairseq or of Hugging Face's transformers; here all get those of fairseq, and the weight normalisation of the positional
convolution is multiplied out.
"""

import inspect
import json
import re
import struct
import zipfile
from pathlib import Path

import torch

MAX_SAFETENSORS_HEADER_BYTES = 100_000_000
STATE_NAMES = ("state_dict", "model_state_dict", "model", "net")
ENCODER_MARKS = ("feature_extractor.conv_layers.0.0.weight", "feature_extractor.conv_layers.0.conv.weight")
# Used only while the encoder learned from unlabelled speech, not by detectors.
PRE_TRAINING = ("mask_emb", "masked_spec_embed", "quantizer.", "project_q.", "final_proj.", "label_embs_concat")

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}

HUGGING_FACE = (
    (r"^feature_extractor\.conv_layers\.(\d+)\.conv\.", r"feature_extractor.conv_layers.\1.0."),
    (r"^feature_projection\.layer_norm\.", "layer_norm."),
    (r"^feature_projection\.projection\.", "post_extract_proj."),
    (r"^encoder\.pos_conv_embed\.conv\.", "encoder.pos_conv.0."),
    (r"^(encoder\.layers\.\d+)\.layer_norm\.", r"\1.self_attn_layer_norm."),
    (r"^(encoder\.layers\.\d+)\.attention\.gru_rel_pos_const$", r"\1.self_attn.grep_a"),
    (r"^(encoder\.layers\.\d+)\.attention\.gru_rel_pos_linear\.", r"\1.self_attn.grep_linear."),
    (r"^(encoder\.layers\.\d+)\.attention\.rel_attn_embed\.", r"\1.self_attn.relative_attention_bias."),
    (r"^(encoder\.layers\.\d+)\.attention\.", r"\1.self_attn."),
    (r"^(encoder\.layers\.\d+)\.feed_forward\.intermediate_dense\.", r"\1.fc1."),
    (r"^(encoder\.layers\.\d+)\.feed_forward\.output_dense\.", r"\1.fc2."),
)


class CheckpointError(Exception):
    """The checkpoint cannot be used; each of `problems` is a sentence for users."""

    def __init__(self, *problems):
        super().__init__("\n".join(problems))
        self.problems = problems


def _read_safetensors(path):
    with path.open("rb") as file:
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else MAX_SAFETENSORS_HEADER_BYTES + 1
        if length > MAX_SAFETENSORS_HEADER_BYTES:
            raise CheckpointError(f"{path} is not a safetensors file: its header has no possible length.")
        try:
            header = json.loads(file.read(length))
            header.pop("__metadata__", None)
            content = torch.from_file(str(path), size=path.stat().st_size, dtype=torch.uint8)[8 + length :]
            tensors = {}
            for name, entry in header.items():
                begin, end = entry["data_offsets"]
                if not 0 <= begin <= end <= len(content):
                    raise ValueError(f"{name} lies outside the file")
                # A copy, since the content may begin at any offset and a type may need another alignment.
                tensors[name] = content[begin:end].clone().view(DTYPES[entry["dtype"]]).reshape(entry["shape"])
            return tensors
        except (ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
            raise CheckpointError(f"{path} is not a usable safetensors file: {error}.") from error


def _read_pickle(path):
    # Mapped rather than read, if the format allows it: large models would take double the memory.
    can_map = "mmap" in inspect.signature(torch.load).parameters and zipfile.is_zipfile(path)
    try:
        return torch.load(str(path), map_location="cpu", weights_only=True, **({"mmap": True} if can_map else {}))
    except Exception as error:  # broken files raise many kinds of errors
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CheckpointError(
            f"{path} cannot be read as parameters only: {first}",
            "It is damaged, or holds objects whose loading would run code from the file; this command never does that. "
            "If you trust it, load it with the program it comes from, and save "
            "{name: tensor for name, tensor in model.state_dict().items()} with torch.save.",
        ) from error


def read_tensors(path):
    """{name: tensor}, unchanged from the file."""
    path = Path(path)
    if not path.is_file():
        raise CheckpointError(f"{path} is not a file.")
    content = _read_safetensors(path) if path.suffix == ".safetensors" else _read_pickle(path)
    for name in STATE_NAMES:
        if isinstance(content, dict) and isinstance(content.get(name), dict):
            content = content[name]
    tensors = {}
    if isinstance(content, dict):
        tensors = {name: value for name, value in content.items() if isinstance(value, torch.Tensor)}
    if not tensors:
        raise CheckpointError(f"{path} has no parameters: expected a dictionary of names and tensors.")
    return tensors


def _prefix_of_encoder(tensors):
    prefixes = {name[: -len(mark)] for name in tensors for mark in ENCODER_MARKS if name.endswith(mark)}
    if len(prefixes) != 1:
        found = ", ".join(list(tensors)[:5])
        raise CheckpointError(
            f"Expected the parameters of one wav2vec 2.0 or WavLM encoder, but found {len(prefixes) or 'none'}. "
            f"The first of {len(tensors)} parameters: {found}."
        )
    return prefixes.pop()


def _fairseq_names(encoder):
    has_layer_norms = "feature_extractor.conv_layers.1.layer_norm.weight" in encoder
    norm = "2.1" if has_layer_norms else "2"
    rules = (
        *HUGGING_FACE,
        (r"^feature_extractor\.conv_layers\.(\d+)\.layer_norm\.", rf"feature_extractor.conv_layers.\1.{norm}."),
    )
    if "feature_extractor.conv_layers.0.conv.weight" not in encoder:
        return dict(encoder)
    renamed = {}
    for name, tensor in encoder.items():
        for pattern, replacement in rules:
            changed = re.sub(pattern, replacement, name)
            if changed != name:
                name = changed
                break
        renamed[name] = tensor
    return renamed


def _multiply_out(encoder):
    """The positional convolution's weight from its directions and lengths, for both of PyTorch's namings."""
    start = "encoder.pos_conv.0."
    for lengths, directions in (
        ("weight_g", "weight_v"),
        ("parametrizations.weight.original0", "parametrizations.weight.original1"),
    ):
        if start + lengths in encoder and start + directions in encoder:
            g, v = encoder.pop(start + lengths).float(), encoder.pop(start + directions).float()
            if v.ndim != 3 or g.shape != (1, 1, v.shape[2]):
                raise CheckpointError(
                    f"{start}{lengths} has the shape {list(g.shape)}; {directions} has {list(v.shape)}."
                )
            encoder[start + "weight"] = g * v / v.norm(dim=(0, 1), keepdim=True)
    return encoder


def split_checkpoint(tensors, encoder_name):
    """(encoder's parameters under fairseq's names, those of the rest). `encoder_name`: the family's name of its
    encoder, such as `ssl_model.model.`; a prefix before it, such as `module.`, is removed from the other names."""
    prefix = _prefix_of_encoder(tensors)
    root = prefix[: -len(encoder_name)] if prefix.endswith(encoder_name) else ""
    encoder, rest = {}, {}
    for name, tensor in tensors.items():
        if name.endswith("num_batches_tracked"):
            continue
        if name.startswith(prefix):
            if not name[len(prefix) :].startswith(PRE_TRAINING):
                encoder[name[len(prefix) :]] = tensor
        else:
            rest[name[len(root) :] if name.startswith(root) else name] = tensor
    return _multiply_out(_fairseq_names(encoder)), rest
