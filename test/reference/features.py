# SPDX-License-Identifier: Apache-2.0
"""Writes the numbers that native/test/features_reference_test.cc compares the feature extractor with.

    /usr/bin/python3 test/reference/features.py            writes test/reference/features/
    /usr/bin/python3 test/reference/features.py --check    compares the reference itself with torchaudio

Everything is computed from the definitions in float64 with NumPy and SciPy, without our own code. Each
case becomes NAME.recipe (text as in native/features/recipe_text.h) and NAME.f32 (little-endian float32, in the
recipe's layout). input.f32 is the audio, of which a case takes the first `samples` samples.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import scipy.ndimage
import scipy.signal

FOLDER = Path(__file__).resolve().parent / "features"
SAMPLE_RATE_HZ = 16000
SAMPLES = 6400

DEFAULTS = dict(
    kind="spectrogram", fft_size=512, window_length=400, hop_length=160, window="hann", periodic_window=False,
    centred=False, edges="mirrored", pre_emphasis=0.0, remove_dc_offset=False, input_gain=1.0, scale="mel",
    bands=80, first_bin=0, fmin_hz=20.0, fmax_hz=8000.0, mel_formula="htk", mel_norm="none",
    triangles_on_mel_axis=False, power=2.0, log="natural", log_floor=1e-10, normalisation="none",
    dynamic_range_db=0.0, normalise_globally=False, layout="bands_frames", mean_spectrum_fft_sizes=(),
    phase_coherence_fft_sizes=(), audible_only=False,
)  # fmt: skip

KALDI = dict(
    window="povey", remove_dc_offset=True, pre_emphasis=0.97, input_gain=32768.0, triangles_on_mel_axis=True,
    log_floor=1.1920929e-7,
)  # fmt: skip

# Name: (samples, differences from the defaults).
CASES = {
    "log_mel": (SAMPLES, {}),
    "kaldi_povey": (SAMPLES, KALDI),
    "kaldi_hamming_mean": (
        SAMPLES, KALDI | dict(window="hamming", normalisation="mean", layout="frames_bands"),
    ),
    "slaney_centred": (
        SAMPLES,
        dict(bands=40, fmin_hz=0.0, mel_formula="slaney", mel_norm="slaney", log="none", centred=True,
             periodic_window=True),
    ),
    "centred_on_zeros": (
        SAMPLES, dict(bands=40, fmin_hz=0.0, mel_formula="slaney", mel_norm="slaney", centred=True, edges="zeros",
                      periodic_window=True),
    ),
    "slaney_on_mel_axis": (
        SAMPLES, dict(bands=24, fmin_hz=100.0, fmax_hz=7600.0, mel_formula="slaney", mel_norm="slaney",
                      triangles_on_mel_axis=True, centred=True, window_length=401),
    ),
    "linear_decibel": (SAMPLES, dict(scale="linear", bands=128, first_bin=1, log="decibel")),
    "linear_magnitude": (
        SAMPLES, dict(scale="linear", bands=257, power=1.0, log="none", window="rectangular", hop_length=400),
    ),
    "band_mean_variance": (SAMPLES, dict(bands=40, normalisation="mean_variance")),
    "frame_major_band_mean_variance": (
        SAMPLES, dict(bands=37, normalisation="mean_variance", layout="frames_bands"),
    ),
    "global_mean_variance": (
        SAMPLES, dict(bands=40, normalisation="mean_variance", normalise_globally=True, layout="frames_bands"),
    ),
    "range_mean_variance": (
        SAMPLES, dict(bands=40, dynamic_range_db=50.0, normalisation="mean_variance", normalise_globally=True),
    ),
    "range_magnitude_decibel": (
        SAMPLES,
        dict(scale="linear", bands=100, power=1.0, log="decibel", dynamic_range_db=40.0, layout="frames_bands"),
    ),
    "mean_spectrum": (SAMPLES, dict(bands=20, mean_spectrum_fft_sizes=(2048,))),
    # Fewer samples than a frame of the mean spectrum, and a layout and normalisation that do not apply to it.
    "mean_spectrum_of_repeats": (
        1000, dict(bands=20, mean_spectrum_fft_sizes=(4096,), input_gain=2.0, layout="frames_bands",
                   normalisation="mean_variance", normalise_globally=True),
    ),
    "phase_coherence": (SAMPLES, dict(bands=20, phase_coherence_fft_sizes=(512,))),
    # Two after two mean spectra; fewer samples than three frames, and bins that do not fill a register.
    "phase_coherence_of_repeats": (
        1000, dict(bands=20, mean_spectrum_fft_sizes=(2048, 600), phase_coherence_fft_sizes=(460, 1024),
                   input_gain=2.0),
    ),
    # The same with reversed polarity.
    "audible_only": (
        SAMPLES, dict(bands=20, mean_spectrum_fft_sizes=(2048,), phase_coherence_fft_sizes=(512,),
                      audible_only=True, normalisation="mean_variance", normalise_globally=True),
    ),
    # 200 = 2 * 2 * 2 * 5 * 5: a transform that is not a power of two.
    "fft_400_log10": (
        SAMPLES, dict(fft_size=400, centred=True, periodic_window=True, mel_formula="slaney", mel_norm="slaney",
                      fmin_hz=0.0, log="log10"),
    ),
    # 131 is prime, and no size is a multiple of a register's lanes.
    "fft_262": (2000, dict(fft_size=262, window_length=201, hop_length=77, bands=21, pre_emphasis=0.9)),
    "mirrored_repeatedly": (37, dict(bands=20, centred=True, hop_length=10)),
    "waveform_gain": (500, dict(kind="waveform", input_gain=-0.25)),
    "waveform_mean_variance": (500, dict(kind="waveform", normalisation="mean_variance")),
}  # fmt: skip


def make_input():
    """A gliding harmonic tone in noise on a constant offset, with digital silence in the middle."""
    random = np.random.default_rng(20240229)
    time_s = np.arange(SAMPLES) / SAMPLE_RATE_HZ
    phase = 2 * np.pi * (120 * time_s + 100 * time_s**2)
    tone = sum(np.sin(k * phase) / k for k in range(1, 30))
    audio = 0.2 * tone * (0.6 + 0.4 * np.sin(2 * np.pi * 7 * time_s)) + 0.01 * random.standard_normal(SAMPLES) + 0.03
    audio[2400:3400] = 0.0
    return audio.astype(np.float32)


def make_window(name, length, periodic):
    if name == "rectangular":
        return np.ones(length)
    window = scipy.signal.get_window("hamming" if name == "hamming" else "hann", length, fftbins=periodic)
    return window**0.85 if name == "povey" else window


def make_frames(audio, recipe):
    length, hop = recipe["window_length"], recipe["hop_length"]
    if recipe["centred"]:
        count = 1 + len(audio) // hop
        # The window is centred in an FFT that is centred on sample t * hop.
        before = recipe["fft_size"] // 2 - (recipe["fft_size"] - length) // 2
        mode = {"mirrored": "reflect", "zeros": "constant"}[recipe["edges"]]
        padded = np.pad(audio, (before, before + hop + length), mode=mode)
        return np.stack([padded[t * hop : t * hop + length] for t in range(count)])
    count = 1 + (len(audio) - length) // hop
    return np.stack([audio[t * hop : t * hop + length] for t in range(count)])


def hz_to_mel(hz, formula):
    hz = np.asarray(hz, np.float64)
    if formula == "htk":
        return 1127.0 * np.log1p(hz / 700.0)
    above = 15.0 + 27.0 * np.log(np.maximum(hz, 1000.0) / 1000.0) / np.log(6.4)
    return np.where(hz < 1000.0, hz * 3.0 / 200.0, above)


def mel_to_hz(mel, formula):
    mel = np.asarray(mel, np.float64)
    if formula == "htk":
        return 700.0 * np.expm1(mel / 1127.0)
    return np.where(mel < 15.0, mel * 200.0 / 3.0, 1000.0 * 6.4 ** ((mel - 15.0) / 27.0))


def mel_weights(recipe):
    """[bands, bins]: every triangle as a piecewise linear function of the bins' places on its axis."""
    formula, bands = recipe["mel_formula"], recipe["bands"]
    corners_mel = np.linspace(hz_to_mel(recipe["fmin_hz"], formula), hz_to_mel(recipe["fmax_hz"], formula), bands + 2)
    corners_hz = mel_to_hz(corners_mel, formula)
    bins_hz = np.arange(recipe["fft_size"] // 2 + 1) * SAMPLE_RATE_HZ / recipe["fft_size"]
    on_mel = recipe["triangles_on_mel_axis"]
    corners, bins = (corners_mel, hz_to_mel(bins_hz, formula)) if on_mel else (corners_hz, bins_hz)
    weights = np.stack([np.interp(bins, corners[b : b + 3], [0.0, 1.0, 0.0], 0.0, 0.0) for b in range(bands)])
    if recipe["mel_norm"] == "slaney":
        weights *= (2.0 / (corners_hz[2:] - corners_hz[:-2]))[:, None]
    return weights


def make_spectrogram(audio, recipe):
    """[bands, frames], before normalisation."""
    frames = make_frames(audio * recipe["input_gain"], recipe)
    if recipe["remove_dc_offset"]:
        frames = frames - frames.mean(axis=1, keepdims=True)
    delayed = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    frames = frames - recipe["pre_emphasis"] * delayed
    frames = frames * make_window(recipe["window"], recipe["window_length"], recipe["periodic_window"])
    spectrum = np.abs(np.fft.rfft(frames, recipe["fft_size"])).T ** recipe["power"]
    if recipe["scale"] == "linear":
        values = spectrum[recipe["first_bin"] : recipe["first_bin"] + recipe["bands"]]
    else:
        values = mel_weights(recipe) @ spectrum
    if recipe["log"] == "none":
        return values
    values = np.maximum(values, recipe["log_floor"])
    return {"natural": np.log, "log10": np.log10, "decibel": lambda x: 10.0 * np.log10(x)}[recipe["log"]](values)


def limit_range(values, recipe):
    """Raises values too far below the largest. Returns the values and which of them are above that floor."""
    if recipe["dynamic_range_db"] == 0:
        return values, np.ones(values.shape, bool)
    per_decade = {"natural": np.log(10.0), "log10": 1.0, "decibel": 10.0}[recipe["log"]]
    floor = values.max() - recipe["dynamic_range_db"] / 20 * recipe["power"] * per_decade
    return np.maximum(values, floor), values > floor


def normalise(values, recipe):
    values, heard = limit_range(values, recipe)
    axis = None if recipe["normalise_globally"] else -1
    if recipe["normalisation"] == "none":
        return values
    values = values - values.mean(axis=axis, keepdims=True, where=heard)
    if recipe["normalisation"] == "mean":
        return values
    return values / np.sqrt(values.var(axis=axis, keepdims=True, where=heard) + 1e-7)


def first_bin_of(recipe, size):
    """The lowest bin at or above 80 Hz if audible_only, else 0."""
    return int(np.ceil(80 * size / SAMPLE_RATE_HZ)) if recipe["audible_only"] else 0


def mirrored_below(curves, first):
    """Curves that begin at bin `first`, with their mirror image below."""
    return np.concatenate([curves[:, :first][:, ::-1], curves], axis=1)


def make_mean_spectrum(audio, recipe, size):
    """[12, size / 2]: see manifest-schema.ts."""
    first = first_bin_of(recipe, size)
    long = dict(window_length=size, hop_length=size // 4, fft_size=size, bands=size // 2 - first, first_bin=first)
    long["log_floor"] = 1e-9
    audio = np.resize(audio, max(len(audio), size))
    levels = make_spectrogram(audio, DEFAULTS | dict(scale="linear", input_gain=recipe["input_gain"]) | long)
    count = levels.shape[1]
    ordered, rank = np.sort(levels, axis=1), (count - 1) // 10
    by_loudness = levels[:, np.argsort(levels.mean(axis=0), kind="stable")]
    third = max(1, count // 3)
    from_mean = levels - levels.mean(axis=1, keepdims=True)
    variance = levels.var(axis=1) + 1e-6
    around = np.lib.stride_tricks.sliding_window_view(levels, 7, axis=0)  # [bins - 6, frames, 7]
    neighbours = np.delete(around, 3, axis=2)
    with_medians = [
        levels.mean(axis=1),
        ordered[:, rank],
        ordered[:, -1 - rank],
        levels.std(axis=1),
        by_loudness[:, -third:].mean(axis=1),
        by_loudness[:, :third].mean(axis=1),
        ordered[:, -min(2, count)],
    ]
    without_medians = [
        np.sum(from_mean[:, 1:] * from_mean[:, :-1], axis=1) / max(1, count - 1) / variance,
        np.mean(from_mean**3, axis=1) / variance**1.5,
        np.pad(np.mean(levels[3:-3] > neighbours.max(axis=2), axis=1), 3),
        np.pad(np.mean(levels[3:-3] < neighbours.min(axis=2), axis=1), 3),
        np.append(np.mean(np.abs(np.diff(levels, axis=0)), axis=1), 0.0),
    ]
    medians = [scipy.ndimage.median_filter(curve, size=33, mode="reflect") for curve in with_medians]
    curves = np.stack([*(curve - median for curve, median in zip(with_medians, medians)), *without_medians])
    return mirrored_below(curves, first)


def make_phase_coherence(audio, recipe, size):
    """[10, size / 2]: real and imaginary parts of five mean products of unit vectors; see manifest-schema.ts."""
    bins, first = size // 2, first_bin_of(recipe, size)
    audio = np.resize(audio, max(len(audio), 3 * size)) * recipe["input_gain"]
    spectra = np.fft.rfft(
        np.lib.stride_tricks.sliding_window_view(audio, size)[:: size // 4] * np.hanning(size), axis=1
    )
    magnitudes = np.abs(spectra) + 3e-4
    phases, weights = spectra / magnitudes, np.sqrt(magnitudes)
    delays = phases[:, 1:] * np.conj(phases[:, :-1])
    smaller = np.minimum(weights[:, 1:], weights[:, :-1])
    whole = np.arange(bins)
    half = whole // 2
    products = [
        *(
            (phases[2 * step :] * phases[: -2 * step] * np.conj(phases[step:-step]) ** 2, weights[step:-step])
            for step in (1, 4)
        ),
        (delays, smaller),
        (delays[1:] * np.conj(delays[:-1]), smaller[1:]),
        (
            phases[:, half] * phases[:, whole - half] * np.conj(phases[:, whole]),
            np.minimum(weights[:, half], weights[:, whole]),
        ),
    ]
    means = [np.average(product[:, :bins], axis=0, weights=weight[:, :bins]) for product, weight in products]
    curves = np.stack([part for mean in means for part in (mean.real, mean.imag)])
    if not recipe["audible_only"]:
        return curves
    curves[-2:] = 0.0
    return mirrored_below(curves[:, first:], first)


def make_features(audio, recipe):
    recipe = DEFAULTS | recipe
    audio = audio.astype(np.float64)
    if recipe["audible_only"]:
        audio = audio * (0.06 / np.sqrt(np.mean(audio**2)))
    if recipe["kind"] == "waveform":
        return normalise(audio * recipe["input_gain"], recipe)
    values = normalise(make_spectrogram(audio, recipe), recipe)
    values = values.T if recipe["layout"] == "frames_bands" else values
    following = [make_mean_spectrum(audio, recipe, size).ravel() for size in recipe["mean_spectrum_fft_sizes"]]
    following += [make_phase_coherence(audio, recipe, size).ravel() for size in recipe["phase_coherence_fft_sizes"]]
    return np.concatenate([values.ravel(), *following]) if following else values


def without_rumble(audio):
    """A recording after native/prepare/rumble_filter.h: the filter has heard the first quarter of a second turned about
    the first sample, and a constant before that."""
    audio = audio.astype(np.float64)
    before = 2 * audio[0] - audio[3999:0:-1]
    sections = scipy.signal.ellip(7, 0.2, 80, 75, "highpass", output="sos", fs=SAMPLE_RATE_HZ)
    state = scipy.signal.sosfilt_zi(sections) * before[0]
    filtered, _ = scipy.signal.sosfilt(sections, np.concatenate([before, audio]), zi=state)
    return filtered[len(before) :]


def write():
    FOLDER.mkdir(exist_ok=True)
    audio = make_input()
    audio.astype("<f4").tofile(FOLDER / "input.f32")
    for name, (samples, recipe) in CASES.items():
        text = lambda value: ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()
        lines = [f"{field}={text(value)}\n" for field, value in recipe.items()]
        (FOLDER / f"{name}.recipe").write_text("".join(lines))
        make_features(audio[:samples], recipe).astype("<f4").tofile(FOLDER / f"{name}.f32")
    without_rumble(audio).astype("<f4").tofile(FOLDER / "without_rumble.f32")


def check():
    """Compares the reference with torchaudio, which knows Kaldi's and librosa's conventions. Returns the worst
    deviation.
    """
    import torch
    import torchaudio

    audio = make_input()
    tensor = torch.from_numpy(audio).double()
    kaldi = dict(num_mel_bins=80, dither=0.0, sample_frequency=SAMPLE_RATE_HZ)
    slaney = torchaudio.transforms.MelSpectrogram(
        SAMPLE_RATE_HZ, 512, 400, 160, n_mels=40, f_min=0.0, f_max=8000.0, norm="slaney", mel_scale="slaney"
    ).double()
    hamming = torchaudio.compliance.kaldi.fbank(
        tensor[None] * 32768, window_type="hamming", subtract_mean=True, **kaldi
    )
    expected = {
        "kaldi_povey": torchaudio.compliance.kaldi.fbank(tensor[None] * 32768, **kaldi).T,
        "kaldi_hamming_mean": hamming,
        "slaney_centred": slaney(tensor),
    }
    worst = 0.0
    for name, theirs in expected.items():
        ours = make_features(audio, CASES[name][1])
        deviation = np.abs(ours - theirs.numpy()).max() / np.abs(ours).max()
        print(f"{name}: {deviation:.2e} of the largest value")
        worst = max(worst, deviation)
    return worst


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the reference with torchaudio instead")
    if parser.parse_args().check:
        sys.exit(0 if check() < 1e-5 else "The reference differs from torchaudio.")
    write()
