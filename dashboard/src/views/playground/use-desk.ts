// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import type { Session } from '../../session.js';
import { deskOf, type PlaygroundDesk } from './desk.js';

/** The desk, followed. */
export function useDesk(session: Session): PlaygroundDesk {
  const [, redraw] = useState({});
  const desk = deskOf(session);
  useEffect(() => desk.listen(() => redraw({})), [desk]);
  return desk;
}
