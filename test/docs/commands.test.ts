// SPDX-License-Identifier: Apache-2.0
//
// Commands, settings and files that the pages mention exist.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import { options } from '../../src/base/config/options.js';
import { type CommandHelp, commandHelps } from '../support/command-helps.js';

const { stdout = '' } = spawnSync('git', ['ls-files', '*.md'], { encoding: 'utf8' });
/** Empty if the checkout came without Git. The change log describes the past. */
const pages = stdout
  .split('\n')
  .filter((name) => name !== '' && name !== 'CHANGELOG.md' && fs.existsSync(name));
const skip = pages.length === 0;

/** Lines of code blocks, with continuations joined, and text between back quotes. */
function codeOf(page: string): string[] {
  const blocks: string[] = [];
  const prose = fs
    .readFileSync(page, 'utf8')
    .replaceAll(/^ *```[a-z]*\n([\s\S]*?)^ *```/gm, (_, block: string) => {
      blocks.push(...block.replaceAll(/\\\n/g, ' ').split('\n'));
      return '';
    });
  const quoted = [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));
  return [...blocks, ...quoted].map((code) => code.replace(/ #.*/, ''));
}

/** Matches of `find` in the code of all pages, with their pages. */
function mentionsOf<Mention>(find: (code: string) => Iterable<Mention>): [page: string, Mention][] {
  return pages.flatMap((page) =>
    codeOf(page).flatMap((code) => [...find(code)].map((mention): [string, Mention] => [page, mention])),
  );
}

const scriptsOf = (file: string): string[] =>
  Object.keys((JSON.parse(fs.readFileSync(file, 'utf8')) as { scripts?: object }).scripts ?? {});

test('every npm script on a page exists', { skip }, () => {
  const scripts = new Set([...scriptsOf('package.json'), ...scriptsOf('client/package.json')]);
  const mentions = mentionsOf((code) => code.matchAll(/\bnpm (?:run )?(?:-\S+ )*([a-z][\w:-]*)/g));
  const named = mentions.filter(
    ([, [whole, name]]) => /npm run/.test(whole) || ['start', 'test'].includes(name as string),
  );
  assert.ok(named.length > 40, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter(([, [, name = '']]) => !scripts.has(name)).map(([page, [whole]]) => `${page}: ${whole}`),
    [],
  );
});

test('every command of veravox on a page exists, with its options', { skip }, async () => {
  const helps = new Map((await commandHelps()).map((help): [string, CommandHelp] => [help.path, help]));
  const groups = new Set([...helps.keys()].map((path) => path.split(' ')[0] as string));
  const mentions = mentionsOf((code) =>
    code.matchAll(
      /(?:^|[|&;(] *)(?:sudo )?(?:[A-Z_]+=\S+ )*(?:veravox|node dist\/cli\/main\.js) ([a-z][^|&;)]*)/g,
    ),
  );
  assert.ok(mentions.length > 40, `only ${mentions.length} were found`);
  const wrong: string[] = [];
  for (const [page, [whole, text = '']] of mentions) {
    const [first = '', second = ''] = text.split(/[ ,]+/);
    const help = helps.get(`${first} ${second}`) ?? helps.get(first);
    if (help === undefined && !(groups.has(first) && (second === '' || second.startsWith('-')))) {
      wrong.push(`${page}: ${whole}`);
    }
    for (const [option] of text.matchAll(/(?<=\s)--[a-z][a-z-]*/g)) {
      if (help !== undefined && !help.text.includes(option)) wrong.push(`${page}: ${whole}: ${option}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('every environment variable on a page exists', { skip }, () => {
  const settings = new Set<string>(Object.values(options).map(({ variable }) => variable));
  // The contract suite and training have their own; it has one per scope.
  const isRead = (name: string): boolean =>
    settings.has(name) ||
    spawnSync('git', ['grep', '--quiet', name.replace(/_WITHOUT_[A-Z]+$/, '_WITHOUT_'), '--', '*.ts', '*.py'])
      .status === 0;
  const mentions = mentionsOf((code) => code.matchAll(/\bVERAVOX_[A-Z0-9_]*[A-Z0-9]\b(?!_?\*)/g));
  assert.ok(mentions.length > 100, `only ${mentions.length} were found`);
  assert.deepEqual(
    mentions.filter(([, [name]]) => !isRead(name)).map(([page, [name]]) => `${page}: ${name}`),
    [],
  );
});

test('every file of the project on a page exists', { skip }, () => {
  const roots = 'src|native|test|scripts|bench|client|training|models|docs|dist';
  const mentions = mentionsOf((code) =>
    code.matchAll(new RegExp(`(?<![\\w./-])(?:${roots})/[\\w./*-]*[\\w*]`, 'g')),
  );
  assert.ok(mentions.length > 100, `only ${mentions.length} were found`);
  const isThere = (name: string): boolean =>
    fs.existsSync(name) ||
    (name.includes('*') && spawnSync('git', ['ls-files', name], { encoding: 'utf8' }).stdout !== '');
  assert.deepEqual(
    mentions.filter(([, [name]]) => !isThere(name)).map(([page, [name]]) => `${page}: ${name}`),
    [],
  );
});
