# SPDX-License-Identifier: Apache-2.0
"""Calibrate the exported detector on the validation split and measure it there, through onnxruntime-node.

    evaluate_detector.py --cache FOLDER --model ../apollo-4-5-2026-03-26.onnx --figures FIGURES.json

Clips below 1 s, which the server refuses, count only in the figures named "with_refused". A clip's score is the mean of its
windows' probabilities, as served; windows are not skipped for silence here.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from corpus_cache import SAMPLE_RATE_HZ, CorpusCache
from figures import area_under_curve, bootstrap_interval, equal_error_point, equal_error_rate
from prepare_corpus import GAP_SAMPLES, through_codec
from serving_windows import score_clips

CONDITIONS = {  # name: (encoder arguments, container, rate the encoder runs at)
    "mp3 32 kbit/s": (["-c:a", "libmp3lame", "-b:a", "32k"], "mp3", 22050),
    "mp3 96 kbit/s": (["-c:a", "libmp3lame", "-b:a", "96k"], "mp3", 44100),
    "aac 48 kbit/s": (["-c:a", "aac", "-b:a", "48k"], "m4a", 44100),
    "opus 16 kbit/s": (["-c:a", "libopus", "-b:a", "16k"], "ogg", 16000),
    "mu-law 8 kHz": (["-c:a", "pcm_mulaw"], "wav", 8000),
}


def group_of(clip):
    """What the sources of variation are: the system of a spoof, the repository of a human clip."""
    return f"spoof/{clip['system']}" if clip["label"] == "spoof" else f"bonafide/{clip['source']}"


def speaker_of(clip):
    return group_of(clip) if clip["label"] == "spoof" else f"bonafide/{clip['source']}/{clip['speaker']}"


def alike(clips, key):
    """Weights that let every group weigh the same within its class."""
    groups = [key(clip) for clip in clips]
    counts = defaultdict(int)
    for group in groups:
        counts[group] += 1
    return np.array([1 / counts[group] for group in groups])


def probabilities(logits, calibration):
    return np.array([np.mean(1 / (1 + np.exp(-(calibration["scale"] * clip + calibration["bias"])))) for clip in logits])


def fit_scale(logits, spoof, weights):
    """Platt's logistic regression by Newton steps, both classes weighing the same; returns (scale, bias)."""
    weights = np.where(spoof, weights / weights[spoof].sum(), weights / weights[~spoof].sum())
    design, parameters = np.stack([logits, np.ones_like(logits)], axis=1), np.array([1.0, 0.0])
    for _ in range(50):
        predicted = 1 / (1 + np.exp(-design @ parameters))
        gradient = design.T @ (weights * (predicted - spoof))
        curvature = (design * (weights * predicted * (1 - predicted))[:, None]).T @ design + 1e-9 * np.eye(2)
        parameters -= np.linalg.solve(curvature, gradient)
    return parameters


def calibrate(logits, clips, spoof):
    """Scale by Platt; bias so that 0.5 is the equal-error point of the clips' scores with groups weighted alike."""
    weights = alike(clips, group_of)
    means = np.array([clip.mean() for clip in logits])
    scale, low, high = fit_scale(means, spoof, weights)[0], -20.0, 20.0
    for _ in range(40):
        bias = (low + high) / 2
        _, threshold = equal_error_point(probabilities(logits, {"scale": scale, "bias": bias}), spoof, weights)
        low, high = (bias, high) if threshold < 0.5 else (low, bias)
    return {"scale": round(float(scale), 4), "bias": round(float(bias), 4)}


def rounded(value):
    return [round(v, 4) for v in value] if isinstance(value, list) else round(float(value), 4)


def with_interval(figure, clips, spoof, rng):
    def of(indices):
        return figure(indices) if spoof[indices].any() and not spoof[indices].all() else None

    groups = np.array([speaker_of(clip) for clip in clips])
    return {"value": rounded(figure(np.arange(len(clips)))),
            "interval_95": rounded(bootstrap_interval(of, len(clips), groups, rng))}


def overall(scores, clips, rng):
    spoof, weights = np.array([clip["label"] == "spoof" for clip in clips]), alike(clips, group_of)
    figures = {
        "eer": lambda i: equal_error_rate(scores[i], spoof[i]),
        "auc": lambda i: area_under_curve(scores[i], spoof[i]),
        "eer_groups_alike": lambda i: equal_error_rate(scores[i], spoof[i], weights[i]),
        "auc_groups_alike": lambda i: area_under_curve(scores[i], spoof[i], weights[i]),
    }
    return {"bonafide_clips": int(np.sum(~spoof)), "spoof_clips": int(spoof.sum()),
            **{name: with_interval(figure, clips, spoof, rng) for name, figure in figures.items()}}


def inside_sources(scores, clips):
    """AUC of the human against the generated clips of one repository, and the mean over such repositories."""
    by_source = defaultdict(lambda: ([], []))
    for value, clip in zip(scores, clips):
        by_source[clip["source"]][clip["label"] == "spoof"].append(value)
    each = {source: rounded(area_under_curve(np.array(human + spoof), np.arange(len(human + spoof)) >= len(human)))
            for source, (human, spoof) in sorted(by_source.items()) if human and spoof}
    return {"mean": rounded(np.mean(list(each.values()))) if each else None, "sources": each}


def errors_by(scores, clips, key):
    """Per group: clips, mean score and the share on the wrong side of 0.5."""
    groups = defaultdict(list)
    for value, clip in zip(scores, clips):
        groups[f"{clip['label']}/{key(clip)}"].append(value >= 0.5 if clip["label"] == "bonafide" else value < 0.5)
    return {name: {"clips": len(wrong), "error_at_0.5": rounded(np.mean(wrong))} for name, wrong in sorted(groups.items())}


def format_family(clip):
    name = clip["original_format"].lower()
    return next((family for family in ("mp3", "opus", "vorbis", "aac", "flac") if family in name), "pcm")


def auc_by_format(scores, clips):
    """Spoofs of one original format against all human clips, and that format's human clips against all spoofs."""
    spoof = np.array([clip["label"] == "spoof" for clip in clips])
    formats = np.array([format_family(clip) for clip in clips])
    figures = {}
    for name in sorted(set(formats)):
        for label, mask in (("spoof", spoof & (formats == name)), ("bonafide", ~spoof & (formats == name))):
            others = ~spoof if label == "spoof" else spoof
            if mask.sum() >= 5:
                figures[f"{label}/{name}"] = {"clips": int(mask.sum()),
                                              "auc": rounded(area_under_curve(scores[mask | others], spoof[mask | others]))}
    return figures


def code_clips(samples_of_clips, condition):
    """All clips as one stream through an encoder and back."""
    arguments, container, rate_hz = condition
    gap = np.zeros(GAP_SAMPLES, np.int16)
    stream = np.concatenate([part for samples in samples_of_clips
                             for part in ((samples * 32768).astype(np.int16), gap)])
    coded = through_codec(stream, ("", arguments, container, None), rate_hz).astype(np.float32) / 32768
    starts = np.cumsum([0] + [len(samples) + GAP_SAMPLES for samples in samples_of_clips])
    return [coded[start:start + len(samples)] for start, samples in zip(starts, samples_of_clips)]


def largest_shift(model, samples, scores, calibration, change):
    moved = probabilities(score_clips(model, map(change, samples)), calibration)
    return {"largest": rounded(np.abs(moved - scores).max()), "mean": rounded(np.abs(moved - scores).mean())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--figures", required=True)
    parser.add_argument("--scores", help="also write every validation clip's score to this CSV")
    options = parser.parse_args()
    rng = np.random.default_rng(20260326)
    cache = CorpusCache(options.cache)
    every = [clip for clip in cache.clips if clip["split"] == "valid"]
    every_logits = score_clips(options.model, (cache.samples(clip) for clip in every))
    served = [index for index, clip in enumerate(every) if clip["samples"] >= SAMPLE_RATE_HZ]
    clips, logits = [every[index] for index in served], [every_logits[index] for index in served]
    spoof = np.array([clip["label"] == "spoof" for clip in clips])
    calibration = calibrate(logits, clips, spoof)
    scores = probabilities(logits, calibration)
    print(f"calibration {calibration}", flush=True)

    metrics = {"measured_on": "validation split of the speech corpus: systems and speakers that training never saw; "
                              "the split also chose the epoch and the calibration",
               "clip": overall(scores, clips, rng),
               "clip_with_refused": overall(probabilities(every_logits, calibration), every, rng),
               "auc_inside_one_source": inside_sources(scores, clips)}
    samples = [cache.samples(clip) for clip in clips]
    metrics["conditions"] = {}
    for name, condition in CONDITIONS.items():
        coded = probabilities(score_clips(options.model, code_clips(samples, condition)), calibration)
        metrics["conditions"][name] = {"eer": rounded(equal_error_rate(coded, spoof)),
                                       "auc": rounded(area_under_curve(coded, spoof)),
                                       "false_alarms_at_0.5": rounded(np.mean(coded[~spoof] >= 0.5)),
                                       "misses_at_0.5": rounded(np.mean(coded[spoof] < 0.5))}
        print(name, metrics["conditions"][name], flush=True)
    some = rng.choice(len(clips), min(200, len(clips)), replace=False)
    few, few_scores = [samples[index] for index in some], scores[some]
    metrics["score_shift_of_200_clips"] = {
        "30 dB quieter": largest_shift(options.model, few, few_scores, calibration, lambda x: x * 10 ** -1.5),
        "0.5 s of silence before": largest_shift(options.model, few, few_scores, calibration,
                                                 lambda x: np.concatenate([np.zeros(8000, np.float32), x])),
    }
    metrics["by_system_and_source"] = errors_by(scores, clips, lambda clip: clip["system"] or clip["source"])
    metrics["by_original_format"] = auc_by_format(scores, clips)
    Path(options.figures).write_text(json.dumps({"calibration": calibration, "metrics": metrics}, indent=1) + "\n")
    if options.scores:
        rows = [f"{clip['path']},{clip['label']},{clip['system'] or clip['source']},{value:.5f}"
                for clip, value in zip(clips, scores)]
        Path(options.scores).write_text("\n".join(["path,label,group,score", *rows]) + "\n")


if __name__ == "__main__":
    main()
