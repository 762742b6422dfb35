# SPDX-License-Identifier: Apache-2.0
"""Train the speaker model on original recordings and their chains.

    python3 -m train.speaker --cache CACHE --sources SOURCES --run FOLDER --steps 3000 [--start-from last.pt] [--seed S]

CACHE comes from data/prepare_chains.py, SOURCES is the folder with sources.csv; VERAVOX_CORPUS names the folder with
index.csv. People of `valid` are excluded, on other pages too. Writes last.pt (averaged weights), settings.json and
log.csv into --run. An interrupted run continues from its last validation when restarted.
"""

import argparse
import copy
import csv
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from data.corpus_cache import CorpusCache
from data.sampler import repeat_to_length
from data.speaker_labels import clips_by_person, people_of_sources
from data.speaker_sampler import SpeakerCropSampler
from features.native import FeatureExtractor
from features.recipe import SAMPLE_RATE_HZ, WINDOW_SAMPLES
from features.speaker_recipe import EMBEDDING_SIZE, FEATURES
from judge.figures import equal_error_rate
from networks.speaker import MarginClassifier, SpeakerNetwork, pair_loss
from train.detector import average_weights, hide_parts, learning_rate, optimiser_of

VALIDATION_WINDOWS_PER_SPEAKER = 6
CENTRE_SECONDS = 2


def validation_windows(groups, cache):
    """Up to six inputs per owner of `groups` ({(campaign, person): clips}), each from separate clips, joined up to 5 s.
    Returns (float16 [windows, bands, frames], (campaign, person) of each)."""
    extractor, features, owners = FeatureExtractor(FEATURES), [], []
    for owner, clips in groups.items():
        joined, windows = [], []
        for clip in clips:
            joined.append(cache.samples(clip, 0, 0, min(clip["samples"], WINDOW_SAMPLES)))
            # A speaker with few words gives one window per word, so that there are several to compare.
            if sum(map(len, joined)) >= WINDOW_SAMPLES or len(clips) <= VALIDATION_WINDOWS_PER_SPEAKER:
                windows.append(np.concatenate(joined)[:WINDOW_SAMPLES])
                joined = []
        for window in windows[:VALIDATION_WINDOWS_PER_SPEAKER]:
            features.append(extractor.compute(repeat_to_length(window, WINDOW_SAMPLES)).astype(np.float16))
            owners.append(owner)
    return np.stack(features), owners


@torch.no_grad()
def embed(model, features):
    model.eval()
    embeddings = []
    for first in range(0, len(features), 16):
        batch = torch.from_numpy(features[first : first + 16].astype(np.float32)).unsqueeze(1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            embeddings.append(model(batch.to(memory_format=torch.channels_last)).float())
    return torch.cat(embeddings)


def validate(model, features, owners):
    """EER over all pairs of windows inside one campaign with at least four speakers."""
    embeddings = embed(model, features).numpy()
    campaigns, people = (np.array(column) for column in zip(*owners))
    rates = {}
    for campaign in np.unique(campaigns):
        members = campaigns == campaign
        if len(np.unique(people[members])) < 4:
            continue
        names, cosines = people[members], embeddings[members] @ embeddings[members].T
        upper = np.triu_indices(len(names), 1)
        same = (names[:, None] == names[None, :])[upper]
        if same.any():
            rates[campaign.split("/")[0]] = equal_error_rate(-cosines[upper], ~same)
    return rates


def centres_of(model, sampler, seed):
    """[classes, 256]: the embedding of one crop of each class, so that a trained model does not start with random
    centres."""
    extractor, rng, made, features = FeatureExtractor(FEATURES), np.random.default_rng([seed, 2]), [], []
    for number in range(sampler.classes):
        crop = sampler.crop_of_class(number, CENTRE_SECONDS * SAMPLE_RATE_HZ, rng)
        features.append(extractor.compute(crop))
        if len(features) == 64 or number == sampler.classes - 1:
            made.append(embed(model, np.stack(features)))
            features = []
    return functional.normalize(torch.cat(made))


class Run:
    """State to resume a run from."""

    def __init__(self, options, sampler, folder):
        self.model = SpeakerNetwork(FEATURES["bands"]).to(memory_format=torch.channels_last)
        self.classifier = MarginClassifier(sampler.classes)
        self.step, self.minutes, self._file = 0, 0.0, folder / "state.pt"
        state = torch.load(self._file) if self._file.exists() else None
        if options.start_from and state is None:
            self.model.load_state_dict(torch.load(options.start_from))
            with torch.no_grad():
                self.classifier.centres.copy_(centres_of(self.model, sampler, options.seed))
        assert self.classifier.centres.shape == (sampler.classes, EMBEDDING_SIZE)
        self.averaged = copy.deepcopy(self.model)
        self.optimiser = optimiser_of(self.model, options, [self.classifier.centres])
        if state:
            self.step, self.minutes = state["step"], state["minutes"]
            for name in self._parts:
                getattr(self, name).load_state_dict(state[name])

    _parts = ("model", "averaged", "classifier", "optimiser")

    def save(self):
        state = {name: getattr(self, name).state_dict() for name in self._parts}
        partial = self._file.with_suffix(".partial")
        torch.save({**state, "step": self.step, "minutes": self.minutes}, partial)
        partial.replace(self._file)


def train_step(run, options, sampler, extractor):
    progress = run.step / options.steps
    for group in run.optimiser.param_groups:
        group["lr"] = learning_rate(progress, options.peak_rate)
    margin = options.margin * min(1.0, progress / options.margin_full_at)
    samples, classes = sampler.batch(run.step)
    features = np.stack([extractor.compute(crop) for crop in samples])
    features = hide_parts(features[:, None], np.random.default_rng([options.seed, run.step, 1]))
    run.model.train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        embeddings = run.model(torch.from_numpy(features).to(memory_format=torch.channels_last))
    classes = torch.from_numpy(classes)
    loss, right = run.classifier(embeddings.float(), classes, margin)
    pairs = pair_loss(embeddings.float(), classes)
    run.optimiser.zero_grad()
    (loss + options.pair_weight * pairs).backward()
    torch.nn.utils.clip_grad_norm_(run.model.parameters(), 5.0)
    run.optimiser.step()
    average_weights(run.averaged, run.model, run.step)
    run.step += 1
    return loss.item(), pairs.item(), right


def train(options, folder):
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    cache = CorpusCache(options.cache)
    people = {split: people_of_sources(options.sources, split) for split in ("train", "valid")}
    of = lambda split: [clip for clip in cache.clips if clip["split"] == split]
    unseen = {person for _, person in people["valid"].values()}
    sampler = SpeakerCropSampler(
        cache, clips_by_person(of("train"), people["train"], unseen), options.seed, options.batch
    )
    valid_features, owners = validation_windows(clips_by_person(of("valid"), people["valid"]), cache)
    extractor, run = FeatureExtractor(FEATURES), Run(options, sampler, folder)
    print(f"{len(sampler.names)} speakers, {sampler.classes} classes, {len(owners)} validation windows", flush=True)
    is_new = run.step == 0
    log = csv.writer(open(folder / "log.csv", "w" if is_new else "a", newline="", buffering=1))  # noqa: SIM115
    started, before, next_validation, done = time.monotonic(), run.minutes, run.minutes, []
    while True:
        run.minutes = before + (time.monotonic() - started) / 60
        if run.step >= options.steps or run.minutes >= next_validation:
            next_validation = run.minutes + options.validate_minutes
            rates = validate(run.averaged, valid_features, owners)
            if is_new:
                figures = ["loss", "pair_loss", "right", "learning_rate", *(f"eer_{name}" for name in rates)]
                log.writerow(["minutes", "step", "crops", *figures, "eer_mean"])
                is_new = False
            means = np.mean(done, 0) if done else [np.nan] * 3
            log.writerow(
                [
                    f"{run.minutes:.1f}",
                    run.step,
                    run.step * options.batch,
                    *(f"{mean:.4f}" for mean in means),
                    f"{run.optimiser.param_groups[0]['lr']:.2e}",
                    *(f"{rate:.4f}" for rate in [*rates.values(), np.mean(list(rates.values()))]),
                ]
            )
            done = []
            torch.save(run.averaged.state_dict(), folder / "last.pt")
            run.save()
        if run.step >= options.steps:
            return
        done.append(train_step(run, options, sampler, extractor))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--sources", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--start-from", help="weights, such as export.recover_weights takes out of a shipped file")
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--peak-rate", type=float, default=1.5e-3)
    parser.add_argument("--weight-decay", type=float, default=0.05)
    parser.add_argument("--margin", type=float, default=0.2, help="radians")
    parser.add_argument("--pair-weight", type=float, default=0.5, help="of the pair loss, beside 1 of the classifier's")
    parser.add_argument(
        "--margin-full-at", type=float, default=0.3, help="share of the run after which it no longer grows"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--validate-minutes", type=float, default=5)
    options = parser.parse_args()
    folder = Path(options.run)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({**vars(options), "features": FEATURES}, indent=1))
    train(options, folder)


if __name__ == "__main__":
    main()
