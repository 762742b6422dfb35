# SPDX-License-Identifier: Apache-2.0
"""Distances of copies from their recordings, and clues that reveal them.

    python3 -m resynthesis.quality --material MATERIAL --runs RUN .. [--decoder RUN] [--clips 300] [--steps STEP ..]
        [--originals ORIGINALS] [--pairs PAIRS]

Per run and kept weights, at 16 kHz, as for a detector, without blends of copy and recording:

lsd        log spectral distance in dB, of frames within 40 dB of the loudest
loudness   mean difference of loudness in 24 critical bands, in per cent of the recording's: what PESQ starts from
sc         spectral convergence, the mean of three resolutions
lag        95th percentile of how late or early a copy is, in ms
floor      AUC of boosting on level, band energies and duration (judge.trivial_floor), pages kept apart
probe      AUC of a linear classifier on means and deviations of fine structure and phase in 32 bands, pages kept apart
transfer   AUC of the same classifier, trained on these copies and their recordings, on copies by published vocoders and
           codecs beside human clips of the same pages (`train` of --originals), none of which it has learnt from

A perfect copy has 0.5 in `floor` and `probe`. `transfer` shows whether its traces resemble those of others.

--pairs writes recordings and copies of the last run and weights to PAIRS, a new folder, at the generator's rate, with
list.csv for `veravox evaluate`, to count the copies that a detector flags.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from data.make_neural_copies import lag_samples, log_spectral_distance_db
from data.originals_cache import OriginalsCache, write_table, write_wave
from data.prepare_chains import as_int16
from features.recipe import SAMPLE_RATE_HZ
from judge.trivial_floor import trivial_numbers
from resynthesis.copier import Copier, kept_steps, load_generator
from resynthesis.make_copies import choose_clips
from resynthesis.material import Material, at_rate
from resynthesis.spectra import stft

BANDS, FFT_SIZE, HOP, FOLDS, SEED = 32, 512, 128, 5, 20261122
PUBLISHED = ("vocoder", "codec")
LOUDNESS_EDGES_HZ = [
    *(0, 100, 200, 300, 400, 510, 630, 770, 920, 1080, 1270, 1480, 1720, 2000, 2320, 2700, 3150, 3700, 4400, 5300),
    *(6400, 7000, 7500, 8000),
]


def to_server_rate(samples, rate_hz):
    return samples if rate_hz == SAMPLE_RATE_HZ else at_rate(samples, rate_hz, SAMPLE_RATE_HZ)


def spectrum(samples, fft_size=FFT_SIZE):
    return stft(torch.from_numpy(np.ascontiguousarray(samples))[None], fft_size, fft_size // 4)[0].numpy()


def spectral_convergence(copy, human):
    found = []
    for fft_size in (256, 512, 1024):
        ours, theirs = (np.abs(spectrum(part, fft_size)) for part in (copy, human))
        found.append(np.linalg.norm(ours - theirs) / (np.linalg.norm(theirs) + 1e-9))
    return float(np.mean(found))


def loudness_distance(copy, human):
    """Per cent."""
    edges = np.array(LOUDNESS_EDGES_HZ) * FFT_SIZE // SAMPLE_RATE_HZ
    ours, theirs = (np.add.reduceat(np.abs(spectrum(part)) ** 2, edges[:-1], axis=0) ** 0.23 for part in (copy, human))
    return float(100 * np.abs(ours - theirs).sum() / (theirs.sum() + 1e-9))


def fine_structure(samples):
    """float [5 * BANDS]: differences of a band's bins among themselves and from frame to frame, and deviations of
    phases from steady tones; independent of level and long-term spectrum."""
    complex_bins = spectrum(samples)[1 : FFT_SIZE // 2 + 1]
    log_power = np.log(np.abs(complex_bins) ** 2 + 1e-9)
    heard = log_power.max(0) > log_power.max() - 9.2
    if heard.sum() < 8:
        heard[:] = True
    bands = lambda values: values.reshape(BANDS, -1, values.shape[-1])
    across = np.diff(log_power, axis=0, append=log_power[-1:])
    along = np.diff(log_power, axis=1, prepend=log_power[:, :1])
    phase = np.angle(complex_bins)
    advance = np.diff(phase, n=2, axis=1, prepend=phase[:, :2])
    turned = np.exp(1j * advance)
    numbers = [
        np.abs(bands(across)[..., heard]).mean((1, 2)),
        np.abs(bands(along)[..., heard]).mean((1, 2)),
        bands(log_power)[..., heard].std(1).mean(1),
        np.abs(bands(turned)[..., heard].mean(1)).mean(1),
        np.maximum(0, -bands(across)[..., heard]).std((1, 2)),
    ]
    return np.concatenate(numbers)


def auc(scores, is_copy):
    return float(roc_auc_score(is_copy, scores))


def linear():
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.03, max_iter=500, class_weight="balanced"))


def boosting():
    return HistGradientBoostingClassifier(max_iter=100, learning_rate=0.05, min_samples_leaf=10, random_state=0)


def given_away(make_model, humans, copies, pages):
    """AUC over folds of pages; a recording and its copy are in the same fold."""
    numbers, groups = np.concatenate([humans, copies]), np.concatenate([pages, pages])
    is_copy = np.arange(len(numbers)) >= len(humans)
    scores = np.zeros(len(numbers))
    for training, testing in GroupKFold(min(FOLDS, len(set(pages)))).split(numbers, is_copy, groups):
        scores[testing] = make_model().fit(numbers[training], is_copy[training]).predict_proba(numbers[testing])[:, 1]
    return auc(scores, is_copy)


def published_copies(originals, limit=600):
    """(numbers, is_copy, pages) of copies by published systems, and of human clips of the same pages."""
    cache = OriginalsCache(originals)
    clips = [clip for clip in cache.clips if clip["split"] == "train" and clip["rate_hz"] >= SAMPLE_RATE_HZ]
    copies = [clip for clip in clips if clip["category"] in PUBLISHED and clip["label"] == "spoof"]
    pages = {clip["repository"] for clip in copies}
    humans = [clip for clip in clips if clip["label"] == "bonafide" and clip["repository"] in pages]
    pages &= {clip["repository"] for clip in humans}
    rng, numbers, is_copy = np.random.default_rng(SEED), [], []
    for label, found in enumerate((humans, copies)):
        found = [clip for clip in found if clip["repository"] in pages and clip["samples"] >= clip["rate_hz"]]
        for index in rng.permutation(len(found))[:limit]:
            samples = cache.samples(found[index])[: 12 * found[index]["rate_hz"]]
            numbers.append(fine_structure(to_server_rate(samples, found[index]["rate_hz"])))
            is_copy.append(bool(label))
    return np.stack(numbers), np.array(is_copy), pages


def measure(pairs, pages, published=None):
    """{name: figure} of [(human, copy)] at 16 kHz."""
    humans, copies = (np.stack([fine_structure(pair[side]) for pair in pairs]) for side in (0, 1))
    trivial = [np.stack([trivial_numbers(pair[side]) for pair in pairs]) for side in (0, 1)]
    lags = [abs(lag_samples(copy, human)) / 16 for human, copy in pairs]
    made = {
        "lsd": np.mean([log_spectral_distance_db(copy, human) for human, copy in pairs]),
        "loudness": np.mean([loudness_distance(copy, human) for human, copy in pairs]),
        "sc": np.mean([spectral_convergence(copy, human) for human, copy in pairs]),
        "lag": np.quantile(lags, 0.95),
        "floor": given_away(boosting, *trivial, pages),
        "probe": given_away(linear, humans, copies, pages),
    }
    if published:
        numbers, published_is_copy, published_pages = published
        others = [page not in published_pages for page in pages]
        is_copy = np.repeat([False, True], sum(others))
        model = linear().fit(np.concatenate([humans[others], copies[others]]), is_copy)
        made["transfer"] = auc(model.predict_proba(numbers)[:, 1], published_is_copy)
    return {name: float(value) for name, value in made.items()}


def write_pairs(folder, system, clips, pairs, rate_hz):
    """`pairs`: (recording, copy) of each clip. Raises FileExistsError for an existing folder."""
    folder.mkdir(parents=True)
    rows = []
    for number, (clip, pair) in enumerate(zip(clips, pairs)):
        for label, samples in zip(("bonafide", "spoof"), pair):
            path = f"{number:04d}-{label}.wav"
            write_wave(folder / path, as_int16(samples), rate_hz)
            made_by = system if label == "spoof" else ""
            rows.append({"path": path, "label": label, "source": clip["repository"], "system": made_by})
    write_table(folder / "list.csv", list(rows[0]), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--material", required=True)
    parser.add_argument("--runs", nargs="+", required=True)
    parser.add_argument("--decoder")
    parser.add_argument("--originals")
    parser.add_argument("--clips", type=int, default=300)
    parser.add_argument("--steps", type=int, nargs="+")
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--books", type=int, help="codebooks; all without this")
    options = parser.parse_args()
    if options.pairs and options.pairs.exists():
        parser.error(f"{options.pairs} is there already")
    torch.set_num_threads(1)
    published = published_copies(options.originals) if options.originals else None
    for run in options.runs:
        for step in options.steps or kept_steps(run):
            generator, settings = load_generator(run, step)
            rate_hz = settings["frames"]["rate_hz"]
            decoder = load_generator(options.decoder)[0] if options.decoder else None
            copier, material = Copier(generator, rate_hz, decoder), Material(Path(options.material, str(rate_hz)))
            clips, pairs = choose_clips(material, options.clips, SEED), []
            for number, clip in enumerate(clips):
                human = material.samples(clip)
                copy = copier.copy(human, material.pulses(clip), number, books=options.books)
                pairs.append((human, copy.astype(np.float32)))
            heard = [tuple(to_server_rate(samples, rate_hz) for samples in pair) for pair in pairs]
            figures = measure(heard, np.array([clip["repository"] for clip in clips]), published)
            print(settings["name"], step, *(f"{name} {value:.3f}" for name, value in figures.items()), flush=True)
    if options.pairs:
        write_pairs(options.pairs, settings["name"], clips, pairs, rate_hz)


if __name__ == "__main__":
    main()
