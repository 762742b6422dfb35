// SPDX-License-Identifier: Apache-2.0
import {
  abstentionSchema,
  detectionAnswerSchema,
  detectionCalibrationSchema,
  detectionOutputSchema,
  detectionSchema,
  inputSchema,
  speakerAnswerSchema,
  speakerOutputSchema,
  spectrogramSchema,
  waveformSchema,
} from '../../src/analysis/models/manifest-schema.js';
import { withMarkedSection } from './marked-section.js';

interface FieldSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly items?: FieldSchema | readonly FieldSchema[];
  readonly description?: string;
}

interface ObjectSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

const tables: readonly (readonly [title: string, schema: ObjectSchema])[] = [
  ['An entry of `models`', detectionSchema],
  ['`features` of samples', waveformSchema],
  ['`features` of a spectrogram', spectrogramSchema],
  ['`input`', inputSchema],
  ['`output` of a detector', detectionOutputSchema],
  ['`output` of a speaker model', speakerOutputSchema],
  ['`calibration`', detectionCalibrationSchema],
  ['`abstention` of a detector', abstentionSchema],
  ['One of the `known_answers` of a detector', detectionAnswerSchema],
  ['One of the `known_answers` of a speaker model', speakerAnswerSchema],
];

/** `page` with the tables of all manifest fields between its marks. Throws if a mark is missing. */
export function withManifestTables(page: string): string {
  return withMarkedSection(page, tables.map(([title, schema]) => section(title, schema)).join('\n\n'));
}

function section(title: string, { required, properties }: ObjectSchema): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const field = schema as FieldSchema;
    const optional = required.includes(name) ? '' : ', may be left out';
    return `| \`${name}\` | ${kindOf(name, field)}${optional} | ${field.description} |`;
  });
  return [`### ${title}`, '', '| Field | Value | Meaning |', '|---|---|---|', ...rows].join('\n');
}

function kindOf(name: string, field: FieldSchema): string {
  // An entry's task decides its other members; the table covers both.
  if (name === 'task') return '`detection` or `speaker`';
  if (field.const !== undefined) return `\`${field.const}\``;
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(', ');
  const { type, minimum, maximum, exclusiveMinimum } = field;
  if (type === 'array') return Array.isArray(field.items) ? 'list' : `list of ${nameOf(field.items)}`;
  if (type !== 'integer' && type !== 'number') return type === 'object' ? 'object' : `${type}`;
  const range = [
    minimum !== undefined && `from ${minimum}`,
    exclusiveMinimum !== undefined && `above ${exclusiveMinimum}`,
    maximum !== undefined && `to ${maximum}`,
  ];
  return [type, ...range.filter(Boolean)].join(' ');
}

function nameOf(items: FieldSchema['items']): string {
  return `${(items as FieldSchema).type}s`;
}
