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
MEAN_SPECTRUM, PHASE_COHERENCE, LONG_PHASE_COHERENCE = "mean_spectrum", "phase_coherence", "long_phase_coherence"
# Of the curves of a window that follow the bands, in this order: 3.9, 15.6 and 7.8 Hz from bin to bin.
FFT_SIZES = {MEAN_SPECTRUM: 4096, PHASE_COHERENCE: 1024, LONG_PHASE_COHERENCE: 2048}


def curve_fields(kinds):
    """What a recipe says of these kinds of curves, which are of FFT_SIZES."""
    fields = {"mean_spectrum_fft_size": FFT_SIZES[MEAN_SPECTRUM]} if MEAN_SPECTRUM in kinds else {}
    sizes = [FFT_SIZES[kind] for kind in (PHASE_COHERENCE, LONG_PHASE_COHERENCE) if kind in kinds]
    return {**fields, "phase_coherence_fft_sizes": sizes} if sizes else fields


WITH_CURVES = {**FEATURES, **curve_fields(FFT_SIZES)}
RECIPES = {"linear": FEATURES, "mel": MEL_FEATURES}
# From which ensemble.OwnFeatures makes each of them.
ENSEMBLE_FEATURES = {**FEATURES, "normalisation": "none", "normalise_globally": False, "dynamic_range_db": 0}


def frames_of(samples):
    """Frames of a window of so many samples: 498 of 5 s."""
    return 1 + (samples - FRAMES["window_length"]) // FRAMES["hop_length"]
