# SPDX-License-Identifier: Apache-2.0
"""Measure the server's voice activity detector and the baselines on mixtures of the corpus's validation clips.

    python3 -m vad.evaluate --corpus FOLDER [--clips 500] [--sequences 12] [--seed 11]

Needs the native library (see features/native.py). Writes bench/results/vad.json and bench/results/vad.md.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from features import native
from vad import mixtures, noises
from vad.baselines import BASELINES
from vad.speech_clips import load_speech_clips, parse_with_corpus

ROOT = Path(__file__).resolve().parents[2]
FRAMES = 2000  # per sequence: 20 s
WINDOW_FRAMES = 500
MAX_NON_SPEECH = 0.8  # a 5 s window with more is skipped
SNRS_DB = [0, 5, 10, 20, 30]
SPEECH_NOISES = ["white", "pink", "hum", "room_tone", "clicks", "babble"]
NOISES_ALONE = [
    "white",
    "pink",
    "brown",
    "coloured",
    "unsteady",
    "hum",
    "room_tone",
    "clicks",
    "engine",
    "tones",
    "music",
    "dithered_silence",
]
NATIVE = "network"


def _scaled(sequence, level_db):
    """The sequence with its speech at level_db (dBFS), in 16 bits."""
    gain = 10 ** ((level_db - mixtures.SPEECH_LEVEL_DB) / 20)
    return mixtures.Sequence(mixtures.to_16_bit(sequence.samples * np.float32(gain)), sequence.speech, sequence.core)


def speech_conditions(clips, count, seed):
    """Yields (condition, sequences). All conditions hold the same speech."""

    def spoken(index):
        rng = np.random.default_rng([seed, index])
        chosen = [clips[i] for i in rng.permutation(len(clips))[:30]]
        return mixtures.lay_out(chosen, FRAMES, 0.8, rng)

    for level_db in (-26, -40, -50):
        yield f"clean at {level_db} dBFS", [_scaled(spoken(index), level_db) for index in range(count)]
    for kind in SPEECH_NOISES:
        for snr_db in SNRS_DB:
            sequences = []
            for index in range(count):
                rng = np.random.default_rng([seed, index, SPEECH_NOISES.index(kind), snr_db])
                sequence, samples = spoken(index), FRAMES * mixtures.HOP_SAMPLES
                noise = (
                    mixtures.babble(samples, clips, rng) if kind == "babble" else getattr(noises, kind)(samples, rng)
                )
                mixtures.add_noise(sequence, noise, snr_db)
                sequences.append(_scaled(sequence, -30))
            yield f"{kind} {snr_db} dB", sequences


def noise_conditions(count, seed):
    nothing = np.zeros(FRAMES, bool)
    yield "digital silence", [mixtures.Sequence(np.zeros(FRAMES * mixtures.HOP_SAMPLES, np.float32), nothing, nothing)]
    for kind in NOISES_ALONE:
        sequences = []
        for index in range(count):
            rng = np.random.default_rng([seed, index, 1000 + NOISES_ALONE.index(kind)])
            noise = getattr(noises, kind)(FRAMES * mixtures.HOP_SAMPLES, rng)
            if kind != "dithered_silence":
                noise *= 10 ** (rng.choice([-20, -35, -50, -65]) / 20) / mixtures.active_rms(noise)
            sequences.append(mixtures.Sequence(mixtures.to_16_bit(noise), nothing, nothing))
        yield f"{kind} alone", sequences


def measure(decisions, sequences):
    """Precision, recall (of all speech frames, and of the loud ones alone), F1, false alarm rate, per 10 ms frame; and
    the share of 5 s windows that are skipped despite at least 30 % speech, or kept without any."""
    found = np.concatenate(decisions).astype(bool)
    speech = np.concatenate([sequence.speech for sequence in sequences])
    core = np.concatenate([sequence.core for sequence in sequences])
    windows = lambda mask: mask.reshape(-1, WINDOW_FRAMES).mean(axis=1)
    kept, spoken = 1 - windows(found) <= MAX_NON_SPEECH, windows(speech)
    ratio = lambda part, whole: round(float(part.sum() / whole.sum()), 4) if whole.sum() else None
    figures = {
        "frames": len(speech),
        "precision": ratio(found & speech, found),
        "recall": ratio(found & speech, speech),
        "core_recall": ratio(found & core, core),
        "false_alarms": ratio(found & ~speech, ~speech),
        "speech_windows_skipped": ratio(~kept & (spoken >= 0.3), spoken >= 0.3),
        "silent_windows_kept": ratio(kept & (spoken == 0), spoken == 0),
    }
    if figures["precision"] and figures["recall"]:
        figures["f1"] = round(2 / (1 / figures["precision"] + 1 / figures["recall"]), 4)
    return figures


def choose_thresholds(clips, rng):
    """Each baseline's best threshold by F1 on mixtures as in training."""
    sequences = [mixtures.training_sequence(clips, FRAMES, rng)[0] for _ in range(40)]
    chosen = {}
    for name, (detector, thresholds) in BASELINES.items():
        scores = [
            measure([detector(sequence.samples, threshold) for sequence in sequences], sequences)["f1"]
            for threshold in thresholds
        ]
        chosen[name] = thresholds[int(np.argmax(scores))]
    return chosen


def recall_by(clips, key):
    """Core recall on single unmodified clips, grouped. Groups of less than ten seconds are omitted."""
    groups = {}
    for clip in clips:
        hit, total = groups.get(key(clip), (0, 0))
        found = native.speech_decisions(clip.samples).astype(bool)
        groups[key(clip)] = hit + int((found & clip.core).sum()), total + int(clip.core.sum())
    return {name: round(hit / total, 4) for name, (hit, total) in sorted(groups.items()) if total >= 1000}


def cost_ms():
    """Milliseconds for 5 s of audio on one thread, the best of many runs, including the call from Python."""
    samples = np.random.default_rng(0).standard_normal(WINDOW_FRAMES * mixtures.HOP_SAMPLES, dtype=np.float32) * 0.1

    def once():
        start = time.perf_counter()
        native.speech_decisions(samples)
        return time.perf_counter() - start

    return round(1000 * min(once() for _ in range(500)), 3)


def table(results):
    methods = list(next(iter(results.values())))
    percent = lambda value: "" if value is None else f"{100 * value:.1f}"
    lines = [
        "| condition | " + " | ".join(f"{method}: P | R | F1" for method in methods) + " |",
        "|---" * (1 + 3 * len(methods)) + "|",
    ]
    alone = [
        "| no speech | " + " | ".join(f"{method}: frames taken for speech" for method in methods) + " |",
        "|---" * (1 + len(methods)) + "|",
    ]
    for condition, by_method in results.items():
        if by_method[methods[0]]["recall"] is None:
            alone.append(
                f"| {condition} | " + " | ".join(percent(by_method[m]["false_alarms"]) for m in methods) + " |"
            )
        else:
            cells = [percent(by_method[m].get(k)) for m in methods for k in ("precision", "recall", "f1")]
            lines.append(f"| {condition} | " + " | ".join(cells) + " |")
    return (
        "All figures in percent, per 10 ms frame. Written by training/vad/evaluate.py.\n\n"
        + "\n".join([*lines, "", *alone])
        + "\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=500, help="validation clips to look at")
    parser.add_argument("--sequences", type=int, default=12, help="sequences of 20 s per condition")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "results")
    options = parse_with_corpus(parser)
    rng = np.random.default_rng(options.seed)
    thresholds = choose_thresholds(load_speech_clips(options.corpus, "train", 120, rng), rng)
    clips = load_speech_clips(options.corpus, "valid", options.clips, rng)
    print(f"{len(clips)} validation clips; thresholds {thresholds}", flush=True)

    detectors = {NATIVE: native.speech_decisions}
    for name, (detector, _) in BASELINES.items():
        detectors[name] = lambda samples, detector=detector, name=name: detector(samples, thresholds[name])
    results = {}
    for conditions in (
        speech_conditions(clips, options.sequences, options.seed),
        noise_conditions(options.sequences, options.seed),
    ):
        for condition, sequences in conditions:
            results[condition] = {
                name: measure([detect(sequence.samples) for sequence in sequences], sequences)
                for name, detect in detectors.items()
            }
    options.output.mkdir(parents=True, exist_ok=True)
    report = {
        "seed": options.seed,
        "sequences_per_condition": options.sequences,
        "seconds_per_sequence": FRAMES / 100,
        "validation_clips": len(clips),
        "network_ms_per_5_s": cost_ms(),
        "baseline_thresholds": thresholds,
        "conditions": results,
        "core_recall_of_single_clips": {
            "by_label": recall_by(clips, lambda clip: clip.label),
            "by_language": recall_by(clips, lambda clip: clip.language or "unknown"),
            "by_source": recall_by(clips, lambda clip: f"{clip.source} ({clip.label})"),
        },
    }
    (options.output / "vad.json").write_text(json.dumps(report, indent=1) + "\n")
    (options.output / "vad.md").write_text(table(results))
    print(table(results))


if __name__ == "__main__":
    main()
