// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../../base/errors/service-error.js';
import { ChunkSignatures } from './chunk-signatures.js';
import { ChunkedBody } from './chunked-body.js';
import {
  encoded,
  isSame,
  MAX_BYTES_PARAMETER,
  OWNER_PARAMETER,
  PAYLOAD_HEADER,
  REGION,
  UNSIGNED_PAYLOAD,
} from './signature.js';
import type { SigningCredentials, SigningPair } from './signing-credentials.js';

export interface SignedRequest {
  readonly method: string;
  /** As it was sent, still percent-encoded. */
  readonly path: string;
  readonly query: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** The rights of a request with a valid signature. */
export interface Grant {
  /** Hexadecimal SHA-256 that the body must have; undefined if the signature leaves it open. */
  readonly bodySha256: string | undefined;
  /** Reads a body that comes as `aws-chunked`. */
  readonly chunks: ChunkedBody | undefined;
  readonly maxBytes: number | undefined;
  /** As LinkOwners has sealed it. */
  readonly owner: string | undefined;
  /** Parameters of the query that ask for something other than the object as a whole. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Others may have been added by the holder of a link. */
  readonly signedHeaders: ReadonlySet<string>;
}

/** The claims of a signature. */
interface Claim {
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
  readonly date: string;
  readonly payload: string;
}

interface CheckedClaim extends Claim {
  readonly pair: SigningPair;
}

/** How far the clock of a client may be ahead, and behind if the request has no lifetime of its own. */
const MAX_SKEW_MS = 15 * 60 * 1000;
const MAX_LIFETIME_S = 7 * 24 * 3600;
const CHUNKED_PAYLOAD = /^STREAMING-(?:UNSIGNED-PAYLOAD|(AWS4-HMAC-SHA256-PAYLOAD))(-TRAILER)?$/;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^, ]+), ?SignedHeaders=([^, ]+), ?Signature=([0-9a-f]{64})$/;

export const unsupported = (what: string): ServiceError =>
  new ServiceError('OBJECT_REQUEST_UNSUPPORTED', { what });
export const invalid = (expected: string, received: string): ServiceError =>
  new ServiceError('OBJECT_ARGUMENT_INVALID', { expected, received: JSON.stringify(received.slice(0, 100)) });
const mismatch = (): ServiceError => new ServiceError('SIGNATURE_MISMATCH');
const denied = (problem: string): ServiceError => new ServiceError('ACCESS_DENIED', { problem });

/**
 * Checks SigV4 signatures by making them again with the library that makes them: in the query (a link) or in the
 * `authorization` header (S3 programs that know the embedded storage's credentials).
 */
export class SignatureCheck {
  readonly #credentials: SigningCredentials;

  constructor(credentials: SigningCredentials) {
    this.#credentials = credentials;
  }

  /**
   * For requests that concern one object as a whole.
   * @throws ServiceError as `checkAny` does
   */
  async check(request: SignedRequest, now = new Date()): Promise<Grant> {
    const grant = await this.checkAny(request, now);
    refuseParameters(grant.parameters);
    return grant;
  }

  /**
   * @throws ServiceError ACCESS_DENIED, ACCESS_KEY_UNKNOWN, SIGNATURE_MISMATCH, LINK_EXPIRED, CLOCKS_DIFFER,
   *   OBJECT_ARGUMENT_INVALID, OBJECT_REQUEST_UNSUPPORTED
   */
  async checkAny(request: SignedRequest, now = new Date()): Promise<Grant> {
    const { parameters, claim } = await this.#checkSignature(request, now);
    const { payload } = claim;
    const chunks = this.#chunks(request, claim);
    const isDigest = /^[0-9a-f]{64}$/.test(payload);
    if (payload !== UNSIGNED_PAYLOAD && !isDigest && chunks === undefined) {
      if (payload.startsWith('STREAMING-')) throw unsupported(`${PAYLOAD_HEADER} ${payload.slice(0, 50)}`);
      throw invalid(`a SHA-256 in lower case or ${UNSIGNED_PAYLOAD} in ${PAYLOAD_HEADER}`, payload);
    }
    const maxBytes = parameters.get(MAX_BYTES_PARAMETER);
    if (!/^\d{1,15}$/.test(maxBytes ?? '0')) throw unsupported(`this value of ${MAX_BYTES_PARAMETER}`);
    return {
      bodySha256: isDigest ? payload : undefined,
      chunks,
      maxBytes: maxBytes === undefined ? undefined : Number(maxBytes),
      owner: parameters.get(OWNER_PARAMETER),
      parameters: new Map([...parameters].filter(([name]) => !KNOWN_PARAMETER.test(name))),
      signedHeaders: new Set(claim.signedHeaders.split(';')),
    };
  }

  async #checkSignature(
    request: SignedRequest,
    now: Date,
  ): Promise<{ parameters: Map<string, string>; claim: CheckedClaim }> {
    const parameters = parseQuery(request.query);
    const authorization = request.headers.get('authorization');
    if (authorization !== undefined && parameters.has('X-Amz-Signature'))
      throw new ServiceError('OBJECT_ARGUMENT_INVALID', {
        expected: 'one signature',
        received: 'a link and the header authorization',
      });
    const claim =
      authorization === undefined
        ? await this.#checkLink(request, parameters, now)
        : await this.#checkHeader(request, parameters, authorization, now);
    return { parameters, claim };
  }

  /** The reader of the body, if it comes in chunks. */
  #chunks(
    { headers }: SignedRequest,
    { payload, date, signature, pair }: CheckedClaim,
  ): ChunkedBody | undefined {
    const [form, isSigned, hasTrailer] = CHUNKED_PAYLOAD.exec(payload) ?? [];
    if (form === undefined) {
      if (!headers.get('content-encoding')?.includes('aws-chunked')) return undefined;
      throw unsupported(
        `the content-encoding aws-chunked without a ${PAYLOAD_HEADER} that says STREAMING-...`,
      );
    }
    const decodedLength = headers.get('x-amz-decoded-content-length') ?? '';
    const names = hasTrailer ? (headers.get('x-amz-trailer') ?? '') : '';
    return new ChunkedBody({
      trailerNames: new Set(
        names
          .toLowerCase()
          .split(/[\s,]+/)
          .filter((name) => name !== ''),
      ),
      contentBytes: /^\d{1,15}$/.test(decodedLength) ? Number(decodedLength) : undefined,
      signatures: isSigned ? new ChunkSignatures(pair.secretAccessKey, date, signature) : undefined,
    });
  }

  async #checkLink(
    request: SignedRequest,
    parameters: Map<string, string>,
    now: Date,
  ): Promise<CheckedClaim> {
    if (parameters.has('AWSAccessKeyId')) {
      throw denied(
        'the link has signature version 2. Expected version 4, which is signature_version="s3v4" in boto3.',
      );
    }
    const parameter = (name: string): string => {
      const value = parameters.get(name);
      if (value === undefined) throw denied(`the parameter ${name} is missing.`);
      return value;
    };
    if (parameter('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256') throw denied('X-Amz-Algorithm is another one.');
    const signedNames = parameter('X-Amz-SignedHeaders');
    const headerNames = new Set(signedNames.split(';'));
    const sentPayload = request.headers.get(PAYLOAD_HEADER);
    const signedPayload =
      (headerNames.has(PAYLOAD_HEADER) ? sentPayload : parameters.get('X-Amz-Content-Sha256')) ??
      UNSIGNED_PAYLOAD;
    const claim: Claim = {
      credential: parameter('X-Amz-Credential'),
      signedHeaders: signedNames,
      signature: parameter('X-Amz-Signature'),
      date: parameter('X-Amz-Date'),
      // A link that leaves the body open leaves its hash and coding to its holder.
      payload: signedPayload === UNSIGNED_PAYLOAD ? (sentPayload ?? UNSIGNED_PAYLOAD) : signedPayload,
    };
    const { signedAt, pair } = this.#checkClaim(claim);
    const lifetime = parameter('X-Amz-Expires');
    const lifetimeS = /^[1-9]\d{0,5}$/.test(lifetime) ? Number(lifetime) : Number.NaN;
    if (!(lifetimeS <= MAX_LIFETIME_S)) throw denied('X-Amz-Expires is not 1 to 604800 seconds.');

    const headers = signedHeaders(request, headerNames);
    const hidden = headerNames.has(PAYLOAD_HEADER) ? new Set<string>() : new Set([PAYLOAD_HEADER]);
    const signed = await (await pair.signer()).presign(
      {
        ...unsignedRequest(request, headers),
        query: Object.fromEntries(parameters),
        headers: { [PAYLOAD_HEADER]: signedPayload, ...headers },
      },
      {
        signingDate: signedAt,
        expiresIn: lifetimeS,
        signableHeaders: headerNames,
        unsignableHeaders: hidden,
        unhoistableHeaders: new Set([...headerNames, PAYLOAD_HEADER]),
      },
    );
    const expected = new Map(
      Object.entries(signed.query ?? {}).map(([name, value]) => [name, String(value)]),
    );
    for (const [name, value] of parameters) {
      const wanted = expected.get(name);
      if (wanted === undefined || !isSame(value, wanted)) throw mismatch();
    }
    if (signedAt.getTime() > now.getTime() + MAX_SKEW_MS) throw denied('the link is not valid yet.');
    const expiresAt = new Date(signedAt.getTime() + lifetimeS * 1000);
    if (expiresAt <= now) throw new ServiceError('LINK_EXPIRED', { expiresAt: expiresAt.toISOString() });
    if ((sentPayload ?? claim.payload) !== claim.payload) {
      throw invalid(`the signed ${PAYLOAD_HEADER}`, sentPayload ?? '');
    }
    return { ...claim, pair };
  }

  async #checkHeader(
    request: SignedRequest,
    parameters: Map<string, string>,
    authorization: string,
    now: Date,
  ): Promise<CheckedClaim> {
    const form = AUTHORIZATION.exec(authorization);
    if (form === null) throw denied('the authorization header has another form than AWS4-HMAC-SHA256.');
    const [, credential = '', signedHeaderList = '', signature = ''] = form;
    const payload = request.headers.get(PAYLOAD_HEADER);
    if (payload === undefined) throw denied(`the header ${PAYLOAD_HEADER} is missing.`);
    const claim: Claim = {
      credential,
      signedHeaders: signedHeaderList,
      signature,
      date: request.headers.get('x-amz-date') ?? '',
      payload,
    };
    const { signedAt, pair } = this.#checkClaim(claim);
    const headerNames = new Set(signedHeaderList.split(';'));
    if (!headerNames.has(PAYLOAD_HEADER)) throw denied(`the header ${PAYLOAD_HEADER} is not signed.`);
    const headers = signedHeaders(request, headerNames);
    const signed = await (await pair.signer()).sign(
      { ...unsignedRequest(request, headers), query: Object.fromEntries(parameters), headers },
      { signingDate: signedAt, signableHeaders: headerNames },
    );
    const expected = AUTHORIZATION.exec(signed.headers.authorization ?? '');
    const isRight = isSame(signedHeaderList, expected?.[2] ?? '') && isSame(signature, expected?.[3] ?? '');
    if (!isRight) throw mismatch();
    if (Math.abs(signedAt.getTime() - now.getTime()) > MAX_SKEW_MS) {
      throw new ServiceError('CLOCKS_DIFFER', { signedAt: signedAt.toISOString() });
    }
    return { ...claim, pair };
  }

  #checkClaim({ credential, signedHeaders: names, date }: Claim): { signedAt: Date; pair: SigningPair } {
    const signedAt = parseDate(date);
    if (signedAt === undefined) throw denied('the date is missing or malformed.');
    const [accessKeyId = '', ...scope] = credential.split('/');
    const pair = this.#credentials.find(accessKeyId);
    if (pair === undefined) throw new ServiceError('ACCESS_KEY_UNKNOWN');
    if (scope.join('/') !== `${date.slice(0, 8)}/${REGION}/s3/aws4_request`) {
      throw denied(
        `the credential's scope is not <date>/${REGION}/s3/aws4_request: set the region to ${REGION}.`,
      );
    }
    if (!names.split(';').includes('host')) throw denied('the header host is not signed.');
    return { signedAt, pair };
  }
}

/**
 * Only the one way of writing a query that SigV4 defines is taken: the signature covers the meaning of the parameters, so
 * another spelling of the same would pass unnoticed.
 */
function parseQuery(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name = '', ...rest] = pair.split('=').map(decoded);
    const value = rest.join('=');
    const canonical = `${encoded(name)}=${encoded(value)}`;
    const isCanonical = pair === canonical || `${pair}=` === canonical;
    if (!isCanonical || parameters.has(name)) throw mismatch();
    parameters.set(name, value);
  }
  return parameters;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw mismatch();
  }
}

function parseDate(text: string): Date | undefined {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  if (second === undefined) return undefined;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function signedHeaders(request: SignedRequest, names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries([...names].map((name) => [name, request.headers.get(name) ?? '']));
}

const unsignedRequest = ({ method, path }: SignedRequest, headers: Record<string, string>) => ({
  method,
  path,
  protocol: 'http:',
  hostname: headers.host ?? '',
});

const KNOWN_PARAMETER =
  /^(X-Amz-(Algorithm|Credential|Date|Expires|SignedHeaders|Signature|Content-Sha256)|x-id|x-amz-checksum-[a-z0-9]+|x-amz-sdk-checksum-algorithm|x-veravox-(owner|max-bytes))$/i;

/**
 * S3's other actions at the same path, which parameters ask for, must not be taken for storing or sending an object.
 * @throws ServiceError OBJECT_REQUEST_UNSUPPORTED
 */
export function refuseParameters(parameters: ReadonlyMap<string, string>): void {
  for (const name of parameters.keys()) throw unsupported(`the parameter ${name.slice(0, 50)}`);
}
