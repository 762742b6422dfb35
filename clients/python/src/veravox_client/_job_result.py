# SPDX-License-Identifier: Apache-2.0
"""The result of a job, by its task."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ._types import Job, JobEnrollment, Prediction


def verdict_of(job: Job) -> Prediction | None:
    """The verdict of a job; None before its end, without success, and of other tasks."""
    result = job["result"]
    return cast("Prediction", result) if result is not None and "global" in result else None


def enrollment_of(job: Job) -> JobEnrollment | None:
    """The voiceprint of a job with the task `enroll`; None before its end, without success, and of other tasks."""
    result = job["result"]
    return cast("JobEnrollment", result) if result is not None and "embedding" in result else None
