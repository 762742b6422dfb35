// SPDX-License-Identifier: Apache-2.0
import type { FieldSchema } from './fields.js';
import type { Fields } from './operation.js';

export const LINK_FIELD = 'presigned_url';

const link: FieldSchema = {
  type: 'string',
  expected: 'a string',
  description:
    'Where the server fetches the file: from its object storage, or a host that its operator has allowed.',
};

/** The same fields in JSON, where a link stands in place of the file. */
export const withLink = ({ schemas, example }: Fields): Fields => ({
  schemas: { [LINK_FIELD]: link, ...schemas },
  required: [LINK_FIELD],
  example: { [LINK_FIELD]: 'https://storage.example.com/recording.wav?X-Amz-Signature=0f1e', ...example },
});
