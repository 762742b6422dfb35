// SPDX-License-Identifier: Apache-2.0
//
// Made by `npm run docs` from src/analysis/verdict/reasons.ts. Do not edit.

/** The meaning of each reason to readers of a verdict. */
export const reasonTexts: Readonly<Record<string, string>> = {
  uncertain:
    'The score is so near the threshold that the verdict is little better than chance. A longer or better recording may help.',
  mixed_content: 'A part sounds AI-generated, and the rest does not: the timeline shows where.',
  band_limited:
    'The high frequencies are missing, as in a telephone call. Such verdicts are more often wrong: analyse the original recording if you can.',
  low_bit_rate:
    'The recording is encoded at a very low bit rate. Such verdicts are more often wrong: analyse the original recording if you can.',
  low_snr:
    'There is noise behind the speech. Added noise makes verdicts wrong more often: analyse a quieter recording if you can.',
};
