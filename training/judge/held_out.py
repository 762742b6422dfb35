# SPDX-License-Identifier: Apache-2.0
"""A detector's results on unseen pages: every figure of the table, with intervals.

Intervals are at 95 %, of a bootstrap over systems (generated clips) and sources (human clips). A mean over fewer than
MIN_GROUPS pages is not given, nor an interval over fewer units; `why_not` says so.
"""

from collections import defaultdict

import numpy as np

from judge.figures import (
    MIN_GROUPS,
    alike,
    area_under_curve,
    calibration_error,
    equal_error_point,
    equal_error_rate,
    group_of,
    percentile_interval,
    rounded,
    unit_weights,
)
from judge.modern import MODERN

MIN_CLIPS_OF_PAGE = 3  # of each class, for an AUC
MIN_CLIPS_OF_GROUP = 15
COPIES = {"vocoder", "codec"}  # categories of clips made from recordings of people
GROUP_COLUMNS = ["rate_hz", "language", "emotion", "category", "family", "source", "system"]


def probability(logits):
    return 1 / (1 + np.exp(-logits))


class HeldOut:
    """Scored clips of one detector, and their bootstrap weights."""

    def __init__(self, logits, clips, rounds=500):
        order = np.argsort(logits, kind="stable")
        self.logits, self.clips = np.asarray(logits)[order], [clips[place] for place in order]
        self.spoof = np.array([clip["label"] == "spoof" for clip in self.clips])
        self.wrong = (self.logits >= 0) != self.spoof
        self.alike = alike(self.clips, group_of)
        self.units = np.array([group_of(clip) for clip in self.clips])
        self.weights = unit_weights(self.clips, rounds)

    def column(self, name):
        return np.array([clip.get(name) or "" for clip in self.clips])

    def with_interval(self, figure, rows):
        """`figure` of the weights of `rows`; None if a class is missing (NaN in a bootstrap round)."""
        spoof = self.spoof[rows]
        if not spoof.any() or spoof.all():
            return None

        def in_round(weights):
            return figure(weights) if weights[spoof].any() and weights[~spoof].any() else np.nan

        interval = percentile_interval([in_round(weights) for weights in self.weights[:, rows]])
        enough = min(len(set(self.units[rows][spoof])), len(set(self.units[rows][~spoof]))) >= MIN_GROUPS
        return {
            "value": rounded(figure(np.ones(len(rows)))),
            "interval_95": rounded(interval) if enough and interval else None,
        }

    def curve_figures(self, rows, base=None):
        """EER and AUC of some clips, and their counts."""
        rows = np.asarray(rows, int)
        logits, spoof = self.logits[rows], self.spoof[rows]
        base = np.ones(len(rows)) if base is None else base[rows]
        return {
            "human": int((~spoof).sum()),
            "generated": int(spoof.sum()),
            "eer": self.with_interval(lambda weights: equal_error_rate(logits, spoof, weights * base), rows),
            "auc": self.with_interval(lambda weights: area_under_curve(logits, spoof, weights * base), rows),
        }

    def error_share(self, rows, wrong=None):
        """Share of errors at 0.5 among some clips."""
        rows = np.asarray(rows, int)
        if len(rows) == 0:
            return None
        wrong, weights = (self.wrong if wrong is None else wrong)[rows], self.weights[:, rows]
        units = len(set(self.units[rows]))
        interval = None
        if units >= MIN_GROUPS:
            drawn = weights.sum(axis=1)
            interval = percentile_interval(weights @ wrong / np.where(drawn > 0, drawn, np.nan))
        return {
            "clips": len(rows),
            "units": units,
            "value": rounded(wrong.mean()),
            "interval_95": interval and rounded(interval),
        }

    def errors_by(self, column, of_class):
        """Share of errors per value of a column with enough clips."""
        values = self.column(column)
        groups = {
            str(name): np.flatnonzero(of_class & (values == name)) for name in sorted(set(values[of_class]) - {""})
        }
        return {name: self.error_share(rows) for name, rows in groups.items() if len(rows) >= MIN_CLIPS_OF_GROUP}


def on_shared_pages(held, wanted):
    """The wanted generated clips and the human ones of the same pages, for pages with both."""
    sources = held.column("source")
    chosen = held.spoof & np.array([wanted(clip) for clip in held.clips])
    shared = set(sources[chosen]) & set(sources[~held.spoof])
    return np.flatnonzero((chosen | ~held.spoof) & np.isin(sources, list(shared)))


def inside_pages(held, wanted=lambda clip: True):
    """Mean AUC inside a page, and each page. A bootstrap round counts the pages with both classes drawn."""
    pages = defaultdict(list)
    for place, clip in enumerate(held.clips):
        if not held.spoof[place] or wanted(clip):
            pages[clip["source"]].append(place)
    enough = {
        page: rows
        for page, places in sorted(pages.items())
        for rows in [np.array(places)]
        if min(held.spoof[rows].sum(), (~held.spoof[rows]).sum()) >= MIN_CLIPS_OF_PAGE
    }
    each = {page: rounded(area_under_curve(held.logits[rows], held.spoof[rows])) for page, rows in enough.items()}
    if len(enough) < MIN_GROUPS:
        return {"pages": each, "value": None, "interval_95": None, "why_not": too_few(len(enough), "pages")}

    def mean(weights):
        areas = []
        for rows in enough.values():
            spoof, own = held.spoof[rows], weights[rows]
            if own[spoof].any() and own[~spoof].any():
                areas.append(area_under_curve(held.logits[rows], spoof, own))
        return np.mean(areas) if areas else np.nan

    return {
        "pages": each,
        "value": rounded(np.mean(list(each.values()))),
        "interval_95": rounded(percentile_interval([mean(weights) for weights in held.weights])),
        "why_not": None,
    }


def too_few(count, what):
    return f"only {count} {what} with at least {MIN_CLIPS_OF_PAGE} clips of each class; a mean needs {MIN_GROUPS}"


def each_page(held, areas):
    """Errors at 0.5 of both classes on each page, and its AUC if it has enough clips of both."""
    sources, pages = held.column("source"), {}
    share = lambda rows: rounded(held.wrong[rows].mean()) if rows.any() else None
    for page in sorted(set(sources)):
        human, generated = (sources == page) & ~held.spoof, (sources == page) & held.spoof
        pages[page] = {
            "human": int(human.sum()),
            "generated": int(generated.sum()),
            "human_flagged": share(human),
            "generated_passing": share(generated),
            "auc": areas.get(page),
        }
    return pages


def leave_one_page_out(held):
    """Errors on each page at the equal-error threshold of all other pages, weighing systems and sources equally; and
    the EER over systems and sources without each page."""
    sources, wrong, eers = held.column("source"), np.zeros(len(held.clips), bool), {}
    for page in sorted(set(sources)):
        others, own = sources != page, sources == page
        if held.spoof[others].all() or not held.spoof[others].any():
            return None
        eers[page], threshold = equal_error_point(held.logits[others], held.spoof[others], held.alike[others])
        wrong[own] = (held.logits[own] >= threshold) != held.spoof[own]
    lowest, highest = min(eers, key=eers.get), max(eers, key=eers.get)
    return {
        "pages": len(eers),
        "human_flagged": held.error_share(np.flatnonzero(~held.spoof), wrong),
        "generated_passing": held.error_share(np.flatnonzero(held.spoof), wrong),
        "eer_alike_without_a_page": {
            "lowest": {"value": rounded(eers[lowest]), "page": lowest},
            "highest": {"value": rounded(eers[highest]), "page": highest},
        },
    }


def reason_figures(held):
    """Whether verdicts with a reason are wrong more often; None for scores without reasons."""
    if "reason" not in held.clips[0]:
        return None
    reasons = held.column("reason")
    given = reasons != ""
    return {
        "human_with_reason": held.error_share(np.flatnonzero(~held.spoof), given),
        "errors_with": held.error_share(np.flatnonzero(given)),
        "errors_without": held.error_share(np.flatnonzero(~given)),
        "by_reason": {
            str(name): held.error_share(np.flatnonzero(reasons == name)) for name in sorted(set(reasons) - {""})
        },
    }


def figures_of(logits, clips, rounds=500):
    """Every figure that the list's columns allow; others are None or absent."""
    held = HeldOut(logits, clips, rounds)
    everything, human, spoof = np.arange(len(clips)), np.flatnonzero(~held.spoof), np.flatnonzero(held.spoof)
    is_modern = lambda clip: clip["system"] in MODERN
    in_class = lambda wanted, of_class: np.array([row for row in of_class if wanted(held.clips[row])], int)
    both = len(human) > 0 and len(spoof) > 0
    inside = inside_pages(held)
    unknown = [row for row in human if held.clips[row].get("source_in_training") == "no"]
    return {
        "human": len(human),
        "generated": len(spoof),
        "sources": len(set(held.units[human])),
        "systems": len(set(held.units[spoof])),
        "pages": len(set(held.column("source"))),
        "all": held.curve_figures(everything),
        "alike": held.curve_figures(everything, held.alike),
        "unknown_human_sources": held.curve_figures(np.sort(np.concatenate([spoof, unknown]).astype(int)))
        if unknown
        else None,
        "unknown_human_flagged": held.error_share(unknown),
        "same_pages": held.curve_figures(on_shared_pages(held, lambda clip: True)),
        "modern_same_pages": held.curve_figures(on_shared_pages(held, is_modern)),
        "unknown_generators_same_pages": held.curve_figures(
            on_shared_pages(held, lambda clip: clip.get("system_in_training") == "no")
        ),
        "inside_a_page": inside,
        "pages_each": each_page(held, inside["pages"]),
        "inside_a_page_modern": inside_pages(held, is_modern),
        "human_flagged": held.error_share(human),
        "generated_passing": held.error_share(spoof),
        "modern_passing": held.error_share(in_class(is_modern, spoof)),
        "copies_passing": held.error_share(in_class(lambda clip: clip.get("category") in COPIES, spoof)),
        "leave_one_page_out": leave_one_page_out(held) if both else None,
        "equal_error_threshold": rounded(probability(equal_error_point(held.logits, held.spoof, held.alike)[1]))
        if both
        else None,
        "calibration_error": rounded(calibration_error(probability(held.logits), held.spoof)) if both else None,
        "reasons": reason_figures(held),
        "human_flagged_by": {column: held.errors_by(column, ~held.spoof) for column in GROUP_COLUMNS},
        "generated_passing_by": {column: held.errors_by(column, held.spoof) for column in GROUP_COLUMNS},
    }
