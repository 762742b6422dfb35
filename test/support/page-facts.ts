// SPDX-License-Identifier: Apache-2.0
//
// Facts that only the page itself knows. As texts, since these tests lack the types of a browser.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** The focused element. */
export interface Focus {
  /** Its tag, and its label or text. */
  readonly name: string;
  /** Its position in the document. */
  readonly index: number;
  /** Whether an outline shows it. */
  readonly isSeen: boolean;
  readonly isInDialog: boolean;
}

export const focusOf = (page: Page): Promise<Focus> =>
  page.evaluate(`(() => {
    const element = document.activeElement ?? document.body;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const text = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().replace(/\\s+/g, ' ');
    return {
      name: element.tagName + ' ' + text.slice(0, 60),
      index: [...document.querySelectorAll('*')].indexOf(element),
      isSeen: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && box.width > 0 && box.bottom > 0,
      isInDialog: element.closest('dialog') !== null,
    };
  })()`);

/** Tab begins at the start of the page. */
export const dropFocus = (page: Page): Promise<void> =>
  page.evaluate(`
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  `);

/**
 * Fails if the page stays wider than its window, and names the elements that stick out. Plots get their size a moment after the
 * window.
 */
export async function assertNoSidewaysScrolling(page: Page): Promise<void> {
  const fits = 'document.documentElement.scrollWidth <= innerWidth';
  const reachingOut = `[...document.querySelectorAll('main *')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth)
    .map(({ tagName, className }) => tagName + ' ' + className)`;
  await page.waitForFunction(fits, null, { timeout: 60_000 }).catch(async () => {
    assert.fail(`Wider than the page: ${JSON.stringify(await page.evaluate(reachingOut))}`);
  });
}

export const clipboardOf = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()');

/** Waits for the view and its first content. Not for an idle network: a followed list never ends. */
export async function viewShown(page: Page): Promise<void> {
  await page.getByRole('main').waitFor();
  await page.locator('main:has-text("Loading …")').waitFor({ state: 'detached' });
}

export interface Takeover {
  readonly title: string;
  /** Elements that the dashboard never has. */
  readonly strangers: number;
  readonly handlers: number;
  /** Links that would run a script. */
  readonly links: number;
}

/** Traces of a text that became part of the page. */
export const takeoverOf = (page: Page): Promise<Takeover> =>
  page.evaluate(`({
    title: document.title,
    strangers: document.querySelectorAll('img, script:not([src]), iframe, object, embed').length,
    handlers: document.querySelectorAll('[onerror], [onload], [onclick]').length,
    links: [...document.querySelectorAll('a')].filter(({ protocol }) => !/^https?:$/.test(protocol)).length,
  })`);
