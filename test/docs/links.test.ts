// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const filesOf = (...patterns: string[]): string[] =>
  (spawnSync('git', ['ls-files', ...patterns], { encoding: 'utf8' }).stdout ?? '')
    .split('\n')
    .filter((name) => fs.existsSync(name) && fs.statSync(name).isFile());

/** Empty if the checkout came without Git. */
const pages = filesOf('*.md');

const withoutCode = (page: string): string => page.replaceAll(/^ *```[\s\S]*?^ *```/gm, '');

/** Anchors of headings as GitHub makes them. */
function anchorsOf(file: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(fs.readFileSync(file, 'utf8')).matchAll(/^#+ (.+)$/gm)) {
    const words = heading.replaceAll(/[^\p{L}\p{N} _-]/gu, '');
    anchors.add(words.toLowerCase().replaceAll(' ', '-'));
  }
  return anchors;
}

test('every link between pages leads to a file and a heading that exist', {
  skip: pages.length === 0,
}, () => {
  const broken: string[] = [];
  let links = 0;
  for (const page of pages) {
    const text = withoutCode(fs.readFileSync(page, 'utf8')).replaceAll(/`[^`\n]+`/g, '');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      links++;
      const [name = '', anchor] = target.split('#');
      const file = name === '' ? page : path.join(path.dirname(page), decodeURIComponent(name));
      const isThere = fs.existsSync(file);
      if (!isThere || (anchor !== undefined && !anchorsOf(file).has(anchor))) {
        broken.push(`${page}: ${target}`);
      }
    }
  }
  assert.ok(links > 50, `only ${links} links were found`);
  assert.deepEqual(broken, []);
});

test('every page that the code speaks of is there, and so is the heading', {
  skip: pages.length === 0,
}, () => {
  const sources = filesOf('src', 'native', 'test', 'bench', 'scripts', '*.json', 'Dockerfile');
  const broken: string[] = [];
  let mentions = 0;
  for (const source of sources) {
    const text = fs.readFileSync(source, 'utf8');
    for (const [mention, file = '', anchor] of text.matchAll(/\b(docs\/[\w-]+\.md)(?:#([\w-]+))?/g)) {
      mentions++;
      if (!fs.existsSync(file) || (anchor !== undefined && !anchorsOf(file).has(anchor))) {
        broken.push(`${source}: ${mention}`);
      }
    }
  }
  assert.ok(mentions > 20, `only ${mentions} mentions were found`);
  assert.deepEqual(broken, []);
});

test('every page of docs/ is in the index', () => {
  const index = fs.readFileSync('docs/README.md', 'utf8');
  const missing = fs
    .readdirSync('docs')
    .filter((name) => name.endsWith('.md') && name !== 'README.md' && !index.includes(`](${name})`));
  assert.deepEqual(missing, []);
});
