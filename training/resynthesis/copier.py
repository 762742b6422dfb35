# SPDX-License-Identifier: Apache-2.0
"""Copies of whole recordings by trained generators, with the length, level and timing of the recording."""

import json
from pathlib import Path

import numpy as np
import torch

from resynthesis.generators import make_generator
from resynthesis.spectra import LEVEL_RMS, Analysis, istft, log_mel_energies, stft

PEAK = 0.999  # pulses peak higher than voices: cut off, they would tell the classes apart
MARGIN_SAMPLES = 4096  # mirrored at both ends: a generator's own ends would reveal the cuts
BLEND_FFT = 1024
CROSSOVER_HZ, CROSSOVER_WIDTH_HZ = (1000, 5000), 300


def rms(samples):
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


def load_generator(run, step=None, device="cpu"):
    """(generator, settings) of a run of resynthesis.train, with the weights of `step`, by default the last."""
    run = Path(run)
    settings = json.loads((run / "settings.json").read_text())
    generator = make_generator(settings).eval().to(device)
    step = step if step is not None else kept_steps(run)[-1]
    generator.load_state_dict(torch.load(run / f"weights-{step}.pt", map_location=device))
    return generator, settings


def kept_steps(run):
    return sorted(int(path.stem.split("-")[1]) for path in Path(run).glob("weights-*.pt"))


def draw_analysis(rng):
    sometimes = lambda value: value if rng.random() < 0.3 else 0.0
    return Analysis(
        bands=int(rng.choice([0, 40, 60], p=[0.7, 0.1, 0.2])),
        blur_frames=sometimes(float(rng.uniform(0.3, 0.8))),
        noise=sometimes(float(rng.uniform(0.02, 0.1))),
    )


def crossed_over(copy, human, rate_hz, hz, copy_is_above):
    """One signal above a frequency, the other below."""
    bins = np.fft.rfftfreq(len(copy), 1 / rate_hz)
    above = 0.5 - 0.5 * np.cos(np.pi * np.clip((bins - hz) / CROSSOVER_WIDTH_HZ + 0.5, 0, 1))
    high, low = (copy, human) if copy_is_above else (human, copy)
    mixed = np.fft.rfft(high) * above + np.fft.rfft(low) * (1 - above)
    return np.fft.irfft(mixed, len(copy)).astype(np.float32)


def with_magnitudes(copy, human, share):
    """The copy with magnitudes drawn towards the recording's, so that mainly its phases remain."""
    ours, theirs = (stft(torch.from_numpy(part)[None], BLEND_FFT, BLEND_FFT // 4) for part in (copy, human))
    factor = ((theirs.abs() + 1e-7) / (ours.abs() + 1e-7)) ** share
    return istft(ours * factor, BLEND_FFT, BLEND_FFT // 4, len(copy))[0].numpy()


def draw_blend(rng):
    """A function of (copy, human, rate): most copies stay unchanged; the others keep part of the recording."""
    kind = rng.random()
    if kind < 0.7:
        return lambda copy, human, rate_hz: copy
    if kind < 0.85:
        share = float(rng.uniform(0.3, 0.9))
        return lambda copy, human, rate_hz: with_magnitudes(copy, human, share)
    hz, above = float(rng.uniform(*CROSSOVER_HZ)), bool(rng.random() < 0.7)
    return lambda copy, human, rate_hz: crossed_over(copy, human, rate_hz, hz, above)


class Copier:
    """`decoder` is a mel-decoder before a vocoder with the same frames, or None."""

    def __init__(self, generator, rate_hz, decoder=None, device="cpu"):
        if decoder and decoder.frames != generator.frames:
            raise ValueError("the mel decoder and the vocoder hear different frames")
        self.generator, self.decoder, self.rate_hz, self.device = generator, decoder, rate_hz, torch.device(device)

    @property
    def books(self):
        """Number of codebooks to draw from, or 0."""
        quantiser = getattr(self.decoder or self.generator, "quantiser", None)
        return len(quantiser.codes) if quantiser else 0

    @torch.no_grad()
    def _generated(self, samples, pulses, analysis, books):
        if self.decoder is None:
            return self.generator(samples, pulses, analysis, books)[0]
        log_mel = log_mel_energies(samples, self.generator.frames, analysis)
        return self.generator.from_mel(self.decoder.decode(log_mel, books), pulses)

    def copy(self, human, pulses, seed, analysis=None, books=None, blend=None):
        """float32 [n] in -1..1 to as many; pulses [2, n] of source.excitation. Never so loud as to clip."""
        torch.manual_seed(seed)
        level = max(rms(human), 1e-5)
        margin = min(MARGIN_SAMPLES, len(human) - 1)
        hop = self.generator.frames.hop
        behind = margin + -(len(human) + 2 * margin) % hop
        padded = np.pad(human * np.float32(LEVEL_RMS / level), (margin, behind), "symmetric")
        pulses = np.pad(pulses, ((0, 0), (margin, behind)))
        tensors = [torch.from_numpy(part)[None].to(self.device) for part in (padded, pulses)]
        made = self._generated(*tensors, analysis, books)[0, margin : margin + len(human)].float().cpu().numpy()
        made = made - made.mean()  # transposed convolutions leave an offset, which few real systems would keep
        made = made * (level / max(rms(made), 1e-9))
        if blend:
            made = blend(made, human, self.rate_hz)
            made = made * (level / max(rms(made), 1e-9))
        return made * min(1, PEAK / max(np.abs(made).max(), 1e-9))
