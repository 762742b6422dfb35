// SPDX-License-Identifier: Apache-2.0

/** The first that fits: most browsers also name others that they resemble. */
const browsers: readonly [mark: RegExp, name: string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const systems: readonly [mark: RegExp, name: string][] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

const firstIn = (text: string, known: typeof browsers): string | undefined =>
  known.find(([mark]) => mark.test(text))?.[1];

/** Such as `Firefox on Linux`; its own name for itself if unknown. */
export function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'unknown';
  const [browser, system] = [firstIn(userAgent, browsers), firstIn(userAgent, systems)];
  if (browser === undefined) return userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
}
