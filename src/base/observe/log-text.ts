// SPDX-License-Identifier: Apache-2.0
import pc from 'picocolors';
import { escapeInvisible } from '../errors/visible-text.js';

const colours: Readonly<Record<string, (text: string) => string>> = {
  fatal: pc.red,
  error: pc.red,
  warn: pc.yellow,
  info: pc.green,
};

/** In the order of a request's line; other members follow with their names. */
const requestFacts = ['clientAddress', 'account', 'keyId', 'model', 'errorKey'] as const;

type Facts = Readonly<Record<string, unknown>>;

/** A JSON line of the log as a short line for people, with its line break. */
export function textOfLine(json: string): string {
  const { level, time, msg, err, ...facts } = JSON.parse(json) as Facts;
  const name = String(level);
  const clock = String(time).slice(11, 19);
  const head = `${pc.dim(clock)} ${(colours[name] ?? pc.dim)(name.padEnd(5))}`;
  const text =
    typeof facts.route === 'string' ? requestText(facts) : [shown(msg), ...named(facts)].join('  ');
  return `${head} ${text}${errorText(err)}\n`;
}

function requestText(facts: Facts): string {
  const { method, route, status, timesMs, correlationId, stagesMs: _stages, ...others } = facts;
  const { total } = (timesMs ?? {}) as { total?: number };
  const known = requestFacts.filter((name) => others[name] !== undefined).map((name) => shown(others[name]));
  const rest = Object.fromEntries(
    Object.entries(others).filter(([name]) => !(requestFacts as readonly string[]).includes(name)),
  );
  const mark = Number(status) >= 500 ? pc.red : Number(status) >= 400 ? pc.yellow : pc.green;
  return [
    `${shown(method)} ${shown(route)} ${mark(String(status))} ${total ?? '?'} ms`,
    ...known,
    ...named(rest),
    pc.dim(shown(correlationId)),
  ].join('  ');
}

const named = (facts: Facts): string[] =>
  Object.entries(facts).map(([name, value]) => `${pc.dim(`${name}=`)}${shown(value)}`);

/** Quoted unless it is plain: clients choose some of it, and a terminal obeys control characters. */
function shown(value: unknown): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.map(shown).join(', ');
  if (typeof value === 'string' && /^[\w .,:;/()'?@%+*=-]*$/.test(value)) return value;
  return printable(JSON.stringify(value));
}

function errorText(err: unknown): string {
  if (typeof err !== 'object' || err === null) return '';
  const { stack, message } = err as { stack?: unknown; message?: unknown };
  const lines = printable(String(stack ?? message)).split('\n');
  return `\n${pc.dim(lines.map((line) => `    ${line.trim()}`).join('\n'))}`;
}

/** Invisible characters as escapes, but for line breaks. */
const printable = (text: string): string => text.split('\n').map(escapeInvisible).join('\n');
