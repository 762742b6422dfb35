# SPDX-License-Identifier: Apache-2.0
"""Train a network on curves of windows.

    python3 -m window_curves.train --kind phase_coherence --banks DISTURBED PLAIN --shares 2 1 --run RUN [--steps 4000]
        [--start-from RUN/last.pt]

--banks come from window_curves/bank.py, --shares are their shares of a batch. Writes last.pt, settings.json and
log.csv (the mean loss of every 100 steps) into RUN.
"""

import argparse
import csv
import json
import math
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from features.stretch import stretch_frequency
from window_curves.curves import SHAPES
from window_curves.network import CurveNetwork, load_trained

LOG_EVERY = 100
RISING_STEPS = 50


def read_bank(folder):
    """(float16 [crops, curves, bins], labels [crops]) of all files."""
    finished = [path for path in Path(folder).glob("*.npz") if path.stem.isdigit()]
    files = [np.load(path) for path in sorted(finished, key=lambda path: int(path.stem))]
    return np.concatenate([file["curves"] for file in files]), np.concatenate([file["labels"] for file in files])


def draw(bank, pairs, rng):
    """This many pairs of a human and a generated crop, as they were drawn together."""
    curves, labels = bank
    first = 2 * rng.integers(len(labels) // 2, size=pairs)
    places = np.concatenate([first, first + 1])
    return curves[places], labels[places]


def hide_run(curves, share, rng):
    """Hides a random run of bins in this share of the items, in place: the network must not rely on one line."""
    bins = curves.shape[2]
    for item in curves:
        if rng.random() < share:
            width, start = int(rng.integers(1, bins // 3)), int(rng.integers(bins))
            item[:, start : start + width] = 0
    return curves


def pairs_of_banks(shares, batch):
    """Pairs of a batch from each bank; the last bank gets the rounding remainder."""
    pairs = [round(batch / 2 * share / sum(shares)) for share in shares[:-1]]
    return [*pairs, batch // 2 - sum(pairs)]


def rate_at(step, steps, peak):
    return peak * min(1, (step + 1) / RISING_STEPS) * (1 + math.cos(math.pi * step / steps)) / 2


def train(options):
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    rng = np.random.default_rng(options.seed)
    banks = [read_bank(folder) for folder in options.banks]
    pairs = pairs_of_banks(options.shares or [1.0] * len(banks), options.batch)
    folder = Path(options.run)
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        **{name: value for name, value in vars(options).items() if name not in ("run", "threads")},
        "start_from": Path(options.start_from).parent.name if options.start_from else None,
        "banks": [Path(bank).name for bank in options.banks],
        "crops": [len(labels) for _, labels in banks],
    }
    (folder / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    network = load_trained(options.kind, options.start_from) if options.start_from else CurveNetwork(options.kind)
    optimiser = torch.optim.AdamW(network.parameters(), options.peak_rate, weight_decay=options.weight_decay)
    losses = []
    with open(folder / "log.csv", "w", newline="", buffering=1) as table:
        log = csv.writer(table)
        log.writerow(["step", "loss"])
        for step in range(options.steps):
            for group in optimiser.param_groups:
                group["lr"] = rate_at(step, options.steps, options.peak_rate)
            drawn = [draw(bank, count, rng) for bank, count in zip(banks, pairs)]
            curves, labels = (np.concatenate(part).astype(np.float32) for part in zip(*drawn))
            if options.stretch > 0:
                stretch_frequency(np.moveaxis(curves, 2, 1), options.stretch, rng)
            said = network(torch.from_numpy(hide_run(curves, options.hidden_share, rng)))
            loss = functional.binary_cross_entropy_with_logits(said, torch.from_numpy(labels))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            if len(losses) == LOG_EVERY:
                log.writerow([step + 1, f"{np.mean(losses):.4f}"])
                losses = []
    torch.save(network.state_dict(), folder / "last.pt")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=SHAPES, required=True)
    parser.add_argument("--banks", nargs="+", required=True)
    parser.add_argument("--shares", nargs="+", type=float)
    parser.add_argument("--run", required=True)
    parser.add_argument("--start-from", help="weights of an earlier run to train on")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seed", type=int, default=20261124)
    parser.add_argument("--hidden-share", type=float, default=0.5)
    parser.add_argument("--stretch", type=float, default=0.0, help="half of the crops, by up to exp(this)")
    parser.add_argument("--peak-rate", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=0.05)
    parser.add_argument("--threads", type=int, default=1)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
