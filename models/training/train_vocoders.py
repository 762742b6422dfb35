# SPDX-License-Identifier: Apache-2.0
"""Train the neural vocoders of our own on the human training clips of the prepared corpus.

    train_vocoders.py --cache FOLDER --run FOLDER [--vocoders istft codec transposed] [--minutes 12] [--steps N] [--seed S]

Writes per vocoder NAME-0.pt (before the discriminator joins), NAME-1.pt (half-way from there) and NAME-2.pt (the end),
and NAME.csv (log) and NAME.json (settings). --minutes is per vocoder; --steps repeats a timed run by the step count in its log.
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

from corpus_cache import SAMPLE_RATE_HZ, CorpusCache
from neural_vocoders import (
    CODEBOOKS, LEVEL_RMS, TRAINED, VOCODERS, Analysis, SpectrogramDiscriminator, log_mel_energies, mel_matrix, stft,
)
from prepare_corpus import choose_clips_to_copy

CROP_SAMPLES = 12800  # a multiple of every vocoder's hop
CHECKPOINT_SHARES = (0.35, 0.65, 1.0)  # of the steps; the discriminator joins after the first
CODEC_RATE, CODEC_FIRST_BATCH = 2e-3, 1_000_000  # batches that the steps with samples do not reach
MEL_WEIGHT, STFT_WEIGHT, MATCH_WEIGHT = 15.0, 3.0, 2.0


class HumanCrops:
    """batch(i) depends on the seed and i only: crops of human training clips, at about LEVEL_RMS."""

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
            level = np.sqrt(np.mean(crop ** 2))
            if level > 3e-3:  # pauses teach little
                break
        return crop * (LEVEL_RMS / max(level, 1e-4) * 10 ** rng.uniform(-0.4, 0.2))

    def batch(self, index):
        rng = np.random.default_rng([self._seed, index])
        return torch.from_numpy(np.stack([self._crop(rng) for _ in range(self._batch_size)]).astype(np.float32)), rng


def draw_analysis(rng):
    return Analysis(bands=int(rng.choice([40, 60, 80], p=[0.15, 0.2, 0.65])), codebooks=int(rng.integers(1, CODEBOOKS + 1)))


def magnitudes(samples, fft_size):
    power = torch.view_as_real(stft(samples, fft_size, fft_size // 4)).square().sum(-1)
    return (power + 1e-8).sqrt()


def reconstruction_loss(copy, human):
    """(mel loss, spectral loss): log distances over three resolutions, and how far the loud parts are off."""
    mel = spectral = 0.0
    for fft_size in (256, 512, 1024):
        ours = magnitudes(copy, fft_size)
        with torch.no_grad():
            theirs = magnitudes(human, fft_size)
        spectral = spectral + (functional.l1_loss(torch.log(ours), torch.log(theirs)) + (ours - theirs).norm() / theirs.norm()) / 3
        if fft_size == 1024:
            matrix = mel_matrix(fft_size)
            mel = functional.l1_loss(torch.log(matrix @ ours), torch.log(matrix @ theirs))
    return mel, spectral


def verdicts_and_inner(outputs, judge):
    depth = len(outputs) // len(judge.stacks)
    return outputs[depth - 1::depth], [output.float() for i, output in enumerate(outputs) if i % depth < depth - 1]


def judge_loss(real, fake):
    return sum(functional.relu(1 - ours).mean() + functional.relu(1 + theirs).mean() for ours, theirs in zip(real, fake))


def match_loss(real, fake):
    return sum((ours.detach() - theirs).abs().mean() / ours.detach().abs().mean() for ours, theirs in zip(real, fake)) / len(real)


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
    torch.manual_seed(options.seed)
    bfloat16 = lambda: torch.autocast("cpu", dtype=torch.bfloat16)
    vocoder, judge = VOCODERS[name](), SpectrogramDiscriminator().to(memory_format=torch.channels_last)
    vocoder.load_state_dict({key: value for key, value in start.items() if key in vocoder.state_dict()}, strict=False)
    if vocoder.codec:
        train_codec(vocoder.codec, crops, options.codec_steps)
    own_steps = torch.optim.AdamW(vocoder.parameters(), options.rate, betas=(0.8, 0.98), weight_decay=1e-3)
    judge_steps = torch.optim.AdamW(judge.parameters(), options.rate / 2, betas=(0.8, 0.98), weight_decay=1e-3)
    started, step, kept, totals = time.monotonic(), 0, 0, {}
    with open(run / f"{name}.csv", "w", newline="") as log:
        writer = csv.writer(log)
        writer.writerow(["step", "minutes", "mel", "spectral", "codes", "fooling", "match", "judge"])
        while True:
            minutes = (time.monotonic() - started) / 60
            share = step / options.steps if options.steps else minutes / options.minutes
            while kept < len(CHECKPOINT_SHARES) and share >= CHECKPOINT_SHARES[kept]:
                torch.save(vocoder.state_dict(), run / f"{name}-{kept}.pt")
                kept += 1
            if kept == len(CHECKPOINT_SHARES):
                return vocoder.state_dict()
            for group, factor in ((own_steps, 1.0), (judge_steps, 0.5)):
                warm = min(1.0, (step + 1) / 100)
                group.param_groups[0]["lr"] = options.rate * factor * warm * (0.1 + 0.9 * math.cos(share * math.pi / 2))
            human, rng = crops.batch(step)
            with bfloat16():
                copy, code_loss = vocoder(human, draw_analysis(rng))
            mel, spectral = reconstruction_loss(copy, human)
            loss = MEL_WEIGHT * mel + STFT_WEIGHT * spectral + code_loss
            values = dict(mel=mel, spectral=spectral, codes=code_loss)
            if kept > 0:
                part = slice(0, len(human) // 2)  # the judge costs more than the vocoder
                with bfloat16():
                    real, real_inner = verdicts_and_inner(judge(human[part]), judge)
                    fake, _ = verdicts_and_inner(judge(copy[part].detach()), judge)
                values["judge"] = judge_loss(real, fake)
                judge_steps.zero_grad()
                values["judge"].backward()
                judge_steps.step()
                judge.requires_grad_(False)
                with bfloat16():
                    fake, fake_inner = verdicts_and_inner(judge(copy[part]), judge)
                judge.requires_grad_(True)
                values["fooling"] = -sum(verdict.mean() for verdict in fake) / len(fake)
                values["match"] = match_loss(real_inner, fake_inner)
                loss = loss + values["fooling"] + MATCH_WEIGHT * values["match"]
            own_steps.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(vocoder.parameters(), 50.0)
            own_steps.step()
            step += 1
            for key, value in values.items():
                totals[key] = totals.get(key, 0.0) + float(value.detach())
            if step % 25 == 0:
                means = [f"{totals.get(key, 0.0) / 25:.4f}" for key in
                         ("mel", "spectral", "codes", "fooling", "match", "judge")]
                writer.writerow([step, f"{minutes:.2f}", *means])
                log.flush()
                print(name, step, f"{minutes:.2f} min", *means, flush=True)
                totals = {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--vocoders", nargs="+", choices=TRAINED, default=TRAINED)
    parser.add_argument("--minutes", type=float, default=12.0, help="per vocoder")
    parser.add_argument("--steps", type=int, help="per vocoder, instead of --minutes")
    parser.add_argument("--start-from", help="weights whose like-named parts the first vocoder starts from")
    parser.add_argument("--codec-steps", type=int, default=800, help="of the bottleneck alone, before the rest")
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
        settings = {**vars(options), "vocoder": name, "torch": torch.__version__}
        (run / f"{name}.json").write_text(json.dumps(settings, indent=2) + "\n")
        weights = train(name, crops, options, run, start)
        start = start or weights


if __name__ == "__main__":
    main()
