// SPDX-License-Identifier: Apache-2.0
import type { Speaker } from '../../analysis/voiceid/speaker.js';
import { readVoice, type VoiceSample } from '../../analysis/voiceid/voice-sample.js';
import { enrollNeeds, verifyNeeds } from '../../base/contract/limits.js';
import type { FailedSample } from '../figures/evaluate.js';
import type { ListedSample } from '../figures/labelled-list.js';
import type { Sample } from '../figures/sample.js';
import type { ClipSettings } from './clip-scores.js';
import type { Finding, ShowProgress } from './list-pipeline.js';
import { voiceFiles } from './listed-files.js';
import { maxDurationS } from './local-files.js';
import { analyseRecordings, failureOf, type ScoredRows } from './scored-rows.js';

/** Settings for a list's trials. */
interface TrialSettings extends Required<Pick<ClipSettings, 'folder' | 'config' | 'models'>> {
  readonly speaker: Speaker;
}

/**
 * Compares the voices of each trial as enrol and verify do, except that nobody asks whether they are AI-generated. Each
 * enrolment and each sample is read once, however many trials it is in.
 */
export async function scoreTrials(
  listed: readonly ListedSample[],
  { folder, speaker, config, models }: TrialSettings,
  showProgress: ShowProgress,
): Promise<ScoredRows> {
  const textsIn = (column: 'enrolment' | 'sample') => [
    ...new Set(listed.map(({ columns }) => columns[column] as string)),
  ];
  const wanted = [
    ...textsIn('enrolment').map((text) => ({ text, needs: enrollNeeds })),
    ...textsIn('sample').map((text) => ({ text, needs: verifyNeeds })),
  ];
  const recordings = wanted.map(({ text }) => voiceFiles(text, folder));
  const { found, run } = await analyseRecordings(
    config,
    recordings,
    async (analyser, region, i) => {
      const voice = await readVoice(analyser, speaker, {
        ...(wanted[i]?.needs ?? verifyNeeds),
        region,
        detectorId: undefined,
        maxDurationS,
        signal: new AbortController().signal,
      });
      return { result: voice, durationS: voice.durationS };
    },
    showProgress,
    { models },
  );
  const voicesWith = (needs: unknown) =>
    new Map(
      wanted.flatMap((recording, i) =>
        recording.needs === needs ? [[recording.text, found[i] as Finding<VoiceSample>]] : [],
      ),
    );
  const voices = { enrolment: voicesWith(enrollNeeds), sample: voicesWith(verifyNeeds) };
  const rows = listed.map((row) => ({
    listed: row,
    outcome: compared(
      row,
      voices.enrolment.get(row.columns.enrolment as string) as Finding<VoiceSample>,
      voices.sample.get(row.columns.sample as string) as Finding<VoiceSample>,
      speaker,
    ),
  }));
  return { rows, run };
}

function compared(
  { isPositive, columns }: ListedSample,
  enrolment: Finding<VoiceSample>,
  sample: Finding<VoiceSample>,
  speaker: Speaker,
): Sample | FailedSample {
  const name = `${columns.enrolment} | ${columns.sample}`;
  const failed = (side: string, error: unknown): FailedSample => {
    const { code, message } = failureOf(error);
    return { name, isPositive, code, message: `${side}: ${message}` };
  };
  if (!enrolment.ok) return failed('enrolment', enrolment.error);
  if (!sample.ok) return failed('sample', sample.error);
  const { similarity: score } = speaker.compare(sample.result.voiceprint, enrolment.result.voiceprint);
  return { name, isPositive, columns, score, durationS: sample.durationS };
}
