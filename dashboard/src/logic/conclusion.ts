// SPDX-License-Identifier: Apache-2.0
//
// A verdict as people should read it. The API has two results and, beside them, a reason for caution; a reader who sees only the
// result of a call with a cloned voice in it goes home reassured.
import { clock } from './clock.js';
import type { AnswerStretch, Result, ScoredWindow, Stretch } from './windows.js';

/** The results of the API in words. */
export const resultWords: Readonly<Record<Result, string>> = { spoofed: 'AI-generated', bonafide: 'human' };

/** Neighbouring windows that contradict the verdict on the recording. */
export interface OddStretch extends Stretch {
  /** That of the window that contradicts it most. */
  readonly score: number;
  /** The times of that window. */
  readonly strongest: Stretch;
}

export interface Conclusion {
  readonly result: Result;
  /** Its colour. Green and red are for verdicts that nothing speaks against. */
  readonly look: Result | 'uncertain';
  /** One or two words. */
  readonly word: string;
  /** Goes on from there; empty if the word says it all. */
  readonly rest: string;
  /** The strongest first. */
  readonly oddStretches: readonly OddStretch[];
}

export interface Judged {
  readonly result: Result;
  /** Undefined if only the server could tell. */
  readonly reason: string | null | undefined;
  /** By start. */
  readonly windows: readonly Pick<ScoredWindow, 'startS' | 'endS' | 'score' | 'result'>[];
  /** Undefined if the answer was not asked for them. */
  readonly stretches?: readonly AnswerStretch[] | undefined;
}

/** The meaning of a verdict, and its limits. */
export function conclusionOf({ result, reason, windows, stretches }: Judged): Conclusion {
  const oddStretches = contradictionsOf(result, windows, stretches?.filter(isPart));
  const said = resultWords[result];
  const odd = oddWords(oddStretches, result);
  const amber = (word: string, ...rest: string[]): Conclusion => ({
    result,
    look: 'uncertain',
    word,
    rest: rest.filter((part) => part !== '').join(', '),
    oddStretches,
  });
  if (reason === 'uncertain') return amber('Uncertain', `rather ${said} than not`, odd);
  // A stream does not tell its reason before its end, but windows that contradict it are one.
  if (reason === 'mixed_content' || odd !== '') return amber('Mixed', said, odd);
  if (reason === undefined)
    return amber('Probably', said, 'but whether there is a reason for caution is unknown');
  if (reason !== null) return amber('With caution', said);
  return { result, look: result, word: capital(said), rest: 'voice', oddStretches };
}

const isPart = ({ strength }: AnswerStretch): boolean => strength !== null;

/** The server looks closer than windows of 5 s do, and knows how often they contradict each other by chance. */
function contradictionsOf(
  result: Result,
  windows: Judged['windows'],
  parts: readonly AnswerStretch[] | undefined,
): OddStretch[] {
  if (parts === undefined) return oddStretchesIn(windows, result);
  if (result === 'spoofed') return parts.length === 0 ? [] : oddStretchesIn(windows, result);
  return parts
    .map(({ start: startS, end: endS, score }) => ({ startS, endS, score, strongest: { startS, endS } }))
    .sort((a, b) => b.score - a.score);
}

/** Seconds and places of windows that contradict the verdict, in words. */
function oddWords([strongest, ...others]: readonly OddStretch[], result: Result): string {
  if (strongest === undefined) return '';
  const other = resultWords[result === 'spoofed' ? 'bonafide' : 'spoofed'];
  const totalS = [strongest, ...others].reduce((sum, { startS, endS }) => sum + endS - startS, 0);
  const at = clock(strongest.startS, 0);
  const where = others.length === 0 ? `at ${at}` : `in ${others.length + 1} places, the clearest at ${at}`;
  return `but ${lengthInWords(totalS)} look ${other} ${where}`;
}

const lengthInWords = (lengthS: number): string =>
  lengthS < 60 ? `${Math.max(1, Math.round(lengthS))} s` : `${clock(lengthS, 0)} min`;

const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

/** The windows with the other result, merged if they touch. */
export function oddStretchesIn(windows: Judged['windows'], result: Result): OddStretch[] {
  const found: OddStretch[] = [];
  const isClearer = (score: number, than: number): boolean =>
    result === 'bonafide' ? score > than : score < than;
  for (const [i, { startS, endS, score, result: own }] of windows.entries()) {
    if (own === result) continue;
    const here = { startS, endS };
    const last = found.at(-1);
    // A window that agrees with the verdict lies between two stretches.
    const touches = last !== undefined && windows[i - 1]?.result !== result && startS <= last.endS;
    if (!touches) found.push({ ...here, score, strongest: here });
    else {
      found[found.length - 1] = {
        startS: last.startS,
        endS: Math.max(last.endS, endS),
        ...(isClearer(score, last.score)
          ? { score, strongest: here }
          : { score: last.score, strongest: last.strongest }),
      };
    }
  }
  return found.sort((a, b) => (isClearer(a.score, b.score) ? -1 : isClearer(b.score, a.score) ? 1 : 0));
}

/** Channels of one recording that do not agree, in words; undefined if they do. */
export function disagreementOf(
  channels: readonly { readonly channel: number; readonly conclusion: Conclusion | undefined }[],
): string | undefined {
  const kinds = new Set(
    channels.flatMap(({ conclusion }) => (conclusion ? `${conclusion.result} ${conclusion.look}` : [])),
  );
  if (kinds.size < 2) return undefined;
  const each = channels.map(({ channel, conclusion }) =>
    conclusion === undefined
      ? `channel ${channel} has no verdict`
      : `channel ${channel} is ${shortly(conclusion)}`,
  );
  return `The channels disagree: ${each.join('; ')}.`;
}

const shortly = ({ result, look, word }: Conclusion): string =>
  look === 'uncertain' ? `${resultWords[result]}, ${word.toLowerCase()}` : resultWords[result];
