// SPDX-License-Identifier: Apache-2.0
import type { BodyOf } from './schema.js';

/** The answer of `POST /file` and `GET /file` (docs/api.md#links). */
export const linkList = {
  title: 'LinkList',
  type: 'object',
  properties: {
    url: {
      type: 'array',
      description: 'One entry per object.',
      items: {
        type: 'object',
        properties: {
          key: { type: 'string', description: 'The object key, as `<entity>/<key>`.', minLength: 3 },
          value: {
            type: 'string',
            description: 'A presigned link to the object storage.',
            pattern: '^https?://[^?#]+\\?[^#]+$',
          },
        },
        required: ['key', 'value'],
        additionalProperties: false,
      },
    },
  },
  required: ['url'],
  additionalProperties: false,
  examples: [
    {
      url: [
        {
          key: 'analysis/recording.wav',
          value: 'https://storage.example.com/recording.wav?X-Amz-Expires=900&X-Amz-Signature=0f1e',
        },
      ],
    },
  ],
} as const;

export type LinkList = BodyOf<typeof linkList>;
