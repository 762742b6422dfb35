// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import type { Peaks } from '../../logic/peaks.js';
import { NoWaveform, peaksOfFile } from './peaks-of-file.js';

export interface Wave {
  readonly peaks?: Peaks;
  /** Whether they are being made. */
  readonly isComing?: boolean;
  /** Why there are none, or none yet. */
  readonly note?: string;
}

/** The waveform of a file in the page; none without the file. @param durationS as the server has measured it */
export function usePeaks(file: Blob | undefined, durationS: number): Wave {
  const [wave, setWave] = useState<Wave>({});
  useEffect(() => {
    if (file === undefined) {
      setWave({});
      return;
    }
    const aborting = new AbortController();
    const tell = (next: Wave): void => {
      if (!aborting.signal.aborted) setWave(next);
    };
    tell({ isComing: true, note: 'The waveform is being made …' });
    peaksOfFile(file, durationS, aborting.signal).then(
      (peaks) => tell({ peaks }),
      (error: unknown) =>
        tell({
          note:
            error instanceof NoWaveform
              ? error.message
              : 'There is no waveform: the browser can no longer read the recording.',
        }),
    );
    return () => aborting.abort();
  }, [file, durationS]);
  return wave;
}
