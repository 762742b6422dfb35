# SPDX-License-Identifier: Apache-2.0
"""Made by `npm run docs` from the schemas that the server validates by. Do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Required

ErrorCode = Literal[
    "validation_error",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "timeout",
    "payload_too_large",
    "unsupported_format",
    "rate_limited",
    "internal_error",
    "unavailable",
    "forbidden_error",
    "storage_error",
    "unexpected_answer",
]


class PredictFields(TypedDict, total=False):
    device: Literal["macos", "windows", "web_app", "api"]
    """The source of the recording."""
    model: str
    """The detector; the server says which there are."""
    prediction_id: str
    """The client's own identifier for the prediction; the server makes one by default."""
    threshold: float | str
    """Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses
    fewer people. Can also be the name of an operating point that the server's operator made for the model.
    """
    silence_threshold: float
    """Windows with a higher percentage of non-speech are skipped; 100 skips none."""
    profile: str
    """The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for
    recordings like those of one channel.
    """
    start: float
    """Analyse from here on, in seconds; by default from the start of the recording."""
    end: float
    """Analyse up to here, in seconds; by default up to the end of the recording."""
    channels: Literal["mixed", "separate"]
    """With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on
    both sides of a call.
    """
    detail: Literal["stretches"]
    """With `stretches`, the answer also says whether the recording contains AI-generated speech, and where
    (docs/predict.md).
    """


class LargeFileFields(TypedDict, total=False):
    device: Literal["macos", "windows", "web_app", "api"]
    """The source of the recording."""
    model: str
    """The detector; the server says which there are."""
    prediction_id: str
    """The client's own identifier for the prediction; the server makes one by default."""
    profile: str
    """The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for
    recordings like those of one channel.
    """
    start: float
    """Analyse from here on, in seconds; by default from the start of the recording."""
    end: float
    """Analyse up to here, in seconds; by default up to the end of the recording."""
    channels: Literal["mixed", "separate"]
    """With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on
    both sides of a call.
    """
    detail: Literal["stretches"]
    """With `stretches`, the answer also says whether the recording contains AI-generated speech, and where
    (docs/predict.md).
    """


class NewProfileFields(TypedDict, total=False):
    model: str
    """The detector; the server says which there are."""


class ProfileVersionFields(TypedDict, total=False):
    version: Required[int]
    """Number of the version."""
    model: str
    """The detector; the server says which there are."""


class EnrollFields(TypedDict, total=False):
    user_id: str
    """The client's own identifier for the speaker; it is neither stored nor used."""
    start: float
    """Analyse from here on, in seconds; by default from the start of the recording."""
    end: float
    """Analyse up to here, in seconds; by default up to the end of the recording."""


class EnrollSamplesFields(TypedDict, total=False):
    user_id: str
    """The client's own identifier for the speaker; it is neither stored nor used."""


class VerifyFields(TypedDict, total=False):
    user_id: str
    """The client's own identifier for the speaker; it is neither stored nor used."""
    start: float
    """Analyse from here on, in seconds; by default from the start of the recording."""
    end: float
    """Analyse up to here, in seconds; by default up to the end of the recording."""


class IdentifyFields(TypedDict, total=False):
    user_id: str
    """The client's own identifier for the speaker; it is neither stored nor used."""
    start: float
    """Analyse from here on, in seconds; by default from the start of the recording."""
    end: float
    """Analyse up to here, in seconds; by default up to the end of the recording."""
    top: float
    """Number of matches to return."""
    prior: float
    """Probability that the speaker is on the list, before the voice is heard."""


class JobFields(TypedDict, total=False):
    presigned_url: str
    """Link to the recording: to the object storage, or to a host that the operator allows. Either this or `key`."""
    key: str
    """Key of a stored file. Either this or `presigned_url`."""
    entity: str
    """Entity of the stored file."""
    idempotency_key: str
    """Two requests with the same value make one job."""
    callback_url: str
    """Link to which the server posts the end of the job: to a host that the operator allows (docs/webhooks.md)."""
    device: Literal["macos", "windows", "web_app", "api"]
    """The source of the recording."""
    model: str
    """The detector; the server says which there are."""
    prediction_id: str
    """The client's own identifier for the prediction; the server makes one by default."""
    threshold: float | str
    """Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses
    fewer people. Can also be the name of an operating point that the server's operator made for the model.
    """
    silence_threshold: float
    """Windows with a higher percentage of non-speech are skipped; 100 skips none."""
    profile: str
    """The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for
    recordings like those of one channel.
    """
    start: float
    """Analyse from here on, in seconds; by default from the start of the recording."""
    end: float
    """Analyse up to here, in seconds; by default up to the end of the recording."""
    channels: Literal["mixed", "separate"]
    """With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on
    both sides of a call.
    """
    detail: Literal["stretches"]
    """With `stretches`, the answer also says whether the recording contains AI-generated speech, and where
    (docs/predict.md).
    """
    task: Literal["predict", "enroll"]
    """With `enroll`, the result is a voiceprint, as `POST /v1/voiceid/enroll` answers it. Of the fields for analyses,
    only `start` and `end` apply then, and the key also needs the scope `voiceid`.
    """
    user_id: str
    """The client's own identifier for the speaker; it is neither stored nor used."""


class BatchFields(TypedDict, total=False):
    lines: str
    """The manifest itself: CSV or JSON lines. Either this, `key` or `presigned_url`."""
    key: str
    """Key of a stored manifest."""
    entity: str
    """Entity of the stored manifest."""
    presigned_url: str
    """Link to the manifest, as for a recording."""
    result_key: str
    """Key of the result, with the entity `results`; by default `batches/<id of the job>.jsonl`."""
    idempotency_key: str
    """Two requests with the same value make one job."""
    callback_url: str
    """Link to which the server posts the end of the job: to a host that the operator allows (docs/webhooks.md)."""
    device: Literal["macos", "windows", "web_app", "api"]
    """The source of the recording."""
    model: str
    """The detector; the server says which there are."""
    threshold: float | str
    """Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses
    fewer people. Can also be the name of an operating point that the server's operator made for the model.
    """
    silence_threshold: float
    """Windows with a higher percentage of non-speech are skipped; 100 skips none."""
    profile: str
    """The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for
    recordings like those of one channel.
    """
    start: float
    """Analyse from here on, in seconds; by default from the start of the recording."""
    end: float
    """Analyse up to here, in seconds; by default up to the end of the recording."""
    channels: Literal["mixed", "separate"]
    """With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on
    both sides of a call.
    """
    detail: Literal["stretches"]
    """With `stretches`, the answer also says whether the recording contains AI-generated speech, and where
    (docs/predict.md).
    """


class StreamFields(TypedDict, total=False):
    encoding: Required[Literal["pcm16", "mulaw", "alaw", "opus"]]
    """`pcm16`: samples of 16 bits, little-endian, one channel. `mulaw` and `alaw`: G.711, one channel. `opus`: one Opus
    packet per message, without a container.
    """
    sample_rate: float
    """Samples per second. Required for `pcm16`; 8000 by default for G.711; Opus always counts at 48000."""
    channels: Literal[1, 2]
    """Channels of the Opus packets; other encodings have one."""
    pre_skip: float
    """Samples that the Opus encoder puts before the audio; 312 for most. An Ogg file's header has the number."""
    model: str
    """The detector; the server says which there are."""
    prediction_id: str
    """The client's own identifier for the prediction; the server makes one by default."""
    threshold: float | str
    """Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses
    fewer people. Can also be the name of an operating point that the server's operator made for the model.
    """
    silence_threshold: float
    """Windows with a higher percentage of non-speech are skipped; 100 skips none."""
    profile: str
    """The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for
    recordings like those of one channel.
    """
    detail: Literal["stretches"]
    """With `stretches`, the answer also says whether the recording contains AI-generated speech, and where
    (docs/predict.md).
    """


class GlobalVerdict(TypedDict):
    score: float
    """Probability of being AI-generated."""
    confidence: float
    """Distance of the score from the threshold, 0 to 1."""
    result: Literal["spoofed", "bonafide"]
    """`spoofed` means AI-generated, `bonafide` means human."""
    reason: str | None
    """Null, or a code for why the verdict needs caution."""


class Segment(TypedDict):
    start: float
    """Start of the window in seconds."""
    end: float
    """End of the window in seconds."""
    scores: list[float]
    """Scores of the window."""
    confidence: float
    """Distance of the score from the threshold, 0 to 1."""
    result: Literal["spoofed", "bonafide"]
    """`spoofed` means AI-generated, `bonafide` means human."""


class Stretch(TypedDict):
    start: float
    """Start of the stretch in seconds."""
    end: float
    """End of the stretch in seconds."""
    score: float
    """Probability of being AI-generated."""
    strength: float | None
    """How far it stands out from the rest of the recording, as a difference of log-odds; null for a recording that is
    AI-generated as a whole.
    """


_ChannelVerdict = TypedDict("_ChannelVerdict", {"global": "GlobalVerdict | None"})


class ChannelVerdict(_ChannelVerdict):
    channel: int
    """The channel, from 0 on."""
    segments: list[Segment]
    """One entry per analysed window."""
    warnings: list[str]
    """One sentence per warning; empty if there are no warnings."""
    contains_generated: NotRequired[bool]
    """Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has
    `detail=stretches`.
    """
    stretches: NotRequired[list[Stretch]]
    """The stretches that sound AI-generated, in the order of the recording. Absent unless the request has
    `detail=stretches`.
    """


_Prediction = TypedDict("_Prediction", {"global": "GlobalVerdict"})


class Prediction(_Prediction):
    prediction_id: str
    """The client's own identifier, or else `pred_` and 12 hexadecimal characters."""
    segments: list[Segment]
    """One entry per analysed window."""
    model: str
    """Id of the model that answered."""
    profile: NotRequired[str]
    """The profile that corrected the scores; absent if the request named none."""
    processing_time: float
    """Processing time of the request in seconds."""
    audio_duration: float
    """Duration of the audio in seconds."""
    warnings: list[str]
    """One sentence per warning; empty if there are no warnings."""
    channels: NotRequired[list[ChannelVerdict]]
    """The verdict on each channel; absent unless the request has `channels=separate`."""
    contains_generated: NotRequired[bool]
    """Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has
    `detail=stretches`.
    """
    stretches: NotRequired[list[Stretch]]
    """The stretches that sound AI-generated, in the order of the recording. Absent unless the request has
    `detail=stretches`.
    """


class LargeFileGlobalVerdict(TypedDict):
    confidence: float
    """Distance of the score from the threshold, 0 to 1."""
    result: Literal["spoofed", "bonafide"]
    """`spoofed` means AI-generated, `bonafide` means human."""
    reason: str | None
    """Null, or a code for why the verdict needs caution."""


class LargeFileSegment(TypedDict):
    index: int
    """Zero-based position."""
    start: float
    """Start of the window in seconds."""
    end: float
    """End of the window in seconds."""
    confidence: float
    """Distance of the score from the threshold, 0 to 1."""
    result: Literal["spoofed", "bonafide"]
    """`spoofed` means AI-generated, `bonafide` means human."""


_LargeFileChannelVerdict = TypedDict("_LargeFileChannelVerdict", {"global": "LargeFileGlobalVerdict | None"})


class LargeFileChannelVerdict(_LargeFileChannelVerdict):
    channel: int
    """The channel, from 0 on."""
    segments: list[LargeFileSegment]
    """One entry per analysed window."""
    warnings: list[str]
    """One sentence per warning; empty if there are no warnings."""
    contains_generated: NotRequired[bool]
    """Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has
    `detail=stretches`.
    """
    stretches: NotRequired[list[Stretch]]
    """The stretches that sound AI-generated, in the order of the recording. Absent unless the request has
    `detail=stretches`.
    """


_LargeFilePrediction = TypedDict("_LargeFilePrediction", {"global": "LargeFileGlobalVerdict"})


class LargeFilePrediction(_LargeFilePrediction):
    prediction_id: str
    """The client's own identifier, or else `pred_` and 12 hexadecimal characters."""
    segments: list[LargeFileSegment]
    """One entry per analysed window."""
    model: str
    """Id of the model that answered."""
    profile: NotRequired[str]
    """The profile that corrected the scores; absent if the request named none."""
    processing_time: float
    """Processing time of the request in seconds."""
    audio_duration: float
    """Duration of the audio in seconds."""
    warnings: list[str]
    """One sentence per warning; empty if there are no warnings."""
    channels: NotRequired[list[LargeFileChannelVerdict]]
    """The verdict on each channel; absent unless the request has `channels=separate`."""
    contains_generated: NotRequired[bool]
    """Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has
    `detail=stretches`.
    """
    stretches: NotRequired[list[Stretch]]
    """The stretches that sound AI-generated, in the order of the recording. Absent unless the request has
    `detail=stretches`.
    """


class ProfileRecordings(TypedDict):
    """The recordings behind it."""

    genuine: int
    """Genuine recordings that made it."""
    generated: int
    """AI-generated recordings that tested it."""


class ProfileErrors(TypedDict):
    """Wrong verdicts among all."""

    count: int
    """Wrong verdicts at threshold 0.5."""
    of: int
    """All verdicts."""
    value: float
    """Their share."""
    interval_95: list[float]
    """The 95 % Wilson interval of the share."""


_ProfileGain = TypedDict("_ProfileGain", {"with": "ProfileErrors"})


class ProfileGain(_ProfileGain):
    """Genuine recordings called spoofed, each judged by a profile that was made without it."""

    without: ProfileErrors
    """Wrong verdicts among all."""


_ProfileCost = TypedDict("_ProfileCost", {"with": "ProfileErrors"})


class ProfileCost(_ProfileCost):
    """AI-generated speech called human."""

    without: ProfileErrors
    """Wrong verdicts among all."""


class ProfileMeasurement(TypedDict):
    """Its gain and its cost: errors without it and with it."""

    flagged: ProfileGain
    """Genuine recordings called spoofed, each judged by a profile that was made without it."""
    passed: ProfileCost
    """AI-generated speech called human."""
    passed_own: ProfileCost | None
    """The same for the given AI-generated recordings; null without any."""


_ProfileCorrection = TypedDict("_ProfileCorrection", {"from": "float"})


class ProfileCorrection(_ProfileCorrection):
    """Its effect on scores. Nothing else of the recordings is kept."""

    direction: str
    """A unit vector among the detector's: little-endian float32 in base64."""
    to: float
    """Place on it from which they fall by `strength`."""
    strength: float
    """In log-odds."""


class ProfileVersion(TypedDict):
    version: int
    """Number of the version, from 1 on."""
    usable: bool
    """Whether requests may use it: its detector is loaded, with the same weights, recipe and calibration."""
    recordings: ProfileRecordings
    """The recordings behind it."""
    measured: ProfileMeasurement
    """Its gain and its cost: errors without it and with it."""
    created_at: str
    """Time at which the version was made."""
    in_use: bool
    """Whether requests that name the profile use this version."""


class LeftOutRecording(TypedDict):
    field: Literal["file", "generated"]
    index: int
    """Position among the files of the field, from 0 on."""
    key: str
    """Name of the error in docs/errors.md."""
    message: str
    """A sentence for people."""


class MadeProfile(TypedDict):
    name: str
    """Its name in requests."""
    model: str
    """Id of its detector."""
    shared: bool
    """Whether it is the operator's, for all accounts, rather than the account's own."""
    version: int
    """Number of the version, from 1 on."""
    usable: bool
    """Whether requests may use it: its detector is loaded, with the same weights, recipe and calibration."""
    recordings: ProfileRecordings
    """The recordings behind it."""
    measured: ProfileMeasurement
    """Its gain and its cost: errors without it and with it."""
    created_at: str
    """Time at which the version was made."""
    correction: ProfileCorrection
    """Its effect on scores. Nothing else of the recordings is kept."""
    versions: list[ProfileVersion]
    """All versions that are kept, the latest first."""
    left_out: list[LeftOutRecording]
    """Recordings that could not be analysed, have no speech, or repeat an earlier one of the field."""


class ProfileSummary(TypedDict):
    name: str
    """Its name in requests."""
    model: str
    """Id of its detector."""
    shared: bool
    """Whether it is the operator's, for all accounts, rather than the account's own."""
    version: int
    """Number of the version, from 1 on."""
    usable: bool
    """Whether requests may use it: its detector is loaded, with the same weights, recipe and calibration."""
    recordings: ProfileRecordings
    """The recordings behind it."""
    measured: ProfileMeasurement
    """Its gain and its cost: errors without it and with it."""
    created_at: str
    """Time at which the version was made."""


class ProfileList(TypedDict):
    profiles: list[ProfileSummary]
    """The account's own profiles and those for all accounts, by name: the version in use of each."""


class Profile(TypedDict):
    name: str
    """Its name in requests."""
    model: str
    """Id of its detector."""
    shared: bool
    """Whether it is the operator's, for all accounts, rather than the account's own."""
    version: int
    """Number of the version, from 1 on."""
    usable: bool
    """Whether requests may use it: its detector is loaded, with the same weights, recipe and calibration."""
    recordings: ProfileRecordings
    """The recordings behind it."""
    measured: ProfileMeasurement
    """Its gain and its cost: errors without it and with it."""
    created_at: str
    """Time at which the version was made."""
    correction: ProfileCorrection
    """Its effect on scores. Nothing else of the recordings is kept."""
    versions: list[ProfileVersion]
    """All versions that are kept, the latest first."""


class DeletedProfile(TypedDict):
    deleted: str
    """Its name."""


class Enrollment(TypedDict):
    embedding: list[float]
    """The voiceprint: numbers with float32 precision."""
    processing_time: float
    """Processing time of the request in seconds."""
    model_version: str
    """Id of the model that answered."""
    deepfake_checked: bool
    """Whether the sample was checked for AI generation."""


class SampleReport(TypedDict):
    index: int
    """Position among the samples, from 0 on."""
    accepted: bool
    """Whether the sample is part of the voiceprint."""
    reason: Literal["too_short", "ai_generated", "disagrees"] | None
    """Why it is not: `too_short`, `ai_generated`, or `disagrees` if it sounds like another speaker than the other
    samples.
    """
    duration: float | None
    """Seconds of audio; null if it is too short to be analysed."""
    speech: float | None
    """Seconds of speech in it."""
    snr_db: float | None
    """How far the loudest speech is above the quietest, in dB; below 18 it is noisy. Null with less than 1 s of speech.
    """
    agreement: float | None
    """Cosine with the mean of the other accepted samples; null if there are none, or if it was not compared."""


class EnrollmentQuality(TypedDict):
    rating: Literal["good", "fair", "poor"]
    """`good` without shortcomings, `fair` with one, `poor` with more."""
    shortcomings: list[Literal["little_speech", "few_samples", "noisy", "low_agreement"]]
    """Shortcomings that further samples could remedy."""
    speech: float
    """Seconds of speech in the accepted samples."""
    agreement: float | None
    """The lowest agreement of an accepted sample; null if only one is accepted."""


class SampleEnrollment(TypedDict):
    embedding: list[float]
    """The voiceprint: numbers with float32 precision."""
    processing_time: float
    """Processing time of the request in seconds."""
    model_version: str
    """Id of the model that answered."""
    deepfake_checked: bool
    """Whether the sample was checked for AI generation."""
    samples: list[SampleReport]
    """The rating of each sample."""
    quality: EnrollmentQuality
    """EnrollmentQuality"""


class Verification(TypedDict):
    is_match: bool
    """Whether the sample matches the voiceprint."""
    similarity_score: float
    """Calibrated similarity, with six significant digits."""
    confidence_score: float
    """Distance of the similarity from the model's operating point."""
    processing_time: float
    """Processing time of the request in seconds."""
    model_version: str
    """Id of the model that answered."""
    deepfake_score: float | None
    """Null if the voice is authentic or was not checked."""


class IdentificationMatch(TypedDict):
    id: str
    """The id in the list."""
    index: int
    """Position in the list, from 0 on."""
    cosine: float
    """Cosine of the two voiceprints."""
    similarity_score: float
    """Calibrated similarity, as verify answers it."""
    probability: float
    """Probability that this is the speaker, given the whole list and `prior`."""
    stranger_probability: float | None
    """Probability that the best score of a stranger in a list of this length is at least as high; null if the model
    does not know.
    """
    is_match: bool
    """Whether the similarity is at or above the model's operating point and `stranger_probability` is at most 0.01."""


class StrangerSimilarity(TypedDict):
    median: float
    """In half of them."""
    one_in_100: float
    """In one of a hundred."""


class Identification(TypedDict):
    matches: list[IdentificationMatch]
    """The voiceprints that are most alike, the best first."""
    unknown_probability: float
    """Probability that the speaker is not on the list, given `prior`."""
    stranger_similarity: StrangerSimilarity | None
    """Best similarity that a stranger reaches in a list of this length: in half of the lists, and in one of a hundred.
    """
    compared: int
    """Voiceprints in the list."""
    processing_time: float
    """Processing time of the request in seconds."""
    model_version: str
    """Id of the model that answered."""
    deepfake_score: None
    """An AI-generated voice is answered with 403."""


class JobEnrollment(TypedDict):
    embedding: list[float]
    """The voiceprint: numbers with float32 precision."""
    processing_time: float
    """Processing time of the request in seconds."""
    model_version: str
    """Id of the model that answered."""
    deepfake_checked: bool
    """Whether the sample was checked for AI generation."""
    deepfake_flagged: NotRequired[float]
    """The score, if an AI-generated voice was enrolled nevertheless; absent otherwise."""
    warnings: NotRequired[list[str]]
    """One sentence on each part of the recording that was not heard; absent if all was heard."""


class BatchProgress(TypedDict):
    lines: int
    """Lines of the manifest that were read."""
    succeeded: int
    """Lines with a verdict."""
    failed: int
    """Lines that failed or were cancelled."""
    result_key: str | None
    """Key of the result, with the entity `results`; null before the end."""


class WebhookAttempt(TypedDict):
    at: str
    """Time of the request."""
    took_ms: int
    """Milliseconds to the end of the answer."""
    status: int | None
    """Status of the answer; null without one."""
    problem: str | None
    """Why it failed; null if it did not."""


class WebhookLog(TypedDict):
    id: str
    """The `webhook-id`; the same at each attempt."""
    state: Literal["waiting", "sending", "delivered", "failed"]
    """`delivered` and `failed` are final, unless the operator has it sent again."""
    next_attempt_at: str | None
    """Time of the next attempt; null if there is none."""
    attempts: list[WebhookAttempt]
    """The latest 24 at most, in the order of time."""


class JobError(TypedDict):
    key: str
    """Name of the error in docs/errors.md."""
    message: str
    """A sentence for people."""


class Job(TypedDict):
    id: str
    """Id of the job."""
    task: Literal["predict", "enroll", "batch"]
    """`batch` for a list of recordings (docs/batches.md)."""
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    """`succeeded`, `failed` and `cancelled` are final."""
    created_at: str
    """Time of the request."""
    started_at: str | None
    """Time of the first start; null before."""
    finished_at: str | None
    """Time of the end; null before."""
    attempts: int
    """Number of starts."""
    queue_position: int | None
    """Jobs of all accounts that go first; null unless the job is queued."""
    audio_analysed: float
    """Seconds of audio that are analysed and saved."""
    file_progress: float
    """Share of the file that was read, 0 to 1."""
    error: JobError | None
    """Why the job failed, or why its last attempt did; null without a failure."""
    result: Prediction | JobEnrollment | None
    """The verdict, as `POST /v1/predict` answers it, or the voiceprint of an enrolment; null unless the job has
    succeeded.
    """
    batch: BatchProgress | None
    """Counts of the lines of a batch; null for other jobs."""
    webhook: WebhookLog | None
    """How the end of the job was posted to its `callback_url`; null without one, and before the end."""


class JobSummary(TypedDict):
    id: str
    """Id of the job."""
    task: Literal["predict", "enroll", "batch"]
    """`batch` for a list of recordings (docs/batches.md)."""
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    """`succeeded`, `failed` and `cancelled` are final."""
    created_at: str
    """Time of the request."""
    started_at: str | None
    """Time of the first start; null before."""
    finished_at: str | None
    """Time of the end; null before."""
    attempts: int
    """Number of starts."""
    queue_position: int | None
    """Jobs of all accounts that go first; null unless the job is queued."""
    audio_analysed: float
    """Seconds of audio that are analysed and saved."""
    file_progress: float
    """Share of the file that was read, 0 to 1."""
    error: JobError | None
    """Why the job failed, or why its last attempt did; null without a failure."""


class JobList(TypedDict):
    jobs: list[JobSummary]
    """The newest first, without results."""
    next_cursor: str | None
    """For the next page; null on the last."""


class Link(TypedDict):
    key: str
    """The object key, as `<entity>/<key>`."""
    value: str
    """A presigned link to the object storage."""


class LinkList(TypedDict):
    url: list[Link]
    """One entry per object."""


class DeletedFiles(TypedDict):
    deleted: list[str]
    """The object keys, as `<entity>/<key>`."""


class StreamReady(TypedDict):
    """The stream has begun."""

    type: Literal["ready"]
    session_id: str
    """Identifies the stream, also in the log."""
    secret: str
    """Proves that a later connection may go on."""
    resume_within_s: float
    """How long a lost connection may be away."""
    max_waiting_s: float
    """Audio that may be ahead of the analysis; more ends the stream."""
    max_message_bytes: int
    """Size of the largest binary message."""
    prediction_id: str
    """The client's own identifier, or else `pred_` and 12 hexadecimal characters."""
    model: str
    """The detector, as the request names it."""
    model_id: str
    """Id of the model that answered."""
    encoding: Literal["pcm16", "mulaw", "alaw", "opus"]
    sample_rate: int
    """Rate in which samples are counted."""
    threshold: float
    profile: NotRequired[str]
    """The profile that corrects scores; absent if none was named."""
    silence_threshold: float
    warnings: list[str]
    """A sentence on each parameter without effect."""


class StreamResumed(TypedDict):
    """The stream goes on: the next binary message has the audio after what has arrived."""

    type: Literal["resumed"]
    session_id: str
    """Identifies the stream, also in the log."""
    samples: int
    """Samples that have arrived."""
    messages: int
    """Binary messages that have arrived."""


class StreamReceived(TypedDict):
    """Sent about once per second of audio."""

    type: Literal["received"]
    samples: int
    """Samples that have arrived."""
    messages: int
    """Binary messages that have arrived."""
    waiting_s: float
    """Audio that has arrived and is not analysed yet."""


class StreamVerdict(TypedDict):
    """The verdict on all windows so far."""

    score: float
    """Probability of being AI-generated."""
    confidence: float
    """Distance of the score from the threshold, 0 to 1."""
    result: Literal["spoofed", "bonafide"]
    """`spoofed` means AI-generated, `bonafide` means human."""
    windows: int
    """Windows with a score."""


_StreamWindow = TypedDict("_StreamWindow", {"global": "StreamVerdict"})


class StreamWindow(_StreamWindow):
    """The verdict on a window, about 0.1 s of audio after its end."""

    type: Literal["window"]
    event: int
    """Number of the message among `window` and `skipped`, from 0."""
    start: float
    end: float
    scores: list[float]
    confidence: float
    """Distance of the score from the threshold, 0 to 1."""
    result: Literal["spoofed", "bonafide"]
    """`spoofed` means AI-generated, `bonafide` means human."""


class StreamSkipped(TypedDict):
    """A window without enough speech."""

    type: Literal["skipped"]
    event: int
    """Number of the message among `window` and `skipped`, from 0."""
    start: float
    end: float
    non_speech_percent: float


_StreamResult = TypedDict("_StreamResult", {"global": "GlobalVerdict"})


class StreamResult(_StreamResult):
    """The verdict on the whole stream: that of a file with the same audio. The server then closes with 1000."""

    type: Literal["result"]
    events: int
    """All messages `window` and `skipped`."""
    prediction_id: str
    """The client's own identifier, or else `pred_` and 12 hexadecimal characters."""
    model: str
    """Id of the model that answered."""
    profile: NotRequired[str]
    """The profile that corrected the scores; absent if the request named none."""
    audio_duration: float
    """Duration of the audio in seconds."""
    warnings: list[str]
    """One sentence per warning; empty if there are no warnings."""
    contains_generated: NotRequired[bool]
    """Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has
    `detail=stretches`.
    """
    stretches: NotRequired[list[Stretch]]
    """The stretches that sound AI-generated, in the order of the recording. Absent unless the request has
    `detail=stretches`.
    """


class StreamError(TypedDict):
    """Why the server ends the connection. It closes with 4000 plus `status`."""

    type: Literal["error"]
    error: Literal[
        "validation_error",
        "unauthorized",
        "forbidden",
        "not_found",
        "method_not_allowed",
        "timeout",
        "payload_too_large",
        "unsupported_format",
        "rate_limited",
        "internal_error",
        "unavailable",
    ]
    key: str
    """Line in errors.md."""
    message: str
    status: int
    retry_after_s: NotRequired[float]
    """When another try can help."""
    correlation_id: str
    """Identifies the request; the same UUID is in the header `x-correlation-id`."""


_CallWindow = TypedDict("_CallWindow", {"global": "StreamVerdict"})


class CallWindow(_CallWindow):
    """The verdict on a window of a leg. Times are those of the call."""

    type: Literal["window"]
    event: int
    """Number of the message among `window` and `skipped`, from 0."""
    start: float
    end: float
    scores: list[float]
    confidence: float
    """Distance of the score from the threshold, 0 to 1."""
    result: Literal["spoofed", "bonafide"]
    """`spoofed` means AI-generated, `bonafide` means human."""
    leg: Literal["inbound", "outbound"]
    """`inbound`: from the caller to the provider. `outbound`: the other way."""


class CallSkipped(TypedDict):
    """A window of a leg without enough speech."""

    type: Literal["skipped"]
    event: int
    """Number of the message among `window` and `skipped`, from 0."""
    start: float
    end: float
    non_speech_percent: float
    leg: Literal["inbound", "outbound"]
    """`inbound`: from the caller to the provider. `outbound`: the other way."""


_CallResult = TypedDict("_CallResult", {"global": "GlobalVerdict"})


class CallResult(_CallResult):
    """The verdict on a whole leg."""

    type: Literal["result"]
    events: int
    """All messages `window` and `skipped`."""
    prediction_id: str
    """The client's own identifier, or else `pred_` and 12 hexadecimal characters."""
    model: str
    """Id of the model that answered."""
    profile: NotRequired[str]
    """The profile that corrected the scores; absent if the request named none."""
    audio_duration: float
    """Duration of the audio in seconds."""
    warnings: list[str]
    """One sentence per warning; empty if there are no warnings."""
    contains_generated: NotRequired[bool]
    """Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has
    `detail=stretches`.
    """
    stretches: NotRequired[list[Stretch]]
    """The stretches that sound AI-generated, in the order of the recording. Absent unless the request has
    `detail=stretches`.
    """
    leg: Literal["inbound", "outbound"]
    """`inbound`: from the caller to the provider. `outbound`: the other way."""


class CallError(TypedDict):
    """Why a leg has no result; without `leg`, the call."""

    type: Literal["error"]
    error: Literal[
        "validation_error",
        "unauthorized",
        "forbidden",
        "not_found",
        "method_not_allowed",
        "timeout",
        "payload_too_large",
        "unsupported_format",
        "rate_limited",
        "internal_error",
        "unavailable",
    ]
    key: str
    """Line in errors.md."""
    message: str
    status: int
    retry_after_s: NotRequired[float]
    """When another try can help."""
    correlation_id: str
    """Identifies the request; the same UUID is in the header `x-correlation-id`."""
    leg: NotRequired[Literal["inbound", "outbound"]]
    """`inbound`: from the caller to the provider. `outbound`: the other way."""


class CallEnd(TypedDict):
    """The last event of a call."""

    type: Literal["end"]
