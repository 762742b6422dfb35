// SPDX-License-Identifier: Apache-2.0
import type { FieldSchema } from './fields.js';
import type { Fields } from './operation.js';

export const LINK_FIELD = 'presigned_url';

const link: FieldSchema = {
  type: 'string',
  expected: 'a string',
  description:
    'Link from which the server fetches the file: to its object storage, or to a host that its operator allows.',
};

/** The same fields in JSON, with a link in place of the file. */
export const withLink = ({ schemas, example }: Fields): Fields => ({
  schemas: { [LINK_FIELD]: link, ...schemas },
  required: [LINK_FIELD],
  example: { [LINK_FIELD]: 'https://storage.example.com/recording.wav?X-Amz-Signature=0f1e', ...example },
});
