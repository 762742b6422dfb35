# SPDX-License-Identifier: Apache-2.0
"""Score a student's future crops with trained detectors, for train/detector.py --taught.

    python3 -m train.teach --cache FOLDER --teachers RUN/last.pt ... --steps N --out LOGITS.npy [--seed S]

LOGITS.npy is float16 [steps, batch]: the mean of the teachers' logits on whole crops. The student must have the same
seed and batch.
"""

import argparse

import numpy as np
import torch
from torch.utils.data import DataLoader

from data.sampler import WINDOW_SECONDS
from networks.detector import load_trained, two_views
from train.detector import FeatureBatches


@torch.no_grad()
def teach(options):
    torch.set_num_threads(1)
    teachers = [load_trained(weights) for weights in options.teachers]
    decide = [network.eval().to(memory_format=torch.channels_last).decide for network in teachers]
    if options.compile:
        # One graph per window length and teacher.
        torch._dynamo.config.recompile_limit = len(WINDOW_SECONDS) * len(teachers)
        decide = [torch.compile(function, dynamic=False) for function in decide]
    batches = iter(DataLoader(FeatureBatches(options), batch_size=None, num_workers=1, prefetch_factor=4))
    logits = np.zeros((options.steps, options.batch), np.float16)
    for step in range(options.steps):
        features, _ = next(batches)
        views = two_views(features).to(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            said = [function(views).float() for function in decide]
        logits[step] = torch.stack(said).mean(0).numpy()
    np.save(options.out, logits)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--teachers", nargs="+", required=True, metavar="WEIGHTS")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=20260326)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--compile", action="store_true")
    parser.set_defaults(without=())
    teach(parser.parse_args())


if __name__ == "__main__":
    main()
