// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';

interface AudioPlayerProps {
  readonly file: Blob;
  /** The player's name, for screen readers. */
  readonly label: string;
  /** Whether the reader has just asked for it. */
  readonly isPlayedAtOnce?: boolean;
}

/** Plays a file that the page has, without sending it anywhere. */
export function AudioPlayer({ file, label, isPlayedAtOnce = false }: AudioPlayerProps) {
  const [url, setUrl] = useState<string>();
  const [isUnplayable, setIsUnplayable] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    setIsUnplayable(false);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  if (isUnplayable) return <span class="soft">This browser cannot play the format.</span>;
  return (
    // biome-ignore lint/a11y/useMediaCaption: recordings of the reader's own have no captions
    <audio
      controls
      preload="metadata"
      src={url}
      autoplay={isPlayedAtOnce}
      aria-label={label}
      onError={() => url !== undefined && setIsUnplayable(true)}
    />
  );
}
