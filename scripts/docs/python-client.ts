// SPDX-License-Identifier: Apache-2.0
//
// The generated files of the Python client.
import fs from 'node:fs';
import path from 'node:path';
import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { Schema } from '../../src/base/contract/schema.js';
import { namedSchemas } from './client-types.js';

const folder = path.join(packageDir, 'clients/python/src/veravox_client');
const LONGEST_LINE = 120;

/** As `npm run format` would. */
const formatted = (text: string): string =>
  new Workspace({ 'line-length': LONGEST_LINE }, PositionEncoding.Utf16).format(text);

/** Objects without a name in the schemas. */
const namesOfParts: Readonly<Record<string, string>> = {
  'Identification.stranger_similarity': 'StrangerSimilarity',
  'Job.error': 'JobError',
  'JobSummary.error': 'JobError',
  'LinkList.url': 'Link',
  'WebhookLog.attempts': 'WebhookAttempt',
};

/** Fields that have a parameter of their own in the client. */
const ownParameters: Readonly<Record<string, readonly string[]>> = {
  LargeFileFields: ['filename'],
  VerifyFields: ['voice_vector'],
  IdentifyFields: ['voiceprints'],
  NewProfileFields: ['name'],
};

/** Of Python: no name of an attribute, so its members get types by another way. */
const keywords = new Set(['from', 'global', 'with']);

const scalars: Readonly<Record<string, string>> = {
  string: 'str',
  number: 'float',
  integer: 'int',
  boolean: 'bool',
  null: 'None',
};

const literal = (value: unknown): string => (value === null ? 'None' : JSON.stringify(value));

const valuesOf = (schema: Schema = {}): readonly unknown[] =>
  Array.isArray(schema.enum) ? schema.enum : [schema.const];

const schemaOf = (value: unknown): Schema => value as Schema;

class TypeWriter {
  readonly classes = new Map<string, string>();

  add(name: string, schema: Schema): void {
    const required = (schema.required ?? []) as readonly string[];
    const isFields = name.endsWith('Fields');
    const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>).filter(
      ([property]) => !ownParameters[name]?.includes(property),
    );
    const typed = properties.map(([property, part]) => {
      const type = this.#typeOf(part, `${name}.${property}`);
      const isRequired = required.includes(property);
      const isUnlikeOthers = isRequired === isFields;
      const shown = isUnlikeOthers ? `${isRequired ? 'Required' : 'NotRequired'}[${type}]` : type;
      return { property, type: shown, lines: docstring(part.description ?? part.title, '    ') };
    });
    const attributes = typed.filter(({ property }) => !keywords.has(property));
    const items = typed.filter(({ property }) => keywords.has(property));
    const base = items.length === 0 ? 'TypedDict' : `_${name}`;
    const entries = items.map(({ property, type }) => `${literal(property)}: ${literal(type)}`);
    const bases = items.length === 0 ? [] : [`${base} = TypedDict("${base}", {${entries.join(', ')}})\n\n`];
    const lines = attributes.flatMap(({ property, type, lines }) => [`    ${property}: ${type}`, ...lines]);
    const total = isFields ? ', total=False' : '';
    const head = [`class ${name}(${base}${total}):`, ...docstring(schema.description, '    ')];
    const gap = head.length > 1 && lines.length > 0 ? [''] : [];
    this.classes.set(name, [...bases, ...head, ...gap, ...lines].join('\n'));
  }

  #typeOf(schema: Schema, where: string): string {
    const { title, type, items, anyOf } = schema;
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (Array.isArray(schema.enum)) {
      const values = schema.enum.filter((value) => value !== null).map(literal);
      return `Literal[${values.join(', ')}]${schema.enum.includes(null) ? ' | None' : ''}`;
    }
    if (Array.isArray(anyOf)) return anyOf.map((one) => this.#typeOf(schemaOf(one), where)).join(' | ');
    const types = Array.isArray(type) ? type : [type];
    return types
      .map((one) => {
        if (one === 'array') return `list[${this.#typeOf(schemaOf(items), where)}]`;
        if (one === 'object') return this.#objectType(title, schema, where);
        const scalar = scalars[String(one)];
        if (scalar === undefined) throw new Error(`${where} has the type ${JSON.stringify(one)}.`);
        return scalar;
      })
      .join(' | ');
  }

  #objectType(title: string | undefined, schema: Schema, where: string): string {
    const name = title ?? namesOfParts[where];
    if (name === undefined) throw new Error(`The object ${where} has no name.`);
    if (title === undefined) this.add(name, { ...schema, description: '' });
    return name;
  }
}

function docstring(text: unknown, indent: string): string[] {
  if (typeof text !== 'string' || text === '') return [];
  const widest = LONGEST_LINE - indent.length;
  if (text.length + 6 <= widest) return [`${indent}"""${text}"""`];
  const lines: string[] = [];
  let line = '';
  for (const word of `"""${text}`.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > widest) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, indent + line, `${indent}"""`];
}

/** `_types.py`. */
export function pythonTypes(): string {
  const writer = new TypeWriter();
  const named = namedSchemas({ withAdmin: false });
  const errorCodes = [...named].flatMap(([name, { properties }]) => {
    const parts = properties as Record<string, Schema>;
    if (name === 'ErrorBody') return valuesOf(parts.error);
    if (name !== 'ForbiddenErrorBody') return [];
    const { type } = schemaOf(parts.message).properties as Record<string, Schema>;
    return valuesOf(type);
  });
  for (const [name, schema] of named) {
    if (!name.endsWith('ErrorBody') && name !== 'StreamTicket' && schema.type === 'object') {
      writer.add(name, schema);
    }
  }
  const codes = [...errorCodes, 'storage_error', 'unexpected_answer'].map((code) => `    ${literal(code)},`);
  return formatted(`# SPDX-License-Identifier: Apache-2.0
"""Made by \`npm run docs\` from the schemas that the server validates by. Do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Required

ErrorCode = Literal[
${codes.join('\n')}
]


${[...writer.classes.values()].join('\n\n\n')}
`);
}

const blocking: readonly (readonly [RegExp, string])[] = [
  [/^"""The client\.[^"]*"""/m, '"""Made by `npm run docs` from `_async_client.py`. Do not edit."""'],
  [/\basync |\bawait /g, ''],
  // Imports stay sorted.
  [/\bAsyncIterator, Callable,/g, 'Callable, Iterator,'],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\basynccontextmanager\b/g, 'contextmanager'],
  [/\b_io_async\b/g, '_io_sync'],
  [/\b(__)?a(iter_|enter__|exit__|close\b)/g, '$1$2'],
];

/** `_sync_client.py`. */
export function pythonSyncClient(): string {
  const source = fs.readFileSync(path.join(folder, '_async_client.py'), 'utf8');
  return formatted(
    blocking.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), source),
  );
}
