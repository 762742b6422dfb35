// SPDX-License-Identifier: Apache-2.0

const begin = '<!-- begin: made by `npm run docs` -->';
const end = '<!-- end -->';

/** `page` with `text` between the two marks. Throws if a mark is missing. */
export function withMarkedSection(page: string, text: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`The page lacks "${begin}" or "${end}".`);
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}
