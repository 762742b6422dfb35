// SPDX-License-Identifier: Apache-2.0
import type { Option } from './option.js';
import { options } from './options.js';
import { FILE_SUFFIX } from './secret-files.js';

const PREFIX = 'VERAVOX_';
/** Up to this many surplus, missing or wrong letters count as a typing error. */
const MOST_WRONG_LETTERS = 2;

export interface UnknownVariable {
  readonly variable: string;
  /** The most likely intended name. */
  readonly suggestion?: string;
}

const variables = Object.values(options).flatMap(({ variable, isSecret }: Option<unknown>) =>
  isSecret ? [variable, `${variable}${FILE_SUFFIX}`] : [variable],
);

/** Each variable by the names that people may give it: `VERAVOX_PORT` means `PORT`. */
const spellings = variables.flatMap((variable) =>
  variable.startsWith(PREFIX)
    ? [{ spelling: variable, variable }]
    : [{ spelling: `${PREFIX}${variable}`, variable }],
);

/** Variables that look like settings, in any letter case, but are unknown. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): UnknownVariable[] {
  const known = new Set(variables);
  return Object.keys(env)
    .filter((variable) => variable.toUpperCase().startsWith(PREFIX) && !known.has(variable))
    .filter((variable) => !isOfKubernetes(variable, env[variable] ?? ''))
    .map((variable) => {
      const suggestion = nearest(variable.toUpperCase());
      return { variable, ...(suggestion !== undefined && { suggestion }) };
    });
}

/** Kubernetes sets these in every container next to a service that is called veravox. */
const isOfKubernetes = (variable: string, value: string): boolean =>
  /^VERAVOX_(SERVICE_(HOST|PORT)|PORT_\d{1,5}_)/.test(variable) ||
  (variable === 'VERAVOX_PORT' && /^(tcp|udp|sctp):/.test(value));

function nearest(variable: string): string | undefined {
  const [best] = spellings
    .map((known) => ({ ...known, distance: editDistance(variable, known.spelling) }))
    .filter(({ distance }) => distance <= MOST_WRONG_LETTERS)
    .sort((a, b) => a.distance - b.distance);
  return best?.variable;
}

/** Letters to add, remove or replace to turn one text into the other (Levenshtein). */
function editDistance(a: string, b: string): number {
  // Saves the work for long names of other programs' variables.
  if (Math.abs(a.length - b.length) > MOST_WRONG_LETTERS) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    previous = row;
  }
  return previous[b.length] as number;
}
