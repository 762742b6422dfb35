// SPDX-License-Identifier: Apache-2.0
import {
  BUCKET,
  encoded,
  MAX_BYTES_PARAMETER,
  OWNER_PARAMETER,
  PAYLOAD_HEADER,
  UNSIGNED_PAYLOAD,
} from './signature.js';
import type { SigningCredentials } from './signing-credentials.js';

export interface LinkRequest {
  readonly method: 'GET' | 'PUT';
  /** Scheme and host, with the port if it is not the scheme's own. */
  readonly origin: string;
  /** Between both in the link; a proxy removes it, so it is not signed. */
  readonly publicPath?: string;
  readonly name: string;
  readonly lifetimeS: number;
  readonly maxBytes?: number | undefined;
  /** Sealed by LinkOwners. */
  readonly owner?: string | undefined;
}

/** Makes links to the embedded storage: S3 path-style URLs, signed in their query. */
export class LinkSigner {
  readonly #credentials: SigningCredentials;

  constructor(credentials: SigningCredentials) {
    this.#credentials = credentials;
  }

  async sign(request: LinkRequest, signingDate = new Date()): Promise<string> {
    const { method, origin, publicPath = '', name, lifetimeS, maxBytes, owner } = request;
    const host = origin.replace(/^https?:\/\//, '');
    const path = `/${BUCKET}/${name.split('/').map(encoded).join('/')}`;
    // The payload's hash goes into the signature but neither into the headers nor into the link.
    const hidden = new Set([PAYLOAD_HEADER]);
    const signed = await (await this.#credentials.current.signer()).presign(
      {
        method,
        protocol: 'http:',
        hostname: host,
        path,
        query: {
          ...(maxBytes !== undefined && { [MAX_BYTES_PARAMETER]: String(maxBytes) }),
          ...(owner !== undefined && { [OWNER_PARAMETER]: owner }),
        },
        headers: { host, [PAYLOAD_HEADER]: UNSIGNED_PAYLOAD },
      },
      { signingDate, expiresIn: lifetimeS, unhoistableHeaders: hidden, unsignableHeaders: hidden },
    );
    const query = Object.entries(signed.query ?? {}).map(
      ([key, value]) => `${encoded(key)}=${encoded(String(value))}`,
    );
    return `${origin}${publicPath}${path}?${query.join('&')}`;
  }
}
