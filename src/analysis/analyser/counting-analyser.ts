// SPDX-License-Identifier: Apache-2.0
import type { Analysis, AnalysisRequest, ScoredWindow, VoiceEmbedding } from './analyser.js';
import type { LiveAudio, LiveRequest } from './live.js';
import type { FullAnalyser, RecordingRequest, RecordingStep } from './recording.js';

/** Counts the work of models. It may keep numbers only. */
export interface AnalysisCounter {
  countWindows(modelId: string, windows: number): void;
  /** @param scoreFingerprint of the model @param score 0..1, the mean over the window's inputs */
  countWindowScore(modelId: string, scoreFingerprint: string, score: number): void;
  /** A whole file, recording or stream. @param score 0..1, the mean over its windows */
  countFileScore(modelId: string, scoreFingerprint: string, score: number): void;
}

/** The same analyser, whose results are counted on their way; corrected scores are not, since they depend on a profile. */
export function countingAnalyser(analyser: FullAnalyser, counter: AnalysisCounter): FullAnalyser {
  const fingerprints = new Map(
    analyser.status().detectors.map(({ id, scoreFingerprint }) => [id, scoreFingerprint]),
  );
  const sumsOf: SumsOf = (modelId, { adjustScore }) =>
    new FileScores(
      counter,
      modelId,
      adjustScore === undefined ? (fingerprints.get(modelId) ?? '') : undefined,
    );
  return {
    async analyse(request: AnalysisRequest): Promise<Analysis> {
      const analysis = await analyser.analyse(request);
      const scores = sumsOf(analysis.modelId, request);
      scores.add(analysis.windows);
      scores.addCloser(analysis.closerWindows);
      scores.end();
      return analysis;
    },
    async embed(request: AnalysisRequest): Promise<VoiceEmbedding> {
      const voice = await analyser.embed(request);
      counter.countWindows(voice.modelId, voice.windows.length);
      return voice;
    },
    analyseRecording: (request) => counted(analyser.analyseRecording(request), request, sumsOf, analyser),
    openLive(request: LiveRequest): LiveAudio {
      let scores: FileScores | undefined;
      const live = analyser.openLive({
        ...request,
        onEvent(event) {
          scores ??= sumsOf(live.modelId, request);
          if (event.kind === 'window') scores.add([event.window]);
          else if (event.kind === 'end') {
            scores.addCloser(event.closerWindows);
            scores.end();
          }
          request.onEvent(event);
        },
      });
      return live;
    },
    status: () => analyser.status(),
    close: () => analyser.close(),
  };
}

type SumsOf = (modelId: string, request: Pick<AnalysisRequest, 'adjustScore'>) => FileScores;

async function* counted(
  steps: AsyncGenerator<RecordingStep, void, void>,
  request: RecordingRequest,
  sumsOf: SumsOf,
  analyser: FullAnalyser,
): AsyncGenerator<RecordingStep, void, void> {
  const { cursor, model } = request;
  const { detectors } = analyser.status();
  const detector = detectors.find(({ id, aliases }) => id === model || aliases.includes(model));
  const scores = sumsOf(detector?.id ?? model, request);
  for await (const step of steps) {
    scores.add(step.windows);
    scores.addCloser(step.closerWindows);
    // The first windows of a continued recording are not known here.
    if (step.isLast && cursor?.checkpoint === undefined) scores.end();
    yield step;
  }
}

/** The sum of the scores of a file, as far as they have come. */
class FileScores {
  readonly #counter: AnalysisCounter;
  readonly #modelId: string;
  readonly #fingerprint: string | undefined;
  #sum = 0;
  #windows = 0;

  /** @param fingerprint undefined if only windows count */
  constructor(counter: AnalysisCounter, modelId: string, fingerprint: string | undefined) {
    this.#counter = counter;
    this.#modelId = modelId;
    this.#fingerprint = fingerprint;
  }

  add(windows: readonly ScoredWindow[]): void {
    this.#counter.countWindows(this.#modelId, windows.length);
    if (this.#fingerprint === undefined) return;
    for (const { scores } of windows) {
      let sum = 0;
      for (const score of scores) sum += score;
      const mean = sum / scores.length;
      this.#counter.countWindowScore(this.#modelId, this.#fingerprint, mean);
      this.#sum += mean;
    }
    this.#windows += windows.length;
  }

  /** They are work, but count once in the scores of the recording. */
  addCloser(windows: readonly ScoredWindow[] = []): void {
    if (windows.length > 0) this.#counter.countWindows(this.#modelId, windows.length);
  }

  /** A file without speech has no score. */
  end(): void {
    if (this.#fingerprint === undefined || this.#windows === 0) return;
    this.#counter.countFileScore(this.#modelId, this.#fingerprint, this.#sum / this.#windows);
  }
}
