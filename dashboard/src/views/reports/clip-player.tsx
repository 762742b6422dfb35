// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import type { Found } from '../../logic/match-files.js';
import { printable } from '../../logic/printable.js';
import { AudioPlayer } from '../../parts/audio-player.js';

/** A player, made when it is asked for: a browser opens each file that it has one for. */
export function ClipPlayer({ found: { name, item, isAmbiguous } }: { readonly found: Found<File> }) {
  const [isOpen, setIsOpen] = useState(false);
  if (isAmbiguous) return <span class="soft">Several files have this name.</span>;
  if (item === undefined) return <span class="soft">Not among the files.</span>;
  if (isOpen) return <AudioPlayer file={item} label={printable(name)} isPlayedAtOnce />;
  return (
    <button type="button" aria-label={`Play ${printable(name)}`} onClick={() => setIsOpen(true)}>
      Play
    </button>
  );
}
