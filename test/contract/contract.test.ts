// SPDX-License-Identifier: Apache-2.0
//
// The contract suite: one file per endpoint or promise of docs/api.md, against one server. See docs/contract-suite.md.
const parts = [
  'every-endpoint',
  'authentication',
  'unknown-paths-and-methods',
  'predict',
  'predict-by-link',
  'predict-by-link-fetching',
  'prediction-answer',
  'global-verdict',
  'segments',
  'predict-large-file',
  'upload-links',
  'download-links',
  'link-list-answer',
  'jobs',
  'batches',
  'enroll',
  'enrollment-answer',
  'verify',
  'verification-answer',
  'ai-generated-voices',
  'error-answers',
  'overload-and-time-limits',
  'limits',
  'versions',
  'v0-predict',
  'v0-prediction-answer',
  'v0-file',
];

const { VERAVOX_CONTRACT_ONLY: wanted } = process.env;
const chosen = wanted === undefined ? parts : parts.filter((name) => isWanted(name, wanted.split(',')));
if (chosen.length === 0) throw new Error(`Nothing is called ${wanted}; there are ${parts.join(', ')}.`);
for (const name of chosen) await import(`./${name}.js`);

/** `predict` also chooses `predict-large-file`. */
function isWanted(name: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => name === prefix || name.startsWith(`${prefix}-`));
}
