// SPDX-License-Identifier: Apache-2.0
import type { Colors } from 'picocolors/types.js';
import type { predictionBody } from '../verdict/prediction.js';

type Prediction = ReturnType<typeof predictionBody>;

const barCells = 20;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** The verdict on one file as lines for a terminal: first the file, then a bar per segment, then the warnings. */
export function predictionTable(file: string, prediction: Prediction, colours: Colors): string {
  const { global, segments, warnings } = prediction;
  const colourOf = (result: string) => (result === 'spoofed' ? colours.red : colours.green);
  const reason = global.reason === null ? '' : `  ${colours.yellow(global.reason)}`;
  const heading =
    `${colours.bold(file)}  ${colours.bold(colourOf(global.result)(global.result))}  score ${number(global.score)}  ` +
    `confidence ${number(global.confidence)}  ${clock(prediction.audio_duration)}  ${prediction.model}${reason}`;
  const rows = segments.map((segment) => {
    const score = segment.scores.reduce((sum, value) => sum + value, 0) / segment.scores.length;
    const times = `${clock(segment.start).padStart(9)} - ${clock(segment.end).padEnd(9)}`;
    return `${times}  ${colourOf(segment.result)(bar(score))}  ${number(score)}  ${segment.result}`;
  });
  const notes = warnings.map((warning) => colours.yellow(`  ${warning}`));
  return `${[heading, ...rows, ...notes].join('\n')}\n`;
}

/** `share` 0..1 as a bar of fixed width, to an eighth of a character. */
export function bar(share: number): string {
  const filledEighths = Math.round(share * barCells * 8);
  const filled = '█'.repeat(Math.floor(filledEighths / 8)) + eighths[filledEighths % 8];
  return filled.padEnd(barCells, '·');
}

function number(value: number): string {
  return value.toFixed(3);
}

/** 83.4 s as 1:23.4, hours only where there are any. */
export function clock(timeS: number): string {
  const tenths = Math.round(timeS * 10);
  const seconds = `${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}.${tenths % 10}`;
  const minutes = Math.floor(tenths / 600);
  if (minutes < 60) return `${minutes}:${seconds}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${seconds}`;
}
