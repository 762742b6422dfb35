# SPDX-License-Identifier: Apache-2.0
"""Train our own neural vocoders on the human training clips of the prepared corpus.

    python3 -m train.vocoders --cache FOLDER --run FOLDER [--vocoders istft codec transposed] [--minutes 12] [--steps N]

Writes per vocoder NAME-0.pt (before the discriminator joins), NAME-1.pt (half-way from there) and NAME-2.pt (the end),
and NAME.csv (log) and NAME.json (settings). --minutes is per vocoder; --steps repeats a timed run by the step count in
its log.
"""

import argparse
import csv
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from data.corpus_cache import CorpusCache
from data.prepare_corpus import choose_clips_to_copy
from networks.neural_vocoders import (
    CODEBOOKS,
    LEVEL_RMS,
    TRAINED,
    VOCODERS,
    Analysis,
    SpectrogramDiscriminator,
    log_mel_energies,
    mel_matrix,
    stft,
)

CROP_SAMPLES = 12800  # a multiple of every vocoder's hop
CHECKPOINT_SHARES = (0.35, 0.65, 1.0)  # of the steps; the discriminator joins after the first
CODEC_RATE, CODEC_FIRST_BATCH = 3e-3, 1_000_000  # batch numbers beyond the steps with samples
LOG_EVERY, LOGGED = 25, ("mel", "spectral", "codes", "fooling", "match", "discriminator")
MEL_WEIGHT, STFT_WEIGHT, MATCH_WEIGHT = 15.0, 3.0, 2.0


class HumanCrops:
    """batch(i) depends only on the seed and i: crops of human training clips, at about LEVEL_RMS."""

    def __init__(self, cache, seed, batch_size):
        self._cache, self._seed, self._batch_size = cache, seed, batch_size
        lengths = [range(clip["samples"]) for clip in cache.clips]
        chosen = choose_clips_to_copy(cache.clips, lengths, 5000, np.random.default_rng(seed))
        self._clips = [cache.clips[index] for index in chosen]

    def _crop(self, rng):
        for _ in range(10):
            clip = self._clips[rng.integers(len(self._clips))]
            start = int(rng.integers(clip["samples"] - CROP_SAMPLES + 1))
            crop = self._cache.samples(clip, start=start, count=CROP_SAMPLES)
            level = np.sqrt(np.mean(crop**2))
            if level > 3e-3:  # pauses teach little
                break
        return crop * (LEVEL_RMS / max(level, 1e-4) * 10 ** rng.uniform(-0.4, 0.2))

    def batch(self, index):
        rng = np.random.default_rng([self._seed, index])
        return torch.from_numpy(np.stack([self._crop(rng) for _ in range(self._batch_size)]).astype(np.float32)), rng


def draw_analysis(rng):
    return Analysis(
        bands=int(rng.choice([40, 60, 80], p=[0.15, 0.2, 0.65])), codebooks=int(rng.integers(1, CODEBOOKS + 1))
    )


def magnitudes(samples, fft_size):
    power = torch.view_as_real(stft(samples, fft_size, fft_size // 4)).square().sum(-1)
    return (power + 1e-8).sqrt()


def reconstruction_loss(copy, human):
    """(mel loss, spectral loss): log distances over three resolutions, and the error of the loud parts."""
    mel = spectral = 0.0
    for fft_size in (256, 512, 1024):
        ours = magnitudes(copy, fft_size)
        with torch.no_grad():
            theirs = magnitudes(human, fft_size)
        spectral = (
            spectral
            + (functional.l1_loss(torch.log(ours), torch.log(theirs)) + (ours - theirs).norm() / theirs.norm()) / 3
        )
        if fft_size == 1024:
            matrix = mel_matrix(fft_size)
            mel = functional.l1_loss(torch.log(matrix @ ours), torch.log(matrix @ theirs))
    return mel, spectral


def bfloat16():
    """More than twice as fast for two-dimensional convolutions on processors that have it."""
    return torch.autocast("cpu", dtype=torch.bfloat16)


def verdicts_and_inner(discriminator, samples):
    with bfloat16():
        outputs = discriminator(samples)
    depth = len(outputs) // len(discriminator.stacks)
    return outputs[depth - 1 :: depth], [output.float() for i, output in enumerate(outputs) if i % depth < depth - 1]


def adversarial_step(discriminator, optimiser, copy, human):
    """Moves the discriminator by its hinge loss; returns the losses by name, "fooling" and "match" for the vocoder."""
    real, real_inner = verdicts_and_inner(discriminator, human)
    fake, _ = verdicts_and_inner(discriminator, copy.detach())
    own_loss = sum(functional.relu(1 - yes).mean() + functional.relu(1 + no).mean() for yes, no in zip(real, fake))
    optimiser.zero_grad()
    own_loss.backward()
    optimiser.step()
    discriminator.requires_grad_(False)
    fake, fake_inner = verdicts_and_inner(discriminator, copy)
    discriminator.requires_grad_(True)
    pairs = [(theirs.detach(), ours) for theirs, ours in zip(real_inner, fake_inner)]
    return {
        "discriminator": own_loss,
        "fooling": -sum(verdict.mean() for verdict in fake) / len(fake),
        "match": sum((theirs - ours).abs().mean() / theirs.abs().mean() for theirs, ours in pairs) / len(pairs),
    }


def train_codec(codec, crops, steps):
    """The bottleneck alone first: energies to energies, a fraction of the cost of a step with samples."""
    optimiser = torch.optim.AdamW(codec.parameters(), CODEC_RATE, betas=(0.8, 0.98))
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = CODEC_RATE * (1 - 0.9 * step / steps)
        human, rng = crops.batch(step + CODEC_FIRST_BATCH)
        analysis = draw_analysis(rng)
        loss = codec(log_mel_energies(human, analysis), analysis.codebooks)[1]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if (step + 1) % 100 == 0:
            print("codec alone", step + 1, f"{float(loss.detach()):.4f}", flush=True)


def train(name, crops, options, run, start):
    """Returns the weights after the last step. `start`: weights, used if this vocoder has the same names."""
    torch.manual_seed(options.seed)
    vocoder, discriminator = VOCODERS[name](), SpectrogramDiscriminator().to(memory_format=torch.channels_last)
    vocoder.load_state_dict({key: value for key, value in start.items() if key in vocoder.state_dict()}, strict=False)
    if vocoder.codec:
        train_codec(vocoder.codec, crops, options.codec_steps)
    rates = {vocoder: options.rate, discriminator: options.rate / 2}
    optimisers = {
        network: torch.optim.AdamW(network.parameters(), rate, betas=(0.8, 0.98), weight_decay=1e-3)
        for network, rate in rates.items()
    }
    started, step, kept, totals = time.monotonic(), 0, 0, dict.fromkeys(LOGGED, 0.0)
    with open(run / f"{name}.csv", "w", newline="") as log:
        writer = csv.writer(log)
        writer.writerow(["step", "minutes", *LOGGED])
        while True:
            minutes = (time.monotonic() - started) / 60
            share = step / options.steps if options.steps else minutes / options.minutes
            while kept < len(CHECKPOINT_SHARES) and share >= CHECKPOINT_SHARES[kept]:
                torch.save(vocoder.state_dict(), run / f"{name}-{kept}.pt")
                kept += 1
            if kept == len(CHECKPOINT_SHARES):
                return vocoder.state_dict()
            for network, rate in rates.items():
                decayed = rate * min(1.0, (step + 1) / 100) * (0.1 + 0.9 * math.cos(share * math.pi / 2))
                optimisers[network].param_groups[0]["lr"] = decayed
            human, rng = crops.batch(step)
            with bfloat16():
                copy, code_loss = vocoder(human, draw_analysis(rng))
            mel, spectral = reconstruction_loss(copy, human)
            losses = {"mel": mel, "spectral": spectral, "codes": code_loss}
            loss = MEL_WEIGHT * mel + STFT_WEIGHT * spectral + code_loss
            if kept > 0:
                part = slice(0, len(human) // 2)  # the discriminator costs more than the vocoder
                losses.update(adversarial_step(discriminator, optimisers[discriminator], copy[part], human[part]))
                loss = loss + losses["fooling"] + MATCH_WEIGHT * losses["match"]
            optimisers[vocoder].zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(vocoder.parameters(), 50.0)
            optimisers[vocoder].step()
            step += 1
            for key, value in losses.items():
                totals[key] += float(value.detach()) / LOG_EVERY
            if step % LOG_EVERY == 0:
                writer.writerow([step, f"{minutes:.2f}", *(f"{totals[key]:.4f}" for key in LOGGED)])
                log.flush()
                print(name, step, *(f"{key} {totals[key]:.3f}" for key in LOGGED), flush=True)
                totals = dict.fromkeys(LOGGED, 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--vocoders", nargs="+", choices=TRAINED, default=TRAINED)
    parser.add_argument("--minutes", type=float, default=12.0, help="per vocoder")
    parser.add_argument("--steps", type=int, help="per vocoder, instead of --minutes")
    parser.add_argument("--start-from", help="weights whose like-named parts the first vocoder starts from")
    parser.add_argument("--codec-steps", type=int, default=1000, help="of the bottleneck alone, before the rest")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=20260326)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    run = Path(options.run)
    run.mkdir(parents=True, exist_ok=True)
    crops = HumanCrops(CorpusCache(options.cache), options.seed, options.batch_size)
    start = torch.load(options.start_from) if options.start_from else {}
    for name in options.vocoders:
        settings = {key: value for key, value in vars(options).items() if key not in ("cache", "run", "vocoders")}
        settings.update(
            start_from=Path(options.start_from).name if options.start_from else None,
            checkpoint_shares=CHECKPOINT_SHARES,
            torch=torch.__version__,
        )
        (run / f"{name}.json").write_text(json.dumps(settings, indent=2) + "\n")
        weights = train(name, crops, options, run, start)
        start = start or weights


if __name__ == "__main__":
    main()
