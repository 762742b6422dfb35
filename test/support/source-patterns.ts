// SPDX-License-Identifier: Apache-2.0
//
// Every regular expression and every schema pattern of `src`, from its syntax tree: the compiled `src` has them
// unchanged.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AnyNode, type AssignmentProperty, type Property, parse } from 'acorn';

export interface SourcePattern {
  /** The file, below `src`. */
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

export interface Finds {
  readonly patterns: readonly SourcePattern[];
  /** Constructs of patterns that cannot be read from the source. */
  readonly unreadable: readonly string[];
}

const sourceDir = fileURLToPath(new URL('../../src', import.meta.url));
/** Options of schemas and of Ajv that bring patterns: names of properties, and formats. */
const hiding: readonly unknown[] = ['patternProperties', 'formats'];
/** String methods that turn a text into a regular expression. */
const matchers: readonly string[] = ['match', 'matchAll', 'search'];

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

function* nodesOf(node: AnyNode): Generator<AnyNode> {
  yield node;
  for (const child of Object.values(node).flat()) if (isNode(child)) yield* nodesOf(child);
}

const nameOf = ({ key }: Property | AssignmentProperty): unknown =>
  key.type === 'Identifier' ? key.name : key.type === 'Literal' ? key.value : undefined;

function patternsOf(file: string, node: AnyNode): Finds {
  const patterns: SourcePattern[] = [];
  const unreadable: string[] = [];
  const add = (source: string, flags: string): void => void patterns.push({ file, source, flags });
  if (node.type === 'Literal' && node.regex) add(node.regex.pattern, node.regex.flags);
  if (node.type === 'NewExpression' || node.type === 'CallExpression') {
    const { callee } = node;
    if (callee.type === 'Identifier' && callee.name === 'RegExp') unreadable.push(`${file}: RegExp(...)`);
    const method =
      callee.type === 'MemberExpression' && callee.property.type === 'Identifier' ? callee.property.name : '';
    const [given] = node.arguments;
    if (matchers.includes(method) && given?.type !== 'Literal' && given?.type !== 'Identifier') {
      unreadable.push(`${file}: .${method}(...)`);
    }
    if (matchers.includes(method) && given?.type === 'Literal' && !given.regex) {
      unreadable.push(`${file}: .${method}('...')`);
    }
  }
  // Ajv compiles the patterns of schemas with the flag u.
  if (node.type === 'Property' && nameOf(node) === 'pattern') {
    const { value } = node;
    if (value.type === 'Literal' && typeof value.value === 'string') add(value.value, 'u');
    else if (value.type !== 'MemberExpression' || !isNamed(value.property, 'source')) {
      unreadable.push(`${file}: a pattern that is neither a literal nor the source of one`);
    }
  }
  if (node.type === 'Property' && hiding.includes(nameOf(node))) unreadable.push(`${file}: ${nameOf(node)}`);
  if (node.type === 'ImportDeclaration' && node.source.value === 'ajv-formats') {
    unreadable.push(`${file}: ajv-formats`);
  }
  return { patterns, unreadable };
}

const isNamed = (node: AnyNode, name: string): boolean => node.type === 'Identifier' && node.name === name;

/** @returns the findings in one program, for the tests of this search */
export function findPatterns(file: string, program: string): Finds {
  const tree = parse(program, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true });
  const finds = [...nodesOf(tree)].map((node) => patternsOf(file, node));
  return {
    patterns: finds.flatMap(({ patterns }) => patterns),
    unreadable: finds.flatMap(({ unreadable }) => unreadable),
  };
}

export function findSourcePatterns(): Finds {
  const files = fs
    .readdirSync(sourceDir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js'));
  const finds = files.map((file) => findPatterns(file, fs.readFileSync(path.join(sourceDir, file), 'utf8')));
  return {
    patterns: finds.flatMap(({ patterns }) => patterns),
    unreadable: finds.flatMap(({ unreadable }) => unreadable),
  };
}
