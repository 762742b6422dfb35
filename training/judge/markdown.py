# SPDX-License-Identifier: Apache-2.0
"""Figures as Markdown."""

from judge.figures import MIN_GROUPS


def percent(value):
    return "" if value is None else f"{100 * value:.1f} %"


def three(value):
    return "" if value is None else f"{value:.3f}"


def with_interval(figure, text):
    if not figure or figure["value"] is None:
        return ""
    interval = figure["interval_95"]
    return text(figure["value"]) + (f" ({' to '.join(text(end) for end in interval)})" if interval else "")


def table(heads, rows):
    return "\n".join(["| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows]]) + "\n"


def pair(entry):
    """EER and AUC, each with its interval."""
    return " / ".join(filter(None, [with_interval(entry["eer"], percent), with_interval(entry["auc"], three)]))


def _spread(key, column):
    """The group with the largest share of errors, with the mean of the groups and the smallest share."""

    def text(figures):
        groups = figures[key][column]
        if len(groups) < 2:
            return ""
        shares = {name: group["value"] for name, group in groups.items()}
        name, mean = max(shares, key=shares.get), sum(shares.values()) / len(shares)
        times = f", {shares[name] / mean:.1f} times the mean" if mean and len(groups) >= MIN_GROUPS else ""
        return f"{name}: {percent(shares[name])}{times}; smallest {percent(min(shares.values()))}"

    return text


def _by_group(figures, key, column, name):
    return with_interval(figures[key][column].get(name), percent)


def _group_rows(reports, key, column, what):
    names = sorted({name for figures in reports for name in figures[key][column]}, key=lambda name: (len(name), name))
    return [[f"{what}: {name}", *(_by_group(figures, key, column, name) for figures in reports)] for name in names]


def _inside(entry):
    if entry["value"] is None:
        return entry["why_not"]
    return f"{with_interval(entry, three)}, {len(entry['pages'])} pages"


def _left_out(figures):
    left_out = figures["leave_one_page_out"]
    if left_out is None:
        return ""
    return " / ".join(with_interval(left_out[key], percent) for key in ("human_flagged", "generated_passing"))


def _without_a_page(figures):
    left_out = figures["leave_one_page_out"]
    if left_out is None:
        return ""
    ends = left_out["eer_alike_without_a_page"]
    return " to ".join(f"{percent(ends[end]['value'])} (without {ends[end]['page']})" for end in ("lowest", "highest"))


def _reasons(figures):
    reasons = figures["reasons"]
    if reasons is None:
        return "the scores have no column `reason`"
    keys = ("human_with_reason", "errors_with", "errors_without")
    return " / ".join(with_interval(reasons[key], percent) or "none" for key in keys)


def held_out_table(named, with_groups=True):
    """Every figure in a row, with a column per detector. `named`: {name: judge.held_out.figures_of}. Without groups,
    rates, languages, emotions and categories get no rows."""
    reports = list(named.values())
    each = lambda what, text: [what, *(text(figures) for figures in reports)]
    share = lambda key: lambda figures: with_interval(figures[key], percent)
    first = reports[0]
    rows = [
        each("all generated against all human: EER / AUC", lambda f: pair(f["all"])),
        each("the same, systems and sources weighted alike", lambda f: pair(f["alike"])),
        each(
            "human sources that training never saw: EER / AUC; flagged at 0.5",
            lambda f: (
                f"{pair(f['unknown_human_sources'])}; {with_interval(f['unknown_human_flagged'], percent)}"
                if f["unknown_human_sources"]
                else "needs --training-list"
            ),
        ),
        each("generated against human clips of the same pages: EER / AUC", lambda f: pair(f["same_pages"])),
        each("modern generators, same pages: EER / AUC", lambda f: pair(f["modern_same_pages"])),
        each(
            "generators that training never saw, same pages: EER / AUC",
            lambda f: pair(f["unknown_generators_same_pages"]),
        ),
        each("mean AUC inside one page", lambda f: _inside(f["inside_a_page"])),
        each("mean AUC inside one page, modern generators", lambda f: _inside(f["inside_a_page_modern"])),
        each("human flagged at 0.5", share("human_flagged")),
        each("generated that pass at 0.5", share("generated_passing")),
        each("modern that pass at 0.5", share("modern_passing")),
        each("copies by vocoders and codecs that pass at 0.5", share("copies_passing")),
        each("leave one page out: human flagged / generated that pass at the others' threshold", _left_out),
        each("EER, systems and sources alike, without any one page", _without_a_page),
        each("equal-error threshold", lambda f: three(f["equal_error_threshold"])),
        each("expected calibration error, classes alike", lambda f: three(f["calibration_error"])),
        each("human clips with a reason / errors with one / without", _reasons),
    ]
    for column in ("rate_hz", "language", "emotion"):
        for key, what in (("human_flagged_by", "human flagged"), ("generated_passing_by", "generated that pass")):
            row = each(f"{what}, worst {column.removesuffix('_hz')}", _spread(key, column))
            rows += [row] if any(row[1:]) else []
    columns = (("rate_hz", "Hz"), ("language", "language"), ("emotion", "emotion"), ("category", "category"))
    for column, what in columns if with_groups else ():
        rows += _group_rows(reports, "human_flagged_by", column, f"human flagged, {what}")
        rows += _group_rows(reports, "generated_passing_by", column, f"generated that pass, {what}")
    counts = (
        f"{first['human']} human clips of {first['sources']} sources and {first['generated']} generated clips of "
        f"{first['systems']} systems, from {first['pages']} pages. Intervals are at 95 %, over systems and sources; "
        "a figure of fewer than five of them has none.\n"
    )
    return counts + "\n" + table(["", *named], rows)
