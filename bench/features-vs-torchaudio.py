# SPDX-License-Identifier: Apache-2.0
"""Time of our features for one 5 s window on one thread, in turn with torchaudio's Kaldi filter banks.

    cmake -S . -B build/training -DVERAVOX_SHARED=ON && cmake --build build/training -j2
    /usr/bin/python3 bench/features-vs-torchaudio.py

Every round runs each contestant a few times in a row, so that caches are warm and a busy machine slows all of
them; trust the minima where the machine is busy. Our times include the call from Python and the allocation of the
result. Prints median and minimum in milliseconds and torchaudio's time divided by ours; writes the same to
bench/results/features-vs-torchaudio.json.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torchaudio

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models" / "training"))
from native import FeatureExtractor  # noqa: E402

SAMPLE_RATE_HZ = 16000
RUNS_PER_ROUND = 5
WINDOW_SAMPLES = 5 * SAMPLE_RATE_HZ
REFERENCE = "torchaudio Kaldi fbank, 80 bands"
KALDI = dict(
    window="povey", remove_dc_offset=True, pre_emphasis=0.97, input_gain=32768.0, triangles_on_mel_axis=True,
    log_floor=1.1920929e-7,
)  # fmt: skip
OURS = {
    "log-mel, 80 bands": {},
    "log-mel, 80 bands, mean and variance": dict(normalisation="mean_variance"),
    "Kaldi fbank, 80 bands": KALDI,
    "linear, 257 bins, log": dict(scale="linear", bands=257),
    "log-mel, 80 bands, centred, 400-point": dict(fft_size=400, centred=True, log="log10"),
    "waveform, mean and variance": dict(kind="waveform", normalisation="mean_variance"),
}


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "results" / "features-vs-torchaudio.json")
    options = parser.parse_args()

    torch.set_num_threads(1)
    samples = (0.1 * np.random.default_rng(1).standard_normal(WINDOW_SAMPLES)).astype(np.float32)
    scaled = torch.from_numpy(samples)[None] * 32768
    extractors = {name: FeatureExtractor(recipe) for name, recipe in OURS.items()}
    contestants = {name: (lambda e=extractor: e.compute(samples)) for name, extractor in extractors.items()}
    contestants[REFERENCE] = lambda: torchaudio.compliance.kaldi.fbank(scaled, num_mel_bins=80, dither=0.0)

    times_ms = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, run in contestants.items():
            run()  # warms the caches after the contestant before
            for _ in range(RUNS_PER_ROUND):
                start = time.perf_counter()
                run()
                times_ms[name].append((time.perf_counter() - start) * 1e3)
    difference = np.abs(contestants["Kaldi fbank, 80 bands"]() - contestants[REFERENCE]().numpy().T).max()

    reference = times_ms[REFERENCE]
    rows = {}
    for name, times in times_ms.items():
        rows[name] = {
            "median_ms": statistics.median(times),
            "min_ms": min(times),
            "median_ratio": statistics.median(reference) / statistics.median(times),
            "min_ratio": min(reference) / min(times),
        }
        row = rows[name]
        print(
            f"{name:40} median {row['median_ms']:7.3f} ms  min {row['min_ms']:7.3f} ms"
            f"  {row['median_ratio']:6.1f}x ({row['min_ratio']:.1f}x by the minima)"
        )
    print(f"Largest difference from torchaudio's Kaldi fbank: {difference:.1e}")

    options.output.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "processor": processor(),
        "torchaudio": torchaudio.__version__,
        "window_samples": WINDOW_SAMPLES,
        "runs": options.rounds * RUNS_PER_ROUND,
        "largest_difference": float(difference),
        "results": rows,
    }
    options.output.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
