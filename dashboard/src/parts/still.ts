// SPDX-License-Identifier: Apache-2.0
import { createContext } from 'preact';

/** Whether the page runs no script: controls are left out, and what they would show is there. */
export const Still = createContext(false);
