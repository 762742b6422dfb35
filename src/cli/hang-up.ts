// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';

export interface HangUps {
  /** Called for each signal from now on, and at once for earlier ones. */
  follow(listener: (isTerminalGone: boolean) => void): void;
}

/**
 * SIGHUP has two meanings: an operator wants the models to be reloaded, or the terminal that the program runs in was
 * closed. From this call on it no longer ends the process.
 */
export function followHangUps(): HangUps {
  const hadTerminal = hasTerminal();
  let signals = 0;
  let listener: ((isTerminalGone: boolean) => void) | undefined;
  const tell = (): void => listener?.(hadTerminal && !hasTerminal());
  process.on('SIGHUP', () => {
    signals++;
    tell();
  });
  return {
    follow(newListener) {
      listener = newListener;
      if (signals > 0) tell();
    },
  };
}

/** Whether there is a terminal whose closing would end this process. */
function hasTerminal(): boolean {
  try {
    fs.closeSync(fs.openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
