// SPDX-License-Identifier: Apache-2.0
import type { ErrorKey } from '../errors/catalogue.js';
import { formatsInWords, mediaFormats } from '../errors/media-formats.js';
import type { FieldSchemas } from './fields.js';
import type { Schema } from './schema.js';

/** The fields of a query or a body. */
export interface Fields {
  /** The name of their type in the client. */
  readonly title?: string;
  readonly schemas: FieldSchemas;
  readonly required?: readonly string[];
  /** A request that the server answers with 200. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** A binary body or part. Other sizes are refused. */
export interface Binary {
  readonly description: string;
  readonly minBytes?: number;
  readonly maxBytes: number;
}

export interface FilePart extends Binary {
  readonly field: string;
  /** Bounds for the number of parts with this name; one by default. */
  readonly files?: { readonly least: number; readonly most: number };
}

/** An answer of the route itself. */
export interface Answer {
  readonly description: string;
  /** Of a JSON body. */
  readonly schema?: Schema;
  /** Of another body. */
  readonly contentType?: string;
  /** The route's own headers, with descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const tags = {
  Detection: 'Is the voice in a recording human or AI-generated?',
  'Voice identity': 'Is this the enrolled speaker?',
  Jobs: 'Long recordings, analysed in the background.',
  Files: 'Links for moving large files to and from object storage.',
  Admin: 'For operators of the server: their dashboard, and their scripts.',
  Operation: 'For operators of the server. These endpoints need no key.',
} as const;

/** The documentation of a route, made of the schemas and limits that it checks requests against. */
export interface Operation {
  /** Its name in generated clients; v0 and the unversioned base get a suffix. */
  readonly id: string;
  readonly tag: keyof typeof tags;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Fields;
  readonly form?: Fields & { readonly file: FilePart; readonly otherFiles?: FilePart };
  readonly json?: Fields;
  /** A body that is a file and nothing else. */
  readonly bytes?: Binary;
  readonly answers: Readonly<Record<number, Answer>>;
  /** The errors of the route itself, without those of the front door. */
  readonly errors: readonly ErrorKey[];
}

/** In words, for descriptions. */
export const anyFormat = formatsInWords('or', mediaFormats);
export const anyAudioFormat = formatsInWords(
  'or',
  mediaFormats.filter(({ isAudio }) => isAudio),
);
