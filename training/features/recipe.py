# SPDX-License-Identifier: Apache-2.0
"""What a detector sees of a window. The manifest entry carries these numbers on to the server, word for word."""

SAMPLE_RATE_HZ = 16000
WINDOW_SAMPLES = 5 * SAMPLE_RATE_HZ

# 25 ms every 10 ms, without anything before the transform.
FRAMES = {
    "kind": "spectrogram",
    "fft_size": 512,
    "window_length": 400,
    "hop_length": 160,
    "window": "hann",
    "periodic_window": False,
    "centred": False,
    "pre_emphasis": 0,
    "remove_dc_offset": False,
    "input_gain": 1,
}

FEATURES = {
    **FRAMES,
    # 256 of the 257 linear bins: no pooling by hand, the first convolution learns its own.
    "scale": "linear",
    "bands": 256,
    "first_bin": 1,
    "fmin_hz": 0,
    "fmax_hz": 8000,
    "mel_formula": "htk",
    "mel_norm": "none",
    "triangles_on_mel_axis": False,
    "power": 2,
    "log": "natural",
    "log_floor": 1e-10,
    # One mean and deviation per window over all bands: the level cancels, the shape of the spectrum stays. Digital
    # silence around the speech changes neither.
    "normalisation": "mean_variance",
    "normalise_globally": True,
    "dynamic_range_db": 80,
    "layout": "bands_frames",
}

# Half as many numbers, finer where voices have their harmonics.
MEL_FEATURES = {**FEATURES, "scale": "mel", "bands": 128, "first_bin": 0, "fmin_hz": 20}
# Of the curves of a window that follow the bands: 3.9 and 31 Hz from bin to bin.
FFT_SIZES = {"mean_spectrum": 4096, "phase_coherence": 512}
WITH_CURVES = {**FEATURES, **{f"{kind}_fft_size": size for kind, size in FFT_SIZES.items()}}
RECIPES = {"linear": FEATURES, "mel": MEL_FEATURES}
# From which ensemble.OwnFeatures makes each of them.
ENSEMBLE_FEATURES = {**FEATURES, "normalisation": "none", "normalise_globally": False, "dynamic_range_db": 0}


def frames_of(samples):
    """Frames of a window of so many samples: 498 of 5 s."""
    return 1 + (samples - FRAMES["window_length"]) // FRAMES["hop_length"]
