// SPDX-License-Identifier: Apache-2.0
import { compile } from 'json-schema-to-typescript';
import { reportSchema } from '../../src/evaluation/figures/report-schema.js';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy without descriptions, which are in docs/evaluate.md. A member may itself be named "description". */
function bare(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bare);
  if (!isObject(schema)) return schema;
  const { description, properties, additionalProperties, format, ...rest } = schema;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, bare(value)]),
  );
  if (isObject(properties)) {
    copy.properties = Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, bare(value)]),
    );
  }
  return copy;
}

/** `dashboard/src/logic/report-format.ts`: the dashboard imports nothing from the server. */
export async function reportFormat(): Promise<string> {
  const rules = bare(reportSchema) as object;
  const types = await compile(rules, 'Report', {
    additionalProperties: false,
    bannerComment: '',
    style: { singleQuote: true, printWidth: 110 },
  });
  return `// SPDX-License-Identifier: Apache-2.0
//
// Made by \`npm run docs\` from src/evaluation/figures/report-schema.ts. Do not edit.
import type { Rule } from './rules.js';

${types}
// biome-ignore format: one line per report format is enough
export const reportRules: Rule = ${JSON.stringify(rules)};
`;
}
