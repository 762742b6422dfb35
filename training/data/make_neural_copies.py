# SPDX-License-Identifier: Apache-2.0
"""Copies of human training clips through the vocoders of train/vocoders.py: spoofs for the detector.

    python3 -m data.make_neural_copies --cache FOLDER --vocoders RUN --out FOLDER [--copies 3000] [--names istft ...]
        [--jobs 2]

Writes clean.i16 and clips.csv, for data/prepare_corpus.py, into --out, and prints the quality of a fifth of them. Every
copy draws its vocoder's checkpoint and its analysis. It is as long and as loud as its human clip's first six seconds,
and aligned.
"""

import argparse
from collections import defaultdict
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch

from data.corpus_cache import CorpusCache, write_clips
from data.prepare_corpus import MAX_COPY_SAMPLES, choose_clips_to_copy
from features.recipe import SAMPLE_RATE_HZ
from networks.neural_vocoders import CODEBOOKS, LEVEL_RMS, VOCODERS, Analysis
from signals.spectral_vocoders import stft

MEASURED_EVERY = 5
CHECKPOINT_SHARES = [0.15, 0.3, 0.55]  # early ones buzz, like a generator without a discriminator
PEAK = 0.999  # pulses peak higher than voices: cut off, they would tell the classes apart
MARGIN_SAMPLES = 2048  # mirrored at both ends: a generator's own ends would reveal the cuts


def draw_analysis(rng):
    sometimes = lambda value, otherwise: value if rng.random() < 0.5 else otherwise
    return Analysis(
        bands=int(rng.choice([40, 60, 80], p=[0.2, 0.3, 0.5])),
        warp=sometimes(float(rng.integers(94, 107)) / 100, 1.0),
        blur_frames=sometimes(float(rng.uniform(0.3, 1.0)), 0.0),
        noise=sometimes(float(rng.uniform(0.02, 0.12)), 0.0),
        codebooks=int(rng.integers(2, CODEBOOKS + 1)),
    )


def rms(samples):
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


@torch.no_grad()
def resynthesise(vocoder, human, analysis):
    """float32 [n] in -1..1 to as many, at the same RMS or the highest that does not clip."""
    level = max(rms(human), 1e-5)
    padded = np.pad(human * np.float32(LEVEL_RMS / level), MARGIN_SAMPLES, "reflect")
    copy = vocoder(torch.from_numpy(padded)[None], analysis)[0][0, MARGIN_SAMPLES:-MARGIN_SAMPLES].numpy()
    copy = copy - copy.mean()  # transposed convolutions leave an offset, which few real systems would keep
    return copy * min(level / max(rms(copy), 1e-9), PEAK / max(np.abs(copy).max(), 1e-9))


def log_spectral_distance_db(copy, human):
    """Root mean square over the bins of 32 ms frames, averaged over the frames within 40 dB of the loudest."""
    ours, theirs = (20 * torch.log10(stft(samples, 512, 256).abs().clamp_min(1e-4)) for samples in (copy, human))
    level = torch.logsumexp(theirs * np.log(10) / 10, 0) * 10 / np.log(10)
    return float((ours - theirs)[:, level > level.max() - 40].square().mean(0).sqrt().mean())


def lag_samples(copy, human):
    """Delay of the copy in samples: the best correlation of the two loudness curves, 1 ms apart."""
    curves = []
    for samples in (copy, human):
        power = np.convolve(samples.astype(np.float64) ** 2, np.hanning(320), "same")[::16]
        curves.append(np.log(power + 1e-3 * power.mean() + 1e-12))
    ours, theirs = (curve - curve.mean() for curve in curves)
    size = 2 * len(ours)
    correlation = np.fft.irfft(np.fft.rfft(ours, size) * np.conj(np.fft.rfft(theirs, size)), size)
    return 16 * ((int(np.argmax(correlation)) + len(ours)) % size - len(ours))


def load_vocoders(run, names):
    """Vocoders by (name, checkpoint); "codec-transposed" combines the codec of one with the rest of the other."""
    vocoders = {}
    for name in names:
        for checkpoint in range(len(CHECKPOINT_SHARES)):
            weights = {}
            for part in name.split("-"):
                weights.update(torch.load(run / f"{part}-{checkpoint}.pt", map_location="cpu"))
            vocoder = VOCODERS[name]().eval()
            vocoder.load_state_dict({key: weights[key] for key in vocoder.state_dict()})
            vocoders[name, checkpoint] = vocoder
    return vocoders


class CopyMaker:
    """copy(number, clip) depends only on the seed, the number and the weights, so that processes may share the work."""

    def __init__(self, options):
        torch.set_num_threads(1)
        self._options, self._cache = options, CorpusCache(options.cache)
        self._vocoders = load_vocoders(Path(options.vocoders), options.names)

    def copy(self, number, clip):
        """((name, checkpoint), int16 samples, None or (log spectral distance, lag))"""
        rng, names = np.random.default_rng([self._options.seed, number]), self._options.names
        torch.manual_seed(int(rng.integers(2**31)))
        system = names[number % len(names)], int(rng.choice(len(CHECKPOINT_SHARES), p=CHECKPOINT_SHARES))
        human = self._cache.samples(clip, count=min(clip["samples"], MAX_COPY_SAMPLES))
        copy = resynthesise(self._vocoders[system], human, draw_analysis(rng))
        if not np.all(np.isfinite(copy)):
            raise ValueError(f"{system} of {clip['path']} is not finite")
        is_measured = number // len(names) % MEASURED_EVERY == 0
        figures = (log_spectral_distance_db(copy, human), abs(lag_samples(copy, human))) if is_measured else None
        return system, np.rint(copy * 32768).astype(np.int16), figures


def start_process(options):
    global maker
    maker = CopyMaker(options)


def make_copy(task):
    return maker.copy(*task)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--vocoders", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--copies", type=int, default=3000)
    parser.add_argument("--names", nargs="+", choices=list(VOCODERS), default=list(VOCODERS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=20260327)
    options = parser.parse_args()
    cache, out = CorpusCache(options.cache), Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    lengths = [range(clip["samples"]) for clip in cache.clips]
    chosen = choose_clips_to_copy(cache.clips, lengths, options.copies, np.random.default_rng(options.seed))
    clips = [cache.clips[index] for index in chosen]
    rows, audio, quality = [], [], defaultdict(list)
    with Pool(options.jobs, start_process, (options,)) as pool:
        for clip, ((name, checkpoint), copy, figures) in zip(clips, pool.imap(make_copy, enumerate(clips), 8)):
            audio.append(copy)
            system = f"copy-neural-{name}"
            rows.append(
                {
                    **clip,
                    "path": f"{system}:{clip['path']}",
                    "label": "spoof",
                    "system": system,
                    "category": "own-copy-synthesis",
                }
            )
            if figures:
                quality[name, checkpoint].append(figures)
    write_clips(out, rows, audio)
    print(f"{len(rows)} copies, {sum(map(len, audio)) / SAMPLE_RATE_HZ / 3600:.2f} h")
    for (name, checkpoint), figures in sorted(quality.items()):
        distances, lags = np.array(figures).T
        print(
            f"{name}-{checkpoint}: {len(lags)} measured, log spectral distance {distances.mean():.1f} dB, "
            f"lag median {np.median(lags) / 16:.0f} ms, 95 % {np.quantile(lags, 0.95) / 16:.0f} ms"
        )


if __name__ == "__main__":
    main()
