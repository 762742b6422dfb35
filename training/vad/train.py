# SPDX-License-Identifier: Apache-2.0
"""Train the voice activity network and write native/vad/speech_network_weights.inc with the reference of its test.

    python3 -m vad.train --corpus FOLDER [--clips 3000] [--sequences 5000] [--epochs 24] [--seed 7]

Needs the native library (see features/native.py) for the features; afterwards build again. Takes ten minutes on one
core.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from features import native
from features.recipe import SAMPLE_RATE_HZ
from vad.mixtures import training_sequence
from vad.network import DELAY_STEPS, STEP_FRAMES, SpeechNetwork, cpp_reference, cpp_weights
from vad.speech_clips import load_speech_clips, parse_with_corpus

ROOT = Path(__file__).resolve().parents[2]
SEQUENCE_FRAMES = 1000
BATCH = 64
LEARNING_RATE = 4e-3
# Rejected speech costs more than kept noise.
SPEECH_WEIGHT = 2.0


def make_examples(clips, count, rng):
    """Features [count, frames, 24], labels [count, frames] and their weights [count, frames]."""
    features = np.empty((count, SEQUENCE_FRAMES, native.SPEECH_BANDS), np.float32)
    labels = np.empty((count, SEQUENCE_FRAMES), np.float32)
    weights = np.empty((count, SEQUENCE_FRAMES), np.float32)
    for index in range(count):
        sequence, known = training_sequence(clips, SEQUENCE_FRAMES, rng)
        features[index] = native.speech_features(sequence.samples)
        labels[index] = sequence.speech
        weights[index] = np.where(sequence.speech, SPEECH_WEIGHT, 1) * known
    return tuple(map(torch.from_numpy, (features, labels, weights)))


def fit(network, features, labels, weights, epochs, report):
    known = SEQUENCE_FRAMES - DELAY_STEPS * STEP_FRAMES
    optimiser = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=1e-4)
    steps = epochs * (len(features) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=steps, pct_start=0.1)
    for epoch in range(epochs):
        order, losses = torch.randperm(len(features)), []
        for first in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[first : first + BATCH]
            loss = functional.binary_cross_entropy_with_logits(
                network(features[batch]), labels[batch, :known], weights[batch, :known]
            )
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        report(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=3000, help="training clips to look at")
    parser.add_argument("--sequences", type=int, default=5000, help="training sequences of 10 s to mix")
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--output", default=ROOT / "native", type=Path, help="folder that holds vad and test")
    parser.add_argument("--checkpoint", type=Path, help="also keep the PyTorch weights here")
    options = parse_with_corpus(parser)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    started = time.monotonic()

    def report(text):
        print(f"{time.monotonic() - started:7.1f} s  {text}", flush=True)

    clips = load_speech_clips(options.corpus, "train", options.clips, rng)
    report(f"{len(clips)} clips, {sum(len(clip.samples) for clip in clips) / SAMPLE_RATE_HZ / 3600:.2f} h")
    features, labels, weights = make_examples(clips, options.sequences, rng)
    report(f"{len(features)} sequences, {labels.mean().item():.2f} of the frames are speech")
    network = SpeechNetwork()
    fit(network, features, labels, weights, options.epochs, report)
    (options.output / "vad" / "speech_network_weights.inc").write_text(cpp_weights(network))
    (options.output / "test" / "speech_network_reference.inc").write_text(cpp_reference(network))
    if options.checkpoint:
        torch.save(network.state_dict(), options.checkpoint)
    report(f"wrote weights and reference below {options.output}")


if __name__ == "__main__":
    main()
