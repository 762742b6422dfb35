// SPDX-License-Identifier: Apache-2.0
import type { Colors } from 'picocolors/types.js';
import type { Prediction } from '../base/contract/prediction.js';
import { joined, type Shown, shown, styled } from '../base/errors/shown-text.js';

/** Files with more windows or warnings are summarised. */
const MOST_ROWS = 24;
const MOST_WARNINGS = 5;
/** Windows shown of a long file: the highest scores. */
const WORST_ROWS = 5;

const barCells = 20;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * The verdict on one file as lines for a terminal: first the file, then a bar per segment, then the warnings.
 * @param isWhole shows all segments of a long file, instead of those with the highest scores
 */
export function predictionTable(
  file: string,
  prediction: Prediction,
  colours: Colors,
  isWhole = false,
): Shown {
  const { global, audio_duration, model, channels = [] } = prediction;
  const heading = shown`${styled(colours.bold, file)}  ${verdictText(global, `${clock(audio_duration)}  ${model}`, colours)}`;
  const lines = [heading, ...verdictLines(prediction, colours, isWhole)];
  for (const each of channels) {
    const name = `  channel ${each.channel}  `;
    lines.push(
      each.global === null
        ? shown`${name}${styled(colours.yellow, 'too little speech')}`
        : shown`${name}${verdictText(each.global, '', colours)}`,
      ...verdictLines(each, colours, isWhole),
    );
  }
  return shown`${joined(lines, '\n')}\n`;
}

const colourOf = (result: string, colours: Colors) => (result === 'spoofed' ? colours.red : colours.green);

/** @param about further facts about the recording */
function verdictText(
  { result, score, confidence, reason }: Prediction['global'],
  about: string,
  colours: Colors,
): Shown {
  const parts = [
    styled(colours.bold, styled(colourOf(result, colours), result)),
    `score ${number(score)}`,
    `confidence ${number(confidence)}`,
    about,
    reason === null ? '' : styled(colours.yellow, reason),
  ];
  return joined(
    parts.filter((part) => part !== ''),
    '  ',
  );
}

/** A bar per segment, then the stretches that stand out, then the warnings. */
function verdictLines(
  { segments, stretches = [], warnings }: Pick<Prediction, 'segments' | 'stretches' | 'warnings'>,
  colours: Colors,
  isWhole: boolean,
): Shown[] {
  const isLong = !isWhole && segments.length > MOST_ROWS;
  const rows = (isLong ? worstOf(segments) : segments).map((segment) => {
    const score = scoreOf(segment);
    const times = `${clock(segment.start).padStart(9)} - ${clock(segment.end).padEnd(9)}`;
    return shown`${times}  ${styled(colourOf(segment.result, colours), bar(score))}  ${number(score)}  ${segment.result}`;
  });
  const summary = isLong ? [shown`${segmentSummary(segments)}`] : [];
  const told = isWhole ? warnings : warnings.slice(0, MOST_WARNINGS);
  const notes = told.map((warning) => styled(colours.yellow, `  ${warning}`));
  if (told.length < warnings.length) {
    notes.push(styled(colours.yellow, `  ${warnings.length - told.length} more warnings: see --windows.`));
  }
  const parts = stretches.filter(({ strength }) => strength !== null);
  const found = parts.map(({ start, end, score }) =>
    styled(colours.red, `  AI-generated from ${clock(start)} to ${clock(end)}, score ${number(score)}`),
  );
  return [...summary, ...rows, ...found, ...notes];
}

type Segments = Prediction['segments'];

const scoreOf = ({ scores }: Segments[number]): number =>
  scores.reduce((sum, value) => sum + value, 0) / scores.length;

function segmentSummary(segments: Segments): string {
  const spoofed = segments.filter(({ result }) => result === 'spoofed').length;
  return (
    `  ${segments.length} windows, ${spoofed} of them spoofed; the ${WORST_ROWS} with the highest scores ` +
    '(--windows shows all):'
  );
}

/** In the order of time. */
const worstOf = (segments: Segments): Segments =>
  segments
    .toSorted((a, b) => scoreOf(b) - scoreOf(a))
    .slice(0, WORST_ROWS)
    .sort((a, b) => a.start - b.start);

/** The last line after several files. */
export function runSummary(
  { spoofed, bonafide, failed }: { spoofed: number; bonafide: number; failed: number },
  colours: Colors,
): Shown {
  const failures = failed === 0 ? '' : `, ${failed} not analysed`;
  const text = `${spoofed + bonafide + failed} files: ${spoofed} spoofed, ${bonafide} bonafide${failures}`;
  return shown`${styled(colours.bold, text)}\n`;
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

/** 83.4 s as 1:23.4; hours only if there are any. */
export function clock(timeS: number): string {
  const tenths = Math.round(timeS * 10);
  const seconds = `${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}.${tenths % 10}`;
  const minutes = Math.floor(tenths / 600);
  if (minutes < 60) return `${minutes}:${seconds}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${seconds}`;
}
