# SPDX-License-Identifier: Apache-2.0
"""Train the network on mean spectra, of the crops that detectors are trained on.

    python3 -m long_spectrum.train --cache CACHE --run RUN [--steps 800] [--without codecs augmentation ..]

Writes last.pt and log.csv (every 100 steps the loss) into RUN.
"""

import argparse
import csv
import math
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from data.corpus_cache import CorpusCache
from data.sampler import PARTS, CropSampler
from long_spectrum.network import LongSpectrumNetwork
from long_spectrum.spectrum import long_spectrum

LOG_EVERY = 100


class SpectrumBatches(IterableDataset):
    """([batch, 2, BINS], labels [batch]) without end."""

    def __init__(self, options):
        self._options = options

    def __iter__(self):
        torch.set_num_threads(1)
        options, worker = self._options, get_worker_info()
        sampler = CropSampler(CorpusCache(options.cache), options.seed, options.batch, options.without)
        index, stride = (worker.id, worker.num_workers) if worker else (0, 1)
        while True:
            crops, labels = sampler.batch(index)
            spectra = np.stack([long_spectrum(crop) for crop in crops])
            yield torch.from_numpy(spectra), torch.from_numpy(labels)
            index += stride


def train(options):
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    folder = Path(options.run)
    folder.mkdir(parents=True, exist_ok=True)
    network = LongSpectrumNetwork()
    optimiser = torch.optim.AdamW(network.parameters(), options.peak_rate, weight_decay=0.05)
    batches = iter(DataLoader(SpectrumBatches(options), batch_size=None, num_workers=options.workers))
    losses = []
    with open(folder / "log.csv", "w", newline="", buffering=1) as table:
        log = csv.writer(table)
        log.writerow(["step", "loss"])
        for step in range(options.steps):
            rate = options.peak_rate * (1 + math.cos(math.pi * step / options.steps)) / 2
            for group in optimiser.param_groups:
                group["lr"] = rate
            spectra, labels = next(batches)
            loss = functional.binary_cross_entropy_with_logits(network(spectra), labels)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            if len(losses) == LOG_EVERY:
                log.writerow([step + 1, f"{np.mean(losses):.4f}"])
                losses = []
                torch.save(network.state_dict(), folder / "last.pt")
    torch.save(network.state_dict(), folder / "last.pt")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seed", type=int, default=20261124)
    parser.add_argument("--peak-rate", type=float, default=1e-3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--without", nargs="+", choices=PARTS, default=[])
    train(parser.parse_args())


if __name__ == "__main__":
    main()
