// SPDX-License-Identifier: Apache-2.0
//
// Refuses comments that begin with a clause instead of a noun or a verb, and the phrases below in comments and pages.
import './needs-node.mjs';
import fs from 'node:fs';
import path from 'node:path';

const rootDir = path.resolve(import.meta.dirname, '..');
const folders = ['src', 'dashboard/src', 'client/src', 'native', 'test', 'bench', 'scripts', 'training'];
const pages = ['.', 'docs', 'models', 'training', 'client', 'clients/python', 'scripts/packages'].flatMap(
  (folder) =>
    fs
      .readdirSync(path.join(rootDir, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.join(folder, name)),
);
/** Made by `npm run docs` from texts for users. */
const generated = [
  'client/src/types.ts',
  'dashboard/src/logic/reason-texts.ts',
  'dashboard/src/logic/report-format.ts',
];
/** Questions may begin so. */
const clause = /^(?:What|Those|Whose|Who|Whoever|Where)\b(?![^.]*\?)/;
const phrases = [
  [/\bso (?:many|much)\b/i, 'this many, or the name of the number'],
  [/\b(?:all|any|every|each|one|some|none|most) of what\b/i, 'a noun'],
  [/\bwhat becomes of\b/i, 'a noun'],
  [/\bthose (?:that|who|which|whose|of whom)\b/i, 'a plural noun'],
  [/\b(?:whoever|anybody who|somebody who)\b/i, 'a noun, such as the client'],
  [/\b(?:is|are|was|were) to be\b/i, 'must be, will be, or the active verb'],
  [/\bthat (?:is|are|was|were) to (?!be\b)/i, 'a noun, or that will'],
  [/\bfor ever\b/i, 'forever, permanently'],
  [/\bany more\b/i, 'no longer'],
  [/\bin case\b/i, 'if'],
  [/, too(?=[.,;:)]|$)/i, 'also'],
];

const alternatives = (...parts) => new RegExp(parts.map(({ source }) => source).join('|'), 'gms');
const quoted = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/;
const cComment = /\/\/[^\n]*|\/\*.*?\*\//;
const template = /`(?:\\.|\$\{(?:`(?:\\.|[^`\\])*`|[^`}])*\}|[^`\\])*`/;
const regularExpression =
  /(?<=(?:[(,=:[!&|?{;+]|=>|return|^)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//;
const rawString = /R"([^(\s]*)\(.*?\)\1"|(?<=[\da-fA-F])'(?=[\da-fA-F])/;
const tripleQuoted = /"""(?:\\.|[^\\])*?"""|'''(?:\\.|[^\\])*?'''/;
const script = alternatives(cComment, template, regularExpression, quoted);
const cpp = alternatives(cComment, rawString, quoted);
const python = alternatives(/#[^\n]*/, tripleQuoted, quoted);
/** Strings and comments of a language, so that neither is taken for the other. */
const tokensOf = { '.ts': script, '.tsx': script, '.mjs': script, '.cc': cpp, '.h': cpp, '.py': python };

const lineMark = /^(?:\/\/+|#)/;
const isComment = (token, indentation) =>
  /^(?:\/[/*]|#)/.test(token) || (/^(?:"""|''')/.test(token) && indentation.trim() === '');

/** The lines of all comments of a file, without their marks; `joins` if it goes on with the sentence of the line before. */
function* commentLines(text, tokens) {
  let line = 1;
  let end = 0;
  let last = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    line += text.slice(end, index).split('\n').length - 1;
    end = index + token.length;
    const before = text.slice(text.lastIndexOf('\n', index - 1) + 1, index);
    const lines = token.split('\n');
    if (isComment(token, before)) {
      for (const [number, content] of lines.entries()) {
        const joins = number > 0 || (lineMark.test(token) && before.trim() === '' && last === line - 1);
        yield { line: line + number, joins, content: withoutMarks(content) };
      }
      last = before.trim() === '' ? line : 0;
    }
    line += lines.length - 1;
  }
}

const withoutMarks = (content) =>
  content
    .trim()
    .replace(/^(?:\/\/+|\/\*+|\*\/|\*|#+|"""|''')/, '')
    .replace(/(?:\*+\/|"""|''')$/, '')
    .trim();

const tag = /^@(?:param|template|throws|returns?|default)\b(?:(?<=param|template) \S+)?[ -]*/;

/** Sentences that belong together, without code and quotations. Each remembers where its lines begin. */
function paragraphsOf(text, tokens) {
  const paragraphs = [];
  let open;
  for (const { line, joins, content } of commentLines(text, tokens)) {
    if (!joins || content === '' || content.startsWith('@')) open = undefined;
    if (content === '') continue;
    if (open === undefined) {
      open = { text: '', lines: [] };
      paragraphs.push(open);
    } else open.text += ' ';
    open.lines.push({ line, start: open.text.length });
    open.text += content.replace(tag, '');
  }
  return paragraphs.map((each) => ({ ...each, text: withoutQuotations(each.text) }));
}

const withoutQuotations = (text) => text.replace(/`[^`]*`|"[^"]*"/g, (span) => '_'.repeat(span.length));

/** The lines of a page, each a paragraph of its own. */
const linesOf = (text) =>
  text.split('\n').map((line, i) => ({ text: withoutQuotations(line), lines: [{ line: i + 1, start: 0 }] }));

function problemsOf(file) {
  const text = fs.readFileSync(path.join(rootDir, file), 'utf8');
  const isPage = path.extname(file) === '.md';
  const paragraphs = isPage ? linesOf(text) : paragraphsOf(text, tokensOf[path.extname(file)]);
  return paragraphs.flatMap((paragraph) => {
    const at = (index) => paragraph.lines.findLast(({ start }) => start <= index).line;
    const found = phrases.flatMap(([phrase, instead]) => {
      const match = phrase.exec(paragraph.text);
      return match === null ? [] : [`${file}:${at(match.index)} "${match[0]}": write ${instead}`];
    });
    if (isPage) return found;
    const first = clause.exec(paragraph.text);
    if (first !== null) found.unshift(`${file}:${at(0)} begins with "${first[0]}": write a noun or a verb`);
    return found;
  });
}

const isIn = (file, folder) => file === folder || file.startsWith(`${folder}/`);
const problems = folders
  .flatMap((folder) =>
    fs.readdirSync(path.join(rootDir, folder), { recursive: true }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => path.extname(file) in tokensOf && !file.includes('node_modules/'))
  .concat(pages)
  .filter((file) => !generated.some((folder) => isIn(file, folder)))
  .flatMap(problemsOf);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
