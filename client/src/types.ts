// SPDX-License-Identifier: Apache-2.0
//
// Made by `npm run docs` from the schemas that the server validates by. Do not edit.

export interface PredictFields {
  /**
   * The source of the recording.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * The client's own identifier for the prediction; the server makes one by default.
   */
  prediction_id?: string;
  /**
   * Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses fewer people. Can also be the name of an operating point that the server's operator made for the model.
   */
  threshold?: number | string;
  /**
   * Windows with a higher percentage of non-speech are skipped; 100 skips none.
   */
  silence_threshold?: number;
  /**
   * The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for recordings like those of one channel.
   */
  profile?: string;
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on both sides of a call.
   */
  channels?: 'mixed' | 'separate';
  /**
   * With `stretches`, the answer also says whether the recording contains AI-generated speech, and where (docs/predict.md).
   */
  detail?: 'stretches';
}

export interface LargeFileFields {
  /**
   * The source of the recording.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * The client's own identifier for the prediction; the server makes one by default.
   */
  prediction_id?: string;
  /**
   * The file's original name, for reference only.
   */
  filename?: string;
  /**
   * The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for recordings like those of one channel.
   */
  profile?: string;
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on both sides of a call.
   */
  channels?: 'mixed' | 'separate';
  /**
   * With `stretches`, the answer also says whether the recording contains AI-generated speech, and where (docs/predict.md).
   */
  detail?: 'stretches';
}

export interface NewProfileFields {
  /**
   * Its name in requests. If the model has a profile of this name, that one gets a new version.
   */
  name: string;
  /**
   * The detector; the server says which there are.
   */
  model?: string;
}

export interface ProfileVersionFields {
  /**
   * Number of the version.
   */
  version: number;
  /**
   * The detector; the server says which there are.
   */
  model?: string;
}

export interface EnrollFields {
  /**
   * The client's own identifier for the speaker; it is neither stored nor used.
   */
  user_id?: string;
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
}

export interface EnrollSamplesFields {
  /**
   * The client's own identifier for the speaker; it is neither stored nor used.
   */
  user_id?: string;
}

export interface VerifyFields {
  /**
   * The client's own identifier for the speaker; it is neither stored nor used.
   */
  user_id?: string;
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * The embedding from enroll: a JSON array, or base64 of little-endian float32.
   */
  voice_vector: string;
}

export interface IdentifyFields {
  /**
   * The client's own identifier for the speaker; it is neither stored nor used.
   */
  user_id?: string;
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * Number of matches to return.
   */
  top?: number;
  /**
   * Probability that the speaker is on the list, before the voice is heard.
   */
  prior?: number;
  /**
   * The list, at most 33554432 bytes of JSON. A `voice_vector` is as for verify; `embedding` is another name for it, and other members are ignored.
   */
  voiceprints: string;
}

export interface JobFields {
  /**
   * Link to the recording: to the object storage, or to a host that the operator allows. Either this or `key`.
   */
  presigned_url?: string;
  /**
   * Key of a stored file. Either this or `presigned_url`.
   */
  key?: string;
  /**
   * Entity of the stored file.
   */
  entity?: string;
  /**
   * Two requests with the same value make one job.
   */
  idempotency_key?: string;
  /**
   * Link to which the server posts the end of the job: to a host that the operator allows (docs/webhooks.md).
   */
  callback_url?: string;
  /**
   * The source of the recording.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * The client's own identifier for the prediction; the server makes one by default.
   */
  prediction_id?: string;
  /**
   * Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses fewer people. Can also be the name of an operating point that the server's operator made for the model.
   */
  threshold?: number | string;
  /**
   * Windows with a higher percentage of non-speech are skipped; 100 skips none.
   */
  silence_threshold?: number;
  /**
   * The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for recordings like those of one channel.
   */
  profile?: string;
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on both sides of a call.
   */
  channels?: 'mixed' | 'separate';
  /**
   * With `stretches`, the answer also says whether the recording contains AI-generated speech, and where (docs/predict.md).
   */
  detail?: 'stretches';
  /**
   * With `enroll`, the result is a voiceprint, as `POST /v1/voiceid/enroll` answers it. Of the fields for analyses, only `start` and `end` apply then, and the key also needs the scope `voiceid`.
   */
  task?: 'predict' | 'enroll';
  /**
   * The client's own identifier for the speaker; it is neither stored nor used.
   */
  user_id?: string;
}

export interface BatchFields {
  /**
   * The manifest itself: CSV or JSON lines. Either this, `key` or `presigned_url`.
   */
  lines?: string;
  /**
   * Key of a stored manifest.
   */
  key?: string;
  /**
   * Entity of the stored manifest.
   */
  entity?: string;
  /**
   * Link to the manifest, as for a recording.
   */
  presigned_url?: string;
  /**
   * Key of the result, with the entity `results`; by default `batches/<id of the job>.jsonl`.
   */
  result_key?: string;
  /**
   * Two requests with the same value make one job.
   */
  idempotency_key?: string;
  /**
   * Link to which the server posts the end of the job: to a host that the operator allows (docs/webhooks.md).
   */
  callback_url?: string;
  /**
   * The source of the recording.
   */
  device?: 'macos' | 'windows' | 'web_app' | 'api';
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses fewer people. Can also be the name of an operating point that the server's operator made for the model.
   */
  threshold?: number | string;
  /**
   * Windows with a higher percentage of non-speech are skipped; 100 skips none.
   */
  silence_threshold?: number;
  /**
   * The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for recordings like those of one channel.
   */
  profile?: string;
  /**
   * Analyse from here on, in seconds; by default from the start of the recording.
   */
  start?: number;
  /**
   * Analyse up to here, in seconds; by default up to the end of the recording.
   */
  end?: number;
  /**
   * With `separate`, the answer has a verdict on each channel in addition to the one on their mix, for instance on both sides of a call.
   */
  channels?: 'mixed' | 'separate';
  /**
   * With `stretches`, the answer also says whether the recording contains AI-generated speech, and where (docs/predict.md).
   */
  detail?: 'stretches';
}

export interface SignInFields {
  /**
   * The user's name. With the link of the first start, the name of the new user; by default, `admin`.
   */
  name?: string;
  /**
   * The password; with a link, the new one.
   */
  password: string;
  /**
   * The token in a link for setting a password.
   */
  token?: string;
}

export interface PasswordFields {
  /**
   * The current password.
   */
  password: string;
  /**
   * The new password.
   */
  new_password: string;
}

export interface NewUserFields {
  /**
   * Unique, whatever the case.
   */
  name: string;
  /**
   * Their rights.
   */
  role: 'viewer' | 'developer' | 'admin';
  /**
   * Whose keys and jobs they see, and the account of their playground.
   */
  account?: string;
}

export interface UserChangeFields {
  /**
   * The new role.
   */
  role?: 'viewer' | 'developer' | 'admin';
  /**
   * The new account.
   */
  account?: string;
  /**
   * True to refuse sign-ins.
   */
  disabled?: boolean;
}

export interface AdminNewKey {
  /**
   * The purpose of the key. Clients never see it.
   */
  name: string;
  /**
   * Whose key it is: keys of one account share stored files and jobs. By default, `default` or your own account.
   */
  account?: string;
  /**
   * The permissions of the key; `admin` includes all others, and only admins give it.
   */
  scopes: ('predict' | 'voiceid' | 'file' | 'admin')[];
  /**
   * Requests per window; 0 for no limit, null for the server's own limit.
   */
  rate?: {
    requests: number;
    window_s: number;
  } | null;
  /**
   * Requests in flight at once; 0 for no limit, null for the server's own.
   */
  concurrency?: number | null;
  /**
   * The key is refused from then on; null for never.
   */
  expires_at?: string | null;
}

export interface AdminKeyChange {
  /**
   * The purpose of the key. Clients never see it.
   */
  name?: string;
  /**
   * The permissions of the key; `admin` includes all others, and only admins give it.
   */
  scopes?: ('predict' | 'voiceid' | 'file' | 'admin')[];
  /**
   * Requests per window; 0 for no limit, null for the server's own limit.
   */
  rate?: {
    requests: number;
    window_s: number;
  } | null;
  /**
   * Requests in flight at once; 0 for no limit, null for the server's own.
   */
  concurrency?: number | null;
  /**
   * The key is refused from then on; null for never.
   */
  expires_at?: string | null;
}

export interface DriftReferenceFields {
  /**
   * The detector; the server says which there are.
   */
  model: string;
  /**
   * Number of hours in the new reference, including the current one.
   */
  hours?: number;
}

export interface StreamFields {
  /**
   * `pcm16`: samples of 16 bits, little-endian, one channel. `mulaw` and `alaw`: G.711, one channel. `opus`: one Opus packet per message, without a container.
   */
  encoding: 'pcm16' | 'mulaw' | 'alaw' | 'opus';
  /**
   * Samples per second. Required for `pcm16`; 8000 by default for G.711; Opus always counts at 48000.
   */
  sample_rate?: number;
  /**
   * Channels of the Opus packets; other encodings have one.
   */
  channels?: 1 | 2;
  /**
   * Samples that the Opus encoder puts before the audio; 312 for most. An Ogg file's header has the number.
   */
  pre_skip?: number;
  /**
   * The detector; the server says which there are.
   */
  model?: string;
  /**
   * The client's own identifier for the prediction; the server makes one by default.
   */
  prediction_id?: string;
  /**
   * Score from which a window is `spoofed`. A lower threshold finds more AI-generated voices, a higher one accuses fewer people. Can also be the name of an operating point that the server's operator made for the model.
   */
  threshold?: number | string;
  /**
   * Windows with a higher percentage of non-speech are skipped; 100 skips none.
   */
  silence_threshold?: number;
  /**
   * The name of a profile of the model, of `POST /v1/profiles` or from the operator: it corrects scores for recordings like those of one channel.
   */
  profile?: string;
  /**
   * With `stretches`, the answer also says whether the recording contains AI-generated speech, and where (docs/predict.md).
   */
  detail?: 'stretches';
}

export interface GlobalVerdict {
  /**
   * Probability of being AI-generated.
   */
  score: number;
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
  /**
   * Null, or a code for why the verdict needs caution.
   */
  reason: string | null;
}

export interface Segment {
  /**
   * Start of the window in seconds.
   */
  start: number;
  /**
   * End of the window in seconds.
   */
  end: number;
  /**
   * Scores of the window.
   *
   * Items: Probability of being AI-generated.
   */
  scores: number[];
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
}

export interface Stretch {
  /**
   * Start of the stretch in seconds.
   */
  start: number;
  /**
   * End of the stretch in seconds.
   */
  end: number;
  /**
   * Probability of being AI-generated.
   */
  score: number;
  /**
   * How far it stands out from the rest of the recording, as a difference of log-odds; null for a recording that is AI-generated as a whole.
   */
  strength: number | null;
}

export interface ChannelVerdict {
  /**
   * The channel, from 0 on.
   */
  channel: number;
  /**
   * Null if no window of the channel had enough speech.
   */
  global: GlobalVerdict | null;
  /**
   * One entry per analysed window.
   */
  segments: Segment[];
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
  /**
   * Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has `detail=stretches`.
   */
  contains_generated?: boolean;
  /**
   * The stretches that sound AI-generated, in the order of the recording. Absent unless the request has `detail=stretches`.
   */
  stretches?: Stretch[];
}

export interface Prediction {
  /**
   * The client's own identifier, or else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  global: GlobalVerdict;
  /**
   * One entry per analysed window.
   */
  segments: Segment[];
  /**
   * Id of the model that answered.
   */
  model: string;
  /**
   * The profile that corrected the scores; absent if the request named none.
   */
  profile?: string;
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Duration of the audio in seconds.
   */
  audio_duration: number;
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
  /**
   * The verdict on each channel; absent unless the request has `channels=separate`.
   */
  channels?: ChannelVerdict[];
  /**
   * Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has `detail=stretches`.
   */
  contains_generated?: boolean;
  /**
   * The stretches that sound AI-generated, in the order of the recording. Absent unless the request has `detail=stretches`.
   */
  stretches?: Stretch[];
}

export interface LargeFileGlobalVerdict {
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
  /**
   * Null, or a code for why the verdict needs caution.
   */
  reason: string | null;
}

export interface LargeFileSegment {
  /**
   * Zero-based position.
   */
  index: number;
  /**
   * Start of the window in seconds.
   */
  start: number;
  /**
   * End of the window in seconds.
   */
  end: number;
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
}

export interface LargeFileChannelVerdict {
  /**
   * The channel, from 0 on.
   */
  channel: number;
  /**
   * Null if no window of the channel had enough speech.
   */
  global: LargeFileGlobalVerdict | null;
  /**
   * One entry per analysed window.
   */
  segments: LargeFileSegment[];
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
  /**
   * Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has `detail=stretches`.
   */
  contains_generated?: boolean;
  /**
   * The stretches that sound AI-generated, in the order of the recording. Absent unless the request has `detail=stretches`.
   */
  stretches?: Stretch[];
}

export interface LargeFilePrediction {
  /**
   * The client's own identifier, or else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  global: LargeFileGlobalVerdict;
  /**
   * One entry per analysed window.
   */
  segments: LargeFileSegment[];
  /**
   * Id of the model that answered.
   */
  model: string;
  /**
   * The profile that corrected the scores; absent if the request named none.
   */
  profile?: string;
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Duration of the audio in seconds.
   */
  audio_duration: number;
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
  /**
   * The verdict on each channel; absent unless the request has `channels=separate`.
   */
  channels?: LargeFileChannelVerdict[];
  /**
   * Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has `detail=stretches`.
   */
  contains_generated?: boolean;
  /**
   * The stretches that sound AI-generated, in the order of the recording. Absent unless the request has `detail=stretches`.
   */
  stretches?: Stretch[];
}

/**
 * The recordings behind it.
 */
export interface ProfileRecordings {
  /**
   * Genuine recordings that made it.
   */
  genuine: number;
  /**
   * AI-generated recordings that tested it.
   */
  generated: number;
}

/**
 * Wrong verdicts among all.
 */
export interface ProfileErrors {
  /**
   * Wrong verdicts at threshold 0.5.
   */
  count: number;
  /**
   * All verdicts.
   */
  of: number;
  /**
   * Their share.
   */
  value: number;
  /**
   * The 95 % Wilson interval of the share.
   */
  interval_95: number[];
}

/**
 * Genuine recordings called spoofed, each judged by a profile that was made without it.
 */
export interface ProfileGain {
  without: ProfileErrors;
  with: ProfileErrors;
}

/**
 * AI-generated speech called human.
 */
export interface ProfileCost {
  without: ProfileErrors;
  with: ProfileErrors;
}

/**
 * Its gain and its cost: errors without it and with it.
 */
export interface ProfileMeasurement {
  flagged: ProfileGain;
  passed: ProfileCost;
  /**
   * The same for the given AI-generated recordings; null without any.
   */
  passed_own: ProfileCost | null;
}

/**
 * Its effect on scores. Nothing else of the recordings is kept.
 */
export interface ProfileCorrection {
  /**
   * A unit vector among the detector's: little-endian float32 in base64.
   */
  direction: string;
  /**
   * Place on it up to which scores stay as they are.
   */
  from: number;
  /**
   * Place on it from which they fall by `strength`.
   */
  to: number;
  /**
   * In log-odds.
   */
  strength: number;
}

export interface ProfileVersion {
  /**
   * Number of the version, from 1 on.
   */
  version: number;
  /**
   * Whether requests may use it: its detector is loaded, with the same weights, recipe and calibration.
   */
  usable: boolean;
  recordings: ProfileRecordings;
  measured: ProfileMeasurement;
  /**
   * Time at which the version was made.
   */
  created_at: string;
  /**
   * Whether requests that name the profile use this version.
   */
  in_use: boolean;
}

export interface LeftOutRecording {
  field: 'file' | 'generated';
  /**
   * Position among the files of the field, from 0 on.
   */
  index: number;
  /**
   * Name of the error in docs/errors.md.
   */
  key: string;
  /**
   * A sentence for people.
   */
  message: string;
}

export interface MadeProfile {
  /**
   * Its name in requests.
   */
  name: string;
  /**
   * Id of its detector.
   */
  model: string;
  /**
   * Whether it is the operator's, for all accounts, rather than the account's own.
   */
  shared: boolean;
  /**
   * Number of the version, from 1 on.
   */
  version: number;
  /**
   * Whether requests may use it: its detector is loaded, with the same weights, recipe and calibration.
   */
  usable: boolean;
  recordings: ProfileRecordings;
  measured: ProfileMeasurement;
  /**
   * Time at which the version was made.
   */
  created_at: string;
  correction: ProfileCorrection;
  /**
   * All versions that are kept, the latest first.
   */
  versions: ProfileVersion[];
  /**
   * Recordings that could not be analysed, have no speech, or repeat an earlier one of the field.
   */
  left_out: LeftOutRecording[];
}

export interface ProfileSummary {
  /**
   * Its name in requests.
   */
  name: string;
  /**
   * Id of its detector.
   */
  model: string;
  /**
   * Whether it is the operator's, for all accounts, rather than the account's own.
   */
  shared: boolean;
  /**
   * Number of the version, from 1 on.
   */
  version: number;
  /**
   * Whether requests may use it: its detector is loaded, with the same weights, recipe and calibration.
   */
  usable: boolean;
  recordings: ProfileRecordings;
  measured: ProfileMeasurement;
  /**
   * Time at which the version was made.
   */
  created_at: string;
}

export interface ProfileList {
  /**
   * The account's own profiles and those for all accounts, by name: the version in use of each.
   */
  profiles: ProfileSummary[];
}

export interface Profile {
  /**
   * Its name in requests.
   */
  name: string;
  /**
   * Id of its detector.
   */
  model: string;
  /**
   * Whether it is the operator's, for all accounts, rather than the account's own.
   */
  shared: boolean;
  /**
   * Number of the version, from 1 on.
   */
  version: number;
  /**
   * Whether requests may use it: its detector is loaded, with the same weights, recipe and calibration.
   */
  usable: boolean;
  recordings: ProfileRecordings;
  measured: ProfileMeasurement;
  /**
   * Time at which the version was made.
   */
  created_at: string;
  correction: ProfileCorrection;
  /**
   * All versions that are kept, the latest first.
   */
  versions: ProfileVersion[];
}

export interface DeletedProfile {
  /**
   * Its name.
   */
  deleted: string;
}

export interface StreamTicket {
  /**
   * Opens one stream: the name of a WebSocket protocol after `veravox.ticket.`, or the end of the path of a call.
   */
  ticket: string;
  /**
   * Seconds for which it can be used.
   */
  expires_in_s: number;
}

export interface Enrollment {
  /**
   * The voiceprint: numbers with float32 precision.
   */
  embedding: number[];
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Id of the model that answered.
   */
  model_version: string;
  /**
   * Whether the sample was checked for AI generation.
   */
  deepfake_checked: boolean;
}

export interface SampleReport {
  /**
   * Position among the samples, from 0 on.
   */
  index: number;
  /**
   * Whether the sample is part of the voiceprint.
   */
  accepted: boolean;
  /**
   * Why it is not: `too_short`, `ai_generated`, or `disagrees` if it sounds like another speaker than the other samples.
   */
  reason: 'too_short' | 'ai_generated' | 'disagrees' | null;
  /**
   * Seconds of audio; null if it is too short to be analysed.
   */
  duration: number | null;
  /**
   * Seconds of speech in it.
   */
  speech: number | null;
  /**
   * How far the loudest speech is above the quietest, in dB; below 18 it is noisy. Null with less than 1 s of speech.
   */
  snr_db: number | null;
  /**
   * Cosine with the mean of the other accepted samples; null if there are none, or if it was not compared.
   */
  agreement: number | null;
}

export interface EnrollmentQuality {
  /**
   * `good` without shortcomings, `fair` with one, `poor` with more.
   */
  rating: 'good' | 'fair' | 'poor';
  /**
   * Shortcomings that further samples could remedy.
   */
  shortcomings: ('little_speech' | 'few_samples' | 'noisy' | 'low_agreement')[];
  /**
   * Seconds of speech in the accepted samples.
   */
  speech: number;
  /**
   * The lowest agreement of an accepted sample; null if only one is accepted.
   */
  agreement: number | null;
}

export interface SampleEnrollment {
  /**
   * The voiceprint: numbers with float32 precision.
   */
  embedding: number[];
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Id of the model that answered.
   */
  model_version: string;
  /**
   * Whether the sample was checked for AI generation.
   */
  deepfake_checked: boolean;
  /**
   * The rating of each sample.
   */
  samples: SampleReport[];
  quality: EnrollmentQuality;
}

export interface Verification {
  /**
   * Whether the sample matches the voiceprint.
   */
  is_match: boolean;
  /**
   * Calibrated similarity, with six significant digits.
   */
  similarity_score: number;
  /**
   * Distance of the similarity from the model's operating point.
   */
  confidence_score: number;
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Id of the model that answered.
   */
  model_version: string;
  /**
   * Null if the voice is authentic or was not checked.
   */
  deepfake_score: number | null;
}

export interface IdentificationMatch {
  /**
   * The id in the list.
   */
  id: string;
  /**
   * Position in the list, from 0 on.
   */
  index: number;
  /**
   * Cosine of the two voiceprints.
   */
  cosine: number;
  /**
   * Calibrated similarity, as verify answers it.
   */
  similarity_score: number;
  /**
   * Probability that this is the speaker, given the whole list and `prior`.
   */
  probability: number;
  /**
   * Probability that the best score of a stranger in a list of this length is at least as high; null if the model does not know.
   */
  stranger_probability: number | null;
  /**
   * Whether the similarity is at or above the model's operating point and `stranger_probability` is at most 0.01.
   */
  is_match: boolean;
}

export interface Identification {
  /**
   * The voiceprints that are most alike, the best first.
   */
  matches: IdentificationMatch[];
  /**
   * Probability that the speaker is not on the list, given `prior`.
   */
  unknown_probability: number;
  /**
   * Best similarity that a stranger reaches in a list of this length: in half of the lists, and in one of a hundred.
   */
  stranger_similarity: {
    /**
     * In half of them.
     */
    median: number;
    /**
     * In one of a hundred.
     */
    one_in_100: number;
  } | null;
  /**
   * Voiceprints in the list.
   */
  compared: number;
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Id of the model that answered.
   */
  model_version: string;
  /**
   * An AI-generated voice is answered with 403.
   */
  deepfake_score: null;
}

export interface JobEnrollment {
  /**
   * The voiceprint: numbers with float32 precision.
   */
  embedding: number[];
  /**
   * Processing time of the request in seconds.
   */
  processing_time: number;
  /**
   * Id of the model that answered.
   */
  model_version: string;
  /**
   * Whether the sample was checked for AI generation.
   */
  deepfake_checked: boolean;
  /**
   * The score, if an AI-generated voice was enrolled nevertheless; absent otherwise.
   */
  deepfake_flagged?: number;
  /**
   * One sentence on each part of the recording that was not heard; absent if all was heard.
   */
  warnings?: string[];
}

export interface BatchProgress {
  /**
   * Lines of the manifest that were read.
   */
  lines: number;
  /**
   * Lines with a verdict.
   */
  succeeded: number;
  /**
   * Lines that failed or were cancelled.
   */
  failed: number;
  /**
   * Key of the result, with the entity `results`; null before the end.
   */
  result_key: string | null;
}

export interface WebhookLog {
  /**
   * The `webhook-id`; the same at each attempt.
   */
  id: string;
  /**
   * `delivered` and `failed` are final, unless the operator has it sent again.
   */
  state: 'waiting' | 'sending' | 'delivered' | 'failed';
  /**
   * Time of the next attempt; null if there is none.
   */
  next_attempt_at: string | null;
  /**
   * The latest 24 at most, in the order of time.
   */
  attempts: {
    /**
     * Time of the request.
     */
    at: string;
    /**
     * Milliseconds to the end of the answer.
     */
    took_ms: number;
    /**
     * Status of the answer; null without one.
     */
    status: number | null;
    /**
     * Why it failed; null if it did not.
     */
    problem: string | null;
  }[];
}

export interface Job {
  /**
   * Id of the job.
   */
  id: string;
  /**
   * `batch` for a list of recordings (docs/batches.md).
   */
  task: 'predict' | 'enroll' | 'batch';
  /**
   * `succeeded`, `failed` and `cancelled` are final.
   */
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /**
   * Time of the request.
   */
  created_at: string;
  /**
   * Time of the first start; null before.
   */
  started_at: string | null;
  /**
   * Time of the end; null before.
   */
  finished_at: string | null;
  /**
   * Number of starts.
   */
  attempts: number;
  /**
   * Jobs of all accounts that go first; null unless the job is queued.
   */
  queue_position: number | null;
  /**
   * Seconds of audio that are analysed and saved.
   */
  audio_analysed: number;
  /**
   * Share of the file that was read, 0 to 1.
   */
  file_progress: number;
  /**
   * Why the job failed, or why its last attempt did; null without a failure.
   */
  error: {
    /**
     * Name of the error in docs/errors.md.
     */
    key: string;
    /**
     * A sentence for people.
     */
    message: string;
  } | null;
  /**
   * The verdict, as `POST /v1/predict` answers it, or the voiceprint of an enrolment; null unless the job has succeeded.
   */
  result: Prediction | JobEnrollment | null;
  /**
   * Counts of the lines of a batch; null for other jobs.
   */
  batch: BatchProgress | null;
  /**
   * How the end of the job was posted to its `callback_url`; null without one, and before the end.
   */
  webhook: WebhookLog | null;
}

export interface JobSummary {
  /**
   * Id of the job.
   */
  id: string;
  /**
   * `batch` for a list of recordings (docs/batches.md).
   */
  task: 'predict' | 'enroll' | 'batch';
  /**
   * `succeeded`, `failed` and `cancelled` are final.
   */
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /**
   * Time of the request.
   */
  created_at: string;
  /**
   * Time of the first start; null before.
   */
  started_at: string | null;
  /**
   * Time of the end; null before.
   */
  finished_at: string | null;
  /**
   * Number of starts.
   */
  attempts: number;
  /**
   * Jobs of all accounts that go first; null unless the job is queued.
   */
  queue_position: number | null;
  /**
   * Seconds of audio that are analysed and saved.
   */
  audio_analysed: number;
  /**
   * Share of the file that was read, 0 to 1.
   */
  file_progress: number;
  /**
   * Why the job failed, or why its last attempt did; null without a failure.
   */
  error: {
    /**
     * Name of the error in docs/errors.md.
     */
    key: string;
    /**
     * A sentence for people.
     */
    message: string;
  } | null;
}

export interface JobList {
  /**
   * The newest first, without results.
   */
  jobs: JobSummary[];
  /**
   * For the next page; null on the last.
   */
  next_cursor: string | null;
}

export interface LinkList {
  /**
   * One entry per object.
   */
  url: {
    /**
     * The object key, as `<entity>/<key>`.
     */
    key: string;
    /**
     * A presigned link to the object storage.
     */
    value: string;
  }[];
}

export interface DeletedFiles {
  /**
   * The object keys, as `<entity>/<key>`.
   */
  deleted: string[];
}

export interface SignInWays {
  /**
   * With name and password.
   */
  password: boolean;
  /**
   * With an OpenID provider: `/v1/admin/oidc/start` leads there.
   */
  oidc: boolean;
}

export interface AdminSession {
  /**
   * A person, or a program with an API key.
   */
  kind: 'user' | 'key';
  /**
   * Of the user or the key; the audit log has it.
   */
  id: string;
  /**
   * The user's name; for a key, its id.
   */
  name: string;
  /**
   * Their rights.
   */
  role: 'viewer' | 'developer' | 'admin';
  /**
   * They see keys and jobs of this account only; null for all accounts.
   */
  account: string | null;
  /**
   * For the header `x-csrf-token` of every change with the cookie; empty for keys, which need no token.
   */
  csrf_token: string;
  /**
   * End of the session at the latest; null for keys.
   */
  expires_at: string | null;
}

export interface AdminSessionsEnded {
  /**
   * Number of ended sessions.
   */
  sessions: number;
}

export interface OwnSession {
  /**
   * Id of the session in paths. It signs nobody in.
   */
  id: string;
  /**
   * Whether this request belongs to it.
   */
  is_current: boolean;
  /**
   * Time of the sign-in.
   */
  created_at: string;
  /**
   * Time of its latest request, to within a minute.
   */
  last_used_at: string;
  /**
   * Its end at the latest.
   */
  expires_at: string;
  /**
   * Address of the sign-in; null if it was before the server kept it.
   */
  client_address: string | null;
  /**
   * The name that the browser gave itself then, in at most 200 characters; null if it gave none.
   */
  user_agent: string | null;
}

export interface OwnSessionList {
  /**
   * The last used first.
   */
  sessions: OwnSession[];
}

export interface AdminUser {
  /**
   * Id of the user in paths and in the audit log.
   */
  id: string;
  /**
   * Their name for signing in.
   */
  name: string;
  /**
   * Their rights.
   */
  role: 'viewer' | 'developer' | 'admin';
  /**
   * Whose keys and jobs they see, unless they are administrators; the account of their playground.
   */
  account: string;
  /**
   * Whether they can sign in with a password.
   */
  has_password: boolean;
  /**
   * Their OpenID provider; null without one.
   */
  issuer: string | null;
  /**
   * Time of the creation.
   */
  created_at: string;
  /**
   * Time since which they cannot sign in; null if they can.
   */
  disabled_at: string | null;
}

export interface AdminUserList {
  /**
   * The oldest first.
   */
  users: AdminUser[];
}

export interface AdminLink {
  /**
   * For the field `token` of `POST /v1/admin/session`. It is shown only once.
   */
  token: string;
  /**
   * Address of the page for choosing a password.
   */
  path: string;
  /**
   * It works once, until then.
   */
  expires_at: string;
}

export interface AdminInvitation {
  user: AdminUser;
  link: AdminLink;
}

export interface PlaygroundKey {
  /**
   * For the header `x-api-key`. It is shown only once.
   */
  key: string;
  /**
   * Its id in logs and usage.
   */
  id: string;
  /**
   * Its scopes.
   */
  scopes: ('predict' | 'voiceid' | 'file' | 'admin')[];
  /**
   * End of the key, unless the session ends earlier.
   */
  expires_at: string;
}

export interface AdminKey {
  /**
   * Its public part, also in the log.
   */
  id: string;
  /**
   * Its purpose. Any text: show it as text, never as markup.
   */
  name: string;
  /**
   * Whose key it is.
   */
  account: string;
  /**
   * Its permissions.
   */
  scopes: ('predict' | 'voiceid' | 'file' | 'admin')[];
  /**
   * A page of the dashboard has made it for itself, and it ends with the session.
   */
  ends_with_session: boolean;
  /**
   * Neither expired nor revoked.
   */
  active: boolean;
  /**
   * Requests per window, 0 for no limit; null for the server's own limit.
   */
  rate: {
    requests: number;
    window_s: number;
  } | null;
  /**
   * Requests in flight at once, 0 for no limit; null for the server's own limit.
   */
  concurrency: number | null;
  /**
   * Time of its creation.
   */
  created_at: string;
  /**
   * From then on it is refused; null if it does not expire.
   */
  expires_at: string | null;
  /**
   * Time of its revocation; null without one.
   */
  revoked_at: string | null;
  /**
   * The last UTC day on which a request came with it; null without any in the kept usage.
   */
  last_used_day: string | null;
}

export interface AdminKeyList {
  /**
   * The newest first.
   */
  keys: AdminKey[];
  /**
   * For the next page; null on the last.
   */
  next_cursor: string | null;
}

export interface AdminCreatedKey {
  /**
   * Its public part, also in the log.
   */
  id: string;
  /**
   * Its purpose. Any text: show it as text, never as markup.
   */
  name: string;
  /**
   * Whose key it is.
   */
  account: string;
  /**
   * Its permissions.
   */
  scopes: ('predict' | 'voiceid' | 'file' | 'admin')[];
  /**
   * A page of the dashboard has made it for itself, and it ends with the session.
   */
  ends_with_session: boolean;
  /**
   * Neither expired nor revoked.
   */
  active: boolean;
  /**
   * Requests per window, 0 for no limit; null for the server's own limit.
   */
  rate: {
    requests: number;
    window_s: number;
  } | null;
  /**
   * Requests in flight at once, 0 for no limit; null for the server's own limit.
   */
  concurrency: number | null;
  /**
   * Time of its creation.
   */
  created_at: string;
  /**
   * From then on it is refused; null if it does not expire.
   */
  expires_at: string | null;
  /**
   * Time of its revocation; null without one.
   */
  revoked_at: string | null;
  /**
   * The last UTC day on which a request came with it; null without any in the kept usage.
   */
  last_used_day: string | null;
  /**
   * The key itself, with its secret. It is shown only once.
   */
  key: string;
}

export interface AdminUsageRow {
  /**
   * UTC day.
   */
  day: string;
  /**
   * The account of the key.
   */
  account: string;
  /**
   * Id of the key.
   */
  key_id: string;
  /**
   * Its name, any text; null if the key is gone.
   */
  key_name: string | null;
  /**
   * A page of the dashboard has made the key for itself; such keys are removed when they are over.
   */
  ends_with_session: boolean;
  /**
   * Path of the route, `job` for jobs; null by key.
   */
  route: string | null;
  /**
   * Requests, and jobs that ended.
   */
  requests: number;
  /**
   * Of these, those without success.
   */
  errors: number;
  /**
   * Seconds of analysed audio.
   */
  audio_s: number;
  /**
   * Windows that were scored.
   */
  windows: number;
  /**
   * Bytes of request bodies that arrived in full.
   */
  bytes: number;
}

export interface AdminUsageTotals {
  /**
   * Requests, and jobs that ended.
   */
  requests: number;
  /**
   * Of these, those without success.
   */
  errors: number;
  /**
   * Seconds of analysed audio.
   */
  audio_s: number;
  /**
   * Windows that were scored.
   */
  windows: number;
  /**
   * Bytes of request bodies that arrived in full.
   */
  bytes: number;
}

export interface AdminUsage {
  /**
   * First UTC day.
   */
  from: string;
  /**
   * Last UTC day.
   */
  to: string;
  /**
   * By day, account and key. There are no rows for days without requests.
   */
  rows: AdminUsageRow[];
  totals: AdminUsageTotals;
}

export interface AdminJobSummary {
  /**
   * Id of the job.
   */
  id: string;
  /**
   * `batch` for a list of recordings (docs/batches.md).
   */
  task: 'predict' | 'enroll' | 'batch';
  /**
   * `succeeded`, `failed` and `cancelled` are final.
   */
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /**
   * Time of the request.
   */
  created_at: string;
  /**
   * Time of the first start; null before.
   */
  started_at: string | null;
  /**
   * Time of the end; null before.
   */
  finished_at: string | null;
  /**
   * Number of starts.
   */
  attempts: number;
  /**
   * Jobs of all accounts that go first; null unless the job is queued.
   */
  queue_position: number | null;
  /**
   * Seconds of audio that are analysed and saved.
   */
  audio_analysed: number;
  /**
   * Share of the file that was read, 0 to 1.
   */
  file_progress: number;
  /**
   * Why the job failed, or why its last attempt did; null without a failure.
   */
  error: {
    /**
     * Name of the error in docs/errors.md.
     */
    key: string;
    /**
     * A sentence for people.
     */
    message: string;
  } | null;
  /**
   * Whose job it is.
   */
  account: string;
  /**
   * Id of the key that created it.
   */
  key_id: string;
  /**
   * Whether `retry` works: the job has failed, and its recording is a stored file.
   */
  retryable: boolean;
}

export interface AdminJobList {
  /**
   * The newest first, without results.
   */
  jobs: AdminJobSummary[];
  /**
   * For the next page; null on the last.
   */
  next_cursor: string | null;
}

export interface AdminJobFile {
  /**
   * Entity of the stored file.
   */
  entity: string;
  /**
   * Its key, which may be any text.
   */
  key: string;
}

export interface AdminJobParameters {
  /**
   * The detector, as the request named it.
   */
  model: string;
  /**
   * The threshold, also if the request named an operating point.
   */
  threshold: number;
  /**
   * Windows with a higher percentage of non-speech are skipped.
   */
  silence_threshold: number;
  /**
   * Start of the region in seconds; null for the whole recording.
   */
  start: number | null;
  /**
   * Its end; null for the end of the recording.
   */
  end: number | null;
  /**
   * Whether each channel gets a verdict of its own.
   */
  separate_channels: boolean;
}

export interface AdminJob {
  /**
   * Id of the job.
   */
  id: string;
  /**
   * `batch` for a list of recordings (docs/batches.md).
   */
  task: 'predict' | 'enroll' | 'batch';
  /**
   * `succeeded`, `failed` and `cancelled` are final.
   */
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /**
   * Time of the request.
   */
  created_at: string;
  /**
   * Time of the first start; null before.
   */
  started_at: string | null;
  /**
   * Time of the end; null before.
   */
  finished_at: string | null;
  /**
   * Number of starts.
   */
  attempts: number;
  /**
   * Jobs of all accounts that go first; null unless the job is queued.
   */
  queue_position: number | null;
  /**
   * Seconds of audio that are analysed and saved.
   */
  audio_analysed: number;
  /**
   * Share of the file that was read, 0 to 1.
   */
  file_progress: number;
  /**
   * Why the job failed, or why its last attempt did; null without a failure.
   */
  error: {
    /**
     * Name of the error in docs/errors.md.
     */
    key: string;
    /**
     * A sentence for people.
     */
    message: string;
  } | null;
  /**
   * Whose job it is.
   */
  account: string;
  /**
   * Id of the key that created it.
   */
  key_id: string;
  /**
   * Whether `retry` works: the job has failed, and its recording is a stored file.
   */
  retryable: boolean;
  /**
   * The stored file with the recording; null for links, and for jobs that have succeeded or were cancelled.
   */
  file: AdminJobFile | null;
  /**
   * Parameters of the verdict; null for other tasks.
   */
  parameters: AdminJobParameters | null;
  /**
   * The verdict, as `POST /v1/predict` answers it; null without one. Voiceprints are never shown here.
   */
  result: Prediction | null;
  /**
   * Counts of the lines of a batch; null for other tasks.
   */
  batch: BatchProgress | null;
}

export interface AdminDelivery {
  /**
   * The `webhook-id`; the same at each attempt.
   */
  id: string;
  /**
   * `delivered` and `failed` are final, unless the operator has it sent again.
   */
  state: 'waiting' | 'sending' | 'delivered' | 'failed';
  /**
   * Time of the next attempt; null if there is none.
   */
  next_attempt_at: string | null;
  /**
   * The latest 24 at most, in the order of time.
   */
  attempts: {
    /**
     * Time of the request.
     */
    at: string;
    /**
     * Milliseconds to the end of the answer.
     */
    took_ms: number;
    /**
     * Status of the answer; null without one.
     */
    status: number | null;
    /**
     * Why it failed; null if it did not.
     */
    problem: string | null;
  }[];
  /**
   * Id of the ended job.
   */
  job_id: string;
  /**
   * Whose job it is.
   */
  account: string;
  /**
   * Its address, without the query, which may contain a secret.
   */
  url: string;
  /**
   * Time of the end of the job.
   */
  created_at: string;
  /**
   * Time of its delivery or failure; null before.
   */
  finished_at: string | null;
  /**
   * All attempts, including those before a replay.
   */
  attempt_count: number;
}

export interface AdminDeliveryList {
  /**
   * The newest first.
   */
  deliveries: AdminDelivery[];
}

export interface AdminAnalysisFacts {
  /**
   * Names that `model` may have in a request for a verdict.
   */
  model_names: string[];
  /**
   * The one without `model`.
   */
  default_model: string;
  /**
   * The default of `threshold`.
   */
  threshold: number;
  /**
   * The default of `silence_threshold`.
   */
  silence_threshold: number;
  /**
   * The largest file that `POST /v1/predict` takes.
   */
  max_file_bytes: number;
  /**
   * The served detectors.
   */
  detectors: {
    /**
     * Its exact id.
     */
    id: string;
    /**
     * Other names that requests may give.
     */
    aliases: string[];
    /**
     * Verdicts with a lower confidence are `uncertain`; null if that is not known.
     */
    uncertain_below: number | null;
    /**
     * Named thresholds for this model.
     */
    operating_points: {
      name: string;
      threshold: number;
    }[];
  }[];
}

export interface AdminModelFile {
  /**
   * Its name in the folder of models.
   */
  name: string | null;
  /**
   * Its SHA-256.
   */
  sha256: string;
  /**
   * Its size, including weights in a separate file; null if it is missing.
   */
  bytes: number | null;
}

export interface AdminOperatingPoint {
  /**
   * As requests name it in `threshold`.
   */
  name: string;
  /**
   * The threshold that it stands for.
   */
  threshold: number;
  /**
   * False if it was found with other weights, another recipe or another calibration.
   */
  usable: boolean;
}

export interface AdminAbstention {
  /**
   * A global confidence below this gives the reason `uncertain`.
   */
  confidence_below: number;
  /**
   * Bound of the share of wrong verdicts among those without a reason, with 95 % confidence.
   */
  error_bound: number;
  /**
   * Share of verdicts without a reason.
   */
  verdicts_given: number;
}

export interface AdminKnownAnswer {
  /**
   * The clip.
   */
  file: string;
  /**
   * The scores of its windows, or the first values of its embedding.
   */
  expected: number[];
  /**
   * Largest difference of each number; null for the default.
   */
  tolerance: number | null;
  /**
   * Whether the model reproduced it when it was loaded; null if not tried.
   */
  holds: boolean | null;
}

export interface AdminFigure {
  /**
   * The figure.
   */
  value: number;
  /**
   * 95 % bootstrap interval over systems and sources; null if there are too few of them.
   */
  interval_95: number[] | null;
}

export interface AdminThreshold {
  /**
   * Scores from here on are `spoofed`.
   */
  threshold: number;
  /**
   * The share of false positives that it was fitted to on the same clips; null for a given threshold.
   */
  target_fpr: number | null;
  fpr: AdminFigure;
  fnr: AdminFigure;
}

export interface AdminDetPoint {
  /**
   * Its threshold; null if only the shape of the curve is known.
   */
  threshold: number | null;
  /**
   * Human clips called spoofed.
   */
  fpr: number;
  /**
   * AI-generated clips that pass.
   */
  fnr: number;
}

export interface AdminVerificationFigures {
  /**
   * Kind of the recordings.
   */
  condition: string;
  /**
   * Seconds of compared speech.
   */
  test_speech_s: number;
  eer: AdminFigure;
  /**
   * Strangers accepted at the operating point.
   */
  false_accepts: AdminFigure | null;
  /**
   * The right speaker refused there.
   */
  false_rejects: AdminFigure | null;
}

export interface AdminModelFigures {
  /**
   * The recordings; null if unknown.
   */
  measured_on: string | null;
  /**
   * Human clips among them.
   */
  human_clips: number | null;
  /**
   * AI-generated clips among them.
   */
  generated_clips: number | null;
  /**
   * Equal error rate of a detector.
   */
  eer: AdminFigure | null;
  /**
   * Area under the ROC curve of a detector.
   */
  auc: AdminFigure | null;
  /**
   * Equal error rate with equal weight for every system and source.
   */
  eer_groups_alike: AdminFigure | null;
  /**
   * Error rates at some thresholds, by `target_fpr` and threshold; null if unknown.
   */
  thresholds: AdminThreshold[] | null;
  /**
   * The detection error trade-off by falling `fpr`; null if unknown.
   */
  det: AdminDetPoint[] | null;
  /**
   * Of a speaker model; null for detectors, and if unknown.
   */
  verification: AdminVerificationFigures[] | null;
}

export interface AdminModel {
  /**
   * Exact id of the model.
   */
  id: string;
  /**
   * Other names that requests may use.
   */
  aliases: string[];
  /**
   * Its task.
   */
  task: 'detection' | 'speaker';
  file: AdminModelFile;
  /**
   * Hash of everything that its scores depend on.
   */
  score_fingerprint: string;
  /**
   * Licence of the weights.
   */
  licence: string | null;
  /**
   * Seconds of audio per input.
   */
  window_s: number | null;
  /**
   * Score = sigmoid(scale x + bias), of the log-odds or of the cosine.
   */
  calibration: {
    scale: number;
    bias: number;
  } | null;
  /**
   * Voice identity refuses voices from this score on; or, for speaker models, the least similarity of a match.
   */
  operating_point: number;
  /**
   * Named thresholds of `veravox calibrate`.
   */
  operating_points: AdminOperatingPoint[];
  /**
   * When a detector's verdict is uncertain; null without such an entry.
   */
  abstention: AdminAbstention | null;
  /**
   * Clips with known scores.
   */
  known_answers: AdminKnownAnswer[];
  figures: AdminModelFigures;
  /**
   * Whether `/v1/admin/models/{id}/card` answers.
   */
  has_card: boolean;
}

export interface AdminModelList {
  /**
   * Device that runs the models.
   */
  provider: 'cpu' | 'cuda' | 'webgpu';
  /**
   * Why the CPU runs the models although a GPU was requested.
   */
  fallback_reason: string | null;
  /**
   * The GPUs and CPUs that run the models.
   */
  devices: {
    /**
     * `cpu`, `webgpu` or, for example, `cuda:0`.
     */
    device: string;
    working: boolean;
    /**
     * Why a GPU was taken out. It is tried again by itself.
     */
    problem: string | null;
  }[];
  /**
   * In the order of the manifest, detectors first.
   */
  models: AdminModel[];
}

export interface ServerState {
  version: string;
  state: 'starting' | 'ready' | 'wrong_answers' | 'storage_unusable' | 'not_writable' | 'stopping';
  /**
   * Of the process that answers.
   */
  uptime_s: number;
  /**
   * Device that runs the models.
   */
  provider: 'cpu' | 'cuda' | 'webgpu';
  /**
   * Why the CPU runs the models although a GPU was requested.
   */
  fallback_reason: string | null;
  devices: {
    /**
     * `cpu`, `webgpu` or, for example, `cuda:0`.
     */
    device: string;
    working: boolean;
    /**
     * Why a GPU was taken out. It is tried again by itself.
     */
    problem: string | null;
  }[];
  models: {
    id: string;
    task: 'detection' | 'speaker';
    aliases: string[];
    /**
     * Of the model's file.
     */
    sha256: string;
  }[];
  /**
   * Known-answer checks that failed.
   */
  wrong_answers: {
    model: string;
    /**
     * The known clip.
     */
    file: string;
    /**
     * The scores of its windows, or the first values of its embedding.
     */
    expected: number[];
    /**
     * Empty if the model could not answer.
     */
    measured: number[];
    tolerance: number;
    /**
     * The reason if the model could not answer.
     */
    error: string | null;
  }[];
  database: {
    kind: 'sqlite' | 'postgres';
    state: 'up' | 'unavailable' | 'full' | 'read_only';
  };
  storage: {
    kind: 'data_folder' | 'bucket';
    bucket: string | null;
  };
  /**
   * Of the data folder; null if unknown.
   */
  disk: {
    free_bytes: number;
    total_bytes: number;
  } | null;
  /**
   * Memory for the history, in the process that answers.
   */
  history_bytes: number;
  /**
   * Settings that limit the load of the server (docs/configuration.md).
   */
  limits: {
    setting: string;
    value: number;
  }[];
}

/**
 * Series of `points` numbers, one per step of `step_s` seconds from `from` on. Series of zeros are left out. The history is in memory, by seconds for an hour and by ten seconds for a day; a restart clears it.
 */
export interface HealthHistory {
  /**
   * Start of the first step, in seconds since 1970.
   */
  from: number;
  step_s: number;
  points: number;
  /**
   * Processes of the server. Their numbers are added up.
   */
  processes: number;
  /**
   * Recorded seconds of each step, over all processes: fewer if the server did not run or was blocked.
   */
  recorded_s: number[];
  /**
   * Requests by subject and outcome: `ok`, `client_error` (4xx), `limited` (429 and 503), `failed` (other 5xx), `gone` (the client left).
   */
  requests: {
    [k: string]: {
      [k: string]: number[];
    };
  };
  /**
   * Errors by their key (docs/errors.md).
   */
  refusals: {
    [k: string]: number[];
  };
  /**
   * Durations of answered and failed requests, in two buckets per doubling. For the percentiles of a period, add its buckets up.
   */
  latency: {
    /**
     * Upper ends of the buckets.
     */
    bounds_ms: number[];
    /**
     * Predictions and voice identity.
     */
    analysis: {
      /**
       * Index of its upper end in `bounds_ms`; one more for longer times.
       */
      bucket: number;
      requests: number[];
    }[];
    /**
     * Jobs and links.
     */
    other: {
      /**
       * Index of its upper end in `bounds_ms`; one more for longer times.
       */
      bucket: number;
      requests: number[];
    }[];
  };
  /**
   * Number of analyses, and their total wait for a thread in ms.
   */
  waits: {
    requests: number[];
    total_ms: number[];
  };
  /**
   * Scored windows by model.
   */
  windows: {
    [k: string]: number[];
  };
  /**
   * The largest value in each step; null without a record. `jobs_queued` and `jobs_running` cover all hosts with the same database.
   */
  gauges: {
    [k: string]: (number | null)[];
  };
}

export interface AdminHealth {
  now: ServerState;
  history: HealthHistory;
}

export interface ModelDrift {
  /**
   * The detector's id.
   */
  model: string;
  /**
   * The distribution to compare with; null before the first score.
   */
  reference: {
    /**
     * The first files that the model scored, or hours that an operator chose.
     */
    origin: 'first_files' | 'chosen';
    /**
     * False until it has enough files.
     */
    complete: boolean;
    /**
     * Time of its beginning or, if complete, of its completion.
     */
    made_at: string;
    /**
     * Analysed files, recordings and streams with speech.
     */
    files: number;
    windows: number;
    /**
     * Of files, each the mean of its windows. Numbers of scores per bin: below the first edge, between edges, from the last edge on.
     */
    file_bins: number[];
    /**
     * Numbers of scores per bin: below the first edge, between edges, from the last edge on.
     */
    window_bins: number[];
  } | null;
  /**
   * Scores of the last hours.
   */
  current: {
    /**
     * Analysed files, recordings and streams with speech.
     */
    files: number;
    windows: number;
    /**
     * Of files, each the mean of its windows. Numbers of scores per bin: below the first edge, between edges, from the last edge on.
     */
    file_bins: number[];
    /**
     * Numbers of scores per bin: below the first edge, between edges, from the last edge on.
     */
    window_bins: number[];
  };
  /**
   * The same by hour, the oldest first. Hours without scores are left out.
   */
  hours: {
    begins_at: string;
    /**
     * Analysed files, recordings and streams with speech.
     */
    files: number;
    windows: number;
    /**
     * Of files, each the mean of its windows. Numbers of scores per bin: below the first edge, between edges, from the last edge on.
     */
    file_bins: number[];
    /**
     * Numbers of scores per bin: below the first edge, between edges, from the last edge on.
     */
    window_bins: number[];
  }[];
  /**
   * Population stability index against the reference (docs/health.md); null with too few files.
   */
  file_index: number | null;
  /**
   * Population stability index against the reference (docs/health.md); null with too few files.
   */
  window_index: number | null;
  /**
   * Of the larger index: below 0.1 stable, below 0.25 moderate. `too_few`: too few files in the reference or in the last hours.
   */
  reading: 'too_few' | 'stable' | 'moderate' | 'large';
}

/**
 * Distribution of the scores of each detector. Counts only, no audio.
 */
export interface AdminDrift {
  /**
   * Of the bins, on the scale ln(score / (1 - score)).
   */
  logit_edges: number[];
  /**
   * Files of the last hours that an index needs.
   */
  min_files: number;
  /**
   * Files that a reference needs.
   */
  reference_files: number;
  models: ModelDrift[];
}

export interface DriftReference {
  /**
   * The detector's id.
   */
  model: string;
  /**
   * Files in the new reference.
   */
  files: number;
}

/**
 * The stream has begun.
 */
export interface StreamReady {
  type: 'ready';
  /**
   * Identifies the stream, also in the log.
   */
  session_id: string;
  /**
   * Proves that a later connection may go on.
   */
  secret: string;
  /**
   * How long a lost connection may be away.
   */
  resume_within_s: number;
  /**
   * Audio that may be ahead of the analysis; more ends the stream.
   */
  max_waiting_s: number;
  /**
   * Size of the largest binary message.
   */
  max_message_bytes: number;
  /**
   * The client's own identifier, or else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  /**
   * The detector, as the request names it.
   */
  model: string;
  /**
   * Id of the model that answered.
   */
  model_id: string;
  encoding: 'pcm16' | 'mulaw' | 'alaw' | 'opus';
  /**
   * Rate in which samples are counted.
   */
  sample_rate: number;
  threshold: number;
  /**
   * The profile that corrects scores; absent if none was named.
   */
  profile?: string;
  silence_threshold: number;
  /**
   * A sentence on each parameter without effect.
   */
  warnings: string[];
}

/**
 * The stream goes on: the next binary message has the audio after what has arrived.
 */
export interface StreamResumed {
  type: 'resumed';
  /**
   * Identifies the stream, also in the log.
   */
  session_id: string;
  /**
   * Samples that have arrived.
   */
  samples: number;
  /**
   * Binary messages that have arrived.
   */
  messages: number;
}

/**
 * Sent about once per second of audio.
 */
export interface StreamReceived {
  type: 'received';
  /**
   * Samples that have arrived.
   */
  samples: number;
  /**
   * Binary messages that have arrived.
   */
  messages: number;
  /**
   * Audio that has arrived and is not analysed yet.
   */
  waiting_s: number;
}

/**
 * The verdict on all windows so far.
 */
export interface StreamVerdict {
  /**
   * Probability of being AI-generated.
   */
  score: number;
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
  /**
   * Windows with a score.
   */
  windows: number;
}

/**
 * The verdict on a window, about 0.1 s of audio after its end.
 */
export interface StreamWindow {
  type: 'window';
  /**
   * Number of the message among `window` and `skipped`, from 0.
   */
  event: number;
  start: number;
  end: number;
  /**
   * Items: Probability of being AI-generated.
   */
  scores: number[];
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
  global: StreamVerdict;
}

/**
 * A window without enough speech.
 */
export interface StreamSkipped {
  type: 'skipped';
  /**
   * Number of the message among `window` and `skipped`, from 0.
   */
  event: number;
  start: number;
  end: number;
  non_speech_percent: number;
}

/**
 * The verdict on the whole stream: that of a file with the same audio. The server then closes with 1000.
 */
export interface StreamResult {
  type: 'result';
  /**
   * All messages `window` and `skipped`.
   */
  events: number;
  /**
   * The client's own identifier, or else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  global: GlobalVerdict;
  /**
   * Id of the model that answered.
   */
  model: string;
  /**
   * The profile that corrected the scores; absent if the request named none.
   */
  profile?: string;
  /**
   * Duration of the audio in seconds.
   */
  audio_duration: number;
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
  /**
   * Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has `detail=stretches`.
   */
  contains_generated?: boolean;
  /**
   * The stretches that sound AI-generated, in the order of the recording. Absent unless the request has `detail=stretches`.
   */
  stretches?: Stretch[];
}

/**
 * Why the server ends the connection. It closes with 4000 plus `status`.
 */
export interface StreamError {
  type: 'error';
  error:
    | 'validation_error'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'timeout'
    | 'payload_too_large'
    | 'unsupported_format'
    | 'rate_limited'
    | 'internal_error'
    | 'unavailable';
  /**
   * Line in errors.md.
   */
  key: string;
  message: string;
  status: number;
  /**
   * When another try can help.
   */
  retry_after_s?: number;
  /**
   * Identifies the request; the same UUID is in the header `x-correlation-id`.
   */
  correlation_id: string;
}

/**
 * The verdict on a window of a leg. Times are those of the call.
 */
export interface CallWindow {
  type: 'window';
  /**
   * Number of the message among `window` and `skipped`, from 0.
   */
  event: number;
  start: number;
  end: number;
  /**
   * Items: Probability of being AI-generated.
   */
  scores: number[];
  /**
   * Distance of the score from the threshold, 0 to 1.
   */
  confidence: number;
  /**
   * `spoofed` means AI-generated, `bonafide` means human.
   */
  result: 'spoofed' | 'bonafide';
  global: StreamVerdict;
  /**
   * `inbound`: from the caller to the provider. `outbound`: the other way.
   */
  leg: 'inbound' | 'outbound';
}

/**
 * A window of a leg without enough speech.
 */
export interface CallSkipped {
  type: 'skipped';
  /**
   * Number of the message among `window` and `skipped`, from 0.
   */
  event: number;
  start: number;
  end: number;
  non_speech_percent: number;
  /**
   * `inbound`: from the caller to the provider. `outbound`: the other way.
   */
  leg: 'inbound' | 'outbound';
}

/**
 * The verdict on a whole leg.
 */
export interface CallResult {
  type: 'result';
  /**
   * All messages `window` and `skipped`.
   */
  events: number;
  /**
   * The client's own identifier, or else `pred_` and 12 hexadecimal characters.
   */
  prediction_id: string;
  global: GlobalVerdict;
  /**
   * Id of the model that answered.
   */
  model: string;
  /**
   * The profile that corrected the scores; absent if the request named none.
   */
  profile?: string;
  /**
   * Duration of the audio in seconds.
   */
  audio_duration: number;
  /**
   * One sentence per warning; empty if there are no warnings.
   */
  warnings: string[];
  /**
   * Whether there is AI-generated speech anywhere, be it one sentence. Absent unless the request has `detail=stretches`.
   */
  contains_generated?: boolean;
  /**
   * The stretches that sound AI-generated, in the order of the recording. Absent unless the request has `detail=stretches`.
   */
  stretches?: Stretch[];
  /**
   * `inbound`: from the caller to the provider. `outbound`: the other way.
   */
  leg: 'inbound' | 'outbound';
}

/**
 * Why a leg has no result; without `leg`, the call.
 */
export interface CallError {
  type: 'error';
  error:
    | 'validation_error'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'timeout'
    | 'payload_too_large'
    | 'unsupported_format'
    | 'rate_limited'
    | 'internal_error'
    | 'unavailable';
  /**
   * Line in errors.md.
   */
  key: string;
  message: string;
  status: number;
  /**
   * When another try can help.
   */
  retry_after_s?: number;
  /**
   * Identifies the request; the same UUID is in the header `x-correlation-id`.
   */
  correlation_id: string;
  /**
   * `inbound`: from the caller to the provider. `outbound`: the other way.
   */
  leg?: 'inbound' | 'outbound';
}

/**
 * The last event of a call.
 */
export interface CallEnd {
  type: 'end';
}

export interface ErrorBody {
  /**
   * Machine-readable code.
   */
  error:
    | 'validation_error'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'timeout'
    | 'payload_too_large'
    | 'unsupported_format'
    | 'rate_limited'
    | 'internal_error'
    | 'unavailable';
  /**
   * Explanation for people.
   */
  message: string;
  /**
   * The HTTP status code.
   */
  status: number;
  /**
   * Identifies the request; the same UUID is in the header `x-correlation-id`.
   */
  correlation_id: string;
}

export interface ForbiddenErrorBody {
  statusCode: 403;
  message: {
    /**
     * Explanation for people, with the confidence as a percentage.
     */
    detail: string;
    type: 'forbidden_error';
    /**
     * Identifies the request; the same UUID is in the header `x-correlation-id`.
     */
    correlation_id: string;
    /**
     * Time of the answer, as ISO 8601 in UTC.
     */
    timestamp: string;
  };
}
