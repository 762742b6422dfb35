# SPDX-License-Identifier: Apache-2.0
"""Similarity of strangers, for `strangers` in a speaker model's manifest entry.

    python3 -m judge.strangers TRIALS --model ../models/ID.onnx [--lists 5 10 20 50 80]

`TRIALS` is made by `judge.speaker_originals recordings`. The inverse hyperbolic tangent of the cosine is taken as
normal, with mean and deviation over all strangers of one campaign, in all conditions and durations. Prints both, and
how well they predict the most similar one in a list of strangers, of one campaign or of any: for each condition and
list length the share of lists that exceed the cosine predicted for SHARES.
"""

import argparse
import json

import numpy as np
from scipy.stats import norm

from judge.figures import rounded
from judge.speaker_originals import CHANNEL_SPEECH_S, CONDITIONS, Judged, Pool

SHARES = [0.5, 0.05, 0.01]  # expected shares of lists of strangers above the predicted cosine
DRAWS, MIN_LISTS, SEED = 5, 100, 1
LARGEST = 1 - 1e-6  # the tangent of 1 is infinite


def fit(cosines):
    angles = np.arctanh(np.clip(cosines, -LARGEST, LARGEST))
    return {"mean": rounded(angles.mean()), "sd": rounded(angles.std())}


def reached_by_best(strangers, count, share):
    """The cosine that the most similar of `count` strangers reaches with probability `share`."""
    return float(np.tanh(strangers["mean"] + strangers["sd"] * norm.ppf((1 - share) ** (1 / count))))


def best_of_lists(cosines, tested, count, rng):
    """The largest of `count` cosines to the same sample, DRAWS times for each sample with enough."""
    found = []
    for sample in np.unique(tested):
        own = cosines[tested == sample]
        if len(own) >= count:
            found += [rng.choice(own, count, replace=False).max() for _ in range(DRAWS)]
    return np.array(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", metavar="TRIALS")
    parser.add_argument("--model", required=True)
    parser.add_argument("--lists", nargs="+", type=int, default=[5, 10, 20, 50, 80])
    options = parser.parse_args()
    judged, rng = Judged(options.trials, options.model), np.random.default_rng(SEED)
    pool = Pool(judged)
    strangers = fit(pool.cosines[~pool.same])
    print(json.dumps({"strangers": strangers, "trials": int((~pool.same).sum())}))
    for condition in CONDITIONS:
        cosines, trials, *_ = judged.trials(condition, CHANNEL_SPEECH_S)
        for campaign, chosen in (("same", ~trials.same & trials.one_source), ("any", ~trials.same)):
            for count in options.lists:
                best = best_of_lists(cosines[chosen], trials.tested[chosen], count, rng)
                if len(best) < MIN_LISTS:
                    continue
                above = {share: rounded(np.mean(best > reached_by_best(strangers, count, share))) for share in SHARES}
                row = {"condition": condition, "campaign": campaign, "list": count, "lists": len(best)}
                print(json.dumps({**row, "share_above": above}))


if __name__ == "__main__":
    main()
