// SPDX-License-Identifier: Apache-2.0
import type { BodyOf } from './schema.js';

/** The answer of `DELETE /file`. */
export const deletedFiles = {
  title: 'DeletedFiles',
  type: 'object',
  properties: {
    deleted: {
      type: 'array',
      description: 'The object keys, as `<entity>/<key>`.',
      items: { type: 'string', minLength: 3 },
    },
  },
  required: ['deleted'],
  additionalProperties: false,
  examples: [{ deleted: ['analysis/recording.wav'] }],
} as const;

export type DeletedFiles = BodyOf<typeof deletedFiles>;
