// SPDX-License-Identifier: Apache-2.0
//
// The contract suite: one file per section of the interface document, against one server. See docs/contract-suite.md.
const sections = [
  '1-service',
  '2-1-prediction',
  '2-2-global-verdict',
  '2-3-segment',
  '2-4-legacy-prediction',
  '2-5-enrollment',
  '2-6-verification',
  '2-7-link-list',
  '4-1-predict',
  '4-1-predict-by-link',
  '4-1-fetch-rules',
  '4-2-predict-large-file',
  '4-3-upload-links',
  '4-4-download-links',
  '4-5-enroll',
  '4-6-verify',
  '4-7-predict-v0',
  '4-8-file-v0',
  '4-9-summary',
  '5-authentication',
  '7-1-error-body',
  '7-2-forbidden-voice',
  '7-3-status-codes',
  '8-limits',
  '9-versioning',
];

const { VERAVOX_CONTRACT_SECTIONS: wanted } = process.env;
const chosen = wanted === undefined ? sections : sections.filter((name) => isWanted(name, wanted.split(',')));
if (chosen.length === 0) throw new Error(`No section is called ${wanted}; there are ${sections.join(', ')}.`);
for (const name of chosen) await import(`./${name}.js`);

/** `4` and `4-1` name sections, `4-1-predict` one file. */
function isWanted(name: string, parts: readonly string[]): boolean {
  return parts.some((part) => name === part || name.startsWith(`${part}-`));
}
