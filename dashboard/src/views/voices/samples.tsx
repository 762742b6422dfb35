// SPDX-License-Identifier: Apache-2.0
import { randomId } from '../../../../client/src/random-id.js';
import { printable } from '../../logic/printable.js';
import { AudioPlayer } from '../../parts/audio-player.js';
import { FileDrop } from '../../parts/file-drop.js';
import { Recorder } from '../../parts/microphone/recorder.js';
import { Name } from '../../parts/name.js';

export interface Sample {
  readonly id: string;
  readonly file: File;
}

interface SamplesProps {
  readonly samples: readonly Sample[];
  /** The largest number of samples. */
  readonly most: number;
  readonly hint: string;
  readonly isDisabled: boolean;
  /** @param change of the latest list: a recording may end by itself, long after it was begun */
  onChange(change: (samples: readonly Sample[]) => readonly Sample[]): void;
}

/** Samples of a voice: files, or recorded here. */
export function Samples({ samples, most, hint, isDisabled, onChange }: SamplesProps) {
  const add = (files: readonly File[]): void => {
    const more = files.map((file) => ({ id: randomId(), file }));
    onChange((last) => (most === 1 ? more.slice(-1) : [...last, ...more].slice(0, most)));
  };
  const isFull = most > 1 && samples.length >= most;
  return (
    <div class="samples">
      <FileDrop
        label={most === 1 ? 'Recording' : 'Recordings'}
        hint={isFull ? `${most} samples are the limit for one voiceprint.` : hint}
        accept="audio/*,video/*"
        isMultiple={most > 1}
        isDisabled={isDisabled || isFull}
        onFiles={add}
      />
      <Recorder
        label={most === 1 ? 'Record one' : 'Record a sample'}
        isDisabled={isDisabled || isFull}
        onRecorded={(file) => add([file])}
      />
      {samples.length > 0 && (
        <ul aria-label="Samples" class="sample-list">
          {samples.map(({ id, file }) => (
            <li key={id}>
              <Name text={file.name} />
              <AudioPlayer file={file} label={`Sample ${printable(file.name)}`} />
              <button
                type="button"
                disabled={isDisabled}
                aria-label={`Remove ${printable(file.name)}`}
                onClick={() => onChange((last) => last.filter((sample) => sample.id !== id))}
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
