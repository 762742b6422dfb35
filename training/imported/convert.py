# SPDX-License-Identifier: Apache-2.0
"""Turn a checkpoint into an ONNX file and a report for the server; `veravox models import` runs this.

    python3 -m imported.convert --family FAMILY --checkpoint FILE --name ID --out FOLDER [--precision float16]

Writes ID.onnx, ID.onnx.data if the weights are large, inputs.f32 and report.json into FOLDER, the last one at the end.
Exits with 0, with 3 if the checkpoint cannot be used (a sentence per line on standard error), or with 4 if Python
packages are missing.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

UNUSABLE_CHECKPOINT, MISSING_PACKAGES = 3, 4
PACKAGES = ("numpy", "onnx", "torch")
TRIED_INPUTS = 2
SEED = 20261122


def tried_inputs(window_samples):
    """Speech-like: bursts of harmonics over noise, at two levels."""
    import torch

    generator = torch.Generator().manual_seed(SEED)
    time = torch.arange(window_samples) / 16000
    made = []
    for index in range(TRIED_INPUTS):
        pitch = 110.0 + 70 * index + 20 * torch.sin(2 * torch.pi * 0.7 * time)
        phase = 2 * torch.pi * torch.cumsum(pitch, 0) / 16000
        voice = sum(torch.sin(phase * harmonic) / harmonic for harmonic in range(1, 20))
        syllables = torch.sin(2 * torch.pi * (1.5 + index) * time).clamp(min=0)
        noise = torch.randn(window_samples, generator=generator)
        made.append((0.1 / (1 + 4 * index)) * (voice * syllables + 0.02 * noise))
    return torch.stack(made)


def convert(options):
    import torch

    from imported.checkpoint import CheckpointError, read_tensors
    from imported.families import CAN_ASSIGN, FAMILIES, Options, load
    from imported.onnx_file import MAX_INSIDE_BYTES, write_onnx

    is_half = options.precision == "float16"
    if is_half and not CAN_ASSIGN:
        raise CheckpointError(f"float16 needs PyTorch 2.1 or newer, but this is {torch.__version__}.")
    torch.set_num_threads(options.threads)
    family, out = FAMILIES[options.family], Path(options.out)
    detector = load(options.family, read_tensors(options.checkpoint), Options(options.heads, options.dilation))
    inputs = tried_inputs(family.window_samples)
    with torch.no_grad():
        logits = torch.cat([detector(row[None]) for row in inputs])
    structure = detector.encoder.structure
    parameters = sum(tensor.numel() for tensor in detector.state_dict().values())
    limit = MAX_INSIDE_BYTES if options.max_inside_bytes is None else options.max_inside_bytes
    write_onnx(detector, family.window_samples, out / f"{options.name}.onnx", is_half, limit)
    (out / "inputs.f32").write_bytes(inputs.numpy().astype("<f4").tobytes())
    report = {
        "window_samples": family.window_samples,
        "spoof_index": family.spoof_index,
        "normalises": bool(detector.normalises),
        "parameters": parameters,
        "layers": structure.layers,
        "width": structure.width,
        "heads": structure.heads,
        "logits": logits.tolist(),
    }
    # Written last, to mark the rest as complete.
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", required=True)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--precision", choices=("float32", "float16"), default="float32")
    parser.add_argument("--heads", type=int)
    parser.add_argument("--dilation", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-inside-bytes", type=int)
    options = parser.parse_args()
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        print(" ".join(missing), file=sys.stderr)
        sys.exit(MISSING_PACKAGES)
    from imported.checkpoint import CheckpointError

    try:
        convert(options)
    except CheckpointError as error:
        print("\n".join(error.problems), file=sys.stderr)
        sys.exit(UNUSABLE_CHECKPOINT)


if __name__ == "__main__":
    main()
