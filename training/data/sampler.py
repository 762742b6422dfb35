# SPDX-License-Identifier: Apache-2.0
"""Draws training crops such that neither recording set nor length nor codec tells the classes apart."""

from collections import defaultdict

import numpy as np

from data.balance import WeightedClips, balanced
from features.recipe import SAMPLE_RATE_HZ
from signals.augmentation import augment

SYSTEM_POWER = 0.3  # of a system's clip count: 0 would weigh all systems alike, 1 all clips
FAMILY_POWER = 0.5  # of the number of systems in a family of originals, which reduces the weight of each
SOURCE_POWER = 0.5
COPY_PAIR_SHARE = 0.1  # of the pairs: our own copy-synthesis of a human crop, with that crop
PUBLISHED_PAIR_SHARE = 0.3  # of the pairs: a published copy of a recording and the recording, cut and changed alike
VOCODER_COPY_WEIGHT = 2.0  # of a vocoder among those, against 1 of a conversion or codec: its copies pass most
NEURAL_COPY_WEIGHT = 3.0  # of a system of neural copies, against 1 of a classical one
ENGINE_SHARE = 0.06  # of the pairs: a speech engine of the operating system
SAME_REPOSITORY_SHARE = 0.5
CODEC_SHARE = 0.5
WINDOW_SECONDS, WINDOW_SHARES = [2.0, 3.0, 5.0], [0.2, 0.6, 0.2]
OWN_SPOOFS = ("own-copy-synthesis", "speech-engine")  # categories of clips from outside the corpus
PARTS = ["augmentation", "enhancement"]  # parts that a run can omit


def is_neural_copy(system):
    return system.startswith("copy-neural")


def repeat_to_length(samples, count):
    """Fills an incomplete window of the speaker model, as in serving: repeats its samples from the start."""
    return np.resize(samples, count)


def repeat_sound(samples, count):
    """Fills a detector's window, as in serving: repeats the part between the first and the last sample within 60 dB of
    the loudest. Digital silence around a recording changes nothing."""
    magnitudes = np.abs(samples)
    heard = np.flatnonzero(magnitudes >= np.float32(1e-3) * magnitudes.max())
    return np.resize(samples[heard[0] : heard[-1] + 1], count)


def _normalised(weights):
    weights = np.asarray(weights, dtype=np.float64)
    return weights / weights.sum()


class _WeightedGroups:
    """Groups of groups of clips: draws a group by weight, then a subgroup and a clip evenly."""

    def __init__(self, clips, group_key, subgroup_key, weight):
        groups = defaultdict(lambda: defaultdict(list))
        for clip in clips:
            groups[clip[group_key]][clip[subgroup_key]].append(clip)
        self.names = list(groups)
        self._groups = [list(subgroups.values()) for subgroups in groups.values()]
        counts = [sum(map(len, subgroups)) for subgroups in self._groups]
        self.shares = _normalised([weight(name, count) for name, count in zip(self.names, counts)])

    def probabilities(self):
        """{path: probability of each draw()}"""
        return {
            clip["path"]: share / len(subgroups) / len(clips)
            for share, subgroups in zip(self.shares, self._groups)
            for clips in subgroups
            for clip in clips
        }

    def draw(self, rng):
        subgroups = self._groups[rng.choice(len(self._groups), p=self.shares)]
        clips = subgroups[rng.integers(len(subgroups))]
        return clips[rng.integers(len(clips))]


def _by_family(spoofs):
    """Like SYSTEM_POWER, but systems of one vocoder or family count less, the more of them there are."""
    systems = defaultdict(set)
    for clip in spoofs:
        systems[clip["family"] or clip["system"]].add(clip["system"])
    families = {clip["system"]: clip["family"] or clip["system"] for clip in spoofs}
    return lambda name, count: count**SYSTEM_POWER / len(systems[families[name]]) ** FAMILY_POWER


def _vocoders_first(spoofs):
    """Like _by_family, with VOCODER_COPY_WEIGHT for systems of that category."""
    weight, vocoders = _by_family(spoofs), {clip["system"] for clip in spoofs if clip["category"] == "vocoder"}
    return lambda name, count: weight(name, count) * (VOCODER_COPY_WEIGHT if name in vocoders else 1.0)


class CropSampler:
    """batch(i) depends only on the arguments and i, so that workers may share the work in any way. `without`: some of
    PARTS."""

    def __init__(self, cache, seed, batch_size, without=()):
        self._cache, self._seed, self._batch_size, self._without = cache, seed, batch_size, without
        train = [clip for clip in cache.clips if clip["split"] == "train"]
        spoofs = [
            clip
            for clip in train
            if clip["label"] == "spoof"
            and clip["category"] not in OWN_SPOOFS
            and not ("enhancement" in without and clip["category"] == "enhancement")
        ]
        copies = [clip for clip in train if clip["category"] == "own-copy-synthesis"]
        engines = [clip for clip in train if clip["category"] == "speech-engine"]
        humans = [clip for clip in train if clip["label"] == "bonafide"]
        is_original = bool(train[0].get("rate_hz"))
        weight = _by_family(spoofs) if is_original else lambda _, count: count**SYSTEM_POWER
        self._spoofs = _WeightedGroups(spoofs, "system", "source", weight)
        self._copies = (
            _WeightedGroups(
                copies,
                "system",
                "source",
                lambda name, _: NEURAL_COPY_WEIGHT if is_neural_copy(name) else 1.0,
            )
            if copies
            else None
        )
        self._engines = _WeightedGroups(engines, "system", "source", lambda _, count: 1.0) if engines else None
        self._by_path = by_path = {clip["path"]: clip for clip in humans}
        paired_spoofs = [clip for clip in spoofs if cache.originals.get(clip["path"], ("",))[0] in by_path]
        self._published = (
            _WeightedGroups(paired_spoofs, "system", "source", _vocoders_first(paired_spoofs))
            if paired_spoofs
            else None
        )
        self._humans = _WeightedGroups(humans, "source", "speaker", lambda _, count: count**SOURCE_POWER)
        source_mass = self._spoof_mass_by_source(spoofs)
        paired = [clip for clip in humans if clip["source"] in source_mass]
        # Half of the human crops follow the spoofs over the repositories: there only the synthesis differs.
        self._paired_humans = _WeightedGroups(paired, "source", "speaker", lambda name, _: source_mass[name])
        if is_original:
            self._balance(humans, spoofs)

    def _balance(self, humans, spoofs):
        """Joins both kinds of human draws, with the same rates and languages in both classes."""
        for clip in humans + spoofs:
            clip["rate_hz"] = int(clip["rate_hz"])
        spread, paired, spoof = (groups.probabilities() for groups in (self._humans, self._paired_humans, self._spoofs))
        human_probabilities = [
            (1 - SAME_REPOSITORY_SHARE) * spread[clip["path"]] + SAME_REPOSITORY_SHARE * paired.get(clip["path"], 0)
            for clip in humans
        ]
        human_probabilities, spoof_probabilities = balanced(
            humans, human_probabilities, spoofs, [spoof[clip["path"]] for clip in spoofs]
        )
        self._humans = self._paired_humans = WeightedClips(humans, human_probabilities)
        self._spoofs = WeightedClips(spoofs, spoof_probabilities)

    def _spoof_mass_by_source(self, spoofs):
        sources = defaultdict(list)
        for clip in spoofs:
            if clip["source"] not in sources[clip["system"]]:
                sources[clip["system"]].append(clip["source"])
        mass = defaultdict(float)
        for system, share in zip(self._spoofs.names, self._spoofs.shares):
            for source in sources[system]:
                mass[source] += share / len(sources[system])
        return mass

    def _draw_length(self, window_samples, rng):
        # The length is drawn before the clip, which must be long enough: many human clips are single words, unlike
        # spoofs.
        kind = rng.random()
        if kind < 0.15:
            return int(rng.uniform(0.9, 1.2) * SAMPLE_RATE_HZ)
        if kind < 0.4:
            return int(rng.uniform(1.0, window_samples / SAMPLE_RATE_HZ) * SAMPLE_RATE_HZ)
        return window_samples

    def _draw_long_enough(self, groups, length, rng):
        for _ in range(30):
            clip = groups.draw(rng)
            if clip["samples"] >= 0.95 * length:
                break
        return clip

    def _cut(self, clip, start, count, window_samples, rng):
        variant = int(rng.integers(1, self._cache.variants)) if rng.random() < CODEC_SHARE else 0
        samples = self._cache.samples(clip, variant, start, count)
        if rng.random() < 0.2:
            silence = int(rng.uniform(0, 0.3) * len(samples))
            samples = np.roll(samples, silence)
            samples[:silence] = 0
        if "augmentation" not in self._without:
            samples = augment(samples, rng)
        # Also after the channel: players and editors pad with digital silence.
        if rng.random() < 0.15:
            silence = int(rng.uniform(0, 0.25) * len(samples))
            samples = np.roll(samples, silence)
            samples[:silence] = 0
        if rng.random() < 0.1:
            samples[len(samples) - int(rng.uniform(0, 0.3) * len(samples)) :] = 0
        return repeat_sound(samples, window_samples)

    def _draw_crop(self, groups, window_samples, rng):
        length = self._draw_length(window_samples, rng)
        clip = self._draw_long_enough(groups, length, rng)
        start = int(rng.integers(max(1, clip["samples"] - length + 1)))
        return self._cut(clip, start, min(length, clip["samples"]), window_samples, rng)

    def _draw_copy_pair(self, window_samples, rng):
        """A human crop and the same crop of its copy, equally augmented, so that only the vocoder differs."""
        length = self._draw_length(window_samples, rng)
        copy = self._draw_long_enough(self._copies, length, rng)
        human = self._by_path[copy["path"].split(":", 1)[1]]
        start, seed = int(rng.integers(max(1, copy["samples"] - length + 1))), int(rng.integers(1 << 62))
        return [
            self._cut(clip, start, min(length, copy["samples"]), window_samples, np.random.default_rng(seed))
            for clip in (human, copy)
        ]

    def _draw_published_pair(self, window_samples, rng):
        """A published copy and its original over the same time, equally augmented."""
        length = self._draw_length(window_samples, rng)
        copy = self._draw_long_enough(self._published, length, rng)
        path, behind = self._cache.originals[copy["path"]]
        human = self._by_path[path]
        count = min(length, copy["samples"], human["samples"])
        start, seed = int(rng.integers(copy["samples"] - count + 1)), int(rng.integers(1 << 62))
        human_start = min(max(0, start + behind), human["samples"] - count)
        return [
            self._cut(clip, first, count, window_samples, np.random.default_rng(seed))
            for clip, first in ((human, human_start), (copy, start))
        ]

    def _draw_pair(self, window_samples, rng):
        kind = rng.random()
        if self._copies and kind < COPY_PAIR_SHARE:
            return self._draw_copy_pair(window_samples, rng)
        if self._published and COPY_PAIR_SHARE <= kind < COPY_PAIR_SHARE + PUBLISHED_PAIR_SHARE:
            return self._draw_published_pair(window_samples, rng)
        engine = self._engines and kind >= 1 - ENGINE_SHARE
        humans = self._paired_humans if rng.random() < SAME_REPOSITORY_SHARE else self._humans
        return [
            self._draw_crop(groups, window_samples, rng)
            for groups in (humans, self._engines if engine else self._spoofs)
        ]

    def batch(self, index, window_samples=None):
        """(samples [batch, window], labels [batch] with 1 = spoof); window lengths differ between batches by
        default."""
        rng = np.random.default_rng([self._seed, index])
        drawn_samples = int(rng.choice(WINDOW_SECONDS, p=WINDOW_SHARES) * SAMPLE_RATE_HZ)
        window_samples = window_samples or drawn_samples
        crops = [crop for _ in range(self._batch_size // 2) for crop in self._draw_pair(window_samples, rng)]
        return np.stack(crops), (np.arange(len(crops)) % 2).astype(np.float32)
