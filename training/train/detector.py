# SPDX-License-Identifier: Apache-2.0
"""Train the detector on the prepared corpus.

    python3 -m train.detector --size small --cache FOLDER --run FOLDER --minutes 70 [--steps N] [--seed S]
        [--threads 1] [--workers 1]

Writes best.pt (lowest validation EER), last.pt, settings.json and log.csv into --run, and scores.csv with the last
weights' logits of the validation clips. The learning rate follows the elapsed share of --minutes, or of --steps if
given; log.csv has the step count to repeat a timed run. An interrupted run of --steps continues from its last
validation when restarted.
"""

import argparse
import copy
import csv
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from data.corpus_cache import CorpusCache
from data.sampler import PARTS, CropSampler, repeat_sound
from features.native import FeatureExtractor
from features.recipe import FEATURES, WINDOW_SAMPLES
from features.stretch import stretch_frequency
from judge.figures import error_figures
from networks.detector import SIZES, Detector, two_views

LABEL_SMOOTHING = 0.03
TEACHER_SHARE = 0.7  # of the target, with teachers: their probability; the rest is the label
AVERAGING = 0.999  # of the weights, per step; the averaged weights are validated and kept


def hide_parts(views, rng):
    """Hide a random run of bands and of frames, in place: the network must not lean on one place."""
    _, _, bands, frames = views.shape
    for item in views:
        if rng.random() < 0.5:
            width, start = int(rng.integers(1, bands // 5)), int(rng.integers(bands))
            item[:, start : start + width] = 0
        if rng.random() < 0.3:
            width, start = int(rng.integers(1, frames // 5)), int(rng.integers(frames))
            item[:, :, start : start + width] = 0
    return views


class FeatureBatches(IterableDataset):
    """Batches from step `first_step` on: ([batch, 1, bands, frames], labels)."""

    def __init__(self, options, first_step=0):
        self._options, self._first = options, first_step

    def __iter__(self):
        torch.set_num_threads(1)
        chosen, extractor = self._options, FeatureExtractor(FEATURES)
        sampler = CropSampler(CorpusCache(chosen.cache), chosen.seed, chosen.batch, chosen.without)
        worker = get_worker_info()
        index = self._first + (worker.id if worker else 0)
        while True:
            samples, labels = sampler.batch(index)
            features = np.stack([extractor.compute(crop) for crop in samples])
            yield torch.from_numpy(features).unsqueeze(1), torch.from_numpy(labels)
            index += worker.num_workers if worker else 1


def validation_windows(cache, extractor):
    """One window from the middle of every validation clip: (float16 [clips, ..] by `extractor`, clips)."""
    features = []
    clips = [clip for clip in cache.clips if clip["split"] == "valid"]
    for clip in clips:
        start = max(0, (clip["samples"] - WINDOW_SAMPLES) // 2)
        samples = cache.samples(clip, 0, start, min(WINDOW_SAMPLES, clip["samples"]))
        features.append(extractor.compute(repeat_sound(samples, WINDOW_SAMPLES)).astype(np.float16))
    return np.stack(features), clips


@torch.no_grad()
def score(model, features):
    model.eval()
    logits = []
    for first in range(0, len(features), 16):
        batch = torch.from_numpy(features[first : first + 16].astype(np.float32)).unsqueeze(1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits.append(model(batch.to(memory_format=torch.channels_last)).float())
    return torch.cat(logits).numpy()


def write_scores(path, logits, clips):
    columns = ["path", "label", "system", "source", "speaker", "samples"]
    with open(path, "w", newline="") as table:
        writer = csv.DictWriter(table, [*columns, "logit"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows({**clip, "logit": f"{logit:.4f}"} for clip, logit in zip(clips, logits))


def average_weights(averaged, model, step):
    keep = min(AVERAGING, (1 + step) / (10 + step))
    with torch.no_grad():
        for kept, new in zip(averaged.state_dict().values(), model.state_dict().values()):
            if kept.dtype.is_floating_point:
                kept.lerp_(new, 1 - keep)
            else:
                kept.copy_(new)


def learning_rate(progress, peak):
    """Rise over the first 3 %, then a cosine to a hundredth."""
    if progress < 0.03:
        return peak * (0.02 + progress / 0.03 * 0.98)
    return peak * (0.01 + 0.99 * (1 + math.cos(math.pi * (progress - 0.03) / 0.97)) / 2)


def optimiser_of(model, options, undecayed=()):
    """Decays matrices and kernels only: neither biases, nor scales of normalisation, nor anything in `undecayed`."""
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    return torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": options.weight_decay},
            {"params": [*others, *undecayed], "weight_decay": 0.0},
        ],
        lr=options.peak_rate,
    )


class Run:
    """State to resume a run from: the weights, their average, the optimiser's state and the step number."""

    def __init__(self, options, folder):
        self.model = Detector(**SIZES[options.size]).to(memory_format=torch.channels_last)
        if options.start_from:
            self.model.load_state_dict(torch.load(options.start_from))
        self.averaged = copy.deepcopy(self.model)
        self.optimiser = optimiser_of(self.model, options)
        self.step, self.minutes, self.best, self._file = 0, 0.0, 1.0, folder / "state.pt"
        if options.steps and self._file.exists():
            self._load(torch.load(self._file))

    def _load(self, state):
        self.step, self.minutes, self.best = state["step"], state["minutes"], state["best"]
        for name in ("model", "averaged", "optimiser"):
            getattr(self, name).load_state_dict(state[name])

    def save(self):
        state = {name: getattr(self, name).state_dict() for name in ("model", "averaged", "optimiser")}
        partial = self._file.with_suffix(".partial")
        torch.save({**state, "step": self.step, "minutes": self.minutes, "best": self.best}, partial)
        partial.replace(self._file)


def open_log(path, is_new):
    log = csv.writer(open(path, "w" if is_new else "a", newline="", buffering=1))  # noqa: SIM115, open until the end
    if is_new:
        log.writerow(["minutes", "step", "crops", "loss", "learning_rate", "eer", "auc", "balanced_eer"])
    return log


def targets_of(labels, taught):
    """`taught`: the teachers' logits, or None."""
    targets = labels * (1 - 2 * LABEL_SMOOTHING) + LABEL_SMOOTHING
    if taught is None:
        return targets
    return (1 - TEACHER_SHARE) * targets + TEACHER_SHARE * torch.sigmoid(torch.from_numpy(taught.astype(np.float32)))


def train(options, folder):
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    valid_features, valid_clips = validation_windows(CorpusCache(options.cache), FeatureExtractor(FEATURES))
    run, taught = Run(options, folder), np.load(options.taught) if options.taught else None
    run.model.train()
    decide = torch.compile(run.model.decide, dynamic=False) if options.compile else run.model.decide
    parallel = {"num_workers": options.workers, "prefetch_factor": 4} if options.workers else {}
    batches = iter(DataLoader(FeatureBatches(options, run.step), batch_size=None, **parallel))
    log, losses = open_log(folder / "log.csv", run.step == 0), []
    started = time.monotonic() - run.minutes * 60
    next_validation = run.minutes + options.validate_minutes
    while True:
        run.minutes = (time.monotonic() - started) / 60
        progress = run.step / options.steps if options.steps else run.minutes / options.minutes
        if progress >= 1 or run.minutes >= next_validation:
            next_validation = run.minutes + options.validate_minutes
            logits = score(run.averaged, valid_features)
            reached = error_figures(logits, valid_clips)
            log.writerow(
                [
                    f"{run.minutes:.1f}",
                    run.step,
                    run.step * options.batch,
                    f"{np.mean(losses):.4f}",
                    f"{run.optimiser.param_groups[0]['lr']:.2e}",
                    *(f"{value:.4f}" for value in reached.values()),
                ]
            )
            losses = []
            torch.save(run.averaged.state_dict(), folder / "last.pt")
            merit = (reached["eer"] + reached["eer_groups_alike"]) / 2
            if merit < run.best:
                run.best = merit
                torch.save(run.averaged.state_dict(), folder / "best.pt")
            run.save()
        if progress >= 1:
            write_scores(folder / "scores.csv", logits, valid_clips)
            return
        for group in run.optimiser.param_groups:
            group["lr"] = learning_rate(progress, options.peak_rate)
        features, labels = next(batches)
        if options.stretch > 0:
            stretch_rng = np.random.default_rng([options.seed, run.step, 2])
            stretch_frequency(np.moveaxis(features.numpy(), 2, 1), options.stretch, stretch_rng)
        views = hide_parts(two_views(features), np.random.default_rng([options.seed, run.step, 1]))
        views = views.to(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            predicted = decide(views).float()
        targets = targets_of(labels, None if taught is None else taught[run.step])
        loss = functional.binary_cross_entropy_with_logits(predicted, targets)
        run.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(run.model.parameters(), 5.0)
        run.optimiser.step()
        average_weights(run.averaged, run.model, run.step)
        losses.append(loss.item())
        run.step += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--cache", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--minutes", type=float, default=70)
    parser.add_argument("--steps", type=int)
    parser.add_argument(
        "--start-from", help="weights of an earlier run to train on; give another seed for other batches"
    )
    parser.add_argument(
        "--taught", help="what train/teach.py said of the crops of this seed, which becomes part of the targets"
    )
    parser.add_argument("--seed", type=int, default=20260326)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--peak-rate", type=float, default=1.5e-3)
    parser.add_argument("--weight-decay", type=float, default=0.02)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="processes that prepare batches; 0: none but this one")
    parser.add_argument("--compile", action="store_true", help="a quarter faster, with PyTorch 2 and a C++ compiler")
    parser.add_argument("--validate-minutes", type=float, default=5)
    parser.add_argument("--stretch", type=float, default=0.0, help="half of the crops, by up to exp(this)")
    parser.add_argument("--without", nargs="+", choices=PARTS, default=[])
    options = parser.parse_args()
    run = Path(options.run)
    run.mkdir(parents=True, exist_ok=True)
    (run / "settings.json").write_text(json.dumps({**vars(options), "features": FEATURES}, indent=1))
    train(options, run)


if __name__ == "__main__":
    main()
