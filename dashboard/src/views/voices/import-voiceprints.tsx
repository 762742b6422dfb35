// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { randomId } from '../../../../client/src/random-id.js';
import { newOnes, type Voiceprint, VoiceprintFileError, voiceprintsIn } from '../../logic/voiceprints.js';
import { FileDrop } from '../../parts/file-drop.js';
import { Problem } from '../../parts/problem.js';
import { keep } from './kept-voiceprints.js';

/** Ten thousand voiceprints as lists of numbers have 60 MB. */
const MAX_BYTES = 64 * 2 ** 20;

interface ImportVoiceprintsProps {
  readonly kept: readonly Voiceprint[];
  onImported(): void;
}

/** Voiceprints from a file that this page or an enrolment has made. */
export function ImportVoiceprints({ kept, onImported }: ImportVoiceprintsProps) {
  const [outcome, setOutcome] = useState('');
  const [error, setError] = useState<unknown>();
  const take = async ([file]: readonly File[]): Promise<void> => {
    setOutcome('');
    setError(undefined);
    try {
      if (file === undefined) return;
      if (file.size > MAX_BYTES) throw new VoiceprintFileError('The file is larger than 64 MiB.');
      const text = await file.text();
      const found = voiceprintsIn(text, file.name, randomId, new Date().toISOString());
      const added = newOnes(kept, found);
      await keep(added);
      const known = found.length - added.length;
      setOutcome(`Imported ${added.length}.${known === 0 ? '' : ` ${known} were here already.`}`);
      onImported();
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <div>
      <FileDrop
        label="Import from a file"
        accept=".json,application/json"
        onFiles={(files) => void take(files)}
      />
      <span role="status">{outcome}</span>
      {error !== undefined && <Problem error={error} />}
    </div>
  );
}
