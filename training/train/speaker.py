# SPDX-License-Identifier: Apache-2.0
"""Train the speaker model on the prepared corpus.

    python3 -m train.speaker --cache FOLDER --run FOLDER --minutes 45 [--steps N] [--seed S]

Writes last.pt (averaged weights), settings.json and log.csv into --run; VERAVOX_CORPUS names the folder with index.csv.
The learning rate and the margin follow the share of --minutes that has passed, or of --steps when given.
"""

import argparse
import copy
import csv
import json
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from data.corpus_cache import CorpusCache
from data.sampler import repeat_to_length
from data.speaker_sampler import SpeakerCropSampler, verified_speakers
from features.native import FeatureExtractor
from features.recipe import WINDOW_SAMPLES
from features.speaker_recipe import FEATURES
from judge.figures import equal_error_rate
from networks.speaker import MarginClassifier, SpeakerNetwork
from train.detector import average_weights, hide_parts, learning_rate, optimiser_of

VALIDATION_WINDOWS_PER_SPEAKER = 6


def validation_windows(cache):
    """Up to six inputs per validation speaker and source, each of clips of its own, joined up to 5 s.
    Returns (float16 [windows, bands, frames], (source, speaker) of each)."""
    extractor, groups = FeatureExtractor(FEATURES), defaultdict(list)
    for speaker, clips in verified_speakers(cache, "valid").items():
        for clip in clips:
            groups[clip["source"], speaker].append(clip)
    features, owners = [], []
    for owner, clips in groups.items():
        joined, windows = [], []
        for clip in clips:
            joined.append(cache.samples(clip, 0, 0, min(clip["samples"], WINDOW_SAMPLES)))
            # A speaker with few words gives one window per word, so that there is something to compare.
            if sum(map(len, joined)) >= WINDOW_SAMPLES or len(clips) <= VALIDATION_WINDOWS_PER_SPEAKER:
                windows.append(np.concatenate(joined)[:WINDOW_SAMPLES])
                joined = []
        for window in windows[:VALIDATION_WINDOWS_PER_SPEAKER]:
            features.append(extractor.compute(repeat_to_length(window, WINDOW_SAMPLES)).astype(np.float16))
            owners.append(owner)
    return np.stack(features), owners


@torch.no_grad()
def validate(model, features, owners):
    """EER over all pairs of windows inside one source: over the words of one corpus, and the mean over the sources with
    at least four speakers."""
    model.eval()
    embeddings = []
    for first in range(0, len(features), 16):
        batch = torch.from_numpy(features[first : first + 16].astype(np.float32)).unsqueeze(1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            embeddings.append(model(batch.to(memory_format=torch.channels_last)))
    embeddings = torch.cat(embeddings).numpy()
    sources, speakers = (np.array(column) for column in zip(*owners))
    rates = {}
    for source in np.unique(sources):
        members = sources == source
        if len(np.unique(speakers[members])) < 4:
            continue
        names, cosines = speakers[members], embeddings[members] @ embeddings[members].T
        upper = np.triu_indices(len(names), 1)
        same = (names[:, None] == names[None, :])[upper]
        if same.any():
            rates[source.split("/")[0]] = equal_error_rate(-cosines[upper], ~same)
    return rates


def train(options, run):
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    cache = CorpusCache(options.cache)
    valid_features, owners = validation_windows(cache)
    sampler, extractor = SpeakerCropSampler(cache, options.seed, options.batch), FeatureExtractor(FEATURES)
    model = SpeakerNetwork(FEATURES["bands"]).to(memory_format=torch.channels_last)
    classifier = MarginClassifier(sampler.classes)
    print(f"{len(sampler.names)} speakers, {sampler.classes} classes, {len(owners)} validation windows", flush=True)
    averaged = copy.deepcopy(model)
    optimiser = optimiser_of(model, options, [classifier.centres])
    log = csv.writer(open(run / "log.csv", "w", newline="", buffering=1))  # noqa: SIM115, open until the end
    header = False
    started, next_validation, step, losses, hits = time.monotonic(), options.validate_minutes, 0, [], []
    while True:
        minutes = (time.monotonic() - started) / 60
        progress = step / options.steps if options.steps else minutes / options.minutes
        if progress >= 1 or minutes >= next_validation:
            next_validation = minutes + options.validate_minutes
            rates = validate(averaged, valid_features, owners)
            if not header:
                log.writerow(
                    [
                        "minutes",
                        "step",
                        "crops",
                        "loss",
                        "right",
                        "learning_rate",
                        *(f"eer_{source}" for source in rates),
                        "eer_mean",
                    ]
                )
                header = True
            log.writerow(
                [
                    f"{minutes:.1f}",
                    step,
                    step * options.batch,
                    f"{np.mean(losses):.4f}",
                    f"{np.mean(hits):.4f}",
                    f"{optimiser.param_groups[0]['lr']:.2e}",
                    *(f"{rate:.4f}" for rate in rates.values()),
                    f"{np.mean(list(rates.values())):.4f}",
                ]
            )
            losses, hits = [], []
            torch.save(averaged.state_dict(), run / "last.pt")
        if progress >= 1:
            return
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(progress, options.peak_rate)
        margin = options.margin * min(1.0, progress / options.margin_full_at)
        samples, classes = sampler.batch(step)
        features = np.stack([extractor.compute(crop) for crop in samples])
        features = hide_parts(features[:, None], np.random.default_rng([options.seed, step, 1]))
        model.train()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            embeddings = model(torch.from_numpy(features).to(memory_format=torch.channels_last))
        loss, right = classifier(embeddings.float(), torch.from_numpy(classes), margin)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        average_weights(averaged, model, step)
        losses.append(loss.item())
        hits.append(right)
        step += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--peak-rate", type=float, default=1.5e-3)
    parser.add_argument("--weight-decay", type=float, default=0.05)
    parser.add_argument("--margin", type=float, default=0.2, help="radians")
    parser.add_argument(
        "--margin-full-at", type=float, default=0.4, help="share of the run after which it no longer grows"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--validate-minutes", type=float, default=4)
    options = parser.parse_args()
    run = Path(options.run)
    run.mkdir(parents=True, exist_ok=True)
    (run / "settings.json").write_text(json.dumps({**vars(options), "features": FEATURES}, indent=1))
    train(options, run)


if __name__ == "__main__":
    main()
