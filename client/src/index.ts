// SPDX-License-Identifier: Apache-2.0
//
// Needs only Node or a browser.
export * from './admin-client.js';
export type { OnUploadProgress, UploadProgress } from './body.js';
export {
  type BatchOptions,
  type ClientOptions,
  type JobFilter,
  type JobInput,
  type JobOptions,
  type Link,
  type ModelChoice,
  type PresignedInput,
  type ProfileOptions,
  type UploadOptions,
  VeravoxClient,
  type WaitOptions,
} from './client.js';
export { type ErrorCode, VeravoxError } from './error.js';
export type { ByteStream, FileInput, StreamInput } from './file-input.js';
export type { FollowOptions } from './followed.js';
export { enrollmentOf, verdictOf } from './job-result.js';
export { LiveStream, type StreamEvent, type StreamOptions, type WebSocketClass } from './stream.js';
export type { CallOptions } from './transport.js';
export type * from './types.js';
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookEvent,
  WebhookRefused,
  type WebhookRequest,
} from './webhook.js';
