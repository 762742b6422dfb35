# SPDX-License-Identifier: Apache-2.0
"""Acted emotions, from the file names of recordings."""

import re

NEUTRAL = "neutral"
EMOTIONS = re.compile(
    r"(?:^|[/_ ])(anger|angry|fear|happy|happiness|neutral|sad|sadness|surprised?|disgust|calm)", re.I
)
SAME_EMOTION = {"angry": "anger", "happiness": "happy", "sadness": "sad", "surprise": "surprised", "calm": NEUTRAL}


def emotion_of(clip):
    """The emotion of a clip by its `path` or, in lists of judge/originals.py, `clip`; None if it names none."""
    found = EMOTIONS.findall(f"/{clip.get('clip') or clip['path']}")
    return SAME_EMOTION.get(found[-1].lower(), found[-1].lower()) if found else None
