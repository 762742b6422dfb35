// SPDX-License-Identifier: Apache-2.0

export const correlationId = {
  type: 'string',
  description: 'Identifies the request; the same UUID is in the header `x-correlation-id`.',
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
} as const;

export const predictionId = {
  type: 'string',
  description: "The client's own identifier, or else `pred_` and 12 hexadecimal characters.",
  pattern: '^[A-Za-z0-9._:-]{1,128}$',
} as const;

export const modelVersion = {
  type: 'string',
  description: 'Id of the model that answered.',
  minLength: 1,
} as const;

export const processingTime = {
  type: 'number',
  description: 'Processing time of the request in seconds.',
  minimum: 0,
} as const;

export const audioDuration = {
  type: 'number',
  description: 'Duration of the audio in seconds.',
  exclusiveMinimum: 0,
} as const;
