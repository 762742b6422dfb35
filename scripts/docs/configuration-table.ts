// SPDX-License-Identifier: Apache-2.0
import { options } from '../../src/base/config/options.js';
import { withMarkedSection } from './marked-section.js';

/** All settings as a Markdown table, without a final line break. */
export function configurationTable(): string {
  const rows = Object.values(options).map(
    (option) =>
      `| \`${option.variable}\` | ${option.defaultText} | ${option.accepts} | ${option.description} |`,
  );
  return ['| Variable | Default | Accepts | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** `page` with the table between its marks replaced. Throws if a mark is missing. */
export function withConfigurationTable(page: string): string {
  return withMarkedSection(page, configurationTable());
}
