# SPDX-License-Identifier: Apache-2.0
"""Speakers of original recordings: labels that name one person, and one name per person across pages."""

import csv
import os
import re
from collections import defaultdict
from pathlib import Path

# Pages whose `speaker` is a language, a room, a group or a kind of voice: a label may cover several people, or a person
# have several labels.
NOT_PEOPLE = {
    "KDE/artikulate-data",
    "KDE/klettres",
    "KDE/ktuberling",
    "deeplyinc/Korean-Read-Speech-Corpus",  # rooms and distances
    "gcompris/GCompris-voices",
    "mesolitica/malaya-speech",
    "nii-yamagishilab/TSNetVocoder",
}
NO_PERSON = re.compile(r"^EL_PS_|^(fe)?male$|^(vctk_)?s5$")  # an artificial larynx; a choice of voices

# Public corpora quoted on many pages: (pattern of the label, corpus). The last group is the speaker.
CORPORA = [
    (re.compile(r"(?:^|[-_:])(?:vctk)[-_ ]?(p\d{3})$", re.I), "vctk"),
    (re.compile(r"(?:^|[-_:])(?:libri|librispeech|libritts|ls)[-_](\d+)$", re.I), "libri"),
    (re.compile(r"(?:^|[-_:])arctic[-_](\w+)$", re.I), "arctic"),
    (re.compile(r"(?:^|[-_:])jvs(\d{3})$", re.I), "jvs"),
    (re.compile(r"(?:^|[-_:])vcc(?:20)?18[-_]2?(\w+)$", re.I), "vcc18"),
    (re.compile(r"(?:^|[-_:])vcc20[-_](\w+)$", re.I), "vcc20"),
    (re.compile(r"(?:^|[-_:])aishell3[-_](\w+)$", re.I), "aishell3"),
    (re.compile(r"(?:^|[-_:])ears[-_](\w+)$", re.I), "ears"),
    (re.compile(r"(?:^|[-_:])(lj|ljspeech(?:_lj)?)$", re.I), "lj"),
    (re.compile(r"(?:^|[-_:])(jsut|csmsc)$", re.I), "single"),
]
# In OlaWod/PitchVC-demo, two digits mean the Emotional Speech Database, three or more LibriTTS.
PITCH_VC = re.compile(r"^[FM]_(\d+)$")


def person_of(repository, label):
    """(campaign, person): people of one campaign were recorded alike, and a person has the same name on all pages."""
    for pattern, corpus in CORPORA:
        found = pattern.search(label)
        if found:
            return corpus, f"{corpus}:{'one' if corpus == 'lj' else found[1].lower()}"
    if repository == "OlaWod/PitchVC-demo" and PITCH_VC.match(label):
        number = int(PITCH_VC.match(label)[1])
        return ("esd", f"esd:{number}") if number < 100 else ("libri", f"libri:{number}")
    return repository, f"{repository}:{label}"


def unverified_paths(corpus=None):
    """Files of the coded corpus with guessed speaker labels."""
    with open(Path(corpus or os.environ["VERAVOX_CORPUS"]) / "index.csv", newline="") as index:
        return {row["path"] for row in csv.DictReader(index) if row["speaker_verified"] != "yes"}


def is_one_person(row, unverified):
    """`row` of sources.csv. A recording of the coded corpus must have a verified label there; others have the labels of
    their collections."""
    return bool(
        row["label"] == "bonafide"
        and row["speaker"]
        and row["repository"] not in NOT_PEOPLE
        and not NO_PERSON.search(row["speaker"])
        and row["corpus_path"] not in unverified
    )


def people_of_sources(sources, split, corpus=None, only_corpus=False):
    """{"repository/path#start": (campaign, person)} of the recordings of one split with a named person, by
    data/prepare_chains.py's names of recordings. `only_corpus`: only those also in the coded corpus."""
    unverified, people = unverified_paths(corpus), {}
    with open(Path(sources) / "sources.csv", newline="") as table:
        for row in csv.DictReader(table):
            if row["split"] == split and is_one_person(row, unverified) and (row["corpus_path"] or not only_corpus):
                name = f"{row['repository']}/{row['path']}#{row['start_s']}"
                people[name] = person_of(row["repository"], row["speaker"])
    return people


def clips_by_person(clips, people, without=frozenset()):
    """{(campaign, person): clips}, sorted; `without` names people to leave out."""
    found = defaultdict(list)
    for clip in clips:
        owner = people.get(clip["path"]) if clip["label"] == "bonafide" else None
        if owner and owner[1] not in without:
            found[owner].append(clip)
    return {owner: found[owner] for owner in sorted(found)}
