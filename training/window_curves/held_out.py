# SPDX-License-Identifier: Apache-2.0
"""Score the training clips of a fold of sources that a network on curves never saw.

    python3 -m window_curves.bank --kind KIND --cache CACHE --out BANK --hold-out 2/8 ..
    python3 -m window_curves.train --kind KIND --banks BANK --run RUN ..
    python3 -m window_curves.held_out --kind KIND --cache CACHE --hold-out 2/8 --run RUN

Writes RUN/scores.csv, of one window from the middle of each clip; judge.held_out_figures reads such runs.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from data.corpus_cache import CorpusCache
from data.sampler import hold_out_option
from train.detector import validation_windows, write_scores
from window_curves.curves import SHAPES, WindowCurves
from window_curves.network import load_trained

BATCH = 64


def score_held_out(kind, cache, hold_out, run):
    curves, clips = validation_windows(cache, WindowCurves(kind), hold_out)
    network = load_trained(kind, run / "last.pt").eval()
    with torch.no_grad():
        batches = (curves[first : first + BATCH].astype(np.float32) for first in range(0, len(curves), BATCH))
        logits = np.concatenate([network(torch.from_numpy(batch)).numpy() for batch in batches])
    write_scores(run / "scores.csv", logits, clips)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=SHAPES, required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--hold-out", type=hold_out_option, metavar="FOLD/FOLDS", required=True)
    parser.add_argument("--run", type=Path, required=True)
    options = parser.parse_args()
    score_held_out(options.kind, CorpusCache(options.cache), options.hold_out, options.run)


if __name__ == "__main__":
    main()
