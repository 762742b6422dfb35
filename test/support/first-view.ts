// SPDX-License-Identifier: Apache-2.0
import type { Page } from 'playwright-core';
import { eventually } from './eventually.js';

export const SLOW_DOWN = 4;

/** Set when the view has its heading, no longer shows that it loads, is painted, and the event loop is idle. */
const MARK_USABLE = `
  const isThere = () =>
    document.querySelector('main h1') !== null &&
    document.querySelector('nav a[href]') !== null &&
    !document.querySelector('main').textContent.includes('Loading …');
  const look = () => {
    if (!isThere()) requestAnimationFrame(look);
    else requestAnimationFrame(() => setTimeout(() => performance.mark('usable'), 0));
  };
  requestAnimationFrame(look);
`;

/**
 * Time from a navigation with an empty cache to a first view with its heading and a control that takes a click.
 * @param page of a browser that is signed in
 */
export async function firstViewMs(page: Page): Promise<number> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Network.setCacheDisabled', { cacheDisabled: true });
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: SLOW_DOWN });
  await page.goto('about:blank');
  await page.addInitScript(MARK_USABLE);
  await page.goto('/dashboard/');
  await eventually(() => page.evaluate("performance.getEntriesByName('usable').length > 0"), 'it is usable');
  const tookMs: number = await page.evaluate("performance.getEntriesByName('usable')[0].startTime");
  await devTools.detach();
  return tookMs;
}
