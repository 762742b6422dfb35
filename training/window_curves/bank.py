# SPDX-License-Identifier: Apache-2.0
"""Write curves of training crops, so that networks train on them in minutes.

    python3 -m window_curves.bank --kind phase_coherence --cache CACHE --out BANK [--crops 128000] [--seed 1]
        [--changes room=0.5 noise=0.2 ..] [--without augmentation ..]

Writes BANK/0.npz and so on, of 3200 crops each: curves, float16 [crops, curves, bins], and labels, 1 for "spoof";
alternately of a human and a generated crop, as data/sampler.py pairs them. --changes: processing of these shares of the
crops of either class, in the given order, after everything else. Sound below and beside the voice, and traces of a room
or hum, are revealing, but easy to filter out and to add. Existing files are kept.
"""

import argparse
import os
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from data.corpus_cache import CorpusCache
from data.sampler import PARTS, CropSampler
from features.recipe import WINDOW_SAMPLES
from signals.augmentation import CHANGES
from window_curves.curves import SHAPES, WindowCurves

BATCH, BATCHES = 64, 50
CROPS_PER_FILE = BATCH * BATCHES
CHANGES_SEED = 20261124


def change_option(text):
    """("room", 0.25) of the argument room=0.25."""
    name, share = text.split("=")
    if name not in CHANGES or not 0 <= float(share) <= 1:
        raise ValueError(text)
    return name, float(share)


def curves_of_crops(kind, sampler, index, changes=(), batches=BATCHES):
    """(curves, labels) of the file with this index, from `batches` batches of crops. `changes`: pairs of a share and a
    function of a crop and a Generator, applied in this order."""
    window_curves, curves, labels = WindowCurves(kind), [], []
    rng = np.random.default_rng([CHANGES_SEED, index])
    for batch in range(index * batches, (index + 1) * batches):
        crops, batch_labels = sampler.batch(batch, WINDOW_SAMPLES)
        for share, change in changes:
            crops = [change(crop, rng) if rng.random() < share else crop for crop in crops]
        curves += [window_curves.compute(crop).astype(np.float16) for crop in crops]
        labels.append(batch_labels)
    return np.stack(curves), np.concatenate(labels)


def write_file(options, index):
    path = Path(options.out, f"{index}.npz")
    if path.exists():
        return
    sampler = CropSampler(CorpusCache(options.cache), options.seed, BATCH, options.without)
    changes = [(share, CHANGES[name]) for name, share in options.changes]
    curves, labels = curves_of_crops(options.kind, sampler, index, changes)
    unfinished = path.with_suffix(f".{os.getpid()}.npz")
    np.savez(unfinished, curves=curves, labels=labels)
    unfinished.rename(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=SHAPES, required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--crops", type=int, default=128000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--changes",
        nargs="+",
        type=change_option,
        default=[],
        metavar="NAME=SHARE",
        help=f"what such shares of the crops go through, in the order given: {', '.join(CHANGES)}",
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--without", nargs="+", choices=PARTS, default=[])
    options = parser.parse_args()
    Path(options.out).mkdir(parents=True, exist_ok=True)
    with Pool(options.jobs) as pool:
        for _ in pool.imap_unordered(partial(write_file, options), range(-(-options.crops // CROPS_PER_FILE))):
            pass


if __name__ == "__main__":
    main()
