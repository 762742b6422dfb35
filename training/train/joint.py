# SPDX-License-Identifier: Apache-2.0
"""Train a detector on bands and curves together, on crops and laundered crops.

    python3 -m train.joint --size small --cache CACHE --run RUN --steps 20000 [--start-from WEIGHTS] [--consistency 1]

A step has --crops crops, half of them human, each in the views of data/view_sampler.py: as published and laundered.
Every view has its label, and both views of a crop are trained to get the same logit. --start-from takes the weights of
export/recover_joint.py or of an earlier run. Writes last.pt (averaged weights), settings.json, log.csv and state.pt,
from which an interrupted run continues, into --run.
"""

import argparse
import copy
import csv
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from data.corpus_cache import CorpusCache
from data.sampler import COPY_PAIR_SHARE, PARTS, PUBLISHED_PAIR_SHARE, repeat_sound
from data.view_sampler import VIEWS, ViewSampler
from features.native import FeatureExtractor
from features.recipe import WINDOW_SAMPLES, WITH_CURVES
from judge.figures import area_under_curve, equal_error_point
from networks.detector import SIZES, two_views
from networks.joint import JointDetector, load_trained
from signals.laundering import launder
from train.detector import LABEL_SMOOTHING, average_weights, hide_parts, learning_rate, optimiser_of

HIDDEN_SHARE = 0.08  # of the parts
SAVE_MINUTES = 3
VALIDATED = 700
DIFFERENCE = 1.5  # of logits, beyond which their loss grows only linearly


class ViewBatches(IterableDataset):
    def __init__(self, options, first_step):
        self._options, self._first = options, first_step

    def __iter__(self):
        torch.set_num_threads(1)
        chosen, worker = self._options, get_worker_info()
        cache, shares = CorpusCache(chosen.cache), tuple(chosen.pair_shares)
        sampler = ViewSampler(cache, chosen.seed, chosen.crops, chosen.without, pair_shares=shares)
        extractor = FeatureExtractor(WITH_CURVES)
        index = self._first + (worker.id if worker else 0)
        while True:
            views, labels = sampler.batch(index)
            made = np.stack([extractor.compute(crop).astype(np.float16) for view in views for crop in view])
            yield torch.from_numpy(made), torch.from_numpy(np.tile(labels, VIEWS))
            index += worker.num_workers if worker else 1


def validation_windows(cache, extractor):
    """(features [2 * clips, numbers] as published, then laundered; whether each clip is generated)"""
    clips = [clip for clip in cache.clips if clip["split"] == "valid"]
    clips = [clips[place] for place in np.random.default_rng(5).permutation(len(clips))[:VALIDATED]]
    windows = []
    for number, clip in enumerate(clips):
        start = max(0, (clip["samples"] - WINDOW_SAMPLES) // 2)
        samples = cache.samples(clip, 0, start, min(WINDOW_SAMPLES, clip["samples"]))
        windows.append((samples, launder(samples, np.random.default_rng([11, number]))))
    features = [
        extractor.compute(repeat_sound(window if np.abs(window).max() > 1e-6 else pair[0], WINDOW_SAMPLES))
        for place in range(2)
        for pair in windows
        for window in [pair[place]]
    ]
    return np.stack(features).astype(np.float16), np.array([clip["label"] == "spoof" for clip in clips])


@torch.no_grad()
def heard_by(teachers, numbers):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return torch.stack([teacher(numbers).float() for teacher in teachers]).mean(0)


def difference(views, taught):
    """Of the logits of laundered crops from those of the published ones; or of all from what teachers said. Both sides
    get the gradient: if the published one gets none, both grow without end, as one layer makes both."""
    published, *laundered = views
    heard, target = (laundered, published) if taught is None else (views, taught)
    return sum(functional.huber_loss(view, target, delta=DIFFERENCE) for view in heard) / len(heard)


@torch.no_grad()
def score(model, features):
    model.eval()
    logits = []
    for first in range(0, len(features), 16):
        batch = torch.from_numpy(features[first : first + 16].astype(np.float32))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits.append(model(batch).float())
    return torch.cat(logits).numpy()


def figures(logits, spoof):
    published, laundered = np.split(logits, 2)
    made = {}
    for name, of in (("published", published), ("laundered", laundered)):
        eer, threshold = equal_error_point(of, spoof)
        made |= {f"eer_{name}": eer, f"auc_{name}": area_under_curve(of, spoof), f"threshold_{name}": threshold}
    as_score = lambda of: 1 / (1 + np.exp(-of))
    return {**made, "difference": float(np.mean(np.abs(as_score(published) - as_score(laundered))))}


class Run:
    def __init__(self, options, folder):
        torch.manual_seed(options.seed)
        self.model = JointDetector(options.size).to(memory_format=torch.channels_last)
        if options.start_from:
            self.model.load_state_dict(torch.load(options.start_from))
        if options.keep_curves:
            self.model.curves.requires_grad_(False)
        self.averaged = copy.deepcopy(self.model)
        self.optimiser = optimiser_of(self.model, options)
        self.step, self._file = 0, folder / "state.pt"
        if self._file.exists():
            state = torch.load(self._file)
            self.step = state["step"]
            for name in ("model", "averaged", "optimiser"):
                getattr(self, name).load_state_dict(state[name])

    def save(self):
        names = ("model", "averaged", "optimiser")
        partial = self._file.with_suffix(".partial")
        torch.save({"step": self.step, **{name: getattr(self, name).state_dict() for name in names}}, partial)
        partial.replace(self._file)
        torch.save(self.averaged.state_dict(), self._file.with_name("last.pt"))


def keep_statistics(model):
    """Lets the normalisations inside the parts stay as they are: laundered crops of training have other statistics,
    with which alone a shipped detector loses on published and laundered clips of other pages."""
    for part in (model.bands, *model.curves):
        for layer in part.modules():
            if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
                layer.eval()


class Log:
    def __init__(self, path, figures):
        self._file, self._figures = open(path, "a", newline="", buffering=1), figures  # noqa: SIM115, open until the end

    def add(self, step, losses):
        by_label, alike = np.mean(losses, 0)
        row = {"time": f"{time.time():.0f}", "step": step, "loss": by_label, "alike": alike, **self._figures()}
        writer = csv.DictWriter(self._file, row)
        if self._file.tell() == 0:
            writer.writeheader()
        writer.writerow({name: f"{value:.4f}" if isinstance(value, float) else value for name, value in row.items()})


def train(options, folder):
    torch.set_num_threads(options.threads)
    run = Run(options, folder)
    teachers = [load_trained(path).to(memory_format=torch.channels_last) for path in options.teachers]
    valid, spoof = validation_windows(CorpusCache(options.cache), FeatureExtractor(WITH_CURVES))
    parallel = {"num_workers": options.workers, "prefetch_factor": 3} if options.workers else {}
    batches = iter(DataLoader(ViewBatches(options, run.step), batch_size=None, **parallel))
    log = Log(folder / "log.csv", lambda: figures(score(run.averaged, valid), spoof))
    losses, saved = [], time.monotonic()
    if run.step == 0 and options.start_from:
        log.add(0, [(float("nan"), float("nan"))])
    run.model.train()
    if options.keep_statistics:
        keep_statistics(run.model)
    while run.step < options.steps:
        for group in run.optimiser.param_groups:
            group["lr"] = learning_rate(run.step / options.steps, options.peak_rate)
        numbers, labels = next(batches)
        rng = np.random.default_rng([options.seed, run.step, 1])
        bands, curves = run.model.split(numbers.float())
        views = hide_parts(two_views(bands), rng).to(memory_format=torch.channels_last)
        kept = torch.from_numpy((rng.random((options.crops, len(run.model.sizes))) > HIDDEN_SHARE).astype(np.float32))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            said = run.model.vectors(views, curves)
        logits = run.model.decide(said, kept.repeat(VIEWS, 1))
        targets = labels * (1 - 2 * LABEL_SMOOTHING) + LABEL_SMOOTHING
        by_label = functional.binary_cross_entropy_with_logits(logits, targets)
        taught = heard_by(teachers, numbers[: options.crops].float()) if teachers else None
        alike = difference(logits.chunk(VIEWS), taught)
        loss = options.labels * by_label + options.consistency * alike
        run.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(run.model.parameters(), 5.0)
        run.optimiser.step()
        average_weights(run.averaged, run.model, run.step)
        losses.append((by_label.item(), alike.item()))
        run.step += 1
        if time.monotonic() > saved + 60 * SAVE_MINUTES or run.step == options.steps:
            saved = time.monotonic()
            run.save()
        if run.step % options.validate_steps == 0 or run.step == options.steps:
            log.add(run.step, losses)
            losses = []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--cache", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--crops", type=int, default=16)
    parser.add_argument("--labels", type=float, default=1.0, help="weight of the loss on the labels")
    parser.add_argument("--consistency", type=float, default=1.0, help="weight of the loss on the difference of logits")
    parser.add_argument("--start-from", help="weights to train on")
    parser.add_argument("--keep-statistics", action="store_true", help="of the normalisations, of --start-from")
    parser.add_argument("--keep-curves", action="store_true", help="the networks on curves of --start-from")
    parser.add_argument(
        "--teachers", nargs="+", default=[], help="weights whose mean logit of the published crop all views are to get"
    )
    parser.add_argument(
        "--pair-shares",
        nargs=2,
        type=float,
        metavar=("OWN", "PUBLISHED"),
        default=[COPY_PAIR_SHARE, PUBLISHED_PAIR_SHARE],
        help="of the pairs, in which a human crop is beside our copy of it or a published one beside its original",
    )
    parser.add_argument("--seed", type=int, default=20261126)
    parser.add_argument("--peak-rate", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=0.02)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--validate-steps", type=int, default=500)
    parser.add_argument("--without", nargs="+", choices=PARTS, default=["enhancement"])
    options = parser.parse_args()
    folder = Path(options.run)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(vars(options), indent=1) + "\n")
    train(options, folder)


if __name__ == "__main__":
    main()
