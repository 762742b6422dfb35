// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { windowAt } from '../../logic/time-span.js';
import type { ScoredWindow, Stretch } from '../../logic/windows.js';
import { onThemeChange } from '../../shown-theme.js';
import { Painter } from './painter.js';
import { usePlayer } from './player.js';
import { followPointer } from './pointer.js';
import { sentenceOn } from './sentences.js';
import { TimelineButtons } from './timeline-buttons.js';
import { TimelinePlace } from './timeline-place.js';
import type { Wave } from './use-peaks.js';
import { WindowTable } from './window-table.js';

const PAGE = 10;
const ZOOM_STEP = 1.6;
const PAN_STEP = 0.25;

export interface TimelineProps {
  /** Names it for screen readers. */
  readonly label: string;
  readonly durationS: number;
  /** By start. */
  readonly windows: readonly ScoredWindow[];
  /** 0..1 */
  readonly threshold: number;
  /** Stretches without enough speech. */
  readonly skipped?: readonly Stretch[];
  /** Its waveform; without it there is no row for one. */
  readonly wave?: Wave | undefined;
  /** Stretches with speech; without them there is no row for them. */
  readonly speech?: readonly Stretch[] | undefined;
  /** Address of the recording, such as of a blob; nothing is played without. */
  readonly source?: string | undefined;
  /** Of timelines that move together; must have the same duration. */
  readonly place?: TimelinePlace | undefined;
}

const none: readonly Stretch[] = [];

/** Waveform, analysed stretches and scores over time. The same is in a table below, for readers who cannot see it. */
export function Timeline(props: TimelineProps) {
  const { label, durationS, windows, threshold, skipped = none, wave, speech, source } = props;
  const { peaks, isComing = false, note: waveNote } = wave ?? {};
  const hasWave = peaks !== undefined || isComing;
  const own = useMemo(() => new TimelinePlace(durationS), [durationS]);
  const place = props.place ?? own;
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter | undefined>(undefined);
  const [chosen, setChosen] = useState<number>();
  const player = usePlayer(source, place);
  const latest = useRef({ windows, chosen });
  latest.current = { windows, chosen };

  useEffect(() => {
    if (canvas.current === null) return;
    const made = new Painter(canvas.current);
    painter.current = made;
    return () => made.close();
  }, []);
  useEffect(() => {
    const seen = () => ({ span: place.span, chosen: latest.current.chosen, playingS: place.playingS });
    painter.current?.show({ durationS, windows, skipped, threshold, peaks, hasWave, speech }, seen);
  }, [durationS, windows, skipped, threshold, peaks, hasWave, speech, place]);
  useEffect(() => onThemeChange(() => painter.current?.readColours()), []);
  useEffect(() => {
    // The drawing follows every move; the spoken text follows the choice only.
    const follow = (): void => {
      const at = place.chosenS === undefined ? -1 : windowAt(windows, place.chosenS);
      setChosen(at < 0 ? undefined : at);
      painter.current?.refresh();
    };
    follow();
    return place.listen(follow);
  }, [place, windows]);
  useEffect(() => painter.current?.refresh(), [chosen]);

  const choose = (at: number): void => {
    const window = latest.current.windows[Math.max(0, Math.min(latest.current.windows.length - 1, at))];
    if (window !== undefined) place.choose(window);
  };
  useEffect(() => {
    if (canvas.current === null) return;
    return followPointer(canvas.current, place, (timeS) => choose(windowAt(latest.current.windows, timeS)));
  }, [place]);

  const chosenWindow = chosen === undefined ? undefined : windows[chosen];
  const togglePlay = (): void => {
    if (player.isPlaying) player.stop();
    else if (chosenWindow !== undefined) player.play(chosenWindow);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = chosen ?? -1;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowRight: () => (event.shiftKey ? place.pan(PAN_STEP) : choose(at + 1)),
      ArrowLeft: () => (event.shiftKey ? place.pan(-PAN_STEP) : choose(at - 1)),
      ArrowUp: () => choose(at + 1),
      ArrowDown: () => choose(at - 1),
      PageDown: () => choose(at + PAGE),
      PageUp: () => choose(at - PAGE),
      Home: () => choose(0),
      End: () => choose(windows.length - 1),
      '+': () => place.zoom(ZOOM_STEP),
      '=': () => place.zoom(ZOOM_STEP),
      '-': () => place.zoom(1 / ZOOM_STEP),
      '0': () => place.seeAll(),
      ' ': togglePlay,
      Enter: togglePlay,
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };

  return (
    <figure class="timeline" aria-label={label}>
      <TimelineButtons
        onZoom={(isCloser) => place.zoom(isCloser ? ZOOM_STEP : 1 / ZOOM_STEP)}
        onPan={(isForward) => place.pan(isForward ? PAN_STEP : -PAN_STEP)}
        onWhole={() => place.seeAll()}
        onPlay={source === undefined ? undefined : togglePlay}
        canPlay={chosenWindow !== undefined}
        isPlaying={player.isPlaying}
      />
      <canvas
        ref={canvas}
        tabIndex={0}
        role="slider"
        aria-label="Window"
        aria-valuemin={windows.length === 0 ? 0 : 1}
        aria-valuemax={windows.length}
        aria-valuenow={chosen === undefined ? 0 : chosen + 1}
        aria-valuetext={
          chosen === undefined ? 'No window is chosen' : `Window ${chosen + 1} of ${windows.length}`
        }
        onKeyDown={onKeyDown}
      >
        The table below shows the same.
      </canvas>
      <figcaption>
        <p class="chosen" aria-live="polite">
          {chosenWindow === undefined || chosen === undefined
            ? 'Choose a window with the mouse or with the arrow keys.'
            : `Window ${chosen + 1} of ${windows.length}, ${sentenceOn(chosenWindow)}`}
        </p>
        {player.problem !== undefined && <p role="alert">{player.problem}</p>}
        {waveNote !== undefined && <p class="soft">{waveNote}</p>}
        <details class="soft">
          <summary>Keys and gestures</summary>
          Zoom: + and -, the wheel with Ctrl, or two fingers. Move: drag, or Shift and an arrow key. Windows:
          arrow keys, Page Up, Page Down, Home, End. Space plays. 0 shows all.
        </details>
      </figcaption>
      <WindowTable windows={windows} chosen={chosen} onChoose={choose} />
    </figure>
  );
}
