# SPDX-License-Identifier: Apache-2.0
"""Draws training crops such that neither recording set nor length nor codec tells the classes apart."""

import zlib
from collections import defaultdict

import numpy as np

from data.balance import WeightedClips, balanced
from features.recipe import SAMPLE_RATE_HZ
from signals.augmentation import CHANGES, augment

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
# Parts that an ablation can omit; "copies" are both kinds.
PARTS = [
    "classical-copies",
    "neural-copies",
    "copies",
    "published-copies",
    "engines",
    "codecs",
    "augmentation",
    "same-repository",
    "enhancement",
]


def fold_of(source, folds):
    """The fold of a source; one source's human, generated and copied clips are always together."""
    return zlib.crc32(source.encode()) % folds


def hold_out_option(text):
    """(1, 5) of the argument 2/5."""
    fold, folds = map(int, text.split("/"))
    if not 1 <= fold <= folds:
        raise ValueError(text)
    return fold - 1, folds


def change_option(text):
    """("room", 0.25) of the argument room=0.25."""
    name, share = text.split("=")
    if name not in CHANGES or not 0 <= float(share) <= 1:
        raise ValueError(text)
    return name, float(share)


def add_changes_option(parser):
    parser.add_argument(
        "--changes",
        nargs="+",
        type=change_option,
        default=[],
        metavar="NAME=SHARE",
        help=f"what such shares of the crops go through, in the order given: {', '.join(CHANGES)}",
    )


def named_changes(shares):
    """The `changes` of CropSampler and of window_curves/bank.py, from pairs of (name in CHANGES, share)."""
    return [(share, CHANGES[name]) for name, share in shares]


def is_in_fold(clip, fold):
    """`fold` is (index, number of folds)."""
    return fold_of(clip["source"], fold[1]) == fold[0]


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
    PARTS; `held_out` is None or (fold, folds): sources of that fold are not drawn. `changes`: pairs of a share of the
    crops and a function of samples and a Generator, applied in this order before augment(). `pair_shares`: of the
    pairs, the shares of a human crop with our copy of it, and of a published copy with its original; there only the
    synthesis tells the classes apart."""

    def __init__(
        self,
        cache,
        seed,
        batch_size,
        without=(),
        held_out=None,
        changes=(),
        pair_shares=(COPY_PAIR_SHARE, PUBLISHED_PAIR_SHARE),
    ):
        self._cache, self._seed, self._batch_size, self._without = cache, seed, batch_size, without
        self._changes = changes
        self._copy_share, self._published_share = pair_shares
        train = [
            clip for clip in cache.clips if clip["split"] == "train" and not (held_out and is_in_fold(clip, held_out))
        ]
        spoofs = [
            clip
            for clip in train
            if clip["label"] == "spoof"
            and clip["category"] not in OWN_SPOOFS
            and not ("enhancement" in without and clip["category"] == "enhancement")
        ]
        copies = [
            clip
            for clip in train
            if clip["category"] == "own-copy-synthesis"
            and "copies" not in without
            and ("neural-copies" if is_neural_copy(clip["system"]) else "classical-copies") not in without
        ]
        engines = [clip for clip in train if clip["category"] == "speech-engine" and "engines" not in without]
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
            if paired_spoofs and "published-copies" not in without
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
        share = 0 if "same-repository" in self._without else SAME_REPOSITORY_SHARE
        spread, paired, spoof = (groups.probabilities() for groups in (self._humans, self._paired_humans, self._spoofs))
        human_probabilities = [
            (1 - share) * spread[clip["path"]] + share * paired.get(clip["path"], 0) for clip in humans
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
        coded = "codecs" not in self._without and rng.random() < CODEC_SHARE
        variant = int(rng.integers(1, self._cache.variants)) if coded else 0
        samples = self._cache.samples(clip, variant, start, count)
        if rng.random() < 0.2:
            silence = int(rng.uniform(0, 0.3) * len(samples))
            samples = np.roll(samples, silence)
            samples[:silence] = 0
        for share, change in self._changes:
            if rng.random() < share:
                samples = change(samples, rng)
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
        if self._copies and kind < self._copy_share:
            return self._draw_copy_pair(window_samples, rng)
        if self._published and self._copy_share <= kind < self._copy_share + self._published_share:
            return self._draw_published_pair(window_samples, rng)
        engine = self._engines and kind >= 1 - ENGINE_SHARE
        same_repository = "same-repository" not in self._without and rng.random() < SAME_REPOSITORY_SHARE
        humans = self._paired_humans if same_repository else self._humans
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
