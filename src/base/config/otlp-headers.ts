// SPDX-License-Identifier: Apache-2.0

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Header values that Node sends. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * `name=value` with commas between them, values percent-encoded, as OpenTelemetry writes headers.
 * @returns a function, so that nothing that prints the settings prints them; undefined for anything else
 */
export function parseOtlpHeaders(text: string): (() => Readonly<Record<string, string>>) | undefined {
  const headers: Record<string, string> = {};
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const at = entry.indexOf('=');
    const name = entry.slice(0, at).trim().toLowerCase();
    const value = at === -1 ? undefined : decoded(entry.slice(at + 1).trim());
    if (!NAME.test(name) || value === undefined || !VALUE.test(value)) return undefined;
    headers[name] = value;
  }
  return () => headers;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
