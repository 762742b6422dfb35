// SPDX-License-Identifier: Apache-2.0
import { options } from './options.js';

/** All settings as a Markdown table, without a line break at its end. */
export function configurationTable(): string {
  const rows = Object.values(options).map(
    (option) =>
      `| \`${option.variable}\` | ${option.defaultText} | ${option.accepts} | ${option.description} |`,
  );
  return ['| Variable | Default | Accepts | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}

const begin = '<!-- begin: made by `npm run docs` -->';
const end = '<!-- end -->';

/** `page` with what stands between the two marks replaced. Throws where a mark is missing. */
export function withGenerated(page: string, content: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`The page lacks "${begin}" or "${end}".`);
  return `${page.slice(0, from + begin.length)}\n${content}\n${page.slice(to)}`;
}

/** The same with the current table of settings. */
export const withConfigurationTable = (page: string): string => withGenerated(page, configurationTable());
