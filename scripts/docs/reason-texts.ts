// SPDX-License-Identifier: Apache-2.0
import { type Reason, reasons } from '../../src/analysis/verdict/reasons.js';

const WIDTH = 110;

/** `dashboard/src/logic/reason-texts.ts`: the dashboard imports nothing from the server. */
export function reasonTexts(): string {
  const entries = (Object.keys(reasons) as Reason[]).map((reason) => {
    const text = `'${reasons[reason].meaning.replace(/[\\']/g, '\\$&')}',`;
    const line = `  ${reason}: ${text}`;
    return line.length <= WIDTH ? line : `  ${reason}:\n    ${text}`;
  });
  return `// SPDX-License-Identifier: Apache-2.0
//
// Made by \`npm run docs\` from src/analysis/verdict/reasons.ts. Do not edit.

/** The meaning of each reason to readers of a verdict. */
export const reasonTexts: Readonly<Record<string, string>> = {
${entries.join('\n')}
};
`;
}
