// SPDX-License-Identifier: Apache-2.0
import { startPipeline } from '../analysis/pipeline/pipeline.js';
import { chooseSpeaker, type Speaker } from '../analysis/voiceid/speaker.js';
import { readVoice, type VoiceSample } from '../analysis/voiceid/voice-sample.js';
import type { Config } from '../base/config/options.js';
import type { SampleNeeds } from '../base/contract/limits.js';
import { defaultModel } from '../base/contract/model-ids.js';
import { ServiceError } from '../base/errors/service-error.js';
import { shown } from '../base/errors/shown-text.js';
import { localConfig, maxDurationS, readInto, sizeOf } from '../evaluation/labelled-lists/local-files.js';
import { pointsForThreshold } from '../state/operating-points/load-operating-points.js';
import { exitCodes } from './exit-codes.js';
import { reportFailure } from './failed-file.js';
import { tell } from './output.js';
import { readStandardInput, STANDARD_INPUT } from './standard-input.js';

/** Recordings of voices, without a server. */
export interface LocalVoices {
  readonly config: Config;
  readonly speaker: Speaker;
  /** Since the models were there. */
  elapsedS(): number;
  /** One after the other: they share memory. */
  read(file: string, needs: SampleNeeds, checksAuthenticity: boolean): Promise<VoiceSample>;
}

/** Starts the pipeline for these files and reports failures, with the file that was read last. */
export async function withVoices(
  files: readonly string[],
  { json }: { readonly json?: true },
  work: (voices: LocalVoices) => Promise<void>,
): Promise<void> {
  const given = files.includes(STANDARD_INPUT) ? await readStandardInput() : undefined;
  const sizes = await Promise.all(
    files.map((file) => (file === STANDARD_INPUT ? (given?.length ?? 0) : sizeOf(file))),
  );
  const config = localConfig();
  const largest = Math.max(1, ...sizes.map((size) => (typeof size === 'number' ? size : 0)));
  const arena = new SharedArrayBuffer(largest);
  const analyser = await startPipeline(config, arena);
  let current = files[0] ?? '';
  try {
    const { detectors, speakerModels } = analyser.status();
    const points = await pointsForThreshold(config, config.matchThreshold);
    const speaker = chooseSpeaker(speakerModels, config, points);
    if (speaker === undefined) throw new ServiceError('NO_SPEAKER_MODEL');
    for (const [i, size] of sizes.entries()) {
      current = files[i] ?? '';
      if (typeof size !== 'number') throw size;
    }
    const startedMs = performance.now();
    await work({
      config,
      speaker,
      elapsedS: () => (performance.now() - startedMs) / 1000,
      async read(file, needs, checksAuthenticity) {
        current = file;
        const bytes = new Uint8Array(arena);
        const length = file === STANDARD_INPUT ? (given?.length ?? 0) : await readInto(bytes, file);
        if (file === STANDARD_INPUT) bytes.set(given ?? []);
        const sample = await readVoice(analyser, speaker, {
          region: { offset: 0, length },
          detectorId: checksAuthenticity ? defaultModel(detectors) : undefined,
          ...needs,
          maxDurationS,
          signal: new AbortController().signal,
        });
        for (const warning of sample.warnings) tell(shown`Warning: ${file}: ${warning}\n`);
        return sample;
      },
    });
  } catch (error) {
    reportFailure(current, error, json);
    process.exitCode = isAiGenerated(error) ? exitCodes.unwantedResult : 1;
  } finally {
    await analyser.close();
  }
}

const isAiGenerated = (error: unknown): boolean =>
  error instanceof ServiceError && error.key === 'AI_GENERATED_VOICE';
