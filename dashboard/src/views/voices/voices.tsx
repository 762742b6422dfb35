// SPDX-License-Identifier: Apache-2.0
import type { Voiceprint } from '../../logic/voiceprints.js';
import { Problem } from '../../parts/problem.js';
import { useLoaded } from '../../parts/use-loaded.js';
import { Compare } from './compare.js';
import { Enrol } from './enrol.js';
import { KeptTable } from './kept-table.js';
import { keptVoiceprints } from './kept-voiceprints.js';

const none: readonly Voiceprint[] = [];

/** Voice identity: enrol, keep voiceprints in the browser, verify and identify. */
export default function Voices() {
  const [kept, reload] = useLoaded(keptVoiceprints);
  const voiceprints = kept.value ?? none;
  return (
    <>
      <p class="soft intro">
        Is a speaker the enrolled one? A voiceprint is made of samples of a voice; other recordings are
        compared with it.
      </p>
      {kept.is === 'failed' && <Problem error={kept.error} onRetry={reload} />}
      <Enrol onMade={reload} />
      <KeptTable voiceprints={voiceprints} isLoading={kept.value === undefined} onChanged={reload} />
      <Compare voiceprints={voiceprints} />
    </>
  );
}
