// SPDX-License-Identifier: Apache-2.0

/** The part of JSON Schema that the report of an evaluation uses. */
export interface Rule {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Rule;
  readonly properties?: Readonly<Record<string, Rule>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Rule[];
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

const articles: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  null: 'null',
};

/**
 * The part of a value that breaks a rule, in words; undefined if none does. Members without a rule are ignored.
 * @param at its place, for the message
 */
export function problemOf(value: unknown, rule: Rule, at = ''): string | undefined {
  const wrong = (expected: string): string => `${at === '' ? 'The file' : at} should be ${expected}`;
  if (rule.anyOf !== undefined) {
    const problems = rule.anyOf.map((one) => problemOf(value, one, at));
    return problems.includes(undefined) ? undefined : problems[0];
  }
  if ('const' in rule && value !== rule.const) return wrong(JSON.stringify(rule.const));
  if (rule.enum !== undefined && !rule.enum.includes(value)) return wrong(rule.enum.join(' or '));
  const type = typeOf(value);
  if (
    rule.type !== undefined &&
    !(rule.type === type || (rule.type === 'integer' && Number.isInteger(value)))
  ) {
    return wrong(articles[rule.type] ?? rule.type);
  }
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = rule;
    // JSON has numbers that are too large for a double.
    if (!Number.isFinite(value)) return wrong('a finite number');
    if (value < minimum || value > maximum) {
      return wrong(maximum === Infinity ? `at least ${minimum}` : `between ${minimum} and ${maximum}`);
    }
  }
  if (Array.isArray(value)) return problemInList(value, rule, at);
  if (type === 'object') return problemInObject(value as Readonly<Record<string, unknown>>, rule, at);
  return undefined;
}

function problemInList(values: readonly unknown[], rule: Rule, at: string): string | undefined {
  const { minItems = 0, maxItems = Infinity, items } = rule;
  if (values.length < minItems || values.length > maxItems) return `${at} should have ${minItems} entries`;
  if (items === undefined) return undefined;
  for (const [i, value] of values.entries()) {
    const problem = problemOf(value, items, `${at}[${i}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemInObject(
  value: Readonly<Record<string, unknown>>,
  { required = [], properties = {} }: Rule,
  at: string,
): string | undefined {
  const place = (name: string): string => (at === '' ? name : `${at}.${name}`);
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `${place(missing)} is missing`;
  for (const [name, rule] of Object.entries(properties)) {
    const problem = Object.hasOwn(value, name) ? problemOf(value[name], rule, place(name)) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}
