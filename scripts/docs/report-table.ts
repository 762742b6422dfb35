// SPDX-License-Identifier: Apache-2.0
import { reportSchema } from '../../src/evaluation/figures/report-schema.js';

interface Node {
  readonly description?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
}

/** The members of a report as a Markdown table, without a final line break. */
export function reportTable(): string {
  const rows: string[] = [];
  const add = (path: string, node: Node): void => {
    rows.push(`| \`${path}\` | ${node.description} |`);
    descend(path, node);
  };
  const descend = (path: string, node: Node): void => {
    const [inner = node] = node.anyOf ?? [];
    if (inner.items?.properties) descend(`${path}[]`, inner.items);
    // Intervals and the members of a share mean the same everywhere.
    for (const [name, member] of Object.entries(inner.properties ?? {})) {
      if (inner.properties?.interval_95 && ['value', 'count', 'of', 'interval_95'].includes(name)) continue;
      add(path === '' ? name : `${path}.${name}`, member);
    }
  };
  descend('', reportSchema as Node);
  return ['| Member | Meaning |', '|---|---|', ...rows].join('\n');
}
