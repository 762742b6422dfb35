// SPDX-License-Identifier: Apache-2.0
//
// Checks all Python by the rules in training/pyproject.toml, and that of clients for the oldest Python that they support; --write formats it and sorts its imports.
import './needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { parse } from 'smol-toml';

const rootDir = path.resolve(import.meta.dirname, '..');
const { tool } = parse(fs.readFileSync(path.join(rootDir, 'training/pyproject.toml'), 'utf8'));
const rulesFor = (target) =>
  new Workspace({ ...tool.ruff, 'target-version': target }, PositionEncoding.Utf16);
const house = rulesFor(tool.ruff['target-version']);
const clients = rulesFor('py39');
const unsortedImports = 'I001';

/** `text` with the imports in order; each edit names lines and columns that count from 1. */
function withSortedImports(ruff, text) {
  const starts = [0];
  for (const line of text.matchAll(/\n/g)) starts.push(line.index + 1);
  const offset = ({ row, column }) => (starts[row - 1] ?? text.length) + column - 1;
  const edits = ruff
    .check(text)
    .filter(({ code }) => code === unsortedImports)
    .flatMap(({ fix }) => fix?.edits ?? [])
    .sort((a, b) => offset(b.location) - offset(a.location));
  return edits.reduce(
    (changed, { content, location, end_location: end }) =>
      changed.slice(0, offset(location)) + (content ?? '') + changed.slice(offset(end)),
    text,
  );
}

/** The findings in one file, a line each. */
function problemsOf(ruff, file, text) {
  const found = ruff
    .check(text)
    .map(({ code, message, start_location: at }) => `${file}:${at.row}:${at.column} ${code} ${message}`);
  if (ruff.format(text) !== text) found.push(`${file} is not formatted: run npm run format`);
  return found;
}

const files = ['bench', 'clients', 'test', 'training'].flatMap((folder) =>
  fs
    .readdirSync(path.join(rootDir, folder), { recursive: true })
    .filter((file) => file.endsWith('.py'))
    .map((file) => path.join(folder, file)),
);
const problems = files.flatMap((file) => {
  const where = path.join(rootDir, file);
  const ruff = file.startsWith('clients/') ? clients : house;
  const text = fs.readFileSync(where, 'utf8');
  if (!process.argv.includes('--write')) return problemsOf(ruff, file, text);
  const mended = ruff.format(withSortedImports(ruff, text));
  if (mended !== text) fs.writeFileSync(where, mended);
  return problemsOf(ruff, file, mended);
});
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
