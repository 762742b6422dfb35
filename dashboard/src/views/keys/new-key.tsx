// SPDX-License-Identifier: Apache-2.0
import type { AdminCreatedKey } from 'veravox-client';
import { curlLine } from '../../logic/key-fields.js';
import { CodeBlock } from '../../parts/code-block.js';
import { Name } from '../../parts/name.js';
import { ShownOnce } from '../../parts/shown-once.js';
import { baseUrl } from '../../session.js';

interface NewKeyProps {
  readonly created: AdminCreatedKey;
  readonly onClose: () => void;
}

export function NewKey({ created, onClose }: NewKeyProps) {
  return (
    <ShownOnce
      id={created.id}
      title={
        <>
          The new key: <Name text={created.name} />
        </>
      }
      onClose={onClose}
    >
      <p>Copy the key now: the server keeps only a hash of it and cannot show it again.</p>
      <CodeBlock text={created.key} label="The key" />
      {created.scopes.some((scope) => scope === 'predict' || scope === 'admin') && (
        <>
          <p>A first request with it:</p>
          <CodeBlock text={curlLine(baseUrl, created.key)} label="curl command" />
        </>
      )}
    </ShownOnce>
  );
}
