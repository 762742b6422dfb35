# SPDX-License-Identifier: Apache-2.0
"""A detector's input from a window. The manifest entry passes these numbers on to the server, word for word."""

SAMPLE_RATE_HZ = 16000
WINDOW_SAMPLES = 5 * SAMPLE_RATE_HZ

# 25 ms every 10 ms, without processing before the transform.
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
    # Rumble, offsets and level are not evidence: nobody hears them, and any filter changes them.
    "audible_only": True,
    # 256 of the 257 linear bins: instead of manual pooling, the first convolution learns its own.
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

PHASE_COHERENCE, LONG_PHASE_COHERENCE = "phase_coherence", "long_phase_coherence"
# Curves of a window that follow the bands, in this order: 15.6 and 7.8 Hz from bin to bin.
FFT_SIZES = {PHASE_COHERENCE: 1024, LONG_PHASE_COHERENCE: 2048}
CURVE_SIZES = "phase_coherence_fft_sizes"


def curve_fields(kinds):
    """Recipe fields for these kinds of curves with their FFT_SIZES."""
    return {CURVE_SIZES: [size for kind, size in FFT_SIZES.items() if kind in kinds]}


WITH_CURVES = {**FEATURES, **curve_fields(FFT_SIZES)}


def frames_of(samples):
    """Frames in a window of `samples`: 498 for 5 s."""
    return 1 + (samples - FRAMES["window_length"]) // FRAMES["hop_length"]
