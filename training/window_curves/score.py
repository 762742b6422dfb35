# SPDX-License-Identifier: Apache-2.0
"""Add the logits of networks on curves of windows to the scores of a detector, clip by clip.

    python3 -m window_curves.score --kind mean_spectrum --weights RUN/last.pt .. --scores SCORES.csv --clips FOLDER
        --out OUT [--shares 0.2 0.5 1 inf]

SCORES.csv comes from `veravox evaluate --scores`, with paths relative to --clips. OUT/share-0.5.csv is the same table,
with scores whose logit is the detector's plus 0.5 times the mean of the network's over the windows; inf: the network
alone. judge.compare_runs compares such files.
"""

import argparse
import tempfile
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch

from data.originals_cache import read_table, write_table
from data.prepare_corpus import ffmpeg
from data.prepare_originals import read_decoded
from features.recipe import SAMPLE_RATE_HZ
from judge.measures import logit, sigmoid
from judge.serving_windows import windows_of
from signals.channel_chain import by_server
from window_curves.curves import SHAPES, WindowCurves
from window_curves.network import MeanOfNetworks, load_trained

SMALLEST_SCORE = 5e-6  # half of the last digit


def curves_of(kind, path):
    """float32 [windows, curves, bins] of a file."""
    with tempfile.TemporaryDirectory() as folder:
        decoded = Path(folder, "decoded.au")
        ffmpeg("-i", path, "-map", "0:a:0", "-ac", 1, "-c:a", "pcm_s16be", "-f", "au", decoded)
        rate_hz, samples = read_decoded(decoded)
    samples = samples.astype(np.float32) / 32768
    if rate_hz != SAMPLE_RATE_HZ:
        samples = by_server(samples, rate_hz, SAMPLE_RATE_HZ)
    window_curves = WindowCurves(kind)
    return np.stack([window_curves.compute(window) for window in windows_of(samples)])


def curves_or_none(kind, folder, row):
    return curves_of(kind, folder / row["path"]) if row["score"] else None


def joined(score, said, share):
    """A score as `veravox evaluate` writes it, with the logit of the networks added."""
    rounded = np.clip(float(score), SMALLEST_SCORE, 1 - SMALLEST_SCORE)
    return float(sigmoid(said if np.isinf(share) else logit(rounded) + share * said))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=SHAPES, required=True)
    parser.add_argument("--weights", nargs="+", required=True)
    parser.add_argument("--scores", required=True)
    parser.add_argument("--clips", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--shares", nargs="+", type=float, default=[0.2, 0.5, 1.0, np.inf])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    network = MeanOfNetworks([load_trained(options.kind, weights) for weights in options.weights]).eval()
    rows, said = read_table(options.scores), {}
    with Pool(options.jobs) as pool, torch.no_grad():
        found = pool.imap(partial(curves_or_none, options.kind, Path(options.clips)), rows, 32)
        for row, curves in zip(rows, found):
            if curves is not None:
                said[row["path"]] = network(torch.from_numpy(curves)).mean().item()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    for share in options.shares:
        changed = [
            {**row, "score": f"{joined(row['score'], said[row['path']], share):.6f}"} if row["path"] in said else row
            for row in rows
        ]
        write_table(out / f"share-{share:g}.csv", list(rows[0]), changed)


if __name__ == "__main__":
    main()
