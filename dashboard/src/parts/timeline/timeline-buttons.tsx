// SPDX-License-Identifier: Apache-2.0

interface TimelineButtonsProps {
  onZoom(isCloser: boolean): void;
  onPan(isForward: boolean): void;
  onWhole(): void;
  /** Undefined if there is nothing to be heard. */
  readonly onPlay: (() => void) | undefined;
  readonly canPlay: boolean;
  readonly isPlaying: boolean;
}

/** The actions of wheel and keys, for readers who use neither. */
export function TimelineButtons(props: TimelineButtonsProps) {
  const { onZoom, onPan, onWhole, onPlay, canPlay, isPlaying } = props;
  return (
    <div class="timeline-buttons" role="toolbar" aria-label="Timeline">
      <button type="button" aria-label="Zoom in" onClick={() => onZoom(true)}>
        +
      </button>
      <button type="button" aria-label="Zoom out" onClick={() => onZoom(false)}>
        −
      </button>
      <button type="button" onClick={onWhole}>
        Show all
      </button>
      <button type="button" aria-label="Earlier" onClick={() => onPan(false)}>
        ←
      </button>
      <button type="button" aria-label="Later" onClick={() => onPan(true)}>
        →
      </button>
      {onPlay !== undefined && (
        <button type="button" disabled={!canPlay && !isPlaying} onClick={onPlay}>
          {isPlaying ? 'Stop' : 'Play window'}
        </button>
      )}
      <span class="timeline-key" aria-hidden="true">
        <span>
          <span class="swatch spoofed" /> AI-generated
        </span>
        <span>
          <span class="swatch bonafide" /> human
        </span>
        <span>
          <span class="swatch analysed" /> analysed
        </span>
        <span>
          <span class="swatch silence" /> skipped for silence
        </span>
      </span>
    </div>
  );
}
