// SPDX-License-Identifier: Apache-2.0
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { ownSchemas } from '../../base/config/own-schemas.js';
import type { FieldSchema, FieldSchemas } from '../../base/contract/fields.js';
import { isName } from '../../base/contract/names.js';
import { ServiceError } from '../../base/errors/service-error.js';
import { escapeInvisible } from '../../base/errors/visible-text.js';
import { once } from '../../base/once.js';
import type { UploadedForm } from '../upload/form-upload.js';
import { type Notes, noteFields } from '../upload/ignored-fields.js';
import type { Part } from '../upload/multipart-parser.js';

/** JSON's number without its ban on a leading plus, dot or zero; no spaces, no hexadecimal, no Infinity. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Programs write at most 24 characters for a number of double precision. */
export const MAX_NUMBER_CHARS = 32;
const MAX_SHOWN_CHARS = 100;

const nameKeyword = {
  keyword: 'isName',
  type: 'string',
  validate: (_isName: true, text: string): boolean => isName(text),
} as const;

const shown = (value: unknown): string => {
  const text = String(value);
  return text === '' ? 'an empty value' : escapeInvisible(JSON.stringify(text.slice(0, MAX_SHOWN_CHARS)));
};

/** A value from JSON, whose type may be the fault. */
const shownJson = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return value === '' ? 'an empty value' : `the string ${shown(value)}`;
  return `the ${typeof value} ${String(value).slice(0, MAX_SHOWN_CHARS)}`;
};

/** A secret, of which only this much may be known. */
const shownSecret = (value: unknown): string =>
  typeof value === 'string' ? `${value.length} characters` : `a value of type ${typeof value}`;

const mayBeNumber = ({ type }: FieldSchema): boolean => [type].flat().includes('number');

const isNumber = (text: string): boolean => text.length <= MAX_NUMBER_CHARS && NUMBER.test(text);

/**
 * Checks the values of a request's fields against their schema and fills in the defaults. One instance per route,
 * compiled by its first request: all of them together would take a twentieth of a start.
 */
export class FieldValidator<Values> {
  readonly #schemas: FieldSchemas;
  /** Of all its fields. */
  readonly names: readonly string[];
  readonly #compiled: () => ValidateFunction<Values>;

  constructor({ schemas, required = [] }: { schemas: FieldSchemas; required?: readonly string[] }) {
    this.#schemas = schemas;
    this.names = Object.keys(schemas);
    this.#compiled = once(() => {
      // Ajv fills in defaults; undefined ones stay absent.
      const ajv = new Ajv({
        ...ownSchemas,
        useDefaults: true,
        verbose: true,
        allowUnionTypes: true,
        keywords: ['expected', 'nullInForm', nameKeyword],
      });
      return ajv.compile<Values>({ type: 'object', properties: schemas, required });
    });
  }

  /**
   * Notes the fields of a body that have no effect.
   * @throws ServiceError FIELD_UNKNOWN if the client wants that refused
   */
  note(request: Notes, given: Readonly<Record<string, unknown>>): void {
    noteFields(request, Object.keys(given), this.names);
  }

  /**
   * @returns the same object, with defaults
   * @throws ServiceError FIELD_INVALID for the first field that does not fit
   */
  check(values: Record<string, unknown>, show = shown): Values {
    const isValid = this.#compiled();
    if (isValid(values)) return values;
    const error = isValid.errors?.[0] as ErrorObject;
    if (error.keyword === 'required') {
      const field = error.params.missingProperty as string;
      throw new ServiceError('FIELD_INVALID', {
        field,
        expected: this.#schemas[field]?.expected ?? 'a value',
        received: 'none',
      });
    }
    const { expected, writeOnly } = error.parentSchema as unknown as FieldSchema;
    throw new ServiceError('FIELD_INVALID', {
      field: error.instancePath
        .slice(1)
        .replace(/\/(\d{1,9})/g, '[$1]')
        .replaceAll('/', '.'),
      expected,
      received: writeOnly ? shownSecret(error.data) : show(error.data),
    });
  }

  /**
   * The known fields of a form; unknown ones are ignored.
   * @throws ServiceError FIELD_INVALID, FIELD_REPEATED
   */
  fromForm(form: UploadedForm): Values {
    const values: Record<string, unknown> = {};
    const seen = new Set<string>();
    for (const part of form.parts) {
      const schema = Object.hasOwn(this.#schemas, part.name) ? this.#schemas[part.name] : undefined;
      if (schema === undefined) continue;
      if (seen.has(part.name)) throw new ServiceError('FIELD_REPEATED', { field: part.name });
      seen.add(part.name);
      const text = form.text(part);
      if (schema.nullInForm && (text === '' || text === 'null')) continue;
      // Other text stays a string, so that the schema refuses it in its own words.
      values[part.name] = mayBeNumber(schema) && isNumber(text) ? Number(text) : text;
    }
    return this.check(values);
  }

  /**
   * The known fields of a query or of a JSON object; numbers may be texts, and null is like not given.
   * @throws ServiceError FIELD_INVALID
   */
  fromValues(given: Readonly<Record<string, unknown>>): Values {
    const values: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(this.#schemas)) {
      const value = Object.hasOwn(given, name) ? given[name] : null;
      if (value === null) continue;
      values[name] =
        typeof value === 'string' && mayBeNumber(schema) && isNumber(value) ? Number(value) : value;
    }
    return this.check(values, shownJson);
  }

  /**
   * The known fields of a JSON object; unknown ones are ignored, and null is like not given. Types are strict: "0.5" is
   * no number.
   * @throws ServiceError FIELD_INVALID
   */
  fromJson(object: Record<string, unknown>): Values {
    return this.#known(object, () => false);
  }

  /**
   * The same of a change, in which null stands for itself if a field may be null.
   * @throws ServiceError FIELD_INVALID
   */
  fromChange(object: Record<string, unknown>): Values {
    return this.#known(object, ({ type }) => [type].flat().includes('null'));
  }

  #known(object: Record<string, unknown>, takesNull: (schema: FieldSchema) => boolean): Values {
    const values: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(this.#schemas)) {
      if (!Object.hasOwn(object, name) || (object[name] === null && !takesNull(schema))) continue;
      values[name] = object[name];
    }
    return this.check(values, shownJson);
  }
}

/** Turns a form or a JSON object into the values of its fields. */
export type FieldReader<Values> = Pick<FieldValidator<Values>, 'names' | 'fromForm' | 'fromJson'>;

/** Reads fields and resolves them, which may refuse them. */
export const resolvedReader = <Values, Resolved>(
  validator: FieldReader<Values>,
  resolve: (fields: Values) => Resolved,
): FieldReader<Resolved> => ({
  names: validator.names,
  fromForm: (form) => resolve(validator.fromForm(form)),
  fromJson: (object) => resolve(validator.fromJson(object)),
});

/** A path has no more, and every format of audio has a byte in its head that no text has. */
const MAX_HEAD_BYTES = 4096;

/** RFC 7578 leaves the file name optional; a part that has neither name nor type may be text, such as a mistyped path. */
const isFile = (form: UploadedForm, part: Part): boolean =>
  part.filename !== undefined || part.contentType !== undefined || isBinary(form.bytes(part));

function isBinary(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, MAX_HEAD_BYTES);
  try {
    // Only the whole content may not end within a character.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: head !== bytes });
    return text.includes('\0');
  } catch {
    return true;
  }
}

function missingFileHint({ parts }: UploadedForm, field: string, text: Part | undefined): string {
  const other = parts.find((part) => part.filename !== undefined && part.name !== field);
  if (other !== undefined) {
    return `There is one in the field ${JSON.stringify(other.name.slice(0, MAX_SHOWN_CHARS))}: send it as ${field}.`;
  }
  return text === undefined
    ? ''
    : 'It holds text without a file name: with curl, an @ goes before the name of a file.';
}

/**
 * The files of a form.
 * @throws ServiceError FILE_MISSING, FIELD_REPEATED, FIELD_INVALID, FILE_EMPTY
 */
export function filesOf(form: UploadedForm, field: string, maxFiles = 1): readonly Part[] {
  const files = form.parts.filter(({ name }) => name === field);
  if (files.length > maxFiles) {
    if (maxFiles === 1) throw new ServiceError('FIELD_REPEATED', { field });
    throw new ServiceError('FIELD_INVALID', {
      field,
      expected: `at most ${maxFiles} files`,
      received: `${files.length}`,
    });
  }
  const text = files.find((part) => !isFile(form, part));
  if (files.length === 0 || text !== undefined) {
    throw new ServiceError('FILE_MISSING', { field, hint: missingFileHint(form, field, text) });
  }
  if (files.some(({ start, end }) => start === end)) throw new ServiceError('FILE_EMPTY', { field });
  return files;
}

/**
 * The part with this name, if there is one.
 * @throws ServiceError FIELD_REPEATED
 */
export function partNamed(form: UploadedForm, field: string): Part | undefined {
  const [part, other] = form.parts.filter(({ name }) => name === field);
  if (other !== undefined) throw new ServiceError('FIELD_REPEATED', { field });
  return part;
}
