// SPDX-License-Identifier: Apache-2.0
import { useMemo } from 'preact/hooks';
import type { Prediction } from 'veravox-client';
import { clock } from '../../logic/clock.js';
import { lanesOf } from '../../logic/lanes.js';
import { Name } from '../../parts/name.js';
import { Lanes } from '../../parts/verdict/lanes.js';

interface JobResultProps {
  readonly result: Prediction;
  /** The threshold of the verdict. */
  readonly threshold: number;
  /** The model now behind the name; undefined if unknown. */
  readonly modelId: string | undefined;
}

const MOST_WARNINGS = 20;

/** The verdict of a job: on the mix of all channels, and below it on each. */
export function JobResult({ result, threshold, modelId }: JobResultProps) {
  const lanes = useMemo(() => lanesOf(result, threshold, MOST_WARNINGS), [result, threshold]);
  const { audio_duration: durationS } = result;
  return (
    <section class="card" aria-labelledby="result">
      <h2 id="result">Verdict</h2>
      <Lanes
        lanes={lanes}
        threshold={threshold}
        durationS={durationS}
        otherWarnings="The downloaded result has all of them."
      />
      <p class="soft">
        {clock(durationS, 0)} of audio, <Name text={result.model} />
        {modelId !== undefined && modelId !== result.model && (
          <>
            {' '}
            (now served by <Name text={modelId} />)
          </>
        )}
        , {result.processing_time.toFixed(1)} s of processing. The page does not have the recording, so there
        is no waveform.
      </p>
    </section>
  );
}
