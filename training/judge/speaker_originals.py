# SPDX-License-Identifier: Apache-2.0
"""Measure the speaker model on original recordings of `valid`, and calibrate it there.

    python3 -m judge.speaker_originals recordings --originals ORIGINALS --sources SOURCES --out FOLDER
    python3 -m judge.speaker_originals figures FOLDER --model ../models/ID.onnx [--entry ID] --json FIGURES.json

VERAVOX_CORPUS names the folder with index.csv. People in the training of voiceprint-1-2026-11-21 are excluded, on any
page; train/speaker.py leaves out everybody of `valid`. An enrolment is joined clips of at least 10 s with 3 s of
speech, a sample is other clips of 1, 3 or 5 s of speech, both at two random divisions of a person's clips. Strangers
are people of the same campaign unless a figure's name says otherwise. Three conditions: as recorded; both sides through
their own equaliser, noise and codec; both sides also through their own chain of rates and codecs
(signals/channel_chain.py).

The calibration is fitted on all conditions together, with campaigns weighing alike; the operating point is the lowest
similarity that accepts at most 1 % of all those strangers. For the JSON file both come from everybody. The rates at the
operating point are cross-fitted: the enrolments of each half of the people are judged by the values of the other half.
With --entry both come from a model's entry in the manifest.
"""

import argparse
import json
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np

from data.near_duplicates import fingerprint, group_duplicates
from data.originals_cache import OriginalsCache
from data.speaker_labels import is_one_person, people_of_sources, person_of, unverified_paths
from export.manifest_file import MODELS
from features.recipe import SAMPLE_RATE_HZ
from judge.emotions import NEUTRAL, emotion_of
from judge.figures import equal_error_point, equal_error_rate, fit_scale, rounded
from judge.speaker_figures import embed, similarity, speaker_interval, summary, through_own_channels
from judge.speaker_trials import Recording, all_trials, divide, join_until
from signals.channel_chain import by_server, draw_chain, pass_through

TEST_SPEECH_S = (1.0, 3.0, 5.0)
CHANNEL_SPEECH_S = 5.0
SPLITS = 2
CONDITIONS = ("as recorded", "own channel on each side", "own chain on each side")
FEWEST_PEOPLE = 4  # enrolled people of a campaign
FALSE_ACCEPT_TARGET = 0.01
EMOTION_ENROLMENT_S, EMOTION_SPEECH_S = 5.0, 1.0  # acted sets have few neutral clips


class Audio:
    """Clips of the originals at 16 kHz, with the interface of a cache."""

    def __init__(self, originals):
        self._originals = originals

    def samples(self, clip):
        return by_server(self._originals.samples(clip), clip["rate_hz"], SAMPLE_RATE_HZ).astype(np.float32)


def judged_clips(originals, sources):
    """{(campaign, person): clips}, each recording once."""
    unverified = unverified_paths()
    # The training of voiceprint-1-2026-11-21 used only verified labels of the coded corpus.
    known = {person for _, person in people_of_sources(sources, "train", only_corpus=True).values()}
    groups = defaultdict(list)
    for clip in originals.clips:
        if clip["split"] == "valid" and is_one_person(clip, unverified):
            owner = person_of(clip["repository"], clip["speaker"])
            if owner[1] not in known:
                groups[owner].append(clip)
    for owner, clips in groups.items():
        alike = group_duplicates([fingerprint(originals.samples(clip), clip["rate_hz"]) for clip in clips])
        first = dict(reversed(list(zip(alike.tolist(), clips))))
        groups[owner] = sorted(first.values(), key=lambda clip: clip["path"])
    return dict(sorted(groups.items()))


def acted_recordings(groups, audio):
    """(enrolments of neutral clips, [(emotion, sample)]) of people who have both."""
    enrolments, samples = [], []
    for (campaign, person), clips in groups.items():
        by_emotion = defaultdict(list)
        for clip in clips:
            by_emotion[emotion_of(clip)].append(clip)
        filled = join_until(by_emotion[NEUTRAL], audio, EMOTION_ENROLMENT_S, EMOTION_SPEECH_S)
        if by_emotion[None] or filled is None:
            continue
        count, joined = filled
        rest = {**by_emotion, NEUTRAL: by_emotion[NEUTRAL][count:]}
        del rest[None]
        enrolments.append(Recording(campaign, person, 0, [], joined))
        for emotion, left in sorted(rest.items()):
            while left:
                filled = join_until(left, audio, 1.0, EMOTION_SPEECH_S)
                if filled is None:
                    break
                samples.append((emotion, Recording(campaign, person, 0, [], filled[1])))
                left = left[filled[0] :]
    return enrolments, samples


def through_own_chains(recordings, rng):
    """The samples of each recording through its own chain of rates and codecs."""
    return [
        pass_through([(samples, SAMPLE_RATE_HZ)], draw_chain(rng), rng)[0].astype(np.float32) for samples in recordings
    ]


def make_recordings(options):
    rng, originals = np.random.default_rng(20261122), OriginalsCache(options.originals)
    groups, audio = judged_clips(originals, options.sources), Audio(originals)
    rows, parts = [], []

    def add(role, recordings, condition=CONDITIONS[0], samples=None, seconds=None, emotions=None):
        for index, recording in enumerate(recordings):
            rows.append(
                {
                    "role": role,
                    "condition": condition,
                    "campaign": recording.source,
                    "person": recording.speaker,
                    "split": recording.split,
                    "seconds": seconds,
                    "emotion": emotions[index] if emotions else None,
                }
            )
            own = recording.samples if samples is None else samples[index]
            parts.append(np.clip(np.rint(own * 32768), -32768, 32767).astype(np.int16))

    enrolments, tests = [], defaultdict(list)
    for split in range(SPLITS):
        for owner, clips in groups.items():
            enrolled, divided = divide(owner, clips, audio, split, rng, TEST_SPEECH_S)
            enrolments += [enrolled] if enrolled else []
            for seconds, recordings in divided.items():
                tests[seconds] += recordings
    # A campaign without possible enrolments has no trials.
    campaigns = {enrolment.source for enrolment in enrolments}
    tests = {seconds: [test for test in made if test.source in campaigns] for seconds, made in tests.items()}
    add("enrolment", enrolments)
    for seconds, recordings in tests.items():
        add("sample", recordings, seconds=seconds)
    print(f"{len(enrolments)} enrolments, samples {[len(made) for made in tests.values()]}", flush=True)
    for role, recordings, seconds in (
        ("enrolment", enrolments, None),
        ("sample", tests[CHANNEL_SPEECH_S], CHANNEL_SPEECH_S),
    ):
        changed = through_own_channels(recordings, rng)
        add(role, recordings, CONDITIONS[1], changed, seconds)
        add(role, recordings, CONDITIONS[2], through_own_chains(changed, rng), seconds)
    enrolments, samples = acted_recordings(groups, audio)
    add("neutral", enrolments)
    add("acted", [sample for _, sample in samples], emotions=[emotion for emotion, _ in samples])
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    for row, part in zip(rows, parts):
        row["samples"] = len(part)
    np.concatenate(parts).tofile(folder / "recordings.i16")
    (folder / "recordings.json").write_text(json.dumps(rows))
    print(f"{len(rows)} recordings, {sum(map(len, parts)) / SAMPLE_RATE_HZ / 3600:.1f} h")


class Judged:
    """Recordings and their embeddings by one model."""

    def __init__(self, folder, model):
        self.rows = json.loads((Path(folder) / "recordings.json").read_text())
        audio = np.memmap(Path(folder) / "recordings.i16", np.int16, mode="r")
        ends = np.cumsum([row["samples"] for row in self.rows])
        self.vectors = embed(
            model,
            (audio[end - row["samples"] : end].astype(np.float32) / 32768 for row, end in zip(self.rows, ends)),
        )

    def _where(self, **wanted):
        return [i for i, row in enumerate(self.rows) if all(row[name] == value for name, value in wanted.items())]

    def trials(self, condition, seconds):
        """(cosines, Trials, enrolments, samples)"""
        indices = (
            self._where(role="enrolment", condition=condition),
            self._where(role="sample", condition=condition, seconds=seconds),
        )
        enrolments, samples = (
            [
                Recording(row["campaign"], row["person"], row["split"], [], None)
                for row in (self.rows[index] for index in part)
            ]
            for part in indices
        )
        trials = all_trials(enrolments, samples)
        first, second = self.vectors[indices[0]], self.vectors[indices[1]]
        return np.sum(first[trials.enrolled] * second[trials.tested], axis=1), trials, enrolments, samples

    def acted(self):
        """(cosines, emotions, campaigns, people) of neutral enrolments against acted samples of the same person, and
        the same of strangers of the campaign."""
        found = {True: [], False: []}
        for first in self._where(role="neutral"):
            for second in self._where(role="acted", campaign=self.rows[first]["campaign"]):
                sample = self.rows[second]
                same = sample["person"] == self.rows[first]["person"]
                cosine = float(self.vectors[first] @ self.vectors[second])
                found[same].append((cosine, sample["emotion"], sample["campaign"], self.rows[first]["person"]))
        return found


def large_campaigns(trials, enrolments):
    """Trials whose campaign has enough people, and the campaign of each trial."""
    campaigns = np.array([enrolment.source for enrolment in enrolments])[trials.enrolled]
    people = np.array([enrolment.speaker for enrolment in enrolments])[trials.enrolled]
    large = [name for name in np.unique(campaigns) if len(np.unique(people[campaigns == name])) >= FEWEST_PEOPLE]
    return np.isin(campaigns, large), campaigns


def alike(labels, same):
    """Weights under which every label counts the same among the same speakers, and among strangers."""
    weights = np.zeros(len(labels))
    for name in np.unique(labels):
        for kind in (same, ~same):
            mask = (labels == name) & kind
            weights[mask] = 1 / max(1, mask.sum())
    return weights


def fold_of(person):
    return zlib.crc32(person.encode()) % 2


class Pool:
    """All trials of large campaigns inside one campaign, of all conditions and durations."""

    def __init__(self, judged):
        columns = defaultdict(list)
        wanted = [(CONDITIONS[0], seconds) for seconds in TEST_SPEECH_S]
        wanted += [(condition, CHANNEL_SPEECH_S) for condition in CONDITIONS[1:]]
        for condition, seconds in wanted:
            cosines, trials, enrolments, _ = judged.trials(condition, seconds)
            large, campaigns = large_campaigns(trials, enrolments)
            kept = large & trials.one_source
            columns["cosines"].append(cosines[kept])
            columns["same"].append(trials.same[kept])
            columns["labels"].append(np.array([f"{condition} {seconds} {name}" for name in campaigns[kept]]))
            people = np.array([enrolment.speaker for enrolment in enrolments])[trials.enrolled[kept]]
            columns["folds"].append(np.array([fold_of(person) for person in people]))
        for name, values in columns.items():
            setattr(self, name, np.concatenate(values))

    def fitted(self, fold=None):
        """(calibration, operating point) from the trials of one fold, or of both."""
        mask = np.ones(len(self.same), bool) if fold is None else self.folds == fold
        cosines, same = self.cosines[mask], self.same[mask]
        weights = alike(self.labels[mask], same)
        # By logistic regression; both errors are then equal at 0.5.
        scale = float(fit_scale(cosines, same, weights)[0])
        threshold = -equal_error_point(-cosines, ~same, weights)[1]
        calibration = {"scale": round(scale, 4), "bias": round(-scale * threshold, 4)}
        strangers = similarity(cosines[~same], calibration)
        point = next(
            point
            for point in np.round(np.arange(0.5, 1.0, 0.01), 2)
            if np.mean(strangers >= point) <= FALSE_ACCEPT_TARGET
        )
        return calibration, float(point)


def decided(cosines, trials, enrolments, decisions):
    """Accepted trials; `decisions`: (calibration, operating point) for each fold of enrolled people."""
    folds = np.array([fold_of(enrolment.speaker) for enrolment in enrolments])[trials.enrolled]
    accepted = np.zeros(len(cosines), bool)
    for fold, (calibration, point) in enumerate(decisions):
        accepted[folds == fold] = similarity(cosines[folds == fold], calibration) >= point
    return accepted


def share(values):
    return rounded(np.mean(values)) if len(values) else None


def condition_figures(judged, condition, seconds, decisions, rng):
    cosines, trials, enrolments, samples = judged.trials(condition, seconds)
    accepted = decided(cosines, trials, enrolments, decisions)
    large, campaigns = large_campaigns(trials, enrolments)
    inside = large & trials.one_source
    part = trials.where(inside)
    weights = alike(campaigns[inside], part.same)
    strangers = ~part.same

    def interval(kind, of):
        """Share of `of` among the trials of one kind."""
        return speaker_interval(
            lambda drawn: float(np.average(of[kind], weights=drawn[kind])), part, enrolments, samples, rng
        )

    figures = {
        "test_speech_s": seconds,
        **summary(cosines[inside], part, enrolments, samples, rng),
        "eer_campaigns_alike": rounded(equal_error_rate(-cosines[inside], strangers, weights)),
        "at_operating_point": {
            "false_accepts": share(accepted[inside][strangers]),
            "false_accepts_interval_95": interval(strangers, accepted[inside]),
            "false_accepts_campaigns_alike": rounded(
                np.average(accepted[inside][strangers], weights=weights[strangers])
            ),
            "false_accepts_of_other_campaigns": share(accepted[~trials.one_source]),
            "false_rejects": share(~accepted[inside][part.same]),
            "false_rejects_interval_95": interval(part.same, ~accepted[inside]),
            "false_rejects_campaigns_alike": rounded(
                np.average(~accepted[inside][part.same], weights=weights[part.same])
            ),
        },
        "by_campaign": {},
    }
    for campaign in np.unique(campaigns[inside]):
        mask = inside & (campaigns == campaign)
        own = trials.where(mask)
        figures["by_campaign"][str(campaign)] = {
            **summary(cosines[mask], own, enrolments, samples),
            "false_accepts": share(accepted[mask][~own.same]),
            "false_rejects": share(~accepted[mask][own.same]),
        }
    return figures


def acted_figures(judged, calibration, point):
    found, figures = judged.acted(), {}
    names = sorted({(campaign, emotion) for _, emotion, campaign, _ in found[True]})
    for campaign, emotion in names:
        own, strangers = (
            [entry for entry in found[same] if entry[1] == emotion and entry[2] == campaign] for same in (True, False)
        )
        accepted = lambda entries: similarity(np.array([entry[0] for entry in entries]), calibration) >= point
        figures.setdefault(campaign, {})[emotion] = {
            "people": len({person for *_, person in own}),
            "same_speaker_trials": len(own),
            "false_rejects": share(~accepted(own)),
            "mean_cosine": rounded(np.mean([cosine for cosine, *_ in own])),
            "strangers": len(strangers),
            "false_accepts": share(accepted(strangers)) if strangers else None,
        }
    return figures


def measure(options):
    rng, judged = np.random.default_rng(20261122), Judged(options.folder, options.model)
    pool = Pool(judged)
    if options.entry:
        manifest = json.loads((Path(options.models) / "manifest.json").read_text())
        entry = next(model for model in manifest["models"] if model["id"] == options.entry)
        calibration, point = entry["calibration"], entry["operating_point"]
        decisions = [(calibration, point)] * 2
    else:
        calibration, point = pool.fitted()
        decisions = [pool.fitted(1), pool.fitted(0)]
    print(calibration, point, decisions, flush=True)
    wanted = [(CONDITIONS[0], seconds) for seconds in TEST_SPEECH_S]
    wanted += [(condition, CHANNEL_SPEECH_S) for condition in CONDITIONS[1:]]
    conditions = defaultdict(list)
    for condition, seconds in wanted:
        made = condition_figures(judged, condition, seconds, decisions, rng)
        conditions[condition].append(made)
        print(condition, json.dumps({name: made[name] for name in made if name != "by_campaign"}), flush=True)
    spread = similarity(pool.cosines, calibration)
    metrics = {
        "measured_on": "originals of `valid`, people whom training did not see, strangers of the same campaign; "
        "rates at the operating point cross-fitted over two halves of the people",
        "conditions": conditions,
        "at_similarity": {
            f"{value:.1f}": {
                "false_accepts": share(similarity(pool.cosines[~pool.same], calibration) >= value),
                "false_rejects": share(similarity(pool.cosines[pool.same], calibration) < value),
            }
            for value in np.arange(0.3, 1.0, 0.1)
        },
        "acted_emotions": acted_figures(judged, calibration, point),
        "similarity_percentiles_5_50_95": {
            kind: [float(f"{value:.4g}") for value in np.percentile(spread[mask], [5, 50, 95])]
            for kind, mask in (("same", pool.same), ("strangers", ~pool.same))
        },
    }
    print(json.dumps(metrics["acted_emotions"]), json.dumps(metrics["similarity_percentiles_5_50_95"]))
    Path(options.json).write_text(
        json.dumps({"calibration": calibration, "operating_point": point, "metrics": metrics}, indent=1) + "\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("recordings")
    making.add_argument("--originals", required=True)
    making.add_argument("--sources", required=True)
    making.add_argument("--out", required=True)
    making.set_defaults(run=make_recordings)
    figures = commands.add_parser("figures")
    figures.add_argument("folder")
    figures.add_argument("--model", required=True)
    figures.add_argument("--entry")
    figures.add_argument("--models", default=MODELS)
    figures.add_argument("--json", required=True)
    figures.set_defaults(run=measure)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
